//! What the memory accepts, in one table. Callers may accept less, never more.

use std::time::Duration;

// Observations.

/// Longest text of an observation, bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Longest attributes of an observation, bytes of JSON.
pub const MAX_ATTRIBUTE_BYTES: usize = 64 * 1024;
/// Deepest nesting of attributes.
pub const MAX_ATTRIBUTE_DEPTH: usize = 16;
/// Longest name of a source, an entity, a session, or id of a sender, bytes.
pub const MAX_NAME_BYTES: usize = 1024;
/// Most atomic events of one segment.
pub const MAX_SEGMENT_EVENTS: usize = 10_000;
/// Most components of a vector of the senses.
pub const MAX_DIMENSIONS: usize = 4096;
/// How far ahead of the clock an observation may lie.
pub const MAX_FUTURE: Duration = Duration::from_secs(24 * 3600);

// Questions.

/// Longest question, in bytes.
pub const MAX_QUESTION_BYTES: usize = 8 * 1024;
/// Most options of a question.
pub const MAX_OPTIONS: usize = 32;
/// Longest option, in bytes.
pub const MAX_OPTION_BYTES: usize = 1024;
/// Most items of evidence of an answer.
pub const MAX_EVIDENCE: usize = 1_000;

// Persons.

/// Longest name that a person is given, in bytes.
pub const MAX_PERSON_NAME_BYTES: usize = 256;
