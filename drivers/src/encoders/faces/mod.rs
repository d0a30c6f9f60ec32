//! Faces in view.

mod align;

use ndarray::ArrayD;
use parking_lot::Mutex;

use super::picture::{PictureTensor, Scale, overlap};
use super::vector::probabilities;
use super::{Backend, Encoder, EncoderError, Graph, Picture};
use crate::models::{Fit, InstalledModel, ModelEntry};

pub(crate) use align::{ALIGNED_SIDE, aligned};

/// A face in a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Face {
    /// 0 to 1.
    pub score: f32,
    /// Left, top, right and bottom edge, as parts of the picture's width and height, 0 to 1.
    pub bounds: [f32; 4],
    /// Right eye, left eye, tip of the nose, right and left corner of the mouth, as seen on the face's own sides: x and y in
    /// pixels of the picture.
    pub landmarks: [[f32; 2]; 5],
}

/// Finds faces, best first.
pub trait FaceDetector: for<'a> Encoder<Picture<'a>, Vec<Face>> {}

impl<E> FaceDetector for E where E: for<'a> Encoder<Picture<'a>, Vec<Face>> {}

/// Cells per side of a stride are the input's side over it.
const STRIDES: [usize; 3] = [8, 16, 32];
/// Numbers per cell of `cls`, `obj`, `bbox` and `kps`.
const CHANNELS: [usize; 4] = [1, 1, 4, 10];

/// YuNet (Wu et al. 2023): per cell of three grids a class score, an objectness, a box and five landmarks.
pub struct YuNet {
    inner: Mutex<(Box<dyn Graph>, PictureTensor)>,
    model: String,
    side: usize,
    score: f32,
    overlap: f32,
}

impl YuNet {
    /// Loads the graph. The entry's outputs stand in the order `cls_8`, `cls_16`, `cls_32`, `obj_8` … `kps_32`.
    ///
    /// # Errors
    /// If it cannot be loaded, or the entry's shapes and parameters do not fit each other.
    pub fn load(installed: &InstalledModel, backend: &dyn Backend, threads: usize) -> Result<Self, EncoderError> {
        let entry = &installed.entry;
        let side = check(entry)?;
        let input = PictureTensor::of_bytes(entry, Fit::Pad)?;
        Ok(Self {
            inner: Mutex::new((backend.load(installed, threads)?, input)),
            model: entry.name.clone(),
            side,
            score: entry.parameter("score").map_err(EncoderError::Entry)?,
            overlap: entry.parameter("nms").map_err(EncoderError::Entry)?,
        })
    }

    fn decode(&self, outputs: &[ArrayD<f32>], scale: Scale, picture: &Picture<'_>) -> Vec<Face> {
        let mut found: Vec<Face> = Vec::new();
        let (width, height) = (picture.width as f32, picture.height as f32);
        for (level, stride) in STRIDES.into_iter().enumerate() {
            let columns = self.side / stride;
            let [classes, objects, boxes, points] =
                [0, 1, 2, 3].map(|kind| outputs[kind * 3 + level].as_slice().unwrap_or_default());
            for (cell, (class, object)) in classes.iter().zip(objects).enumerate() {
                let score = (class.clamp(0.0, 1.0) * object.clamp(0.0, 1.0)).sqrt();
                if score < self.score {
                    continue;
                }
                let (column, row) = ((cell % columns) as f32, (cell / columns) as f32);
                let stride = stride as f32;
                let (x, y) = ((column + boxes[cell * 4]) * stride, (row + boxes[cell * 4 + 1]) * stride);
                let (w, h) = (boxes[cell * 4 + 2].exp() * stride, boxes[cell * 4 + 3].exp() * stride);
                let across = |x: f32| (x / scale.across / width).clamp(0.0, 1.0);
                let down = |y: f32| (y / scale.down / height).clamp(0.0, 1.0);
                let bounds = [across(x - w / 2.0), down(y - h / 2.0), across(x + w / 2.0), down(y + h / 2.0)];
                let landmarks = std::array::from_fn(|point| {
                    let at = |axis: usize, cell_at: f32| (points[cell * 10 + point * 2 + axis] + cell_at) * stride;
                    [at(0, column) / scale.across, at(1, row) / scale.down]
                });
                // What a broken graph gives must not become a place in a picture.
                if bounds.iter().chain(landmarks.iter().flatten()).all(|number: &f32| number.is_finite()) {
                    found.push(Face { score, bounds, landmarks });
                }
            }
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut kept: Vec<Face> = Vec::new();
        for face in found {
            if kept.iter().all(|other| overlap(&other.bounds, &face.bounds) <= self.overlap) {
                kept.push(face);
            }
        }
        kept
    }
}

/// The side of the square input, if the outputs fit it.
fn check(entry: &ModelEntry) -> Result<usize, EncoderError> {
    let refuse = |message: String| EncoderError::Entry(format!("{}: {message}", entry.name));
    let [input] = entry.inputs.as_slice() else { return Err(refuse("expected one input".to_owned())) };
    let side = match input.shape.as_slice() {
        [1, 3, height, width] if height == width && height % 32 == 0 => usize::try_from(*height).unwrap_or(0),
        shape => return Err(refuse(format!("expected an input [1, 3, S, S] with S a multiple of 32, not {shape:?}"))),
    };
    let expected: Vec<Vec<i64>> = CHANNELS
        .iter()
        .flat_map(|channels| {
            STRIDES.map(|stride| vec![1, ((side / stride) * (side / stride)) as i64, *channels as i64])
        })
        .collect();
    let shapes: Vec<Vec<i64>> = entry.outputs.iter().map(|output| output.shape.clone()).collect();
    if shapes != expected {
        return Err(refuse(format!("outputs of shapes {shapes:?}, expected {expected:?}")));
    }
    Ok(side)
}

impl Encoder<Picture<'_>, Vec<Face>> for YuNet {
    fn model(&self) -> &str {
        &self.model
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<Face>, EncoderError> {
        let mut inner = self.inner.lock();
        let (graph, input) = &mut *inner;
        let scale = input.fill(picture)?;
        let outputs = graph.run(&[input.view()])?;
        drop(inner);
        let outputs: Vec<ArrayD<f32>> =
            outputs.into_iter().map(|output| probabilities(&self.model, Some(output))).collect::<Result<_, _>>()?;
        let sizes: Vec<usize> = outputs.iter().map(ArrayD::len).collect();
        let expected: Vec<usize> =
            CHANNELS.iter().flat_map(|channels| STRIDES.map(|stride| (self.side / stride).pow(2) * channels)).collect();
        if sizes != expected {
            return Err(EncoderError::output(&self.model, format!("outputs of {sizes:?} numbers, not {expected:?}")));
        }
        Ok(self.decode(&outputs, scale, picture))
    }
}
