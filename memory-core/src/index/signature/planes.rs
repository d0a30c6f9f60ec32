//! Random hyperplanes.

use super::{SignatureOptions, WORD_BITS};

/// Components multiplied before their sum is widened: 64 products of an i16 and a component below 33 fit an i32 with room.
const STRETCH: usize = 64;

/// As many hyperplanes as a signature has bits, in a space of fixed dimensions.
///
/// A component is the number of ones in 64 random bits, less 32: near to normally distributed, and the same everywhere,
/// which a floating-point draw would not be.
#[derive(Debug, Clone)]
pub struct Planes {
    options: SignatureOptions,
    dimensions: usize,
    /// One row per bit.
    components: Box<[i8]>,
}

impl Planes {
    /// The hyperplanes of `options` in a space of `dimensions`.
    pub fn new(options: SignatureOptions, dimensions: usize) -> Self {
        let mut state = options.seed;
        let components = (0..options.bits() * dimensions)
            .map(|_| i8::try_from(split_mix(&mut state).count_ones()).expect("at most 64") - 32)
            .collect();
        Self { options, dimensions, components }
    }

    /// How signatures are made.
    pub fn options(&self) -> SignatureOptions {
        self.options
    }

    /// Length of an embedding.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The signature of an embedding of any length above zero (scaled by 32,767 if it is a unit vector). `None` for one of
    /// other dimensions, and for the zero vector, which has no direction.
    pub fn signature(&self, embedding: &[i16]) -> Option<Box<[u64]>> {
        if embedding.len() != self.dimensions || embedding.iter().all(|component| *component == 0) {
            return None;
        }
        let mut signature = vec![0; self.options.words()];
        project(&self.components, embedding, &mut signature);
        Some(signature.into())
    }
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

/// Sets bit k of `signature` where the product of row k and the embedding is positive.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn project(rows: &[i8], embedding: &[i16], signature: &mut [u64]) {
    for (bit, row) in rows.chunks_exact(embedding.len()).enumerate() {
        let mut sum = 0_i64;
        let (row, row_rest) = row.as_chunks::<STRETCH>();
        let (stretches, rest) = embedding.as_chunks::<STRETCH>();
        for (row, stretch) in row.iter().zip(stretches) {
            let row = row.map(i16::from);
            sum += i64::from(row.iter().zip(stretch).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>());
        }
        for (a, b) in row_rest.iter().zip(rest) {
            sum += i64::from(*a) * i64::from(*b);
        }
        signature[bit / WORD_BITS] |= u64::from(sum > 0) << (bit % WORD_BITS);
    }
}

/// Steele, Lea and Flood's SplitMix64.
pub(in crate::index) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
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

    /// Of the embedding of seed 1. A change makes every signature incomparable with those of earlier versions.
    const GOLDEN: [&str; 8] = [
        "80442edc3597c06e",
        "1bf16f824b26d5d0",
        "2d020e949159918e",
        "8080f630805500d0",
        "717a356f86e0b8fe",
        "30702580cd527207",
        "96fc75a5f79f1704",
        "144e98c2382c7c80",
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
