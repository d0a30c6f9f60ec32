//! Answers yes or no, with the reason: by the known state, place or time, else by what happened.

mod deeds;
mod state;
mod whereabouts;

use crate::ReadError;
use crate::language::english::question::AnswerKind;
use crate::language::english::time::Tense;
use crate::recall::answerers::quote::quotation;
use crate::recall::answerers::times::rank_margin;
use crate::recall::answerers::{absent, kinship, same_place};
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::corrections::CorrectedStatement;
use crate::recall::denial::{excluding_event, tells_of_some};
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};

/// Minimum similarity of an event to the thing in question.
const MIN_THING_SIMILARITY: f32 = 0.8;
/// Minimum known share of the question for a "no" because no event reports it.
const MIN_KNOWN_SHARE: f32 = 0.6;
/// Minimum coverage of the question by an event for a "yes".
const MIN_YES_COVERAGE: f32 = 0.55;

/// One method to determine a verdict.
type VerdictMethod = fn(&EventPool<'_>, &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError>;

/// The methods, the most certain first: repairs, arrivals, states, groups of persons, places and times, corrections, deeds.
const METHODS_BY_CERTAINTY: [VerdictMethod; 11] = [
    state::verdict_by_repair,
    whereabouts::verdict_by_arrival,
    state::verdict_by_state,
    |pool, _| same_place::answer(pool),
    |pool, _| kinship::verify_relation(pool),
    verdict_by_attendance,
    verdict_by_exclusion,
    whereabouts::verdict_by_place,
    whereabouts::verdict_by_time,
    verdict_by_correction,
    deeds::verdict_by_deeds,
];

/// Answers yes or no.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    debug_assert_eq!(pool.question.ask(), AnswerKind::Truth);
    for verdict in METHODS_BY_CERTAINTY {
        if let Some(candidate) = verdict(pool, pooled)? {
            return Ok(Some(unless_of_some(pool, candidate)));
        }
    }
    Ok(None)
}

/// Turns a yes about all of several things into a no if the event tells only of some of them.
fn unless_of_some(pool: &EventPool<'_>, said: Candidate) -> Candidate {
    let Some(found) = said.evidence.first().filter(|_| said.value == CandidateValue::Truth(true)) else { return said };
    if !tells_of_some(pool.question, &found.reading) {
        return said;
    }
    let text = format!("No: {}", quotation(found, pool.question));
    Candidate { text, value: CandidateValue::Truth(false), ..said }
}

/// Answers by who was reported to be there.
fn verdict_by_attendance(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    Ok(absent::attendance_of(pool, pooled).map(|(there, gathering)| {
        let yes = there != pool.question.asked.has_negated_verb();
        with_full_certainty(verdict_candidate(pool, &gathering, yes, pooled, "by those who are named as there"))
    }))
}

/// Answers no if an event names one of two things and excludes the other.
fn verdict_by_exclusion(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    Ok(excluding_event(question, pooled).map(|alone| {
        with_full_certainty(verdict_candidate(
            pool,
            alone,
            question.asked.has_negated_verb(),
            pooled,
            "one of the two was left out",
        ))
    }))
}

/// Returns a verdict whose event is certain to be about the question.
fn with_full_certainty(mut said: Candidate) -> Candidate {
    said.signals.coverage = said.signals.coverage.max(MIN_YES_COVERAGE);
    said.signals.thing = 1.0;
    said
}

/// Answers no if the statement was corrected later.
fn verdict_by_correction(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    Ok(later_corrected(pool, pooled).map(|pair| {
        let yes = pool.question.asked.has_negated_verb();
        let mut candidate = verdict_candidate(pool, &pair.later, yes, pooled, "what was told since takes it back");
        candidate.signals.coverage = pair.earlier.coverage.of_content;
        candidate
    }))
}

/// Returns a corrected statement that said what is asked.
fn later_corrected<'a>(pool: &'a EventPool<'_>, pooled: &[RetrievedEvent]) -> Option<&'a CorrectedStatement> {
    let corrects = |found: &&RetrievedEvent| pool.taken_back.iter().all(|pair| pair.later.id() != found.id());
    let others = pooled.iter().filter(corrects).map(|found| found.coverage.of_content).fold(MIN_YES_COVERAGE, f32::max);
    let said = pool.taken_back.iter().filter(|pair| pair.earlier.coverage.of_content >= others);
    said.max_by(|a, b| {
        let newer = || (a.later.span().start, a.later.id()).cmp(&(b.later.span().start, b.later.id()));
        a.earlier.coverage.of_content.total_cmp(&b.earlier.coverage.of_content).then_with(newer)
    })
}

/// Answers no if the event would have been observed and was not: for known persons or things, in the past. Returns
/// nothing about what the memory does not know.
pub(in crate::recall::answerers) fn verdict_by_absence(
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
    if !plain
        || question.asked.negated
        || question.asked.cue.is_some()
        || question.content.known_share() < MIN_KNOWN_SHARE
    {
        return Ok(None);
    }
    let mut about = pool.events_about(subject, question.hard, true, 20, &question.content)?;
    about.sort_by(|a, b| b.fitness().total_cmp(&a.fitness()).then(b.span().start.cmp(&a.span().start)));
    let Some(nearest) = about.first().cloned() else { return Ok(None) };
    let mut said = verdict_candidate(pool, &nearest, false, pooled, "nothing was seen or told of it");
    said.text = "No: nothing was seen or told of it".to_owned();
    said.evidence = merge(about, said.evidence);
    Ok(Some(with_full_certainty(said)))
}

fn verdict_candidate(
    pool: &EventPool<'_>,
    found: &RetrievedEvent,
    yes: bool,
    pooled: &[RetrievedEvent],
    reason: &str,
) -> Candidate {
    let question = pool.question;
    let mut evidence = vec![found.clone()];
    evidence.extend(pooled.iter().filter(|other| other.id() != found.id()).cloned());
    let thing = question.named.first().map_or(0.5, |thing| best_phrase_similarity(thing, &found.reading));
    Candidate {
        layer: Layer::Episodes,
        text: format!("{}: {}", if yes { "Yes" } else { "No" }, quotation(found, question)),
        value: CandidateValue::Truth(yes),
        signals: Signals {
            coverage: found.coverage.of_content,
            cosine: found.cosine.unwrap_or(0.0),
            margin: rank_margin(pooled),
            fits: 1.0,
            thing,
            known: question.content.known_share(),
        },
        evidence,
        confidence: 0.0,
        computed: false,
        reason: reason.into(),
    }
}
