//! The meaning's share: documents whose signatures lie near the question.

use std::cell::Cell;
use std::cmp::Ordering;

use super::EXACT;
use super::filter::Mask;
use crate::index::compressed::State;
use crate::index::fusion::{NEIGHBOUR_COSINE, VECTOR_WINDOW};
use crate::index::postings::SEGMENT;
use crate::index::signature::{Estimator, HEAD_BITS, quantise};

/// How many documents a first look, by the bits in which the first 128 differ, leaves for a second one.
const FIRST_LOOK: usize = 8_192;
/// How many of those, by the estimate from the same 128 bits, are looked at with all bits.
const SECOND_LOOK: usize = 2_048;
/// How many of those that are nearest in meaning are scored, together with their neighbours.
const NEAREST: usize = 512;
/// One of so many blocks tells how far the first look goes, if it has [`ENOUGH`] documents that pass.
const SAMPLED: usize = 16;
const ENOUGH: usize = 16_384;
/// So many of the documents that are scored for their meaning may be better in context than any that is not: those have no near
/// neighbour either.
const BEYOND: usize = 112;
/// A document and its cosine, if it has one.
type Recent = (u32, Option<f32>);
/// Cosines that are kept.
const RECENT: usize = 64;
/// Twice the standard error of a cosine in context that the first bits tell.
const HEAD_ERROR: f32 = 0.17;

/// Documents that are scored for their meaning, in order, with their cosines in context.
#[derive(Default)]
pub(super) struct Near {
    pub documents: Vec<(u32, f32)>,
    /// The most that the cosine of another document is taken to be.
    pub beyond: f32,
}

/// The question and how near each document is.
pub(super) struct Meaning<'a> {
    state: &'a State,
    question: Estimator,
    /// Cosines that were looked up lately: those that are asked for in context are mostly each other's neighbours.
    recent: Box<[Cell<Recent>; RECENT]>,
}

impl<'a> Meaning<'a> {
    /// `None` if nothing can be compared.
    pub fn of(embedding: &[f32], state: &'a State) -> Option<Self> {
        let planes = state.planes.as_ref().filter(|_| !state.signatures.is_empty())?;
        let question = Estimator::of(planes, &quantise(embedding)?)?;
        Some(Self { state, question, recent: Box::new([const { Cell::new((u32::MAX, None)) }; RECENT]) })
    }

    /// Cosine of the question with a document, as its signature tells it.
    pub fn cosine(&self, ordinal: u32) -> Option<f32> {
        let place = &self.recent[ordinal as usize % RECENT];
        if place.get().0 != ordinal {
            place.set((ordinal, self.state.signatures.cosine(&self.question, ordinal)));
        }
        place.get().1
    }

    /// Cosine of the question with the weighted sum of a document's vector and its neighbours', and the share of the
    /// document's own cosine in it. The length of that sum is estimated from how similar neighbours usually are.
    pub fn context_cosine(&self, ordinal: u32) -> Option<(f32, f32)> {
        self.in_context(ordinal, |ordinal| self.cosine(ordinal))
    }

    /// More than that cosine almost certainly is, from the first bits alone; 0 for a document without a signature.
    pub fn most_in_context(&self, ordinal: u32) -> f32 {
        let (signatures, question) = (&self.state.signatures, &self.question);
        let cosine = |ordinal| Some(question.cosine_of_head(signatures.head_sum(question, ordinal)?));
        self.in_context(ordinal, cosine).map_or(0.0, |(cosine, _)| cosine + HEAD_ERROR)
    }

