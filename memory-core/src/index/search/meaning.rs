//! The score by meaning: the similarity of a document and its temporal neighbours to the question.

use std::cell::Cell;

use crate::index::compressed::IndexState;
use crate::index::entries::{Lines, MARGIN, STRIP};
use crate::index::fusion::{NEIGHBOUR_COSINE, VECTOR_WINDOW};
use crate::index::postings::SEGMENT;
use crate::index::signature::{Coarse, Estimator, quantise};

/// A document and its cosine, if it has one.
type RecentCosine = (u32, Option<f32>);
/// Maximum number of cosines that are cached.
const MAX_RECENT: usize = 64;

/// The question, and how near each document is.
pub(super) struct Meaning<'a> {
    state: &'a IndexState,
    question: Estimator,
    /// Cache of recent cosines: those needed for a context are mostly each other's neighbours.
    recent: Box<[Cell<RecentCosine>; MAX_RECENT]>,
}

impl<'a> Meaning<'a> {
    /// `None` if nothing can be compared.
    pub fn from_embedding(embedding: &[f32], state: &'a IndexState) -> Option<Self> {
        let planes = state.planes.as_ref().filter(|_| !state.signatures.is_empty())?;
        let question = Estimator::for_question(planes, &quantise(embedding)?)?;
        Some(Self { state, question, recent: Box::new([const { Cell::new((u32::MAX, None)) }; MAX_RECENT]) })
    }

    /// The beginning of the question's signature.
    pub fn coarse(&self) -> &Coarse {
        self.question.coarse()
    }

    /// Cosine of the question with a document, as its signature tells it.
    pub fn cosine(&self, ordinal: u32) -> Option<f32> {
        let place = &self.recent[ordinal as usize % MAX_RECENT];
        if place.get().0 != ordinal {
            place.set((ordinal, self.state.signatures.cosine(&self.question, ordinal)));
        }
        place.get().1
    }

    /// Cosine of the question with the weighted sum of a document's vector and its neighbours', and the share of the
    /// document's own cosine in it. The length of that sum is estimated from how similar neighbours usually are.
    pub fn context_cosine(&self, ordinal: u32) -> Option<(f32, f32)> {
        let (first, place) = (ordinal - ordinal % SEGMENT, (ordinal % SEGMENT) as u16);
        let links = self.state.links.segment((ordinal / SEGMENT) as usize);
        self.in_context(ordinal, |visit| {
            links.for_each_neighbour(place, &mut |neighbour, distance| visit(first + u32::from(neighbour), distance));
        })
    }

    /// The same for the document at a position of its segment's lines. Where these are in order, what links it to its neighbours was
    /// read a moment ago.
    pub fn context_cosine_at(&self, lines: &Lines, position: usize, ordinal: u32) -> Option<(f32, f32)> {
        if !lines.is_in_order() {
            return self.context_cosine(ordinal);
        }
        self.in_context(ordinal, |visit| {
            let linked = lines.linked(position / STRIP);
            let at = MARGIN + position % STRIP;
            let is_linked = |at: usize| linked[at] != 0;
            if is_linked(at) {
                visit(ordinal - 1, 1);
                if is_linked(at - 1) {
                    visit(ordinal - 2, 2);
                }
            }
            if is_linked(at + 1) {
                visit(ordinal + 1, 1);
                if is_linked(at + 2) {
                    visit(ordinal + 2, 2);
                }
            }
        })
    }

    fn in_context(&self, ordinal: u32, neighbours: impl FnOnce(&mut dyn FnMut(u32, usize))) -> Option<(f32, f32)> {
        let own = self.cosine(ordinal)?;
        let (mut sum, mut weights, mut squares) = (own, VECTOR_WINDOW[0], VECTOR_WINDOW[0] * VECTOR_WINDOW[0]);
        neighbours(&mut |neighbour, distance| {
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
}
