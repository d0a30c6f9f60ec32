//! Estimates the cosine between a question and an embedding of which only the signature is stored.
//!
//! The question is known exactly. So its products with the hyperplanes are summed with the signs of the stored bits, instead of
//! comparing signs with signs. The sum is linear in the cosine, and only the rounding of one side remains as error: 0.03 at 512 bits, where counting differing bits has 0.06 (docs/benchmarks.md). RaBitQ (Gao and Long, SIGMOD 2024)
//! estimates in the same way.

use std::f32::consts::FRAC_2_PI;
use std::f64::consts::PI;

use super::planes::signature_of;
use super::scan::sum_of_set;
use super::{HEAD_BITS, Planes, WORD_BITS};

/// Bits of a product after scaling, its sign among them: their error is a twentieth of that of a stored sign.
const BITS: usize = 5;
const MAX_LEVEL: i64 = (1 << (BITS - 1)) - 1;

/// A question ready to be compared with signatures.
pub(crate) struct Estimator {
    signature: Box<[u64]>,
    /// Its products with the hyperplanes.
    products: Products,
    /// Factor from a sum over all bits to a cosine.
    scale: f32,
    coarse: Coarse,
}

/// The beginning of a question's signature, by which every document is compared.
///
/// A bit of which the question lies far from the hyperplane tells more than one of which it lies near. Two weights for the
/// question's products, as for a quantiser of two levels, take most of that along (Max, IRE Trans. 1960: levels 0.45 and 1.51 of a
/// normal distribution, apart at 0.98), and cost one more count.
pub(in crate::index) struct Coarse {
    /// Signs of the question at each hyperplane, and whether it lies far from it.
    pub signs: Box<[u64]>,
    pub far: Box<[u64]>,
    /// Sum of the weights of all bits, each 1 or [`FAR`].
    pub total: u16,
    /// Factor from the difference of the weights that agree and that differ to a cosine.
    pub scale: f32,
}

/// Weight of a bit far from whose hyperplane the question lies.
pub(in crate::index) const FAR: u16 = 3;

impl Coarse {
    fn from_products(products: &[i64]) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "estimates")]
        let size = |product: &i64| product.unsigned_abs() as f32;
        #[expect(clippy::cast_precision_loss, reason = "at most 1,024")]
        let mean = products.iter().map(|product| size(product).powi(2)).sum::<f32>() / products.len().max(1) as f32;
        let deviation = mean.sqrt().max(f32::MIN_POSITIVE);
        let head = &products[..products.len().min(HEAD_BITS)];
        let is_far = |product: &i64| size(product) > deviation;
        let weight = |product: &i64| if is_far(product) { FAR } else { 1 };
        let agreeing: f32 = head.iter().map(|product| f32::from(weight(product)) * size(product) / deviation).sum();
        Self {
            signs: signature_of(head),
            far: signature_of(&head.iter().map(|product| i64::from(is_far(product))).collect::<Vec<_>>()),
            total: head.iter().map(weight).sum(),
            // A sign takes the part √(2/π) of a normally distributed product along, on average.
            scale: (agreeing * FRAC_2_PI.sqrt()).recip(),
        }
    }
}

impl Estimator {
    /// `None` for a question of other dimensions and without a direction.
    pub fn for_question(planes: &Planes, question: &[i16]) -> Option<Self> {
        let products = planes.project(question)?;
        let largest = products.iter().map(|product| product.abs()).max().unwrap_or(0).max(1);
        let scaled: Vec<i64> = products.iter().map(|product| rounded(product * MAX_LEVEL, largest)).collect();
        // A sign takes the part √(2/π) of a normally distributed product along, on average.
        let squares: i64 = scaled.iter().map(|product| product * product).sum();
        #[expect(clippy::cast_precision_loss, reason = "at most 1,024 squares of 8 bits")]
        let length = (squares.max(1) as f64 * scaled.len() as f64 * 2.0 / PI).sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "a factor")]
        let scale = length.recip() as f32;
        let (signature, coarse) = (signature_of(&products), Coarse::from_products(&products));
        Some(Self { signature, coarse, products: Products::from_scaled(&scaled), scale })
    }

    /// The question's own signature.
    pub fn signature(&self) -> &[u64] {
        &self.signature
    }

    /// The beginning of it.
    pub(in crate::index) fn coarse(&self) -> &Coarse {
        &self.coarse
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
    fn from_scaled(scaled: &[i64]) -> Self {
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
    use super::super::{SignatureOptions, cosine_of_distance, quantise};
    use super::*;
    use crate::random::split_mix;

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
            let question = Estimator::for_question(&planes, &quantise(&a).unwrap()).unwrap();
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
    fn two_weights_err_less_than_counting_the_same_bits() {
        let planes = Planes::new(SignatureOptions::default(), 384);
        let mut state = 5;
        let (mut weighted, mut counted) = (0.0, 0.0);
        for _ in 0..400 {
            let (a, other) = (vector(&mut state), vector(&mut state));
            let b: Vec<f32> = a.iter().zip(&other).map(|(a, b)| 0.2 * a + 0.8 * b).collect();
            let exact = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            let question = Estimator::for_question(&planes, &quantise(&a).unwrap()).unwrap();
            let stored = planes.signature(&quantise(&b).unwrap()).unwrap();
            let coarse = question.coarse();
            let differing: Vec<u64> = stored.iter().zip(&coarse.signs).map(|(stored, sign)| stored ^ sign).collect();
            let count = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum::<u32>();
            let far: Vec<u64> = differing.iter().zip(&coarse.far).map(|(differing, far)| differing & far).collect();
            let weight = count(&differing) + u32::from(FAR - 1) * count(&far);
            let agreeing = f32::from(coarse.total) - 2.0 * f32::from(u16::try_from(weight).unwrap());
            weighted += (agreeing * coarse.scale - exact).powi(2);
            counted += (cosine_of_distance(count(&differing) as usize, HEAD_BITS) - exact).powi(2);
        }
        assert!(weighted < 0.8 * counted, "{} {}", (weighted / 400.0_f32).sqrt(), (counted / 400.0_f32).sqrt());
    }

    #[test]
    fn a_vector_is_itself_and_the_opposite_of_its_opposite() {
        let planes = Planes::new(SignatureOptions::new(128, 3).unwrap(), 384);
        let mut state = 9;
        let stored = quantise(&vector(&mut state)).unwrap();
        let opposite: Vec<i16> = stored.iter().map(|component| -component).collect();
        let question = Estimator::for_question(&planes, &stored).unwrap();
        let cosine = |vector: &[i16]| question.cosine(question.sum(&planes.signature(vector).unwrap()));
        assert!(cosine(&stored) > 0.9 && cosine(&opposite) < -0.9, "{} {}", cosine(&stored), cosine(&opposite));
        assert!(
            Estimator::for_question(&planes, &[0; 384]).is_none()
                && Estimator::for_question(&planes, &[1; 3]).is_none()
        );
    }
}
