//! Counting differing bits, eight signatures at a time.
//!
//! Signatures lie in groups of eight, word by word: lane w of a group holds word w of all eight. Then the counts of eight
//! signatures are sums of whole registers and nothing is added across a register, which is what lets plain `count_ones` be
//! compiled to vector instructions: as fast as the memory delivers (docs/benchmarks.md), without a line of `unsafe`.

/// One word of eight signatures.
pub(super) type Lane = [u64; LANES];
/// Signatures in a group.
pub(super) const LANES: usize = 8;

/// Adds to `distances`, one row per group, how many bits of the group's signatures differ from `query`. A group has as many
/// lanes as the query words.
#[multiversion::multiversion(targets("x86_64+avx2+popcnt"))]
pub(super) fn add_distances(lanes: &[Lane], query: &[u64], distances: &mut [[u16; LANES]]) {
    for (group, distances) in lanes.chunks_exact(query.len()).zip(distances) {
        let mut counts = [0_u64; LANES];
        for (lane, word) in group.iter().zip(query) {
            for (count, stored) in counts.iter_mut().zip(lane) {
                *count += u64::from((stored ^ word).count_ones());
            }
        }
        for (distance, count) in distances.iter_mut().zip(counts) {
            #[expect(clippy::cast_possible_truncation, reason = "a signature has at most 1,024 bits")]
            let count = count as u16;
            *distance += count;
        }
    }
}
