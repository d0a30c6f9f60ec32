//! When told observations form one episode.

use std::time::Duration;

use crate::Origin;
use crate::Value;
use crate::store::{EpisodeBody, EventBody, decode_attributes};

/// Maximum time between consecutive told observations of one episode.
pub const MAX_GAP: Duration = Duration::from_secs(60);

/// Maximum number of events in a told episode. Without it, a sender that never pauses would make an episode that never ends.
pub const MAX_EVENTS: u32 = 4096;

/// Key that consecutive told observations of one episode share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StreamKey {
    /// One execution of a task, from any source.
    Session(String),
    /// The program that says so.
    Source(String),
}

impl StreamKey {
    pub(crate) fn from_event(body: &EventBody) -> Self {
        let attributes = decode_attributes(body.attributes.as_deref()).unwrap_or_default();
        match attributes.get("session") {
            Some(Value::Text(session)) if !session.trim().is_empty() => Self::Session(session.clone()),
            Some(Value::Integer(session)) => Self::Session(session.to_string()),
            _ => Self::Source(body.source.clone()),
        }
    }
}

/// Whether an event goes on with the episode that its stream opened last.
pub(crate) fn continues(episode: &EpisodeBody, event: &EventBody) -> bool {
    let gap = event.start.saturating_sub(episode.end).max(episode.start.saturating_sub(event.end));
    let max_gap = i64::try_from(MAX_GAP.as_micros()).expect("a minute fits");
    episode.origin == Origin::Told && episode.events < MAX_EVENTS && gap <= max_gap
}
