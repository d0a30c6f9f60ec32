//! Compaction by itself: when enough is stale, or something was forgotten long enough ago, and nobody asks.

use std::time::Duration;

use memory_core::{Clock, Memory, Stats};

/// Conditions for an automatic compaction.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AutomaticOptions {
    /// Whether it is.
    pub enabled: bool,
    /// Stale bytes of a hundred that the store takes.
    pub stale_percent: u64,
    /// How long words of what was forgotten may stay in freed pages.
    pub forgotten: Duration,
    /// Ceiling of the store, near which what is stale is given back at once.
    pub max_bytes: Option<u64>,
}

/// Size of a store, in bytes, below which hidden rows are not worth a compaction.
const MIN_STORE_BYTES: u64 = 4 << 20;

/// Maximum pause after a failure.
const BACKOFF_MAX: Duration = Duration::from_secs(3600);

/// Decides when to compact. Held by the thread that does it.
pub struct Automatic {
    options: AutomaticOptions,
    /// Not before this, after a failure.
    not_before: Duration,
    backoff: Duration,
}

impl Automatic {
    /// Creates the state in which nothing was tried yet.
    pub fn new(options: AutomaticOptions) -> Self {
        Self { options, not_before: Duration::ZERO, backoff: Duration::from_secs(60) }
    }

    /// Why the memory should be compacted now, if it should.
    pub fn reason(&self, stats: &Stats, clock: &dyn Clock) -> Option<&'static str> {
        if !self.options.enabled || clock.monotonic() < self.not_before {
            return None;
        }
        let percent = stats.stale_bytes.saturating_mul(100) / stats.disk_bytes.max(1);
        let near_ceiling = self.options.max_bytes.is_some_and(|ceiling| stats.disk_bytes > ceiling / 20 * 19);
        if near_ceiling && percent > 0 {
            Some("the store is at its ceiling")
        } else if percent >= self.options.stale_percent && stats.disk_bytes >= MIN_STORE_BYTES {
            Some("enough of the store is stale")
        } else {
            self.overdue(stats, clock)
        }
    }

    fn overdue(&self, stats: &Stats, clock: &dyn Clock) -> Option<&'static str> {
        let since = stats.forgotten_since?;
        let now = clock.now();
        // A clock that was set back says nothing of how long ago that was, and may not reach that moment for years.
        let apart = now.since(since).max(since.since(now));
        (apart >= self.options.forgotten).then_some("something was forgotten")
    }

    /// Compacts, and remembers a failure so that it is not tried all the time.
    pub fn compact(&mut self, memory: &Memory, clock: &dyn Clock, why: &str) {
        match memory.compact() {
            Ok(done) => {
                self.backoff = Duration::from_secs(60);
                tracing::info!(
                    why, before = done.bytes_before, after = done.bytes_after, took = ?done.took, "the memory was compacted"
                );
            }
            Err(error) => {
                tracing::warn!(why, %error, retry = ?self.backoff, "the memory could not be compacted");
                self.not_before = clock.monotonic() + self.backoff;
                self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{ManualClock, Timestamp};

    use super::*;

    fn options() -> AutomaticOptions {
        AutomaticOptions {
            enabled: true,
            stale_percent: 25,
            forgotten: Duration::from_secs(3600),
            max_bytes: Some(100 << 20),
        }
    }

    fn stats(disk_mib: u64, stale_mib: u64, forgotten_s: Option<i64>) -> Stats {
        Stats {
            disk_bytes: disk_mib << 20,
            stale_bytes: stale_mib << 20,
            forgotten_since: forgotten_s.map(|seconds| Timestamp::from_micros(seconds * 1_000_000)),
            ..Stats::default()
        }
    }

    #[test]
    fn it_is_time_when_enough_is_stale_or_the_ceiling_is_near_or_forgetting_was_long_ago() {
        let clock = ManualClock::at(Timestamp::from_micros(10_000_000_000));
        let automatic = Automatic::new(options());
        assert_eq!(automatic.reason(&stats(40, 0, None), &clock), None);
        assert_eq!(automatic.reason(&stats(40, 9, None), &clock), None);
        assert!(automatic.reason(&stats(40, 10, None), &clock).is_some());
        assert_eq!(automatic.reason(&stats(2, 1, None), &clock), None, "small stores are left alone");
        assert!(automatic.reason(&stats(96, 1, None), &clock).is_some());
        assert_eq!(automatic.reason(&stats(40, 1, Some(9_000)), &clock), None);
        assert!(automatic.reason(&stats(40, 1, Some(6_000)), &clock).is_some());
        assert!(automatic.reason(&stats(1, 0, Some(6_000)), &clock).is_some(), "however little it was");
        let off = Automatic::new(AutomaticOptions { enabled: false, ..options() });
        assert_eq!(off.reason(&stats(40, 40, Some(0)), &clock), None);
    }

    #[test]
    fn what_was_forgotten_before_the_clock_was_set_back_is_not_waited_for_for_ever() {
        let clock = ManualClock::at(Timestamp::from_micros(0));
        let automatic = Automatic::new(options());
        assert!(automatic.reason(&stats(40, 1, Some(i64::MIN / 1_000_000 + 1)), &clock).is_some());
        assert!(automatic.reason(&stats(40, 1, Some(400 * 24 * 3_600)), &clock).is_some());
        assert_eq!(automatic.reason(&stats(40, 1, Some(60)), &clock), None, "set back by a minute");
    }
}
