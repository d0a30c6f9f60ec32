//! The outcome of observations.

use crate::{EpisodeId, EventId};

/// The outcome of one observation of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum ObserveOutcome {
    /// Committed: durable and findable by words, entity and time.
    Accepted {
        /// The episode it joined or opened.
        episode: EpisodeId,
        /// Whether it opened that episode.
        opened: bool,
        /// Its events: one for a told observation.
        events: Vec<EventId>,
    },
    /// A duplicate: the same content is stored already.
    Duplicate {
        /// The stored event, for a segment its first one; `None` if the segment has none.
        of: Option<EventId>,
    },
    /// A correction: the same key with other content. The new event supersedes the old one.
    Corrected {
        /// The event that was superseded.
        superseded: EventId,
        /// The event that took its place.
        by: EventId,
        /// Its episode.
        episode: EpisodeId,
    },
    /// Rejected: nothing was committed.
    Rejected {
        /// The reason, and what to change.
        message: String,
    },
}