    fn in_context(&self, ordinal: u32, cosine: impl Fn(u32) -> Option<f32>) -> Option<(f32, f32)> {
        let own = cosine(ordinal)?;
        let (mut sum, mut weights, mut squares) = (own, VECTOR_WINDOW[0], VECTOR_WINDOW[0] * VECTOR_WINDOW[0]);
        self.for_each_neighbour(ordinal, &mut |neighbour, distance| {
            if !self.state.hidden.contains(neighbour)
                && let Some(cosine) = cosine(neighbour)
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

    fn for_each_neighbour(&self, ordinal: u32, visit: &mut impl FnMut(u32, usize)) {
        let (first, place) = (ordinal - ordinal % SEGMENT, (ordinal % SEGMENT) as u16);
        let links = self.state.links.segment((ordinal / SEGMENT) as usize);
        links.for_each_neighbour(place, &mut |neighbour, distance| visit(first + u32::from(neighbour), distance));
    }

    /// Those of the documents in `mask` that are scored for their meaning. Of up to [`EXACT`] documents, and if `all` are
    /// wanted, that is every one with a signature.
    pub fn near(&self, mask: Option<&Mask>, all: bool) -> Near {
        let total = self.state.entries.len();
        let with_cosine = |ordinal: u32| Some((ordinal, self.context_cosine(ordinal)?.0));
        if all || mask.map_or(total as usize, Mask::count) <= EXACT {
            let documents = match mask {
                Some(mask) => mask.ordinals().filter_map(with_cosine).collect(),
                None => (0..total).filter_map(with_cosine).collect(),
            };
            return Near { documents, beyond: 0.0 };
        }
        let signatures = &self.state.signatures;
        let second = self
            .at_first_look(mask)
            .into_iter()
            .filter_map(|ordinal| Some((signatures.head_sum(&self.question, ordinal)?, ordinal)))
            .collect();
        let mut second = greatest(second, SECOND_LOOK, i32::cmp);
        // In order, for the sake of the memory.
        second.sort_unstable_by_key(|(_, ordinal)| *ordinal);
        let near = second.into_iter().filter_map(|(_, ordinal)| Some((self.cosine(ordinal)?, ordinal))).collect();
        let near = greatest(near, NEAREST, f32::total_cmp);
        let mut candidates = Vec::with_capacity(near.len() * 5);
        for (_, ordinal) in near {
            candidates.push(ordinal);
            self.for_each_neighbour(ordinal, &mut |neighbour, _| {
                if mask.is_none_or(|mask| mask.contains(neighbour)) {
                    candidates.push(neighbour);
                }
            });
        }
        candidates.sort_unstable();
        candidates.dedup();
        let documents: Vec<(u32, f32)> = candidates.into_iter().filter_map(with_cosine).collect();
        let mut cosines: Vec<f32> = documents.iter().map(|(_, cosine)| *cosine).collect();
        cosines.sort_unstable_by(|a, b| b.total_cmp(a));
        Near {
            beyond: cosines.get(BEYOND.min(cosines.len().saturating_sub(1))).map_or(0.0, |it| it.max(0.0)),
            documents,
        }
    }

    /// About [`FIRST_LOOK`] documents, in order, that are nearest in the first bits of their signatures.
    fn at_first_look(&self, mask: Option<&Mask>) -> Vec<u32> {
        let passes = |ordinal: u32| mask.is_none_or(|mask| mask.contains(ordinal));
        let (signatures, question) = (&self.state.signatures, self.question.signature());
        // How many there are at each distance tells how far to go; some of the blocks tell it well enough.
        let mut farthest = u16::MAX - 1;
        for step in [SAMPLED, 1] {
            let mut counts = [0_usize; HEAD_BITS + 1];
            signatures.for_each_block(question, true, step, &mut |first, block| {
                for (ordinal, distance) in (first..).zip(block) {
                    if let Some(count) = counts.get_mut(usize::from(*distance))
                        && passes(ordinal)
                    {
                        *count += 1;
                    }
                }
            });
            let sampled: usize = counts.iter().sum();
            if sampled >= ENOUGH || step == 1 {
                let all = mask.map_or(signatures.len(), Mask::count).max(1);
                farthest = reaching(&counts, FIRST_LOOK * sampled / all);
                break;
            }
        }
        let mut near = Vec::with_capacity(FIRST_LOOK * 2);
        signatures.for_each_block(question, true, 1, &mut |first, block| {
            for (first, eight) in (first..).step_by(8).zip(block.as_chunks::<8>().0) {
                // Almost no eight hold one that is near.
                if eight.iter().fold(u16::MAX, |least, distance| least.min(*distance)) <= farthest {
                    let all = (first..).zip(eight).filter(|(_, distance)| **distance <= farthest);
                    near.extend(all.map(|(ordinal, _)| ordinal).filter(|ordinal| passes(*ordinal)));
                }
            }
        });
        near
    }
}

/// The `count` documents of the greatest values, ties by ordinal.
fn greatest<T>(mut all: Vec<(T, u32)>, count: usize, compare: impl Fn(&T, &T) -> Ordering) -> Vec<(T, u32)> {
    if all.len() > count {
        all.select_nth_unstable_by(count - 1, |a, b| compare(&b.0, &a.0).then(a.1.cmp(&b.1)));
        all.truncate(count);
    }
    all
}

/// The distance up to which at least `wanted` are counted.
fn reaching(counts: &[usize], wanted: usize) -> u16 {
    let mut found = 0;
    let enough = |count: &usize| {
        found += count;
        found >= wanted.max(1)
    };
    let farthest = counts.iter().position(enough).unwrap_or(counts.len());
    u16::try_from(farthest).expect("a few hundred distances")
}
