//! The parser of time phrases: it finds the pieces of which phrases are made.

use jiff::Zoned;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;

use super::calendar::day_after;
use super::clock::Clock;
use super::tokens::{Gap, Token, tokens};
use super::{Relation, Tense};
use crate::{TimeSpan, Timestamp};

/// Most pieces that one text may have: a text with more is no question, and reading it must stay cheap.
const MOST_PIECES: usize = 96;

/// What kind of text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A question: its times bound a search, so that a rounded time reaches further than it says.
    Question,
    /// A sentence of an event, read from the moment at which it was told.
    Telling,
    /// A text that is a time and nothing else.
    Value,
}

/// Which of the days of a name is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// "Monday".
    Bare,
    /// "last Monday".
    Last,
    /// "this Monday".
    This,
    /// "next Monday".
    Next,
}

/// A date with what is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PartialDate {
    pub year: Option<i16>,
    pub month: Option<i8>,
    pub day: i8,
}

/// How a clock time is blurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hedge {
    Exact,
    /// "around seven".
    Around,
    /// "shortly before seven".
    ShortlyBefore,
    /// "shortly after seven".
    ShortlyAfter,
}

/// A part of a phrase.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// A day or a run of days, told relatively.
    Days(Date, Date),
    /// Hours of a day, told relatively, in seconds since its midnight ("this morning").
    PartOfDay(Date, (i32, i32)),
    /// A weekday by name.
    Weekday(Weekday, Which),
    /// A day told by its date.
    Date(PartialDate),
    /// A run of days told by dates ("3 to 5 March").
    DateRange(PartialDate, PartialDate),
    /// A month, a season or a year told by name, in each year it may mean, the likeliest first.
    Periods(Vec<(Date, Date)>),
    /// A part of any day, in seconds since midnight.
    Part(i32, i32),
    /// A time on the clock.
    Clock(Clock, Hedge),
    /// From a time on the clock to another.
    ClockRange(Clock, Clock),
    /// A span told relatively to now; whether it is told in units shorter than a day.
    Span(TimeSpan, bool),
    /// A span told relatively to the session.
    InSession(TimeSpan),
}

/// A piece with its place, in words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub from: usize,
    pub to: usize,
    pub piece: Piece,
    pub relation: Relation,
    /// Whether it is a time only beside another piece ("ten" in "Monday ten").
    pub weak: bool,
}

pub(super) struct Parser<'a> {
    pub tokens: Vec<Token>,
    pub now: &'a Zoned,
    pub zone: TimeZone,
    pub session: Option<TimeSpan>,
    pub tense: Tense,
    pub mode: Mode,
}

impl<'a> Parser<'a> {
    pub fn new(text: &str, now: &'a Zoned, session: Option<TimeSpan>, tense: Tense, mode: Mode) -> Self {
        Self { tokens: tokens(text), now, zone: now.time_zone().clone(), session, tense, mode }
    }

    /// The word at a place; empty beyond the ends.
    pub fn word(&self, place: usize) -> &str {
        self.tokens.get(place).map_or("", |token| token.text.as_str())
    }

    /// Words from a place on; empty beyond the end.
    pub fn words<const N: usize>(&self, place: usize) -> [&str; N] {
        std::array::from_fn(|offset| self.word(place + offset))
    }

    /// The word before a place.
    pub fn word_before(&self, place: usize) -> &str {
        place.checked_sub(1).map_or("", |before| self.word(before))
    }

    pub fn gap(&self, place: usize) -> Gap {
        self.tokens.get(place).map_or(Gap::Stop, |token| token.gap)
    }

    pub fn rest(&self, place: usize) -> &[Token] {
        self.tokens.get(place..).unwrap_or_default()
    }

    pub fn today(&self) -> Date {
        self.now.date()
    }

    pub fn day(&self, offset: i64) -> Date {
        day_after(self.today(), offset)
    }

    pub fn now_at(&self) -> Timestamp {
        self.now.timestamp().into()
    }

    /// Whether what stands at a place cannot be a noun that a number before it counts.
    pub fn ends_number(&self, place: usize) -> bool {
        if place >= self.tokens.len() || matches!(self.gap(place), Gap::Stop | Gap::Comma) {
            return true;
        }
        let word = self.word(place);
        FOLLOWERS.binary_search(&word).is_ok()
            || super::calendar::weekday(word).is_some()
            || super::calendar::month(word).is_some()
    }

