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
