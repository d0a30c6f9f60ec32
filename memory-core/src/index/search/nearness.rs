//! Similarity of the signatures of one segment to the question's, in the same layout as the term frequencies.
//!
//! The first bits of every signature are compared; few documents then need an exact comparison. A segment is compared in one pass
//! before its strips are scored: read in order and without other work in between, signatures come as fast as the memory delivers.

use super::filter::Mask;
use super::kernels;
use super::meaning::Meaning;
use super::words::ScoredSegment;
use crate::index::entries::{Lines, MARGIN, REACH, STRIP, reach};
use crate::index::signature::{ABSENT, BLOCK, BlockDistances};

/// Nearness of a segment's documents by position, with margins; used again for the next.
#[derive(Default)]
pub(super) struct Nearness {
    /// [`kernels::NO_SIGNATURE`] where there is no visible document with a signature.
    near: Vec<i8>,
}

impl Nearness {
    /// Compares the signatures of a segment; of those that `mask` excludes only the ones that may be neighbours of others.
    pub fn load(&mut self, meaning: &Meaning<'_>, segment: &ScoredSegment<'_>, lines: &Lines, mask: Option<&Mask>) {
        self.near.clear();
        self.near.resize(lines.count().next_multiple_of(BLOCK) + 2 * MARGIN, kernels::NO_SIGNATURE);
        let mut distances = [0; BLOCK];
        let mut near = [0; BLOCK];
        for first in (0..lines.count()).step_by(BLOCK) {
            let ordinal = segment.first + u32::try_from(first).expect("below 65,536");
            let around = ordinal.saturating_sub(BLOCK as u32)..ordinal.saturating_add(2 * BLOCK as u32);
            if mask.is_some_and(|mask| !mask.any_in(around.start, around.end))
                || !visible_distances(meaning, segment, ordinal, &mut distances)
            {
                continue;
            }
            if lines.is_in_order() {
                let near = self.near[MARGIN + first..].first_chunk_mut().expect("there is room for whole blocks");
                kernels::nearness(&distances, meaning.coarse(), near);
            } else {
                kernels::nearness(&distances, meaning.coarse(), &mut near);
                for (near, place) in near.iter().zip(first..lines.count()) {
                    let position = lines.position(u16::try_from(place).expect("below 65,536"));
                    self.near[MARGIN + position] = *near;
                }
            }
        }
    }

    /// The most that an estimated cosine of a strip can be.
    pub fn most(&self, strip: usize) -> f32 {
        // The weights of a window are at most 1.51 times the length of their sum, as it is estimated.
        1.51 * f32::from(kernels::nearest(reach(&self.near, strip)).max(0)) / kernels::SAME_DIRECTION
    }

    /// Estimates what meaning is worth.
    pub fn estimate(&self, strip: usize, linked: &[u8; REACH], weight: f32, estimates: &mut [f32; STRIP]) {
        kernels::estimate_meaning(reach(&self.near, strip), linked, weight, estimates);
    }
}

/// Fills in the distances of a block's visible documents. Returns whether it has any signature.
fn visible_distances(
    meaning: &Meaning<'_>,
    segment: &ScoredSegment<'_>,
    ordinal: u32,
    distances: &mut BlockDistances,
) -> bool {
    let state = segment.state;
    if !state.signatures.coarse_distances(ordinal, meaning.coarse(), distances) {
        return false;
    }
    if state.hidden.any_in(ordinal..ordinal.saturating_add(BLOCK as u32)) {
        for (distance, ordinal) in distances.iter_mut().zip(ordinal..) {
            if state.hidden.contains(ordinal) {
                *distance = ABSENT;
            }
        }
    }
    true
}
