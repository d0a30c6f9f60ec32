//! Questions and their answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::language::english::question::completed;
use crate::limits::MAX_QUESTION_BYTES;
use crate::{Ablation, Attributes, EpisodeId, EventId, Kind, Modality, Near, Pose, StreamSpan, TimeSpan, Timestamp};

/// A question to the memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The question in plain words. Not empty.
    pub question: String,
    /// Options to choose from; empty for an open question.
    pub options: Vec<String>,
    /// Use only events at or after this time.
    pub since: Option<Timestamp>,
    /// Use only events at or before this time.
    pub until: Option<Timestamp>,
    /// Use only events with a pose in this circle.
    pub near: Option<Near>,
    /// Current pose of the robot, if it is known: no observation may have come from there yet.
    pub robot: Option<Pose>,
    /// The time that "now" means in the question; the clock if absent.
    pub now: Option<Timestamp>,
    /// Maximum number of evidence items, at least 1; 5 by default.
    pub top_k: usize,
    /// Time limit of the answer, counted from the call of `Memory::ask`.
    pub budget: Option<Duration>,
    /// Whether the answer contains the steps that led to it.
    pub trace: bool,
    /// How much work the answer is worth. `Memory::ask` never looks at recordings; `Memory::reason` does.
    pub effort: Effort,
    /// The asker's own id of the question; progress is told under it.
    pub tag: Option<String>,
    /// Parts of recall that a measurement leaves out; none otherwise.
    pub ablation: Ablation,
}

/// A question and its answer, from which the next question of a conversation may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The question, complete.
    pub question: String,
    /// What was answered, if anything.
    pub answer: Option<String>,
}

impl Turn {
    /// Returns a question that goes on from this one as it would be asked by itself: "where is the cat?" for "and the cat?".
    /// `None` if the question is complete, or if it is not known what is missing.
    #[must_use]
    pub fn completed(&self, question: &str) -> Option<String> {
        let fits = |text: &str| text.len() <= MAX_QUESTION_BYTES;
        let may_go_on = fits(question) && fits(&self.question);
        let complete = may_go_on.then(|| completed(question, &self.question, self.answer.as_deref())).flatten();
        complete.filter(|complete| fits(complete))
    }
}

impl Default for Query {
    fn default() -> Self {
        Self {
            question: String::new(),
            options: Vec::new(),
            since: None,
            until: None,
            near: None,
            robot: None,
            now: None,
            top_k: Self::USUAL_EVIDENCE,
            budget: None,
            trace: false,
            effort: Effort::default(),
            tag: None,
            ablation: Ablation::default(),
        }
    }
}

impl Query {
    /// Evidence items of a query that does not say how many.
    pub const USUAL_EVIDENCE: usize = 5;

    /// An open question about everything, with five items of evidence and no time limit.
    pub fn new(question: impl Into<String>) -> Self {
        Self { question: question.into(), ..Self::default() }
    }
}

/// How much work a question is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// The memory alone.
    Fast,
    /// The recordings too, if the memory's answer is less likely than the trigger.
    #[default]
    Normal,
    /// The recordings in any case where they can add something.
    Thorough,
}

/// Why a question got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The query is not valid; the text says what to change.
    #[error("{0}")]
    Invalid(String),
    /// The time limit was reached before there was an answer.
    #[error("no answer within {0:?}")]
    Deadline(Duration),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] crate::ReadError),
}

/// Which part of the memory an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// A summary of a stretch of time.
    Gist,
    /// Single events.
    Detailed,
    /// Events that are placed in time by another event, often of another sense.
    CrossModal,
    /// A fact or a procedure that was learned.
    Symbolic,
    /// Looking at the recordings again.
    Agentic,
    /// None: the memory holds no evidence.
    None,
}

/// The kind of answer that a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    /// What, who, where, when, how many, whether.
    Factual,
    /// How something is done, or what comes next.
    Procedural,
    /// How something is done with, or without, something.
    Constraint,
    /// Habits of a person.
    Character,
}

/// Which senses the question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionModality {
    /// Something seen.
    Visual,
    /// Something heard.
    Audio,
    /// Either, or both.
    Audiovisual,
    /// A whole stretch of time.
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
    /// The sense that it comes from.
    pub modality: Modality,
    /// Description of the event in words.
    pub text: String,
    /// How well it supports the answer, 0 to 1. Comparable within one answer only.
    pub score: f32,
    /// Address of the recording.
    pub media: Option<String>,
    /// The senders' own ids, or the event's (`ev-42`) where the sender gave none.
    pub observations: Vec<String>,
    /// The event.
    pub event: EventId,
    /// Kind of the event.
    pub kind: Kind,
    /// The person or thing that it is about, or who spoke.
    pub entity: Option<String>,
    /// Attributes that were told or perceived with it.
    pub attributes: Attributes,
    /// Pose of the event, or of the robot.
    pub pose: Option<Pose>,
}

/// Processing time by phase.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Elapsed {
    /// Parsing the question, including its embedding.
    pub classify: Duration,
    /// Searching.
    pub retrieve: Duration,
    /// Composing the answer.
    pub reason: Duration,
    /// All of it.
    pub total: Duration,
}

/// One step on the way to an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TraceStep {
    /// Name of the step.
    pub step: String,
    /// The result.
    pub detail: String,
}

/// An answer with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The answer in words; `None` if the memory holds no evidence.
    pub answer: Option<String>,
    /// Pose of what a question for a place asks for: that of the event that the answer rests on.
    pub pose: Option<Pose>,
    /// Index of the chosen option.
    pub choice: Option<usize>,
    /// Probability that the answer is right, 0 to 1.
    pub confidence: f32,
    /// Which part of the memory the answer comes from.
    pub route: Route,
    /// Why this was answered, or why there is no answer, in a few words.
    pub reason: String,
    /// The kind of answer that was asked for.
    pub intent: Intent,
    /// Which senses the question is about.
    pub modality: QuestionModality,
    /// The events behind the answer, best first.
    pub evidence: Vec<Evidence>,
    /// What the answer had to do without, as `role: reason`.
    pub degraded: Vec<String>,
    /// Processing time by phase.
    pub elapsed: Elapsed,
    /// The steps that led to the answer, if they were requested.
    pub trace: Vec<TraceStep>,
}

/// An encoder role without a model. The memory knows it so that answers can say what they had to do without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentRole {
    /// The role, for instance `speech recognition`.
    pub role: String,
    /// The reason, for instance `model not installed`.
    pub reason: String,
    /// The sense that the role serves; `None` for all.
    pub modality: Option<Modality>,
}
