//! What speaks for an event that was read, beside how the reader rates its text.

use crate::Timestamp;
use crate::language::english::question::{AnswerKind, Stage};
use crate::language::english::time::Tense;
use crate::ports::Extraction;
use crate::recall::answerers::condition::asks_condition;
use crate::recall::calibration;
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;

/// Log-odds from which an event may answer.
const MAY_ANSWER: f32 = 0.0;
/// Log-odds from which an event may tell one of several states. That a thing works again is told in other words than the
/// fault.
const MAY_TELL_STAGE: f32 = -3.0;
/// Greatest log-odds of the reader that count.
const MAX_RELEVANCE: f32 = 20.0;

/// What speaks for an event that was read. `tests/calibrate` reads these from the trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PassageSigns {
    /// Log-odds that the reader finds, with the other events in view.
    pub relevance: f32,
    /// The same of the event by itself.
    pub alone: f32,
    /// Rank in the search, from 0.
    pub rank: u16,
    /// Share of the question's content that it covers, from 0 to 1.
    pub coverage: f32,
    /// Similarity in meaning, from 0 to 1.
    pub cosine: f32,
    /// Fit to the time relation of the question, from 0 to 1.
    pub placed: f32,
    /// Share of the other events that may answer which began before it; one half if there are none.
    pub later: f32,
    /// How surely a later event tells where a thing is now: -ln of the probability that none does, as the reader rates
    /// each by itself.
    pub superseded: f32,
    /// Share of the other events that begin to answer which were before it, where the last of several states is asked for,
    /// or after it, where the first is; else 0.
    pub stage: f32,
    /// Number of other days on which about the same was at about the same hour, where a habit is asked for; at most 2.
    pub recurring: f32,
}

impl PassageSigns {
    /// Returns the signs of an event of some rank that recurs on some other days, given when each event that was read
    /// began and its relevance by itself.
    pub fn of(
        question: &Question<'_>,
        found: &RetrievedEvent,
        (extraction, rank, days): (&Extraction, u16, u8),
        all: &[(Timestamp, f32)],
    ) -> Self {
        let start = found.span().start;
        let share_before = |least: f32| {
            let others = all.iter().filter(|(other, relevance)| *relevance > least && *other != start);
            let (mut before, mut count) = (0.0, 0.0);
            for (other, _) in others {
                count += 1.0;
                before += f32::from(u8::from(*other < start));
            }
            if count > 0.0 { before / count } else { 0.5 }
        };
        let asks_present_place = question.ask() == AnswerKind::Place && question.tense == Tense::Present;
        let later = all.iter().filter(|(other, _)| asks_present_place && *other > start);
        let superseded: f32 = later.map(|(_, relevance)| relevance.min(MAX_RELEVANCE).exp().ln_1p()).sum();
        Self {
            relevance: extraction.relevance,
            alone: extraction.relevance_alone,
            rank,
            coverage: found.coverage.of_content,
            cosine: found.cosine.unwrap_or(0.0),
            placed: found.placed,
            later: share_before(MAY_ANSWER),
            stage: match question.stage.or_else(|| asks_condition(question).then_some(Stage::Last)) {
                Some(Stage::Last) => share_before(MAY_TELL_STAGE),
                Some(Stage::First) => 1.0 - share_before(MAY_TELL_STAGE),
                None => 0.0,
            },
            superseded: superseded.min(MAX_RELEVANCE),
            recurring: f32::from(days),
        }
    }

    /// Returns the odds that the event answers, to those that none does.
    pub fn odds(&self, question: &Question<'_>) -> f32 {
        let weights = calibration::passage_weights();
        let later_if = |condition: bool| if condition { self.later } else { 0.0 };
        let log_odds = weights.offset
            + weights.relevance * self.relevance.clamp(-MAX_RELEVANCE, MAX_RELEVANCE)
            + weights.alone * self.alone.clamp(-MAX_RELEVANCE, MAX_RELEVANCE)
            - weights.rank * f32::from(self.rank + 1).ln()
            + weights.coverage * self.coverage
            + weights.cosine * self.cosine
            + weights.placed * self.placed
            + weights.later * later_if(question.tense == Tense::Present || question.ask() == AnswerKind::Change)
            + weights.later_truth * later_if(question.ask() == AnswerKind::Truth)
            - weights.superseded * self.superseded
            + weights.stage * self.stage
            + weights.recurring * self.recurring;
        log_odds.exp()
    }
}
