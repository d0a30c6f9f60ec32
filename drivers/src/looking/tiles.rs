//! Overlapping tiles of a picture. A thing that is small in the picture is large in one of its tiles.

use crate::encoders::{Picture, cut_out};

/// Left, top, right and bottom edges of each tile: three across and two down, each overlapping its neighbours.
pub(super) const TILES: [[f32; 4]; 6] = [
    [0.0, 0.0, 0.42, 0.6],
    [0.29, 0.0, 0.71, 0.6],
    [0.58, 0.0, 1.0, 0.6],
    [0.0, 0.4, 0.42, 1.0],
    [0.29, 0.4, 0.71, 1.0],
    [0.58, 0.4, 1.0, 1.0],
];

/// Returns the width, the height and the pixels of a tile.
pub(super) fn tile(picture: &Picture<'_>, bounds: [f32; 4]) -> Option<((u32, u32), Vec<u8>)> {
    cut_out(picture, bounds).map(|(width, height, rgb)| ((width, height), rgb))
}

/// Converts bounds in a tile to bounds in the whole picture.
pub(super) fn outside([x0, y0, x1, y1]: [f32; 4], [left, top, right, bottom]: [f32; 4]) -> [f32; 4] {
    let (width, height) = (right - left, bottom - top);
    [left + x0 * width, top + y0 * height, left + x1 * width, top + y1 * height]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_of_a_tile_is_where_it_is_in_the_picture() {
        let bounds = outside([0.0, 0.5, 0.5, 1.0], [0.5, 0.0, 1.0, 0.6]);
        assert!(bounds.iter().zip([0.5, 0.3, 0.75, 0.6]).all(|(a, b)| (a - b).abs() < 1e-6), "{bounds:?}");
    }

    #[test]
    fn the_tiles_cover_the_picture_and_overlap() {
        for step in 0..=100_u8 {
            let at = f32::from(step) / 100.0;
            assert!(TILES.iter().any(|tile| (tile[0]..=tile[2]).contains(&at)));
            assert!(TILES.iter().any(|tile| (tile[1]..=tile[3]).contains(&at)));
        }
        assert!(TILES[0][2] > TILES[1][0] && TILES[0][3] > TILES[3][1]);
    }
}
