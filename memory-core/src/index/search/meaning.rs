//! The meaning's share: documents whose signatures lie near the question.

use super::EXACT;
use super::filter::Mask;
use crate::index::compressed::State;
use crate::index::entries::SegmentLinks;
use crate::index::fusion::{NEIGHBOUR_COSINE, VECTOR_WINDOW};
use crate::index::postings::SEGMENT;
use crate::index::signature::{Estimator, quantise};

/// How many documents a first look, at 128 bits, leaves for a second one.
const FIRST_LOOK: usize = 4_096;
/// How many of those that are nearest in meaning are scored, together with their neighbours.
const NEAREST: usize = 512;

/// The question and how near each document is.
pub(super) struct Meaning<'a> {
    state: &'a State,
    question: Estimator,
}

impl<'a> Meaning<'a> {
    /// `None` if nothing can be compared.
    pub fn of(embedding: &[f32], state: &'a State) -> Option<Self> {
        let planes = state.planes.as_ref().filter(|_| !state.signatures.is_empty())?;
        let question = Estimator::of(planes, &quantise(embedding)?)?;
        Some(Self { state, question })
    }

    /// Cosine of the question with a document, as its signature tells it.
    pub fn cosine(&self, ordinal: u32) -> Option<f32> {
        self.state.signatures.cosine(&self.question, ordinal)
    }

    /// Cosine of the question with the weighted sum of a document's vector and its neighbours', and the share of the
    /// document's own cosine in it. The length of that sum is estimated from how similar neighbours usually are.
    pub fn context_cosine(&self, first: u32, place: u16, links: SegmentLinks<'_>) -> Option<(f32, f32)> {
        let own = self.cosine(first + u32::from(place))?;
        let (mut sum, mut weights, mut squares) = (own, VECTOR_WINDOW[0], VECTOR_WINDOW[0] * VECTOR_WINDOW[0]);
        links.for_each_neighbour(place, &mut |neighbour, distance| {
            let neighbour = first + u32::from(neighbour);
            if !self.state.hidden.contains(neighbour)
                && let Some(cosine) = self.cosine(neighbour)
            {
                let weight = VECTOR_WINDOW[distance];
                sum += weight * cosine;
                weights += weight;
                squares += weight * weight;
            }
        });
        let length = (squares * (1.0 - NEIGHBOUR_COSINE) + weights * weights * NEIGHBOUR_COSINE).sqrt();
        Some((sum / length, VECTOR_WINDOW[0] / length))
    }

    /// Those of the documents in `mask` that are scored for their meaning, in order: the nearest ones and their neighbours. Of
    /// up to [`EXACT`] documents, and if `all` are wanted, that is every one with a signature.
    pub fn candidates(&self, mask: Option<&Mask>, all: bool) -> Vec<u32> {
        let total = self.state.entries.len();
        if all || mask.map_or(total as usize, Mask::count) <= EXACT {
            let has = |ordinal: &u32| self.state.signatures.has(*ordinal);
            return match mask {
                Some(mask) => mask.ordinals().filter(has).collect(),
                None => (0..total).filter(has).collect(),
            };
        }
        let mut near: Vec<(f32, u32)> =
            self.at_first_look(mask).into_iter().filter_map(|ordinal| Some((self.cosine(ordinal)?, ordinal))).collect();
        if near.len() > NEAREST {
            near.select_nth_unstable_by(NEAREST - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            near.truncate(NEAREST);
        }
        let mut candidates = Vec::with_capacity(near.len() * 3);
        for (_, ordinal) in near {
            let (first, place) = (ordinal - ordinal % SEGMENT, (ordinal % SEGMENT) as u16);
            candidates.push(ordinal);
            self.state.links.segment((ordinal / SEGMENT) as usize).for_each_neighbour(place, &mut |neighbour, _| {
                let neighbour = first + u32::from(neighbour);
                if mask.is_none_or(|mask| mask.contains(neighbour)) && self.state.signatures.has(neighbour) {
                    candidates.push(neighbour);
                }
            });
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// About [`FIRST_LOOK`] documents that are nearest in the first bits of their signatures.
    fn at_first_look(&self, mask: Option<&Mask>) -> Vec<u32> {
        let passes = |ordinal: u32| mask.is_none_or(|mask| mask.contains(ordinal));
        let mut distances = Vec::with_capacity(self.state.entries.len() as usize);
        self.state.signatures.for_each_block(self.question.signature(), true, &mut |first, block| {
            distances.resize(first as usize, u8::MAX);
            distances.extend(block.iter().map(|distance| u8::try_from(*distance).unwrap_or(u8::MAX)));
        });
        // How many there are at each distance tells how far to go.
        let mut counts = [0_usize; 256];
        match mask {
            None => distances.iter().for_each(|distance| counts[usize::from(*distance)] += 1),
            Some(mask) => mask.ordinals().for_each(|ordinal| {
                counts[usize::from(distances.get(ordinal as usize).copied().unwrap_or(u8::MAX))] += 1;
            }),
        }
        let mut found = 0;
        let mut farthest = 0;
        for (distance, count) in counts.iter().enumerate().take(usize::from(u8::MAX)) {
            found += count;
            farthest = distance;
            if found >= FIRST_LOOK {
                break;
            }
        }
        let mut near = Vec::with_capacity(found);
        for (first, eight) in (0..).step_by(8).zip(distances.chunks(8)) {
            // Almost no eight hold one that is near.
            if eight.iter().any(|distance| usize::from(*distance) <= farthest) {
                let all = (first..).zip(eight).filter(|(_, distance)| usize::from(**distance) <= farthest);
                near.extend(all.map(|(ordinal, _)| ordinal).filter(|ordinal| passes(*ordinal)));
            }
        }
        near
    }
}
