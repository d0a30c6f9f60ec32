//! Writing in view: where it is, and what it says.

mod regions;

use std::sync::Arc;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use ndarray::{Array4, ArrayViewD};
use parking_lot::Mutex;

use super::picture::{Channels, PictureTensor};
use super::vector::probabilities;
use super::{Backend, Encoder, EncoderError, Graph, Picture, TensorView};
use crate::models::{Fit, InstalledModel};
use regions::{Region, regions};

/// A place in a picture where something is written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenLine {
    /// 0 to 1.
    pub score: f32,
    /// Left, top, right and bottom edge, as parts of the picture's width and height.
    pub bounds: [f32; 4],
}

/// Finds lines of writing, from top to bottom.
pub trait TextDetector: for<'a> Encoder<Picture<'a>, Vec<WrittenLine>> {}

impl<E> TextDetector for E where E: for<'a> Encoder<Picture<'a>, Vec<WrittenLine>> {}

/// Text in the picture of one line, and its confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadText {
    /// The characters.
    pub text: String,
    /// Mean probability of its characters, 0 to 1.
    pub confidence: f32,
}

/// Reads one line.
pub trait TextReader: for<'a> Encoder<Picture<'a>, ReadText> {}

impl<E> TextReader for E where E: for<'a> Encoder<Picture<'a>, ReadText> {}

/// A detector with a probability per pixel, such as PP-OCR's (differentiable binarisation, Liao et al. 2020).
pub struct DbTextDetector {
    inner: Mutex<(Box<dyn Graph>, PictureTensor)>,
    model: String,
    pixel: f32,
    score: f32,
    unclip: f32,
}

impl DbTextDetector {
    /// Loads the graph.
    ///
    /// # Errors
    /// If it cannot be loaded, or the entry lacks `pixel`, `score` or `unclip`.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let parameter = |name: &str| entry.parameter(name).map_err(EncoderError::Entry);
        let input = PictureTensor::new(entry, Fit::Stretch, Channels::Bgr)?;
        Ok(Self {
            inner: Mutex::new((backend.load(installed, threads)?, input)),
            model: entry.name.clone(),
            pixel: parameter("pixel")?,
            score: parameter("score")?,
            unclip: parameter("unclip")?,
        })
    }
}

impl Encoder<Picture<'_>, Vec<WrittenLine>> for DbTextDetector {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<WrittenLine>, EncoderError> {
        let mut inner = self.inner.lock();
        let (graph, input) = &mut *inner;
        input.fill(picture)?;
        let output = graph.run(&[input.view()])?.into_iter().next();
        drop(inner);
        let map = probabilities(&self.model, output)?;
        let &[1, 1, rows, columns] = map.shape() else {
            return Err(EncoderError::output(&self.model, format!("shape {:?}, not [1, 1, H, W]", map.shape())));
        };
        let pixels: Vec<f32> = map.iter().copied().collect();
        let across = |x: f32| (x / columns as f32).clamp(0.0, 1.0);
        let down = |y: f32| (y / rows as f32).clamp(0.0, 1.0);
        let found = regions(&pixels, columns, self.pixel);
        let kept = found.into_iter().filter(|region| region.score >= self.score);
        let lines = kept.map(|region: Region| {
            let [left, top, right, bottom] = region.widened(self.unclip);
            WrittenLine { score: region.score, bounds: [across(left), down(top), across(right), down(bottom)] }
        });
        Ok(lines.collect())
    }
}

/// A recogniser whose output is one row of class scores per column of the line, read by CTC (Graves et al. 2006), such as
/// CRNN: grey `[1, 1, H, W]` in, `[T, 1, classes]` or `[1, T, classes]` out, the blank first.
pub struct CtcTextReader {
    inner: Mutex<(Box<dyn Graph>, Resizer, Array4<f32>)>,
    model: String,
    characters: Vec<Arc<str>>,
}

impl CtcTextReader {
    /// Loads the graph and its characters, the labels of the entry.
    ///
    /// # Errors
    /// If they cannot be loaded, or the entry's input is no `[1, 1, H, W]`.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let shape = entry.inputs.first().map(|input| input.shape.as_slice());
        let Some(&[1, 1, height, width]) = shape.filter(|shape| shape.iter().all(|n| *n > 0)) else {
            return Err(EncoderError::Entry(format!("{}: expected an input [1, 1, H, W]", entry.name)));
        };
        let input = Array4::zeros((1, 1, height as usize, width as usize));
        Ok(Self {
            inner: Mutex::new((backend.load(installed, threads)?, Resizer::new(), input)),
            model: entry.name.clone(),
            characters: installed.labels().map_err(EncoderError::Entry)?,
        })
    }

    /// Best class per step, repetitions once, blanks away.
    fn decode(&self, steps: ArrayViewD<'_, f32>) -> Result<ReadText, EncoderError> {
        let classes = self.characters.len() + 1;
        let (count, last) = match *steps.shape() {
            [count, 1, last] | [1, count, last] => (count, last),
            _ => (0, 0),
        };
        if last != classes {
            let message = format!("shape {:?} for {} characters and a blank", steps.shape(), self.characters.len());
            return Err(EncoderError::output(&self.model, message));
        }
        let scores: Vec<f32> = steps.iter().copied().collect();
        let (mut text, mut sum, mut letters, mut before) = (String::new(), 0.0, 0, 0);
        for step in scores.chunks_exact(classes).take(count) {
            let best = (0..classes).max_by(|a, b| step[*a].total_cmp(&step[*b]).then(b.cmp(a))).unwrap_or(0);
            if best != 0 && best != before {
                text.push_str(&self.characters[best - 1]);
                // Scores come before the softmax or behind it; of the latter this changes no order.
                let total: f32 = step.iter().map(|score| (score - step[best]).exp()).sum();
                sum += 1.0 / total;
                letters += 1;
            }
            before = best;
        }
        Ok(ReadText { text, confidence: sum / f32::from(u16::try_from(letters).unwrap_or(u16::MAX).max(1)) })
    }
}

