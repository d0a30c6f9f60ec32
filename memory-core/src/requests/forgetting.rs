//! What to forget, and what was forgotten.

use crate::{EpisodeId, Event, EventId, TimeSpan};

/// Selection of what to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetRequest {
    /// Whole episodes.
    Episodes(Vec<EpisodeId>),
    /// Every event that names this entity in any field, under any of its names, or shows it; case is ignored.
    Entity(String),
    /// Every event that overlaps the span.
    Span(TimeSpan),
}

/// The result of forgetting.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForgetReply {
    /// Episodes with nothing left.
    pub episodes: u64,
    /// Hidden events.
    pub events: u64,
    /// Recordings that show it and must be deleted. The memory lists them until [`Memory::recordings_removed`].
    pub recordings: Vec<ForgottenRecording>,
    /// Events that are still visible and may be about the entity: they say "she" where something that named her was hidden,
    /// or contain a longer word that begins with the name, or cannot be read.
    pub doubtful: u64,
    /// The first hundred of these events.
    pub in_doubt: Vec<EventId>,
}

/// Preview of a request to forget.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForgetPreview {
    /// The result that it would return.
    pub reply: ForgetReply,
    /// The first events that it would hide.
    pub events: Vec<Event>,
}

/// A part of a recording that shows forgotten events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenRecording {
    /// The source of the recording; every source if absent.
    pub source: Option<String>,
    /// The time span.
    pub span: TimeSpan,
    /// The address in the segment.
    pub media: Option<String>,
}
