//! Pictures, and their tensors for models.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use ndarray::{Array4, ArrayD};

use super::{EncoderError, TensorView};
use crate::models::{ElementType, Fit, ModelEntry};

/// A picture, packed RGB.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Pixels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width * height * 3` bytes.
    pub rgb: &'a [u8],
}

impl Picture<'_> {
    /// The pixel at a column and a row; both must be inside.
    pub(crate) fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let at = (y as usize * self.width as usize + x as usize) * 3;
        [self.rgb[at], self.rgb[at + 1], self.rgb[at + 2]]
    }
}

/// Which channel comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channels {
    Rgb,
    Bgr,
}

/// Makes one model's input out of pictures. Kept, so that a picture allocates nothing.
pub(super) struct PictureTensor {
    model: String,
    resizer: Resizer,
    resized: Image<'static>,
    size: (u32, u32),
    fit: Fit,
    channels: Channels,
    /// Value of all three channels where a padded picture is not.
    padding: u8,
    values: Values,
}

enum Values {
    /// Rows of pixels, as the bytes are.
    Bytes(ArrayD<u8>),
    /// Planes of (value / 255 - mean) / deviation.
    Planes { tensor: Array4<f32>, mean: [f32; 3], deviation: [f32; 3] },
}

/// How much smaller or larger a picture was made, across and down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub across: f32,
    pub down: f32,
}

impl PictureTensor {
    /// As [`new`](Self::new), for a model that takes the values as they are in a picture, 0 to 255, in blue, green and
    /// red.
    pub fn of_bytes(entry: &ModelEntry, fit: Fit) -> Result<Self, EncoderError> {
        let mut entry = entry.clone();
        for at in 0..3 {
            entry.parameters.insert(format!("deviation_{at}"), 1.0 / 255.0);
        }
        Self::new(&entry, fit, Channels::Bgr)
    }

    /// Creates a tensor for the entry's first input: bytes `[1, H, W, 3]` or numbers `[1, 3, H, W]`. `mean_0` …
    /// `deviation_2` among the entry's parameters normalise the channels in the order in which the model takes them;
    /// without them values are 0 to 1.
    pub fn new(entry: &ModelEntry, fit: Fit, channels: Channels) -> Result<Self, EncoderError> {
        let refuse = |message: &str| EncoderError::Entry(format!("{}: {message}", entry.name));
        let input = entry.inputs.first().ok_or_else(|| refuse("the catalogue names no input"))?;
        let shape: Option<Vec<usize>> =
            input.shape.iter().map(|n| usize::try_from(*n).ok().filter(|n| *n > 0)).collect();
        let expected = "expected an input of bytes [1, H, W, 3] or of numbers [1, 3, H, W]";
        let (height, width, values) = match (input.element, shape.as_deref()) {
            (ElementType::U8, Some(&[1, height, width, 3])) => {
                (height, width, Values::Bytes(ArrayD::zeros(vec![1, height, width, 3])))
            }
            (ElementType::F32, Some(&[1, 3, height, width])) => {
                let three = |name: &str, otherwise: f32| -> [f32; 3] {
                    std::array::from_fn(|at| {
                        entry.parameters.get(&format!("{name}_{at}")).copied().unwrap_or(otherwise)
                    })
                };
                let (mean, deviation) = (three("mean", 0.0), three("deviation", 1.0));
                if deviation.iter().any(|value| !value.is_finite() || *value <= 0.0) {
                    return Err(refuse("a deviation among its parameters is not above 0"));
                }
                (height, width, Values::Planes { tensor: Array4::zeros((1, 3, height, width)), mean, deviation })
            }
            _ => return Err(refuse(expected)),
        };
        let side = |n: usize| u32::try_from(n).map_err(|error| EncoderError::Entry(error.to_string()));
        let size = (side(width)?, side(height)?);
        Ok(Self {
            model: entry.name.clone(),
            resizer: Resizer::new(),
            resized: Image::new(size.0, size.1, PixelType::U8x3),
            size,
            fit,
            channels,
            padding: 0,
            values,
        })
    }

