//! Times as people write them: "yesterday evening", "ten minutes ago", "on 7 May 2023", "Saturday the fourteenth at six".
//!
//! Three kinds of text hold times. The times of a question bound a search or lift what lies near them
//! ([`time_phrases`]). The times of a sentence say when something is or was, seen from the moment at which the sentence
//! was told ([`told_times`]). An option or a value may be times and nothing else ([`whole_times_told`]).
//!
//! A text becomes words (`tokens`), words become pieces (`parser`, with `clock`, `spoken`, `date`, `relative`, `ago` and
//! `session`), pieces that belong together become a phrase (`combine`), and a phrase becomes spans (`resolve`, with
//! `days`, `hours` and `ranges`).

mod ago;
mod calendar;
mod clock;
mod combine;
mod date;
mod days;
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

pub(crate) use say::{clock_range, exact_moment, length, moment, on_day, period};
pub(crate) use session::may_name_session;
pub(crate) use tense::tense_of;
pub(crate) use told::{ToldTime, WholeTime, told_times_by_clause, whole_times_told};
#[cfg(test)]
use told::{told_times, whole_times};

use parser::{Mode, Parser};

/// The tense of the clause that holds a time. It decides in which direction a weekday, a date without a year or a clock
/// time without a day is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tense {
    Past,
    Present,
    Future,
}

/// How a time that is named bounds what is told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Relation {
    /// At that time.
    #[default]
    At,
    /// "since Monday": from its begin on.
    Since,
    /// "until noon", "by Friday": to its end.
    Until,
    /// "before ten": up to its begin.
    Before,
    /// "after 10:30": what follows it.
    After,
}

/// A time phrase and what it means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimePhrase {
    /// Where it stands in the text, in bytes.
    pub range: Range<usize>,
    /// The time that is named, before its relation is applied: Friday, of "by Friday".
    pub named: TimeSpan,
    /// The spans it may mean, with weights from 0 to 1; the first is the likeliest. The relation is applied: "since
    /// Monday" reaches until now. One side may be open to the first or the last moment there is.
    pub spans: Vec<(TimeSpan, f32)>,
    /// Whether it bounds the search (`spans` is then one), or only lifts what is near.
    pub bounds: bool,
    /// Whether it is measured in the capture session.
    pub of_session: bool,
    /// Whether a day or a longer period is told.
    pub has_date: bool,
    /// Whether a clock time or a part of the day is told.
    pub has_clock: bool,
    /// How it bounds what is told of it.
    pub relation: Relation,
}

/// Returns the time phrases of a question, in order. `session` is the capture session that "the session" means.
///
/// A phrase of a question about the future lies ahead of `now`: it bounds the times that were told (see [`told_times`]),
/// not the time of the telling.
pub(crate) fn time_phrases(text: &str, now: &Zoned, session: Option<TimeSpan>, tense: Tense) -> Vec<TimePhrase> {
    Parser::new(text, now, session, tense, Mode::Question).phrases()
}

/// Returns the text without the phrases that bound it.
pub(crate) fn without(text: &str, phrases: &[TimePhrase]) -> String {
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
