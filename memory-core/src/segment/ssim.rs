//! Structural similarity (Wang et al. 2004), numerically equal to scikit-image's `structural_similarity`.

/// How the neighbourhood of a pixel is weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SsimWindow {
    /// 7 x 7, all pixels alike, sample covariance: scikit-image's default. The fast one.
    Uniform7,
    /// Gaussian with σ = 1.5, cut off at 11 x 11, population covariance: the one of the original paper.
    Gaussian,
}

/// A grey picture of any numeric type, row by row without padding.
#[derive(Debug, Clone, Copy)]
pub struct Plane<'a, T> {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// `width * height` values.
    pub pixels: &'a [T],
}

/// Two pictures that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SsimError {
    /// The sizes differ.
    #[error("pictures of {0}x{1} and {2}x{3} cannot be compared: bring them to one size first")]
    Size(usize, usize, usize, usize),
    /// A picture is smaller than the window.
    #[error("a picture of {0}x{1} is smaller than the {2}x{2} window")]
    TooSmall(usize, usize, usize),
    /// The buffer does not hold `width * height` pixels.
    #[error("a picture of {0}x{1} needs {expected} values, but {2} were given", expected = .0 * .1)]
    Length(usize, usize, usize),
}

/// Σ over a window: x, y, x², y², xy.
type Moments = [f64; 5];

/// Mean structural similarity of two pictures, 1 for equal ones, about 0 for unrelated ones.
///
/// `data_range` is the distance between the smallest and the largest possible value: 255 for bytes, 1 for floats in 0..1.
/// Pixels whose window leaves the picture are not counted, as in scikit-image.
///
/// # Errors
/// If the sizes differ, or the pictures are smaller than the window.
pub fn ssim<T: Copy + Into<f64>>(
    a: Plane<'_, T>,
    b: Plane<'_, T>,
    window: SsimWindow,
    data_range: f64,
) -> Result<f64, SsimError> {
    if (a.width, a.height) != (b.width, b.height) {
        return Err(SsimError::Size(a.width, a.height, b.width, b.height));
    }
    for plane in [&a, &b] {
        if plane.pixels.len() != plane.width * plane.height {
            return Err(SsimError::Length(plane.width, plane.height, plane.pixels.len()));
        }
    }
    let side = match window {
        SsimWindow::Uniform7 => 7,
        SsimWindow::Gaussian => 2 * GAUSSIAN_RADIUS + 1,
    };
    if a.width < side || a.height < side {
        return Err(SsimError::TooSmall(a.width, a.height, side));
    }
    Ok(match window {
        SsimWindow::Uniform7 => uniform(a, b, data_range),
        SsimWindow::Gaussian => gaussian(a, b, data_range),
    })
}

/// The index at one pixel from its window's means of x, y, x², y², xy; `bessel` is n/(n-1) or 1.
#[inline]
fn index(means: Moments, bessel: f64, c1: f64, c2: f64) -> f64 {
    let [ux, uy, uxx, uyy, uxy] = means;
    let vx = bessel * (uxx - ux * ux);
    let vy = bessel * (uyy - uy * uy);
    let vxy = bessel * (uxy - ux * uy);
    ((2.0 * ux * uy + c1) * (2.0 * vxy + c2)) / ((ux * ux + uy * uy + c1) * (vx + vy + c2))
}

fn constants(data_range: f64) -> (f64, f64) {
    ((0.01 * data_range).powi(2), (0.03 * data_range).powi(2))
}

#[inline]
fn moments(x: f64, y: f64) -> Moments {
    [x, y, x * x, y * y, x * y]
}

#[inline]
fn add(sum: &mut Moments, term: Moments, weight: f64) {
    for (total, value) in sum.iter_mut().zip(term) {
        *total += weight * value;
    }
}

