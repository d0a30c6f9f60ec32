//! How likely an answer is right.

use super::options::Choice;
use super::question::{Question, Terms};
use super::retrieve::{Retrieval, Way};

/// Below this an open question is not answered: the evidence is only the nearest there is.
pub(super) const ANSWERED: f32 = 0.3;

/// What speaks for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Signals {
    /// The share of the question's content that the best event holds.
    pub best: f32,
    /// The share that the three best hold together.
    pub together: f32,
    /// How near in meaning the best is, 0 without φ.
    pub cosine: f32,
    /// How far the best stands out from the fifth, 0 to 1.
    pub margin: f32,
}

impl Signals {
    pub fn of(question: &Question, retrieval: &Retrieval) -> Self {
        let found = &retrieval.found;
        let Some(best) = found.first() else { return Self::default() };
        let mut together = Terms::new();
        for one in found.iter().take(3) {
            together.extend(one.terms.iter().copied());
        }
        let fifth = found.get(4).map_or(0.0, |one| one.score);
        Self {
            best: best.coverage,
            together: question.content.coverage(&together),
            cosine: found.iter().take(3).filter_map(|one| one.cosine).fold(0.0, f32::max),
            margin: if best.score > 0.0 { (1.0 - fifth / best.score).clamp(0.0, 1.0) } else { 0.0 },
        }
    }
}

/// How likely the answer to an open question is right.
pub(super) fn open(question: &Question, retrieval: &Retrieval) -> f32 {
    if retrieval.found.is_empty() {
        return 0.0;
    }
    let signals = Signals::of(question, retrieval);
    let confidence = match retrieval.way {
        // Whatever happened then is the answer.
        Way::Listing => 0.75,
        // The cue was found and something lies there; whether it is what was meant is not sure.
        Way::Relation { .. } => 0.65,
        Way::Search => {
            logistic(-2.2 + 2.2 * signals.best + 1.6 * signals.together + 1.5 * signals.cosine + signals.margin)
        }
    };
    if retrieval.in_time { confidence } else { 0.5 * confidence }
}

/// How likely the chosen option is right.
pub(super) fn choice(choice: &Choice, open: f32) -> f32 {
    if choice.option.is_none() {
        return 0.0;
    }
    let supported = 1.0 - (-2.0 * choice.support).exp();
    (choice.share * (0.4 + 0.6 * open.max(0.0)) * supported).clamp(0.0, 1.0)
}

fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}
