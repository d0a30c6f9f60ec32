//! The loops over a strip (block) of documents: plain arithmetic on arrays, compiled for the processor's vector instructions. No
//! sum crosses a position, so the results are the same everywhere.

use super::words::Means;
use crate::index::entries::{MARGIN, REACH, RUN, RUNS, RunLengths, STRIP};
use crate::index::fusion::{B, K1, TERM_WINDOW, VECTOR_WINDOW};
use crate::index::signature::{ABSENT, BLOCK, Coarse};

/// [`TERM_WINDOW`] in whole numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "3, 2 and 1")]
const WINDOW: [u16; 3] = [TERM_WINDOW[0] as u16, TERM_WINDOW[1] as u16, TERM_WINDOW[2] as u16];
/// [`VECTOR_WINDOW`] in quarters.
#[expect(clippy::cast_possible_truncation, reason = "4, 2 and 1")]
const QUARTERS: [i16; 3] =
    [(VECTOR_WINDOW[0] * 4.0) as i16, (VECTOR_WINDOW[1] * 4.0) as i16, (VECTOR_WINDOW[2] * 4.0) as i16];

/// The nearness of a cosine of 1.
pub(super) const SAME_DIRECTION: f32 = 100.0;
/// Stands for the nearness of a document without a signature.
pub(super) const NO_SIGNATURE: i8 = i8::MIN;

/// A run with what its windows reach.
const RUN_REACH: usize = RUN + 2 * MARGIN;

/// A term in a strip: how often each document holds it, with margins, and what it weighs by itself and in context.
#[derive(Clone, Copy)]
pub(super) struct ScoredTerm<'a> {
    pub frequencies: &'a [u8; REACH],
    pub own: f32,
    pub context: f32,
}

impl ScoredTerm<'_> {
    /// A term that no document holds.
    pub const NONE: Self = ScoredTerm { frequencies: &[0; REACH], own: 0.0, context: 0.0 };
}

/// A value at one position of a strip, weighted like a term, with its neighbours' as context.
pub(super) fn window(at: usize, linked: &[u8; REACH], value: impl Fn(usize) -> f32) -> f32 {
    let held = |linked: bool, at: usize| if linked { value(at) } else { 0.0 };
    let (before, after) = (linked[at] != 0, linked[at + 1] != 0);
    TERM_WINDOW[0] * value(at)
        + TERM_WINDOW[1] * (held(before, at - 1) + held(after, at + 1))
        + TERM_WINDOW[2] * (held(before && linked[at - 1] != 0, at - 2) + held(after && linked[at + 2] != 0, at + 2))
}

/// The largest of the frequencies within reach of a strip.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(super) fn most_frequent(frequencies: &[u8; REACH]) -> u8 {
    frequencies.iter().fold(0, |most, frequency| most.max(*frequency))
}

/// The largest nearness within reach of a strip.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(super) fn nearest(near: &[i8; REACH]) -> i8 {
    near.iter().fold(i8::MIN, |most, near| most.max(*near))
}

/// How often a term counts in the context of each document: thrice where it stands, twice at its neighbours, once at theirs.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn in_context(frequencies: &[u8; REACH], linked: &[u8; REACH], counts: &mut [u16; STRIP]) {
    for (at, count) in counts.iter_mut().enumerate() {
        *count = count_in_context(at + MARGIN, frequencies, linked);
    }
}

/// The same for one document of some.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the processor of whoever calls it")]
fn count_in_context<const N: usize>(at: usize, frequencies: &[u8; N], linked: &[u8; N]) -> u16 {
    let before = u16::from(frequencies[at - 1] & linked[at]);
    let second_before = u16::from(frequencies[at - 2] & linked[at] & linked[at - 1]);
    let after = u16::from(frequencies[at + 1] & linked[at + 1]);
    let second_after = u16::from(frequencies[at + 2] & linked[at + 1] & linked[at + 2]);
    WINDOW[0] * u16::from(frequencies[at]) + WINDOW[1] * (before + after) + WINDOW[2] * (second_before + second_after)
}

