//! The parser of time phrases: finds the pieces of phrases.

use jiff::Zoned;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;

use super::calendar::day_after;
use super::clock::ClockTime;
use super::tokens::{Separator, TimeToken, tokenise};
use super::{Tense, TimeRelation};
use crate::{TimeSpan, Timestamp};

/// Maximum number of pieces of a text. A text with more is not a question, and parsing must stay cheap.
const MAX_PIECES: usize = 96;

/// The kind of text that is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParserMode {
    /// A question. Its times bound a search, so a rounded time includes a tolerance.
    Question,
    /// A sentence of an event, relative to the moment of the statement.
    Telling,
    /// A text that consists of times only.
    Value,
}

/// The word that selects one of the weekdays with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WeekdayModifier {
    /// "Monday".
    Bare,
    /// "last Monday".
    Last,
    /// "this Monday".
    This,
    /// "next Monday".
    Next,
}

/// A date with the parts that are stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PartialDate {
    pub year: Option<i16>,
    pub month: Option<i8>,
    pub day: i8,
}

/// The vagueness of a clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClockHedge {
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
pub(super) enum PhrasePiece {
    /// One or more days, relative to today.
    Days(Date, Date),
    /// Hours of a day relative to today, in seconds since its midnight ("this morning").
    PartOfDay(Date, (i32, i32)),
    /// A weekday by name.
    Weekday(Weekday, WeekdayModifier),
    /// A day by its date.
    Date(PartialDate),
    /// A range of dates ("3 to 5 March").
    DateRange(PartialDate, PartialDate),
    /// A named month, season or year, in each possible year, the most likely first.
    Periods(Vec<(Date, Date)>),
    /// A part of any day, in seconds since midnight.
    Part(i32, i32),
    /// A time on the clock.
    Clock(ClockTime, ClockHedge),
    /// From one clock time to another.
    ClockRange(ClockTime, ClockTime),
    /// A span relative to now, and whether its units are shorter than a day.
    Span(TimeSpan, bool),
    /// A span relative to the session.
    InSession(TimeSpan),
}

/// A piece with its position, in words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LocatedPiece {
    pub from: usize,
    pub to: usize,
    pub piece: PhrasePiece,
    pub relation: TimeRelation,
    /// Whether it is a time only next to another piece ("ten" in "Monday ten").
    pub weak: bool,
}

pub(super) struct Parser<'a> {
    pub tokens: Vec<TimeToken>,
    pub now: &'a Zoned,
    pub zone: TimeZone,
    pub session: Option<TimeSpan>,
    pub tense: Tense,
    pub mode: ParserMode,
}

impl<'a> Parser<'a> {
    pub fn new(text: &str, now: &'a Zoned, session: Option<TimeSpan>, tense: Tense, mode: ParserMode) -> Self {
        Self { tokens: tokenise(text), now, zone: now.time_zone().clone(), session, tense, mode }
    }

    /// Returns the word at a position; empty outside of the text.
    pub fn word(&self, place: usize) -> &str {
        self.tokens.get(place).map_or("", |token| token.text.as_str())
    }

    /// Returns the words from a position on; empty outside of the text.
    pub fn words<const N: usize>(&self, place: usize) -> [&str; N] {
        std::array::from_fn(|offset| self.word(place + offset))
    }

    /// Returns the word before a position.
    pub fn word_before(&self, place: usize) -> &str {
        place.checked_sub(1).map_or("", |before| self.word(before))
    }

    pub fn gap(&self, place: usize) -> Separator {
        self.tokens.get(place).map_or(Separator::Stop, |token| token.gap)
    }

