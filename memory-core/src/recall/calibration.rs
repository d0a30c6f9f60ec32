//! Maps signals to confidence: one small table per layer, fitted by `tests/calibrate`.

mod reader_table;
mod table;

use super::candidate::{Layer, Signals};
use super::extraction::{ReadSupport, scaled_log_odds};
use super::options::Speaks;

/// A logistic regression over the signals.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerCalibration {
    pub offset: f32,
    pub coverage: f32,
    pub cosine: f32,
    pub margin: f32,
    pub fits: f32,
    pub thing: f32,
    pub known: f32,
    pub read: f32,
    pub read_odds: f32,
    pub extracted: f32,
    pub undisputed: f32,
}

impl LayerCalibration {
    fn probability(&self, signals: &Signals, support: ReadSupport) -> f32 {
        logistic(
            self.offset
                + self.coverage * signals.coverage
                + self.cosine * signals.cosine
                + self.margin * signals.margin
                + self.fits * signals.fits
                + self.thing * signals.thing
                + self.known * signals.known
                + self.read * support.read
                + self.read_odds * support.read_odds
                + self.extracted * support.extracted
                + self.undisputed * support.undisputed,
        )
    }
}

/// A logistic regression for whether the memory answers a question at all, over the best candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerableCalibration {
    pub offset: f32,
    /// Of the confidence in the candidate; 0 if it does not tell what was asked for.
    pub confidence: f32,
    pub confidence_odds: f32,
    /// Of the confidence once more, unless the candidate is the reader's.
    pub ruled: f32,
    /// Of whether the candidate tells what was asked for.
    pub tells: f32,
    pub coverage: f32,
    pub thing: f32,
    pub known: f32,
    pub answerable: f32,
    pub answerable_odds: f32,
}

impl AnswerableCalibration {
    fn probability(&self, layer: Layer, signals: &Signals, support: ReadSupport) -> f32 {
        let tells = signals.fits > 0.0;
        let confidence = if tells { candidate_confidence(layer, signals, Some(support)) } else { 0.0 };
        let ruled = if layer == Layer::Read { 0.0 } else { confidence };
        logistic(
            self.offset
                + self.confidence * confidence
                + self.confidence_odds * scaled_log_odds(confidence)
                + self.ruled * ruled
                + if tells { self.tells } else { 0.0 }
                + self.coverage * signals.coverage
                + self.thing * signals.thing
                + self.known * signals.known
                + self.answerable * support.answerable
                + self.answerable_odds * scaled_log_odds(support.answerable),
        )
    }
}

/// Weights of the log-odds that an event which was read answers the question, against that none does: a conditional
/// logit (McFadden 1974).
#[derive(Debug, Clone, Copy)]
pub(super) struct PassageWeights {
    pub offset: f32,
    /// Of the log-odds that the reader finds.
    pub relevance: f32,
    /// Of the logarithm of the rank in the search, which counts against it.
    pub rank: f32,
    /// Of whether a later event answers about as well, which counts against it.
    pub superseded: f32,
}

fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Confidence of a candidate of a layer. `support` is what a reader says of it, if there is a reader.
pub(super) fn candidate_confidence(layer: Layer, signals: &Signals, support: Option<ReadSupport>) -> f32 {
    if layer == Layer::Procedures {
        return procedure_confidence(signals);
    }
    match support {
        None => table::fit(layer).probability(signals, ReadSupport::default()),
        Some(support) => reader_table::fit(layer, support.prose).probability(signals, support),
    }
}

/// Probability that the memory answers a question at all, by its best candidate and what a reader says of it. A wrong
/// answer may be likely where the right one is in memory too, so this is not the confidence in the candidate.
pub(super) fn answerable(layer: Layer, signals: &Signals, support: ReadSupport) -> f32 {
    match layer {
        // No reader knows procedures.
        Layer::Procedures => procedure_confidence(signals),
        _ => reader_table::answerable(support.prose).probability(layer, signals, support),
    }
}

/// Weights of what tells whether an event that was read answers.
pub(super) fn passage_weights() -> PassageWeights {
    reader_table::PASSAGES
}

/// Confidence of a procedure: its reliability over sessions (NS-Mem, Eq. 6, with a uniform prior) times the certainty
/// that it is the procedure in question. The benchmarks have too few such questions for a fit. `fits` is 1 - 2^-n for n
/// sessions.
fn procedure_confidence(signals: &Signals) -> f32 {
    let sessions = -(1.0 - signals.fits.clamp(0.0, 0.999)).log2();
    signals.thing * (1.0 + sessions) / (2.0 + sessions)
}

/// Log-odds of an option among others, up to a common constant: a conditional logit (McFadden 1974) over its evidence.
pub(super) fn option_logit(speaks: &Speaks) -> f32 {
    let weight = &table::SPEAKS;
    weight.told * speaks.told
        + weight.scene * speaks.scene
        + weight.anywhere * speaks.anywhere
        + weight.joint * speaks.joint
        + weight.joint_suited * speaks.joint_suited
        + weight.alone_suited * speaks.alone_suited
        + weight.alone * speaks.alone
        + weight.moment * speaks.moment
        + weight.answered * speaks.answered
        + weight.quoted * speaks.quoted
        + weight.about * speaks.about
}

/// With a reader: below this probability that the memory answers the question there is no answer.
pub(super) use reader_table::ANSWERED as ANSWERABLE;
/// With a reader: below this confidence no answer is given, however likely the memory answers the question.
pub(super) use reader_table::MIN_CONFIDENCE;
/// Without a reader: below this confidence there is no answer.
pub(super) use table::ANSWERED;
pub(super) use table::CHOSEN;
