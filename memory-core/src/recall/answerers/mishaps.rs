//! Answers who broke something by what they did to it: "I knocked the vase off the shelf" for "who broke the
//! vase?".

use crate::language::english::closed::is_one_of;
use crate::language::english::letters::capitalised;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::reading::is_person;
use crate::{Kind, ReadError};

/// Maximum number of events of the thing that are read, the latest ones.
const MAX_EVENTS: usize = 200;
/// Minimum similarity of two phrases for one thing.
const MIN_THING_SIMILARITY: f32 = 0.8;

/// Verbs for what becomes of a thing that breaks.
const BREAKING_VERBS: &[&str] = &["break", "smash", "shatter", "crack", "chip", "damage"];
/// Deeds that break a thing.
const BREAKING_DEEDS: &[&str] =
    &["break", "smash", "shatter", "crack", "chip", "damage", "snap", "knock", "drop", "topple", "upset", "tip"];

/// Answers from the latest event in which somebody does such a thing.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let asked = clause.verb.as_ref().filter(|verb| !verb.negated && question.asked.subject_is_asked);
    let Some(verb) = asked.filter(|_| question.ask() == AnswerKind::Person && question.asked.cue.is_none()) else {
        return Ok(None);
    };
    let mut things = clause.objects.iter().chain(&question.named).filter(|noun| !noun.is_pronoun() && !is_person(noun));
    let Some(thing) = things.next().filter(|_| is_one_of(&verb.lemma, BREAKING_VERBS)) else { return Ok(None) };
    let mut events =
        pool.events_mentioning(&thing.head_alone(), question.bound(), true, MAX_EVENTS, &question.content)?;
    events.sort_by_key(|found| (found.span().start, found.id()));
    let Some((who, found)) = events.into_iter().rev().find_map(|found| Some((doer(&found, thing)?, found))) else {
        return Ok(None);
    };
    let text = capitalised(&who);
    let value = CandidateValue::Text(text.clone());
    let reason = "who did what broke it".into();
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, vec![found], 1.0, reason)))
}

/// Returns who does something to a thing in an event that breaks it.
fn doer(found: &RetrievedEvent, thing: &NounPhrase) -> Option<String> {
    let reading = &found.reading;
    let seen = reading.event.kind != Kind::Text;
    let is_thing = |noun: &NounPhrase| {
        reading.resolve(noun).is_some_and(|told| phrase_similarity(thing, &told, reading) >= MIN_THING_SIMILARITY)
    };
    let does = |clause: &&Clause| {
        clause.verb.as_ref().is_some_and(|verb| {
            is_one_of(&verb.lemma, BREAKING_DEEDS)
                && (verb.past || verb.perfect || seen)
                && !(verb.negated || verb.future || verb.passive || verb.modal.is_some())
        }) && clause.objects.iter().flat_map(NounPhrase::coordinated).any(is_thing)
    };
    actor(found, reading.clauses().find(does)?)
}

/// Returns who does what a clause of an event tells.
pub(super) fn actor(found: &RetrievedEvent, clause: &Clause) -> Option<String> {
    let reading = &found.reading;
    let subject = clause.subject.as_ref()?;
    let meant = reading.resolve(subject)?;
    match subject.is_pronoun() && meant.range.is_empty() {
        true => reading.event.entity.clone(),
        false => {
            Some(reading.in_third_person(&reading.phrase_text(if subject.is_pronoun() { &meant } else { subject })))
        }
    }
}
