//! Candidates of all layers on one scale, re-weighted by intent (NS-Mem 4.3, Eq. 4).

use super::candidate::{Candidate, Layer};
use crate::Intent;

/// Weight of a layer for an intent.
pub(super) fn layer_weight(intent: Intent, layer: Layer) -> f32 {
    match (intent, layer) {
        (Intent::Procedural | Intent::Constraint, Layer::Procedures) | (Intent::Character, Layer::Procedures) => 1.0,
        (Intent::Procedural | Intent::Constraint, _) => 0.6,
        (Intent::Factual, Layer::Procedures) => 0.5,
        (Intent::Character, Layer::Facts) => 0.8,
        _ => 1.0,
    }
}

/// Orders the candidates by weighted confidence.
pub(super) fn fuse(mut candidates: Vec<Candidate>, intent: Intent) -> Vec<Candidate> {
    candidates.sort_by(|a, b| {
        let value = |candidate: &Candidate| candidate.confidence * layer_weight(intent, candidate.layer);
        value(b).total_cmp(&value(a))
    });
    candidates
}
