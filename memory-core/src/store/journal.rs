//! Recently told observations without an id, which only their content identifies.
//!
//! The journal is rebuilt from the store when the store is opened, so it survives a kill.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use super::records::Digest;
use crate::{EventId, Timestamp};

/// Time after an observation during which a redelivery is recognised by its content alone.
pub(crate) const WINDOW: Duration = Duration::from_secs(600);

/// Maximum number of entries. A broker redelivers what was in flight: at most 65,535 messages of a session.
const MAX_ENTRIES: usize = 1 << 17;

/// Digests of the last ten minutes. Ages are monotonic, so that setting the wall clock changes nothing.
#[derive(Default)]
pub(crate) struct Journal {
    events: HashMap<Digest, EventId>,
    order: VecDeque<(Duration, Digest, EventId)>,
}

impl Journal {
    /// The event with this content, if it was told in the last ten minutes.
    pub(crate) fn find(&self, digest: &Digest) -> Option<EventId> {
        self.events.get(digest).copied()
    }

    /// Takes in what was committed at the monotonic time `at`, and drops what is too old.
    pub(crate) fn extend(&mut self, entries: impl IntoIterator<Item = (Digest, EventId)>, at: Duration) {
        for (digest, event) in entries {
            self.events.insert(digest, event);
            self.order.push_back((at, digest, event));
        }
        self.expire(at);
    }

    /// Drops what is too old at the monotonic time `now`.
    pub(crate) fn expire(&mut self, now: Duration) {
        while let Some(&(at, digest, event)) = self.order.front() {
            if now.saturating_sub(at) <= WINDOW && self.order.len() <= MAX_ENTRIES {
                break;
            }
            self.order.pop_front();
            // A repetition that was told again on purpose has taken the entry over.
            if self.events.get(&digest) == Some(&event) {
                self.events.remove(&digest);
            }
        }
    }

    /// Every entry with its age at the monotonic time `now`, oldest first.
    pub(crate) fn recent(&self, now: Duration) -> Vec<(Digest, EventId, Duration)> {
        let entry = |(at, digest, event): &(Duration, Digest, EventId)| (*digest, *event, now.saturating_sub(*at));
        self.order.iter().map(entry).collect()
    }

    /// Whether an observation of an earlier run is young enough. One that seems to come from the future was told before
    /// the wall clock was set back, and counts as young.
    pub(crate) fn is_recent(received: Timestamp, now: Timestamp) -> bool {
        now.since(received) <= WINDOW
    }
}