    /// Fills what a padded picture leaves with this grey instead of black.
    pub fn padded_with(self, padding: u8) -> Self {
        Self { padding, ..self }
    }

    /// Fills the tensor with a picture and says by how much it was scaled.
    ///
    /// # Errors
    /// If the picture has no pixels or too few bytes.
    pub fn fill(&mut self, picture: &Picture<'_>) -> Result<Scale, EncoderError> {
        let refuse = |message: String| EncoderError::input(&self.model, message);
        let view = ImageRef::new(picture.width, picture.height, picture.rgb, PixelType::U8x3)
            .map_err(|error| refuse(error.to_string()))?;
        if picture.width == 0 || picture.height == 0 {
            return Err(refuse("a picture without pixels".to_owned()));
        }
        let (width, height) = match self.fit {
            Fit::Stretch | Fit::Crop => self.size,
            Fit::Pad => fitted((picture.width, picture.height), self.size),
        };
        if (self.resized.width(), self.resized.height()) != (width, height) {
            self.resized = Image::new(width, height, PixelType::U8x3);
        }
        // Four neighbours, as the models were trained with, and not an average over the area.
        let options = match self.fit {
            Fit::Stretch | Fit::Pad => ResizeOptions::new().resize_alg(ResizeAlg::Interpolation(FilterType::Bilinear)),
            // Those that crop were trained with cubic averages.
            Fit::Crop => {
                let (left, top, across, down) = middle((picture.width, picture.height), self.size);
                ResizeOptions::new()
                    .resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom))
                    .crop(left, top, across, down)
            }
        };
        self.resizer
            .resize(&view, &mut self.resized, &options)
            .map_err(|error| EncoderError::input(&self.model, error))?;
        let (row, rows) = (width as usize, height as usize);
        let across = self.size.0 as usize;
        let swap = self.channels == Channels::Bgr;
        let rgb = self.resized.buffer();
        match &mut self.values {
            Values::Bytes(tensor) => {
                let bytes = tensor.as_slice_mut().expect("a new array is contiguous");
                bytes.fill(self.padding);
                for (from, to) in rgb.chunks_exact(row * 3).zip(bytes.chunks_exact_mut(across * 3)) {
                    to[..row * 3].copy_from_slice(from);
                    if swap {
                        to[..row * 3].chunks_exact_mut(3).for_each(|pixel| pixel.swap(0, 2));
                    }
                }
            }
            Values::Planes { tensor, mean, deviation } => {
                let planes = tensor.as_slice_mut().expect("a new array is contiguous");
                let plane = planes.len() / 3;
                for (channel, plane) in planes.chunks_exact_mut(plane).enumerate() {
                    let from = if swap { 2 - channel } else { channel };
                    let (mean, factor) = (mean[channel], 1.0 / deviation[channel]);
                    let value = |byte: u8| (f32::from(byte) / 255.0 - mean) * factor;
                    if (row, rows) != (across, plane.len() / across) {
                        plane.fill(value(self.padding));
                    }
                    for (pixels, to) in rgb.chunks_exact(row * 3).zip(plane.chunks_exact_mut(across)) {
                        for (pixel, to) in pixels.chunks_exact(3).zip(to) {
                            *to = value(pixel[from]);
                        }
                    }
                }
            }
        }
        let (width, height) = match self.fit {
            Fit::Stretch | Fit::Pad => (width as f32, height as f32),
            // By one factor, and only the middle of the picture is there.
            Fit::Crop => {
                let (_, _, across, down) = middle((picture.width, picture.height), self.size);
                let larger = |room: u32, part: f64, whole: u32| f64::from(room) / part * f64::from(whole);
                (larger(width, across, picture.width) as f32, larger(height, down, picture.height) as f32)
            }
        };
        Ok(Scale { across: width / picture.width as f32, down: height / picture.height as f32 })
    }

    /// Returns the input that was filled last.
    pub fn view(&self) -> TensorView<'_> {
        match &self.values {
            Values::Bytes(tensor) => TensorView::U8(tensor.view()),
            Values::Planes { tensor, .. } => TensorView::F32(tensor.view().into_dyn()),
        }
    }
}

