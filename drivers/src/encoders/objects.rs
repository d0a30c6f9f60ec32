//! Object detection.

use std::sync::Arc;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use ndarray::{Array4, ArrayD};
use parking_lot::Mutex;

use super::picture::overlap;
use super::{Backend, Certainty, Encoder, EncoderError, Graph, Picture, TensorView, YoloX};
use crate::models::InstalledModel;

/// One thing in a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// Name of its class.
    pub label: Arc<str>,
    /// 0 to 1.
    pub score: f32,
    /// Left, top, right and bottom edge, as parts of the picture's width and height, 0 to 1.
    pub bounds: [f32; 4],
}

/// Finds things in pictures, best first.
pub trait ObjectDetector: for<'a> Encoder<Picture<'a>, Vec<Detection>> {
    /// How sure it must be of a thing before the thing counts.
    fn certainty(&self) -> Certainty {
        Certainty::default()
    }
}

/// A box, before weaker boxes of the same thing are dropped: number of its class, score, and its edges as parts of the
/// picture.
pub(super) type Candidate = (usize, f32, [f32; 4]);

/// Loads the detector that has the head of the graph: rows of boxes are those of [`YoloX`], a grid is that of
/// [`FastestDet`].
///
/// # Errors
/// If it cannot be loaded, or the entry's shapes, labels and parameters do not fit each other.
pub fn load_detector(
    installed: &InstalledModel,
    backend: &dyn Backend,
    threads: usize,
) -> Result<Arc<dyn ObjectDetector>, EncoderError> {
    match installed.entry.outputs.first().map(|output| output.shape.len()) {
        Some(3) => Ok(Arc::new(YoloX::load(installed, backend, threads)?)),
        _ => Ok(Arc::new(FastestDet::load(installed, backend, threads)?)),
    }
}

/// Returns the boxes that no better box overlaps by more than `most`, best first. Classes do not matter, as with the
/// models' authors: two names for one box are one thing.
pub(super) fn keep_best(mut found: Vec<Candidate>, most: f32, labels: &[Arc<str>]) -> Vec<Detection> {
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in found {
        if kept.iter().all(|other| overlap(&other.2, &candidate.2) <= most) {
            kept.push(candidate);
        }
    }
    let detection = |(class, score, edges): Candidate| Detection {
        label: Arc::clone(&labels[class]),
        score,
        bounds: edges.map(|edge| edge.clamp(0.0, 1.0)),
    };
    kept.into_iter().map(detection).collect()
}

/// FastestDet and models with its head: per cell of a grid one objectness, one box and one score per class.
pub struct FastestDet {
    inner: Mutex<ObjectsRun>,
    model: String,
    labels: Vec<Arc<str>>,
    score: f32,
    overlap: f32,
    certainty: Certainty,
}

impl ObjectDetector for FastestDet {
    fn certainty(&self) -> Certainty {
        self.certainty.clone()
    }
}

/// Buffers of a run; kept, so that a frame allocates nothing but its detections.
struct ObjectsRun {
    graph: Box<dyn Graph>,
    resizer: Resizer,
    resized: Image<'static>,
    input: Array4<f32>,
}

