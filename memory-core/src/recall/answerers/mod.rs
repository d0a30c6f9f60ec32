//! The answerers: one module per kind of question. Each proposes candidates.

pub(super) mod absent;
pub(super) mod adjacent_deeds;
mod agenda;
pub(super) mod amounts;
mod birthdays;
pub(super) mod causes;
mod changes;
mod class_members;
pub(super) mod compared;
mod complement;
pub(super) mod condition;
pub(super) mod counts;
pub(super) mod events;
pub(super) mod facts;
pub(super) mod habits;
mod handovers;
pub(super) mod harmful_food;
pub(super) mod interruptions;
mod intervals;
pub(super) mod inventory;
mod itinerary;
pub(super) mod kinship;
mod lost_things;
mod mishaps;
pub(super) mod numbers;
pub(super) mod ongoing;
pub(super) mod order;
mod ordinal;
pub(super) mod parts;
pub(super) mod persons_met;
pub(super) mod places;
pub(super) mod poses;
pub(super) mod presence;
pub(super) mod procedures;
pub(super) mod quote;
pub(super) mod rank;
pub(super) mod readings;
pub(super) mod reasons;
pub(super) mod repairs;
pub(super) mod replies;
pub(super) mod rescues;
pub(super) mod roles;
pub(super) mod same_place;
mod session_steps;
mod shortfalls;
pub(super) mod signal_faults;
pub(super) mod state_durations;
pub(super) mod state_starts;
mod stock;
pub(super) mod summary;
mod supplies;
pub(super) mod talkative;
pub(super) mod times;
pub(super) mod told_relations;
pub(super) mod trips;
pub(super) mod truth;
mod utterances;
mod visit_lengths;

use self::trips::TripAnswer;
use super::calibration;
use super::candidate::{Candidate, Layer};
use super::pool::{EventPool, RetrievedEvent};
use super::question::Question;
use super::retrieval::RetrievedEvents;
use crate::language::english::question::AnswerKind;
use crate::language::english::space;
use crate::language::english::time::Tense;
use crate::{Intent, ReadError};

/// Minimum coverage of a question "who usually …" by the step of a procedure.
const MIN_USUAL_STEP_COVERAGE: f32 = 0.6;
/// Minimum certainty that the located thing is the one in question.
const MIN_PLACED_THING_CERTAINTY: f32 = 0.9;

/// Keeps the items that satisfy a condition, or all if none does.
fn keep_if_any<T>(items: &mut Vec<T>, wanted: impl Fn(&T) -> bool) {
    if items.iter().any(&wanted) {
        items.retain(wanted);
    }
}

/// Returns the candidates of all layers.
pub(super) fn propose(
    pool: &EventPool<'_>,
    gathered: &RetrievedEvents,
    degraded: &mut Vec<String>,
    intent: &mut Intent,
    limit: usize,
) -> Result<Vec<Candidate>, ReadError> {
    let question = pool.question;
    if question.query.ablation.without_details {
        return propose_without_details(pool, degraded, intent, limit);
    }
    let without_visits = without_visits(question, &gathered.found);
    let found = without_visits.as_deref().unwrap_or(&gathered.found);
    match trips::answer(pool)? {
        TripAnswer::NotAsked => {}
        TripAnswer::Seen(candidate) => return Ok(vec![candidate]),
        // Skip observations at other places.
        TripAnswer::Nothing => return Ok(events::answer(pool, &trips::told_encounters(found))?.into_iter().collect()),
    }
    if let Some(candidate) = answer_of_several_events(pool, found)? {
        return Ok(vec![candidate]);
    }
    let mut candidates = propose_known(pool, found, degraded, intent, limit)?;
    let mut specific = answer_of_its_kind(pool, gathered, found, candidates.is_empty())?;
    if let Some(place) = specific.as_ref().filter(|_| question.ask() == AnswerKind::Place) {
        drop_older_facts(question, place, &mut candidates);
    }
    specific = specific.filter(|place| !is_older_than_fact(question, place, &candidates));
    if specific.is_none() && question.ask() == AnswerKind::Truth && candidates.is_empty() {
        specific = truth::verdict_by_absence(pool, found)?;
    }
    let told: Vec<Candidate> = candidates.iter().chain(&specific).cloned().collect();
    let present = presence::answer(pool, gathered.cue.as_ref(), &told)?;
    let posed = if present.is_some() { present } else { poses::answer(pool, found, &told)? };
    if posed.is_some() {
        // The pose is newer than words and facts.
        candidates.retain(|candidate| candidate.layer != Layer::Facts);
        specific = posed;
    }
    // The gate of HippoMM: a summary answers alone if its confidence is high enough. Otherwise single events are tried
    // too.
    let accepted = |candidate: &Candidate| {
        candidate.layer != Layer::Gists
            || calibration::candidate_confidence(candidate.layer, &candidate.signals) >= calibration::ANSWERED
    };
    let specific_found = specific.as_ref().is_some_and(accepted);
    candidates.extend(specific);
    // A habit is no single event.
    let habit_known = question.ask() == AnswerKind::Action && question.asked.habitual && !candidates.is_empty();
    if !specific_found && !habit_known && !matches!(question.ask(), AnswerKind::Truth) {
        candidates.extend(events::answer(pool, found)?.map(|mut candidate| {
            if gathered.cue.is_some() && gathered.placed {
                candidate.layer = Layer::CrossModal;
            }
            candidate
        }));
    }
    Ok(candidates)
}

