//! Parses times relative to the capture session: "two minutes into the session", "near the end of the recording".

use std::time::Duration;

use super::ago::duration_seconds;
use super::calendar::TimeUnit;
use super::parser::{Parser, PhrasePiece};
use super::tokens::tokenise;
use crate::TimeSpan;

impl Parser<'_> {
    /// Parses "two minutes into the session", "near the end of the recording", "in the first minute" or "halfway
    /// through the video".
    pub fn parse_session_time(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        let session = self.session?;
        let length = session.end.since(session.start);
        let (taken, span) = self
            .parse_time_into_session(place, session)
            .or_else(|| self.parse_first_or_last(place, session))
            .or_else(|| self.parse_halfway(place, session))
            .or_else(|| self.parse_part_of_session(place, session, length))?;
        Some((taken, PhrasePiece::InSession(span)))
    }

    fn parse_time_into_session(&self, place: usize, session: TimeSpan) -> Option<(usize, TimeSpan)> {
        let (taken, count) = self.parse_count(place)?;
        let unit = TimeUnit::from_word(self.word(place + taken))?;
        let ["into" | "in" | "through", "the" | "this", what] = self.words(place + taken + 1) else { return None };
        if !is_session(what) {
            return None;
        }
        let offset = duration_seconds(count, unit);
        let around = Duration::from_secs_f64((offset * 0.15).clamp(15.0, 300.0));
        let at = session.start.saturating_add(Duration::from_secs_f64(offset));
        Some((taken + 4, TimeSpan::new(at.saturating_sub(around).max(session.start), at.saturating_add(around))))
    }

    /// Parses "(in) the first two minutes (of the session)". "The last minute" belongs to the session only if the text
    /// says so.
    fn parse_first_or_last(&self, place: usize, session: TimeSpan) -> Option<(usize, TimeSpan)> {
        let skipped = usize::from(matches!(self.word(place), "in" | "during" | "within" | "over"));
        let ["the", which @ ("first" | "last")] = self.words(place + skipped) else { return None };
        let (taken, count) = self.parse_count(place + skipped + 2).unwrap_or((0, 1.0));
        let unit = TimeUnit::from_word(self.word(place + skipped + 2 + taken))?;
        let end = place + skipped + 3 + taken;
        let said = self.names_session(end);
        if !said && (which == "last" || end < self.tokens.len()) {
            return None;
        }
        let reach = Duration::from_secs_f64(duration_seconds(count, unit).min(31_536_000.0));
        let span = if which == "first" {
            TimeSpan::new(session.start, session.start.saturating_add(reach).min(session.end))
        } else {
            TimeSpan::new(session.end.saturating_sub(reach).max(session.start), session.end)
        };
        Some((end - place + if said { 3 } else { 0 }, span))
    }

    fn parse_halfway(&self, place: usize, session: TimeSpan) -> Option<(usize, TimeSpan)> {
        let taken = match self.words(place) {
            ["halfway", _] => 1,
            ["half", "way"] => 2,
            _ => return None,
        };
        let named = matches!(self.words(place + taken), ["through" | "into", "the" | "this", what] if is_session(what));
        let middle = middle_quarter(session);
        (named || place + taken == self.tokens.len()).then_some((taken + if named { 3 } else { 0 }, middle))
    }

    fn parse_part_of_session(&self, place: usize, session: TimeSpan, length: Duration) -> Option<(usize, TimeSpan)> {
        let ["near" | "at" | "towards" | "toward" | "in" | "around", "the", where_in] = self.words(place) else {
            return None;
        };
        let mut taken = 3;
        // "What did it say in the end?" asks for how something came out, whenever that was.
        let idiom = matches!(self.words(place), ["in", "the", "end"]);
        if self.names_session(place + 3) {
            taken += 3;
        } else if idiom || place + taken < self.tokens.len() {
            return None;
        }
        let part = (length / 5).max(Duration::from_secs(20)).min(Duration::from_secs(1_800)).min(length);
        let span = match where_in {
            "end" | "close" => TimeSpan::new(session.end.saturating_sub(part), session.end),
            "beginning" | "start" => TimeSpan::new(session.start, session.start.saturating_add(part)),
            "middle" => middle_quarter(session),
            _ => return None,
        };
        Some((taken, span))
    }

    fn names_session(&self, place: usize) -> bool {
        matches!(self.words(place), ["of", "the" | "this", what] if is_session(what))
    }
}

/// Returns whether a text may contain a phrase relative to the session.
pub(crate) fn may_name_session(question: &str) -> bool {
    let ends = |word: &str| matches!(word, "end" | "close" | "beginning" | "start" | "middle" | "halfway");
    let tokens = tokenise(question);
    let counts_from_its_begin = tokens
        .windows(4)
        .any(|four| four[0].text == "first" && four[1..].iter().any(|it| TimeUnit::from_word(&it.text).is_some()));
    let ends_with_first = tokens
        .windows(2)
        .last()
        .is_some_and(|two| two[0].text == "first" && TimeUnit::from_word(&two[1].text).is_some());
    counts_from_its_begin || ends_with_first || tokens.iter().any(|token| is_session(&token.text) || ends(&token.text))
}

/// Returns the quarter of the session around its middle.
fn middle_quarter(session: TimeSpan) -> TimeSpan {
    let length = session.end.since(session.start);
    let middle = session.start.saturating_add(length / 2);
    let reach = (length / 8).max(Duration::from_secs(20)).min(Duration::from_secs(1_800)).min(length / 2);
    TimeSpan::new(middle.saturating_sub(reach), middle.saturating_add(reach))
}

fn is_session(word: &str) -> bool {
    matches!(word, "session" | "recording" | "video" | "clip" | "film" | "movie" | "file" | "stream" | "footage")
}