impl Encoder<Picture<'_>, ReadText> for CtcTextReader {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<ReadText, EncoderError> {
        let refuse = |message: String| EncoderError::input(&self.model, message);
        let pixels = picture.rgb.chunks_exact(3);
        let grey: Vec<u8> = pixels
            .map(|pixel| ((77 * u32::from(pixel[0]) + 150 * u32::from(pixel[1]) + 29 * u32::from(pixel[2])) >> 8) as u8)
            .collect();
        let view = ImageRef::new(picture.width, picture.height, &grey, PixelType::U8)
            .map_err(|error| refuse(error.to_string()))?;
        if picture.width == 0 || picture.height == 0 {
            return Err(refuse("a line without pixels".to_owned()));
        }
        let mut inner = self.inner.lock();
        let (graph, resizer, input) = &mut *inner;
        let (_, _, height, width) = input.dim();
        let mut line = Image::new(width as u32, height as u32, PixelType::U8);
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Interpolation(FilterType::Bilinear));
        resizer.resize(&view, &mut line, &options).map_err(|error| refuse(error.to_string()))?;
        for (to, grey) in input.iter_mut().zip(line.buffer()) {
            *to = f32::from(*grey) / 127.5 - 1.0;
        }
        let output = graph.run(&[TensorView::F32(input.view().into_dyn())])?.into_iter().next();
        drop(inner);
        self.decode(probabilities(&self.model, output)?.view())
    }
}

/// The pixels of a part of a picture, packed RGB, with their width and height; `None` if there are none.
pub(crate) fn cut_out(picture: &Picture<'_>, [left, top, right, bottom]: [f32; 4]) -> Option<(u32, u32, Vec<u8>)> {
    let pixel = |part: f32, side: u32| ((part.clamp(0.0, 1.0) * side as f32).round() as u32).min(side);
    let (x, y) = (
        pixel(left, picture.width)..pixel(right, picture.width),
        pixel(top, picture.height)..pixel(bottom, picture.height),
    );
    let (width, height) = (x.len() as u32, y.len() as u32);
    let rgb = y.flat_map(|row| x.clone().map(move |column| (column, row)));
    let rgb: Vec<u8> = rgb.flat_map(|(column, row)| picture.pixel(column, row)).collect();
    (width > 0 && height > 0).then_some((width, height, rgb))
}

#[cfg(test)]
mod tests {
    use ndarray::ArrayD;

    use super::*;
    use crate::encoders::{BackendError, Tensor};

    /// Gives the same whatever it sees.
    struct CannedReader(ArrayD<f32>);

    impl Graph for CannedReader {
        fn run(&mut self, _: &[TensorView<'_>]) -> Result<Vec<Tensor>, BackendError> {
            Ok(vec![Tensor::F32(self.0.clone())])
        }
    }

    fn reader(steps: &[usize]) -> CtcTextReader {
        let mut scores = ArrayD::zeros(vec![steps.len(), 1, 4]);
        for (at, class) in steps.iter().enumerate() {
            scores[[at, 0, *class]] = 9.0;
        }
        let inner = Mutex::new((
            Box::new(CannedReader(scores)) as Box<dyn Graph>,
            Resizer::new(),
            Array4::zeros((1, 1, 32, 100)),
        ));
        CtcTextReader { inner, model: "canned".to_owned(), characters: ["a", "b", "c"].map(Arc::from).to_vec() }
    }

    fn read(steps: &[usize]) -> ReadText {
        let rgb = [255; 50 * 10 * 3];
        reader(steps).encode(&Picture { width: 50, height: 10, rgb: &rgb }).unwrap()
    }

    #[test]
    fn repetitions_are_one_letter_and_a_blank_between_makes_two() {
        assert_eq!(read(&[0, 3, 3, 0, 1, 0, 2, 2]).text, "cab");
        assert_eq!(read(&[1, 1, 0, 1]).text, "aa");
        assert_eq!(read(&[0, 0]), ReadText { text: String::new(), confidence: 0.0 });
        assert!(read(&[1]).confidence > 0.99);
    }

    #[test]
    fn scores_of_another_shape_are_refused() {
        let mut broken = reader(&[1]);
        broken.characters.pop();
        let error = broken.encode(&Picture { width: 1, height: 1, rgb: &[0; 3] }).unwrap_err();
        assert!(error.to_string().contains("2 characters and a blank"), "{error}");
        assert!(reader(&[1]).encode(&Picture { width: 4, height: 4, rgb: &[0; 3] }).is_err());
    }

    #[test]
    fn a_part_of_a_picture_is_cut_out() {
        let rgb: Vec<u8> = (0..4 * 2).flat_map(|at| [at; 3]).collect();
        let picture = Picture { width: 4, height: 2, rgb: &rgb };
        assert_eq!(cut_out(&picture, [0.5, 0.0, 1.0, 0.5]), Some((2, 1, vec![2, 2, 2, 3, 3, 3])));
        assert_eq!(cut_out(&picture, [0.5, 0.0, 0.5, 1.0]), None);
    }
}
