//! How likely an answer is right.

use super::options::Choice;
use super::question::Question;
use super::retrieve::{Retrieval, Way};
use crate::Kind;

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
    /// The share of the question's content that any event of the memory holds.
    pub known: f32,
    /// Whether the best event was perceived and not told in words.
    pub perceived: bool,
}

impl Signals {
    pub fn of(question: &Question, retrieval: &Retrieval) -> Self {
        let found = &retrieval.found;
        let Some(best) = found.first() else { return Self::default() };
        // In a memory of fewer than five candidates, standing out says little.
        let fifth = found.get(4).map_or(0.6 * best.score, |one| one.score);
        Self {
            best: best.coverage,
            cosine: found.iter().take(3).filter_map(|one| one.cosine).reduce(f32::max),
            margin: if best.score > 0.0 { (1.0 - fifth / best.score).clamp(0.0, 1.0) } else { 0.0 },
            known: question.content.known(),
            perceived: best.event.kind != Kind::Text,
        }
    }
}

/// How likely the answer to an open question is right.
///
/// The weights are logistic regressions of "the best event is the evidence". Of what was told they are fitted on the
/// development conversations: there the mean gap between confidence and share of right evidence (ECE) is 0.044 with φ and
/// 0.027 without, and 0.075 when questions about the wrong person are counted as well: words and meaning do not tell those.
/// Of what was perceived they are fitted on the development clips, where the sign of a question without an answer is that
/// memory knows nothing of what it names.
pub(super) fn open(question: &Question, retrieval: &Retrieval) -> f32 {
    if retrieval.found.is_empty() {
        return 0.0;
    }
    let signals = Signals::of(question, retrieval);
    let confidence = match retrieval.way {
        // Whatever happened then is the answer.
        Way::Listing => 0.75,
        // The cue was found and something lies there; whether it is what was meant is not sure.
        Way::Relation { weak: false, .. } => 0.8,
        // Something that the cue names was perceived, which may not be what it means.
        Way::Relation { weak: true, .. } => 0.5,
        Way::Search if signals.perceived => logistic(-1.18 + 1.7 * signals.known.sqrt()),
        Way::Search => {
            let standing_out = signals.best * signals.margin;
            logistic(match signals.cosine {
                Some(cosine) => -1.9 + signals.best + 1.2 * cosine + 3.6 * standing_out,
                None => -1.4 + 0.66 * signals.best + 4.7 * standing_out,
            })
        }
    };
    let guessed = retrieval.counted.as_ref().is_some_and(|counted| counted.guessed);
    if retrieval.in_time && !guessed { confidence } else { 0.5 * confidence }
}

/// How likely the chosen option is right.
///
/// A logistic regression on the development clips, with and without subtitles: how much of the question memory knows, and
/// how much speaks for the option, alone and beside the others. Its ECE there is 0.12 and 0.12; with weights of which
/// temperature and offset are fitted anew with each question left out, 0.12 and 0.20.
pub(super) fn choice(choice: &Choice, question: &Question) -> f32 {
    if choice.option.is_none() {
        return 0.0;
    }
    let supported = 1.0 - (-2.0 * choice.support).exp();
    logistic(-2.06 + 2.87 * question.content.known().sqrt() + 2.04 * supported * choice.share)
}

fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}