    pub fn rest(&self, place: usize) -> &[TimeToken] {
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

    /// Returns whether the word at a position cannot be a noun that a number before it counts.
    pub fn cannot_be_counted(&self, place: usize) -> bool {
        if place >= self.tokens.len() || matches!(self.gap(place), Separator::Stop | Separator::Comma) {
            return true;
        }
        let word = self.word(place);
        WORDS_AFTER_TIME_NUMBER.binary_search(&word).is_ok()
            || super::calendar::weekday_named(word).is_some()
            || super::calendar::month_number(word).is_some()
    }

    /// Returns the pieces of the text in order.
    pub fn parse_pieces(&self) -> Vec<LocatedPiece> {
        let mut found: Vec<LocatedPiece> = Vec::new();
        let mut place = 0;
        while place < self.tokens.len() && found.len() < MAX_PIECES {
            match self.parse_piece(place) {
                Some(next) => {
                    place = next.to;
                    found.push(next);
                }
                None => place += 1,
            }
        }
        found
    }

    fn parse_piece(&self, place: usize) -> Option<LocatedPiece> {
        let found = self.parse_unprefixed(place).or_else(|| self.parse_prefixed(place))?;
        // "every Monday" names no single day.
        let before = self.word_before(place);
        let repeated = matches!(before, "every" | "each") || matches!(self.word(place), "every" | "each");
        // In "on Friday instead of Tuesday" and "Friday, not Tuesday", Tuesday is not a time of the event.
        let instead = before == "of" && place > 1 && self.word(place - 2) == "instead";
        let denied = self.mode == ParserMode::Telling
            && found.relation == TimeRelation::At
            && (instead
                || before == "not" && !matches!(found.piece, PhrasePiece::Part(..) | PhrasePiece::PartOfDay(..)));
        (found.to > place && found.to <= self.tokens.len() && !repeated && !denied).then_some(found)
    }

    /// Parses a piece without a relation.
    fn parse_unprefixed(&self, place: usize) -> Option<LocatedPiece> {
        let at = |(taken, piece)| LocatedPiece {
            from: place,
            to: place + taken,
            piece,
            relation: TimeRelation::At,
            weak: false,
        };
        self.parse_session_time(place)
            .or_else(|| self.parse_ago(place))
            .or_else(|| self.parse_ahead(place))
            .or_else(|| self.parse_relative_day(place))
            .or_else(|| self.parse_relative_period(place))
            .map(at)
            .or_else(|| self.parse_date(place))
            .or_else(|| self.parse_time_of_day(place))
    }

    /// Parses a piece with a relation: "since Monday", "by noon on Friday", "until 18:30".
    fn parse_prefixed(&self, place: usize) -> Option<LocatedPiece> {
        let (taken, relation) = match self.words::<3>(place) {
            ["no" | "not", "later", "than"] => (3, TimeRelation::Until),
            ["no" | "not", "earlier", "than"] => (3, TimeRelation::Since),
            ["as", "of", _] => (2, TimeRelation::Since),
            ["up", "to", next] if !matches!(next, "on" | "at" | "in" | "this" | "last") => (2, TimeRelation::Until),
            ["since", ..] => (1, TimeRelation::Since),
            ["until" | "till" | "til" | "by", ..] => (1, TimeRelation::Until),
            ["before", ..] => (1, TimeRelation::Before),
            ["after", ..] => (1, TimeRelation::After),
            ["from", ..] => (1, TimeRelation::At),
            _ => return None,
        };
        let mut inner = self.parse_unprefixed(place + taken).filter(|inner| inner.relation == TimeRelation::At)?;
        if matches!(
            inner.piece,
            PhrasePiece::Clock(_, ClockHedge::ShortlyBefore | ClockHedge::ShortlyAfter) | PhrasePiece::InSession(_)
        ) {
            return None;
        }
        let (mut relation, mut to) = (relation, inner.to);
        // "Before or after nine?" sets no bound.
        if self.word_before(place) == "or" && place > 1 && matches!(self.word(place - 2), "before" | "after" | "until")
        {
            return Some(LocatedPiece { from: place, to, weak: true, ..inner });
        }
        if self.word(place) == "from" {
            // "From Monday on" means since Monday; "from Monday" alone means Monday.
            match self.words::<2>(inner.to) {
                ["on" | "onwards" | "onward", next]
                    if next.is_empty() || self.gap(inner.to + 1) != Separator::Space =>
                {
                    relation = TimeRelation::Since;
                    to += 1;
                }
                ["onwards" | "onward", _] => {
                    relation = TimeRelation::Since;
                    to += 1;
                }
                _ => return None,
            }
        }
        if inner.weak && matches!(inner.piece, PhrasePiece::Clock(..)) {
            inner.weak = !self.cannot_be_counted(inner.to);
        }
        Some(LocatedPiece { from: place, to, relation, ..inner })
    }
}

/// Words that may follow a time given by a number, but that a number cannot count. Sorted.
const WORDS_AFTER_TIME_NUMBER: [&str; 71] = [
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
