//! Aligns faces: upright and of one size, so that eyes and mouth are where the face encoder expects them.

use super::Face;
use crate::encoders::Picture;

/// Side of an aligned face, in pixels.
pub(crate) const ALIGNED_SIDE: u32 = 112;
/// Where eyes, nose and mouth lie in an aligned face: the places that ArcFace and SFace were trained with (Deng et al.
/// 2019), for the eye and the corner of the mouth on the left of the picture first.
const LANDMARKS: [[f32; 2]; 5] =
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]];
/// Minimum distance of the eyes, in pixels. A smaller face holds too little to tell whose it is.
const MIN_EYE_DISTANCE: f32 = 8.0;

/// The pixels of a face, packed RGB, `ALIGNED_SIDE` by `ALIGNED_SIDE`; `None` if it is too small or its landmarks make no sense.
///
/// The similarity transform (turn, scale, shift) that brings the landmarks closest to their places in the sense of least
/// squares (Umeyama 1991, in the plane), and four neighbours for every pixel.
pub(crate) fn aligned(picture: &Picture<'_>, face: &Face) -> Option<Vec<u8>> {
    let [[right_x, right_y], [left_x, left_y], ..] = face.landmarks;
    if (right_x - left_x).hypot(right_y - left_y) < MIN_EYE_DISTANCE || picture.width < 2 || picture.height < 2 {
        return None;
    }
    let (turn, shift) = similarity(&LANDMARKS, &face.landmarks)?;
    let mut pixels = Vec::with_capacity((ALIGNED_SIDE * ALIGNED_SIDE * 3) as usize);
    for y in 0..ALIGNED_SIDE {
        for x in 0..ALIGNED_SIDE {
            let (x, y) = (x as f32, y as f32);
            let from = [turn[0] * x - turn[1] * y + shift[0], turn[1] * x + turn[0] * y + shift[1]];
            pixels.extend(sample(picture, from));
        }
    }
    Some(pixels)
}

/// The turn (cosine and sine, both times the scale) and the shift that take `from` closest to `to`.
fn similarity(from: &[[f32; 2]; 5], to: &[[f32; 2]; 5]) -> Option<([f32; 2], [f32; 2])> {
    let mean = |points: &[[f32; 2]; 5]| [0, 1].map(|axis| points.iter().map(|point| point[axis]).sum::<f32>() / 5.0);
    let (a, b) = (mean(from), mean(to));
    let (mut along, mut across, mut spread) = (0.0, 0.0, 0.0);
    for (p, q) in from.iter().zip(to) {
        let (p, q) = ([p[0] - a[0], p[1] - a[1]], [q[0] - b[0], q[1] - b[1]]);
        along += p[0] * q[0] + p[1] * q[1];
        across += p[0] * q[1] - p[1] * q[0];
        spread += p[0] * p[0] + p[1] * p[1];
    }
    let turn = [along / spread, across / spread];
    let shift = [b[0] - turn[0] * a[0] + turn[1] * a[1], b[1] - turn[1] * a[0] - turn[0] * a[1]];
    let sane = turn.iter().chain(&shift).all(|number| number.is_finite()) && turn[0].hypot(turn[1]) > 1e-3;
    sane.then_some((turn, shift))
}

/// The colour at a place between pixels; black beyond the picture.
fn sample(picture: &Picture<'_>, [x, y]: [f32; 2]) -> [u8; 3] {
    let (left, top) = (x.floor(), y.floor());
    let at = |dx: f32, dy: f32| {
        let (x, y) = (left + dx, top + dy);
        let inside = (0.0..picture.width as f32).contains(&x) && (0.0..picture.height as f32).contains(&y);
        if inside { picture.pixel(x as u32, y as u32).map(f32::from) } else { [0.0; 3] }
    };
    let (u, v) = (x - left, y - top);
    let corners = [at(0.0, 0.0), at(1.0, 0.0), at(0.0, 1.0), at(1.0, 1.0)];
    let weights = [(1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v];
    [0, 1, 2].map(|channel| {
        let value: f32 = corners.iter().zip(weights).map(|(corner, weight)| corner[channel] * weight).sum();
        value.round().clamp(0.0, 255.0) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture in which each landmark is a dot of its own brightness, turned by `degrees` and scaled.
    fn dots(degrees: f32, scale: f32) -> (Vec<u8>, Face) {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let place = |[x, y]: [f32; 2]| {
            let (x, y) = ((x - 56.0) * scale, (y - 72.0) * scale);
            [160.0 + cos * x - sin * y, 120.0 + sin * x + cos * y]
        };
        let landmarks = LANDMARKS.map(place);
        let mut rgb = vec![0; 320 * 240 * 3];
        for (n, [x, y]) in landmarks.iter().enumerate() {
            for dy in -4..=4_i32 {
                for dx in -4..=4_i32 {
                    let (x, y) = ((x.round() as i32 + dx) as usize, (y.round() as i32 + dy) as usize);
                    rgb[(y * 320 + x) * 3] = 100 + 30 * n as u8;
                }
            }
        }
        (rgb, Face { score: 1.0, bounds: [0.0; 4], landmarks })
    }

    #[test]
    fn landmarks_come_to_their_places_however_the_face_is_turned_and_sized() {
        for (degrees, scale) in [(0.0, 1.0), (25.0, 0.8), (-40.0, 1.3), (180.0, 1.0)] {
            let (rgb, face) = dots(degrees, scale);
            let pixels = aligned(&Picture { width: 320, height: 240, rgb: &rgb }, &face).unwrap();
            for (n, [x, y]) in LANDMARKS.iter().enumerate() {
                let at = (y.round() as usize * ALIGNED_SIDE as usize + x.round() as usize) * 3;
                let wanted = 100 + 30 * n as u8;
                assert!(pixels[at].abs_diff(wanted) < 25, "{degrees}° {scale}: landmark {n} is {}", pixels[at]);
            }
        }
    }

    #[test]
    fn a_face_that_is_too_small_or_without_sense_has_no_pixels() {
        let rgb = vec![0; 320 * 240 * 3];
        let picture = Picture { width: 320, height: 240, rgb: &rgb };
        let face = |landmarks| Face { score: 1.0, bounds: [0.0; 4], landmarks };
        assert!(aligned(&picture, &face([[50.0, 50.0]; 5])).is_none());
        let small = LANDMARKS.map(|[x, y]| [x / 10.0, y / 10.0]);
        assert!(aligned(&picture, &face(small)).is_none());
        let mut beyond = LANDMARKS;
        beyond[2] = [f32::NAN, 0.0];
        assert!(aligned(&picture, &face(beyond)).is_none());
        assert!(aligned(&picture, &face(LANDMARKS.map(|[x, y]| [x - 400.0, y]))).is_some(), "outside is black");
    }
}
