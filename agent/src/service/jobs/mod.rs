//! The jobs behind the commit: learning from what was committed, embedding it and summarising it, in slices that stay out of the
//! way of questions. All but embedding also make way for ingest while there is something in the writer's queue.

mod signal;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use memory_core::{Clock, EntityNews, GistNews, Memory, ProcedureNews};

use super::ServiceOptions;
use super::pool::panic_message;
use super::questions::Questions;
use crate::watchdog::{Pulse, TICK};
pub use signal::{JobProgress, Kind, Signal};

/// Minimum number of events in a slice of embedding. Each slice ends in a commit. The first slice of a job has four times as
/// many.
const MIN_SLICE: usize = 4;
/// Maximum number of events in a slice of embedding.
const MAX_SLICE: usize = 256;
/// Bounds of a slice of learning, in events. Learning is faster and holds no lock. The minimum is large enough to pay for its
/// commit: on a busy machine, four events at a time would never catch up.
const LEARNING_SLICE: (usize, usize) = (64, 4096);
/// Bounds of a slice of gists, in hours.
const GIST_SLICE: (usize, usize) = (1, 64);
/// Bounds of a slice of consolidation, in parts of stays. Each part is a commit.
const CONSOLIDATION_SLICE: (usize, usize) = (1, 16);
/// Interval between slices of learning during ingest, about one seventh of the time. An import of a year is learnt while it
/// runs, and ingest shares the processor with no more than that.
const LEARNING_INTERVAL: Duration = Duration::from_millis(200);
/// Interval at which a job looks for work that nobody announced.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum pause after failures.
const BACKOFF_MAX: Duration = Duration::from_secs(30);

/// Signals that the jobs make way for, and listeners.
pub struct JobEnvironment<'a> {
    pub questions: &'a Questions,
    /// Whether the writer has something to do.
    pub ingesting: &'a dyn Fn() -> bool,
    /// Hears what was learnt of persons.
    pub of_person: &'a dyn Fn(EntityNews),
    /// Hears what was learnt of procedures.
    pub of_procedure: &'a dyn Fn(ProcedureNews),
    /// Hears of gists that were made.
    pub of_gist: &'a dyn Fn(GistNews),
    /// Ticks while they wait and rest; the memory does while they work.
    pub pulse: &'a Pulse,
}

/// Body of the thread.
pub fn run(memory: &Memory, options: &ServiceOptions, clock: &dyn Clock, signal: &Signal, around: &JobEnvironment<'_>) {
    // Consolidation comes before the gists: what it changes they would be made of again.
    let mut jobs = [Kind::Learning, Kind::Embedding, Kind::Consolidation, Kind::Gists].map(Job::new);
    while signal.wait(IDLE_INTERVAL) {
        loop {
            let mut worked = false;
            for job in &mut jobs {
                around.pulse.tick();
                if signal.stopped() {
                    return;
                }
                let now = clock.monotonic();
                let makes_way =
                    job.kind != Kind::Embedding && now < job.last + LEARNING_INTERVAL && (around.ingesting)();
                if makes_way || now < job.not_before || job.pending(memory) == 0 {
                    continue;
                }
                around.questions.wait_for_quiet(options.job_quiet, options.job_patience);
                let begin = clock.monotonic();
                worked |= job.slice(memory, options.job_slice, clock, signal);
                rest(signal, around.pulse, options.pace.rest(job.last.saturating_sub(begin)));
            }
            memory.take_entity_news().into_iter().for_each(around.of_person);
            memory.take_procedure_news().into_iter().for_each(around.of_procedure);
            memory.take_gist_news().into_iter().for_each(around.of_gist);
            if !worked {
                break;
            }
        }
    }
}

/// A hot machine may rest for long, and its jobs do not hang meanwhile.
fn rest(signal: &Signal, pulse: &Pulse, time: Duration) {
    let mut left = time;
    while !left.is_zero() && !signal.stopped() {
        let now = left.min(TICK);
        signal.rest(now);
        pulse.tick();
        left -= now;
    }
}

