//! Resolves phrases to spans.

use jiff::civil::Date;

use super::calendar::{day_after, span_between_seconds, span_of_days};
use super::combine::{PhraseDay, PhrasePeriod, PhrasePieces};
use super::parser::{Parser, ParserMode};
use super::relative::ALWAYS;
use super::tokens::Separator;
use super::{Tense, TimePhrase, TimeRelation};
use crate::{TimeSpan, Timestamp};

/// Maximum length of a span that bounds a search. Longer ones ("last summer", "two years ago") are too vague to exclude
/// anything.
const MAX_BOUND: std::time::Duration = std::time::Duration::from_secs(10 * 86_400);

/// Margins around a date in days, with the weight of each. The dates of a conversation and of its topic may differ.
const DATE_BOOSTS: [(i64, f32); 2] = [(1, 1.0), (8, 0.5)];

impl Parser<'_> {
    /// Returns the phrases of the text.
    pub fn resolve_all(&self) -> Vec<TimePhrase> {
        let groups = self.groups();
        let phrases: Vec<(PhrasePieces, TimePhrase)> =
            groups.into_iter().filter_map(|group| self.resolve_phrase(&group).map(|phrase| (group, phrase))).collect();
        self.join_ranges(phrases)
    }

    fn resolve_phrase(&self, group: &PhrasePieces) -> Option<TimePhrase> {
        if let Some(whole) = &group.whole {
            return self.resolve_period(group, whole);
        }
        match (&group.day, group.part, &group.clock) {
            (day, _, Some(clock)) => self.resolve_clock(group, day.as_ref(), clock),
            (Some(day), Some(part), None) => {
                let date = *self.candidate_days(day).first()?;
                let span = span_between_seconds(date, part.0, part.1, &self.zone);
                Some(self.exact_phrase(group, span, span, true, true))
            }
            (Some(day), None, None) => self.resolve_day(group, day),
            // In a question, a part of the day without a day ("in the morning") may be on any day.
            (None, Some(part), None) if self.mode != ParserMode::Question => {
                let span = span_between_seconds(self.day_by_tense(part.0, part.1), part.0, part.1, &self.zone);
                Some(self.exact_phrase(group, span, span, false, true))
            }
            _ => None,
        }
    }

    fn resolve_period(&self, group: &PhrasePieces, whole: &PhrasePeriod) -> Option<TimePhrase> {
        let span = match whole {
            PhrasePeriod::Span(span, short) => return Some(self.exact_phrase(group, *span, *span, !short, *short)),
            PhrasePeriod::InSession(span) => {
                let phrase = self.exact_phrase(group, *span, *span, false, false);
                return Some(TimePhrase { of_session: true, ..phrase });
            }
            PhrasePeriod::Days(first, last) => span_of_days(*first, *last, &self.zone),
            PhrasePeriod::DateRange(first, last) => {
                // The start could resolve to another year than the end, so it takes the year and month of the end.
                let last = *self.candidate_dates(*last, None).first()?;
                let first = Date::new(last.year(), last.month(), first.day).ok()?;
                let span = span_of_days(first, last, &self.zone);
                return Some(TimePhrase { bounds: true, ..self.exact_phrase(group, span, span, true, false) });
            }
            PhrasePeriod::Periods(periods) => {
                let spans: Vec<(TimeSpan, f32)> =
                    periods.iter().map(|(first, last)| (span_of_days(*first, *last, &self.zone), 1.0)).collect();
                let named = spans.first()?.0;
                let phrase = self.exact_phrase(group, named, named, true, false);
                return Some(if group.relation == TimeRelation::At {
                    TimePhrase { spans, bounds: false, ..phrase }
                } else {
                    phrase
                });
            }
        };
        Some(self.exact_phrase(group, span, span, true, false))
    }

    fn resolve_day(&self, group: &PhrasePieces, day: &PhraseDay) -> Option<TimePhrase> {
        let dates = self.candidate_days(day);
        let named = span_of_days(*dates.first()?, *dates.first()?, &self.zone);
        let phrase = self.exact_phrase(group, named, named, true, false);
        if !matches!(day, PhraseDay::Date(..)) || self.mode != ParserMode::Question {
            return Some(phrase);
        }
        if matches!(group.relation, TimeRelation::Since | TimeRelation::After) {
            return Some(phrase);
        }
        // A conversation about an event may be on another day, so a date excludes nothing.
        let mut spans = phrase.spans.clone();
        for date in &dates {
            for (around, weight) in DATE_BOOSTS {
                spans.push((span_of_days(day_after(*date, -around), day_after(*date, around), &self.zone), weight));
            }
        }
        Some(TimePhrase { spans, bounds: false, ..phrase })
    }

    /// Returns a phrase of one span, with its relation applied.
    pub fn exact_phrase(
        &self,
        group: &PhrasePieces,
        named: TimeSpan,
        searched: TimeSpan,
        has_date: bool,
        has_clock: bool,
    ) -> TimePhrase {
        let now = self.now_at();
        let future = self.tense == Tense::Future;
        let tick = std::time::Duration::from_micros(1);
        let span = match group.relation {
            TimeRelation::At => searched,
            TimeRelation::Since if named.start <= now => TimeSpan::new(named.start, now),
            TimeRelation::Since => TimeSpan::new(named.start, ALWAYS.end),
            TimeRelation::After if named.end < now && !future => TimeSpan::new(named.end.saturating_add(tick), now),
            TimeRelation::After => TimeSpan::new(named.end.saturating_add(tick), ALWAYS.end),
            TimeRelation::Until => TimeSpan::new(self.earliest_moment().min(named.end), named.end),
            TimeRelation::Before => {
                TimeSpan::new(self.earliest_moment().min(named.start), named.start.saturating_sub(tick))
            }
        };
        let one_sided = group.relation != TimeRelation::At;
        TimePhrase {
            range: self.phrase_range(group),
            named,
            spans: vec![(span, 1.0)],
            bounds: one_sided || span.end.since(span.start) <= MAX_BOUND,
            of_session: false,
            has_date,
            has_clock,
            relation: group.relation,
        }
    }

    /// Returns the first moment that "before" may mean.
    fn earliest_moment(&self) -> Timestamp {
        if self.tense == Tense::Future { self.now_at() } else { ALWAYS.start }
    }

    /// Returns the byte range of a phrase with its preposition.
    fn phrase_range(&self, group: &PhrasePieces) -> std::ops::Range<usize> {
        let mut from = group.from;
        let leads = |place: usize| matches!(self.word_before(place), "on" | "at" | "in" | "during");
        let touches = |place: usize| self.gap(place) == Separator::Space;
        let own =
            matches!(self.word(from), "on" | "at" | "in" | "during" | "since" | "until" | "by" | "before" | "after");
        if !own && touches(from) {
            if leads(from) {
                from -= 1;
            } else if self.word_before(from) == "the" && touches(from - 1) && leads(from - 1) {
                from -= 2;
            }
        }
        let (Some(first), Some(last)) = (self.tokens.get(from), self.tokens.get(group.to.saturating_sub(1))) else {
            return 0..0;
        };
        first.start..last.end.max(first.start)
    }
}
