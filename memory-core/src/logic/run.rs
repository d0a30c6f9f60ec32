//! One session of a procedure: its actions in order, as evidence.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Action, ActionOutcome, StepId};
use crate::{EventId, TimeSpan, Timestamp};

/// A role that a name plays in an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Role {
    Person,
    Object,
    Tool,
    Place,
}

/// An action with its words replaced by their numbers in the procedure's tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub event: EventId,
    pub wording: u32,
    pub start: Timestamp,
    pub lasted: Duration,
    pub outcome: ActionOutcome,
    pub named: bool,
    pub source: u32,
    pub goal: Option<u32>,
    pub names: Box<[(Role, u32)]>,
}

/// One session in which the procedure was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub(super) session: String,
    /// The session as told; parts of one told session share it.
    pub(super) told: Option<String>,
    pub(super) records: Vec<Record>,
    /// The same action told again: kept, so that the session outlives the one that counts.
    pub(super) echoes: Vec<Record>,
    pub(super) steps: Vec<StepId>,
    /// Whether the graph holds it; a run that the full graph refused is evidence all the same.
    pub(super) drawn: bool,
}

impl Run {
    /// The told `session`, or a name made of the source and the time of the first action.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Whether the session was told; otherwise it was cut out of the stream by gaps.
    pub fn is_told(&self) -> bool {
        self.told.is_some()
    }

    /// Whether a goal was told with any of its actions.
    pub(super) fn has_goal(&self) -> bool {
        self.records.iter().any(|record| record.goal.is_some())
    }

    /// Returns the steps, in order.
    pub fn steps(&self) -> &[StepId] {
        &self.steps
    }

    /// The events behind the steps, one each, in the same order.
    pub fn events(&self) -> impl ExactSizeIterator<Item = EventId> + DoubleEndedIterator + '_ {
        self.records.iter().map(|record| record.event)
    }

    /// Returns the span from the first action's begin to the last one's end.
    pub fn span(&self) -> TimeSpan {
        let start = self.records.iter().map(|record| record.start).min().unwrap_or_default();
        let end = self.records.iter().map(|record| record.start.saturating_add(record.lasted)).max();
        TimeSpan::new(start, end.unwrap_or(start))
    }

    /// The numbers of the persons who did it; [`Procedure::name`](super::Procedure::name) gives their names.
    pub fn persons(&self) -> BTreeSet<u32> {
        let names = self.records.iter().flat_map(|record| record.names.iter());
        names.filter(|(role, _)| *role == Role::Person).map(|(_, name)| *name).collect()
    }
}

/// An action's names in the order in which [`Record`] keeps them.
pub(super) fn names_of(action: &Action) -> impl Iterator<Item = (Role, &str)> {
    let person = action.person.iter().map(|name| (Role::Person, name.as_str()));
    let objects = action.objects.iter().map(|name| (Role::Object, name.as_str()));
    let tools = action.tools.iter().map(|name| (Role::Tool, name.as_str()));
    let places = action.places.iter().map(|name| (Role::Place, name.as_str()));
    person.chain(objects).chain(tools).chain(places)
}
