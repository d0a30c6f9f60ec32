//! The time budget of a question.

use std::time::Duration;

use crate::{Clock, QueryError};

/// Measures the stages of a question, and ends the question when its time budget is spent.
pub(super) struct Stopwatch<'a> {
    clock: &'a dyn Clock,
    started: Duration,
    budget: Option<Duration>,
}

impl<'a> Stopwatch<'a> {
    pub fn start(clock: &'a dyn Clock, budget: Option<Duration>) -> Self {
        Self { clock, started: clock.monotonic(), budget }
    }

    /// Returns the time since the start, or an error if the budget is spent.
    pub fn elapsed_within_budget(&self) -> Result<Duration, QueryError> {
        let elapsed = self.clock.monotonic().saturating_sub(self.started);
        match self.budget {
            Some(budget) if elapsed > budget => Err(QueryError::Deadline(budget)),
            _ => Ok(elapsed),
        }
    }
}
