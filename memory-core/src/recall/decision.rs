//! Whether there is an answer, and which (HippoMM's adaptive reasoning Γ, deterministic).

use super::calibration;
use super::candidate::Candidate;

/// The answer and why, or why there is none.
pub(super) enum Decision {
    Answered(Candidate),
    None { confidence: f32, reason: String },
}

/// Decides among candidates in order of their weight.
pub(super) fn decide(candidates: Vec<Candidate>) -> Decision {
    let mut rest = candidates.into_iter();
    let Some(best) = rest.next() else {
        return Decision::None { confidence: 0.0, reason: "nothing in memory speaks of it".into() };
    };
    if best.confidence < calibration::ANSWERED {
        let reason = format!("the nearest memory is too unlike the question ({:.2})", best.confidence);
        return Decision::None { confidence: best.confidence, reason };
    }
    Decision::Answered(best)
}