/// Sliding sums down the columns and along the rows: the cost per pixel does not depend on the window.
fn uniform<T: Copy + Into<f64>>(a: Plane<'_, T>, b: Plane<'_, T>, data_range: f64) -> f64 {
    const SIDE: usize = 7;
    const COUNT: f64 = (SIDE * SIDE) as f64;
    let (c1, c2) = constants(data_range);
    let width = a.width;
    let row = |y: usize| {
        let span = y * width..(y + 1) * width;
        a.pixels[span.clone()].iter().zip(&b.pixels[span])
    };

    let mut columns = vec![[0.0; 5]; width];
    for y in 0..SIDE - 1 {
        for (column, (&p, &q)) in columns.iter_mut().zip(row(y)) {
            add(column, moments(p.into(), q.into()), 1.0);
        }
    }
    let mut total = 0.0;
    for y in SIDE - 1..a.height {
        for (column, (&p, &q)) in columns.iter_mut().zip(row(y)) {
            add(column, moments(p.into(), q.into()), 1.0);
        }
        let mut sum = [0.0; 5];
        for column in &columns[..SIDE - 1] {
            add(&mut sum, *column, 1.0);
        }
        for x in SIDE - 1..width {
            add(&mut sum, columns[x], 1.0);
            total += index(sum.map(|value| value / COUNT), COUNT / (COUNT - 1.0), c1, c2);
            add(&mut sum, columns[x + 1 - SIDE], -1.0);
        }
        for (column, (&p, &q)) in columns.iter_mut().zip(row(y + 1 - SIDE)) {
            add(column, moments(p.into(), q.into()), -1.0);
        }
    }
    total / ((a.width - SIDE + 1) * (a.height - SIDE + 1)) as f64
}

/// scikit-image cuts the Gaussian off at 3.5 σ.
const GAUSSIAN_RADIUS: usize = 5;