/// Adds two terms' saturations, weighted, to the documents of some runs of a strip: four fractions over one denominator, because
/// a division takes as long as all of the rest.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn add_words(
    [one, other]: [ScoredTerm<'_>; 2],
    linked: &[u8; REACH],
    lengths: &[RunLengths; RUNS],
    means: Means,
    runs: &[usize],
    estimates: &mut [f32; STRIP],
) {
    let (per_own, per_context) = (K1 * B / means.own.max(1.0), K1 * B / means.context.max(1.0));
    for run in runs {
        let (linked, lengths) = (of_run(linked, *run), &lengths[*run]);
        let (one_held, other_held) = (of_run(one.frequencies, *run), of_run(other.frequencies, *run));
        let estimates: &mut [f32; RUN] = &mut estimates.as_chunks_mut().0[*run];
        for at in 0..RUN {
            let own_norm = K1 * (1.0 - B) + per_own * f32::from(lengths.own[at]);
            let context_norm = K1 * (1.0 - B) + per_context * f32::from(lengths.around[at]);
            let fraction = |term: &ScoredTerm<'_>, frequencies: &[u8; RUN_REACH]| {
                let own = f32::from(frequencies[at + MARGIN]);
                let count = f32::from(count_in_context(at + MARGIN, frequencies, linked));
                let (below_own, below_context) = (own + own_norm, count + context_norm);
                (term.own * own * below_context + term.context * count * below_own, below_own * below_context)
            };
            let ((above, below), (other_above, other_below)) = (fraction(&one, one_held), fraction(&other, other_held));
            estimates[at] += (above * other_below + other_above * below) / (below * other_below);
        }
    }
}

/// A run of a strip's documents with what its windows reach.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the processor of whoever calls it")]
fn of_run<T>(strip: &[T; REACH], run: usize) -> &[T; RUN_REACH] {
    strip[run * RUN..].first_chunk().expect("a strip holds whole runs and their margins")
}

/// Adds a weight wherever one of `anywhere` is not zero.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn add_where(anywhere: &[u8; STRIP], weight: f32, estimates: &mut [f32; STRIP]) {
    for (estimate, held) in estimates.iter_mut().zip(anywhere) {
        *estimate += if *held == 0 { 0.0 } else { weight };
    }
}

/// Which documents of a strip reach `needed`: one byte each. One answer for several documents would be compiled to gathering
/// them from all over the strip.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn reaching(estimates: &[f32; STRIP], needed: f32, reaching: &mut [u8; STRIP]) {
    for (reaches, estimate) in reaching.iter_mut().zip(estimates) {
        *reaches = u8::from(*estimate >= needed);
    }
}

/// Adds the most that a term can give, in small units: by itself where a document holds it, in context where one in its window does.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn add_most(
    frequencies: &[u8; REACH],
    linked: &[u8; REACH],
    (own, context): (u8, u8),
    most: &mut [u8; STRIP],
) {
    for (at, most) in most.iter_mut().enumerate() {
        let at = at + MARGIN;
        let before = (frequencies[at - 1] | frequencies[at - 2] & linked[at - 1]) & linked[at];
        let after = (frequencies[at + 1] | frequencies[at + 2] & linked[at + 2]) & linked[at + 1];
        let held = if frequencies[at] == 0 { 0 } else { own };
        let around = if frequencies[at] | before | after == 0 { 0 } else { context };
        *most = most.saturating_add(held).saturating_add(around);
    }
}

/// Which documents of a strip reach `needed`, if words give them the most that they can, in units.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn may_reach(
    estimates: &[f32; STRIP],
    most: &[u8; STRIP],
    unit: f32,
    needed: f32,
    reaching: &mut [u8; STRIP],
) {
    for at in 0..STRIP {
        reaching[at] = u8::from(estimates[at] + unit * f32::from(most[at]) >= needed);
    }
}

