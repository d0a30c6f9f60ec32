//! Orders the evidence of an answer.
//!
//! Speech says one thing in many words, and many sentences are similar. An answerer can extract the answer from any
//! sentence with its words. The search weighs every word, the meaning and the context, and so finds the right sentence
//! more often. Told evidence is therefore ordered by the relevance of the search, with a margin for the event of the
//! answer. That event is second at worst: an answer is always shown with its source.

use std::collections::HashMap;

use super::answerers::rank::{asks_about_asking, refers_to_asked_future};
use super::conclusion::RecallConclusion;
use super::corrections::CorrectedStatement;
use super::extraction::ReadEvents;
use super::pool::RetrievedEvent;
use super::question::Question;
use super::retrieval::RetrievedEvents;
use crate::language::english::question::AnswerKind;
use crate::language::english::time::Tense;
use crate::{EventId, Route};

/// Relevance margin that the answering event has over its own relevance, that an event which only asks loses, and that
/// an event which the search did not find lies below its predecessor. Relevance is a sum of shares, about 1 to 2 for
/// the best event.
const RELEVANCE_MARGIN: f32 = 0.2;
/// Weight of the probability that an event answers, by a reader, beside the relevance of the search. Not fitted.
const READ_WEIGHT: f32 = 2.0;
/// Minimum number of evidence items in the answer for its event to rank second.
const MIN_EVIDENCE_FOR_SECOND_RANK: usize = 2;

/// Returns the evidence of a conclusion in display order. The event that the answer was taken from is first in
/// `evidence`.
pub(super) fn order_evidence(
    question: &Question<'_>,
    conclusion: &RecallConclusion,
    evidence: Vec<RetrievedEvent>,
    gathered: &RetrievedEvents,
    taken_back: &[CorrectedStatement],
    read: Option<&ReadEvents>,
    limit: usize,
) -> Vec<RetrievedEvent> {
    let answered = match conclusion.route {
        Route::Detailed | Route::CrossModal => true,
        Route::None => false,
        // A procedure, a fact or a summary has its own evidence.
        _ => return evidence,
    };
    // Relevance is not comparable if an answerer searched in other words.
    let searched: HashMap<EventId, f32> = gathered.found.iter().map(|found| (found.id(), found.relevance)).collect();
    // An event that certainly answers gains as much as the best event of a search has.
    let relevance = |found: &RetrievedEvent| {
        let read = read.map_or(0.0, |read| READ_WEIGHT * read.probability(found.id()));
        searched.get(&found.id()).copied().unwrap_or_default() + read
    };
    let best = evidence.iter().reduce(|best, other| if relevance(other) > relevance(best) { other } else { best });
    let (Some(first), Some(best)) = (evidence.first(), best) else { return evidence };
    // Perceived events differ in modality, kind and time, which the search does not know.
    let placed_by_told = || gathered.cue.as_ref().is_some_and(RetrievedEvent::is_told);
    if !first.is_told() || !best.is_told() || gathered.placed && !placed_by_told() {
        return evidence;
    }
    let own = answered.then(|| first.id());
    let stays = limit < MIN_EVIDENCE_FOR_SECOND_RANK
        || !taken_back.is_empty()
        || asks_first_or_last(question) && conclusion.computed
        || asks_superlative(question)
        || is_superseded(question, best, first)
        || refers_to_asked_future(question, &first.reading) > refers_to_asked_future(question, &best.reading);
    let mut before = 0.0_f32;
    let mut ranked: Vec<(f32, RetrievedEvent)> = Vec::with_capacity(evidence.len());
    for found in evidence {
        let asks = if found.reading.only_asks() && !asks_about_asking(question) { RELEVANCE_MARGIN } else { 0.0 };
        let relevant = relevance(&found);
        before = if relevant > 0.0 { relevant - asks } else { before - RELEVANCE_MARGIN };
        let lead = if Some(found.id()) == own { RELEVANCE_MARGIN } else { 0.0 };
        ranked.push((before + lead, found));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut shown: Vec<RetrievedEvent> = ranked.into_iter().map(|(_, found)| found).collect();
    let last = if stays { 0 } else { 1 };
    if let Some(place) = shown.iter().position(|found| Some(found.id()) == own).filter(|place| *place > last) {
        shown[last..=place].rotate_right(1);
    }
    shown
}

/// Returns whether a question asks for the most or the least of several. Only the comparing answerer knows that order.
fn asks_superlative(question: &Question<'_>) -> bool {
    question.asked.scale.as_ref().is_some_and(|scale| !scale.comparative)
}

/// Returns whether a question asks for the first or the last of a kind, which its place in time makes it.
fn asks_first_or_last(question: &Question<'_>) -> bool {
    question.asked.occurrence.is_some() && question.asked.alternatives.is_empty()
}

/// Returns whether a question asks for a state, and the second event is later than the first. The latest statement
/// holds, whatever the relevance of the earlier one.
fn is_superseded(question: &Question<'_>, earlier: &RetrievedEvent, later: &RetrievedEvent) -> bool {
    let of_state =
        matches!(question.ask(), AnswerKind::Place | AnswerKind::Truth | AnswerKind::Change | AnswerKind::Time);
    of_state && question.tense != Tense::Past && later.span().start > earlier.span().start
}
