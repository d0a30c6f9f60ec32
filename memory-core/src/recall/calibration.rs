//! Maps signals to confidence by tables that `tests/calibrate` fits: without a reader a small one per layer, with one
//! trees for whether a candidate is right, and for whether the memory answers at all.

mod boosted_trees;
mod reader_table;
mod table;

use self::boosted_trees::{BoostedTrees, Tree};
use super::candidate::{Candidate, Layer, Signals};
use super::extraction::ReadSupport;
use super::options::Speaks;
use super::question::Question;
use crate::language::english::question::AnswerKind;
use crate::language::english::time::Tense;

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

/// The kinds of answer that the trees for a candidate tell apart.
const KINDS: [AnswerKind; 13] = [
    AnswerKind::Place,
    AnswerKind::Person,
    AnswerKind::Time,
    AnswerKind::Thing,
    AnswerKind::Truth,
    AnswerKind::Count,
    AnswerKind::Amount,
    AnswerKind::Action,
    AnswerKind::Description,
    AnswerKind::Length,
    AnswerKind::Times,
    AnswerKind::Change,
    AnswerKind::Reason,
];
/// Number of values that the trees for a candidate look at.
const CANDIDATE_VALUES: usize = 19 + KINDS.len();
/// Number of values that the trees for whether the memory answers look at.
const ANSWERABLE_VALUES: usize = 17;

/// What the trees for a candidate look at, in the order in which they were fitted: `CANDIDATE` in `tests/calibrate`.
fn candidate_values(question: &Question<'_>, candidate: &Candidate, support: ReadSupport) -> [f32; CANDIDATE_VALUES] {
    let layer = candidate.layer;
    let read = [support.read, support.read_odds, support.extracted, support.undisputed, support.answerable];
    let manner = [
        support.prose,
        candidate.computed,
        layer == Layer::Facts,
        layer == Layer::Gists,
        layer == Layer::CrossModal,
        layer == Layer::Read,
        question.tense == Tense::Present,
        question.tense == Tense::Future,
    ];
    let kinds = KINDS.map(|kind| is(question.ask() == kind));
    joined(&[&signal_values(&candidate.signals), &read, &manner.map(is), &kinds])
}

/// What the trees for whether the memory answers look at, in the order in which they were fitted: `ANSWERABLE` in
/// `tests/calibrate`.
fn answerable_values(question: &Question<'_>, candidate: &Candidate, support: ReadSupport) -> [f32; ANSWERABLE_VALUES] {
    let asked = question.ask();
    let tells = candidate.signals.fits > 0.0;
    // A candidate that does not tell what was asked for is no answer, however likely its event is the right one.
    let confidence = if tells { confidence_with_reader(question, candidate, support) } else { 0.0 };
    let counted = matches!(asked, AnswerKind::Times | AnswerKind::Count | AnswerKind::Length | AnswerKind::Change);
    let kinds = [support.prose, asked == AnswerKind::Time, counted, asked == AnswerKind::Truth];
    joined(&[
        &[confidence, is(candidate.layer == Layer::Read), is(tells)],
        &signal_values(&candidate.signals),
        &[support.read, support.extracted, support.undisputed, support.answerable],
        &kinds.map(is),
    ])
}

fn is(condition: bool) -> f32 {
    f32::from(u8::from(condition))
}

fn signal_values(signals: &Signals) -> [f32; 6] {
    let Signals { coverage, cosine, margin, fits, thing, known } = *signals;
    [coverage, cosine, margin, fits, thing, known]
}

/// Returns all values in a row. What `N` leaves over is 0; the parts have no more than `N`.
fn joined<const N: usize>(parts: &[&[f32]]) -> [f32; N] {
    let mut values = [0.0; N];
    values.iter_mut().zip(parts.iter().copied().flatten()).for_each(|(value, part)| *value = *part);
    values
}

/// Weights of the log-odds that an event which was read answers the question, against that none does: a conditional
/// logit (McFadden 1974).
#[derive(Debug, Clone, Copy)]
pub(super) struct PassageWeights {
    pub offset: f32,
    /// Of the log-odds that the reader finds, with the other events in view.
    pub relevance: f32,
    /// The same of the event by itself.
    pub alone: f32,
    /// Of the logarithm of the rank in the search, which counts against it.
    pub rank: f32,
    /// Of the share of the question's content that the event covers.
    pub coverage: f32,
    /// Of its similarity in meaning.
    pub cosine: f32,
    /// Of its fit to the time relation of the question.
    pub placed: f32,
    /// Of the share of the other events that may answer which began before it, where the question asks how things are or what
    /// changed.
    pub later: f32,
    /// The same where it asks whether something is or was so.
    pub later_truth: f32,
    /// Of how surely a later event tells where a thing is now, which counts against it.
    pub superseded: f32,
    /// Of the share of the other events that begin to answer which were before it, or after it, as the question asks for the
    /// last or the first of several states.
    pub stage: f32,
    /// Of the number of other days on which about the same was, where a habit is asked for.
    pub recurring: f32,
}

fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Confidence of a candidate of a layer, without a reader.
pub(super) fn candidate_confidence(layer: Layer, signals: &Signals) -> f32 {
    match layer {
        Layer::Procedures => procedure_confidence(signals),
        _ => table::fit(layer).probability(signals, ReadSupport::default()),
    }
}

/// Confidence of a candidate, given what a reader says of it.
pub(super) fn confidence_with_reader(question: &Question<'_>, candidate: &Candidate, support: ReadSupport) -> f32 {
    // No reader knows procedures.
    if candidate.layer == Layer::Procedures {
        return procedure_confidence(&candidate.signals);
    }
    let confidence = reader_table::CANDIDATE.probability(&candidate_values(question, candidate, support));
    // What a sentence says is no likelier right than that any sentence answers. The fit has few rows where none does: of 41
    // candidates that say nearly all of the question where the reader gives it less than 0.4, 2 are right.
    let judged = support.prose && question.asked.cue.is_none();
    if judged { confidence.min(support.answerable) } else { confidence }
}

/// Confidence of a choice among options. `support` is what a reader says of it, if there is a reader.
pub(super) fn option_confidence(signals: &Signals, support: Option<ReadSupport>) -> f32 {
    match support {
        None => candidate_confidence(Layer::Options, signals),
        Some(support) => reader_table::OPTIONS.probability(signals, support),
    }
}

/// Probability that the memory answers a question at all, by its best candidate and what a reader says of it. A wrong
/// answer may be likely where the right one is in memory too, so this is not the confidence in the candidate.
pub(super) fn answerable(question: &Question<'_>, candidate: &Candidate, support: ReadSupport) -> f32 {
    match candidate.layer {
        Layer::Procedures => procedure_confidence(&candidate.signals),
        _ => reader_table::ANSWERABLE.probability(&answerable_values(question, candidate, support)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fitted_trees_look_at_values_that_there_are() {
        let greatest = |trees: &BoostedTrees| {
            let looked_at = trees.trees.iter().flat_map(|tree| tree.signal);
            usize::from(looked_at.max().expect("a tree"))
        };
        assert!(greatest(&reader_table::CANDIDATE) < CANDIDATE_VALUES);
        assert!(greatest(&reader_table::ANSWERABLE) < ANSWERABLE_VALUES);
    }
}
