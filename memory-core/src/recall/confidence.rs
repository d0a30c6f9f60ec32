//! How likely an answer is right.

use super::options::Choice;
use super::retrieve::{Retrieval, Way};

/// Below this an open question is not answered: the evidence is only the nearest there is.
pub(super) const ANSWERED: f32 = 0.25;

/// What speaks for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Signals {
    /// The share of the question's content that the best event holds.
    pub best: f32,
    /// How near in meaning the nearest of them is; `None` without φ.
    pub cosine: Option<f32>,
    /// How far the best stands out from the fifth, 0 to 1.
    pub margin: f32,
}

impl Signals {
    pub fn of(retrieval: &Retrieval) -> Self {
        let found = &retrieval.found;
        let Some(best) = found.first() else { return Self::default() };
        // In a memory of fewer than five candidates, standing out says little.
        let fifth = found.get(4).map_or(0.6 * best.score, |one| one.score);
        Self {
            best: best.coverage,
            cosine: found.iter().take(3).filter_map(|one| one.cosine).reduce(f32::max),
            margin: if best.score > 0.0 { (1.0 - fifth / best.score).clamp(0.0, 1.0) } else { 0.0 },
        }
    }
}

/// How likely the answer to an open question is right.
///
/// The weights are a logistic regression of "the best event is the evidence" on the development conversations and clips. On
/// the conversations they were fitted on, the mean gap between confidence and share of right evidence (ECE) is 0.044 with φ and
/// 0.027 without, and 0.075 when questions about the wrong person are counted as well: words and meaning do not tell those.
pub(super) fn open(retrieval: &Retrieval) -> f32 {
    if retrieval.found.is_empty() {
        return 0.0;
    }
    let signals = Signals::of(retrieval);
    let confidence = match retrieval.way {
        // Whatever happened then is the answer.
        Way::Listing => 0.75,
        // The cue was found and something lies there; whether it is what was meant is not sure.
        Way::Relation { weak: false, .. } => 0.65,
        // Something that the cue names was perceived, which may not be what it means.
        Way::Relation { weak: true, .. } => 0.35,
        Way::Search => {
            let standing_out = signals.best * signals.margin;
            logistic(match signals.cosine {
                Some(cosine) => -1.9 + signals.best + 1.2 * cosine + 3.6 * standing_out,
                None => -1.4 + 0.66 * signals.best + 4.7 * standing_out,
            })
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
