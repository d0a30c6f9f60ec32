//! User options of learning.

use std::time::Duration;

use crate::episodic::anchors::SAME_PERSON;
use crate::logic::LogicOptions;

/// Options of learning. A change does not affect what was learned before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearningOptions {
    /// A longer pause ends a sequence of actions that no `session` attribute groups.
    pub gap: Duration,
    /// Minimum number of sessions for a procedure whose goal nobody named.
    pub min_sessions: usize,
    /// Mean cosine above which a face, and a voice, belong to a known person. The values apply to the current models; vectors of
    /// other spaces are not compared with them.
    pub same_person: (f64, f64),
}

impl Default for LearningOptions {
    fn default() -> Self {
        let logic = LogicOptions::default();
        Self { gap: logic.gap, min_sessions: logic.min_sessions, same_person: SAME_PERSON }
    }
}

impl LearningOptions {
    /// The thresholds of the logic layer.
    pub(super) fn logic(&self) -> LogicOptions {
        LogicOptions { gap: self.gap, min_sessions: self.min_sessions, ..LogicOptions::default() }
    }
}
