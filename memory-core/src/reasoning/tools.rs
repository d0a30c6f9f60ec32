//! The tools of the loop, as a port that `drivers` implements. The loop knows no recording, decoder or model.

use std::time::Duration;

use serde::Serialize;

use crate::{Kind, Modality, SensedEmbedding, StreamSpan};

/// A tool to look at a recording again (VideoARM 3.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Many small pictures of a long interval.
    IntervalLocaliser,
    /// A few pictures at full resolution and in tiles, to find small things.
    SceneSnapper,
    /// The sound of an interval, with some pictures.
    ClipExplorer,
    /// Speech recognition on an interval, by a slower model than the live one.
    Transcriber,
    /// Description of pictures of the interval by a vision model that knows the question.
    ClipAnalyser,
}

impl Tool {
    /// All variants.
    pub const ALL: [Self; 5] =
        [Self::IntervalLocaliser, Self::SceneSnapper, Self::ClipExplorer, Self::Transcriber, Self::ClipAnalyser];

    /// The name in traces and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::IntervalLocaliser => "interval_localiser",
            Self::SceneSnapper => "scene_snapper",
            Self::ClipExplorer => "clip_explorer",
            Self::Transcriber => "transcriber",
            Self::ClipAnalyser => "clip_analyser",
        }
    }

    /// How many pictures it takes of an interval.
    ///
    /// The localiser takes 30 to 150 (VideoARM's `N_1`), two a second in between. The explorer takes a fixed number (`N_2`), the
    /// transcriber none, and the analyser one to three grids of six.
    #[must_use]
    pub fn pictures(self, length: Duration) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small number")]
        let by_length =
            |rate: f64, least: usize, most: usize| ((length.as_secs_f64() * rate).ceil() as usize).clamp(least, most);
        match self {
            Self::IntervalLocaliser => by_length(2.0, 30, 150),
            Self::SceneSnapper => by_length(0.5, 3, 10),
            Self::ClipExplorer => 4,
            Self::Transcriber => 0,
            Self::ClipAnalyser => by_length(0.6, 6, 18).next_multiple_of(6),
        }
    }
}

/// One call of a tool.
#[derive(Clone, Copy)]
pub struct LookOrder<'a> {
    /// The tool.
    pub tool: Tool,
    /// The question.
    pub question: &'a str,
    /// Address of the recording, as events name it.
    pub media: &'a str,
    /// The interval, in stream time.
    pub stream: StreamSpan,
    /// How many pictures to take.
    pub pictures: usize,
    /// What the question asks for besides named things: written words, faces. It is costly to look for.
    pub asked: &'a [SightingKind],
    /// Things that the question or its options name and no encoder has a label for.
    pub things: &'a [AskedThing],
    /// Places that the memory knows by their pictures. Empty if the question asks for no place.
    pub places: &'a [KnownPlace],
    /// Maximum number of bytes of pictures and sound in memory at once.
    pub ceiling_bytes: usize,
    /// Time that is left for it.
    pub budget: Duration,
    /// Returns whether to stop now. Tools check it before each picture.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// A thing to compare with pictures, for tools with one space for pictures and texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedThing {
    /// Text to compare: "a kingfisher", or the words of an option.
    pub phrase: String,
    /// Sentence about it if it is seen.
    pub sentence: String,
}

/// A place with a name and its views.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownPlace {
    /// Its name.
    pub name: String,
    /// Space of its views.
    pub space: String,
    /// γ of the space: the cosine from which two pictures show one place.
    pub gamma: f32,
    /// Unit vectors of pictures that were taken there.
    pub views: Vec<Vec<f32>>,
}

