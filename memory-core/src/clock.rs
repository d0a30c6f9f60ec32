//! The injected clock.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::Timestamp;

/// Tells the time. Everything that needs the time is given one of these, so that tests can hold, advance and set back
/// the clock.
pub trait Clock: Send + Sync {
    /// Wall-clock time. May jump in either direction.
    fn now(&self) -> Timestamp;

    /// Time since an arbitrary fixed moment. Never goes back; deadlines and ages are measured with it.
    fn monotonic(&self) -> Duration;
}

/// The machine's own clocks.
#[derive(Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose monotonic time starts now.
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        jiff::Timestamp::now().into()
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }
}

/// A clock that moves only when told to.
#[derive(Debug, Default)]
pub struct ManualClock {
    wall_micros: AtomicI64,
    monotonic_micros: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self { wall_micros: AtomicI64::new(now.as_micros()), monotonic_micros: AtomicU64::new(0) }
    }

    /// Moves both times forward.
    pub fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        self.monotonic_micros.fetch_add(micros, Ordering::SeqCst);
        self.wall_micros.fetch_add(i64::try_from(micros).unwrap_or(i64::MAX), Ordering::SeqCst);
    }

    /// Sets the wall clock, forward or back, as NTP or a person does; monotonic time is not touched.
    pub fn set_wall(&self, now: Timestamp) {
        self.wall_micros.store(now.as_micros(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.wall_micros.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.monotonic_micros.load(Ordering::SeqCst))
    }
}
