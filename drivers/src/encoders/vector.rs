//! Encoders that return vectors.

use ndarray::ArrayD;

use super::{Encoder, EncoderError, Tensor};
use crate::models::ModelEntry;

/// Turns one kind of input into vectors of one space.
pub trait VectorEncoder<Input: ?Sized>: Encoder<Input, Vec<f32>> {
    /// Name of the space, unique per model and preprocessing. Vectors of different spaces are never compared.
    fn space(&self) -> &str;

    /// Length of a vector.
    fn dimensions(&self) -> usize;
}

/// The space that an entry promises.
#[derive(Debug, Clone)]
pub(super) struct Space {
    pub name: String,
    pub dimensions: usize,
}

impl Space {
    pub fn from_entry(entry: &ModelEntry) -> Result<Self, EncoderError> {
        let lacks = |what: &str| EncoderError::Entry(format!("{}: the catalogue lacks `{what}`", entry.name));
        let name = entry.space.clone().ok_or_else(|| lacks("space"))?;
        let dimensions = entry.dimensions.filter(|n| *n > 0).ok_or_else(|| lacks("dimensions"))?;
        Ok(Self { name, dimensions })
    }

    /// The one vector in a graph's output, brought to unit length.
    pub fn read(&self, model: &str, output: Option<Tensor>) -> Result<Vec<f32>, EncoderError> {
        let vector: Vec<f32> = match output {
            Some(Tensor::F32(array)) => array.into_iter().collect(),
            Some(Tensor::U8(array)) => array.into_iter().map(f32::from).collect(),
            _ => return Err(EncoderError::output(model, "no vector")),
        };
        if vector.len() != self.dimensions {
            let message = format!("{} numbers, not {}", vector.len(), self.dimensions);
            return Err(EncoderError::output(model, message));
        }
        normalised(vector).ok_or_else(|| EncoderError::output(model, "the vector has no direction"))
    }
}

/// Normalises to unit L2 norm; `None` where that has no meaning.
pub(super) fn normalised(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let norm = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    if !norm.is_finite() || norm < 1e-12 {
        return None;
    }
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
    Some(vector)
}

/// Numbers of a graph's output, whatever their type; quantised probabilities come as 0 to 1.
pub(super) fn probabilities(model: &str, output: Option<Tensor>) -> Result<ArrayD<f32>, EncoderError> {
    let array = match output {
        Some(Tensor::F32(array)) => array,
        Some(Tensor::U8(array)) => array.mapv(|byte| f32::from(byte) / 255.0),
        _ => return Err(EncoderError::output(model, "no numbers")),
    };
    if array.iter().all(|number| number.is_finite()) {
        Ok(array)
    } else {
        Err(EncoderError::output(model, "a number is not finite"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_of_another_length_or_without_direction_is_refused() {
        let space = Space { name: "s".to_owned(), dimensions: 2 };
        let read = |values: Vec<f32>| {
            space.read("m", Some(Tensor::F32(ArrayD::from_shape_vec(vec![values.len()], values).unwrap())))
        };
        assert_eq!(read(vec![3.0, 4.0]).unwrap(), [0.6, 0.8]);
        assert!(read(vec![1.0]).unwrap_err().to_string().contains("1 numbers, not 2"));
        for broken in [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0]] {
            assert!(read(broken).unwrap_err().to_string().contains("no direction"));
        }
    }
}
