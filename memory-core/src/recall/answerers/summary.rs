//! A stretch of time in a few sentences: what lasted, what is rare, what is said once although it happened often.

use std::collections::BTreeMap;

use crate::recall::candidate::{Candidate, Layer, Value};
use crate::recall::pool::{Found, Pool};
use crate::recall::question::Question;
use crate::{Kind, ReadError, TimeSpan};

/// Most words of a summary.
const WORDS: usize = 120;
/// Events that are gone through at most.
const EVENTS: usize = 2_000;

/// A summary of what the question's time and things were about.
pub(in crate::recall) fn answer(pool: &Pool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let bound = question.bound().or_else(|| question.named.is_empty().then(|| today(question)));
    let named = |noun: &&crate::language::english::syntax::NounPhrase| {
        question.content.items.iter().any(|item| item.documents > 0 && noun.lemmas().contains(&item.lemma.as_str()))
    };
    let about = question.named.iter().find(named);
    let mut events = match about {
        Some(thing) => {
            let mut found = crate::recall::pool::merged(
                pool.about(thing, bound, false, EVENTS, &question.content)?,
                pool.mentions(thing, bound, false, EVENTS, &question.content)?,
            );
            found.retain(|found| found.coverage.of_content > 0.2);
            found.sort_by_key(|found| (found.span().start, found.id()));
            found
        }
        None => pool.listing(bound, None, Vec::new(), false, EVENTS, &question.content)?,
    };
    events.retain(|found| !found.reading.only_asks() && !is_signal(found));
    if events.is_empty() {
        return Ok(None);
    }
    let chosen = chosen(&events);
    let text = told(&chosen);
    let evidence: Vec<Found> = chosen.iter().map(|place| events[*place.0].clone()).collect();
    Ok(Some(Candidate::computed(
        Layer::Gists,
        text.clone(),
        Value::Text(text),
        evidence,
        question.content.known(),
        format!("{} events in short", events.len()),
    )))
}

fn today(question: &Question<'_>) -> TimeSpan {
    let start = question.now.start_of_day().map_or(question.now.timestamp(), |start| start.timestamp());
    TimeSpan::new(start.into(), question.now.timestamp().into())
}

/// Whether it is a state of the signal and nothing that happened.
fn is_signal(found: &Found) -> bool {
    found.reading.event.attributes.contains_key("signal")
}

/// The events that are told, in order of time, each with how often it happened.
fn chosen(events: &[Found]) -> Vec<(Box<usize>, usize, String)> {
    // Equal texts are one, told once.
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, found) in events.iter().enumerate() {
        let event = &found.reading.event;
        let key = match event.attributes.get("task").and_then(crate::Value::as_text) {
            Some(task) if event.kind == Kind::Action => format!("task {task}"),
            _ => event.text.to_lowercase(),
        };
        groups.entry(key).or_default().push(place);
    }
    let weight = |places: &[usize]| {
        let kind = |found: &Found| match found.reading.event.kind {
            Kind::Caption => 1.2,
            Kind::Text | Kind::Action => 1.0,
            Kind::State | Kind::Entity => 0.8,
            Kind::Sound => 0.5,
            Kind::Object => 0.2,
        };
        let first = &events[places[0]];
        let length: f64 =
            places.iter().map(|place| events[*place].span().end.since(events[*place].span().start).as_secs_f64()).sum();
        #[expect(clippy::cast_precision_loss, reason = "repetitions of an event")]
        let rare = 1.0 / (places.len() as f64).sqrt();
        kind(first) * (1.0 + 0.3 * (1.0 + length / 60.0).ln() + 0.3 * rare)
    };
    let mut ranked: Vec<(f64, String, Vec<usize>)> =
        groups.into_iter().map(|(key, places)| (weight(&places), key, places)).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.cmp(&b.2)));
    let mut words = 0;
    let mut chosen: Vec<(Box<usize>, usize, String)> = Vec::new();
    for (_, key, places) in ranked {
        let text = match key.strip_prefix("task ") {
            Some(task) => {
                let entity = events[places[0]].reading.event.entity.clone().unwrap_or_default();
                format!("{entity}: {task}")
            }
            None => short(&events[places[0]].reading.event.text),
        };
        let count = text.split_whitespace().count() + 3;
        if words + count > WORDS && !chosen.is_empty() {
            continue;
        }
        words += count;
        chosen.push((Box::new(places[0]), places.len(), text));
    }
    chosen.sort_by_key(|(place, ..)| (events[**place].span().start, **place));
    chosen
}

/// The first sentence, cut at a length that reads well.
fn short(text: &str) -> String {
    let end = text
        .char_indices()
        .find(|(at, c)| matches!(c, '.' | '!' | '?') && text[at + 1..].starts_with(' '))
        .map_or(text.len(), |(at, _)| at);
    let words: Vec<&str> = text[..end].split_whitespace().collect();
    let cut = words.iter().take(18).copied().collect::<Vec<_>>().join(" ");
    if words.len() > 18 { format!("{cut} …") } else { cut.trim_end_matches('.').to_owned() }
}

fn told(chosen: &[(Box<usize>, usize, String)]) -> String {
    let sentences: Vec<String> = chosen
        .iter()
        .map(|(_, count, text)| match count {
            1 => format!("{}.", text.trim_end_matches('.')),
            count => format!("{} ({count} times).", text.trim_end_matches('.')),
        })
        .collect();
    sentences.join(" ")
}

/// Whether a question for what somebody did means a longer stretch: nothing but persons is named, for an hour or more.
pub(in crate::recall) fn is_wide(question: &Question<'_>) -> bool {
    let long = question
        .bound()
        .filter(|_| question.is_bounded())
        .is_some_and(|bound| bound.end.since(bound.start).as_secs() >= 3_600);
    let persons = question.content.items.iter().all(|item| {
        item.light
            || question.named.iter().any(|noun| crate::recall::reading::is_person(noun) && noun.head == item.lemma)
            || item.lemma == crate::recall::question::ITSELF
    });
    long && persons && question.asked.cue.is_none()
}
