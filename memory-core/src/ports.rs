//! Traits for everything that the memory needs from outside. `drivers` and `agent` implement them.

use std::ops::Range;
use std::time::Duration;

use crate::Timestamp;

/// Why a call of a port failed.
#[derive(Debug, thiserror::Error)]
#[error("{role}: {message}")]
pub struct PortError {
    /// The role that failed.
    pub role: &'static str,
    /// What failed and what to do.
    pub message: String,
}

/// Background work that may take long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LongWork {
    /// Learning facts, persons and procedures from events.
    Learning,
    /// Computing the vectors of texts.
    Embedding,
    /// Copying the store without forgotten data, and building its index again.
    Compaction,
    /// Writing the index to its file.
    Saving,
}

/// Receives the progress of long work, to tell slow work from work that hangs.
pub trait Progress: Send + Sync {
    /// Reports that one more step is done: some events, some rows, some bytes. It is called often, by the thread that does the
    /// work, and sometimes while a lock of the memory is held, so it must not call the memory.
    fn step(&self, work: LongWork);
}

/// A text embedding model, φ in the papers: turns texts into vectors of one space.
///
/// Calls block. They come from worker threads, never while a lock of the memory is held.
pub trait TextEmbedder: Send + Sync {
    /// Returns the name of the space, unique per model and preprocessing. Vectors of different spaces are never compared.
    fn space(&self) -> &str;

    /// Returns the length of a vector.
    fn dimensions(&self) -> usize;

    /// Returns one vector of unit L2 norm per text, in order.
    ///
    /// # Errors
    /// If the model fails; then no vector of the batch is returned.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError>;
}

/// Reads passages and marks the words that answer a question (machine reading comprehension; Chen et al. 2017, "Reading
/// Wikipedia to answer open-domain questions").
///
/// Calls block. They come from threads that answer questions, never while a lock of the memory is held.
pub trait AnswerExtractor: Send + Sync {
    /// Returns one extraction per passage, in order. The passages come in the order in which the search ranks them.
    ///
    /// # Errors
    /// If the model fails; the answer is then found without it.
    fn extract(&self, question: &str, passages: &[Passage<'_>]) -> Result<Vec<Extraction>, PortError>;
}

/// A text that may answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage<'a> {
    /// The text. Speech begins with its speaker: "Mara: It is behind the shed."
    pub text: &'a str,
    /// What was said or seen right before it, in the same form; empty if there is nothing.
    pub before: &'a str,
    /// How long before the question it began; zero if it begins later.
    pub age: Duration,
}

/// What a reader finds in one passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Extraction {
    /// Log-odds that this passage answers the question, against that no passage does. A reader that compares the passages
    /// knows here what the others tell.
    pub relevance: f32,
    /// The same of the passage by itself.
    pub relevance_alone: f32,
    /// Bytes of the text that are the answer, if the passage has it in words.
    pub span: Range<usize>,
    /// Probability of the span among all spans of the text.
    pub span_probability: f32,
    /// The best spans before and behind it, the more probable first, with their probabilities.
    pub other_spans: Vec<(Range<usize>, f32)>,
    /// Probability of each kind of answer that the passage may give, in the order of [`AnswerForm::ALL`].
    pub forms: [f32; AnswerForm::ALL.len()],
}

impl Extraction {
    /// Returns the most probable kind of answer, the first of equal ones.
    pub fn form(&self) -> AnswerForm {
        let best = AnswerForm::ALL.into_iter().reduce(|best, other| {
            if self.form_probability(other) > self.form_probability(best) { other } else { best }
        });
        best.unwrap_or(AnswerForm::Words)
    }

    /// Returns the probability of a kind of answer.
    pub fn form_probability(&self, form: AnswerForm) -> f32 {
        self.forms[form as usize]
    }
}

/// What kind of answer a passage gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    /// Words of the text.
    Words,
    /// Yes.
    Yes,
    /// No.
    No,
    /// The time of the event.
    Time,
    /// The person who speaks.
    Speaker,
    /// Something that the text only implies, such as a number of events.
    Implied,
}

impl AnswerForm {
    /// All forms, in the order of a reader's outputs.
    pub const ALL: [Self; 6] = [Self::Words, Self::Yes, Self::No, Self::Time, Self::Speaker, Self::Implied];
}

/// Receives closed segments from the senses.
pub trait PerceptionSink: Send + Sync {
    /// Stores one segment, and returns once it is durable. May block, which slows down a file that is played at `max`.
    ///
    /// # Errors
    /// If the memory cannot store it; the caller counts the loss.
    fn perceived(&self, segment: crate::Perceived) -> Result<Timestamp, PortError>;
}

/// Extracts facts from events in addition to the rules for English: a language model, or rules for another language.
pub trait FactExtractor: Send + Sync {
    /// Returns the statements of an event. It must be deterministic, because learning may be repeated.
    ///
    /// # Errors
    /// If the model fails; the statements of the rules remain.
    fn extract(&self, event: &crate::Event) -> Result<Vec<Statement>, PortError>;
}

/// One thing that an event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The person or thing, by name: "Anna", "blue mug".
    pub subject: String,
    /// The attribute: "place", "colour", or any attribute with one value at a time.
    pub attribute: String,
    /// The value: "in the kitchen", "red".
    pub value: String,
    /// Whether the event affirms the value or denies it.
    pub holds: bool,
}

/// Judges whether a sequence of actions is a complete, reusable procedure (LLMVERIFY in NS-Mem).
pub trait ProcedureJudge: Send + Sync {
    /// Returns a score from 0 (a coincidence) to 1 (a procedure). `context` holds whole sessions that contain the steps, one
    /// line each.
    ///
    /// # Errors
    /// If the model fails; the evidence decides then.
    fn judge(&self, steps: &[&str], context: &[String]) -> Result<f32, PortError>;
}

/// Chooses the lines that a summary of a stretch of time is made of: a language model.
pub trait GistSelector: Send + Sync {
    /// Returns the places of the lines that tell the most, in any order. Lines are told in order of time; about `words` words of
    /// them fit.
    ///
    /// # Errors
    /// If the model fails; the lines are then chosen by what they cover.
    fn select(&self, lines: &[String], words: usize) -> Result<Vec<usize>, PortError>;
}