/// Returns the candidates of the layers above single events.
fn propose_without_details(
    pool: &EventPool<'_>,
    degraded: &mut Vec<String>,
    intent: &mut Intent,
    limit: usize,
) -> Result<Vec<Candidate>, ReadError> {
    let known = procedures::answer(pool, limit)?.map(|(candidate, own)| {
        *intent = own;
        candidate
    });
    let summary = if pool.question.query.ablation.without_gists { None } else { summary::answer(pool)? };
    Ok(known.into_iter().chain(facts::answer(pool, degraded)?).chain(summary).collect())
}

/// Returns the events without the visits of the robot, where the question asks for what it saw, heard or did there.
fn without_visits(question: &Question<'_>, found: &[RetrievedEvent]) -> Option<Vec<RetrievedEvent>> {
    if !matches!(question.ask(), AnswerKind::Thing | AnswerKind::Description | AnswerKind::Action | AnswerKind::Person)
    {
        return None;
    }
    let around = matches!(space::spatial_question(&question.asked), Some(space::SpatialQuestion::Around { .. }));
    let tells = |found: &&RetrievedEvent| {
        let event = &found.reading.event;
        // The name of a place is nothing that is there.
        let names = || event.kind == crate::Kind::Text && space::named_place(&event.text).is_some();
        crate::episodic::visited(event).is_none() && !(around && names())
    };
    Some(found.iter().filter(tells).cloned().collect())
}

/// Returns the answer that combines several events, which goes before those of single events.
fn answer_of_several_events(pool: &EventPool<'_>, found: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    type MultiEventAnswerer = fn(&EventPool<'_>, &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError>;
    let answerers: [MultiEventAnswerer; 24] = [
        |pool, _| order::before_or_after(pool),
        |pool, _| intervals::answer(pool),
        |pool, _| itinerary::answer(pool),
        |pool, _| readings::answer(pool),
        |pool, _| compared::answer(pool),
        absent::answer,
        complement::answer,
        |pool, _| inventory::answer(pool),
        |pool, _| supplies::answer(pool),
        |pool, _| handovers::answer(pool),
        |pool, _| birthdays::answer(pool),
        |pool, _| stock::answer(pool),
        shortfalls::answer,
        |pool, _| mishaps::answer(pool),
        |pool, _| lost_things::answer(pool),
        |pool, _| ongoing::answer(pool),
        |pool, _| visit_lengths::answer(pool),
        |pool, _| persons_met::answer(pool),
        |pool, _| talkative::answer(pool),
        |pool, _| utterances::answer(pool),
        |pool, _| agenda::answer(pool),
        summary::of_absence,
        |pool, _| harmful_food::answer(pool),
        interruptions::answer,
    ];
    for answer in answerers {
        if let Some(candidate) = answer(pool, found)? {
            return Ok(Some(candidate));
        }
    }
    Ok(None)
}

/// Returns the candidates that procedures, facts and relations between people and events give, whatever kind of answer is
/// asked for.
fn propose_known(
    pool: &EventPool<'_>,
    found: &[RetrievedEvent],
    degraded: &mut Vec<String>,
    intent: &mut Intent,
    limit: usize,
) -> Result<Vec<Candidate>, ReadError> {
    let question = pool.question;
    let mut candidates: Vec<Candidate> = Vec::new();
    // "Who usually …" does not ask for a step of another procedure.
    let own_deed = |candidate: &Candidate| {
        question.ask() != AnswerKind::Person
            || !question.asked.habitual
            || candidate.signals.coverage >= MIN_USUAL_STEP_COVERAGE
    };
    if let Some((candidate, own)) = procedures::answer(pool, limit)?.filter(|(candidate, _)| own_deed(candidate)) {
        *intent = own;
        candidates.push(candidate);
    }
    candidates.extend(session_steps::answer(pool, found, !candidates.is_empty())?);
    candidates.extend(facts::answer(pool, degraded)?);
    candidates.extend(kinship::answer(pool)?);
    candidates.extend(told_relations::answer(pool)?);
    candidates.extend(rescues::answer(pool)?);
    candidates.extend(order::first_of_alternatives(pool)?);
    if candidates.is_empty() || question.asked.cue.is_some() {
        candidates.extend(order::next_of_kind(pool)?);
    }
    candidates.extend(amounts::superlative(pool)?);
    candidates.extend(order::sequence(pool, found));
    Ok(candidates)
}

