//! Search for words and for what is like an event: a small query language, its results, and the words around each hit.
//!
//! A query holds words (as the index stems them), `"phrases"`, `-excluded` words and phrases, `near/5` between two words or
//! phrases, and the fields `who:`, `kind:`, `since:` and `until:`. An event is found if it holds every part of the query and
//! nothing that is excluded. Words that the index leaves out ("the", "was") count nowhere: not as words, not between the words
//! of a phrase, and not as distance.
//!
//! [`WordQuery::parse`] reads a query; [`Search::find`](crate::index::Search::find) answers it from the index alone.

mod error;
mod example;
mod parse;

use std::ops::Range;

pub use error::{WordQueryError, WordSearchError};
pub use example::{AlikeTo, DEFAULT_LIKENESS, Example};
pub use parse::{FIELDS, MAX_NEAR, MAX_PARTS, MAX_QUERY_CHARS};

use crate::{EpisodeId, Event, EventId, Kind, Near, TimeSpan};

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WordQuery {
    /// Parts that an event must hold, or must not hold.
    pub parts: Vec<WordPart>,
    /// Only events that overlap this.
    pub span: Option<TimeSpan>,
    /// Only events of these kinds; all if empty.
    pub kinds: Vec<Kind>,
    /// Only events about this entity; case is ignored.
    pub entity: Option<String>,
    /// Only events with a pose in this circle.
    pub near: Option<Near>,
    /// Only events that are like this one, the most alike first whatever the order is.
    pub similar_to: Option<AlikeTo>,
    /// Which events come first.
    pub order: WordOrder,
    /// How many events are returned at most; all of them are counted.
    pub limit: usize,
}

/// One part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordPart {
    /// What the part looks for.
    pub pattern: WordPattern,
    /// Whether an event must not hold it.
    pub excluded: bool,
}

/// What a part looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPattern {
    /// A word, or words next to each other.
    Phrase(String),
    /// Two phrases in either order, with their nearest words at most so many words apart; 1 is next to each other.
    Near(String, String, usize),
}

/// Which events come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WordOrder {
    /// The latest.
    #[default]
    Newest,
    /// Events with the highest BM25 of the words; the latest of equal ones.
    Relevance,
}

/// How the events that hold all words are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordPlan {
    /// Every occurrence of the rarest word by select, the other words around it by rank (HIPPOCAMPUS).
    Rank,
    /// The posting lists of all words, intersected.
    Postings,
}

impl WordPlan {
    /// Its name in replies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rank => "rank",
            Self::Postings => "postings",
        }
    }
}

/// How common a word of the query is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordCount {
    /// The word, in lower case.
    pub word: String,
    /// How many visible events hold it, in any form.
    pub events: u32,
}

/// Result of the index.
#[derive(Debug, Clone, PartialEq)]
pub struct WordMatches {
    /// How many events match.
    pub total: usize,
    /// The first of them.
    pub hits: Vec<WordHit>,
    /// Every word that events must hold.
    pub words: Vec<WordCount>,
    /// Parts that were left out because the index keeps none of their words.
    pub ignored: Vec<String>,
    /// How they were found.
    pub plan: WordPlan,
}

/// One event that matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WordHit {
    /// The event.
    pub id: EventId,
    /// Its episode.
    pub episode: EpisodeId,
    /// BM25 of the words as a share of the most that they can give, 0 to 1; 0 in order of time.
    pub score: f32,
}

/// The part of a text around what was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The text on one line, with "…" where it was cut.
    pub text: String,
    /// Matches, in characters of `text`, in order and without overlaps.
    pub marks: Vec<Range<usize>>,
}

impl WordQuery {
    /// Whether something is asked for besides likeness and a circle.
    pub fn asks_for_words_or_fields(&self) -> bool {
        !self.parts.is_empty() || self.span.is_some() || !self.kinds.is_empty() || self.entity.is_some()
    }
}

impl Snippet {
    /// The text with every mark between `open` and `close`.
    pub fn marked(&self, open: &str, close: &str) -> String {
        let mut out = String::with_capacity(self.text.len() + self.marks.len() * (open.len() + close.len()));
        for (at, c) in self.text.chars().enumerate() {
            if self.marks.iter().any(|mark| mark.start == at) {
                out.push_str(open);
            }
            out.push(c);
            if self.marks.iter().any(|mark| mark.end == at + 1) {
                out.push_str(close);
            }
        }
        out
    }
}

/// Result of a search for words, with the events.
#[derive(Debug, Clone, PartialEq)]
pub struct WordPage {
    /// How many events match; of what is like an event, at most the 1,000 nearest are counted, and of what is like an episode,
    /// episodes are.
    pub total: usize,
    /// The first of them; fewer where events were forgotten meanwhile.
    pub found: Vec<WordFound>,
    /// Every word that events must hold.
    pub words: Vec<WordCount>,
    /// Parts that were left out because the index keeps none of their words.
    pub ignored: Vec<String>,
    /// How the words were found; `None` where none were asked for, but only what is like an event.
    pub plan: Option<WordPlan>,
}

/// One event that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct WordFound {
    /// The event.
    pub event: Event,
    /// The words around the hit.
    pub snippet: Snippet,
    /// BM25 of the words as a share of the most that they can give, 0 to 1; how like the example it is, if there is one: the cosine,
    /// and with an episode the mean over its events; 0 in order of time.
    pub score: f32,
}

#[cfg(test)]
mod tests;