fn gaussian<T: Copy + Into<f64>>(a: Plane<'_, T>, b: Plane<'_, T>, data_range: f64) -> f64 {
    const SIDE: usize = 2 * GAUSSIAN_RADIUS + 1;
    let (c1, c2) = constants(data_range);
    let mut taps: [f64; SIDE] =
        std::array::from_fn(|i| (-0.5 * ((i as f64 - GAUSSIAN_RADIUS as f64) / 1.5).powi(2)).exp());
    let sum: f64 = taps.iter().sum();
    taps.iter_mut().for_each(|tap| *tap /= sum);

    let width = a.width;
    let mut total = 0.0;
    let mut columns = vec![[0.0; 5]; width];
    for y in 0..=a.height - SIDE {
        columns.fill([0.0; 5]);
        for (offset, tap) in taps.iter().enumerate() {
            let span = (y + offset) * width..(y + offset + 1) * width;
            for ((column, &p), &q) in columns.iter_mut().zip(&a.pixels[span.clone()]).zip(&b.pixels[span]) {
                add(column, moments(p.into(), q.into()), *tap);
            }
        }
        for window in columns.windows(SIDE) {
            let mut means = [0.0; 5];
            for (column, tap) in window.iter().zip(taps) {
                add(&mut means, *column, tap);
            }
            total += index(means, 1.0, c1, c2);
        }
    }
    total / ((a.width - SIDE + 1) * (a.height - SIDE + 1)) as f64
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A picture made of a formula, so that the references below can be computed again anywhere.
    fn drawn(width: usize, height: usize, seed: usize) -> Vec<u8> {
        (0..width * height)
            .map(|i| {
                let (x, y) = (i % width, i / width);
                ((x * (3 + seed) + y * (5 + 2 * seed) + (x * y) / 7 * seed) % 256) as u8
            })
            .collect()
    }

    /// Straight from the definition, window by window.
    fn by_definition(a: Plane<'_, u8>, b: Plane<'_, u8>, window: SsimWindow, range: f64) -> f64 {
        let (radius, bessel) = match window {
            SsimWindow::Uniform7 => (3_i64, 49.0 / 48.0),
            SsimWindow::Gaussian => (5_i64, 1.0),
        };
        let weight = |d: i64| match window {
            SsimWindow::Uniform7 => 1.0,
            SsimWindow::Gaussian => (-(d as f64).powi(2) / (2.0 * 1.5 * 1.5)).exp(),
        };
        let (c1, c2) = constants(range);
        let (mut total, mut count) = (0.0, 0.0);
        for y in radius..a.height as i64 - radius {
            for x in radius..a.width as i64 - radius {
                let (mut sums, mut weights) = ([0.0; 5], 0.0);
                for dy in -radius..=radius {
                    for dx in -radius..=radius {
                        let at = ((y + dy) * a.width as i64 + x + dx) as usize;
                        let w = weight(dx) * weight(dy);
                        add(&mut sums, moments(a.pixels[at].into(), b.pixels[at].into()), w);
                        weights += w;
                    }
                }
                total += index(sums.map(|s| s / weights), bessel, c1, c2);
                count += 1.0;
            }
        }
        total / count
    }

    #[test]
    fn the_fast_sums_equal_the_definition() {
        for (width, height) in [(11, 11), (33, 17), (48, 40)] {
            for (i, j) in [(0, 1), (1, 2), (2, 5), (4, 4)] {
                let (a, b) = (drawn(width, height, i), drawn(width, height, j));
                let (a, b) = (Plane { width, height, pixels: &a[..] }, Plane { width, height, pixels: &b[..] });
                for window in [SsimWindow::Uniform7, SsimWindow::Gaussian] {
                    let (fast, slow) = (ssim(a, b, window, 255.0).unwrap(), by_definition(a, b, window, 255.0));
                    assert!((fast - slow).abs() < 1e-9, "{window:?} {width}x{height} {i},{j}: {fast} != {slow}");
                }
            }
        }
    }

    #[test]
    fn bytes_and_floats_in_the_unit_range_agree() {
        let (a, b) = (drawn(40, 30, 1), drawn(40, 30, 2));
        let unit = |p: &[u8]| p.iter().map(|&v| f32::from(v) / 255.0).collect::<Vec<_>>();
        let (fa, fb) = (unit(&a), unit(&b));
        let bytes = ssim(
            Plane { width: 40, height: 30, pixels: &a[..] },
            Plane { width: 40, height: 30, pixels: &b[..] },
            SsimWindow::Uniform7,
            255.0,
        );
        let floats = ssim(
            Plane { width: 40, height: 30, pixels: &fa[..] },
            Plane { width: 40, height: 30, pixels: &fb[..] },
            SsimWindow::Uniform7,
            1.0,
        );
        assert!((bytes.unwrap() - floats.unwrap()).abs() < 1e-5);
    }

    #[test]
    fn pictures_that_cannot_be_compared_are_refused_with_their_sizes() {
        let a = [0_u8; 100];
        let ten = Plane { width: 10, height: 10, pixels: &a[..] };
        let other = Plane { width: 20, height: 5, pixels: &a[..] };
        assert_eq!(ssim(ten, other, SsimWindow::Uniform7, 255.0), Err(SsimError::Size(10, 10, 20, 5)));
        assert_eq!(ssim(ten, ten, SsimWindow::Gaussian, 255.0), Err(SsimError::TooSmall(10, 10, 11)));
        let short = Plane { width: 10, height: 11, pixels: &a[..] };
        assert_eq!(ssim(short, short, SsimWindow::Uniform7, 255.0), Err(SsimError::Length(10, 11, 100)));
    }

    #[test]
    fn the_reference_pairs_of_scikit_image_are_met_to_1e_4() {
        let folder = std::env::var_os("ENGRAM_SHARED")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from)
            .join("data/ref/ssim");
        let (Ok(frames), Ok(table)) =
            (std::fs::read(folder.join("frames_gray_160x120.raw")), std::fs::read_to_string(folder.join("ssim.csv")))
        else {
            println!("skipped: no reference pairs in {}", folder.display());
            return;
        };
        let plane = |i: usize| Plane { width: 160, height: 120, pixels: &frames[i * 19_200..(i + 1) * 19_200] };
        let mut pairs = 0;
        for line in table.lines().skip(1) {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            let (a, b) = (plane(cells[0] as usize), plane(cells[1] as usize));
            let unit = |p: Plane<'_, u8>| p.pixels.iter().map(|&v| f64::from(v) / 255.0).collect::<Vec<_>>();
            let (fa, fb) = (unit(a), unit(b));
            let float = |pixels| Plane { width: 160, height: 120, pixels };
            for (ours, theirs) in [
                (ssim(a, b, SsimWindow::Uniform7, 255.0).unwrap(), cells[2]),
                (ssim(a, b, SsimWindow::Gaussian, 255.0).unwrap(), cells[3]),
                (ssim(float(&fa), float(&fb), SsimWindow::Uniform7, 1.0).unwrap(), cells[4]),
            ] {
                assert!((ours - theirs).abs() < 1e-4, "{line}: {ours} != {theirs}");
            }
            pairs += 1;
        }
        assert!(pairs >= 90, "only {pairs} pairs");
    }
}
