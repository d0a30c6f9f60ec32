//! Decides how far the wall clock can be trusted. Boards without a clock battery start in 1970, or at the time of their image,
//! until they get the time from the network.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::limits::MAX_FUTURE;
use crate::{Clock, Timestamp};

/// The earliest possible time, 2024-01-01: this program did not exist before.
const EARLIEST: Timestamp = Timestamp::from_micros(1_704_067_200_000_000);

/// How far a clock may lag before it counts as wrong. A small adjustment stays below it.
const TOLERANCE: Duration = Duration::from_secs(60);

/// How far ahead of the latest event an observation may lie while the clock is wrong. No robot is stored away for longer.
const MAX_AHEAD: Duration = Duration::from_secs(10 * 366 * 24 * 3600);

/// Tells the time to the writer.
pub(crate) struct Wall {
    clock: Arc<dyn Clock>,
    state: Mutex<WallState>,
}

#[derive(Clone, Copy)]
struct WallState {
    /// Lower bound of the time.
    floor: Timestamp,
    /// Monotonic time at which that was known.
    known: Duration,
    told: bool,
}

/// The time of one transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommitTime {
    /// The current time.
    pub now: Timestamp,
    /// Latest acceptable time of an observation.
    pub latest: Timestamp,
    /// Whether the clock is behind: what is received now will seem to be older than it is once it is set.
    pub behind: bool,
}

impl Wall {
    /// `known`: when the last observations were, as the store has them.
    pub fn new(clock: Arc<dyn Clock>, known: Option<Timestamp>) -> Self {
        let floor = known.map_or(EARLIEST, |known| known.max(EARLIEST));
        let state = WallState { floor, known: clock.monotonic(), told: false };
        Self { clock, state: Mutex::new(state) }
    }

    /// Returns the lower bound of the time if the clock shows an earlier one.
    pub fn behind(&self) -> Option<Timestamp> {
        let state = *self.state.lock();
        let least = self.least(&state);
        (least.since(self.clock.now()) > TOLERANCE).then_some(least)
    }

    fn least(&self, state: &WallState) -> Timestamp {
        state.floor.saturating_add(self.clock.monotonic().saturating_sub(state.known))
    }

    /// The time for one transaction.
    pub fn moment(&self) -> CommitTime {
        let mut state = self.state.lock();
        let (shown, least) = (self.clock.now(), self.least(&state));
        if least.since(shown) <= TOLERANCE {
            *state = WallState { floor: shown.max(state.floor), known: self.clock.monotonic(), told: false };
            return CommitTime { now: shown, latest: shown.saturating_add(MAX_FUTURE), behind: false };
        }
        if !std::mem::replace(&mut state.told, true) {
            tracing::warn!(
                clock = %shown, at_least = %least,
                "the clock is behind; times of observations are taken as they are told until it is set"
            );
        }
        // What cannot be is not written down; of what could be, the clock is the better witness.
        let now = if shown < EARLIEST { least } else { shown };
        CommitTime { now, latest: least.saturating_add(MAX_AHEAD), behind: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ManualClock;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn june() -> Timestamp {
        EARLIEST.saturating_add(DAY * 160)
    }

    #[test]
    fn a_clock_that_shows_what_cannot_be_is_not_believed_and_goes_on_from_what_is_known() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let wall = Wall::new(Arc::<ManualClock>::clone(&clock), Some(june()));
        clock.advance(DAY);
        let moment = wall.moment();
        assert_eq!(moment.now, june().saturating_add(DAY));
        assert_eq!(wall.behind(), Some(june().saturating_add(DAY)));
        assert!(moment.latest > june().saturating_add(DAY * 365));
        clock.set_wall(june().saturating_add(DAY * 30));
        assert_eq!((wall.behind(), wall.moment().now), (None, june().saturating_add(DAY * 30)));
        assert_eq!(wall.moment().latest, june().saturating_add(DAY * 30).saturating_add(MAX_FUTURE));
    }

    #[test]
    fn a_clock_that_is_set_back_by_a_little_is_believed() {
        let clock = Arc::new(ManualClock::at(june()));
        let wall = Wall::new(Arc::<ManualClock>::clone(&clock), Some(june().saturating_add(Duration::from_secs(30))));
        assert_eq!((wall.behind(), wall.moment().now), (None, june()));
    }

    #[test]
    fn a_clock_behind_the_last_observation_is_believed_but_not_held_against_a_sender() {
        let clock = Arc::new(ManualClock::at(june()));
        let wall = Wall::new(Arc::<ManualClock>::clone(&clock), Some(june().saturating_add(DAY * 40)));
        assert_eq!(wall.moment().now, june());
        assert!(wall.moment().latest > june().saturating_add(DAY * 40));
    }
}
