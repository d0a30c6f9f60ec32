//! The thresholds of the logic layer.

use std::time::Duration;

/// Options of the logic layer. The defaults are the papers' or measured on COIN (docs/benchmarks.md).
#[derive(Debug, Clone, PartialEq)]
pub struct LogicOptions {
    /// A pause longer than this ends a stretch of activity that nobody named as a session.
    pub gap: Duration,
    /// A told session that rests longer than this is over; its name may be used again.
    pub told_gap: Duration,
    /// A longer session is divided in parts of this many actions.
    pub max_actions: usize,
    /// The idf-weighted cosine between what a session without a goal did and a procedure from which on it joins it.
    pub join: f64,
    /// The same between two procedures from which on they are one.
    pub merge: f64,
    /// δ: the mixture of Eq. 3 from which on a session none of whose wordings are known joins a procedure by meaning.
    pub gate: f32,
    /// σ: the share of a procedure's sessions that a pattern must occur in.
    pub support: f64,
    /// The fewest sessions that make a procedure nobody named.
    pub min_sessions: usize,
    /// The cosine from which on two wordings mean the same step.
    pub alignment: f32,
    /// How many of the latest sessions without a goal are looked at again when sessions are regrouped.
    pub window: usize,
}

impl Default for LogicOptions {
    fn default() -> Self {
        Self {
            gap: Duration::from_mins(5),
            told_gap: Duration::from_hours(12),
            max_actions: 512,
            join: 0.3,
            merge: 0.5,
            gate: 0.5,
            support: 0.2,
            min_sessions: 2,
            alignment: 0.8,
            window: 4_096,
        }
    }
}
