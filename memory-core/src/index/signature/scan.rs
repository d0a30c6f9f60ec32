//! Counting differing bits, eight signatures at a time.
//!
//! Signatures lie in groups of eight, word by word: lane w of a group holds word w of all eight. Then the counts of eight
//! signatures are sums of whole registers and nothing is added across a register, which is what lets plain `count_ones` be
//! compiled to vector instructions: as fast as the memory delivers (docs/benchmarks.md), without a line of `unsafe`.

use super::estimate::{Coarse, FAR};

/// One word of eight signatures.
pub(super) type Lane = [u64; LANES];
/// Signatures in a group.
pub(super) const LANES: usize = 8;

/// Words of the beginning of a signature, and of the rest of one of the usual length.
const USUAL: usize = 4;

/// Fills in `distances`, one row per group, with how many bits of signatures of the usual length differ from `query`. Both parts are
/// read at once, so that nothing is added up in memory.
///
/// Four words are added like the digits of numbers before their bits are counted (Harley and Seal; Muła, Kurz and Lemire, 2018): that
/// takes three counts, and leaves no sum that could be turned from eight signatures at a time into one after the other.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
pub(super) fn differing_usual(
    (heads, tails): (&[Lane], &[Lane]),
    query: &[u64; 2 * USUAL],
    distances: &mut [[u16; LANES]],
) {
    let groups = heads.as_chunks::<USUAL>().0.iter().zip(tails.as_chunks::<USUAL>().0);
    for (([a, b, c, d], [e, f, g, h]), distances) in groups.zip(distances) {
        let mut counts = [0; LANES];
        for (at, count) in counts.iter_mut().enumerate() {
            let head = [a[at] ^ query[0], b[at] ^ query[1], c[at] ^ query[2], d[at] ^ query[3]];
            let tail = [e[at] ^ query[4], f[at] ^ query[5], g[at] ^ query[6], h[at] ^ query[7]];
            let [ones, twos, fours] = digits(head).map(ones_in);
            let [more_ones, more_twos, more_fours] = digits(tail).map(ones_in);
            *count = ones + more_ones + 2 * (twos + more_twos) + 4 * (fours + more_fours);
        }
        *distances = [0; LANES];
        add_row(counts, distances);
    }
}

/// Adds to `distances`, one row per group, how many bits of the group's signatures differ from `query`. A group has as many
/// lanes as the query words.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
pub(super) fn add_differing(lanes: &[Lane], query: &[u64], distances: &mut [[u16; LANES]]) {
    for (group, distances) in lanes.chunks_exact(query.len()).zip(distances) {
        let mut counts = [0_u64; LANES];
        for (lane, word) in group.iter().zip(query) {
            for (count, stored) in counts.iter_mut().zip(lane) {
                *count += u64::from((stored ^ word).count_ones());
            }
        }
        add_row(counts, distances);
    }
}

