//! What learning reads: one event with what belongs to it.

use crate::ports::Statement;
use crate::{Event, Sensed};

/// A vector of the senses, as it is stored: 1.0 is 32,767.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SensedVector {
    pub sensed: Sensed,
    /// The space's name, with the sense before it.
    pub space: String,
    pub vector: Vec<i16>,
}

/// One event to learn from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lesson {
    pub event: Event,
    pub vectors: Vec<SensedVector>,
    /// Statements that a language model read from it, if there is one.
    pub statements: Vec<Statement>,
}
