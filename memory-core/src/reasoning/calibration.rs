//! How likely a thing is there that a tool named, and how much a tool sees: a table, fitted by `tests/calibrate-looking`.

mod table;

use super::tools::{Sighting, Tool};

/// A logistic regression over the score and the share of pictures.
pub(super) struct Fit {
    pub offset: f32,
    pub score: f32,
    pub share: f32,
}

/// The probability that what a tool named is there.
pub(super) fn probability(tool: Tool, sighting: &Sighting) -> f32 {
    let fit = table::fit(tool, sighting.kind);
    let x = fit.offset + fit.score * sighting.score + fit.share * sighting.share;
    1.0 / (1.0 + (-x).exp())
}

/// The share of what is there that a tool names.
pub(super) fn recall(tool: Tool) -> f32 {
    table::recall(tool)
}
