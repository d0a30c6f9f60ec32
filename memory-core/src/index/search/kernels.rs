//! The loops over a strip of documents: plain arithmetic on arrays, compiled for what the processor has. No sum crosses a
//! position, so the results are the same everywhere.

use crate::index::entries::{MARGIN, REACH, STRIP};
use crate::index::fusion::{B, K1, TERM_WINDOW};

/// [`TERM_WINDOW`] in whole numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "3, 2 and 1")]
const WINDOW: [u16; 3] = [TERM_WINDOW[0] as u16, TERM_WINDOW[1] as u16, TERM_WINDOW[2] as u16];

/// What every term of a strip needs: the part of BM25's saturation that depends on lengths, by themselves and in context.
pub(super) struct Norms {
    pub own: [f32; STRIP],
    pub context: [f32; STRIP],
}

/// Scores of a strip, as shares of the most that the question's words can give.
pub(super) struct Scores {
    pub own: [f32; STRIP],
    pub context: [f32; STRIP],
}

/// The largest of the frequencies within reach of a strip.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(super) fn most_frequent(frequencies: &[u8; REACH]) -> u8 {
    frequencies.iter().fold(0, |most, frequency| most.max(*frequency))
}

/// How often a term counts in the context of each document: thrice where it stands, twice at its neighbours, once at theirs.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn in_context(frequencies: &[u8; REACH], linked: &[u8; REACH], counts: &mut [u16; STRIP]) {
    for (at, count) in counts.iter_mut().enumerate() {
        let at = at + MARGIN;
        let before = u16::from(frequencies[at - 1] & linked[at]);
        let second_before = u16::from(frequencies[at - 2] & linked[at] & linked[at - 1]);
        let after = u16::from(frequencies[at + 1] & linked[at + 1]);
        let second_after = u16::from(frequencies[at + 2] & linked[at + 1] & linked[at + 2]);
        *count = WINDOW[0] * u16::from(frequencies[at])
            + WINDOW[1] * (before + after)
            + WINDOW[2] * (second_before + second_after);
    }
}

/// The parts of the saturation for documents of these lengths where the means are those.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn norms(lengths: &[u16; REACH], linked: &[u8; REACH], mean_own: f32, mean_context: f32, norms: &mut Norms) {
    let wide = |at: usize| u32::from(lengths[at]);
    let link = |at: usize| if linked[at] == 0 { 0 } else { u32::MAX };
    for at in 0..STRIP {
        let here = at + MARGIN;
        let around = u32::from(WINDOW[0]) * wide(here)
            + u32::from(WINDOW[1]) * ((wide(here - 1) & link(here)) + (wide(here + 1) & link(here + 1)))
            + u32::from(WINDOW[2])
                * ((wide(here - 2) & link(here) & link(here - 1)) + (wide(here + 2) & link(here + 1) & link(here + 2)));
        #[expect(clippy::cast_precision_loss, reason = "below 2^20; through i32, which processors convert faster")]
        let (own, around) = (wide(here).cast_signed() as f32, around.cast_signed() as f32);
        norms.own[at] = K1 * (1.0 - B + B * own / mean_own.max(1.0));
        norms.context[at] = K1 * (1.0 - B + B * around / mean_context.max(1.0));
    }
}

/// Adds a term's saturations, weighted.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn add(
    frequencies: &[u8; REACH],
    counts: &[u16; STRIP],
    norms: &Norms,
    (weight_own, weight_context): (f32, f32),
    scores: &mut Scores,
) {
    for (at, count) in counts.iter().enumerate() {
        let (own, count) = (f32::from(frequencies[at + MARGIN]), f32::from(*count));
        scores.own[at] += weight_own * (own * (K1 + 1.0) / (own + norms.own[at]));
        scores.context[at] += weight_context * (count * (K1 + 1.0) / (count + norms.context[at]));
    }
}

/// The fused scores of a strip.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn fuse(scores: &Scores, own: f32, context: f32, fused: &mut [f32; STRIP]) {
    for (fused, (one, other)) in fused.iter_mut().zip(scores.own.iter().zip(&scores.context)) {
        *fused = own * one + context * other;
    }
}
