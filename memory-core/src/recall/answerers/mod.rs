//! Each layer's proposals for a question. A new kind of knowledge is a new file here.

pub(super) mod absent;
pub(super) mod amounts;
pub(super) mod apart;
pub(super) mod began;
pub(super) mod causes;
pub(super) mod compared;
pub(super) mod counts;
pub(super) mod events;
pub(super) mod facts;
pub(super) mod freed;
pub(super) mod habits;
pub(super) mod harmful;
pub(super) mod inventory;
pub(super) mod kin;
pub(super) mod lasted;
pub(super) mod mended;
pub(super) mod numbers;
pub(super) mod order;
pub(super) mod parts;
pub(super) mod places;
pub(super) mod poses;
pub(super) mod presence;
pub(super) mod procedures;
pub(super) mod quote;
pub(super) mod rank;
pub(super) mod reasons;
pub(super) mod related;
pub(super) mod replies;
pub(super) mod roles;
pub(super) mod sequel;
pub(super) mod signal;
pub(super) mod stopped;
pub(super) mod summary;
pub(super) mod times;
pub(super) mod truth;
pub(super) mod way;

use self::way::OnTheWay;
use super::calibration;
use super::candidate::{Candidate, Layer};
use super::gather::RetrievedEvents;
use super::pool::{EventPool, RetrievedEvent};
use super::question::Question;
use crate::language::english::question::Ask;
use crate::language::english::space;
use crate::language::english::time::Tense;
use crate::{Intent, ReadError};

/// How much of a question for who usually does something the step holds that is meant.
const OWN_DEED: f32 = 0.6;
/// From here the thing that a place is told of is the one that is asked for.
const SURELY: f32 = 0.9;

