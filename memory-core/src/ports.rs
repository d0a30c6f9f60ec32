//! What the memory needs from outside, as traits that `drivers` and `agent` implement.

use crate::Timestamp;

/// Why something outside could not do its part.
#[derive(Debug, thiserror::Error)]
#[error("{role}: {message}")]
pub struct PortError {
    /// The role that failed.
    pub role: &'static str,
    /// What failed and what to do.
    pub message: String,
}

/// Work behind the commit that may take long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LongWork {
    /// Facts, persons and procedures are learnt from events.
    Learning,
    /// Texts get their vectors.
    Embedding,
    /// The store is copied without what was forgotten, and its index built anew.
    Compaction,
    /// The index is written into its file.
    Saving,
}

/// Hears that long work goes on, so that what is slow can be told from what hangs.
pub trait Progress: Send + Sync {
    /// One more step is done: some events, some rows, some bytes. Called often, by the thread that does the work, sometimes while
    /// a lock of the memory is held: it must not call the memory.
    fn step(&self, work: LongWork);
}

/// φ of the papers: texts to vectors of one space.
///
/// Calls block; they are made from worker threads, never while a lock of the memory is held.
pub trait TextEmbedder: Send + Sync {
    /// Name of the space, unique per model and preprocessing. Vectors of different spaces are never compared.
    fn space(&self) -> &str;

    /// Length of a vector.
    fn dimensions(&self) -> usize;

    /// One vector of unit L2 norm per text, in order.
    ///
    /// # Errors
    /// If the model fails; then no vector of the batch is returned.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, PortError>;
}

/// Receives closed segments from the senses.
pub trait PerceptionSink: Send + Sync {
    /// Takes one segment and returns once it is durable. May block: that is the back-pressure of a file at `max`.
    ///
    /// # Errors
    /// If the memory cannot take it; the caller counts the loss.
    fn perceived(&self, segment: crate::Perceived) -> Result<Timestamp, PortError>;
}

/// Reads facts out of what was said, beside the rules for English: a language model, or rules for another language.
pub trait FactExtractor: Send + Sync {
    /// What an event says. Must give the same for the same event, or learning anew gives something else.
    ///
    /// # Errors
    /// If the model fails; the rules' own reading stands.
    fn extract(&self, event: &crate::Event) -> Result<Vec<Statement>, PortError>;
}

/// One thing that an event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The person or thing, by name: "Anna", "blue mug".
    pub subject: String,
    /// What it says of it: "place", "colour", or any attribute with one value at a time.
    pub attribute: String,
    /// The value: "in the kitchen", "red".
    pub value: String,
    /// Whether it says that it is so, or that it is not.
    pub holds: bool,
}

/// Judges whether actions in this order are complete, reusable knowledge (the paper's LLMVERIFY).
pub trait ProcedureJudge: Send + Sync {
    /// 0 (a coincidence) to 1 (a procedure). `context` holds whole sessions that contain the steps, one line each.
    ///
    /// # Errors
    /// If the model fails; the evidence decides then.
    fn judge(&self, steps: &[&str], context: &[String]) -> Result<f32, PortError>;
}
