//! Results of compaction, backup, export, saving and checking.

use std::time::Duration;

use crate::{EventId, Observation};

/// The result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactReply {
    /// Bytes of the store on disk before.
    pub bytes_before: u64,
    /// Bytes of the store on disk after.
    pub bytes_after: u64,
    /// Rows that were copied.
    pub rows: u64,
    /// How long it took.
    pub took: Duration,
    /// How long commits were blocked.
    pub blocked: Duration,
}

/// Condition for saving the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveIndex {
    /// At once.
    Now,
    /// Save if enough of it is new, and the last save is some minutes ago.
    IfDue,
    /// Save if enough of it is new to be worth saving before the program ends.
    AtEnd,
}

/// The result of saving the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexSaved {
    /// Length of the file.
    pub bytes: u64,
    /// Visible events in it.
    pub events: u64,
    /// How long it took.
    pub took: Duration,
}

/// The content of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupReply {
    /// Rows of the store.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Visible events.
    pub events: u64,
    /// Number of the last commit.
    pub seq: u64,
}

/// One exported item, in a form that can be observed again.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// The told or perceived observation.
    pub observation: Observation,
    /// Its events.
    pub events: Vec<EventId>,
}

/// Result of `check`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Records read.
    pub records: u64,
    /// Problems, one line each; empty for a sound store.
    pub problems: Vec<String>,
}
