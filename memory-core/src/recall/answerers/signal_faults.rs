//! Answers what was wrong with the picture or the sound: "did your camera give you trouble?".

use crate::language::english::faults::{self, FaultySignal};
use crate::language::english::letters::capitalised;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::parse;
use crate::language::english::time::say_moment;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::ParsedEvent;
use crate::{Kind, Modality, ReadError, Value as Attribute};

/// Maximum number of events that are read.
const MAX_EVENTS: usize = 5_000;
/// Maximum number of times of one fault in an answer.
const MAX_TIMES_PER_FAULT: usize = 5;
/// Maximum number of faults in an answer.
const MAX_FAULTS: usize = 6;

/// Answers with the faults of the recorded signal.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(sense) = asked_modality(question) else { return Ok(None) };
    let kinds = vec![Kind::State, Kind::Sound];
    let mut events = pool.events_in_time_order(question.bound(), sense, kinds, false, MAX_EVENTS, &question.content)?;
    events.retain(|found| reports_signal_fault(&found.reading));
    // Darkness may be due to the place and not to the camera.
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
    let told = faults.iter().take(MAX_FAULTS).map(|(text, times)| {
        let begins: Vec<String> =
            times.iter().take(MAX_TIMES_PER_FAULT).map(|it| say_moment(it.span().start, &question.now)).collect();
        format!("{text}, {}{}", begins.join(", "), if times.len() > MAX_TIMES_PER_FAULT { ", …" } else { "" })
    });
    let yes = if question.ask() == AnswerKind::Truth { "Yes: " } else { "" };
    let text = format!("{yes}{}.", told.collect::<Vec<_>>().join("; "));
    let value = match question.ask() {
        AnswerKind::Truth => CandidateValue::Truth(true),
        _ => CandidateValue::List(faults.iter().map(|(text, _)| text.clone()).collect()),
    };
    let reason = format!("{} times the signal was not as it should be", events.len());
    Ok(Some(Candidate::computed(Layer::Episodes, capitalised(&text), value, events, 1.0, reason)))
}

/// Returns whether an event reports a fault of the signal: noted by the senses, or told as a state.
fn reports_signal_fault(reading: &ParsedEvent) -> bool {
    let event = &reading.event;
    let told = || {
        let (words, _) = parse(&event.text, &[]);
        event.kind == Kind::State && event.entity.is_none() && faults::faulty_signal(words.iter()).is_some()
    };
    event.attributes.contains_key("signal") || told()
}

/// Returns the modality whose faults are asked for (`Some(None)`: both), if any.
fn asked_modality(question: &Question<'_>) -> Option<Option<Modality>> {
    let asks = matches!(
        question.ask(),
        AnswerKind::Thing
            | AnswerKind::Description
            | AnswerKind::Action
            | AnswerKind::Truth
            | AnswerKind::Way
            | AnswerKind::Reason
            | AnswerKind::Place
            | AnswerKind::Summary
    );
    if !asks || question.asked.cue.is_some() {
        return None;
    }
    let main = &question.asked.main;
    let words = question.asked.words.iter();
    match faults::faulty_signal(words.filter(|word| main.start <= word.range.start && word.range.end <= main.end))? {
        FaultySignal::Picture => Some(Some(Modality::Visual)),
        FaultySignal::Sound => Some(Some(Modality::Audio)),
        FaultySignal::Either => Some(None),
    }
}
