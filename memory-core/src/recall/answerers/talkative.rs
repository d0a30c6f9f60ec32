//! Answers who said the most or the least: "who spoke the most?", "who has talked least today?".

use std::collections::BTreeMap;

use super::ordinal::is_speech_verb;
use crate::index::words;
use crate::language::english::question::AnswerKind;
use crate::language::english::tag::Tag;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::{Question, ROBOT_ENTITY};
use crate::{Kind, ReadError};

/// Maximum number of sentences that are counted, the latest ones.
const MAX_EVENTS: usize = 600;
/// Maximum number of sentences that are shown.
const MAX_SHOWN: usize = 3;

/// Answers with the known speaker of the most or the fewest words in the time of the question.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(most) = asks_most_or_least(question) else { return Ok(None) };
    let events =
        pool.events_in_time_order(question.bound(), None, vec![Kind::Text], true, MAX_EVENTS, &question.content)?;
    let mut by_speaker: BTreeMap<String, Vec<RetrievedEvent>> = BTreeMap::new();
    for found in events {
        let speaker = found.reading.event.entity.clone().filter(|who| !who.eq_ignore_ascii_case(ROBOT_ENTITY));
        if let Some(speaker) = speaker {
            by_speaker.entry(speaker).or_default().push(found);
        }
    }
    // Of one speaker alone it is neither the most nor the least.
    if by_speaker.len() < 2 {
        return Ok(None);
    }
    let said = |events: &[RetrievedEvent]| events.iter().map(|found| words(&found.reading.event.text).count()).sum();
    let order = |events: &[RetrievedEvent]| {
        let words: usize = said(events);
        if most { usize::MAX - words } else { words }
    };
    let Some((speaker, mut own)) = by_speaker.into_iter().min_by_key(|(_, events)| order(events)) else {
        return Ok(None);
    };
    let (count, sentences): (usize, usize) = (said(&own), own.len());
    own.truncate(MAX_SHOWN);
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        speaker.clone(),
        CandidateValue::Text(speaker),
        own,
        question.content.known_share(),
        format!("{count} words in {sentences} statements, the {} of all", if most { "most" } else { "fewest" }),
    )))
}

/// Returns whether a question asks for whoever said the most, or the least. `None` if it says more than that.
fn asks_most_or_least(question: &Question<'_>) -> Option<bool> {
    let asked = &question.asked;
    let mut verbs = asked.words.iter().filter(|word| word.tag == Tag::Verb).peekable();
    let only_speaks = verbs.peek().is_some() && verbs.all(|verb| is_speech_verb(&verb.lemma));
    let nothing_else = question.content.items.iter().all(|item| item.tag == Tag::Verb) && asked.cue.is_none();
    let person = question.ask() == AnswerKind::Person && asked.subject_is_asked && !asked.negated;
    let most = asked.words.iter().find_map(|word| match word.text.as_str() {
        "most" => Some(true),
        "least" => Some(false),
        _ => None,
    })?;
    (person && only_speaks && nothing_else).then_some(most)
}
