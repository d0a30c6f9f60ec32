//! In which order the evidence of an answer is shown.
//!
//! What people say says one thing in many words, and much of it sounds alike. An answer can be taken from a sentence that has its words,
//! while the search, which weighs every word, the meaning and what was said right before and after, finds the one that is meant. So
//! told evidence is ordered on one scale, the search's own, on which the event that answers leads the others. It is never further
//! behind than the second place: an answer is not shown without what it was taken from.

use std::collections::HashMap;

use super::answerers::rank::{ahead, of_asking};
use super::corrections::TakenBack;
use super::gather::Gathered;
use super::pool::Found;
use super::question::Question;
use crate::language::english::question::Ask;
use crate::language::english::time::Tense;
use crate::{EventId, Kind, Route};

/// How far the event that answers is ahead of its own relevance, how far an event is behind that only asks, and how far what the search
/// did not find lies behind what stands before it. Relevance is a sum of shares, about 1 to 2 for the best event.
const LEAD: f32 = 0.2;
/// Items that an answer must show at least for its event to stand second.
const FEWEST: usize = 2;

/// The evidence of an answer by `route`, in the order in which it is shown. The event that the answer was taken from comes first in
/// `evidence`.
pub(super) fn ordered(
    question: &Question<'_>,
    evidence: Vec<Found>,
    gathered: &Gathered,
    taken_back: &[TakenBack],
    route: Route,
    limit: usize,
) -> Vec<Found> {
    let answered = match route {
        Route::Detailed | Route::CrossModal => true,
        Route::None => false,
        // A procedure, a fact or a summary knows what it was made from.
        _ => return evidence,
    };
    // What an answerer looked for in other words has another relevance.
    let searched: HashMap<EventId, f32> = gathered.found.iter().map(|found| (found.id(), found.relevance)).collect();
    let relevance = |found: &Found| searched.get(&found.id()).copied().unwrap_or_default();
    let best = evidence.iter().reduce(|best, other| if relevance(other) > relevance(best) { other } else { best });
    let (Some(first), Some(best)) = (evidence.first(), best) else { return evidence };
    // What was perceived is told apart by its sense, its kind and its time, which the search does not know.
    if !is_told(first) || !is_told(best) || gathered.placed && !gathered.cue.as_ref().is_some_and(is_told) {
        return evidence;
    }
    let own = answered.then(|| first.id());
    let stays = limit < FEWEST
        || !taken_back.is_empty()
        || compares(question)
        || is_superseded(question, best, first)
        || ahead(question, &first.reading) > ahead(question, &best.reading);
    let mut before = 0.0_f32;
    let mut ranked: Vec<(f32, Found)> = Vec::with_capacity(evidence.len());
    for found in evidence {
        let asks = if found.reading.only_asks() && !of_asking(question) { LEAD } else { 0.0 };
        let relevant = relevance(&found);
        before = if relevant > 0.0 { relevant - asks } else { before - LEAD };
        let lead = if Some(found.id()) == own { LEAD } else { 0.0 };
        ranked.push((before + lead, found));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut shown: Vec<Found> = ranked.into_iter().map(|(_, found)| found).collect();
    let last = if stays { 0 } else { 1 };
    if let Some(place) = shown.iter().position(|found| Some(found.id()) == own).filter(|place| *place > last) {
        shown[last..=place].rotate_right(1);
    }
    shown
}

fn is_told(found: &Found) -> bool {
    found.reading.event.kind == Kind::Text
}

/// Whether a question asks for the most or the least of several, which only who compares them knows.
fn compares(question: &Question<'_>) -> bool {
    question.asked.scale.as_ref().is_some_and(|scale| !scale.comparative)
}

/// Whether a question asks how something is, and one event was told before the other: what was told last holds, however well the
/// search likes what was told before.
fn is_superseded(question: &Question<'_>, earlier: &Found, later: &Found) -> bool {
    let of_state = matches!(question.ask(), Ask::Place | Ask::Truth | Ask::Change | Ask::Time);
    of_state && question.tense != Tense::Past && later.span().start > earlier.span().start
}