/// What every layer that may know the answer proposes.
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
    // That the robot was there is nothing that it saw, heard or did there.
    let seen: Vec<RetrievedEvent>;
    let found = match question.ask() {
        Ask::Thing | Ask::Description | Ask::Action | Ask::Person => {
            let around = matches!(space::spatial(&question.asked), Some(space::Spatial::Around { .. }));
            let tells = |found: &&RetrievedEvent| {
                let event = &found.reading.event;
                // Nor is what a place is called anything that is there.
                let names = || event.kind == crate::Kind::Text && space::named_place(&event.text).is_some();
                crate::episodic::visited(event).is_none() && !(around && names())
            };
            seen = gathered.found.iter().filter(tells).cloned().collect();
            seen.as_slice()
        }
        _ => gathered.found.as_slice(),
    };
    match way::answer(pool)? {
        OnTheWay::NotAsked => {}
        OnTheWay::Seen(candidate) => return Ok(vec![candidate]),
        // What was seen elsewhere is no answer.
        OnTheWay::Nothing => return Ok(events::answer(pool, &way::told_of_it(found))?.into_iter().collect()),
    }
    // What puts several events together knows more than any of them.
    type Together = fn(&EventPool<'_>, &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError>;
    let together: [Together; 6] = [
        |pool, _| order::before_or_after(pool),
        |pool, _| compared::answer(pool),
        absent::answer,
        |pool, _| inventory::answer(pool),
        |pool, _| harmful::answer(pool),
        stopped::answer,
    ];
    for answer in together {
        if let Some(candidate) = answer(pool, found)? {
            return Ok(vec![candidate]);
        }
    }
    let cue = gathered.cue.as_ref();
    let mut candidates: Vec<Candidate> = Vec::new();
    // Who usually does something is no step of another thing that is done.
    let own_deed = |candidate: &Candidate| {
        question.ask() != Ask::Person || !question.asked.habitual || candidate.signals.coverage >= OWN_DEED
    };
    if let Some((candidate, own)) = procedures::answer(pool, limit)?.filter(|(candidate, _)| own_deed(candidate)) {
        *intent = own;
        candidates.push(candidate);
    }
    candidates.extend(facts::answer(pool, degraded)?);
    candidates.extend(kin::answer(pool)?);
    candidates.extend(related::answer(pool)?);
    candidates.extend(freed::answer(pool)?);
    candidates.extend(order::of_alternatives(pool)?);
    if candidates.is_empty() || question.asked.cue.is_some() {
        candidates.extend(order::next_of_kind(pool)?);
    }
    candidates.extend(amounts::superlative(pool)?);
    candidates.extend(order::sequence(pool, found));
    let specific = match question.ask() {
        Ask::Place => places::answer(pool, found, cue)?,
        Ask::Time => times::answer(pool, found, cue)?,
        // "How many weeks did it take?" asks how long.
        Ask::Count if counts::is_length(question) => amounts::lasting(pool, found)?,
        Ask::Count | Ask::Times => counts::answer(pool, found)?,
        Ask::Amount | Ask::Length => amounts::answer(pool, found)?,
        Ask::Truth => truth::answer(pool, found)?,
        // What is done in sessions is known to the procedures.
        Ask::Action if question.asked.habitual && candidates.is_empty() => habits::answer(pool)?,
        _ if is_for_gists(question) && !ablation.without_gists => summary::answer(pool)?,
        Ask::Change => amounts::changes(pool, found).or_else(|| events::changed(pool, found)),
        _ => None,
    };
    let of_class = events::of_class(pool)?;
    let caused = match causes::answer(pool, found)? {
        Some(cause) => Some(cause),
        None => reasons::answer(pool, found)?,
    };
    let next = if candidates.is_empty() { sequel::answer(pool, gathered)? } else { None };
    let specific = signal::answer(pool)?.or(caused).or(next).or(specific).or(of_class);
    let specific = match specific {
        Some(specific) => Some(specific),
        None => replies::answer(pool, found)?,
    };
    // A place that was told since is newer than what was learnt.
    if let (Ask::Place, Some(place)) = (question.ask(), &specific)
        && (question.tense != Tense::Past || question.has_time_bound())
        && place.signals.fits >= 1.0
    {
        let at = |candidate: &Candidate| candidate.evidence.first().map(|found| found.span().start);
        let likelier = |fact: &Candidate| place.signals.thing < SURELY && fact.signals.thing > place.signals.thing;
        candidates
            .retain(|candidate| candidate.layer != Layer::Facts || at(candidate) >= at(place) || likelier(candidate));
    }
    let specific = match (specific, question.ask()) {
        (None, Ask::Truth) if candidates.is_empty() => truth::unheard_of(pool, found)?,
        (specific, _) => specific,
    };
    let told: Vec<Candidate> = candidates.iter().chain(&specific).cloned().collect();
    let present = presence::answer(pool, cue, &told)?;
    let posed = if present.is_some() { present } else { poses::answer(pool, found, &told)? };
    let specific = match posed {
        // It is newer than what words and facts say of it.
        Some(posed) => {
            candidates.retain(|candidate| candidate.layer != Layer::Facts);
            Some(posed)
        }
        None => specific,
    };
    // The gate of HippoMM: a summary answers alone if it is likely enough to be right, else single events are asked, too.
    let accepted = |candidate: &Candidate| {
        candidate.layer != Layer::Gists
            || calibration::candidate_confidence(candidate.layer, &candidate.signals) >= calibration::ANSWERED
    };
    let specific_found = specific.as_ref().is_some_and(accepted);
    candidates.extend(specific);
    // What is usually done is no single event.
    let habit_known = question.ask() == Ask::Action && question.asked.habitual && !candidates.is_empty();
    if !specific_found && !habit_known && !matches!(question.ask(), Ask::Truth) {
        candidates.extend(events::answer(pool, found)?.map(|mut candidate| {
            if gathered.cue.is_some() && gathered.placed {
                candidate.layer = Layer::CrossModal;
            }
            candidate
        }));
    }
    Ok(candidates)
}

/// Whether a question is for a stretch of time, which summaries answer first.
fn is_for_gists(question: &Question<'_>) -> bool {
    match question.ask() {
        Ask::Summary => true,
        Ask::Action => summary::is_wide(question) || summary::is_of_a_time(question),
        Ask::Thing | Ask::Description => summary::is_of_a_time(question),
        _ => false,
    }
}
