//! Random orthogonal hyperplanes.

use super::{SignatureOptions, WORD_BITS};
use crate::random::split_mix;

/// How often signs are drawn and coordinates mixed: three rounds of signs and Hadamard's matrix are as good as a random rotation
/// (Andoni, Indyk, Laarhoven, Razenshteyn and Schmidt, NIPS 2015).
const ROUNDS: usize = 3;

/// As many hyperplanes as a signature has bits, in a space of fixed dimensions: rows of a random rotation, made of changes of
/// sign and Hadamard's matrix.
///
/// Independent hyperplanes see some directions twice and others not at all; at right angles they share nothing, and the error of
/// an estimate from 512 bits halves (docs/benchmarks.md). It is integer additions only, so the same everywhere, and fewer than
/// multiplying by every plane.
#[derive(Debug, Clone)]
pub struct Planes {
    options: SignatureOptions,
    dimensions: usize,
    /// Masks of each round, by coordinate: all ones where its sign changes.
    signs: Box<[i64]>,
    /// Coordinates that are mixed, a power of two: embeddings are continued by zeros.
    width: usize,
}

impl Planes {
    /// The hyperplanes of `options` in a space of `dimensions`.
    pub fn new(options: SignatureOptions, dimensions: usize) -> Self {
        let width = dimensions.max(options.bits()).next_power_of_two();
        let mut state = options.seed;
        let signs = (0..ROUNDS * width).map(|_| split_mix(&mut state).cast_signed() >> 63).collect();
        Self { options, dimensions, signs, width }
    }

    /// How signatures are made.
    pub fn options(&self) -> SignatureOptions {
        self.options
    }

    /// Length of an embedding.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The products of an embedding and the hyperplanes' normals, all of which are equally long. `None` for an embedding of other
    /// dimensions, and for the zero vector, which has no direction.
    pub fn project(&self, embedding: &[i16]) -> Option<Vec<i64>> {
        if embedding.len() != self.dimensions || embedding.iter().all(|component| *component == 0) {
            return None;
        }
        let mut mixed = vec![0; self.width];
        mixed.iter_mut().zip(embedding).for_each(|(mixed, component)| *mixed = i64::from(*component));
        self.signs.chunks_exact(self.width).for_each(|signs| mix(&mut mixed, signs));
        mixed.truncate(self.options.bits());
        Some(mixed)
    }

    /// The signature of an embedding of any length above zero (scaled by 32,767 if it is a unit vector). `None` for one of
    /// other dimensions, and for the zero vector, which has no direction.
    pub fn signature(&self, embedding: &[i16]) -> Option<Box<[u64]>> {
        Some(signature_of(&self.project(embedding)?))
    }
}

/// The sides on which an embedding with these products lies: bit k is set where product k is positive.
pub(in crate::index) fn signature_of(products: &[i64]) -> Box<[u64]> {
    let word = |products: &[i64]| products.iter().rev().fold(0, |word, product| word << 1 | u64::from(*product > 0));
    products.chunks(WORD_BITS).map(word).collect()
}

/// A unit vector in the form that embeddings are stored in: scaled by 32,767. `None` if it is zero or not finite.
pub fn quantise(vector: &[f32]) -> Option<Vec<i16>> {
    let norm = vector.iter().map(|component| component * component).sum::<f32>().sqrt();
    if !norm.is_finite() || norm <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "no component exceeds the norm")]
    let scaled = vector.iter().map(|component| (component / norm * 32_767.0).round() as i16).collect();
    Some(scaled)
}

/// Changes signs and multiplies by Hadamard's matrix (Sylvester's order, not normalised). An embedding's length of at most
/// 2^15·√dimensions grows by √width a round, which leaves 64 bits far away.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn mix(values: &mut [i64], signs: &[i64]) {
    for (value, sign) in values.iter_mut().zip(signs) {
        *value = (*value ^ sign) - sign;
    }
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::super::cosine_of_distance;
    use super::*;

    fn embedding(seed: u64) -> Vec<f32> {
        let mut state = seed;
        (0..384).map(|_| f32::from(u16::try_from(split_mix(&mut state) & 0x3ff).unwrap()) - 511.5).collect()
    }

    fn distance(a: &[u64], b: &[u64]) -> usize {
        a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }

    #[test]
    fn signatures_are_the_same_on_every_processor() {
        let planes = Planes::new(SignatureOptions::default(), 384);
        let signature = planes.signature(&quantise(&embedding(1)).unwrap()).unwrap();
        assert_eq!(signature.iter().map(|word| format!("{word:016x}")).collect::<Vec<_>>(), GOLDEN);
    }

    /// Signature of the embedding of seed 1. A change makes every signature incomparable with those of earlier versions.
    const GOLDEN: [&str; 8] = [
        "4cbb0f9f70884f1c",
        "e6b1abe8e4829d57",
        "dbd25783cd0627a0",
        "69ad095920ca46fe",
        "1399ae6478a1dfc4",
        "aedf65753751c38e",
        "46ccb71972512b7a",
        "7cc7d88ad807f0a9",
    ];

    #[test]
    fn bits_differ_in_proportion_to_the_angle() {
        let planes = Planes::new(SignatureOptions::new(1024, 7).unwrap(), 384);
        let (a, b) = (embedding(1), embedding(2));
        for share in [0.0_f32, 0.2, 0.4, 0.6, 0.8, 1.0] {
            let mixed: Vec<f32> = a.iter().zip(&b).map(|(a, b)| share * a + (1.0 - share) * b).collect();
            let dot: f32 = a.iter().zip(&mixed).map(|(a, b)| a * b).sum();
            let norm = |vector: &[f32]| vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            let exact = dot / norm(&a) / norm(&mixed);
            let sign = |vector: &[f32]| planes.signature(&quantise(vector).unwrap()).unwrap();
            let estimated = cosine_of_distance(distance(&sign(&a), &sign(&mixed)), 1024);
            assert!((exact - estimated).abs() < 0.12, "{share}: {exact} {estimated}");
        }
    }

    #[test]
    fn what_has_no_direction_or_another_length_has_no_signature() {
        let planes = Planes::new(SignatureOptions::default(), 3);
        assert_eq!(planes.signature(&[0, 0, 0]), None);
        assert_eq!(planes.signature(&[1, 2]), None);
        assert_eq!(planes.signature(&[1, 2, 3, 4]), None);
        assert!(planes.signature(&[i16::MIN, 0, i16::MAX]).is_some());
        assert_eq!(quantise(&[0.0, 0.0]), None);
        assert_eq!(quantise(&[1.0, f32::NAN]), None);
        assert_eq!(quantise(&[1.0, f32::INFINITY]), None);
        assert_eq!(quantise(&[0.0, -3.0]), Some(vec![0, -32_767]));
    }

    #[test]
    fn lengths_are_checked() {
        for bits in [0, 32, 100, 1088] {
            assert_eq!(SignatureOptions::new(bits, 0), Err(crate::index::signature::SignatureLengthError(bits)));
        }
        for bits in [64, 512, 1024] {
            assert_eq!(SignatureOptions::new(bits, 0).unwrap().bits(), bits);
        }
    }
}
