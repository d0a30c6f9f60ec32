//! Converts Hamming distances to cosines and back.

use std::f32::consts::PI;

/// The cosine that two embeddings are expected to have whose signatures of `bits` bits differ in `distance` of them:
/// cos(π·distance/bits). Its standard error is about 0.06 at 512 bits.
///
/// The inverse of [`radius`], by which tests compare estimates; a question is compared by its [`Estimator`](super::Estimator), which is
/// more exact.
#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "at most 1,024 bits")]
pub(in crate::index) fn cosine_of_distance(distance: usize, bits: usize) -> f32 {
    (PI * distance.min(bits) as f32 / bits.max(1) as f32).cos()
}

/// How much wider a ball is than its angle, as a share of the signature: of what is as near as its cosine, 0.98 to 0.99 lie inside
/// (docs/benchmarks.md).
pub const BALL_MARGIN: f32 = 0.03;

/// Radius of the Hamming ball that holds the embeddings of at least this cosine: r = (θ₀/π + ε)·bits, with ε in favour of
/// recall (HIPPOCAMPUS, Appendix F). Of the embeddings of just that cosine about half lie inside for ε = 0.
#[expect(clippy::cast_precision_loss, reason = "at most 1,024 bits")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and bits")]
pub fn radius(cosine: f32, margin: f32, bits: usize) -> usize {
    let share = cosine.clamp(-1.0, 1.0).acos() / PI + margin;
    (share.clamp(0.0, 1.0) * bits as f32).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radius_and_cosine_are_each_others_inverse() {
        assert_eq!(radius(1.0, 0.0, 512), 0);
        assert_eq!(radius(0.0, 0.0, 512), 256);
        assert_eq!(radius(-1.0, 0.5, 512), 512);
        for distance in 0..=512 {
            assert_eq!(radius(cosine_of_distance(distance, 512), 0.0, 512), distance);
        }
        assert_eq!(radius(0.5, 0.01, 512), 176, "(60°/180° + .01) · 512");
    }
}
