//! Object detection by detectors of the YOLOX family.

use std::sync::Arc;

use ndarray::ArrayD;
use parking_lot::Mutex;

use super::objects::{Candidate, keep_best};
use super::picture::{PictureTensor, Scale};
use super::vector::probabilities;
use super::{Backend, Certainty, Detection, Encoder, EncoderError, Graph, ObjectDetector, Picture};
use crate::models::{Fit, InstalledModel, ModelEntry};

/// Cells per side of a stride are the input's side over it; the rows of the output stand in this order.
const STRIDES: [usize; 3] = [8, 16, 32];
/// Grey that fills what the picture leaves of the input, as in training.
const PADDING: u8 = 114;
/// Numbers of a row before those of the classes: the box and its objectness.
const BOX_NUMBERS: usize = 5;
/// Maximum logarithm of a box's side over its stride. Larger ones are nonsense and would overflow.
const MAX_LOG_SIDE: f32 = 10.0;

/// YOLOX (Ge et al. 2021). The input is a picture `f32[1, 3, S, S]`, blue, green and red from 0 to 255. The output is
/// one row `[1, N, 5 + classes]` per cell of three grids: the centre and the logarithm of the size in cells, then
/// objectness and classes from 0 to 1.
pub struct YoloX {
    inner: Mutex<(Box<dyn Graph>, PictureTensor)>,
    model: String,
    labels: Vec<Arc<str>>,
    side: usize,
    score: f32,
    overlap: f32,
    certainty: Certainty,
}

impl ObjectDetector for YoloX {
    fn certainty(&self) -> Certainty {
        self.certainty.clone()
    }
}

impl YoloX {
    /// Loads the graph.
    ///
    /// # Errors
    /// If it cannot be loaded, or the entry's shapes, labels and parameters do not fit each other.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let side = check(entry)?;
        let input = PictureTensor::of_bytes(entry, Fit::Pad)?.padded_with(PADDING);
        Ok(Self {
            inner: Mutex::new((backend.load(installed, threads)?, input)),
            model: entry.name.clone(),
            labels: entry.labels.iter().map(|label| Arc::from(label.as_str())).collect(),
            side,
            score: entry.parameter("score").map_err(EncoderError::Entry)?,
            overlap: entry.parameter("nms").map_err(EncoderError::Entry)?,
            certainty: Certainty::from_entry(entry)?,
        })
    }

    fn decode(&self, rows: &ArrayD<f32>, scale: Scale, picture: &Picture<'_>) -> Result<Vec<Detection>, EncoderError> {
        let numbers = BOX_NUMBERS + self.labels.len();
        let expected = [1, cells(self.side), numbers];
        if rows.shape() != expected {
            return Err(EncoderError::output(&self.model, format!("shape {:?}, not {expected:?}", rows.shape())));
        }
        let rows: Vec<f32> = rows.iter().copied().collect();
        let (width, height) = (picture.width as f32 * scale.across, picture.height as f32 * scale.down);
        let mut found: Vec<Candidate> = Vec::new();
        let mut rest = rows.as_slice();
        for stride in STRIDES {
            let columns = self.side / stride;
            let (grid, behind) = rest.split_at(columns * columns * numbers);
            rest = behind;
            for (cell, row) in grid.chunks_exact(numbers).enumerate() {
                let (objectness, classes) = (row[4], &row[BOX_NUMBERS..]);
                if !(0.0..=1.0).contains(&objectness) || classes.iter().any(|class| !(0.0..=1.0).contains(class)) {
                    let message = format!("a probability that is none: {objectness} and its classes");
                    return Err(EncoderError::output(&self.model, message));
                }
                if objectness <= self.score {
                    continue; // A class is at most 1.
                }
                let best = classes.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
                let Some((class, score)) = best.map(|(class, likely)| (class, objectness * likely)) else { continue };
                if score <= self.score {
                    continue;
                }
                let (column, line, stride) = ((cell % columns) as f32, (cell / columns) as f32, stride as f32);
                let (x, y) = ((column + row[0]) * stride / width, (line + row[1]) * stride / height);
                let side = |logarithm: f32| logarithm.min(MAX_LOG_SIDE).exp() * stride;
                let (w, h) = (side(row[2]) / width, side(row[3]) / height);
                found.push((class, score, [x - w / 2.0, y - h / 2.0, x + w / 2.0, y + h / 2.0]));
            }
        }
        Ok(keep_best(found, self.overlap, &self.labels))
    }
}

/// Rows of the output for an input of this side.
fn cells(side: usize) -> usize {
    STRIDES.iter().map(|stride| (side / stride).pow(2)).sum()
}