impl Kind {
    /// Fewest and most events of a slice.
    fn sizes(self) -> (usize, usize) {
        match self {
            Self::Learning => LEARNING_SLICE,
            Self::Embedding => (MIN_SLICE, MAX_SLICE),
            Self::Gists => GIST_SLICE,
            Self::Consolidation => CONSOLIDATION_SLICE,
        }
    }
}

struct Job {
    kind: Kind,
    /// Events of the next slice.
    size: usize,
    /// Time of the next attempt after a failure.
    not_before: Duration,
    backoff: Duration,
    /// End of the last slice.
    last: Duration,
}

impl Job {
    fn new(kind: Kind) -> Self {
        let zero = Duration::ZERO;
        Self { kind, size: 4 * kind.sizes().0, not_before: zero, backoff: IDLE_INTERVAL, last: zero }
    }

    /// Returns the number of events left to process.
    fn pending(&self, memory: &Memory) -> u64 {
        let stats = memory.stats();
        match self.kind {
            Kind::Learning => stats.pending_lessons + u64::from(stats.relearning),
            Kind::Embedding => stats.pending_embeddings,
            // A read error is reported by the reader.
            Kind::Gists => memory.gists_due().map_or(0, |due| due as u64),
            Kind::Consolidation => memory.consolidation_due().map_or(0, |due| due as u64),
        }
    }

    /// Does one slice; `false` if nothing came of it, so that nobody need try again at once.
    fn slice(&mut self, memory: &Memory, wanted: Duration, clock: &dyn Clock, signal: &Signal) -> bool {
        let before = self.pending(memory);
        let begin = clock.monotonic();
        let outcome = match catch_unwind(AssertUnwindSafe(|| self.work(memory))) {
            Ok(outcome) => outcome.map_err(|error| error.to_string()),
            Err(panic) => Err(panic_message(panic.as_ref())),
        };
        self.last = clock.monotonic();
        match outcome {
            Ok(left) => {
                // Commits add to what is pending meanwhile, so this counts too few rather than too many.
                let done = before.saturating_sub(left);
                signal.note_done(self.kind, done);
                self.size = next_slice(self.size, self.last.saturating_sub(begin), wanted, self.kind.sizes());
                self.backoff = IDLE_INTERVAL;
                // Without an embedder nothing ever becomes less; a new fold goes on though nothing is pending,
                // and what consolidation has to do is an estimate.
                done > 0
                    || self.kind == Kind::Learning && memory.stats().relearning
                    || self.kind == Kind::Consolidation && left > 0
            }
            Err(error) => {
                if signal.note_failure(self.kind, error.clone()) {
                    let job = self.kind;
                    tracing::warn!(?job, %error, "a job failed; words still find what was committed");
                }
                self.not_before = self.last + self.backoff;
                self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
                false
            }
        }
    }

    fn work(&self, memory: &Memory) -> Result<u64, memory_core::ObserveError> {
        match self.kind {
            Kind::Learning => {
                let left = memory.learn_pending(self.size)?;
                Ok(left.lessons + u64::from(left.relearning))
            }
            Kind::Embedding => Ok(memory.embed_pending(self.size)?.embeddings),
            Kind::Gists => Ok(memory.gists_pending(self.size)? as u64),
            Kind::Consolidation => Ok(memory.consolidate_pending(self.size)? as u64),
        }
    }
}

/// Halves or doubles towards the time that a slice should take.
fn next_slice(slice: usize, took: Duration, wanted: Duration, (smallest, largest): (usize, usize)) -> usize {
    let next = if took > wanted * 3 / 2 {
        slice / 2
    } else if took < wanted / 2 {
        slice * 2
    } else {
        slice
    };
    next.clamp(smallest, largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slice_follows_the_time_it_takes() {
        let wanted = Duration::from_millis(30);
        let next = |slice, took| next_slice(slice, took, wanted, Kind::Embedding.sizes());
        assert_eq!(next(16, Duration::from_millis(5)), 32);
        assert_eq!(next(16, Duration::from_millis(30)), 16);
        assert_eq!(next(16, Duration::from_millis(100)), 8);
        assert_eq!(next(4, Duration::from_secs(1)), 4);
        assert_eq!(next(256, Duration::ZERO), 256);
        assert_eq!(next_slice(64, Duration::from_secs(1), wanted, Kind::Learning.sizes()), 64);
    }
}
