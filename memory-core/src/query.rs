//! Questions and their answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Attributes, EpisodeId, EventId, Kind, Modality, StreamSpan, TimeSpan, Timestamp};

/// A question to the memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// In plain words. Not empty.
    pub question: String,
    /// Options to choose from; empty for an open question.
    pub options: Vec<String>,
    /// Only what happened at or after this.
    pub since: Option<Timestamp>,
    /// Only what happened at or before this.
    pub until: Option<Timestamp>,
    /// What "now" means in the question; the clock if absent.
    pub now: Option<Timestamp>,
    /// How many items of evidence at most; 5 if zero.
    pub top_k: usize,
    /// How long the answer may take, from the begin of `Memory::ask`.
    pub budget: Option<Duration>,
    /// Whether to tell the steps that led to the answer.
    pub trace: bool,
}

/// Why a question got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The question cannot be understood as one; the text says what to change.
    #[error("{0}")]
    Invalid(String),
    /// The budget ran out first.
    #[error("no answer within {0:?}")]
    Deadline(Duration),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] crate::ReadError),
}

/// Which road led to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// From a gist.
    Gist,
    /// From atomic events.
    Detailed,
    /// From what one sense noticed while another had the cue.
    CrossModal,
    /// From a procedure.
    Symbolic,
    /// By looking again at the recording.
    Agentic,
    /// Memory holds no evidence.
    None,
}

/// What kind of answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    /// What, who, where, when.
    Factual,
    /// How something is done.
    Procedural,
    /// How something is done without, or only with, something.
    Constraint,
    /// What somebody usually does.
    Character,
}

/// Which senses the question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionModality {
    /// What was seen.
    Visual,
    /// What was heard.
    Audio,
    /// Both at once.
    Audiovisual,
    /// The whole of a stretch of time.
    Gist,
}

/// One atomic event that supports the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The episode it belongs to.
    pub episode: EpisodeId,
    /// Wall-clock time; `end == start` where the sender gave no end.
    pub span: TimeSpan,
    /// Stream time, where a recording covers it.
    pub stream: Option<StreamSpan>,
    /// By which sense.
    pub modality: Modality,
    /// What happened, in words.
    pub text: String,
    /// How well it supports the answer, 0 to 1; comparable within one answer.
    pub score: f32,
    /// Where the recording is.
    pub media: Option<String>,
    /// The senders' own ids, or the event's (`ev-42`) where the sender gave none.
    pub observations: Vec<String>,
    /// The event itself.
    pub event: EventId,
    /// What kind of thing it is.
    pub kind: Kind,
    /// The person or thing that it is about, or who spoke.
    pub entity: Option<String>,
    /// What was told with it.
    pub attributes: Attributes,
}

/// Where the time went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Elapsed {
    /// Understanding the question, its embedding included.
    pub classify: Duration,
    /// Searching.
    pub retrieve: Duration,
    /// Putting the answer together.
    pub reason: Duration,
    /// All of it.
    pub total: Duration,
}

/// One step on the way to an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceStep {
    /// What was done.
    pub step: String,
    /// What came of it.
    pub detail: String,
}

/// An answer with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// In words; `None` where memory holds no evidence.
    pub answer: Option<String>,
    /// The chosen option's index.
    pub choice: Option<usize>,
    /// How likely the answer is right, 0 to 1.
    pub confidence: f32,
    /// Which road led here.
    pub route: Route,
    /// Why this was answered, or why there is no answer, in a few words.
    pub reason: String,
    /// What kind of answer was wanted.
    pub intent: Intent,
    /// Which senses the question is about.
    pub modality: QuestionModality,
    /// Best first.
    pub evidence: Vec<Evidence>,
    /// What was not available to this answer, as `role: reason`.
    pub degraded: Vec<String>,
    /// Where the time went.
    pub elapsed: Elapsed,
    /// The steps, if they were asked for.
    pub trace: Vec<TraceStep>,
}

/// An encoder role that no model fills, told to the memory so that answers can say what they lack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentRole {
    /// The role, for instance `speech recognition`.
    pub role: String,
    /// Why, for instance `model not installed`.
    pub reason: String,
    /// The sense it would have served; `None` for all.
    pub modality: Option<Modality>,
}
