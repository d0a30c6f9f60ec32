//! The cosine of a question with an embedding of which only the signature is left.
//!
//! The question is known exactly, so its own products with the hyperplanes are kept and each counts with the sign that the stored
//! bit tells, instead of comparing signs with signs. That is linear in the cosine, and what remains is the error of one side's
//! rounding only: .03 at 512 bits, where counting differing bits has .06 (docs/benchmarks.md). RaBitQ (Gao and Long, SIGMOD 2024)
//! estimates in the same way.

use std::f64::consts::PI;

use super::planes::signature_of;
use super::scan::sum_of_set;
use super::{Planes, WORD_BITS};

/// Bits of a product after scaling, its sign among them: their error is a twentieth of that of a stored sign.
const BITS: usize = 5;
const LARGEST: i64 = (1 << (BITS - 1)) - 1;

/// A question ready to be compared with signatures.
pub(in crate::index) struct Estimator {
    signature: Box<[u64]>,
    /// Its products with the hyperplanes.
    products: Products,
    /// From a sum over all bits to a cosine.
    scale: f32,
}

impl Estimator {
    /// `None` for a question of other dimensions and without a direction.
    pub fn of(planes: &Planes, question: &[i16]) -> Option<Self> {
        let products = planes.project(question)?;
        let largest = products.iter().map(|product| product.abs()).max().unwrap_or(0).max(1);
        let scaled: Vec<i64> = products.iter().map(|product| rounded(product * LARGEST, largest)).collect();
        // A sign takes the part √(2/π) of a normally distributed product along, on average.
        let squares: i64 = scaled.iter().map(|product| product * product).sum();
        #[expect(clippy::cast_precision_loss, reason = "at most 1,024 squares of 8 bits")]
        let length = (squares.max(1) as f64 * scaled.len() as f64 * 2.0 / PI).sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "a factor")]
        Some(Self { signature: signature_of(&products), products: Products::of(&scaled), scale: length.recip() as f32 })
    }

    /// The question's own signature.
    pub fn signature(&self) -> &[u64] {
        &self.signature
    }

    /// The sum over a signature: each product with the sign that its bit tells.
    pub fn sum(&self, signature: &[u64]) -> i32 {
        self.products.sum(signature)
    }

    /// The cosine that a sum over all words stands for.
    pub fn cosine(&self, sum: i32) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "below 2^15")]
        let cosine = sum as f32 * self.scale;
        cosine.clamp(-1.0, 1.0)
    }
}

/// Scaled products with some hyperplanes, bit by bit.
struct Products {
    /// Bit b of every product in plane b, which has a bit for each hyperplane.
    planes: Box<[u64]>,
    total: i32,
}

impl Products {
    fn of(scaled: &[i64]) -> Self {
        let words = scaled.len() / WORD_BITS;
        let mut planes = vec![0; words * BITS];
        for (at, product) in scaled.iter().enumerate() {
            for bit in 0..BITS {
                planes[bit * words + at / WORD_BITS] |= (product.cast_unsigned() >> bit & 1) << (at % WORD_BITS);
            }
        }
        Self { planes: planes.into(), total: scaled.iter().map(|product| i32::try_from(*product).unwrap_or(0)).sum() }
    }

    fn sum(&self, words: &[u64]) -> i32 {
        2 * sum_of_set(words, &self.planes) - self.total
    }
}

/// The quotient, to the nearest whole number.
fn rounded(dividend: i64, divisor: i64) -> i64 {
    (2 * dividend + dividend.signum() * divisor) / (2 * divisor)
}

#[cfg(test)]
mod tests {
    use super::super::{SignatureOptions, cosine_of_distance, quantise, split_mix};
    use super::*;

    fn vector(state: &mut u64) -> Vec<f32> {
        (0..384).map(|_| f32::from(i16::try_from(split_mix(state).count_ones()).unwrap() - 32)).collect()
    }

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// Root mean square errors of both estimates over pairs of random vectors.
    fn errors(share: f32) -> (f32, f32) {
        let planes = Planes::new(SignatureOptions::default(), 384);
        let mut state = 1;
        let (mut one_sided, mut two_sided) = (0.0, 0.0);
        for _ in 0..200 {
            let (a, other) = (vector(&mut state), vector(&mut state));
            let b: Vec<f32> = a.iter().zip(&other).map(|(a, b)| share * a + (1.0 - share) * b).collect();
            let exact = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            let question = Estimator::of(&planes, &quantise(&a).unwrap()).unwrap();
            let stored = planes.signature(&quantise(&b).unwrap()).unwrap();
            let estimated = question.cosine(question.sum(&stored));
            let differing: u32 = stored.iter().zip(question.signature()).map(|(a, b)| (a ^ b).count_ones()).sum();
            one_sided += (estimated - exact).powi(2);
            two_sided += (cosine_of_distance(differing as usize, 512) - exact).powi(2);
        }
        ((one_sided / 200.0).sqrt(), (two_sided / 200.0).sqrt())
    }

    #[test]
    fn an_estimate_by_the_exact_question_errs_less_than_counting_differing_bits() {
        for share in [0.0, 0.3, 0.5] {
            let (one_sided, two_sided) = errors(share);
            assert!(one_sided < 0.04 && one_sided < 0.75 * two_sided, "{share}: {one_sided} {two_sided}");
        }
    }

    #[test]
    fn a_vector_is_itself_and_the_opposite_of_its_opposite() {
        let planes = Planes::new(SignatureOptions::new(128, 3).unwrap(), 384);
        let mut state = 9;
        let stored = quantise(&vector(&mut state)).unwrap();
        let opposite: Vec<i16> = stored.iter().map(|component| -component).collect();
        let question = Estimator::of(&planes, &stored).unwrap();
        let cosine = |vector: &[i16]| question.cosine(question.sum(&planes.signature(vector).unwrap()));
        assert!(cosine(&stored) > 0.9 && cosine(&opposite) < -0.9, "{} {}", cosine(&stored), cosine(&opposite));
        assert!(Estimator::of(&planes, &[0; 384]).is_none() && Estimator::of(&planes, &[1; 3]).is_none());
    }
}
