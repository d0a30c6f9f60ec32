//! The precision and the recall of each tool: a table, fitted by `tests/calibrate-looking`.

mod table;

use super::tools::{Sighting, SightingKind, Tool};

/// Minimum distance of a probability from 0 and 1.
const MIN_PROBABILITY: f32 = 0.000_5;

/// A logistic regression over the score and the share of pictures.
pub(super) struct LookFit {
    pub offset: f32,
    pub score: f32,
    pub share: f32,
}

/// Probability that a sighting is right.
pub(super) fn sighting_probability(tool: Tool, sighting: &Sighting) -> f32 {
    // No session with labels was there to fit these: as sure as their encoder says, as in the live pass.
    let unfitted = [
        SightingKind::Writing,
        SightingKind::Face,
        SightingKind::Place,
        SightingKind::Likeness,
        SightingKind::Description,
    ];
    if unfitted.contains(&sighting.kind) {
        return sighting.score.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY);
    }
    let fit = table::fit(tool, sighting.kind);
    let x = fit.offset + fit.score * sighting.score + fit.share * sighting.share;
    1.0 / (1.0 + (-x).exp())
}

/// Probability that a sighting of an asked thing is right: Bayes' rule with another prior than that of a random thing.
///
/// Most labels of a detector are wrong, because many things can be confused. A thing in the question is more likely to
/// be there, with probability `prior`. A speech or text recogniser has no list of things, so its probability does not
/// depend on the question. A model that knows the question has already weighed it.
pub(super) fn probability_with_prior(tool: Tool, sighting: &Sighting, prior: f32) -> f32 {
    if !matches!(sighting.kind, SightingKind::Object | SightingKind::Scene | SightingKind::Sound) {
        return sighting_probability(tool, sighting);
    }
    let odds = |probability: f32| {
        probability.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
            / (1.0 - probability.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY))
    };
    let ratio = odds(sighting_probability(tool, sighting)) / odds(table::base_rate(sighting.kind));
    let posterior = ratio * odds(prior);
    posterior / (1.0 + posterior)
}

/// Returns the recall of a tool.
pub(super) fn tool_recall(tool: Tool) -> f32 {
    table::recall(tool)
}
