//! Yes or no, with the reason: by what is known of the state, the place or the time that is asked about, else by what happened.

mod deeds;
mod state;
mod whereabouts;

use crate::ReadError;
use crate::language::english::question::Ask;
use crate::language::english::time::Tense;
use crate::recall::answerers::quote::quote;
use crate::recall::answerers::times::margin;
use crate::recall::answerers::{absent, apart, kin};
use crate::recall::candidate::{Candidate, Layer, Signals, Value};
use crate::recall::corrections::CorrectedStatement;
use crate::recall::denial::excluding_event;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};

/// From here something was done with the thing that is asked about.
const SAID_OF_IT: f32 = 0.8;
/// How much of a question memory must have heard of to say no because nothing tells it.
const KNOWN: f32 = 0.6;
/// How much of a question an event must hold to say yes to it.
const SAYS_IT: f32 = 0.55;

/// One way to know whether something is so.
type Verdict = fn(&EventPool<'_>, &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError>;

/// The ways, the most certain first: what was put right, states, who belongs together, places and times, corrections, deeds.
const IN_TURN: [Verdict; 10] = [
    state::mended,
    state::told,
    |pool, _| apart::answer(pool),
    |pool, _| kin::verify_relation(pool),
    attended,
    one_left_out,
    whereabouts::by_place,
    whereabouts::by_time,
    taken_back,
    deeds::told,
];

/// Yes or no.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    debug_assert_eq!(pool.question.ask(), Ask::Truth);
    for verdict in IN_TURN {
        if let Some(candidate) = verdict(pool, pooled)? {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// By who was named as being there.
fn attended(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    Ok(absent::attendance_of(pool, pooled).map(|(there, gathering)| {
        let yes = there != pool.question.asked.negated_verb();
        certain(said(pool, &gathering, yes, pooled, "by those who are named as there"))
    }))
}

/// No, where an event names one of two things and leaves the other out.
fn one_left_out(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    Ok(excluding_event(question, pooled)
        .map(|alone| certain(said(pool, alone, question.asked.negated_verb(), pooled, "one of the two was left out"))))
}

/// A verdict by an event that surely is about what is asked.
fn certain(mut said: Candidate) -> Candidate {
    said.signals.coverage = said.signals.coverage.max(SAYS_IT);
    said.signals.thing = 1.0;
    said
}

/// No, where what is asked was told and taken back since.
fn taken_back(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    Ok(denied_since(pool, pooled).map(|pair| {
        let yes = pool.question.asked.negated_verb();
        let mut candidate = said(pool, &pair.later, yes, pooled, "what was told since takes it back");
        candidate.signals.coverage = pair.earlier.coverage.of_content;
        candidate
    }))
}

/// Of the statements that say what is asked, one that was taken back since.
fn denied_since<'a>(pool: &'a EventPool<'_>, pooled: &[RetrievedEvent]) -> Option<&'a CorrectedStatement> {
    let corrects = |found: &&RetrievedEvent| pool.taken_back.iter().all(|pair| pair.later.id() != found.id());
    let others = pooled.iter().filter(corrects).map(|found| found.coverage.of_content).fold(SAYS_IT, f32::max);
    let said = pool.taken_back.iter().filter(|pair| pair.earlier.coverage.of_content >= others);
    said.max_by_key(|pair| (pair.later.span().start, pair.later.id()))
}

/// No, where what is asked about would have been noticed and was not: of somebody or something that memory knows, at a time that is
/// past. Nothing is said of what memory never heard of.
pub(in crate::recall::answerers) fn unheard_of(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !verb.negated && verb.modal.is_none());
    let subject =
        clause.subject.as_ref().filter(|subject| !subject.is_pronoun() && subject.determiner.as_deref() != Some("any"));
    let (Some(_), Some(subject)) = (verb, subject) else { return Ok(None) };
    let plain = question.tense == Tense::Past && question.query.options.is_empty() && !question.asked.habitual;
    if !plain || question.asked.negated || question.asked.cue.is_some() || question.content.known_share() < KNOWN {
        return Ok(None);
    }
    let mut about = pool.events_about(subject, question.hard, true, 20, &question.content)?;
    about.sort_by(|a, b| b.fitness().total_cmp(&a.fitness()).then(b.span().start.cmp(&a.span().start)));
    let Some(nearest) = about.first().cloned() else { return Ok(None) };
    let mut said = said(pool, &nearest, false, pooled, "nothing was seen or told of it");
    said.text = "No: nothing was seen or told of it".to_owned();
    said.evidence = merge(about, said.evidence);
    Ok(Some(certain(said)))
}

fn said(pool: &EventPool<'_>, found: &RetrievedEvent, yes: bool, pooled: &[RetrievedEvent], reason: &str) -> Candidate {
    let question = pool.question;
    let mut evidence = vec![found.clone()];
    evidence.extend(pooled.iter().filter(|other| other.id() != found.id()).cloned());
    let thing = question.named.first().map_or(0.5, |thing| best_phrase_similarity(thing, &found.reading));
    Candidate {
        layer: Layer::Episodes,
        text: format!("{}: {}", if yes { "Yes" } else { "No" }, quote(found, question)),
        value: Value::Truth(yes),
        signals: Signals {
            coverage: found.coverage.of_content,
            cosine: found.cosine.unwrap_or(0.0),
            margin: margin(pooled),
            fits: 1.0,
            thing,
            known: question.content.known_share(),
        },
        evidence,
        confidence: 0.0,
        reason: reason.into(),
    }
}
