//! Similarity of the signatures of one segment to the question's, in the same layout as the term frequencies.
//!
//! The first bits of every signature are compared; few documents then need an exact comparison. Reading these bits takes as long
//! as the rest of a search, so they are prefetched while the previous strips are scored.

use super::filter::Mask;
use super::kernels;
use super::meaning::Meaning;
use super::words::ScoredSegment;
use crate::index::entries::{Lines, MARGIN, REACH, STRIP, reach};
use crate::index::signature::{ABSENT, Ahead, BLOCK};

/// How many documents ahead signatures are asked for. A block is compared when its first strip is reached by the one before; that is
/// three strips after its last signatures were asked for.
const AHEAD: u32 = 7 * STRIP as u32;

/// Nearness of a segment's documents by position, with margins; used again for the next.
#[derive(Default)]
pub(super) struct Nearness {
    near: Vec<i8>,
    /// All ones where a visible document has a signature.
    present: Vec<u8>,
    /// Documents that were compared.
    compared: usize,
}

impl Nearness {
    /// Begins with a segment.
    pub fn begin(&mut self, lines: &Lines) {
        let length = lines.count().next_multiple_of(BLOCK) + 2 * MARGIN;
        if !lines.is_in_order() {
            self.near.clear();
            self.present.clear();
        }
        // In order, whole blocks are filled in before they are read, and there is nothing behind the last one.
        self.near.resize(length, 0);
        self.present.resize(length, 0);
        self.near[length - MARGIN..].fill(0);
        self.present[length - MARGIN..].fill(0);
        self.compared = 0;
    }

    /// Compares the signatures that a strip reaches; of those that `mask` excludes only the ones that may be neighbours of others.
    pub fn load(
        &mut self,
        meaning: &Meaning<'_>,
        segment: &ScoredSegment<'_>,
        lines: &Lines,
        mask: Option<&Mask>,
        strip: usize,
    ) {
        let until = if lines.is_in_order() { (strip + 1) * STRIP + MARGIN } else { lines.count() };
        let state = segment.state;
        while self.compared < until.min(lines.count()) {
            let first = self.compared;
            self.compared += BLOCK;
            let mut distances = [0; BLOCK];
            let ordinal = segment.first + u32::try_from(first).expect("below 65,536");
            let around = ordinal.saturating_sub(BLOCK as u32)..ordinal.saturating_add(2 * BLOCK as u32);
            if mask.is_some_and(|mask| !mask.any_in(around.start, around.end))
                || !state.signatures.coarse_distances(ordinal, meaning.coarse(), &mut distances)
            {
                if lines.is_in_order() {
                    self.near[MARGIN + first..][..BLOCK].fill(0);
                    self.present[MARGIN + first..][..BLOCK].fill(0);
                }
                continue;
            }
            if state.hidden.any_in(ordinal..ordinal.saturating_add(BLOCK as u32)) {
                for (distance, ordinal) in distances.iter_mut().zip(ordinal..) {
                    if state.hidden.contains(ordinal) {
                        *distance = ABSENT;
                    }
                }
            }
            if lines.is_in_order() {
                let near = self.near[MARGIN + first..].first_chunk_mut().expect("there is room for whole blocks");
                let present = self.present[MARGIN + first..].first_chunk_mut().expect("there is room for whole blocks");
                kernels::nearness(&distances, meaning.coarse(), near, present);
            } else {
                let (mut near, mut present) = ([0; BLOCK], [0; BLOCK]);
                kernels::nearness(&distances, meaning.coarse(), &mut near, &mut present);
                for at in 0..(lines.count() - first).min(BLOCK) {
                    let position = MARGIN + lines.position(u16::try_from(first + at).expect("below 65,536"));
                    (self.near[position], self.present[position]) = (near[at], present[at]);
                }
            }
        }
    }

    /// Signatures that will be compared some strips later.
    pub fn ahead<'a>(segment: &ScoredSegment<'a>, strip: usize) -> Ahead<'a> {
        let here = segment.first + u32::try_from(strip * STRIP).expect("below 65,536");
        segment.state.signatures.coarse_ahead(here.saturating_add(AHEAD), STRIP)
    }

    /// The most that an estimated cosine of a strip can be.
    pub fn most(&self, strip: usize) -> f32 {
        // The weights of a window are at most 1.51 times the length of their sum, as it is estimated.
        1.51 * f32::from(kernels::nearest(reach(&self.near, strip)).max(0)) / kernels::SAME_DIRECTION
    }

    /// Adds what meaning is worth.
    pub fn add(&self, strip: usize, linked: &[u8; REACH], weight: f32, estimates: &mut [f32; STRIP]) {
        kernels::add_meaning(reach(&self.near, strip), reach(&self.present, strip), linked, weight, estimates);
    }
}
