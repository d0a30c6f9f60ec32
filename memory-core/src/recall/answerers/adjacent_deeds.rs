//! Answers what is done next, or was done before, from single events: the adjacent deed of the same person.

use std::time::Duration;

use crate::language::english::question::{AnswerKind, Order};
use crate::language::english::time::Tense;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::content::Content;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::is_person;
use crate::recall::retrieval::RetrievedEvents;
use crate::{Kind, ReadError, TimeSpan};

/// Longest gap between a deed and the next one.
const MAX_GAP: Duration = Duration::from_secs(3_600);
/// Minimum coverage of the deed by an event that reports it.
const MIN_DEED_COVERAGE: f32 = 0.6;
/// Minimum overlap of two reports of one deed.
const MIN_DEED_OVERLAP: f32 = 0.8;
/// Maximum number of events next to a deed that are read.
const MAX_ADJACENT_EVENTS: usize = 12;
/// Maximum number of occurrences of a deed that are read, the latest ones.
const MAX_OCCURRENCES: usize = 8;

/// Answers with the deed directly after, or before, the cue of the question.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    gathered: &RetrievedEvents,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let (Some((relation, content)), Some(cue)) = (question.searchable_cue(), gathered.cue.as_ref()) else {
        return Ok(None);
    };
    if relation.order == Order::During
        || !asks_only_for_deed(question)
        || !is_deed(cue)
        || content_share(content, cue) < MIN_DEED_COVERAGE
    {
        return Ok(None);
    }
    let mut deeds = vec![cue.clone()];
    if question.tense != Tense::Past && !question.has_time_bound() {
        let found = pool.search(question.part(&relation.range), None, content, question.hard, None)?;
        deeds = found
            .into_iter()
            .filter(|one| is_deed(one) && content_share(content, one) >= content_share(content, cue) - 0.1)
            .collect();
        deeds.sort_by_key(|one| std::cmp::Reverse((one.span().start, one.id())));
        deeds.truncate(MAX_OCCURRENCES);
    }
    let mut beside: Vec<(usize, RetrievedEvent, RetrievedEvent)> = Vec::new();
    for deed in deeds {
        let Some(next) = adjacent_deed(pool, &deed, relation.order)? else { continue };
        let same = |other: &RetrievedEvent| report_same_deed(&other.reading.event.text, &next.reading.event.text);
        match beside.iter_mut().find(|(_, known, _)| same(known)) {
            Some((count, ..)) => *count += 1,
            None => beside.push((1, next, deed)),
        }
    }
    // The latest of those that follow as often.
    let most = beside.iter().map(|(count, ..)| *count).max().unwrap_or(0);
    let Some((count, next, deed)) = beside.into_iter().find(|(count, ..)| *count == most) else { return Ok(None) };
    let reason = match (relation.order, count) {
        (Order::Before, 1) => "what the same person did right before".to_owned(),
        (_, 1) => "what the same person did right after".to_owned(),
        (Order::Before, _) => format!("what was done right before it {count} times"),
        _ => format!("what was done right after it {count} times"),
    };
    let text = next.reading.event.text.clone();
    let known = question.content.known_share().max(content_share(content, &deed));
    let evidence = vec![next, deed];
    Ok(Some(Candidate::computed(Layer::CrossModal, text.clone(), CandidateValue::Text(text), evidence, known, reason)))
}

/// Returns whether the question asks only for a deed: "what next?", "what did she do then?".
fn asks_only_for_deed(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    let general = clause.verb.as_ref().is_none_or(|verb| {
        verb.auxiliary_only || matches!(verb.lemma.as_str(), "do" | "come" | "happen" | "follow" | "go" | "get")
    });
    let own = clause
        .subject
        .as_ref()
        .is_none_or(|subject| is_person(subject) || matches!(subject.head.as_str(), "step" | "thing" | "next"));
    let nothing_else = clause.objects.is_empty() && clause.adjuncts.iter().all(|it| it.noun.is_pronoun());
    let asked =
        question.asked.class.as_ref().is_none_or(|class| matches!(class.head.as_str(), "step" | "thing" | "next"));
    matches!(question.ask(), AnswerKind::Action | AnswerKind::Next | AnswerKind::Thing | AnswerKind::Description)
        && clause.asking.is_some()
        && general
        && own
        && nothing_else
        && asked
}

fn is_deed(found: &RetrievedEvent) -> bool {
    matches!(found.reading.event.kind, Kind::Action | Kind::Caption) && found.reading.event.entity.is_some()
}

fn content_share(content: &Content, found: &RetrievedEvent) -> f32 {
    content.coverage(&found.reading).of_content
}

/// Returns the adjacent deed of the same person.
fn adjacent_deed(
    pool: &EventPool<'_>,
    deed: &RetrievedEvent,
    order: Order,
) -> Result<Option<RetrievedEvent>, ReadError> {
    let span = deed.span();
    let before = order == Order::Before;
    let window = match before {
        true => TimeSpan { start: span.start.saturating_sub(MAX_GAP), end: span.start },
        false => TimeSpan { start: span.start, end: span.end.saturating_add(MAX_GAP) },
    };
    let kinds = vec![Kind::Action, Kind::Caption];
    let mut listed =
        pool.events_in_time_order(Some(window), None, kinds, before, MAX_ADJACENT_EVENTS, &pool.question.content)?;
    listed.sort_by_key(|found| (found.span().start, found.id()));
    let place = (span.start, deed.id());
    let own = |found: &&RetrievedEvent| {
        let at = (found.span().start, found.id());
        let placed = if before { at < place } else { at > place };
        placed
            && found.reading.event.entity == deed.reading.event.entity
            && !report_same_deed(&found.reading.event.text, &deed.reading.event.text)
    };
    Ok(if before { listed.iter().rfind(own).cloned() } else { listed.iter().find(own).cloned() })
}

/// Returns whether two texts report the same deed: all but a few of their words are equal.
fn report_same_deed(a: &str, b: &str) -> bool {
    let stems = |text: &str| -> std::collections::BTreeSet<String> {
        crate::index::words(text).map(|word| crate::index::stem(&word)).collect()
    };
    let (a, b) = (stems(a), stems(b));
    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    let share = a.intersection(&b).count() as f32 / a.union(&b).count().max(1) as f32;
    share >= MIN_DEED_OVERLAP
}
