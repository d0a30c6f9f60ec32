//! Counts of a memory: its content and its pending work.

use crate::Timestamp;

/// The backlog of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PendingWork {
    /// Events that have no embedding in the current space yet.
    pub embeddings: u64,
    /// Events that learning has not read yet.
    pub lessons: u64,
    /// Whether everything is being learned again, because something was forgotten or corrected.
    pub relearning: bool,
}

impl PendingWork {
    /// Returns whether learning has work to do.
    pub fn has_lessons(self) -> bool {
        self.lessons > 0 || self.relearning
    }
}

/// Counts, for `health` and `inspect stats`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Told observations and perceived segments accepted since the store was made.
    pub observations: u64,
    /// Visible atomic events.
    pub events: u64,
    /// Visible episodes.
    pub episodes: u64,
    /// Distinct entity names of visible events.
    pub entities: u64,
    /// Events hidden by `forget` or superseded, not yet compacted away.
    pub hidden: u64,
    /// Number of the last commit.
    pub seq: u64,
    /// Events that have no embedding yet.
    pub pending_embeddings: u64,
    /// Events that learning has not read yet.
    pub pending_lessons: u64,
    /// Whether everything is learnt anew, because something was forgotten or corrected.
    pub relearning: bool,
    /// Number of topics: attributes of persons and things with their claims.
    pub facts: u64,
    /// Duplicates dropped since the start.
    pub duplicates: u64,
    /// Bytes of the store on disk.
    pub disk_bytes: u64,
    /// Records that did not decode when the memory was opened, and are omitted; `check` names them.
    pub damaged: u64,
    /// Bytes of records that were hidden since the last compaction, and that the next one frees.
    pub stale_bytes: u64,
    /// When the first event was forgotten since the last compaction: until the next one, its words may be in freed pages of
    /// the store's file.
    pub forgotten_since: Option<Timestamp>,
    /// Number of the last event, visible or not.
    pub last_event: u64,
    /// The earliest time that it can be, if the clock shows an earlier one. Times of observations are then not checked.
    pub clock_behind: Option<Timestamp>,
}
