//! Atomic events, and the episodes that they form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Attributes, Pose, StreamSpan, TimeSpan, Timestamp};

/// Attribute of a derived event: the tool that found it.
pub(crate) const LOOKED: &str = "looked";
/// Attribute of a derived event: the question that it was found for.
pub(crate) const LOOKED_FOR: &str = "looked_for";

/// The commit number of an atomic event: ids grow in the order of commits and are never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub u64);

/// The stable id of an episode, written `ep-42`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EpisodeId(pub u64);

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ev-{}", self.0)
    }
}

impl fmt::Display for EpisodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ep-{}", self.0)
    }
}

impl FromStr for EventId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix("ev-").unwrap_or(text).parse().map(Self)
    }
}

impl FromStr for EpisodeId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix("ep-").unwrap_or(text).parse().map(Self)
    }
}

/// Kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Speech or a subtitle.
    #[default]
    Text,
    /// A description of a scene.
    Caption,
    /// A sound.
    Sound,
    /// A thing in view.
    Object,
    /// A person or thing that was recognised.
    Entity,
    /// Something that somebody did.
    Action,
    /// A fact about the world or the robot.
    State,
}

impl Kind {
    /// Every kind, in the order of the contract.
    pub const ALL: [Self; 7] =
        [Self::Text, Self::Caption, Self::Sound, Self::Object, Self::Entity, Self::Action, Self::State];

    /// The name in the MQTT contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Caption => "caption",
            Self::Sound => "sound",
            Self::Object => "object",
            Self::Entity => "entity",
            Self::Action => "action",
            Self::State => "state",
        }
    }

    /// The sense that a told event of this kind comes from.
    pub const fn modality(self) -> Modality {
        match self {
            Self::Text | Self::Sound => Modality::Audio,
            Self::Caption | Self::Object | Self::Entity | Self::Action | Self::State => Modality::Visual,
        }
    }
}

/// A sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Modality {
    /// Seen.
    Visual,
    /// Heard.
    Audio,
}

/// Origin of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Origin {
    /// Told by another program.
    Told,
    /// Perceived by Engram itself.
    Perceived,
}

/// An atomic event: the smallest unit that is remembered and cited as evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Commit number.
    pub id: EventId,
    /// The episode it belongs to.
    pub episode: EpisodeId,
    /// Origin of the event.
    pub origin: Origin,
    /// The sender's own id, returned in evidence.
    pub sender_id: Option<String>,
    /// Kind of the event.
    pub kind: Kind,
    /// The sense that it comes from.
    pub modality: Modality,
    /// Description of the event in words.
    pub text: String,
    /// Wall-clock begin and end.
    pub span: TimeSpan,
    /// The same span in stream time, where a recording covers it.
    pub stream: Option<StreamSpan>,
    /// The program that told it, or the source in the configuration.
    pub source: String,
    /// The person or thing that it is about, or who spoke.
    pub entity: Option<String>,
    /// Free attributes.
    pub attributes: Attributes,
    /// Confidence, 0 to 1.
    pub confidence: f32,
    /// Address of the recording, if there is one.
    pub media: Option<String>,
    /// Time of the commit.
    pub received: Timestamp,
    /// Pose of the event, or of the robot.
    pub pose: Option<Pose>,
}

impl Event {
    /// Whether it was found by looking at a recording again: derived, and there with the probability that is its confidence.
    #[must_use]
    pub fn is_looked(&self) -> bool {
        self.origin == Origin::Perceived && self.attributes.contains_key(LOOKED)
    }

    /// Whether an attribute says something of what happened, so that the event is found by its words.
    pub(crate) fn tells(&self, attribute: &str) -> bool {
        let of_looking = attribute == LOOKED || attribute == LOOKED_FOR;
        // A session only groups, and a question says nothing of what was there.
        attribute != "session" && !(of_looking && self.origin == Origin::Perceived)
    }
}

/// A stretch of experience: a perceived segment with what was told during it, or consecutive told observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Stable id.
    pub id: EpisodeId,
    /// Span from the first event's begin to the last one's end; of a perceived segment, the segment's own span.
    pub span: TimeSpan,
    /// Span in stream time, if a recording covers it.
    pub stream: Option<StreamSpan>,
    /// The source that opened it.
    pub source: String,
    /// The capture session, or the `session` attribute of told observations.
    pub session: Option<String>,
    /// Its events, in order of commit.
    pub events: Vec<EventId>,
    /// Address of the recording, if there is one.
    pub media: Option<String>,
    /// Roles that were absent while it was perceived.
    pub degraded: Vec<String>,
}

/// An episode in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeSummary {
    /// The episode.
    pub episode: Episode,
    /// One line made from its events.
    pub summary: String,
    /// The first pose among its events.
    pub pose: Option<Pose>,
}

/// A person or thing that events name.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    /// The name as it was told.
    pub name: String,
    /// How many visible events name it.
    pub events: u64,
    /// First and last moment.
    pub span: TimeSpan,
}

/// A place that has a name, with the visits of the robot to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Name as it was first told, or as it was renamed.
    pub name: String,
    /// How its position is known.
    pub known_by: PlaceKnownBy,
    /// The middle of where it was named; `None` where no pose is known of it.
    pub pose: Option<Pose>,
    /// How far from the middle it was named, metres.
    pub radius: f64,
    /// How often it was named; of a place that is known by words, how often somebody spoke of it.
    pub named: u64,
    /// How often the robot was there; of a place without a pose, how often something was told of it.
    pub visits: u64,
    /// How long it was there in all.
    pub lasted: std::time::Duration,
    /// From the first arrival to the last departure; `None` without a visit. Of a place that is known by words, when somebody
    /// spoke of it.
    pub span: Option<TimeSpan>,
}

/// How the position of a place is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKnownBy {
    /// Its position on a map.
    Pose,
    /// Events that happened there.
    Events,
    /// Only from what somebody said.
    Words,
}

impl PlaceKnownBy {
    /// Returns the word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pose => "pose",
            Self::Events => "events",
            Self::Words => "words",
        }
    }
}
