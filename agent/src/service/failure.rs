//! Why a call of the service failed.

use std::time::Duration;

use memory_core::ReadError;

/// Why nothing of a batch was committed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObserveFailure {
    /// The disk is full or the ceiling reached; the same batch can be sent again.
    #[error("{0}")]
    StorageFull(String),
    /// Any other failure of the store.
    #[error("{0}")]
    Store(String),
    /// Engram is stopping.
    #[error("engram is stopping; send it again when it is back")]
    Closed,
}

/// Why a question, or a reading, got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskFailure {
    /// The queue of questions is full.
    #[error("too many questions are waiting; ask again in a moment")]
    Busy,
    /// The time ran out, waiting included.
    #[error("no answer within {} ms; ask again with a larger deadline_ms", .0.as_millis())]
    Deadline(Duration),
    /// The question cannot be understood as one.
    #[error("{0}")]
    Invalid(String),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The answer failed in a way that is a bug.
    #[error("answering failed unexpectedly: {0}; please report it")]
    Internal(String),
    /// Engram is stopping.
    #[error("engram is stopping")]
    Closed,
}

/// Why nothing was forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetFailure {
    /// The request names nothing, or is contradictory.
    #[error("{0}")]
    Invalid(String),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The store could not write; nothing was forgotten.
    #[error(transparent)]
    Write(#[from] ObserveFailure),
}
