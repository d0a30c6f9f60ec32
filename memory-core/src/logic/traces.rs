//! Tracks which procedures contain an event, and which of these events are hidden by now.
//!
//! Removing an action exactly requires a new fold, which takes as long as learning did. So the transaction that hides an event
//! only marks it here. The procedures that contain it are shown to nobody until a new fold in the background replaces them.

use std::collections::BTreeSet;

use super::ProcedureId;
use crate::EventId;
use crate::sharded::{Sharded, Spread};

/// One event in one procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TracedEvent {
    event: EventId,
    procedure: ProcedureId,
}

impl Spread for TracedEvent {
    fn spread(&self) -> u64 {
        self.event.0
    }
}

/// Derived from the procedures but for the withdrawn events.
#[derive(Debug, Clone, Default)]
pub(super) struct Traces {
    /// How many actions of an event a procedure holds. Clones share what neither has changed.
    places: Sharded<TracedEvent, u32>,
    withdrawn: BTreeSet<EventId>,
    concealed: BTreeSet<ProcedureId>,
}

impl Traces {
    /// `procedure` holds one more action of `event`.
    pub fn add(&mut self, event: EventId, procedure: ProcedureId) {
        let place = TracedEvent { event, procedure };
        *self.places.shard_mut(place.spread()).entry(place).or_default() += 1;
    }

    /// `procedure` holds one action of `event` less.
    pub fn remove(&mut self, event: EventId, procedure: ProcedureId) {
        let place = TracedEvent { event, procedure };
        let shard = self.places.shard_mut(place.spread());
        if let Some(count) = shard.get_mut(&place) {
            *count -= 1;
            if *count == 0 {
                shard.remove(&place);
            }
        }
    }

    /// The procedures that hold something of an event.
    fn procedures(&self, event: EventId) -> impl Iterator<Item = ProcedureId> + '_ {
        let (first, last) = (ProcedureId(0), ProcedureId(u64::MAX));
        let range = TracedEvent { event, procedure: first }..=TracedEvent { event, procedure: last };
        self.places.shard(event.0).range(range).map(|(place, _)| place.procedure)
    }

    pub fn holds(&self, event: EventId) -> bool {
        self.procedures(event).next().is_some()
    }

    /// Marks an event as hidden, and conceals the procedures that hold something of it.
    pub fn withdraw(&mut self, event: EventId) {
        let procedures: Vec<ProcedureId> = self.procedures(event).collect();
        if !procedures.is_empty() {
            self.withdrawn.insert(event);
            self.concealed.extend(procedures);
        }
    }

    /// A session went over from one procedure to another, and perhaps what is to be taken out with it.
    pub fn moved(&mut self, from: ProcedureId, to: ProcedureId) {
        if self.concealed.contains(&from) {
            self.concealed.insert(to);
        }
    }

    pub fn is_concealed(&self, procedure: ProcedureId) -> bool {
        self.concealed.contains(&procedure)
    }

    pub fn withdrawn(&self) -> &BTreeSet<EventId> {
        &self.withdrawn
    }

    /// The events after `after` of which something is held, ascending.
    pub fn events_after(&self, after: EventId) -> Vec<EventId> {
        let mut events: Vec<EventId> =
            self.places.iter().map(|(place, _)| place.event).filter(|event| *event > after).collect();
        events.sort_unstable();
        events.dedup();
        events
    }
}
