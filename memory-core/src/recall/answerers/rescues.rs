//! Answers who freed the robot when it was stuck: "who pulled you off the rug?".

use std::time::Duration;

use crate::language::english::closed::is_one_of;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::{Kind, ReadError, TimeSpan};

/// Time within which help comes.
const HELP_WINDOW: Duration = Duration::from_secs(7_200);
/// Maximum number of events of the robot that are read.
const MAX_ROBOT_EVENTS: usize = 400;
/// Maximum number of events after the robot got stuck that are read.
const MAX_LATER_EVENTS: usize = 60;
/// Words for being unable to move.
const STUCK_WORDS: &[&str] =
    &["stuck", "stick", "block", "blocked", "catch", "trap", "trapped", "jam", "jammed", "tangle", "entangle"];
/// Verbs for freeing somebody.
const FREEING_VERBS: &[&str] = &[
    "free", "release", "rescue", "help", "save", "pull", "lift", "untangle", "get", "drag", "push", "unstick", "take",
];

/// Answers with the person who freed the robot.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if question.ask() != AnswerKind::Person || !asks_who_freed(question) {
        return Ok(None);
    }
    let states = pool.events_in_time_order(
        question.bound(),
        None,
        vec![Kind::State, Kind::Text],
        true,
        MAX_ROBOT_EVENTS,
        &question.content,
    )?;
    let mut stuck: Vec<&RetrievedEvent> = states.iter().filter(|found| reports_stuck(&found.reading)).collect();
    stuck.sort_by(|a, b| {
        let order = (b.span().start, b.id()).cmp(&(a.span().start, a.id()));
        b.coverage.of_content.total_cmp(&a.coverage.of_content).then(order)
    });
    for told in stuck {
        let span = TimeSpan { start: told.span().start, end: told.span().end.saturating_add(HELP_WINDOW) };
        let kinds = vec![Kind::Action, Kind::Caption];
        let behind = pool.events_in_time_order(Some(span), None, kinds, false, MAX_LATER_EVENTS, &question.content)?;
        let helped = behind.iter().find_map(|found| Some((helper(&found.reading)?, found)));
        if let Some((name, found)) = helped {
            let evidence = vec![found.clone(), told.clone()];
            let known = question.content.known_share().max(0.6);
            let value = CandidateValue::Text(name.clone());
            let reason = "who freed it after it was stuck".to_owned();
            return Ok(Some(Candidate::computed(Layer::Episodes, name, value, evidence, known, reason)));
        }
    }
    Ok(None)
}

/// "Who freed you?", "who got your wheel free?"
fn asks_who_freed(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    let frees = clause.verb.as_ref().is_some_and(|verb| is_one_of(&verb.lemma, FREEING_VERBS) && !verb.negated);
    let you = |noun: &NounPhrase| {
        noun.head == "you" || noun.owner.as_ref().is_some_and(|owner| matches!(owner.head.as_str(), "you" | "your"))
    };
    let out = clause.adjuncts.iter().any(|it| matches!(it.preposition.as_str(), "off" | "out of" | "from" | "out"));
    // "Who helped you?" may ask for anything else.
    let plain = clause
        .verb
        .as_ref()
        .is_some_and(|verb| is_one_of(&verb.lemma, &["free", "release", "rescue", "untangle", "unstick"]));
    let free = clause.complements.iter().any(|(word, _)| matches!(word.as_str(), "free" | "loose" | "out" | "off"));
    question.asked.subject_is_asked && frees && clause.objects.iter().any(you) && (plain || out || free)
}

/// Returns whether an event reports that the robot cannot move.
fn reports_stuck(reading: &ParsedEvent) -> bool {
    let of_robot = reading.event.entity.as_deref().is_some_and(|entity| entity.eq_ignore_ascii_case("robot"))
        || reading.lemmas.iter().any(|(lemma, _)| lemma == "robot");
    of_robot && reading.lemmas.iter().any(|(lemma, _)| is_one_of(lemma, STUCK_WORDS))
}

/// Returns the person who does something to the robot that frees it.
fn helper(reading: &ParsedEvent) -> Option<String> {
    let robot = |noun: &NounPhrase| {
        noun.head == "robot"
            || noun.owner.as_ref().is_some_and(|owner| owner.head == "robot")
            || noun.of.as_ref().is_some_and(|of| of.head == "robot")
    };
    let frees = |clause: &&Clause| {
        let acts = clause.verb.as_ref().is_some_and(|verb| is_one_of(&verb.lemma, FREEING_VERBS) && !verb.negated);
        let adjuncts = clause.adjuncts.iter().map(|adjunct| &adjunct.noun);
        acts && clause.objects.iter().chain(adjuncts).flat_map(NounPhrase::coordinated).any(robot)
    };
    let clause = reading.clauses().find(frees)?;
    let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject)).filter(is_person)?;
    let own = reading.event.entity.clone().filter(|entity| !entity.eq_ignore_ascii_case("robot"));
    Some(own.unwrap_or_else(|| reading.phrase_text(&subject)))
}