/// The side of the square input, if the output and the labels fit it.
fn check(entry: &ModelEntry) -> Result<usize, EncoderError> {
    let refuse = |message: String| EncoderError::Entry(format!("{}: {message}", entry.name));
    let (input, output) = (entry.inputs.first(), entry.outputs.first());
    let side = match input.map(|input| input.shape.as_slice()) {
        Some([1, 3, height, width]) if height == width && *height > 0 && height % 32 == 0 => {
            usize::try_from(*height).unwrap_or(0)
        }
        shape => return Err(refuse(format!("expected an input [1, 3, S, S] with S a multiple of 32, not {shape:?}"))),
    };
    let expected = [1, cells(side) as i64, (BOX_NUMBERS + entry.labels.len()) as i64];
    match output.map(|output| output.shape.as_slice()) {
        Some(shape) if shape == expected => Ok(side),
        shape => Err(refuse(format!("an output {shape:?}, expected {expected:?} of {} labels", entry.labels.len()))),
    }
}

impl Encoder<Picture<'_>, Vec<Detection>> for YoloX {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<Detection>, EncoderError> {
        let mut inner = self.inner.lock();
        let (graph, input) = &mut *inner;
        let scale = input.fill(picture)?;
        let output = graph.run(&[input.view()])?.into_iter().next();
        drop(inner);
        let rows = probabilities(&self.model, output)?;
        self.decode(&rows, scale, picture)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoders::picture::Channels;
    use crate::encoders::{BackendError, Tensor, TensorView};
    use crate::models::{Catalogue, ElementType, Role, TensorSpec};

    struct CannedRows(ArrayD<f32>);

    impl Graph for CannedRows {
        fn run(&mut self, _: &[TensorView<'_>]) -> Result<Vec<Tensor>, BackendError> {
            Ok(vec![Tensor::F32(self.0.clone())])
        }
    }

    /// Row of the output, and what stands there.
    type Row = (usize, [f32; 7]);

    fn entry() -> ModelEntry {
        let tensor =
            |shape: &[i64]| vec![TensorSpec { name: "t".to_owned(), element: ElementType::F32, shape: shape.to_vec() }];
        let mut entry = Catalogue::load(None).unwrap().model(Role::Objects).unwrap().clone();
        // 8 × 8, 4 × 4 and 2 × 2 cells.
        (entry.inputs, entry.outputs) = (tensor(&[1, 3, 64, 64]), tensor(&[1, 84, 7]));
        (entry.labels, entry.boxes) = (vec!["cat".to_owned(), "dog".to_owned()], Vec::new());
        entry
    }

    fn detect(rows: &[Row]) -> Result<Vec<Detection>, EncoderError> {
        let mut output = ArrayD::zeros(vec![1, 84, 7]);
        for (row, numbers) in rows {
            numbers.iter().enumerate().for_each(|(at, number)| output[[0, *row, at]] = *number);
        }
        let input = PictureTensor::new(&entry(), Fit::Pad, Channels::Bgr).unwrap();
        let detector = YoloX {
            inner: Mutex::new((Box::new(CannedRows(output)), input)),
            model: "canned".into(),
            labels: vec![Arc::from("cat"), Arc::from("dog")],
            side: check(&entry()).unwrap(),
            score: 0.3,
            overlap: 0.45,
            certainty: Certainty::default(),
        };
        // Twice as wide as high: it fills the upper half of the input.
        detector.encode(&Picture { width: 128, height: 64, rgb: &[0; 128 * 64 * 3] })
    }

    #[test]
    fn a_box_is_read_from_its_cell_and_placed_in_the_picture_without_the_padding() {
        // The second grid's cell of column 1, row 1: 64 + 1 * 4 + 1; centre 24, 16 of 64, 16 wide, 32 high.
        let found = detect(&[(69, [0.5, 0.0, 0.0, 2.0_f32.ln(), 0.9, 0.1, 0.8])]).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(&*found[0].label, "dog");
        assert!((found[0].score - 0.72).abs() < 1e-6);
        let expected = [0.25, 0.0, 0.5, 1.0];
        let near = found[0].bounds.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-5);
        assert!(near, "{:?}", found[0].bounds);
    }

    #[test]
    fn a_weak_box_and_the_weaker_of_two_on_one_thing_are_dropped() {
        let strong = [0.5, 0.0, 0.0, 0.0, 0.9, 0.1, 0.8];
        let found = detect(&[
            (69, strong),
            (70, [-0.5, 0.0, 0.0, 0.0, 0.9, 0.7, 0.1]),
            (0, [0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.1]),
        ]);
        assert_eq!(found.unwrap().iter().map(|one| &*one.label).collect::<Vec<_>>(), ["dog"]);
    }

    #[test]
    fn a_number_that_is_no_probability_is_an_error_and_not_a_thing() {
        let error = detect(&[(3, [0.0, 0.0, 0.0, 0.0, 4.2, 0.1, 0.8])]).unwrap_err().to_string();
        assert!(error.contains("4.2"), "{error}");
    }

    #[test]
    fn labels_that_do_not_fit_the_output_are_refused() {
        let mut wrong = entry();
        wrong.labels.push("cow".to_owned());
        assert!(check(&wrong).unwrap_err().to_string().contains("3 labels"));
        wrong.inputs[0].shape = vec![1, 3, 64, 32];
        assert!(check(&wrong).unwrap_err().to_string().contains("multiple of 32"));
    }
}
