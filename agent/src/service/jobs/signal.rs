//! Wakes and stops the job thread, and tells how its jobs go.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Shared by the job thread and those who give it work.
pub struct Signal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Default)]
struct SignalState {
    woken: bool,
    stopped: bool,
    embedding: JobProgress,
    learning: JobProgress,
    gists: JobProgress,
    consolidation: JobProgress,
}

/// Progress of a job since the start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobProgress {
    /// Events it is done with.
    pub done: u64,
    /// Slices that failed.
    pub failures: u64,
    /// Why the last slice failed; `None` once one succeeds.
    pub error: Option<String>,
}

/// The jobs there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Facts, anchors and procedures.
    Learning,
    /// Vectors of texts.
    Embedding,
    /// Gists of hours and days.
    Gists,
    /// One episode of the segments of a stay.
    Consolidation,
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

    /// Ends the jobs after the slice in hand.
    pub fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_all();
    }

    pub fn progress(&self, kind: Kind) -> JobProgress {
        self.state.lock().progress(kind).clone()
    }

    pub(super) fn stopped(&self) -> bool {
        self.state.lock().stopped
    }

    pub(super) fn note_done(&self, kind: Kind, done: u64) {
        let mut state = self.state.lock();
        let progress = state.progress(kind);
        progress.done += done;
        progress.error = None;
    }

    /// `true` if it is the first failure in a row.
    pub(super) fn note_failure(&self, kind: Kind, error: String) -> bool {
        let mut state = self.state.lock();
        let progress = state.progress(kind);
        progress.failures += 1;
        progress.error.replace(error).is_none()
    }

    /// Waits until the time is over or it is time to stop.
    pub(super) fn rest(&self, time: Duration) {
        let until = Instant::now() + time;
        let mut state = self.state.lock();
        while !(time.is_zero() || state.stopped || self.changed.wait_until(&mut state, until).timed_out()) {}
    }

    /// Waits to be woken; `false` when it is time to stop.
    pub(super) fn wait(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut state = self.state.lock();
        while !(state.stopped || state.woken) {
            if self.changed.wait_until(&mut state, until).timed_out() {
                break;
            }
        }
        state.woken = false;
        !state.stopped
    }
}

impl SignalState {
    fn progress(&mut self, kind: Kind) -> &mut JobProgress {
        match kind {
            Kind::Learning => &mut self.learning,
            Kind::Embedding => &mut self.embedding,
            Kind::Gists => &mut self.gists,
            Kind::Consolidation => &mut self.consolidation,
        }
    }
}
