//! The event, episode or picture that others are like.

use std::fmt;
use std::str::FromStr;

use crate::{EpisodeId, EventId};

/// The least cosine of two events that count as alike where a request says nothing. Of the events of a large memory about one in two
/// hundred is as near (docs/benchmarks.md), measured in the space of the default model; another space may need another one.
pub const DEFAULT_LIKENESS: f32 = 0.5;

/// What stands before the event whose picture is the example.
const PICTURE: &str = "picture:";

/// An event, an episode with all its events, or a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Example {
    /// Written `ev-42`.
    Event(EventId),
    /// Written `ep-12`.
    Episode(EpisodeId),
    /// The picture of an event, or of the scene that it is part of: written `picture:ev-42`.
    Picture(EventId),
}

/// A search by likeness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlikeTo {
    /// The example.
    pub example: Example,
    /// The least cosine that counts as alike, above 0 and at most 1. If absent, [`DEFAULT_LIKENESS`]; of pictures, the cosine from
    /// which two show one place (γ of their space).
    pub cosine: Option<f32>,
}

/// A text is no id of an event or an episode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no id of an event or an episode; write ev-42 or ep-12, or picture:ev-42 for what looks like it")]
pub struct ExampleError(String);

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(id) => id.fmt(f),
            Self::Episode(id) => id.fmt(f),
            Self::Picture(id) => write!(f, "{PICTURE}{id}"),
        }
    }
}

impl FromStr for Example {
    type Err = ExampleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let event = text.starts_with("ev-").then(|| text.parse().ok().map(Self::Event));
        let episode = text.starts_with("ep-").then(|| text.parse().ok().map(Self::Episode));
        let picture =
            text.strip_prefix(PICTURE).filter(|id| id.starts_with("ev-")).map(|id| id.parse().map(Self::Picture));
        let picture = picture.and_then(Result::ok);
        let shown = || text.chars().take(40).collect();
        event.or(episode).flatten().or(picture).ok_or_else(|| ExampleError(shown()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_written_as_its_id() {
        for text in ["ev-42", "ep-12", "picture:ev-42"] {
            assert_eq!(text.parse::<Example>().unwrap().to_string(), text);
        }
        for text in ["", "42", "e-12", "ev-", "ep-x", "ev-1 ", "EV-1", "picture:42", "picture:ep-1"] {
            let error = text.parse::<Example>().unwrap_err().to_string();
            assert!(error.contains("write ev-42 or ep-12"), "{error}");
        }
    }
}
