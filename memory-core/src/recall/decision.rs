//! Whether there is an answer, and which (HippoMM's adaptive reasoning Γ, deterministic).

use super::calibration;
use super::candidate::{Candidate, Layer, Value};

/// A candidate that has the kind of answer that was asked for fits at least so well.
const ANSWERS: f32 = 0.5;

/// The answer and why, or why there is none.
pub(super) enum Decision {
    Answered(Candidate),
    None { confidence: f32, reason: String },
}

/// Decides among candidates in order of their weight.
pub(super) fn decide(mut candidates: Vec<Candidate>) -> Decision {
    // A quotation is no answer where another layer has the very thing that was asked for.
    if candidates
        .iter()
        .any(|candidate| candidate.signals.fits >= ANSWERS && candidate.confidence >= calibration::ANSWERED)
    {
        candidates.retain(|candidate| candidate.signals.fits >= ANSWERS);
    }
    // Of two layers that disagree about how something is, the one that knows what was told last is right.
    if let [first, second, ..] = candidates.as_slice()
        && first.layer != second.layer
        && is_state(first)
        && is_state(second)
        && first.value != second.value
        && newest(second) > newest(first)
        && second.confidence >= calibration::ANSWERED
        && second.signals.thing >= first.signals.thing - 0.2
    {
        candidates.swap(0, 1);
    }
    let mut rest = candidates.into_iter();
    let Some(best) = rest.next() else {
        return Decision::None { confidence: 0.0, reason: "nothing in memory speaks of it".into() };
    };
    // A name, a place, a number or a time was asked for, and a sentence without one is none.
    if best.signals.fits <= 0.0 && best.confidence >= calibration::ANSWERED {
        let reason = "the nearest memory does not tell what was asked for".to_owned();
        return Decision::None { confidence: 0.0, reason };
    }
    if best.confidence < calibration::ANSWERED {
        let reason = format!("the nearest memory is too unlike the question ({:.2})", best.confidence);
        return Decision::None { confidence: best.confidence, reason };
    }
    Decision::Answered(best)
}

/// Whether a candidate says how something is, so that the newest holds.
fn is_state(candidate: &Candidate) -> bool {
    matches!(candidate.layer, Layer::Facts | Layer::Episodes) && matches!(candidate.value, Value::Truth(_))
}

fn newest(candidate: &Candidate) -> Option<crate::Timestamp> {
    candidate.evidence.first().map(|found| found.span().start)
}