/// Estimates the cosines in context that distances between signatures stand for, weighted: what [`Meaning`](super::meaning::Meaning)
/// tells more exactly.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn estimate_meaning(near: &[i8; REACH], linked: &[u8; REACH], weight: f32, estimates: &mut [f32; STRIP]) {
    let mut sums = [0_i16; STRIP];
    let mut weights = [0_i16; STRIP];
    for at in 0..STRIP {
        let here = at + MARGIN;
        let present = |at: usize| if near[at] == NO_SIGNATURE { 0 } else { u8::MAX };
        let own = present(here);
        let before = linked[here] & present(here - 1);
        let second_before = linked[here] & linked[here - 1] & present(here - 2);
        let after = linked[here + 1] & present(here + 1);
        let second_after = linked[here + 1] & linked[here + 2] & present(here + 2);
        let one = |mask: u8| i16::from(mask & 1);
        let held = |at: usize, mask: u8| i16::from(near[at] & (mask & own).cast_signed());
        sums[at] = QUARTERS[0] * held(here, own)
            + QUARTERS[1] * (held(here - 1, before) + held(here + 1, after))
            + QUARTERS[2] * (held(here - 2, second_before) + held(here + 2, second_after));
        weights[at] = QUARTERS[1] * (one(before) + one(after)) + QUARTERS[2] * (one(second_before) + one(second_after));
    }
    let weight = weight / SAME_DIRECTION / f32::from(QUARTERS[0]);
    for (at, estimate) in estimates.iter_mut().enumerate() {
        *estimate = weight * f32::from(sums[at]) * share(f32::from(weights[at]));
    }
}

/// About the reciprocal of the length of the weighted sum of a document's vector and its neighbours', whose weights are together so
/// many quarters. The length itself takes a square root and a division.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the processor of whoever calls it")]
fn share(quarters: f32) -> f32 {
    1.0 + quarters * (-0.1017 + quarters * 0.005_9)
}

/// The cosines that distances stand for, times [`SAME_DIRECTION`]; [`NO_SIGNATURE`] where there is none.
///
/// In whole numbers: a conversion from a fraction that may be no number is compiled to one conversion after the other.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(super) fn nearness(distances: &[u16; BLOCK], question: &Coarse, near: &mut [i8; BLOCK]) {
    const ONE: i32 = 1 << 16;
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a power of two; at most 2^20")]
    let scale = (question.scale * SAME_DIRECTION).min(16.0).mul_add(ONE as f32, 0.5) as i32;
    let total = i32::from(question.total);
    for (near, distance) in near.iter_mut().zip(distances) {
        let cosine = scale.wrapping_mul(total - 2 * i32::from(*distance)).wrapping_add(ONE / 2) >> 16;
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        let rounded = cosine.clamp(-127, 127) as i8;
        *near = if *distance == ABSENT { NO_SIGNATURE } else { rounded };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::fusion::NEIGHBOUR_COSINE;

    proptest! {
        #[test]
        fn the_most_that_words_can_give_is_counted_wherever_they_count(
            held in prop::collection::vec(prop::sample::select(vec![0, 0, 0, 1, 4]), REACH),
            linked in prop::collection::vec(prop::sample::select(vec![0, u8::MAX, u8::MAX]), REACH),
        ) {
            let (held, linked) = (held.first_chunk().unwrap(), linked.first_chunk().unwrap());
            let (mut counts, mut most) = ([0; STRIP], [0; STRIP]);
            in_context(held, linked, &mut counts);
            add_most(held, linked, (200, 40), &mut most);
            for at in 0..STRIP {
                let expected = u8::from(held[at + MARGIN] > 0) * 200 + u8::from(counts[at] > 0) * 40;
                prop_assert_eq!(most[at], expected, "at {}", at);
            }
            add_most(held, linked, (200, 40), &mut most);
            prop_assert!(most.iter().zip(&counts).all(|(most, count)| *most <= 80 || (*most == u8::MAX && *count > 0)));
        }
    }

    #[test]
    fn the_share_is_about_that_of_the_length_whatever_neighbours_there_are() {
        for (first, second) in (0..=2).flat_map(|first| (0..=2).map(move |second| (first, second))) {
            let (first, second) = (f32::from(u8::try_from(first).unwrap()), f32::from(u8::try_from(second).unwrap()));
            let [own, one, two] = VECTOR_WINDOW;
            let weights = own + one * first + two * second;
            let squares = own * own + one * one * first + two * two * second;
            let length = (squares * (1.0 - NEIGHBOUR_COSINE) + weights * weights * NEIGHBOUR_COSINE).sqrt();
            let share = share((weights - own) * 4.0);
            assert!((share - length.recip()).abs() < 0.025, "{first} {second}: {share} {}", length.recip());
        }
    }
}