/// Returns the answer of the answerer for the kind of answer that is asked for, or of one for causes, neighbouring deeds,
/// members of a class, or replies. `nothing_known` says whether no other layer has a candidate.
fn answer_of_its_kind(
    pool: &EventPool<'_>,
    gathered: &RetrievedEvents,
    found: &[RetrievedEvent],
    nothing_known: bool,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let cue = gathered.cue.as_ref();
    let summarises = asks_for_summary(question) && !question.query.ablation.without_gists;
    let specific = match question.ask() {
        AnswerKind::Place => places::answer(pool, found, cue)?,
        AnswerKind::Time => times::answer(pool, found, cue)?,
        // "How many weeks did it take?" asks how long.
        AnswerKind::Count if counts::asks_time_units(question) => amounts::answer_duration(pool, found)?,
        AnswerKind::Count => match class_members::answer(pool)? {
            Some(members) => Some(members),
            None => counts::answer(pool, found)?,
        },
        AnswerKind::Times => counts::answer(pool, found)?,
        AnswerKind::Amount | AnswerKind::Length => amounts::answer(pool, found)?,
        AnswerKind::Truth => truth::answer(pool, found)?,
        // Deeds in sessions belong to the procedures.
        AnswerKind::Action if question.asked.habitual && nothing_known => habits::answer(pool)?,
        _ if summarises => summary::answer(pool)?,
        AnswerKind::Thing | AnswerKind::Description => condition::answer(pool)?,
        AnswerKind::Change => amounts::sum_changes(pool, found).or_else(|| changes::answer(pool, found)),
        _ => None,
    };
    let of_class = if question.ask() == AnswerKind::Count { None } else { class_members::answer(pool)? };
    let caused = match causes::answer(pool, found)? {
        Some(cause) => Some(cause),
        None => reasons::answer(pool, found)?,
    };
    let next = if nothing_known { adjacent_deeds::answer(pool, gathered)? } else { None };
    match signal_faults::answer(pool)?.or(ordinal::answer(pool)?).or(caused).or(next).or(specific).or(of_class) {
        Some(specific) => Ok(Some(specific)),
        None => replies::answer(pool, found),
    }
}

/// Drops facts that a later reported place makes old, unless the fact is about the thing and the place may not be.
fn drop_older_facts(question: &Question<'_>, place: &Candidate, candidates: &mut Vec<Candidate>) {
    if question.tense == Tense::Past && !question.has_time_bound() || place.signals.fits < 1.0 {
        return;
    }
    let at = |candidate: &Candidate| candidate.evidence.first().map(|found| found.span().start);
    let likelier =
        |fact: &Candidate| place.signals.thing < MIN_PLACED_THING_CERTAINTY && fact.signals.thing > place.signals.thing;
    candidates.retain(|candidate| candidate.layer != Layer::Facts || at(candidate) >= at(place) || likelier(candidate));
}

/// Returns whether a place where a thing is now was told before a fact of its place: "Ivo takes the umbrella and goes out".
fn is_older_than_fact(question: &Question<'_>, place: &Candidate, known: &[Candidate]) -> bool {
    let at = |candidate: &Candidate| candidate.evidence.first().map(|found| found.span().start);
    let is_newer = |fact: &Candidate| {
        fact.layer == Layer::Facts && fact.signals.thing >= MIN_PLACED_THING_CERTAINTY && at(fact) > at(place)
    };
    question.ask() == AnswerKind::Place && question.tense == Tense::Present && known.iter().any(is_newer)
}

/// Returns whether a question is about a time span, which summaries answer first.
fn asks_for_summary(question: &Question<'_>) -> bool {
    match question.ask() {
        AnswerKind::Summary => true,
        AnswerKind::Action => summary::asks_for_long_span(question) || summary::restricts_only_time(question),
        AnswerKind::Thing | AnswerKind::Description => {
            summary::restricts_only_time(question) || summary::asks_how_time_was(question)
        }
        _ => false,
    }
}
