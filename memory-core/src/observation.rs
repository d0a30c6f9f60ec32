//! What the senses and the robot's other programs hand over.

use serde::{Deserialize, Serialize};

use crate::{Attributes, Kind, Modality, StreamSpan, Timestamp};

/// One thing to remember.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// Another program said so (`…/observe`, `engram observe`).
    Told(Told),
    /// Engram saw or heard it itself: one closed segment of one source.
    Perceived(Perceived),
}

/// An observation told by another program. Becomes exactly one atomic event and is never merged away.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Told {
    /// The sender's own id. (`source`, `id`, `at`) is the identity of the observation.
    pub id: Option<String>,
    /// What kind of thing was observed.
    pub kind: Kind,
    /// What was observed, in words.
    pub text: String,
    /// When it began; the time of receipt if absent.
    pub at: Option<Timestamp>,
    /// When it ended.
    pub until: Option<Timestamp>,
    /// The program that says so.
    pub source: String,
    /// The person or thing that it is about, or who spoke.
    pub entity: Option<String>,
    /// Free attributes; `session` and `task` have a meaning.
    pub attributes: Attributes,
    /// The sender's confidence, 0 to 1.
    pub confidence: Option<f32>,
    /// The transport says that this may be a repetition (MQTT's DUP flag).
    pub redelivered: bool,
}

/// What ended a segment.
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
    /// What ended it.
    pub boundary: Boundary,
    /// The atomic events inside, in order of time. May be empty: that nothing happened is remembered too.
    pub events: Vec<PerceivedEvent>,
    /// Where the recording is (file or http uri), if it was kept.
    pub media: Option<String>,
    /// Encoder roles that were absent or failed while this was perceived, as `role: reason`.
    pub degraded: Vec<String>,
}

/// One atomic event inside a segment: an object in view, a stretch of speech, a subtitle.
#[derive(Debug, Clone, PartialEq)]
pub struct PerceivedEvent {
    /// What kind of thing was perceived.
    pub kind: Kind,
    /// By which sense.
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
    /// What the encoders made of it, at most one vector per sense and space; empty where none did.
    pub embeddings: Vec<SensedEmbedding>,
}

/// What a vector of the senses describes. Faces and voices are clustered to persons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sensed {
    /// One person's face.
    Face,
    /// One person's voice.
    Voice,
    /// What is seen as a whole.
    Picture,
    /// What is heard as a whole.
    Sound,
}

impl Sensed {
    /// Every one, in the order of their numbers.
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

/// A vector that an encoder made of an event.
///
/// A face or voice event stands for *one track*: one face followed over consecutive frames of one segment, or one
/// stretch of one speaker. Its span is the time for which the track was there, since two faces seen at the same moment
/// are two persons, and its vector is the mean of the track's vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct SensedEmbedding {
    /// What it describes.
    pub sensed: Sensed,
    /// Name of the space, unique per model and preprocessing. Vectors of different spaces are never compared.
    pub space: String,
    /// At most [`MAX_DIMENSIONS`](crate::store::MAX_DIMENSIONS) finite components, not all of them 0; stored with unit L2
    /// norm.
    pub vector: Vec<f32>,
}
