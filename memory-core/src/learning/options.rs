//! What a user may want to set about learning.

use std::time::Duration;

use crate::episodic::anchors::SAME_PERSON;
use crate::logic::LogicOptions;

/// What learning goes by. What was learnt before a change stays as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearningOptions {
    /// A pause longer than this ends a stretch of activity that nobody named as a session.
    pub gap: Duration,
    /// The fewest sessions that make a procedure nobody named.
    pub min_sessions: usize,
    /// The mean cosine from which on a face, and a voice, belong to a person who was seen or heard often. It belongs to the
    /// model whose vectors come now; those of another space are compared with none of these.
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
