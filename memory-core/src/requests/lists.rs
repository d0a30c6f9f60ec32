//! What to list, and the pages of lists.

use std::time::Duration;

use crate::episodic::gist::Level;
use crate::{Episode, EpisodeId, EpisodeSummary, Event, EventId, Near, TimeSpan};

/// Which episodes to list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EpisodeFilter {
    /// Only those that overlap this span (an open end is `Timestamp::from_micros(i64::MIN|MAX)`).
    pub span: Option<TimeSpan>,
    /// Only those with an event about this entity; case is ignored.
    pub entity: Option<String>,
    /// Only those with an event at this place (attribute `place`).
    pub place: Option<String>,
    /// Only those with an event in this circle.
    pub near: Option<Near>,
    /// Continue after this page's `next`.
    pub cursor: Option<EpisodeId>,
    /// Maximum number of episodes; 50 by default.
    pub limit: Option<usize>,
    /// How long it may take; [`ReadError::Deadline`] where that is too short.
    pub budget: Option<Duration>,
}

/// Which facts to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FactFilter {
    /// Only those about this person or thing; case and articles are ignored.
    pub subject: Option<String>,
    /// Only those that involve this person, thing or place in any role: as what they are about, as their value, as who did
    /// it or as where it was done. By weight, the heaviest first.
    pub about: Option<String>,
    /// Also those that no longer hold.
    pub past: bool,
    /// Maximum number of facts; 100 by default.
    pub limit: Option<usize>,
    /// How long it may take; [`ReadError::Deadline`] where that is too short.
    pub budget: Option<Duration>,
}

/// Which gists to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GistFilter {
    /// How long their stretches are.
    pub level: Level,
    /// Only what happened in this span.
    pub span: Option<TimeSpan>,
    /// Maximum number of gists; 24 by default.
    pub limit: Option<usize>,
    /// How long it may take; [`ReadError::Deadline`] where that is too short.
    pub budget: Option<Duration>,
}

/// One page of a list, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeListPage {
    /// The episodes.
    pub episodes: Vec<EpisodeSummary>,
    /// The cursor of the next page, if there is one.
    pub next: Option<EpisodeId>,
}

/// Which events of an episode to read. At least one is read if the episode has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPage {
    /// Only events after this one.
    pub after: Option<EventId>,
    /// Maximum number of events.
    pub limit: usize,
    /// Maximum bytes of texts and attributes.
    pub bytes: usize,
}

/// An episode with some of its events.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodePage {
    /// The episode, with the ids of all its events.
    pub episode: Episode,
    /// The events of the page, in order of commit.
    pub events: Vec<Event>,
    /// The cursor of the next page, if there is one: its events come after this one.
    pub next: Option<EventId>,
}
