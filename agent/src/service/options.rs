//! Sizes and waits of the service.

use std::time::Duration;

use drivers::perception::Pace;

use super::PoseOptions;
use crate::upkeep::AutomaticOptions;

/// Sizes and waits of the service.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceOptions {
    /// Batches and segments that may wait for the writer.
    pub writer_queue: usize,
    /// Observations that one transaction takes at most, unless a single batch is larger.
    pub commit_items: usize,
    /// How long the writer waits for company before it commits; zero commits what is there.
    pub commit_linger: Duration,
    /// Threads that answer questions.
    pub recall_threads: usize,
    /// Questions that may wait; above it, `Busy`.
    pub recall_queue: usize,
    /// Time for a question that names none, waiting included.
    pub default_budget: Duration,
    /// Time that one slice of a job should take. Its size follows it.
    pub job_slice: Duration,
    /// How long jobs stay away after the last question.
    pub job_quiet: Duration,
    /// How long questions can keep a job away before it does one slice all the same.
    pub job_patience: Duration,
    /// Conditions for an automatic compaction.
    pub compaction: AutomaticOptions,
    /// Signals that the jobs follow.
    pub pace: Pace,
    /// Which poses of the robot are used.
    pub pose: PoseOptions,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            writer_queue: 256,
            commit_items: 2048,
            commit_linger: Duration::from_millis(2),
            recall_threads: cores.clamp(2, 4),
            recall_queue: 64,
            default_budget: Duration::from_secs(3),
            job_slice: Duration::from_millis(30),
            job_quiet: Duration::from_millis(20),
            job_patience: Duration::from_secs(1),
            compaction: AutomaticOptions::default(),
            pace: Pace::default(),
            pose: PoseOptions::default(),
        }
    }
}
