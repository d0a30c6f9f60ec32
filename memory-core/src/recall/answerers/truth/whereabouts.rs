//! Answers whether something is at a place, or takes place at a time: by the latest told place or time.

use super::{MIN_THING_SIMILARITY, verdict_candidate};
use crate::language::english::closed::PLACE_PREPOSITIONS;
use crate::language::english::time::Tense;
use crate::recall::answerers::{places, times};
use crate::recall::candidate::{Candidate, CandidateValue};
use crate::recall::content::word_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::reading::is_person;
use crate::{ReadError, TimeSpan, Timestamp};

/// Verbs of coming and going.
const COMING_AND_GOING: &[&str] = &["come", "arrive", "leave"];
/// Longest span of a told clock time.
const MAX_CLOCK_SPAN: std::time::Duration = std::time::Duration::from_secs(3_600);
/// Maximum difference of two equal clock times, in minutes.
const CLOCK_TOLERANCE_MIN: i32 = 10;

/// Answers "does the coach arrive on Sunday?" by the latest told future time. Whoever arrives is also there: this goes
/// before the states.
pub(super) fn verdict_by_arrival(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let verb = pool.question.asked.clause.verb.as_ref().map_or("", |verb| verb.lemma.as_str());
    if COMING_AND_GOING.contains(&verb) { verdict_by_time(pool, pooled) } else { Ok(None) }
}

/// Answers "is the meeting still at ten?" by the latest told future time.
pub(super) fn verdict_by_time(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().map_or("", |verb| verb.lemma.as_str());
    let comes = COMING_AND_GOING.contains(&verb);
    let takes_place = comes || matches!(verb, "be" | "start" | "begin" | "take" | "open" | "close");
    let [asked] = question.phrases.as_slice() else { return Ok(None) };
    let alone =
        clause.objects.is_empty() && clause.complements.iter().all(|(word, _)| word == "still" || word == "now");
    // "Is Ivo there at ten?" asks for more than a time.
    // "Is anybody coming on Sunday?" asks for whoever it is.
    let timed = clause.subject.as_ref().is_some_and(|it| (comes || !is_person(it)) && !it.is_pronoun());
    let to_come = question.tense != Tense::Past && timed;
    if !takes_place || !alone || !to_come {
        return Ok(None);
    }
    let Some(told) = times::told_future_time(pool, pooled)? else { return Ok(None) };
    let (CandidateValue::Times(spans), Some(event)) = (&told.value, told.evidence.first().cloned()) else {
        return Ok(None);
    };
    // When another one comes says nothing of this one.
    if told.signals.thing < MIN_THING_SIMILARITY {
        return Ok(None);
    }
    let Some(span) = spans.first() else { return Ok(None) };
    let zone = question.now.time_zone();
    let minute = |at: Timestamp| {
        let time = at.to_jiff().to_zoned(zone.clone());
        (i32::from(time.hour()) * 60 + i32::from(time.minute()), time.date())
    };
    let middle = |span: TimeSpan| span.start.saturating_add(span.end.since(span.start) / 2);
    let ((asked_at, asked_on), (told_at, told_on)) = (minute(middle(asked.named)), minute(span.start));
    let hours = asked.named.end.since(asked.named.start) <= MAX_CLOCK_SPAN;
    if hours && span.end.since(span.start) > MAX_CLOCK_SPAN {
        return Ok(None);
    }
    // A clock time matches any day, and either half of the day if none is given.
    let apart = (asked_at - told_at).rem_euclid(12 * 60);
    let same = if hours {
        apart.min(12 * 60 - apart) <= CLOCK_TOLERANCE_MIN
    } else {
        asked_on == told_on || asked.named.overlaps(*span)
    };
    let yes = same != question.asked.has_negated_verb();
    let mut said = verdict_candidate(pool, &event, yes, pooled, "by the time that was told last");
    said.text = format!("{}: {}", if yes { "Yes" } else { "No" }, told.text);
    // A reader of the single events compares no times.
    said.computed = true;
    Ok(Some(said))
}

/// Answers "is the ladder in the hall?" by the latest place.
pub(super) fn verdict_by_place(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let being = clause.verb.as_ref().is_some_and(|verb| {
        matches!(
            verb.lemma.as_str(),
            "be" | "stand" | "lie" | "hang" | "sit" | "stay" | "park" | "leave" | "keep" | "put"
        ) && clause.objects.is_empty()
            // A person who "has been to the town" may have left.
            && !(verb.perfect && clause.adjuncts.iter().any(|adjunct| adjunct.preposition == "to"))
    });
    let asked: Vec<&str> = clause
        .adjuncts
        .iter()
        .filter(|adjunct| PLACE_PREPOSITIONS.contains(&adjunct.preposition.as_str()))
        .map(|adjunct| adjunct.noun.head.as_str())
        .collect();
    let Some(place) = asked.first().filter(|_| being) else { return Ok(None) };
    let Some(found) = places::answer(pool, pooled, None)? else { return Ok(None) };
    let words: Vec<String> = crate::index::words(&found.text).collect();
    let there = words.iter().any(|word| word_similarity(place, word) >= 0.8);
    let Some(event) = found.evidence.first().cloned() else { return Ok(None) };
    let yes = there != question.asked.has_negated_verb();
    let mut said = verdict_candidate(pool, &event, yes, pooled, "by the latest place that was told");
    said.signals.thing = found.signals.thing;
    Ok(Some(said))
}
