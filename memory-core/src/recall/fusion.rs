//! Candidates of all layers on one scale, re-weighted by intent (NS-Mem 4.3, Eq. 4).

use super::candidate::{Candidate, Layer};
use crate::Intent;
use crate::language::english::question::AnswerKind;

/// Weight of a candidate for a kind of answer and an intent, by its layer.
pub(super) fn layer_weight(asked: AnswerKind, intent: Intent, candidate: &Candidate) -> f32 {
    match (intent, candidate.layer) {
        (Intent::Procedural | Intent::Constraint | Intent::Character, Layer::Procedures) => 1.0,
        // The steps of a session that was seen once.
        (Intent::Procedural, _) if asked == AnswerKind::Way && candidate.computed => 1.0,
        (Intent::Procedural | Intent::Constraint, _) => 0.6,
        (Intent::Factual, Layer::Procedures) => 0.5,
        (Intent::Character, Layer::Facts) => 0.8,
        _ => 1.0,
    }
}

/// Orders the candidates by weighted confidence.
pub(super) fn fuse(mut candidates: Vec<Candidate>, asked: AnswerKind, intent: Intent) -> Vec<Candidate> {
    candidates.sort_by(|a, b| {
        let value = |candidate: &Candidate| candidate.confidence * layer_weight(asked, intent, candidate);
        value(b).total_cmp(&value(a))
    });
    candidates
}