/// The largest size of a picture's shape inside `room`.
fn fitted((width, height): (u32, u32), room: (u32, u32)) -> (u32, u32) {
    let factor = (f64::from(room.0) / f64::from(width)).min(f64::from(room.1) / f64::from(height));
    let side = |length: u32, most: u32| ((f64::from(length) * factor).round() as u32).clamp(1, most);
    (side(width, room.0), side(height, room.1))
}

/// The largest part of the shape of `room` in the middle of a picture: left, top, width and height in its pixels.
fn middle((width, height): (u32, u32), room: (u32, u32)) -> (f64, f64, f64, f64) {
    let (width, height) = (f64::from(width), f64::from(height));
    let factor = (width / f64::from(room.0)).min(height / f64::from(room.1));
    let (across, down) = ((f64::from(room.0) * factor).min(width), (f64::from(room.1) * factor).min(height));
    ((width - across) / 2.0, (height - down) / 2.0, across, down)
}

/// Intersection over union of two boxes, each left, top, right, bottom.
pub(crate) fn overlap(a: &[f32; 4], b: &[f32; 4]) -> f32 {
    let side = |low: usize, high: usize| (a[high].min(b[high]) - a[low].max(b[low])).max(0.0);
    let shared = side(0, 2) * side(1, 3);
    let area = |edges: &[f32; 4]| (edges[2] - edges[0]) * (edges[3] - edges[1]);
    let union = area(a) + area(b) - shared;
    if union > 0.0 { shared / union } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{Catalogue, Role, TensorSpec};

    fn entry(element: ElementType, shape: &[i64]) -> ModelEntry {
        let mut entry = Catalogue::load(None).unwrap().model(Role::Objects).unwrap().clone();
        entry.inputs = vec![TensorSpec { name: "x".to_owned(), element, shape: shape.to_vec() }];
        entry.parameters.clear();
        entry
    }

    /// A picture of one colour.
    fn filled(width: u32, height: u32, rgb: [u8; 3]) -> Vec<u8> {
        rgb.repeat((width * height) as usize)
    }

    #[test]
    fn a_padded_picture_lies_top_left_on_black_and_its_scale_is_known() {
        let mut tensor = PictureTensor::new(&entry(ElementType::F32, &[1, 3, 4, 4]), Fit::Pad, Channels::Bgr).unwrap();
        let rgb = filled(8, 4, [255, 0, 51]);
        let scale = tensor.fill(&Picture { width: 8, height: 4, rgb: &rgb }).unwrap();
        assert_eq!(scale, Scale { across: 0.5, down: 0.5 });
        let TensorView::F32(view) = tensor.view() else { panic!("numbers") };
        assert_eq!((view[[0, 0, 0, 0]], view[[0, 1, 1, 3]], view[[0, 2, 1, 3]]), (0.2, 0.0, 1.0));
        assert_eq!((view[[0, 0, 2, 0]], view[[0, 2, 3, 3]]), (0.0, 0.0), "below is nothing");
    }

    #[test]
    fn bytes_stay_bytes_and_parameters_normalise_numbers() {
        let rgb = filled(5, 3, [10, 20, 30]);
        let picture = Picture { width: 5, height: 3, rgb: &rgb };
        let mut bytes =
            PictureTensor::new(&entry(ElementType::U8, &[1, 2, 2, 3]), Fit::Stretch, Channels::Rgb).unwrap();
        bytes.fill(&picture).unwrap();
        let TensorView::U8(view) = bytes.view() else { panic!("bytes") };
        assert_eq!(view.iter().copied().collect::<Vec<_>>(), [10, 20, 30].repeat(4));
        let mut normalised = entry(ElementType::F32, &[1, 3, 2, 2]);
        normalised.parameters.insert("mean_1".to_owned(), 20.0 / 255.0);
        normalised.parameters.insert("deviation_0".to_owned(), 10.0 / 255.0);
        let mut tensor = PictureTensor::new(&normalised, Fit::Stretch, Channels::Rgb).unwrap();
        tensor.fill(&picture).unwrap();
        let TensorView::F32(view) = tensor.view() else { panic!("numbers") };
        assert!((view[[0, 0, 1, 1]] - 1.0).abs() < 1e-6 && view[[0, 1, 0, 1]].abs() < 1e-6);
    }

    #[test]
    fn a_cropped_picture_is_its_middle_in_its_own_shape() {
        // Red, green and blue side by side, each a square.
        let row: Vec<u8> = [[255, 0, 0], [0, 255, 0], [0, 0, 255]].iter().flat_map(|pixel| pixel.repeat(32)).collect();
        let rgb = row.repeat(32);
        let mut tensor =
            PictureTensor::new(&entry(ElementType::F32, &[1, 3, 16, 16]), Fit::Crop, Channels::Rgb).unwrap();
        let scale = tensor.fill(&Picture { width: 96, height: 32, rgb: &rgb }).unwrap();
        assert_eq!(scale, Scale { across: 0.5, down: 0.5 });
        let TensorView::F32(view) = tensor.view() else { panic!("numbers") };
        // At the edges, the neighbours shine in as they do where the whole picture is resized before it is cut.
        for (x, y) in [(2, 0), (13, 0), (2, 15), (13, 15), (8, 8)] {
            let seen = [0, 1, 2].map(|channel| view[[0, channel, y, x]]);
            assert!(seen[1] > 0.99 && seen[0] < 0.01 && seen[2] < 0.01, "{x}, {y}: {seen:?}");
        }
    }

    #[test]
    fn what_a_padded_picture_leaves_has_the_grey_that_the_model_knows() {
        let numbers = entry(ElementType::F32, &[1, 3, 4, 4]);
        let mut tensor = PictureTensor::new(&numbers, Fit::Pad, Channels::Bgr).unwrap().padded_with(51);
        tensor.fill(&Picture { width: 8, height: 4, rgb: &filled(8, 4, [255; 3]) }).unwrap();
        let TensorView::F32(view) = tensor.view() else { panic!("numbers") };
        assert_eq!((view[[0, 0, 0, 0]], view[[0, 0, 3, 3]]), (1.0, 0.2));
    }

    #[test]
    fn odd_sizes_are_taken_and_too_few_bytes_refused() {
        for (width, height) in [(1, 1), (1, 999), (641, 1), (33, 77)] {
            for fit in [Fit::Stretch, Fit::Pad, Fit::Crop] {
                let mut tensor =
                    PictureTensor::new(&entry(ElementType::F32, &[1, 3, 16, 16]), fit, Channels::Rgb).unwrap();
                let rgb = filled(width, height, [9, 9, 9]);
                tensor.fill(&Picture { width, height, rgb: &rgb }).unwrap();
            }
        }
        let mut tensor = PictureTensor::new(&entry(ElementType::F32, &[1, 3, 4, 4]), Fit::Pad, Channels::Rgb).unwrap();
        for (width, height, bytes) in [(4, 4, 47), (0, 4, 0), (4, 0, 0)] {
            let error = tensor.fill(&Picture { width, height, rgb: &vec![0; bytes] }).unwrap_err();
            assert!(matches!(error, EncoderError::Input { .. }), "{width}x{height}: {error}");
        }
        assert!(PictureTensor::new(&entry(ElementType::F32, &[1, 4, 4, 3]), Fit::Pad, Channels::Rgb).is_err());
    }
}
