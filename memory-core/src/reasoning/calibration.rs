//! How likely a thing is there that a tool named, and how much a tool sees: a table, fitted by `tests/calibrate-looking`.

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

/// The probability that what a tool named is there.
pub(super) fn probability(tool: Tool, sighting: &Sighting) -> f32 {
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

/// The same where a question asks for it: Bayes' rule with another prior than that of a random thing.
///
/// Of everything that a detector names most is wrong, because there are many things to be mistaken for. Of a thing that is asked for
/// it is likelier that it is there at all, and `prior` says how likely. A recogniser of words chooses among no list of things, so
/// what it wrote down is as likely whatever is asked; and a model that was told the question has weighed it itself.
pub(super) fn asked_for(tool: Tool, sighting: &Sighting, prior: f32) -> f32 {
    if !matches!(sighting.kind, SightingKind::Object | SightingKind::Scene | SightingKind::Sound) {
        return probability(tool, sighting);
    }
    let odds = |probability: f32| {
        probability.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
            / (1.0 - probability.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY))
    };
    let ratio = odds(probability(tool, sighting)) / odds(table::base_rate(sighting.kind));
    let posterior = ratio * odds(prior);
    posterior / (1.0 + posterior)
}

/// The share of what is there that a tool names.
pub(super) fn recall(tool: Tool) -> f32 {
    table::recall(tool)
}
