//! What was wrong with the picture or the sound: "did your camera give you trouble?".

use crate::language::english::faults::{self, Faulty};
use crate::language::english::question::Ask;
use crate::language::english::syntax::parse;
use crate::language::english::time::moment;
use crate::recall::answerers::places::capitalised;
use crate::recall::candidate::{Candidate, Layer, Value};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::ParsedEvent;
use crate::{Kind, Modality, ReadError, Value as Attribute};

/// Events that are gone through.
const EVENTS: usize = 5_000;
/// Most times of one fault that are told, and most faults.
const TIMES: usize = 5;
const LISTED: usize = 6;

/// The faults of the signal that was recorded, where the question asks for them.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(sense) = asked_for(question) else { return Ok(None) };
    let kinds = vec![Kind::State, Kind::Sound];
    let mut events = pool.events_in_time_order(question.bound(), sense, kinds, false, EVENTS, &question.content)?;
    events.retain(|found| is_fault(&found.reading));
    // That the light is out may be the place's fault and not the camera's.
    let dark = |found: &RetrievedEvent| {
        found.reading.event.attributes.get("signal").and_then(Attribute::as_text) == Some("dark")
    };
    events.sort_by_key(|found| (dark(found), found.span().start, found.id()));
    if events.is_empty() {
        return Ok(None);
    }
    let mut faults: Vec<(String, Vec<&RetrievedEvent>)> = Vec::new();
    for found in &events {
        let text = found.reading.event.text.trim_end_matches('.');
        match faults.iter_mut().find(|(known, _)| known == text) {
            Some((_, times)) => times.push(found),
            None => faults.push((text.to_owned(), vec![found])),
        }
    }
    let told = faults.iter().take(LISTED).map(|(text, times)| {
        let begins: Vec<String> = times.iter().take(TIMES).map(|it| moment(it.span().start, &question.now)).collect();
        format!("{text}, {}{}", begins.join(", "), if times.len() > TIMES { ", …" } else { "" })
    });
    let yes = if question.ask() == Ask::Truth { "Yes: " } else { "" };
    let text = format!("{yes}{}.", told.collect::<Vec<_>>().join("; "));
    let value = match question.ask() {
        Ask::Truth => Value::Truth(true),
        _ => Value::List(faults.iter().map(|(text, _)| text.clone()).collect()),
    };
    let reason = format!("{} times the signal was not as it should be", events.len());
    Ok(Some(Candidate::computed(Layer::Episodes, capitalised(&text), value, events, 1.0, reason)))
}

/// Whether an event tells of a fault of the signal: as the senses noted it, or in words that were told of a state.
fn is_fault(reading: &ParsedEvent) -> bool {
    let event = &reading.event;
    let told = || {
        let (words, _) = parse(&event.text, &[]);
        event.kind == Kind::State && event.entity.is_none() && faults::of_signal(words.iter()).is_some()
    };
    event.attributes.contains_key("signal") || told()
}

/// The sense whose faults are asked for (`Some(None)`: both), if any are.
fn asked_for(question: &Question<'_>) -> Option<Option<Modality>> {
    let asks = matches!(
        question.ask(),
        Ask::Thing | Ask::Description | Ask::Action | Ask::Truth | Ask::Way | Ask::Reason | Ask::Place | Ask::Summary
    );
    if !asks || question.asked.cue.is_some() {
        return None;
    }
    let main = &question.asked.main;
    let words = question.asked.words.iter();
    match faults::of_signal(words.filter(|word| main.start <= word.range.start && word.range.end <= main.end))? {
        Faulty::Picture => Some(Some(Modality::Visual)),
        Faulty::Sound => Some(Some(Modality::Audio)),
        Faulty::Either => Some(None),
    }
}
