//! What speaks for an event that was read, beside how the reader rates its text.

use crate::Timestamp;
use crate::language::english::question::AnswerKind;
use crate::language::english::time::Tense;
use crate::ports::Extraction;
use crate::recall::calibration;
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;

/// Log-odds from which an event may answer.
const MAY_ANSWER: f32 = 0.0;
/// Log-odds by which a later event may be less relevant and still supersede an earlier one.
const SUPERSEDING_RELEVANCE_GAP: f32 = 2.0;
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
    /// 1 if a later event tells about as well where a thing is now, else 0.
    pub superseded: f32,
}

impl PassageSigns {
    /// Returns the signs of an event of some rank, given when each event that was read began and its relevance by itself.
    pub fn of(
        question: &Question<'_>,
        found: &RetrievedEvent,
        (extraction, rank): (&Extraction, u16),
        all: &[(Timestamp, f32)],
    ) -> Self {
        let start = found.span().start;
        let others = all.iter().filter(|(other, relevance)| *relevance > MAY_ANSWER && *other != start);
        let (mut before, mut count) = (0.0, 0.0);
        for (other, _) in others {
            count += 1.0;
            before += f32::from(u8::from(*other < start));
        }
        let least = (extraction.relevance_alone - SUPERSEDING_RELEVANCE_GAP).max(MAY_ANSWER);
        let superseded = question.ask() == AnswerKind::Place
            && question.tense == Tense::Present
            && all.iter().any(|(other, relevance)| *other > start && *relevance > least);
        Self {
            relevance: extraction.relevance,
            alone: extraction.relevance_alone,
            rank,
            coverage: found.coverage.of_content,
            cosine: found.cosine.unwrap_or(0.0),
            placed: found.placed,
            later: if count > 0.0 { before / count } else { 0.5 },
            superseded: f32::from(u8::from(superseded)),
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
            + weights.later * later_if(question.tense == Tense::Present)
            + weights.later_truth * later_if(question.ask() == AnswerKind::Truth)
            - weights.superseded * self.superseded;
        log_odds.exp()
    }
}
