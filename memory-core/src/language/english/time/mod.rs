//! Parses times as people write them: "yesterday evening", "ten minutes ago", "on 7 May 2023", "Saturday the fourteenth
//! at six".
//!
//! Three kinds of text contain times. The times of a question bound a search or boost events near them
//! ([`time_phrases`]). The times of a sentence say when something is or was, relative to the moment of the statement
//! ([`told_times`]). An option or a value may consist of times only ([`whole_times_told`]).
//!
//! A text is split into words (`tokens`). Words form pieces (`parser`, with `clock`, `spoken`, `date`, `relative`,
//! `ago` and `session`). Pieces that belong together form a phrase (`combine`). A phrase is resolved to spans
//! (`resolve`, with `days`, `hours` and `ranges`).

mod ago;
mod calendar;
mod clock;
mod combine;
mod date;
mod days;
mod frequency;
mod hours;
mod numbers;
mod parser;
mod ranges;
mod relative;
mod resolve;
mod say;
mod session;
mod spoken;
mod tense;
mod tokens;
mod told;

#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::Zoned;

use crate::TimeSpan;

pub(crate) use calendar::{WORDS_OF_DAYS, part_of_day_seconds};
pub(crate) use frequency::times_a_day;
pub(crate) use say::{say_clock_range, say_day, say_exact_moment, say_length, say_length_of, say_moment, say_period};
pub(crate) use session::may_name_session;
pub(crate) use tense::tense_of;
pub(crate) use told::{ToldTime, WholeTime, told_times_by_clause, whole_times_told};
#[cfg(test)]
use told::{told_times, whole_times};

use parser::{Parser, ParserMode};

/// The tense of the clause that contains a time. It gives the direction in which to look for a weekday, a date without
/// a year or a clock time without a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tense {
    Past,
    Present,
    Future,
}

/// How a named time bounds an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum TimeRelation {
    /// At that time.
    #[default]
    At,
    /// "since Monday": from its start.
    Since,
    /// "until noon", "by Friday": to its end.
    Until,
    /// "before ten": until its start.
    Before,
    /// "after 10:30": from its end.
    After,
}

/// A time phrase and its meaning.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimePhrase {
    /// Byte range in the text.
    pub range: Range<usize>,
    /// The named time, before its relation is applied: Friday in "by Friday".
    pub named: TimeSpan,
    /// The possible spans with weights from 0 to 1, the most likely first. The relation is applied: "since Monday"
    /// lasts until now. One side may be open to the first or the last possible moment.
    pub spans: Vec<(TimeSpan, f32)>,
    /// Whether it bounds the search to a single span, or only boosts events near its spans.
    pub bounds: bool,
    /// Whether it is relative to the capture session.
    pub of_session: bool,
    /// Whether a day or a longer period is stated.
    pub has_date: bool,
    /// Whether a clock time or a part of the day is stated.
    pub has_clock: bool,
    /// How it bounds the event.
    pub relation: TimeRelation,
}

/// Returns the time phrases of a question, in order. `session` is the capture session that "the session" means.
///
/// In a question about the future, a phrase lies ahead of `now`. It bounds the stated times (see [`told_times`]), not
/// the time of the statement.
pub(crate) fn time_phrases(text: &str, now: &Zoned, session: Option<TimeSpan>, tense: Tense) -> Vec<TimePhrase> {
    Parser::new(text, now, session, tense, ParserMode::Question).resolve_all()
}

/// Returns the text without the phrases that bound it.
pub(crate) fn without_bounds(text: &str, phrases: &[TimePhrase]) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut from = 0;
    for phrase in phrases.iter().filter(|phrase| phrase.bounds) {
        rest.push_str(text.get(from..phrase.range.start).unwrap_or_default());
        rest.push(' ');
        from = phrase.range.end.max(from);
    }
    rest.push_str(text.get(from..).unwrap_or_default());
    rest
}
