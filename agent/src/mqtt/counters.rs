//! Counters of the MQTT interface, for `health.mqtt` and metrics.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident),+ $(,)?) => {
        /// Counters of the MQTT interface since the start. Shared by reference; every field only grows.
        #[derive(Debug, Default)]
        pub struct MqttCounters {
            $($(#[doc = $doc])+ pub $name: Counter,)+
            problems: Problems,
        }

        impl MqttCounters {
            /// Every counter by name.
            pub fn snapshot(&self) -> BTreeMap<String, u64> {
                BTreeMap::from([$((stringify!($name).to_owned(), self.$name.get()),)+])
            }

            /// Returns the help text of each counter, by name.
            pub fn descriptions() -> &'static [(&'static str, &'static str)] {
                &[$((stringify!($name), concat!($($doc),+)),)+]
            }
        }
    };
}

counters! {
    /// Questions received.
    asks,
    /// Questions answered, `none` included.
    asks_answered,
    /// Questions that got an error, whatever its code.
    asks_failed,
    /// Questions and commands refused as `busy`.
    busy,
    /// Requests without any topic to answer to.
    unanswerable,
    /// Reply topics refused.
    forbidden_replies,
    /// Commands received.
    commands,
    /// Messages of `observe` received.
    observe_messages,
    /// Observations accepted, corrections included.
    observations_accepted,
    /// Observations that were there already.
    observations_duplicate,
    /// Observations refused.
    observations_rejected,
    /// Messages of `observe` not acknowledged because the store could not write; the broker sends them again.
    observe_deferred,
    /// Poses of the robot used.
    poses,
    /// Poses of the robot that are none.
    poses_rejected,
    /// Poses of the robot that came faster than 100 a second.
    poses_flood,
    /// Poses of the robot dropped for their covariance.
    poses_uncertain,
    /// Poses of the robot that came late or out of order.
    poses_late,
    /// Poses of the robot stamped ahead of the clock.
    poses_future,
    /// Poses of the robot on another map than the one in use.
    poses_other_frame,
    /// Replies that could not be delivered in time.
    replies_dropped,
    /// Announcements of episodes and rejections that found no room.
    events_dropped,
    /// Connections of `…-in` that were made.
    connects_in,
    /// Connections of `…-ask` that were made.
    connects_ask,
    /// Attempts to connect that failed, and connections that were lost.
    connection_failures,
}

/// One number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `n`.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// How much it is now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Present problems of each connection.
#[derive(Debug, Default)]
struct Problems(Mutex<BTreeMap<&'static str, String>>);

impl MqttCounters {
    /// Returns the present problem of the broker or a connection, and what to do; `None` while there is none.
    pub fn last_error(&self) -> Option<String> {
        self.problems.0.lock().values().next().cloned()
    }

    /// Sets or clears the problem of one part of the MQTT interface. Returns whether it changed.
    pub(super) fn set_problem(&self, part: &'static str, problem: Option<&str>) -> bool {
        let mut problems = self.problems.0.lock();
        match problem {
            Some(text) => problems.insert(part, text.to_owned()).as_deref() != Some(text),
            None => problems.remove(part).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_names_every_counter() {
        let counters = MqttCounters::default();
        counters.asks.add(2);
        let snapshot = counters.snapshot();
        assert_eq!(snapshot["asks"], 2);
        assert_eq!(snapshot.len(), MqttCounters::descriptions().len());
    }

    #[test]
    fn a_problem_is_shown_until_it_is_over() {
        let counters = MqttCounters::default();
        assert!(counters.set_problem("in", Some("no broker")));
        assert!(!counters.set_problem("in", Some("no broker")));
        assert_eq!(counters.last_error().as_deref(), Some("no broker"));
        assert!(counters.set_problem("in", None));
        assert_eq!(counters.last_error(), None);
    }
}
