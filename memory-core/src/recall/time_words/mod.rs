//! Time words of a question: "yesterday evening", "ten minutes ago", "on 7 May 2023", "near the end of the session".
//!
//! Relative words tell when something happened, so they bound the search. A date may be that of the telling or that of
//! the event, which lie days apart in a conversation, so it only lifts what is near it.

mod calendar;
mod parse;
mod tokens;

use std::ops::Range;

use jiff::Zoned;

use crate::TimeSpan;

#[cfg(test)]
mod tests;

pub(super) use tokens::number;

/// A time phrase and what it means.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TimePhrase {
    /// Where it stands in the question, in bytes.
    pub range: Range<usize>,
    /// The spans it may mean, with weights from 0 to 1.
    pub spans: Vec<(TimeSpan, f32)>,
    /// Whether it bounds the search (`spans` is then one), or only lifts what is near.
    pub bounds: bool,
    /// Whether it is measured in the capture session.
    pub of_session: bool,
}

/// The time phrases of a question, in order. `session` is the capture session that "the session" means.
pub(super) fn time_phrases(question: &str, now: &Zoned, session: Option<TimeSpan>) -> Vec<TimePhrase> {
    parse::Parser::new(question, now, session).phrases()
}

/// Whether a question may hold a phrase that is measured in the session.
pub(super) fn may_name_session(question: &str) -> bool {
    parse::may_name_session(question)
}

/// The question without the phrases that bound it.
pub(super) fn without(question: &str, phrases: &[TimePhrase]) -> String {
    let mut rest = String::with_capacity(question.len());
    let mut from = 0;
    for phrase in phrases.iter().filter(|phrase| phrase.bounds) {
        rest.push_str(&question[from..phrase.range.start]);
        rest.push(' ');
        from = phrase.range.end;
    }
    rest.push_str(&question[from..]);
    rest
}
