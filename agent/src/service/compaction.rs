//! The thread that compacts the memory by itself, while nobody asks, and saves its index now and then.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use memory_core::{Clock, Memory, SaveIndex};

use super::questions::Questions;
use crate::upkeep::{Automatic, AutomaticOptions};
use crate::watchdog::{Pulse, TICK};

/// Interval at which the thread checks whether a compaction is due.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
/// Time without a question before a compaction begins.
const QUIET_TIME: Duration = Duration::from_secs(10);
/// Maximum time that questions can postpone a compaction.
const MAX_POSTPONED: Duration = Duration::from_secs(600);

/// Body of the thread; returns when the other end of `stop` goes. It ticks while it waits; the memory does while it works.
pub fn run(
    memory: &Memory,
    options: AutomaticOptions,
    clock: &dyn Clock,
    questions: &Questions,
    stop: &Receiver<()>,
    pulse: &Pulse,
) {
    let mut automatic = Automatic::new(options);
    while stop.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        pulse.tick();
        if automatic.reason(&memory.stats(), clock).is_none() {
            save_index(memory, SaveIndex::IfDue);
            continue;
        }
        let give_up = Instant::now() + MAX_POSTPONED;
        while !questions.wait_for_quiet(QUIET_TIME, TICK) && Instant::now() < give_up {
            pulse.tick();
        }
        // It may have been done meanwhile, on command.
        if let Some(why) = automatic.reason(&memory.stats(), clock) {
            automatic.compact(memory, clock, why);
        }
    }
}

/// Saves the index if it is time; a failure costs time at the next start.
pub fn save_index(memory: &Memory, when: SaveIndex) {
    match memory.save_index(when) {
        Ok(Some(saved)) => {
            tracing::debug!(bytes = saved.bytes, events = saved.events, took = ?saved.took, "the index was saved");
        }
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "the next start may have to build the index again"),
    }
}