impl FastestDet {
    /// Loads the graph.
    ///
    /// # Errors
    /// If it cannot be loaded, or the entry's shapes, labels and parameters do not fit each other.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let shape = |tensor: Option<&crate::models::TensorSpec>| -> Option<Vec<usize>> {
            tensor?.shape.iter().map(|n| usize::try_from(*n).ok().filter(|n| *n > 0)).collect()
        };
        let (input, output) = (shape(entry.inputs.first()), shape(entry.outputs.first()));
        let (Some([1, 3, height, width]), Some([1, channels, _, _])) = (input.as_deref(), output.as_deref()) else {
            let message = "expected an input [1, 3, H, W] and an output [1, 5 + classes, rows, columns]";
            return Err(EncoderError::Entry(format!("{}: {message}", entry.name)));
        };
        if *channels != 5 + entry.labels.len() {
            let message = format!("{} labels for {channels} channels, expected 5 fewer", entry.labels.len());
            return Err(EncoderError::Entry(format!("{}: {message}", entry.name)));
        }
        let side = |n: usize| u32::try_from(n).map_err(|error| EncoderError::Entry(error.to_string()));
        let inner = ObjectsRun {
            graph: backend.load(installed, threads)?,
            resizer: Resizer::new(),
            resized: Image::new(side(*width)?, side(*height)?, PixelType::U8x3),
            input: Array4::zeros((1, 3, *height, *width)),
        };
        Ok(Self {
            inner: Mutex::new(inner),
            model: entry.name.clone(),
            labels: entry.labels.iter().map(|label| Arc::from(label.as_str())).collect(),
            score: entry.parameter("score").map_err(EncoderError::Entry)?,
            overlap: entry.parameter("nms").map_err(EncoderError::Entry)?,
            certainty: Certainty::from_entry(entry)?,
        })
    }
}

impl Encoder<Picture<'_>, Vec<Detection>> for FastestDet {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<Detection>, EncoderError> {
        let refuse = |message: String| EncoderError::input(&self.model, message);
        let view = ImageRef::new(picture.width, picture.height, picture.rgb, PixelType::U8x3)
            .map_err(|error| refuse(error.to_string()))?;
        let mut inner = self.inner.lock();
        let ObjectsRun { graph, resizer, resized, input } = &mut *inner;
        // Four neighbours, as the model was trained with, and not an average over the area.
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Interpolation(FilterType::Bilinear));
        resizer.resize(&view, resized, &options).map_err(|error| refuse(error.to_string()))?;
        fill_bgr(resized.buffer(), input);
        let output = graph.run(&[TensorView::F32(input.view().into_dyn())])?.into_iter().next();
        drop(inner);
        let output = output.and_then(super::Tensor::into_f32);
        let output = output.ok_or_else(|| EncoderError::output(&self.model, "no grid"))?;
        self.decode(&output)
    }
}

/// Packed RGB bytes to planes of blue, green and red in 0 to 1.
fn fill_bgr(rgb: &[u8], input: &mut Array4<f32>) {
    let planes = input.as_slice_mut().expect("a new array is contiguous");
    let (blue, rest) = planes.split_at_mut(rgb.len() / 3);
    let (green, red) = rest.split_at_mut(rgb.len() / 3);
    for (((pixel, b), g), r) in rgb.chunks_exact(3).zip(blue).zip(green).zip(red) {
        *r = f32::from(pixel[0]) / 255.0;
        *g = f32::from(pixel[1]) / 255.0;
        *b = f32::from(pixel[2]) / 255.0;
    }
}

