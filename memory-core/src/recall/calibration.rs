//! Maps signals to confidence: one small table per layer, fitted by `tests/calibrate`.

mod reader_table;
mod table;

use super::candidate::{Layer, Signals};
use super::extraction::ReadSupport;
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
    pub extracted: f32,
}

impl LayerCalibration {
    fn probability(&self, signals: &Signals, support: ReadSupport) -> f32 {
        let x = self.offset
            + self.coverage * signals.coverage
            + self.cosine * signals.cosine
            + self.margin * signals.margin
            + self.fits * signals.fits
            + self.thing * signals.thing
            + self.known * signals.known
            + self.read * support.read
            + self.extracted * support.extracted;
        1.0 / (1.0 + (-x).exp())
    }
}

/// Confidence of a candidate of a layer. `support` is what a reader says of it, if there is a reader.
pub(super) fn candidate_confidence(layer: Layer, signals: &Signals, support: Option<ReadSupport>) -> f32 {
    if layer == Layer::Procedures {
        return procedure_confidence(signals);
    }
    match support {
        None => table::fit(layer).probability(signals, ReadSupport::default()),
        Some(support) => reader_table::fit(layer, support.told).probability(signals, support),
    }
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

/// Below this probability there is no answer.
pub(super) fn answered(with_reader: bool) -> f32 {
    if with_reader { reader_table::ANSWERED } else { table::ANSWERED }
}

pub(super) use table::CHOSEN;