/// The sums of the bits at each place of four words, digit by digit: ones, twos, fours.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the processor of whoever calls it")]
fn digits([a, b, c, d]: [u64; USUAL]) -> [u64; 3] {
    let (three, carried) = (a ^ b ^ c, a & b | (a ^ b) & c);
    let (ones, carried_again) = (three ^ d, three & d);
    [ones, carried ^ carried_again, carried & carried_again]
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the processor of whoever calls it")]
fn ones_in(word: u64) -> u64 {
    u64::from(word.count_ones())
}

/// Like [`add_differing`], with a question of which some bits weigh [`FAR`] and the others 1.
pub(super) fn add_differing_weight(lanes: &[Lane], question: &Coarse, distances: &mut [[u16; LANES]]) {
    match ((&*question.signs).try_into(), (&*question.far).try_into()) {
        (Ok(signs), Ok(far)) => add_differing_weight_usual(lanes, signs, far, distances),
        _ => add_differing_weight_any(lanes, question, distances),
    }
}

/// With the number of words unknown, this is compiled to loads of single words on AArch64 and to shuffles with AVX2.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn add_differing_weight_usual(
    lanes: &[Lane],
    signs: &[u64; USUAL],
    far: &[u64; USUAL],
    distances: &mut [[u16; LANES]],
) {
    const { assert!(FAR == 3, "what is far counts once more as two") };
    for ([a, b, c, d], distances) in lanes.as_chunks::<USUAL>().0.iter().zip(distances) {
        let mut counts = [0; LANES];
        for (at, count) in counts.iter_mut().enumerate() {
            let [a, b, c, d] = [a[at] ^ signs[0], b[at] ^ signs[1], c[at] ^ signs[2], d[at] ^ signs[3]];
            let [ones, twos, fours] = digits([a, b, c, d]).map(ones_in);
            let [far_ones, far_twos, far_fours] = digits([a & far[0], b & far[1], c & far[2], d & far[3]]).map(ones_in);
            *count = ones + 2 * (twos + far_ones) + 4 * (fours + far_twos) + 8 * far_fours;
        }
        add_row(counts, distances);
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq", "x86_64+avx2+popcnt"))]
fn add_differing_weight_any(lanes: &[Lane], question: &Coarse, distances: &mut [[u16; LANES]]) {
    let words = question.signs.len();
    for (group, distances) in lanes.chunks_exact(words).zip(distances) {
        let mut counts = [0_u64; LANES];
        for (lane, (sign, far)) in group.iter().zip(question.signs.iter().zip(&question.far)) {
            for (count, stored) in counts.iter_mut().zip(lane) {
                let differing = stored ^ sign;
                *count += ones_in(differing) + u64::from(FAR - 1) * ones_in(differing & far);
            }
        }
        add_row(counts, distances);
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the processor of whoever calls it")]
fn add_row(counts: [u64; LANES], distances: &mut [u16; LANES]) {
    for (distance, count) in distances.iter_mut().zip(counts) {
        #[expect(clippy::cast_possible_truncation, reason = "a signature has at most 1,024 bits")]
        let count = count as u16;
        *distance += count;
    }
}

/// The sum of those numbers whose bits are set in `words`. Plane b holds bit b of every number, as two's complement, in as many
/// words.
pub(super) fn sum_of_set(words: &[u64], planes: &[u64]) -> i32 {
    if let Ok(words) = <&[u64; 8]>::try_from(words) {
        sum_of_eight(words, planes.as_chunks().0)
    } else if let Ok(words) = <&[u64; 2]>::try_from(words) {
        sum_of_two(words, planes.as_chunks().0)
    } else {
        sum_of_any(words, planes)
    }
}

#[multiversion::multiversion(targets("x86_64+popcnt"))]
fn sum_of_eight(words: &[u64; 8], planes: &[[u64; 8]]) -> i32 {
    let (mut sum, mut count) = (0, 0);
    for (bit, plane) in planes.iter().enumerate() {
        count = 0;
        for at in 0..8 {
            count += (words[at] & plane[at]).count_ones();
        }
        count <<= bit;
        sum += count;
    }
    negated_last(sum, count)
}

#[multiversion::multiversion(targets("x86_64+popcnt"))]
fn sum_of_two(words: &[u64; 2], planes: &[[u64; 2]]) -> i32 {
    let (mut sum, mut count) = (0, 0);
    for (bit, plane) in planes.iter().enumerate() {
        count = ((words[0] & plane[0]).count_ones() + (words[1] & plane[1]).count_ones()) << bit;
        sum += count;
    }
    negated_last(sum, count)
}

#[multiversion::multiversion(targets("x86_64+popcnt"))]
fn sum_of_any(words: &[u64], planes: &[u64]) -> i32 {
    let (mut sum, mut count) = (0, 0);
    for (bit, plane) in planes.chunks_exact(words.len()).enumerate() {
        count = 0;
        for (word, plane) in words.iter().zip(plane) {
            count += (word & plane).count_ones();
        }
        count <<= bit;
        sum += count;
    }
    negated_last(sum, count)
}

/// The highest bit of two's complement counts less than nothing.
fn negated_last(sum: u32, last: u32) -> i32 {
    sum.cast_signed() - 2 * last.cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_that_differ_weigh_what_the_question_says(
            words in 1_usize..=5, lanes in prop::collection::vec(any::<[u64; LANES]>(), 0..20),
            signs in any::<[u64; 5]>(), far in any::<[u64; 5]>(),
        ) {
            let question = Coarse { signs: signs[..words].into(), far: far[..words].into(), total: 0, scale: 0.0 };
            let groups = lanes.len() / words;
            let mut distances = vec![[7; LANES]; groups];
            add_differing_weight(&lanes, &question, &mut distances);
            for (group, distances) in lanes.chunks_exact(words).zip(&distances) {
                for (at, distance) in distances.iter().enumerate() {
                    let weight = |word: usize| {
                        let differing = group[word][at] ^ signs[word];
                        differing.count_ones() + 2 * (differing & far[word]).count_ones()
                    };
                    prop_assert_eq!(u32::from(*distance), 7 + (0..words).map(weight).sum::<u32>());
                }
            }
        }

        #[test]
        fn the_sum_of_numbers_that_are_set_is_that_of_a_model(
            words in prop::collection::vec(any::<u64>(), 1..=16), numbers in prop::collection::vec(-16_i32..16, 1024),
        ) {
            let mut planes = vec![0_u64; 5 * words.len()];
            let mut expected = 0;
            for (at, number) in numbers.iter().enumerate().take(64 * words.len()) {
                for bit in 0..5 {
                    planes[bit * words.len() + at / 64] |= u64::from(number.cast_unsigned() >> bit & 1) << (at % 64);
                }
                expected += if words[at / 64] >> (at % 64) & 1 == 1 { *number } else { 0 };
            }
            prop_assert_eq!(sum_of_set(&words, &planes), expected);
        }
    }
}
