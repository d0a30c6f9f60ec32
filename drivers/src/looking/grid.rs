//! Grids of pictures with a number drawn in each, so that a vision model can refer to them (VideoARM 3.3.1).

use crate::encoders::Picture;

/// Columns and rows of pictures in a grid.
const COLUMNS: u32 = 3;
const ROWS: u32 = 2;
/// Number of pictures in a grid.
pub(super) const GRID_PICTURES: usize = (COLUMNS * ROWS) as usize;
/// Columns and rows of dots in a digit.
const DIGIT: (u32, u32) = (5, 7);
/// Side of a dot, in pixels.
const DOT: u32 = 4;
/// Width of the margin around a number, in dots.
const MARGIN: u32 = 1;
/// Bitmaps of the digits 0 to 9: seven rows of five bits each.
const DIGITS: [[u8; 7]; 10] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];

/// Grids that are being filled.
#[derive(Default)]
pub(super) struct Grids {
    /// Width and height of a picture, set by the first one.
    cell: (u32, u32),
    count: u32,
    done: Vec<(u32, u32, Vec<u8>)>,
}

impl Grids {
    /// Copies a picture into its cell and draws its number into the upper left corner. A larger picture is cropped; a
    /// smaller one leaves the rest of its cell black.
    pub fn push(&mut self, picture: &Picture<'_>) {
        if self.count == 0 {
            self.cell = (picture.width, picture.height);
        }
        let place = self.count % (COLUMNS * ROWS);
        let (width, height) = (self.cell.0 * COLUMNS, self.cell.1 * ROWS);
        if place == 0 {
            self.done.push((width, height, vec![0; (width * height * 3) as usize]));
        }
        self.count += 1;
        let Some((_, _, grid)) = self.done.last_mut() else { return };
        let (left, top) = (place % COLUMNS * self.cell.0, place / COLUMNS * self.cell.1);
        let columns = picture.width.min(self.cell.0) as usize * 3;
        for row in 0..picture.height.min(self.cell.1) {
            let from = (row * picture.width * 3) as usize;
            let to = (((top + row) * width + left) * 3) as usize;
            grid[to..to + columns].copy_from_slice(&picture.rgb[from..from + columns]);
        }
        number(grid, width, (left, top), self.cell, self.count);
    }

    /// Returns the number of bytes held.
    pub fn bytes(&self) -> usize {
        self.done.iter().map(|(_, _, rgb)| rgb.len()).sum()
    }

    /// Returns the grids: width, height, packed RGB. Empty cells of the last grid are black.
    pub fn finished(self) -> Vec<(u32, u32, Vec<u8>)> {
        self.done
    }
}

/// Draws a number, white on black.
fn number(grid: &mut [u8], width: u32, (left, top): (u32, u32), cell: (u32, u32), number: u32) {
    let digits: Vec<usize> = number.to_string().bytes().map(|digit| usize::from(digit - b'0')).collect();
    let across = digits.len() as u32 * (DIGIT.0 + 1) + 2 * MARGIN - 1;
    let down = DIGIT.1 + 2 * MARGIN;
    for y in 0..(down * DOT).min(cell.1) {
        for x in 0..(across * DOT).min(cell.0) {
            let lit = (x / DOT).checked_sub(MARGIN).zip((y / DOT).checked_sub(MARGIN)).is_some_and(|(column, row)| {
                let (place, column) = ((column / (DIGIT.0 + 1)) as usize, column % (DIGIT.0 + 1));
                let bits = digits.get(place).and_then(|digit| DIGITS[*digit].get(row as usize));
                bits.is_some_and(|bits| column < DIGIT.0 && bits >> (DIGIT.0 - 1 - column) & 1 == 1)
            });
            let at = (((top + y) * width + left + x) * 3) as usize;
            grid[at..at + 3].fill(if lit { 255 } else { 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grids_of(count: usize) -> Vec<(u32, u32, Vec<u8>)> {
        let mut grids = Grids::default();
        for number in 0..count {
            let rgb = vec![10 * number as u8 + 10; 120 * 80 * 3];
            grids.push(&Picture { width: 120, height: 80, rgb: &rgb });
        }
        grids.finished()
    }

    fn pixel((width, _, rgb): &(u32, u32, Vec<u8>), x: u32, y: u32) -> u8 {
        rgb[((y * width + x) * 3) as usize]
    }

    #[test]
    fn six_pictures_are_a_grid_and_a_seventh_begins_the_next() {
        let grids = grids_of(7);
        assert_eq!(grids.iter().map(|(width, height, _)| (*width, *height)).collect::<Vec<_>>(), [(360, 160); 2]);
        let corners = [(119, 79), (239, 79), (359, 79), (119, 159), (239, 159), (359, 159)];
        let first: Vec<u8> = corners.iter().map(|(x, y)| pixel(&grids[0], *x, *y)).collect();
        assert_eq!(first, [10, 20, 30, 40, 50, 60], "from left to right, then the second row");
        assert_eq!(corners.map(|(x, y)| pixel(&grids[1], x, y)), [70, 0, 0, 0, 0, 0], "what is missing is black");
    }

    #[test]
    fn each_picture_has_its_number_in_its_corner() {
        let grids = grids_of(12);
        // Reads the digits back, dot by dot.
        let digit = |grid: usize, x: u32, y: u32| {
            let dot = |column: u32, row: u32| pixel(&grids[grid], x + column * DOT, y + row * DOT) == 255;
            let rows: Vec<u8> =
                (0..7).map(|row| (0..5).fold(0, |bits, column| bits << 1 | u8::from(dot(column, row)))).collect();
            DIGITS.iter().position(|known| known[..] == rows[..])
        };
        assert_eq!(digit(0, DOT, DOT), Some(1));
        assert_eq!(digit(0, 240 + DOT, 80 + DOT), Some(6));
        assert_eq!((digit(1, 240 + DOT, 80 + DOT), digit(1, 240 + DOT + 6 * DOT, 80 + DOT)), (Some(1), Some(2)));
    }
}
