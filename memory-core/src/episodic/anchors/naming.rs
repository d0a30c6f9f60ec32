//! What people told about persons: names, and who is the same or is not.

use serde::{Deserialize, Serialize};

use crate::AnchorId;
use crate::EventId;
use crate::words::fold_name;

/// A statement about who an entity is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamingRequest {
    /// This is its name.
    Name {
        /// Whom: an id such as `e-12`, or a name.
        entity: String,
        /// The name.
        name: String,
    },
    /// The others are the same person.
    Merge {
        /// Whom: an id or a name. It stays.
        entity: String,
        /// Ids or names.
        same: Vec<String>,
    },
    /// These are somebody else.
    Split {
        /// Whom: an id or a name.
        entity: String,
        /// Ids of the person's further anchors (`e-15`), or of events (`ev-42`) in which it was somebody else.
        others: Vec<String>,
    },
}

/// An entry of the log of namings: events alone cannot bring it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamingEntry {
    /// The last event that had been learnt from when it was told.
    pub after: EventId,
    pub told: ToldName,
}

/// The statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToldName {
    Name {
        whom: NamingTarget,
        name: String,
    },
    /// `other` is a further name of `name`.
    Alias {
        name: String,
        other: String,
    },
    Same {
        whom: NamingTarget,
        other: NamingTarget,
    },
    Apart {
        whom: NamingTarget,
        other: NamingTarget,
    },
    /// In these events the person is not `whom` but one other person.
    Split {
        whom: NamingTarget,
        events: Vec<EventId>,
    },
}

/// An anchor, and some of its events in case the one that founded it is forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamingTarget {
    pub anchor: AnchorId,
    pub witnesses: Vec<EventId>,
}

impl ToldName {
    /// Returns the number of bytes that an alias takes.
    pub fn alias_bytes(&self) -> usize {
        if let Self::Alias { name, other } = self { name.len() + other.len() + ALIAS_OVERHEAD } else { 0 }
    }
}

/// Bytes that the lengths of the two names take.
pub(super) const ALIAS_OVERHEAD: usize = 4;

impl NamingEntry {
    /// Whether it has one of these folded names in it.
    pub fn has_name(&self, folded: &[String]) -> bool {
        let same = |name: &str| folded.contains(&fold_name(name));
        match &self.told {
            ToldName::Name { name, .. } => same(name),
            ToldName::Alias { name, other } => same(name) || same(other),
            ToldName::Same { .. } | ToldName::Apart { .. } | ToldName::Split { .. } => false,
        }
    }

    /// Events that must be read to do it again.
    pub fn events(&self) -> &[EventId] {
        if let ToldName::Split { events, .. } = &self.told { events } else { &[] }
    }
}
