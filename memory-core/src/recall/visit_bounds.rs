//! Bounds a question to one of several visits: "what stood on the table on the second visit to the loft?" asks about the
//! time of that visit only.

use std::time::Duration;

use super::itinerary::{Itinerary, ItineraryStay};
use super::pool::EventPool;
use crate::language::english::question::Occurrence;
use crate::language::english::visit::visit_phrase;
use crate::{Query, ReadError};

/// What is left out at the end of a visit, where the next place comes into view.
const EDGE: Duration = Duration::from_millis(1);

/// Returns the question without the words that name a visit, bounded by that visit. `None` if it names none, or if the
/// memory does not know of it.
pub(super) fn question_of_visit(pool: &EventPool<'_>) -> Result<Option<Query>, ReadError> {
    let question = pool.question;
    let Some(phrase) = visit_phrase(question.text, &question.asked.words) else { return Ok(None) };
    let itinerary = Itinerary::load(pool)?;
    let inside = |start: usize| phrase.range.contains(&start);
    let others = question.named.iter().filter(|noun| !noun.range.is_empty() && !inside(noun.range.start));
    let mut place = None;
    for noun in phrase.nouns.iter().chain(others) {
        place = itinerary.named(noun);
        if place.is_none() {
            place = itinerary.showing(pool, noun)?;
        }
        if place.is_some() {
            break;
        }
    }
    let Some(place) = place else { return Ok(None) };
    let stays: Vec<&ItineraryStay> = itinerary.stays_at(place).collect();
    let stay = match phrase.which {
        Occurrence::First => stays.first(),
        Occurrence::Last => stays.last(),
        Occurrence::Previous => stays.len().checked_sub(2).and_then(|at| stays.get(at)),
        Occurrence::Nth(nth) => nth.checked_sub(1).and_then(|at| stays.get(at)),
    };
    let Some(stay) = stay else { return Ok(None) };
    let (before, behind) = (&question.text[..phrase.range.start], &question.text[phrase.range.end..]);
    let rest = match before.trim() {
        "" => behind.trim_start_matches([',', ' ']).to_owned(),
        before => format!("{}{}", before.trim_end_matches(','), behind),
    };
    let (start, end) = (stay.span.start, stay.span.end.saturating_sub(EDGE));
    let known = rest.contains(char::is_alphanumeric) && start < end;
    Ok(known.then(|| Query { question: rest, since: Some(start), until: Some(end), ..question.query.clone() }))
}
