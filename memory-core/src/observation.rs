//! Observations: the input of the memory, from its own senses and from other programs.

use serde::{Deserialize, Serialize};

use crate::{Attributes, Kind, Modality, Pose, StreamSpan, Timestamp};

/// One thing to remember.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// Told by another program (`…/observe`, `engram observe`).
    Told(Told),
    /// Seen or heard by Engram itself: one closed segment of one source.
    Perceived(Perceived),
    /// Found by looking at a recording again.
    Looked(Looked),
}

/// A derived event that joins the episode whose recording shows it. It is forgotten with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Looked {
    /// The episode.
    pub episode: crate::EpisodeId,
    /// The event; its confidence is the probability that it is right.
    pub event: PerceivedEvent,
}

/// An observation told by another program. It becomes exactly one atomic event and is never merged with others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Told {
    /// The sender's own id. (`source`, `id`, `at`) is the identity of the observation.
    pub id: Option<String>,
    /// Kind of the observation.
    pub kind: Kind,
    /// Text of the observation, in words.
    pub text: String,
    /// Begin; if absent, the time of receipt.
    pub at: Option<Timestamp>,
    /// End.
    pub until: Option<Timestamp>,
    /// The program that reports it.
    pub source: String,
    /// The person or thing that it is about, or who spoke.
    pub entity: Option<String>,
    /// Free attributes; `session` and `task` have a meaning.
    pub attributes: Attributes,
    /// The sender's confidence, 0 to 1.
    pub confidence: Option<f32>,
    /// Pose as its sender says.
    pub pose: Option<Pose>,
    /// Where the robot was at that time; kept where the sender says no pose. It does not belong to what was told: told again
    /// with another one it is the same observation.
    pub robot_pose: Option<Pose>,
    /// Whether the transport marks it as a possible repetition (MQTT's DUP flag).
    pub redelivered: bool,
}

impl Told {
    /// A text that `source` tells now, with nothing else known of it.
    pub fn new(source: impl Into<String>, text: impl Into<String>) -> Self {
        Self { source: source.into(), text: text.into(), ..Self::default() }
    }
}

/// Reason for the end of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Boundary {
    /// The picture changed.
    Visual,
    /// The sound fell silent.
    Silence,
    /// The longest length was reached.
    Length,
    /// The stream ended, was paused or broke off.
    End,
}

/// One closed segment of one source, as the encoders describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct Perceived {
    /// Name of the source in the configuration.
    pub source: String,
    /// The capture session; stream times count from its begin.
    pub session: String,
    /// Wall-clock begin.
    pub start: Timestamp,
    /// Wall-clock end.
    pub end: Timestamp,
    /// The same span in stream time.
    pub stream: StreamSpan,
    /// Reason for its end.
    pub boundary: Boundary,
    /// The atomic events inside, in order of time. May be empty: the memory also records that nothing happened.
    pub events: Vec<PerceivedEvent>,
    /// Address of the recording (file or http URI), if there is one.
    pub media: Option<String>,
    /// Encoder roles that were absent or failed while this was perceived, as `role: reason`.
    pub degraded: Vec<String>,
}

/// One atomic event inside a segment: an object in view, a stretch of speech, a subtitle.
#[derive(Debug, Clone, PartialEq)]
pub struct PerceivedEvent {
    /// Kind of the event.
    pub kind: Kind,
    /// The sense that it comes from.
    pub modality: Modality,
    /// A description that reads like a sentence.
    pub text: String,
    /// Wall-clock begin.
    pub start: Timestamp,
    /// Wall-clock end.
    pub end: Timestamp,
    /// The same span in stream time.
    pub stream: StreamSpan,
    /// The person or thing that it is about, if known.
    pub entity: Option<String>,
    /// Free attributes, for instance the count of objects.
    pub attributes: Attributes,
    /// The encoder's confidence, 0 to 1.
    pub confidence: f32,
    /// Pose of the robot in the middle of it.
    pub pose: Option<Pose>,
    /// Its embeddings, at most one per sense and space; empty if no encoder made one.
    pub embeddings: Vec<SensedEmbedding>,
}

/// Kind of thing that an embedding of the senses describes. Faces and voices are clustered into persons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sensed {
    /// One person's face.
    Face,
    /// One person's voice.
    Voice,
    /// A whole picture.
    Picture,
    /// A whole stretch of sound.
    Sound,
}

impl Sensed {
    /// All variants, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Face, Self::Voice, Self::Picture, Self::Sound];

    /// The name, for instance in `spaces`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Face => "face",
            Self::Voice => "voice",
            Self::Picture => "picture",
            Self::Sound => "sound",
        }
    }
}

/// A vector of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct MomentVector {
    /// Stream time of the moment.
    pub at: std::time::Duration,
    /// As many components as the mean that it is part of, finite and not all of them 0.
    pub vector: Vec<f32>,
}

/// A vector that an encoder made of an event.
///
/// A face or voice event stands for *one track*: one face followed over consecutive frames of one segment, or one
/// stretch of one speaker. Its span is the duration of the track, because two faces seen at the same moment are two
/// persons. Its vector is the mean of the track's vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct SensedEmbedding {
    /// Kind of thing that it describes.
    pub sensed: Sensed,
    /// Name of the space, unique per model and preprocessing. Vectors of different spaces are never compared.
    pub space: String,
    /// At most [`MAX_DIMENSIONS`](crate::limits::MAX_DIMENSIONS) finite components, not all of them 0; stored with unit L2
    /// norm.
    pub vector: Vec<f32>,
    /// The vectors that `vector` is the mean of (HippoMM's E_i), in order of time; empty where nobody keeps them. They are stored
    /// as signatures where they show more than one look, and are not exported.
    pub sequence: Vec<MomentVector>,
}
