//! What is done next, or was done before, where only single events tell it: the deed beside the one that a question names, by the
//! same person.

use std::time::Duration;

use crate::language::english::question::{Ask, Order};
use crate::language::english::time::Tense;
use crate::recall::candidate::{Candidate, Layer, Value};
use crate::recall::content::Content;
use crate::recall::gather::RetrievedEvents;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::is_person;
use crate::{Kind, ReadError, TimeSpan};

/// What somebody does so long after a deed is no part of it.
const SOON: Duration = Duration::from_secs(3_600);
/// How much of the deed an event holds at least that is it.
const SAME_DEED: f32 = 0.6;
/// How much of one deed another one holds that is the same.
const ALIKE: f32 = 0.8;
/// Events beside a deed that are looked at.
const BESIDE: usize = 12;
/// Occurrences of a deed that are looked at, the latest.
const OCCURRENCES: usize = 8;

/// The deed right after, or before, the one that the question is placed by.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    gathered: &RetrievedEvents,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let (Some((relation, content)), Some(cue)) = (question.searchable_cue(), gathered.cue.as_ref()) else {
        return Ok(None);
    };
    if relation.order == Order::During || !asks_deed(question) || !is_deed(cue) || share(content, cue) < SAME_DEED {
        return Ok(None);
    }
    let mut deeds = vec![cue.clone()];
    if question.tense != Tense::Past && !question.has_time_bound() {
        let found = pool.search(question.part(&relation.range), None, content, question.hard, None)?;
        deeds =
            found.into_iter().filter(|one| is_deed(one) && share(content, one) >= share(content, cue) - 0.1).collect();
        deeds.sort_by_key(|one| std::cmp::Reverse((one.span().start, one.id())));
        deeds.truncate(OCCURRENCES);
    }
    let mut beside: Vec<(usize, RetrievedEvent, RetrievedEvent)> = Vec::new();
    for deed in deeds {
        let Some(next) = neighbour(pool, &deed, relation.order)? else { continue };
        let same = |other: &RetrievedEvent| alike(&other.reading.event.text, &next.reading.event.text);
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
    let known = question.content.known_share().max(share(content, &deed));
    let evidence = vec![next, deed];
    Ok(Some(Candidate::computed(Layer::CrossModal, text.clone(), Value::Text(text), evidence, known, reason)))
}

/// Whether nothing is asked but what is done: "what next?", "what did she do then?".
fn asks_deed(question: &Question<'_>) -> bool {
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
    matches!(question.ask(), Ask::Action | Ask::Next | Ask::Thing | Ask::Description)
        && clause.asking.is_some()
        && general
        && own
        && nothing_else
        && asked
}

fn is_deed(found: &RetrievedEvent) -> bool {
    matches!(found.reading.event.kind, Kind::Action | Kind::Caption) && found.reading.event.entity.is_some()
}

fn share(content: &Content, found: &RetrievedEvent) -> f32 {
    content.coverage(&found.reading).of_content
}

/// What the same person did beside a deed.
fn neighbour(pool: &EventPool<'_>, deed: &RetrievedEvent, order: Order) -> Result<Option<RetrievedEvent>, ReadError> {
    let span = deed.span();
    let before = order == Order::Before;
    let window = match before {
        true => TimeSpan { start: span.start.saturating_sub(SOON), end: span.start },
        false => TimeSpan { start: span.start, end: span.end.saturating_add(SOON) },
    };
    let kinds = vec![Kind::Action, Kind::Caption];
    let mut listed = pool.events_in_time_order(Some(window), None, kinds, before, BESIDE, &pool.question.content)?;
    listed.sort_by_key(|found| (found.span().start, found.id()));
    let place = (span.start, deed.id());
    let own = |found: &&RetrievedEvent| {
        let at = (found.span().start, found.id());
        let placed = if before { at < place } else { at > place };
        placed
            && found.reading.event.entity == deed.reading.event.entity
            && !alike(&found.reading.event.text, &deed.reading.event.text)
    };
    Ok(if before { listed.iter().rfind(own).cloned() } else { listed.iter().find(own).cloned() })
}

/// Whether two texts tell the same deed: all but a few of their words are the same.
fn alike(a: &str, b: &str) -> bool {
    let stems = |text: &str| -> std::collections::BTreeSet<String> {
        crate::index::words(text).map(|word| crate::index::stem(&word)).collect()
    };
    let (a, b) = (stems(a), stems(b));
    #[expect(clippy::cast_precision_loss, reason = "a few words")]
    let share = a.intersection(&b).count() as f32 / a.union(&b).count().max(1) as f32;
    share >= ALIKE
}
