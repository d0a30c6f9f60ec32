//! Boosted regression trees (Friedman 2001): a logistic regression over signals that matter only together.

use super::logistic;

/// Splits of a tree: three full levels.
const SPLITS: usize = 7;

/// A tree over the values of a candidate. The splits below split `i` are `2i + 1` and `2i + 2`, the leaves follow the
/// last split.
#[derive(Debug)]
pub(super) struct Tree {
    /// Which value each split looks at.
    pub signal: [u8; SPLITS],
    /// A greater value goes to the second side of the split.
    pub at: [f32; SPLITS],
    /// What is added to the log-odds.
    pub leaf: [f32; SPLITS + 1],
}

/// Trees that add up to the log-odds of a probability.
#[derive(Debug)]
pub(super) struct BoostedTrees {
    /// The log-odds before any tree.
    pub log_odds: f32,
    pub trees: &'static [Tree],
}

impl BoostedTrees {
    pub fn probability(&self, values: &[f32]) -> f32 {
        logistic(self.log_odds + self.trees.iter().map(|tree| tree.log_odds(values)).sum::<f32>())
    }
}

impl Tree {
    fn log_odds(&self, values: &[f32]) -> f32 {
        let mut place = 0;
        while let Some(&signal) = self.signal.get(place) {
            place = 2 * place + 1 + usize::from(values[usize::from(signal)] > self.at[place]);
        }
        self.leaf[place - SPLITS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static TREES: BoostedTrees = BoostedTrees {
        log_odds: -1.0,
        trees: &[
            Tree {
                signal: [0, 1, 1, 2, 2, 2, 2],
                at: [0.5, 0.2, 0.8, 0.0, 0.1, 0.2, 0.3],
                leaf: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
            },
            Tree { signal: [2; SPLITS], at: [0.25; SPLITS], leaf: [-0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5] },
        ],
    };

    #[test]
    fn a_value_above_the_limit_goes_to_the_second_side() {
        let log_odds = |values: [f32; 3]| {
            let probability = TREES.probability(&values);
            (probability / (1.0 - probability)).ln()
        };
        for (values, leaves) in [
            ([0.5, 0.2, 0.0], 1.0 - 0.5),
            ([0.5, 0.2, 0.1], 2.0 - 0.5),
            ([0.5, 0.3, 0.1], 3.0 - 0.5),
            ([0.6, 0.8, 0.2], 5.0 - 0.5),
            ([0.6, 0.8, 0.3], 6.0 + 0.5),
            ([0.6, 0.9, 0.4], 8.0 + 0.5),
        ] {
            assert!((log_odds(values) - (leaves - 1.0)).abs() < 1e-2, "{values:?}: {}", log_odds(values));
        }
    }
}
