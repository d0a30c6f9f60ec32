//! The job behind the commit: embeds what is pending, in slices that stay out of the way of questions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use memory_core::{Clock, Memory};
use parking_lot::{Condvar, Mutex};

use super::ServiceOptions;
use super::pool::panic_message;
use super::questions::Questions;

/// Events in the first slice; then the time decides.
const FIRST_SLICE: usize = 16;
/// A slice never has fewer: each ends in a commit.
const SMALLEST_SLICE: usize = 4;
/// A slice never has more.
const LARGEST_SLICE: usize = 256;
/// Looks for work that nobody announced this often.
const IDLE: Duration = Duration::from_secs(1);
/// Longest pause after failures.
const BACKOFF_MAX: Duration = Duration::from_secs(30);

/// Wakes and stops the job, and knows how it goes.
pub struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    woken: bool,
    stopped: bool,
    progress: EmbeddingProgress,
}

/// What the embedding job did since the start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmbeddingProgress {
    /// Events embedded.
    pub embedded: u64,
    /// Slices that failed.
    pub failures: u64,
    /// Why the last slice failed; `None` once one succeeds.
    pub error: Option<String>,
}

impl Signal {
    pub fn new() -> Self {
        Self { state: Mutex::default(), changed: Condvar::new() }
    }

    /// There may be work.
    pub fn wake(&self) {
        self.state.lock().woken = true;
        self.changed.notify_all();
    }

    /// Ends the job after its current slice.
    pub fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_all();
    }

    pub fn progress(&self) -> EmbeddingProgress {
        self.state.lock().progress.clone()
    }

    fn stopped(&self) -> bool {
        self.state.lock().stopped
    }

    /// Waits to be woken; `false` when it is time to stop.
    fn wait(&self, patience: Duration, wakeable: bool) -> bool {
        let until = Instant::now() + patience;
        let mut state = self.state.lock();
        while !(state.stopped || wakeable && state.woken) {
            if self.changed.wait_until(&mut state, until).timed_out() {
                break;
            }
        }
        state.woken = false;
        !state.stopped
    }
}

/// Body of the thread.
pub fn run(memory: &Memory, options: &ServiceOptions, clock: &dyn Clock, signal: &Signal, questions: &Questions) {
    let mut slice = FIRST_SLICE;
    let mut backoff = IDLE;
    while signal.wait(IDLE, true) {
        let mut pending = memory.stats().pending_embeddings;
        while pending > 0 && !signal.stopped() {
            questions.wait_for_quiet(options.embedding_quiet, options.embedding_patience);
            let begin = clock.monotonic();
            let outcome = match catch_unwind(AssertUnwindSafe(|| memory.embed_pending(slice))) {
                Ok(outcome) => outcome.map_err(|error| error.to_string()),
                Err(panic) => Err(panic_message(panic.as_ref())),
            };
            match outcome {
                Ok(work) => {
                    let took = clock.monotonic().saturating_sub(begin);
                    // Commits add to what is pending meanwhile, so this counts too few rather than too many.
                    let embedded = pending.saturating_sub(work.embeddings);
                    pending = work.embeddings;
                    let mut state = signal.state.lock();
                    state.progress.embedded += embedded;
                    state.progress.error = None;
                    drop(state);
                    slice = next_slice(slice, took, options.embedding_slice);
                    backoff = IDLE;
                    if embedded == 0 {
                        // Without an embedder nothing ever becomes less.
                        break;
                    }
                }
                Err(error) => {
                    let mut state = signal.state.lock();
                    if state.progress.error.is_none() {
                        tracing::warn!(%error, "embedding failed; words still find what was committed");
                    }
                    state.progress.failures += 1;
                    state.progress.error = Some(error);
                    drop(state);
                    if !signal.wait(backoff, false) {
                        return;
                    }
                    backoff = (backoff * 2).min(BACKOFF_MAX);
                }
            }
        }
    }
}

/// Halves or doubles towards the time that a slice should take.
fn next_slice(slice: usize, took: Duration, wanted: Duration) -> usize {
    let next = if took > wanted * 3 / 2 {
        slice / 2
    } else if took < wanted / 2 {
        slice * 2
    } else {
        slice
    };
    next.clamp(SMALLEST_SLICE, LARGEST_SLICE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slice_follows_the_time_it_takes() {
        let wanted = Duration::from_millis(30);
        assert_eq!(next_slice(16, Duration::from_millis(5), wanted), 32);
        assert_eq!(next_slice(16, Duration::from_millis(30), wanted), 16);
        assert_eq!(next_slice(16, Duration::from_millis(100), wanted), 8);
        assert_eq!(next_slice(4, Duration::from_secs(1), wanted), 4);
        assert_eq!(next_slice(256, Duration::ZERO, wanted), 256);
    }
}
