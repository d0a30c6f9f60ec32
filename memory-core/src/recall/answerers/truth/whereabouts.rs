//! Whether something is at a place, or takes place at a time: by the place or the time that was told last.

use super::said;
use crate::language::english::closed::PLACING;
use crate::language::english::time::Tense;
use crate::recall::answerers::{places, times};
use crate::recall::candidate::{Candidate, Value};
use crate::recall::content::word_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::reading::is_person;
use crate::{ReadError, TimeSpan, Timestamp};

/// A told time up to this length is one of the clock.
const EXACT: std::time::Duration = std::time::Duration::from_secs(3_600);
/// So near, in minutes, two times of the clock are one.
const NEAR_THE_HOUR: i32 = 10;

/// "Is the meeting still at ten?": by the time that was told last of what is to come.
pub(super) fn by_time(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().map_or("", |verb| verb.lemma.as_str());
    let takes_place =
        matches!(verb, "be" | "start" | "begin" | "take" | "come" | "arrive" | "leave" | "open" | "close");
    let [asked] = question.phrases.as_slice() else { return Ok(None) };
    let alone =
        clause.objects.is_empty() && clause.complements.iter().all(|(word, _)| word == "still" || word == "now");
    let to_come = question.tense != Tense::Past && clause.subject.as_ref().is_some_and(|it| !is_person(it));
    if !takes_place || !alone || !to_come {
        return Ok(None);
    }
    let Some(told) = times::told(pool, pooled)? else { return Ok(None) };
    let (Value::Times(spans), Some(event)) = (&told.value, told.evidence.first().cloned()) else { return Ok(None) };
    let Some(span) = spans.first() else { return Ok(None) };
    let zone = question.now.time_zone();
    let minute = |at: Timestamp| {
        let time = at.to_jiff().to_zoned(zone.clone());
        (i32::from(time.hour()) * 60 + i32::from(time.minute()), time.date())
    };
    let middle = |span: TimeSpan| span.start.saturating_add(span.end.since(span.start) / 2);
    let ((asked_at, asked_on), (told_at, told_on)) = (minute(middle(asked.named)), minute(span.start));
    let hours = asked.named.end.since(asked.named.start) <= EXACT;
    if hours && span.end.since(span.start) > EXACT {
        return Ok(None);
    }
    // A time of the clock is meant of any day, and either half of it where none is said.
    let apart = (asked_at - told_at).rem_euclid(12 * 60);
    let same = if hours {
        apart.min(12 * 60 - apart) <= NEAR_THE_HOUR
    } else {
        asked_on == told_on || asked.named.overlaps(*span)
    };
    let yes = same != question.asked.negated_verb();
    let mut said = said(pool, &event, yes, pooled, "by the time that was told last");
    said.text = format!("{}: {}", if yes { "Yes" } else { "No" }, told.text);
    Ok(Some(said))
}

/// "Is the ladder in the hall?": by the place where it is.
pub(super) fn by_place(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let being = clause.verb.as_ref().is_some_and(|verb| {
        matches!(
            verb.lemma.as_str(),
            "be" | "stand" | "lie" | "hang" | "sit" | "stay" | "park" | "leave" | "keep" | "put"
        ) && clause.objects.is_empty()
            // Who "has been to the town" need not be there now.
            && !(verb.perfect && clause.adjuncts.iter().any(|adjunct| adjunct.preposition == "to"))
    });
    let asked: Vec<&str> = clause
        .adjuncts
        .iter()
        .filter(|adjunct| PLACING.contains(&adjunct.preposition.as_str()))
        .map(|adjunct| adjunct.noun.head.as_str())
        .collect();
    let Some(place) = asked.first().filter(|_| being) else { return Ok(None) };
    let Some(found) = places::answer(pool, pooled, None)? else { return Ok(None) };
    let words: Vec<String> = crate::index::words(&found.text).collect();
    let there = words.iter().any(|word| word_similarity(place, word) >= 0.8);
    let Some(event) = found.evidence.first().cloned() else { return Ok(None) };
    let yes = there != question.asked.negated_verb();
    let mut said = said(pool, &event, yes, pooled, "by the latest place that was told");
    said.signals.thing = found.signals.thing;
    Ok(Some(said))
}
