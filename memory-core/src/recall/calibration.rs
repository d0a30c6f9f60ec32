//! Maps signals to confidence by tables that `tests/calibrate` fits: one small one per layer, and trees for whether the
//! memory answers at all.

mod boosted_trees;
mod reader_table;
mod table;

use self::boosted_trees::{BoostedTrees, Tree};
use super::candidate::{Layer, Signals};
use super::extraction::ReadSupport;
use super::options::Speaks;
use crate::language::english::question::AnswerKind;

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

/// What the trees for whether the memory answers look at, in the order in which they were fitted: `ANSWERABLE` in
/// `tests/calibrate`.
fn answerable_values(asked: AnswerKind, layer: Layer, signals: &Signals, support: ReadSupport) -> [f32; 17] {
    let tells = signals.fits > 0.0;
    let is = |condition: bool| f32::from(u8::from(condition));
    let counted = matches!(asked, AnswerKind::Times | AnswerKind::Count | AnswerKind::Length | AnswerKind::Change);
    [
        // A candidate that does not tell what was asked for is no answer, however likely its event is the right one.
        if tells { candidate_confidence(layer, signals, Some(support)) } else { 0.0 },
        is(layer == Layer::Read),
        is(tells),
        signals.coverage,
        signals.cosine,
        signals.margin,
        signals.fits,
        signals.thing,
        signals.known,
        support.read,
        support.extracted,
        support.undisputed,
        support.answerable,
        is(support.prose),
        is(asked == AnswerKind::Time),
        is(counted),
        is(asked == AnswerKind::Truth),
    ]
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
pub(super) fn answerable(asked: AnswerKind, layer: Layer, signals: &Signals, support: ReadSupport) -> f32 {
    match layer {
        // No reader knows procedures.
        Layer::Procedures => procedure_confidence(signals),
        _ => reader_table::ANSWERABLE.probability(&answerable_values(asked, layer, signals, support)),
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
pub(super) fn option_logit(speaks: &Speaks, with_reader: bool) -> f32 {
    let weight = if with_reader { &reader_table::SPEAKS } else { &table::SPEAKS };
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
        + weight.typed * speaks.typed
        + weight.typed_best * speaks.typed_best
        + weight.read * speaks.read
        + weight.read_alone * speaks.read_alone
}

/// With a reader: below this probability that the memory answers the question there is no answer.
pub(super) use reader_table::ANSWERED as ANSWERABLE;
/// With a reader: below this confidence no answer is given, however likely the memory answers the question.
pub(super) use reader_table::MIN_CONFIDENCE;
/// Without a reader: below this confidence there is no answer.
pub(super) use table::ANSWERED;

/// Least confidence in an option that is chosen.
pub(super) fn least_confidence_in_option(with_reader: bool) -> f32 {
    if with_reader { reader_table::CHOSEN } else { table::CHOSEN }
}
