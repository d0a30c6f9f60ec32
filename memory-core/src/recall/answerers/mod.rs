//! The answerers: one module per kind of question. Each proposes candidates.

pub(super) mod absent;
pub(super) mod adjacent_deeds;
pub(super) mod amounts;
pub(super) mod causes;
mod changes;
mod class_members;
pub(super) mod compared;
pub(super) mod counts;
pub(super) mod events;
pub(super) mod facts;
pub(super) mod habits;
pub(super) mod harmful_food;
pub(super) mod interruptions;
pub(super) mod inventory;
pub(super) mod kinship;
pub(super) mod numbers;
pub(super) mod order;
pub(super) mod parts;
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
pub(super) mod signal_faults;
pub(super) mod state_durations;
pub(super) mod state_starts;
pub(super) mod summary;
pub(super) mod times;
pub(super) mod told_relations;
pub(super) mod trips;
pub(super) mod truth;

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
    let ablation = question.query.ablation;
    if ablation.without_details {
        let known = procedures::answer(pool, limit)?.map(|(candidate, own)| {
            *intent = own;
            candidate
        });
        let summary = if ablation.without_gists { None } else { summary::answer(pool)? };
        return Ok(known.into_iter().chain(facts::answer(pool, degraded)?).chain(summary).collect());
    }
    // The presence of the robot is not what it saw, heard or did there.
    let seen: Vec<RetrievedEvent>;
    let found = match question.ask() {
        AnswerKind::Thing | AnswerKind::Description | AnswerKind::Action | AnswerKind::Person => {
            let around =
                matches!(space::spatial_question(&question.asked), Some(space::SpatialQuestion::Around { .. }));
            let tells = |found: &&RetrievedEvent| {
                let event = &found.reading.event;
                // The name of a place is nothing that is there.
                let names = || event.kind == crate::Kind::Text && space::named_place(&event.text).is_some();
                crate::episodic::visited(event).is_none() && !(around && names())
            };
            seen = gathered.found.iter().filter(tells).cloned().collect();
            seen.as_slice()
        }
        _ => gathered.found.as_slice(),
    };
    match trips::answer(pool)? {
        TripAnswer::NotAsked => {}
        TripAnswer::Seen(candidate) => return Ok(vec![candidate]),
        // Skip observations at other places.
        TripAnswer::Nothing => return Ok(events::answer(pool, &trips::told_encounters(found))?.into_iter().collect()),
    }
    // Answerers that combine several events go before those of single events.
    type MultiEventAnswerer = fn(&EventPool<'_>, &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError>;
    let together: [MultiEventAnswerer; 7] = [
        |pool, _| order::before_or_after(pool),
        |pool, _| readings::answer(pool),
        |pool, _| compared::answer(pool),
        absent::answer,
        |pool, _| inventory::answer(pool),
        |pool, _| harmful_food::answer(pool),
        interruptions::answer,
    ];
    for answer in together {
        if let Some(candidate) = answer(pool, found)? {
            return Ok(vec![candidate]);
        }
    }
    let cue = gathered.cue.as_ref();
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
    let specific = match question.ask() {
        AnswerKind::Place => places::answer(pool, found, cue)?,
        AnswerKind::Time => times::answer(pool, found, cue)?,
        // "How many weeks did it take?" asks how long.
        AnswerKind::Count if counts::asks_time_units(question) => amounts::answer_duration(pool, found)?,
        AnswerKind::Count | AnswerKind::Times => counts::answer(pool, found)?,
        AnswerKind::Amount | AnswerKind::Length => amounts::answer(pool, found)?,
        AnswerKind::Truth => truth::answer(pool, found)?,
        // Deeds in sessions belong to the procedures.
        AnswerKind::Action if question.asked.habitual && candidates.is_empty() => habits::answer(pool)?,
        _ if asks_for_summary(question) && !ablation.without_gists => summary::answer(pool)?,
        AnswerKind::Change => amounts::sum_changes(pool, found).or_else(|| changes::answer(pool, found)),
        _ => None,
    };
    let of_class = class_members::answer(pool)?;
    let caused = match causes::answer(pool, found)? {
        Some(cause) => Some(cause),
        None => reasons::answer(pool, found)?,
    };
    let next = if candidates.is_empty() { adjacent_deeds::answer(pool, gathered)? } else { None };
    let specific = signal_faults::answer(pool)?.or(caused).or(next).or(specific).or(of_class);
    let specific = match specific {
        Some(specific) => Some(specific),
        None => replies::answer(pool, found)?,
    };
    // A later reported place is newer than a fact.
    if let (AnswerKind::Place, Some(place)) = (question.ask(), &specific)
        && (question.tense != Tense::Past || question.has_time_bound())
        && place.signals.fits >= 1.0
    {
        let at = |candidate: &Candidate| candidate.evidence.first().map(|found| found.span().start);
        let likelier = |fact: &Candidate| {
            place.signals.thing < MIN_PLACED_THING_CERTAINTY && fact.signals.thing > place.signals.thing
        };
        candidates
            .retain(|candidate| candidate.layer != Layer::Facts || at(candidate) >= at(place) || likelier(candidate));
    }
    let specific = match (specific, question.ask()) {
        (None, AnswerKind::Truth) if candidates.is_empty() => truth::verdict_by_absence(pool, found)?,
        (specific, _) => specific,
    };
    let told: Vec<Candidate> = candidates.iter().chain(&specific).cloned().collect();
    let present = presence::answer(pool, cue, &told)?;
    let posed = if present.is_some() { present } else { poses::answer(pool, found, &told)? };
    let specific = match posed {
        // The pose is newer than words and facts.
        Some(posed) => {
            candidates.retain(|candidate| candidate.layer != Layer::Facts);
            Some(posed)
        }
        None => specific,
    };
    // The gate of HippoMM: a summary answers alone if its confidence is high enough. Otherwise single events are tried
    // too.
    let accepted = |candidate: &Candidate| {
        candidate.layer != Layer::Gists
            || calibration::candidate_confidence(candidate.layer, &candidate.signals, None) >= calibration::ANSWERED
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

/// Returns whether a question is about a time span, which summaries answer first.
fn asks_for_summary(question: &Question<'_>) -> bool {
    match question.ask() {
        AnswerKind::Summary => true,
        AnswerKind::Action => summary::asks_for_long_span(question) || summary::restricts_only_time(question),
        AnswerKind::Thing | AnswerKind::Description => summary::restricts_only_time(question),
        _ => false,
    }
}