/// Kind of a sighting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SightingKind {
    /// A thing, from the object detector.
    Object,
    /// Scene of a picture, from the scene classifier.
    Scene,
    /// A sound that is no speech.
    Sound,
    /// A spoken sentence.
    Speech,
    /// A line of writing.
    Writing,
    /// A person's face.
    Face,
    /// The place that the pictures show, one of [`LookOrder::places`]. The label is its name, and the score the cosine
    /// to its views.
    Place,
    /// One of [`LookOrder::things`], found by the similarity of the pictures to its words. The label is its phrase, and
    /// the score its probability by the calibration of the space.
    Likeness,
    /// Statement of a vision model about the question.
    Description,
}

impl SightingKind {
    /// Returns the kind of the resulting event.
    #[must_use]
    pub const fn event_kind(self) -> Kind {
        match self {
            Self::Object => Kind::Object,
            Self::Scene | Self::Writing | Self::Place | Self::Likeness | Self::Description => Kind::Caption,
            Self::Sound => Kind::Sound,
            Self::Speech => Kind::Text,
            Self::Face => Kind::Entity,
        }
    }

    /// Returns the modality.
    #[must_use]
    pub const fn modality(self) -> Modality {
        match self {
            Self::Sound | Self::Speech => Modality::Audio,
            _ => Modality::Visual,
        }
    }
}

/// One thing that a tool found.
#[derive(Debug, Clone, PartialEq)]
pub struct Sighting {
    /// Kind of the sighting.
    pub kind: SightingKind,
    /// The encoder's label: "cup", "Thunder", "seashore, coast". Of speech and writing, the words.
    pub label: String,
    /// A sentence, without "maybe".
    pub text: String,
    /// The encoder's highest score, 0 to 1. It is no probability.
    pub score: f32,
    /// Share of the pictures, or patches of sound, that show it.
    pub share: f32,
    /// How many there were at once.
    pub count: u32,
    /// Its colours, most frequent first.
    pub colours: Vec<String>,
    /// Span from the first to the last moment in which it was found.
    pub stream: StreamSpan,
    /// The vector of a face, if an encoder made one.
    pub vector: Option<SensedEmbedding>,
}

/// Abilities of the tools at present.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reach {
    /// The labels of its encoders, with the sense of each.
    pub labels: Vec<(Modality, String)>,
    /// Labels among these that only classify a whole picture, which is no evidence of a thing.
    pub scenes: Vec<String>,
    /// Whether it recognises speech.
    pub speech: bool,
    /// Whether it recognises writing.
    pub writing: bool,
    /// Whether it finds faces.
    pub faces: bool,
    /// Whether it compares pictures with arbitrary words.
    pub likeness: bool,
    /// Space in which it tells places apart by their pictures. `None` if it does not.
    pub places: Option<String>,
    /// Whether it understands the question itself.
    pub question: bool,
    /// Encoder roles that cannot be used, as `role: reason`, each with what it would find.
    pub missing: Vec<(SightingKind, String)>,
}

/// Result of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Look {
    /// Everything that its encoders name, best first.
    pub sightings: Vec<Sighting>,
    /// Pictures that were decoded and encoded.
    pub pictures: usize,
    /// Maximum number of bytes of pictures and sound in memory at once.
    pub bytes: usize,
    /// Parts of the interval that no recording has any more.
    pub missing: Duration,
    /// Encoder roles that failed, as `role: reason`.
    pub degraded: Vec<String>,
}

/// Why a tool found nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookError {
    /// The recording was deleted, by its budget or by a user.
    #[error("the recording is gone")]
    Gone,
    /// The recording, or every encoder, failed.
    #[error("{0}")]
    Failed(String),
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Looks at recordings. Calls block, and come from one thread at a time.
pub trait Tools: Send + Sync {
    /// Returns what a tool can find now. Empty if its encoders are missing.
    fn reach(&self, tool: Tool) -> Reach;

    /// Looks at an interval.
    ///
    /// # Errors
    /// See [`LookError`]. A part of the interval that is gone is no error.
    fn look(&self, order: &LookOrder<'_>) -> Result<Look, LookError>;
}
