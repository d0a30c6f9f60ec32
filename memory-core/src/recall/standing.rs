//! How a candidate stands beside the others: what no answerer knows of its own answer.

use super::candidate::{Candidate, CandidateValue};
use super::extraction::ReadEvents;
use super::question::Question;
use super::reconciling::{CandidateRelation, candidate_relation};
use crate::index::{is_stop_word, stem, words};
use crate::{Kind, Timestamp};

/// Number of words from which an answer counts as long as can be.
const LONG_ANSWER: usize = 20;
/// Number of events from which an answer counts as well supported as can be.
const MANY_EVENTS: usize = 5;

/// How a candidate stands beside the others, each number from 0 to 1 unless it says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Standing {
    /// Share of the other candidates' events that began before its own; one half if all of them are one event.
    pub later: f32,
    /// Whether a later event answers about as well ([`ReadEvents`]).
    pub superseded: f32,
    /// Log-odds that the reader finds in its event, a tenth of them; from -1 to 1.
    pub relevance: f32,
    /// Probability of the most probable other event, less that of its own; from -1 to 1.
    pub behind: f32,
    /// Share of the other candidates that say the same.
    pub agreeing: f32,
    /// Share of the other candidates that answer otherwise.
    pub differing: f32,
    /// Confidence in the surest other answer that says otherwise, by its layer's table.
    pub rival: f32,
    /// Share of its words that the question has already.
    pub repeated: f32,
    /// Number of its words, in twentieths.
    pub long: f32,
    /// Number of its events, in fifths.
    pub events: f32,
    /// Fit of its event to the time relation of the question.
    pub placed: f32,
    /// Whether its event only asks.
    pub asks: f32,
    /// Whether its event was said.
    pub spoken: f32,
    /// Whether it is the speaker or the actor of its event.
    pub actor: f32,
    /// Whether it is a time.
    pub time: f32,
    /// Whether it is a number.
    pub number: f32,
    /// Whether it denies what is asked.
    pub no: f32,
    /// Whether the clause that is asked is negated.
    pub negated: f32,
}

impl Standing {
    /// Compares the candidate at a place with the others. Their confidence is that of their layers' tables.
    pub fn of(question: &Question<'_>, candidates: &[Candidate], place: usize, read: Option<&ReadEvents>) -> Self {
        let is = |condition: bool| f32::from(u8::from(condition));
        let candidate = &candidates[place];
        let others = || candidates.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, other)| other);
        let (mut agreeing, mut differing, mut rival) = (0_u16, 0_u16, 0.0_f32);
        for other in others() {
            match candidate_relation(question, candidate, other) {
                CandidateRelation::Agree => agreeing += 1,
                CandidateRelation::Differ | CandidateRelation::Exclude => {
                    differing += 1;
                    rival = rival.max(other.confidence);
                }
                CandidateRelation::Unrelated => {}
            }
        }
        let share = |some: u16| f32::from(some) / f32::from(u16::try_from(candidates.len() - 1).unwrap_or(1).max(1));
        let first = candidate.evidence.first();
        let event = first.map(|first| &first.reading.event);
        let passage = first.zip(read).and_then(|(first, read)| read.passage(first.id()));
        let start = first.map(|first| first.span().start);
        let starts = others().filter_map(|other| Some(other.evidence.first()?.span().start));
        let asked: Vec<String> = words(question.text).map(|word| stem(&word)).collect();
        let own: Vec<String> =
            words(&candidate.text).filter(|word| !is_stop_word(word)).map(|word| stem(&word)).collect();
        let actor = event.and_then(|event| event.entity.as_deref());
        Self {
            later: start.map_or(0.5, |start| share_before(start, starts)),
            superseded: is(passage.is_some_and(|passage| passage.superseded)),
            relevance: passage.map_or(-1.0, |passage| (passage.relevance / 10.0).clamp(-1.0, 1.0)),
            behind: passage.map_or(0.0, |passage| passage.behind),
            agreeing: share(agreeing),
            differing: share(differing),
            rival,
            repeated: portion(own.iter().filter(|word| asked.contains(word)).count(), own.len()),
            long: portion(words(&candidate.text).count(), LONG_ANSWER),
            events: portion(candidate.evidence.len(), MANY_EVENTS),
            placed: first.map_or(0.0, |first| first.placed),
            asks: is(first.is_some_and(|first| first.reading.only_asks())),
            spoken: is(event.is_some_and(|event| event.kind == Kind::Text)),
            actor: is(actor.is_some_and(|actor| actor.eq_ignore_ascii_case(&candidate.text))),
            time: is(matches!(candidate.value, CandidateValue::Times(_))),
            number: is(matches!(candidate.value, CandidateValue::Number(..))),
            no: is(candidate.value == CandidateValue::Truth(false)),
            negated: is(question.asked.negated || question.asked.has_negated_verb()),
        }
    }
}

/// Returns the share of the other times that are earlier, of those that differ.
fn share_before(start: Timestamp, others: impl Iterator<Item = Timestamp>) -> f32 {
    let (mut before, mut all) = (0, 0);
    for other in others.filter(|other| *other != start) {
        all += 1;
        before += usize::from(other < start);
    }
    if all == 0 { 0.5 } else { portion(before, all) }
}

/// Returns a count as a share of another one, at most 1.
fn portion(count: usize, of: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a share of a few")]
    let share = count as f32 / of.max(1) as f32;
    share.min(1.0)
}
