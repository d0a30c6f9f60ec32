//! From a phrase to the spans that it means.

use jiff::civil::Date;

use super::calendar::{day_after, days, seconds_of};
use super::combine::{DayOf, Group, Whole};
use super::parser::{Mode, Parser};
use super::relative::ALWAYS;
use super::tokens::Gap;
use super::{Relation, Tense, TimePhrase};
use crate::{TimeSpan, Timestamp};

/// Longer spans ("last summer", "two years ago") are too vague to exclude anything.
const LONGEST_BOUND: std::time::Duration = std::time::Duration::from_secs(10 * 86_400);

/// How a conversation's date and the event's may differ: days around it, and how much is gained there.
const NEAR_A_DATE: [(i64, f32); 2] = [(1, 1.0), (8, 0.5)];

impl Parser<'_> {
    /// The phrases of the text.
    pub fn phrases(&self) -> Vec<TimePhrase> {
        let groups = self.groups();
        let phrases: Vec<(Group, TimePhrase)> =
            groups.into_iter().filter_map(|group| self.resolved(&group).map(|phrase| (group, phrase))).collect();
        self.ranges(phrases)
    }

    fn resolved(&self, group: &Group) -> Option<TimePhrase> {
        if let Some(whole) = &group.whole {
            return self.whole(group, whole);
        }
        match (&group.day, group.part, &group.clock) {
            (day, _, Some(clock)) => self.on_the_clock(group, day.as_ref(), clock),
            (Some(day), Some(part), None) => {
                let date = *self.days_of(day).first()?;
                let span = seconds_of(date, part.0, part.1, &self.zone);
                Some(self.exact(group, span, span, true, true))
            }
            (Some(day), None, None) => self.on_a_day(group, day),
            // A part of the day with no day ("in the morning") may be any day's.
            (None, Some(part), None) if self.mode != Mode::Question => {
                let span = seconds_of(self.day_for(part.0, part.1), part.0, part.1, &self.zone);
                Some(self.exact(group, span, span, false, true))
            }
            _ => None,
        }
    }

    fn whole(&self, group: &Group, whole: &Whole) -> Option<TimePhrase> {
        let span = match whole {
            Whole::Span(span, short) => return Some(self.exact(group, *span, *span, !short, *short)),
            Whole::InSession(span) => {
                let phrase = self.exact(group, *span, *span, false, false);
                return Some(TimePhrase { of_session: true, ..phrase });
            }
            Whole::Days(first, last) => days(*first, *last, &self.zone),
            Whole::DateRange(first, last) => {
                // The end may lie ahead where the begin does not, so the begin is that before the end.
                let last = *self.dates(*last, None).first()?;
                let first = Date::new(last.year(), last.month(), first.day).ok()?;
                let span = days(first, last, &self.zone);
                return Some(TimePhrase { bounds: true, ..self.exact(group, span, span, true, false) });
            }
            Whole::Periods(periods) => {
                let spans: Vec<(TimeSpan, f32)> =
                    periods.iter().map(|(first, last)| (days(*first, *last, &self.zone), 1.0)).collect();
                let named = spans.first()?.0;
                let phrase = self.exact(group, named, named, true, false);
                return Some(if group.relation == Relation::At {
                    TimePhrase { spans, bounds: false, ..phrase }
                } else {
                    phrase
                });
            }
        };
        Some(self.exact(group, span, span, true, false))
    }

    fn on_a_day(&self, group: &Group, day: &DayOf) -> Option<TimePhrase> {
        let dates = self.days_of(day);
        let named = days(*dates.first()?, *dates.first()?, &self.zone);
        let phrase = self.exact(group, named, named, true, false);
        if !matches!(day, DayOf::Date(..)) || self.mode != Mode::Question {
            return Some(phrase);
        }
        if matches!(group.relation, Relation::Since | Relation::After) {
            return Some(phrase);
        }
        // The day of the event and the day of the telling lie apart in a conversation, so a date excludes nothing.
        let mut spans = phrase.spans.clone();
        for date in &dates {
            for (around, weight) in NEAR_A_DATE {
                spans.push((days(day_after(*date, -around), day_after(*date, around), &self.zone), weight));
            }
        }
        Some(TimePhrase { spans, bounds: false, ..phrase })
    }

    /// A phrase of one span, with its relation.
    pub fn exact(
        &self,
        group: &Group,
        named: TimeSpan,
        searched: TimeSpan,
        has_date: bool,
        has_clock: bool,
    ) -> TimePhrase {
        let now = self.now_at();
        let future = self.tense == Tense::Future;
        let tick = std::time::Duration::from_micros(1);
        let span = match group.relation {
            Relation::At => searched,
            Relation::Since if named.start <= now => TimeSpan::new(named.start, now),
            Relation::Since => TimeSpan::new(named.start, ALWAYS.end),
            Relation::After if named.end < now && !future => TimeSpan::new(named.end.saturating_add(tick), now),
            Relation::After => TimeSpan::new(named.end.saturating_add(tick), ALWAYS.end),
            Relation::Until => TimeSpan::new(self.earliest().min(named.end), named.end),
            Relation::Before => TimeSpan::new(self.earliest().min(named.start), named.start.saturating_sub(tick)),
        };
        let one_sided = group.relation != Relation::At;
        TimePhrase {
            range: self.range(group),
            named,
            spans: vec![(span, 1.0)],
            bounds: one_sided || span.end.since(span.start) <= LONGEST_BOUND,
            of_session: false,
            has_date,
            has_clock,
            relation: group.relation,
        }
    }

    /// The first moment that "before" may mean.
    fn earliest(&self) -> Timestamp {
        if self.tense == Tense::Future { self.now_at() } else { ALWAYS.start }
    }

    /// The bytes of a phrase, with the preposition in front of it.
    fn range(&self, group: &Group) -> std::ops::Range<usize> {
        let mut from = group.from;
        let leads = |place: usize| matches!(self.word_before(place), "on" | "at" | "in" | "during");
        let touches = |place: usize| self.gap(place) == Gap::Space;
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
