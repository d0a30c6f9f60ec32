//! Signals to the probability of being right: one small table per layer, fitted by `tests/calibrate`.

mod table;

use super::candidate::{Layer, Signals};
use super::options::Speaks;

/// A logistic regression over the signals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    pub offset: f32,
    pub coverage: f32,
    pub cosine: f32,
    pub margin: f32,
    pub fits: f32,
    pub thing: f32,
    pub known: f32,
}

impl Fit {
    fn probability(&self, signals: &Signals) -> f32 {
        let x = self.offset
            + self.coverage * signals.coverage
            + self.cosine * signals.cosine
            + self.margin * signals.margin
            + self.fits * signals.fits
            + self.thing * signals.thing
            + self.known * signals.known;
        1.0 / (1.0 + (-x).exp())
    }
}

/// The probability that a candidate of a layer is right.
pub(super) fn probability(layer: Layer, signals: &Signals) -> f32 {
    if layer == Layer::Procedures {
        return reliability(signals);
    }
    table::fit(layer).probability(signals)
}

/// The reliability of a procedure as its sessions bear it out (NS-Mem, Eq. 6, with a uniform prior), times how surely it is the
/// one that was meant. The benchmarks have too few such questions for a fit of its own; `fits` is 1 - 2^-n of n sessions.
fn reliability(signals: &Signals) -> f32 {
    let sessions = -(1.0 - signals.fits.clamp(0.0, 0.999)).log2();
    signals.thing * (1.0 + sessions) / (2.0 + sessions)
}

/// The logarithm of the odds of an option among others, but for a constant that all of them share: a conditional logit
/// (McFadden 1974) over what speaks for it.
pub(super) fn support(speaks: &Speaks) -> f32 {
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

pub(super) use table::{ANSWERED, CHOSEN};