impl FastestDet {
    fn decode(&self, output: &ArrayD<f32>) -> Result<Vec<Detection>, EncoderError> {
        let &[1, channels, rows, columns] = output.shape() else {
            return Err(EncoderError::output(&self.model, format!("shape {:?}", output.shape())));
        };
        if channels != 5 + self.labels.len() {
            return Err(EncoderError::output(&self.model, format!("{channels} channels")));
        }
        let mut found: Vec<Candidate> = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let at = |channel: usize| output[[0, channel, row, column]];
                let objectness = at(0).max(0.0).powf(0.6);
                if objectness <= self.score {
                    continue; // A class score is at most 1.
                }
                let (class, best) = (0..self.labels.len())
                    .map(|class| (class, at(5 + class)))
                    .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
                    .unwrap_or((0, 0.0));
                let score = objectness * best.max(0.0).powf(0.4);
                if score > self.score {
                    let x = (column as f32 + at(1).tanh()) / columns as f32;
                    let y = (row as f32 + at(2).tanh()) / rows as f32;
                    let (w, h) = (sigmoid(at(3)), sigmoid(at(4)));
                    let edges = [x - w / 2.0, y - h / 2.0, x + w / 2.0, y + h / 2.0];
                    found.push((class, score.min(1.0), edges));
                }
            }
        }
        Ok(keep_best(found, self.overlap, &self.labels))
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct CannedDetector(ArrayD<f32>);

    impl Graph for CannedDetector {
        fn run(&mut self, _: &[TensorView<'_>]) -> Result<Vec<super::super::Tensor>, super::super::BackendError> {
            Ok(vec![super::super::Tensor::F32(self.0.clone())])
        }
    }

    /// A detector of two classes on a grid of 4 × 4 whose graph gives `cells`: (row, column, objectness, w, classes).
    fn detector(cells: &[(usize, usize, f32, f32, [f32; 2])]) -> FastestDet {
        let mut grid = ArrayD::zeros(vec![1, 7, 4, 4]);
        for (row, column, objectness, width, classes) in cells {
            grid[[0, 0, *row, *column]] = *objectness;
            grid[[0, 3, *row, *column]] = *width;
            (grid[[0, 5, *row, *column]], grid[[0, 6, *row, *column]]) = (classes[0], classes[1]);
        }
        let inner = ObjectsRun {
            graph: Box::new(CannedDetector(grid)),
            resizer: Resizer::new(),
            resized: Image::new(8, 8, PixelType::U8x3),
            input: Array4::zeros((1, 3, 8, 8)),
        };
        let labels = vec![Arc::from("cat"), Arc::from("dog")];
        let certainty = Certainty::default();
        FastestDet { inner: Mutex::new(inner), model: "canned".into(), labels, score: 0.55, overlap: 0.45, certainty }
    }

    fn detect(cells: &[(usize, usize, f32, f32, [f32; 2])]) -> Vec<Detection> {
        let rgb = [0; 16 * 9 * 3];
        detector(cells).encode(&Picture { width: 16, height: 9, rgb: &rgb }).unwrap()
    }

    #[test]
    fn a_box_is_read_from_its_cell() {
        let found = detect(&[(2, 1, 0.9, 0.0, [0.1, 0.8])]);
        assert_eq!(found.len(), 1);
        assert_eq!(&*found[0].label, "dog");
        let expected = 0.9_f32.powf(0.6) * 0.8_f32.powf(0.4);
        assert!((found[0].score - expected).abs() < 1e-6);
        // Centre at (1/4, 2/4), half of the picture wide and high.
        assert_eq!(found[0].bounds, [0.0, 0.25, 0.5, 0.75]);
    }

    #[test]
    fn a_weak_box_and_the_weaker_of_two_overlapping_ones_are_dropped() {
        assert!(detect(&[(2, 1, 0.2, 0.0, [0.1, 0.9])]).is_empty());
        let found = detect(&[(2, 1, 0.9, 0.0, [0.1, 0.8]), (2, 1, 0.9, 0.0, [0.1, 0.8]), (2, 2, 0.8, 0.0, [0.8, 0.1])]);
        assert_eq!(found.len(), 2, "boxes a quarter apart overlap by a third");
        assert_eq!(found.iter().map(|d| &*d.label).collect::<Vec<_>>(), ["dog", "cat"]);
        let found = detect(&[(2, 1, 0.9, 4.0, [0.1, 0.8]), (2, 2, 0.8, 4.0, [0.8, 0.1])]);
        assert_eq!(found.len(), 1, "wide boxes a quarter apart are one thing");
        assert_eq!(&*found[0].label, "dog");
    }

    #[test]
    fn a_picture_with_too_few_bytes_is_refused() {
        let error = detector(&[]).encode(&Picture { width: 16, height: 9, rgb: &[0; 100] }).unwrap_err();
        assert!(matches!(error, EncoderError::Input { .. }), "{error}");
    }

    #[test]
    fn planes_are_blue_green_red() {
        let mut input = Array4::zeros((1, 3, 1, 2));
        fill_bgr(&[255, 0, 51, 0, 102, 0], &mut input);
        assert_eq!(input.as_slice().unwrap(), [0.2, 0.0, 0.0, 0.4, 1.0, 0.0]);
    }
}
