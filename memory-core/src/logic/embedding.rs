//! The embeddings of the logic layer.

use serde::{Deserialize, Serialize};

/// A unit vector in 16-bit fixed point (32,767 is 1): half the bytes, and its cosine is integer arithmetic that comes
/// out the same on every processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embedding(Box<[i16]>);

const FULL_SCALE: f32 = 32_767.0;

impl Embedding {
    /// Normalises and quantises; `None` for a vector without a direction (empty, zero, or not finite). The components of an
    /// embedding give that embedding.
    pub fn from_vector(vector: &[f32]) -> Option<Self> {
        if let Some(same) = Self::from_components(vector) {
            return Some(same);
        }
        let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
        (norm.is_finite() && norm > 0.0).then(|| {
            let scale = f64::from(FULL_SCALE) / norm;
            Self(vector.iter().map(|x| (f64::from(*x) * scale).round() as i16).collect())
        })
    }

    /// The embedding whose components they are. To normalise it once more could turn the last digit of some.
    fn from_components(vector: &[f32]) -> Option<Self> {
        let mut norm = 0.0;
        for component in vector {
            let scaled = f64::from(*component) * f64::from(FULL_SCALE);
            if (scaled - scaled.round()).abs() > 0.004 {
                return None;
            }
            norm += scaled.round().powi(2);
        }
        // Each component is off by half a digit at most.
        let off = (norm.sqrt() - f64::from(FULL_SCALE)).abs();
        (off <= 0.5 * (vector.len() as f64).sqrt()).then(|| {
            Self(
                vector.iter().map(|component| (f64::from(*component) * f64::from(FULL_SCALE)).round() as i16).collect(),
            )
        })
    }

    /// The direction of the mean; those of another space than the first are left out.
    pub fn mean<'a>(embeddings: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut sum: Vec<f32> = Vec::new();
        for embedding in embeddings {
            if sum.is_empty() {
                sum = embedding.components().collect();
            } else if sum.len() == embedding.dimensions() {
                sum.iter_mut().zip(embedding.components()).for_each(|(sum, x)| *sum += x);
            }
        }
        Self::from_vector(&sum)
    }

    /// The direction of the mean in which each counts as much as its weight; those of another space are left out.
    pub fn weighted<'a>(embeddings: impl IntoIterator<Item = (&'a Self, f64)>) -> Option<Self> {
        let mut sum: Vec<f64> = Vec::new();
        for (embedding, weight) in embeddings {
            sum.resize(if sum.is_empty() { embedding.dimensions() } else { sum.len() }, 0.0);
            if sum.len() == embedding.dimensions() {
                sum.iter_mut().zip(embedding.components()).for_each(|(sum, x)| *sum += weight * f64::from(x));
            }
        }
        let sum: Vec<f32> = sum.into_iter().map(|x| x as f32).collect();
        Self::from_vector(&sum)
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// The components, as close to the original as 16 bits are.
    pub fn components(&self) -> impl Iterator<Item = f32> + '_ {
        self.0.iter().map(|x| f32::from(*x) / FULL_SCALE)
    }

    /// Cosine, −1 to 1. Vectors of different lengths come from different spaces and have no cosine.
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        (self.0.len() == other.0.len()).then(|| {
            let dot: i64 = self.0.iter().zip(&other.0).map(|(a, b)| i64::from(i32::from(*a) * i32::from(*b))).sum();
            ((dot as f64) / f64::from(FULL_SCALE) / f64::from(FULL_SCALE)).clamp(-1.0, 1.0) as f32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Embedding;

    #[test]
    fn the_cosine_is_that_of_the_vectors_to_four_digits() {
        let (a, b) = (vec![0.3, -0.2, 0.9, 0.05], vec![0.1, 0.4, 0.8, -0.7]);
        let norm = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        let exact = a.iter().zip(&b).map(|(x, y)| x * y).sum::<f32>() / norm(&a) / norm(&b);
        let (qa, qb) = (Embedding::from_vector(&a).unwrap(), Embedding::from_vector(&b).unwrap());
        assert!((qa.cosine(&qb).unwrap() - exact).abs() < 1e-4);
    }

    #[test]
    fn the_components_of_an_embedding_give_that_embedding() {
        for seed in 1..200_u32 {
            let vector: Vec<f32> = (1..=48).map(|at| ((seed * at * 7919) % 1013) as f32 - 506.0).collect();
            let embedding = Embedding::from_vector(&vector).unwrap();
            assert_eq!(Embedding::from_vector(&embedding.components().collect::<Vec<_>>()), Some(embedding));
        }
    }

    #[test]
    fn a_vector_without_a_direction_is_none_and_spaces_are_not_mixed() {
        for bad in [vec![], vec![0.0; 4], vec![f32::NAN, 1.0], vec![f32::INFINITY, 1.0]] {
            assert_eq!(Embedding::from_vector(&bad), None, "{bad:?}");
        }
        let (a, b) = (Embedding::from_vector(&[1.0, 0.0]).unwrap(), Embedding::from_vector(&[1.0]).unwrap());
        assert_eq!(a.cosine(&b), None);
    }
}
