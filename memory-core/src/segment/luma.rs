//! Small grey pictures.

use super::ssim::Plane;

/// A grey picture of the size that the segmenter looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Luma {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Luma {
    /// The largest width that [`Luma::from_rgb`] makes.
    pub const MAX_WIDTH: usize = 160;
    /// The largest height that [`Luma::from_rgb`] makes.
    pub const MAX_HEIGHT: usize = 90;

    /// A picture as it is; `None` if `pixels` is not `width * height` long.
    pub fn new(width: usize, height: usize, pixels: Vec<u8>) -> Option<Self> {
        (pixels.len() == width * height).then_some(Self { width, height, pixels })
    }

    /// Brightness (BT.601) of a packed RGB picture, averaged down to fit 160 x 90; aspect kept, never enlarged.
    ///
    /// `None` if `rgb` is not `width * height * 3` bytes, or empty.
    pub fn from_rgb(width: u32, height: u32, rgb: &[u8]) -> Option<Self> {
        let mut luma = Self::default();
        luma.assign_rgb(width, height, rgb).then_some(luma)
    }

    /// As [`Luma::from_rgb`], into this picture's buffer; `false`, with the picture unchanged, if the sizes do not fit.
    pub fn assign_rgb(&mut self, width: u32, height: u32, rgb: &[u8]) -> bool {
        let (w, h) = (width as usize, height as usize);
        if w == 0 || h == 0 || rgb.len() != w * h * 3 {
            return false;
        }
        let scale = (w as f64 / Self::MAX_WIDTH as f64).max(h as f64 / Self::MAX_HEIGHT as f64).max(1.0);
        self.width = ((w as f64 / scale).round() as usize).clamp(1, w);
        self.height = ((h as f64 / scale).round() as usize).clamp(1, h);
        self.pixels.clear();
        let edges: Vec<usize> = (0..=self.width).map(|x| x * w / self.width).collect();
        let mut sums = vec![0_u32; self.width];
        for y in 0..self.height {
            let rows = y * h / self.height..(y + 1) * h / self.height;
            sums.fill(0);
            for row in rows.clone() {
                let line = &rgb[row * w * 3..(row + 1) * w * 3];
                for (sum, edge) in sums.iter_mut().zip(edges.windows(2)) {
                    for pixel in line[edge[0] * 3..edge[1] * 3].chunks_exact(3) {
                        *sum += (77 * u32::from(pixel[0]) + 150 * u32::from(pixel[1]) + 29 * u32::from(pixel[2])) >> 8;
                    }
                }
            }
            for (sum, edge) in sums.iter().zip(edges.windows(2)) {
                let count = (rows.len() * (edge[1] - edge[0])) as u32;
                self.pixels.push(u8::try_from((sum + count / 2) / count).unwrap_or(u8::MAX));
            }
        }
        true
    }

    /// Pixels per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Row by row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// For [`super::ssim`].
    pub fn plane(&self) -> Plane<'_, u8> {
        Plane { width: self.width, height: self.height, pixels: &self.pixels }
    }

    /// Mean and standard deviation of the brightness.
    pub(super) fn spread(&self) -> (f64, f64) {
        if self.pixels.is_empty() {
            return (0.0, 0.0);
        }
        let (sum, squares) = self.pixels.iter().fold((0_u64, 0_u64), |(sum, squares), &p| {
            let p = u64::from(p);
            (sum + p, squares + p * p)
        });
        let count = self.pixels.len() as f64;
        let mean = sum as f64 / count;
        (mean, (squares as f64 / count - mean * mean).max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_picture_is_averaged_down_with_its_aspect() {
        let mut rgb = vec![0; 640 * 360 * 3];
        for (i, pixel) in rgb.chunks_exact_mut(3).enumerate() {
            pixel.fill(if i % 640 < 320 { 200 } else { 40 });
        }
        let luma = Luma::from_rgb(640, 360, &rgb).unwrap();
        assert_eq!((luma.width(), luma.height()), (160, 90));
        assert_eq!((luma.pixels()[79], luma.pixels()[80]), (200, 40));
    }

    #[test]
    fn odd_sizes_keep_every_pixel_inside() {
        for (w, h) in [(1, 1), (161, 91), (100, 400), (1921, 1079), (7, 7)] {
            let luma = Luma::from_rgb(w, h, &vec![128; (w * h * 3) as usize]).unwrap();
            assert!(luma.width() <= 160 && luma.height() <= 90, "{w}x{h}");
            assert!(luma.pixels().iter().all(|&p| (127..=128).contains(&p)), "{w}x{h}");
            assert_eq!(luma.pixels().len(), luma.width() * luma.height());
        }
    }

    #[test]
    fn a_buffer_of_the_wrong_length_is_refused() {
        assert_eq!(Luma::from_rgb(4, 4, &[0; 47]), None);
        assert_eq!(Luma::from_rgb(0, 4, &[]), None);
        assert_eq!(Luma::new(3, 3, vec![0; 8]), None);
    }
}
