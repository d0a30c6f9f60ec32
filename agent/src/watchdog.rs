//! Tracks which loops must tick before systemd's watchdog is fed, and which of them have stopped.
//!
//! A loop ticks while it works, waits for work, waits in a backoff or is paused. Only a stuck loop does not tick. A missing
//! camera or broker does not stop the ticks of its loop. Background work ticks with every step that the memory reports, and
//! has a longer timeout: it may be slow, as long as it makes progress.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memory_core::Clock;
use parking_lot::Mutex;

/// Time without a tick after which a loop counts as stuck. A commit to a slow card, opening a slow device and encoding a
/// segment are all much shorter.
pub const STUCK_AFTER: Duration = Duration::from_secs(90);

/// The same for background work. One step (a batch for the slowest model, a sync of everything copied) may take minutes on a
/// small board, and ending the program costs more than waiting.
pub const BACKGROUND_STUCK_AFTER: Duration = Duration::from_secs(600);

/// Interval at which a waiting loop ticks.
pub const TICK: Duration = Duration::from_secs(1);

/// How long ago a loop ticked; `None` once it has nothing to do any more.
pub type Silence = Arc<dyn Fn() -> Option<Duration> + Send + Sync>;

/// The loops that are watched.
pub struct Watchdog {
    clock: Arc<dyn Clock>,
    state: Mutex<WatchdogState>,
}

#[derive(Default)]
struct WatchdogState {
    next: u64,
    loops: BTreeMap<u64, Loop>,
    excuses: usize,
    /// End of the last excuse.
    excused: Option<Duration>,
}

/// A loop that is watched.
#[derive(Clone)]
struct Loop {
    name: String,
    silence: Silence,
    patience: Duration,
}

/// A loop that is stuck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stalled {
    /// Its name.
    pub name: String,
    /// How long ago it ticked.
    pub silence: Duration,
}

impl Watchdog {
    /// Creates a watchdog that watches nothing yet.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { clock, state: Mutex::default() })
    }

    /// Watches a loop that says itself when it ticked, until what is returned is dropped.
    pub fn watch(self: &Arc<Self>, name: &str, silence: Silence) -> Watched {
        self.watch_for(name, STUCK_AFTER, silence)
    }

    /// The same of work that nobody waits for.
    pub fn watch_behind(self: &Arc<Self>, name: &str, silence: Silence) -> Watched {
        self.watch_for(name, BACKGROUND_STUCK_AFTER, silence)
    }

    fn watch_for(self: &Arc<Self>, name: &str, patience: Duration, silence: Silence) -> Watched {
        let mut state = self.state.lock();
        let id = state.next;
        state.next += 1;
        state.loops.insert(id, Loop { name: name.to_owned(), silence, patience });
        Watched { watchdog: Arc::clone(self), id }
    }

    /// Watches a loop that ticks by the [`Heartbeat`], until that is dropped.
    pub fn heartbeat(self: &Arc<Self>, name: &str) -> Heartbeat {
        let pulse = Arc::new(Pulse::new(Arc::clone(&self.clock)));
        let silence = Arc::clone(&pulse);
        let watched = self.watch(name, Arc::new(move || Some(silence.silence())));
        Heartbeat { pulse, _watched: watched }
    }

    /// Excuses all loops until the returned value is dropped: something makes them wait that is known to take long.
    pub fn excuse(self: &Arc<Self>) -> Excuse {
        self.state.lock().excuses += 1;
        Excuse(Arc::clone(self))
    }

    /// The loops that are stuck, in the order in which they came.
    pub fn stalled(&self) -> Vec<Stalled> {
        let (loops, excused) = {
            let state = self.state.lock();
            if state.excuses > 0 {
                return Vec::new();
            }
            // Probes take locks of their own.
            (state.loops.values().cloned().collect::<Vec<_>>(), state.excused)
        };
        let most = excused.map_or(Duration::MAX, |since| self.clock.monotonic().saturating_sub(since));
        let stalled = |Loop { name, silence, patience }: Loop| {
            let silence = silence()?.min(most);
            (silence > patience).then_some(Stalled { name, silence })
        };
        loops.into_iter().filter_map(stalled).collect()
    }
}

/// Takes a loop off the list when it is dropped.
#[must_use = "dropped, the loop is not watched"]
pub struct Watched {
    watchdog: Arc<Watchdog>,
    id: u64,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watchdog.state.lock().loops.remove(&self.id);
    }
}

/// See [`Watchdog::excuse`].
#[must_use = "dropped, nothing is excused"]
pub struct Excuse(Arc<Watchdog>);

impl Drop for Excuse {
    fn drop(&mut self) {
        let now = self.0.clock.monotonic();
        let mut state = self.0.state.lock();
        state.excuses -= 1;
        state.excused = Some(now);
    }
}

/// The moment of a loop's last tick.
pub struct Pulse {
    clock: Arc<dyn Clock>,
    micros: AtomicU64,
}