    /// The pieces of the text, in order.
    pub fn pieces(&self) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        let mut place = 0;
        while place < self.tokens.len() && found.len() < MOST_PIECES {
            match self.piece(place) {
                Some(next) => {
                    place = next.to;
                    found.push(next);
                }
                None => place += 1,
            }
        }
        found
    }

    fn piece(&self, place: usize) -> Option<Found> {
        let found = self.core(place).or_else(|| self.prefixed(place))?;
        // "every Monday" names no single day.
        let before = self.word_before(place);
        let repeated = matches!(before, "every" | "each") || matches!(self.word(place), "every" | "each");
        // "on Friday instead of Tuesday", "Friday, not Tuesday": the latter is no time of what is told.
        let instead = before == "of" && place > 1 && self.word(place - 2) == "instead";
        let denied = self.mode == Mode::Telling
            && found.relation == Relation::At
            && (instead || before == "not" && !matches!(found.piece, Piece::Part(..) | Piece::PartOfDay(..)));
        (found.to > place && found.to <= self.tokens.len() && !repeated && !denied).then_some(found)
    }

    /// A piece that no relation stands in front of.
    fn core(&self, place: usize) -> Option<Found> {
        let at = |(taken, piece)| Found { from: place, to: place + taken, piece, relation: Relation::At, weak: false };
        self.of_session(place)
            .or_else(|| self.ago(place))
            .or_else(|| self.ahead(place))
            .or_else(|| self.relative_day(place))
            .or_else(|| self.relative_period(place))
            .map(at)
            .or_else(|| self.date(place))
            .or_else(|| self.time_of_day(place))
    }

    /// "since Monday", "by noon on Friday", "until 18:30".
    fn prefixed(&self, place: usize) -> Option<Found> {
        let (taken, relation) = match self.words::<3>(place) {
            ["no" | "not", "later", "than"] => (3, Relation::Until),
            ["no" | "not", "earlier", "than"] => (3, Relation::Since),
            ["as", "of", _] => (2, Relation::Since),
            ["up", "to", next] if !matches!(next, "on" | "at" | "in" | "this" | "last") => (2, Relation::Until),
            ["since", ..] => (1, Relation::Since),
            ["until" | "till" | "til" | "by", ..] => (1, Relation::Until),
            ["before", ..] => (1, Relation::Before),
            ["after", ..] => (1, Relation::After),
            ["from", ..] => (1, Relation::At),
            _ => return None,
        };
        let mut inner = self.core(place + taken).filter(|inner| inner.relation == Relation::At)?;
        if matches!(inner.piece, Piece::Clock(_, Hedge::ShortlyBefore | Hedge::ShortlyAfter) | Piece::InSession(_)) {
            return None;
        }
        let (mut relation, mut to) = (relation, inner.to);
        // "Before or after nine?" bounds nothing.
        if self.word_before(place) == "or" && place > 1 && matches!(self.word(place - 2), "before" | "after" | "until")
        {
            return Some(Found { from: place, to, weak: true, ..inner });
        }
        if self.word(place) == "from" {
            // "from Monday on" is since Monday; "from Monday" alone is Monday.
            match self.words::<2>(inner.to) {
                ["on" | "onwards" | "onward", next] if next.is_empty() || self.gap(inner.to + 1) != Gap::Space => {
                    relation = Relation::Since;
                    to += 1;
                }
                ["onwards" | "onward", _] => {
                    relation = Relation::Since;
                    to += 1;
                }
                _ => return None,
            }
        }
        if inner.weak && matches!(inner.piece, Piece::Clock(..)) {
            inner.weak = !self.ends_number(inner.to);
        }
        Some(Found { from: place, to, relation, ..inner })
    }
}

/// Words that may follow a time told by a number, and that no number counts. Sorted.
const FOLLOWERS: [&str; 71] = [
    "a",
    "about",
    "after",
    "again",
    "already",
    "and",
    "are",
    "as",
    "at",
    "because",
    "before",
    "but",
    "by",
    "can",
    "did",
    "do",
    "does",
    "for",
    "from",
    "had",
    "has",
    "have",
    "he",
    "her",
    "his",
    "how",
    "i",
    "if",
    "in",
    "instead",
    "into",
    "is",
    "it",
    "last",
    "later",
    "my",
    "next",
    "now",
    "on",
    "or",
    "our",
    "sharp",
    "she",
    "so",
    "that",
    "the",
    "their",
    "then",
    "there",
    "they",
    "this",
    "till",
    "to",
    "today",
    "tomorrow",
    "tonight",
    "too",
    "until",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "will",
    "with",
    "yesterday",
    "you",
];
