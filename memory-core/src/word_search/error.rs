//! Why a query for words cannot be answered.

use super::Example;
use super::parse::{FIELDS, MAX_NEAR, MAX_PARTS, MAX_QUERY_CHARS};
use crate::ReadError;

/// Why a query for words cannot be answered, and what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordQueryError {
    /// The query is empty.
    #[error("the query is empty; give at least one word to find, such as mug")]
    Empty,
    /// The query is longer than [`MAX_QUERY_CHARS`].
    #[error("the query has {chars} characters, and {MAX_QUERY_CHARS} are allowed; search for fewer words")]
    TooLong {
        /// How long it is.
        chars: usize,
    },
    /// The query has more than [`MAX_PARTS`] parts.
    #[error("the query has more than {MAX_PARTS} words, phrases and fields; search for fewer")]
    TooManyParts,
    /// A quote without an end.
    #[error("the quote at character {at} is not closed; write \"{text}\" with a second \", or leave the quote out")]
    UnclosedQuote {
        /// Position in the query, from 1.
        at: usize,
        /// The first words behind it.
        text: String,
    },
    /// Only exclusions.
    #[error("everything in the query is excluded; add a word to find, or a field such as kind:action")]
    OnlyExcluded,
    /// Only words that the index leaves out.
    #[error("the index keeps no word of {text}; add a word with a meaning of its own, such as a name or a thing")]
    OnlySmallWords {
        /// The words.
        text: String,
    },
    /// A field that there is not.
    #[error("there is no field {name}:; the fields are {}; to find the text itself, write it in quotes", fields())]
    UnknownField {
        /// Its name.
        name: String,
    },
    /// A field that says nothing, what it cannot, or too much.
    #[error("{field}: {reason}")]
    BadField {
        /// The field.
        field: &'static str,
        /// What is wrong and what to write.
        reason: String,
    },
    /// `near` without a phrase on each side, or without a usable number.
    #[error(
        "{text}: {reason}; write mug near/5 sink, with a number from 1 to {MAX_NEAR} and a word or \"phrase\" on each side"
    )]
    BadNear {
        /// The operator as it was written.
        text: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// Alternatives.
    #[error("OR is not understood: every word of a query must be there; search once for each alternative")]
    Or,
}

fn fields() -> String {
    FIELDS.map(|field| format!("{field}:")).join(", ")
}

/// Why a search for words gave nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WordSearchError {
    /// The query cannot be answered.
    #[error(transparent)]
    Query(#[from] WordQueryError),
    /// The event or the episode that others should be like is not there.
    #[error("there is no {0}, or it was forgotten; take the id from a search, a list or the evidence of an answer")]
    UnknownExample(Example),
    /// The example has no embedding.
    #[error("{example} has no embedding, so nothing can be compared with it: {}", without_vector(*.installed))]
    NoEmbedding {
        /// The example.
        example: Example,
        /// Whether there is a model that will make one.
        installed: bool,
    },
    /// The example shows no picture of a space in which places can be told apart.
    #[error(
        "{0} shows no picture that others can be compared with: it was told, or no model for image embedding was in use when it was \
         seen; leave out `picture:` to compare what is said of it"
    )]
    NoPicture(Example),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

fn without_vector(installed: bool) -> &'static str {
    match installed {
        true => "it is made in the background; try again when no embeddings are pending",
        false => "no model for text embedding is in use; `engram models` shows how to install one",
    }
}