impl Pulse {
    /// The first tick is now.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let pulse = Self { clock, micros: AtomicU64::new(0) };
        pulse.tick();
        pulse
    }

    /// The loop ticks.
    pub fn tick(&self) {
        let now = u64::try_from(self.clock.monotonic().as_micros()).unwrap_or(u64::MAX);
        self.micros.store(now, Ordering::Relaxed);
    }

    /// How long ago it did.
    pub fn silence(&self) -> Duration {
        self.clock.monotonic().saturating_sub(Duration::from_micros(self.micros.load(Ordering::Relaxed)))
    }
}

/// The ticks of one loop.
pub struct Heartbeat {
    pulse: Arc<Pulse>,
    _watched: Watched,
}

impl Heartbeat {
    /// The loop ticks.
    pub fn tick(&self) {
        self.pulse.tick();
    }

    /// Ticks for as long as the task that does `work` gets to run: while it waits, but not while it blocks.
    pub async fn beside<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            self.tick();
            if let Ok(done) = tokio::time::timeout(TICK, work.as_mut()).await {
                return done;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{ManualClock, Timestamp};

    use super::*;

    fn watchdog() -> (Arc<ManualClock>, Arc<Watchdog>) {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        (Arc::clone(&clock), Watchdog::new(clock))
    }

    fn names(watchdog: &Watchdog) -> Vec<String> {
        watchdog.stalled().into_iter().map(|stalled| stalled.name).collect()
    }

    #[test]
    fn the_loop_that_does_not_tick_is_named_with_its_silence() {
        let (clock, watchdog) = watchdog();
        let (lively, stuck) = (watchdog.heartbeat("lively"), watchdog.heartbeat("stuck"));
        clock.advance(STUCK_AFTER);
        assert_eq!(watchdog.stalled(), []);
        lively.tick();
        clock.advance(Duration::from_secs(1));
        let silence = STUCK_AFTER + Duration::from_secs(1);
        assert_eq!(watchdog.stalled(), [Stalled { name: "stuck".into(), silence }]);
        stuck.tick();
        assert_eq!(watchdog.stalled(), []);
    }

    #[test]
    fn a_loop_that_has_ended_is_not_missed() {
        let (clock, watchdog) = watchdog();
        let gone = watchdog.heartbeat("gone");
        let over = watchdog.watch("over", Arc::new(|| None));
        drop(gone);
        clock.advance(STUCK_AFTER * 2);
        assert_eq!(names(&watchdog), Vec::<String>::new());
        drop(over);
    }

    #[test]
    fn a_new_loop_of_the_same_name_outlives_the_old_one() {
        let (clock, watchdog) = watchdog();
        let old = watchdog.heartbeat("door");
        let new = watchdog.heartbeat("door");
        drop(old);
        clock.advance(STUCK_AFTER * 2);
        assert_eq!(names(&watchdog), ["door"]);
        drop(new);
        assert_eq!(names(&watchdog), Vec::<String>::new());
    }

    #[test]
    fn work_that_nobody_waits_for_is_given_longer() {
        let (clock, watchdog) = watchdog();
        let pulse = Arc::new(Pulse::new(Arc::<ManualClock>::clone(&clock)));
        let silence = Arc::clone(&pulse);
        let _jobs = watchdog.watch_behind("jobs", Arc::new(move || Some(silence.silence())));
        let _writer = watchdog.heartbeat("writer");
        clock.advance(BACKGROUND_STUCK_AFTER);
        assert_eq!(names(&watchdog), ["writer"]);
        clock.advance(TICK);
        assert_eq!(names(&watchdog), ["jobs", "writer"]);
        pulse.tick();
        assert_eq!(names(&watchdog), ["writer"]);
    }

    #[test]
    fn what_is_known_to_take_long_excuses_all_loops_and_they_have_their_patience_again_after_it() {
        let (clock, watchdog) = watchdog();
        let _writer = watchdog.heartbeat("writer");
        let excuse = watchdog.excuse();
        clock.advance(STUCK_AFTER * 10);
        assert_eq!(names(&watchdog), Vec::<String>::new());
        drop(excuse);
        assert_eq!(names(&watchdog), Vec::<String>::new());
        clock.advance(STUCK_AFTER + TICK);
        assert_eq!(names(&watchdog), ["writer"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_waits_ticks_and_one_that_blocks_does_not() {
        let (clock, watchdog) = watchdog();
        let heartbeat = watchdog.heartbeat("client");
        let waits = heartbeat.beside(async {
            for _ in 0..10 {
                // Time passes for both clocks.
                clock.advance(STUCK_AFTER / 2);
                tokio::time::sleep(TICK * 2).await;
                assert_eq!(names(&watchdog), Vec::<String>::new());
            }
            clock.advance(STUCK_AFTER * 2);
            names(&watchdog)
        });
        assert_eq!(waits.await, ["client"], "nobody ticked while it did not let go");
    }
}
