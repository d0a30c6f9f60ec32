//! Extracts the times that a sentence states, and parses texts that consist of times only.

use std::ops::Range;

use jiff::Zoned;

use super::parser::{Parser, ParserMode};
use super::tense::{announces_change, names_planned_time, read_tense};
use super::tokens::{Separator, TimeToken, tokenise};
use super::{Tense, TimeRelation};
use crate::TimeSpan;

/// A time in a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToldTime {
    /// Byte range in the sentence.
    pub range: Range<usize>,
    /// The named time: a moment, a minute, a part of a day, a day or longer. Its relation is not applied.
    pub span: TimeSpan,
    /// Whether a day or a longer period is stated.
    pub has_date: bool,
    /// Whether a clock time or a part of the day is stated.
    pub has_clock: bool,
    /// How it bounds the event.
    pub relation: TimeRelation,
}

/// A time that is a whole text, or an item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WholeTime {
    /// The meaning, with the relation applied: "before noon" begins with the day.
    pub span: TimeSpan,
    /// Whether a day or a longer period is stated, for this time or for its neighbour in the list.
    pub has_date: bool,
    /// Whether a clock time or a part of the day is stated.
    pub has_clock: bool,
    /// How it bounds the event.
    pub relation: TimeRelation,
}

/// Returns the times stated in a sentence, in order, relative to the moment of the statement.
///
/// An hour without a half of the day is the more likely waking hour, and the usual one for such an event. "At six" is
/// in the afternoon, "at seven" in the morning, and for a concert in the evening.
pub(crate) fn told_times(sentence: &str, told_at: &Zoned, tense: Tense) -> Vec<ToldTime> {
    let phrases = Parser::new(sentence, told_at, None, tense, ParserMode::Telling).resolve_all();
    let told = phrases.into_iter().map(|phrase| ToldTime {
        range: phrase.range,
        span: phrase.named,
        has_date: phrase.has_date,
        has_clock: phrase.has_clock,
        relation: phrase.relation,
    });
    told.collect()
}

/// Returns the times stated in a text, each in the tense of its own clause: "She cannot come tomorrow, she will be here
/// on Thursday. She phoned on Monday." A clause without a verb has the tense of the clause before it.
pub(crate) fn told_times_by_clause(text: &str, told_at: &Zoned) -> Vec<ToldTime> {
    let clauses = clause_tenses(text);
    let mut told = Vec::new();
    for tense in [Tense::Past, Tense::Present, Tense::Future] {
        if !clauses.iter().any(|(_, other)| *other == tense) {
            continue;
        }
        let times = told_times(text, told_at, tense);
        told.extend(times.into_iter().filter(|time| {
            let clause = clauses.iter().rev().find(|(start, _)| *start <= time.range.start);
            clause.is_some_and(|(_, other)| *other == tense)
        }));
    }
    told.sort_by_key(|time| (time.range.start, time.range.end));
    told
}

/// Returns the start byte and the tense of each clause. A clause without a verb has the tense of the clause before it;
/// after an announcement, it is in the future.
fn clause_tenses(text: &str) -> Vec<(usize, Tense)> {
    let tokens = tokenise(text);
    let begins = |place: usize| {
        let token: &TimeToken = &tokens[place];
        let joins =
            matches!(token.text.as_str(), "and" | "but" | "so" | "because" | "that" | "then" | "if" | "when" | "while");
        place > 0 && (matches!(token.gap, Separator::Stop | Separator::Comma) || joins)
    };
    let mut clauses: Vec<(usize, Tense)> = Vec::new();
    let mut before = None;
    let mut announced = false;
    let mut first = 0;
    for place in 1..=tokens.len() {
        if place < tokens.len() && !begins(place) {
            continue;
        }
        let clause = &tokens[first..place];
        let told = read_tense(clause);
        // "The concert has been moved. Sunday at four.": the time after an announced change is in the future.
        let ahead = announced && told.is_none() && clause[0].gap == Separator::Stop && names_planned_time(clause);
        before = if ahead { Some(Tense::Future) } else { told.or(before) };
        announced = if told.is_some() { announces_change(clause) } else { announced };
        clauses.push((if first == 0 { 0 } else { tokens[first].start }, before.unwrap_or(Tense::Present)));
        first = place;
    }
    clauses
}

/// Returns the spans of a text that is a time or a list of times; `None` for any other text.
#[cfg(test)]
pub(crate) fn whole_times(text: &str, now: &Zoned, tense: Tense) -> Option<Vec<TimeSpan>> {
    let times = whole_times_told(text, now, tense)?;
    Some(times.into_iter().map(|time| time.span).collect())
}

/// Returns the times of a text that is a time or a list of times; `None` for any other text.
pub(crate) fn whole_times_told(text: &str, now: &Zoned, tense: Tense) -> Option<Vec<WholeTime>> {
    let phrases = Parser::new(text, now, None, tense, ParserMode::Value).resolve_all();
    let mut from = 0;
    for phrase in &phrases {
        if !is_filler(text.get(from..phrase.range.start)?) {
            return None;
        }
        from = phrase.range.end;
    }
    if phrases.is_empty() || !is_filler(text.get(from..)?) {
        return None;
    }
    let times = phrases.into_iter().filter_map(|phrase| {
        let span = if phrase.relation == TimeRelation::At { phrase.named } else { phrase.spans.first()?.0 };
        Some(WholeTime { span, has_date: phrase.has_date, has_clock: phrase.has_clock, relation: phrase.relation })
    });
    Some(times.collect())
}

/// Returns whether a text between times has no content.
fn is_filler(text: &str) -> bool {
    tokenise(text).iter().all(|token| {
        matches!(
            token.text.as_str(),
            "and"
                | "or"
                | "then"
                | "from"
                | "at"
                | "on"
                | "in"
                | "the"
                | "between"
                | "both"
                | "also"
                | "again"
                | "once"
                | "first"
                | "it"
                | "was"
                | "is"
                | "s"
                | "only"
                | "of"
                | "for"
        )
    })
}
