//! Resolves clock times to a day and an hour.

use jiff::civil::Date;

use super::calendar::{DAY_S, HOUR_S, moment_at, span_between_seconds};
use super::clock::ClockTime;
use super::combine::{PhraseClock, PhraseDay, PhrasePieces};
use super::parser::{ClockHedge, Parser, ParserMode};
use super::{Tense, TimePhrase, TimeRelation};
use crate::TimeSpan;

/// Tolerance of a rounded time of day in a question, in seconds.
const ROUNDED_TOLERANCE_S: i32 = 600;
/// Tolerance of "around", in seconds.
const AROUND_TOLERANCE_S: i32 = 1_800;

/// Maximum error of a speaker who says what time it is.
const MAX_CURRENT_TIME_ERROR: std::time::Duration = std::time::Duration::from_secs(600);

/// Length of "shortly before", in seconds.
const SHORTLY_S: i32 = 1_200;

impl Parser<'_> {
    /// Resolves a clock time or a range of them on its day.
    pub fn resolve_clock(
        &self,
        group: &PhrasePieces,
        day: Option<&PhraseDay>,
        clock: &PhraseClock,
    ) -> Option<TimePhrase> {
        let has_date = day.is_some();
        let known = day.map(|day| self.candidate_days(day)).and_then(|days| days.first().copied());
        if has_date && known.is_none() {
            return None;
        }
        match clock {
            PhraseClock::At(clock, hedge) => {
                let (date, at) = self.resolve_hour(known, group.part, *clock, group.clock_relation);
                let length = if clock.seconds { 0 } else { 60 };
                let (from, to) = match hedge {
                    ClockHedge::Exact => (at, at + length),
                    ClockHedge::Around => (at - AROUND_TOLERANCE_S, at + AROUND_TOLERANCE_S),
                    ClockHedge::ShortlyBefore => (at - SHORTLY_S, at),
                    ClockHedge::ShortlyAfter => (at, at + SHORTLY_S),
                };
                let named = self.clock_span(date, from, to, *hedge == ClockHedge::Exact && !clock.seconds);
                let dated = matches!(day, Some(PhraseDay::Date(..))) && clock.colon;
                let exact = clock.seconds || clock.to_the_minute || dated || *hedge != ClockHedge::Exact;
                let reach = if clock.named { AROUND_TOLERANCE_S } else { ROUNDED_TOLERANCE_S };
                let searched = if exact || self.mode != ParserMode::Question {
                    named
                } else {
                    span_between_seconds(date, at - reach, at + reach, &self.zone)
                };
                if group.clock_relation == TimeRelation::At {
                    return Some(self.exact_phrase(group, named, searched, has_date, true));
                }
                let span = self.span_by_relation(group.clock_relation, date, at, named, has_date);
                let phrase = self.exact_phrase(group, named, span, has_date, true);
                Some(TimePhrase { relation: group.clock_relation, spans: vec![(span, 1.0)], bounds: true, ..phrase })
            }
            PhraseClock::Range(from, to) => {
                let (date, start) = self.resolve_hour(known, group.part, *from, TimeRelation::At);
                let mut end = self.seconds_of_clock(*to, group.part);
                while end < start && end + DAY_S / 2 <= start + DAY_S {
                    end += if to.can_be_twelve_later { DAY_S / 2 } else { DAY_S };
                }
                let span = self.clock_span(date, start, end, false);
                let until =
                    if to.seconds || !to.colon { span.end } else { self.clock_span(date, end, end + 60, true).end };
                let span = TimeSpan::new(span.start, until.max(span.start));
                Some(self.exact_phrase(group, span, span, has_date, true))
            }
        }
    }

    /// Returns a span by the clock. `open` excludes its last moment, which starts the next minute.
    fn clock_span(&self, date: Date, from: i32, to: i32, open: bool) -> TimeSpan {
        let mut span = span_between_seconds(date, from, to, &self.zone);
        if open {
            span.end = span.end.saturating_sub(std::time::Duration::from_micros(1)).max(span.start);
        }
        span
    }

    /// Returns the span before or after a time of a day.
    fn span_by_relation(
        &self,
        relation: TimeRelation,
        date: Date,
        at: i32,
        named: TimeSpan,
        has_date: bool,
    ) -> TimeSpan {
        let now = self.now_at();
        let midnight = moment_at(date, 0, &self.zone);
        let start = if self.tense == Tense::Past || has_date { midnight } else { midnight.max(now) };
        let day_end = moment_at(date, DAY_S.max(at + HOUR_S), &self.zone);
        match relation {
            TimeRelation::At => named,
            TimeRelation::Since => TimeSpan::new(named.start, if named.start <= now { now } else { day_end }),
            TimeRelation::Until => TimeSpan::new(start.min(named.end), named.end),
            TimeRelation::Before => TimeSpan::new(start.min(named.start), named.start),
            TimeRelation::After => TimeSpan::new(named.start, day_end),
        }
    }

    /// Returns the day and the second of the day of a clock time.
    fn resolve_hour(
        &self,
        known: Option<Date>,
        part: Option<(i32, i32)>,
        clock: ClockTime,
        relation: TimeRelation,
    ) -> (Date, i32) {
        let mut at = self.seconds_of_clock(clock, part);
        if clock.is_midnight() && (relation == TimeRelation::Until || relation == TimeRelation::Before) {
            at = DAY_S;
        }
        if let Some(date) = known {
            if clock.is_midnight() && (part.is_some() || self.mode != ParserMode::Question) {
                at = DAY_S;
            }
            return (date, at);
        }
        let now = self.now_at();
        let is_ahead = |at: i32| moment_at(self.today(), at, &self.zone) > now;
        // The more likely of two hours is taken, unless the tense excludes only that one.
        if clock.can_be_twelve_later && part.is_none() {
            let other = if at >= DAY_S / 2 { at - DAY_S / 2 } else { at + DAY_S / 2 };
            let wants_ahead = self.looks_ahead();
            // "It is half past five" states the current time.
            let close = |at: i32| {
                let told = moment_at(self.today(), at, &self.zone);
                told.max(now).since(told.min(now)) <= MAX_CURRENT_TIME_ERROR
            };
            let says_the_time = self.mode == ParserMode::Telling && self.tense == Tense::Present && close(other);
            if says_the_time {
                return (self.today(), other);
            }
            if is_ahead(at) != wants_ahead && is_ahead(other) == wants_ahead {
                at = other;
            }
        }
        (self.day_for_clock(at, relation), at)
    }

    /// Returns whether a time without a day lies in the future. A question in the present tense may be about the past.
    pub fn looks_ahead(&self) -> bool {
        match self.tense {
            Tense::Past => false,
            Tense::Present => self.mode != ParserMode::Question,
            Tense::Future => true,
        }
    }

    /// Returns the day of a clock time without a date.
    fn day_for_clock(&self, at: i32, relation: TimeRelation) -> Date {
        let from = if matches!(relation, TimeRelation::Before | TimeRelation::Until) { 0 } else { at };
        let rounded =
            if self.mode == ParserMode::Question && relation == TimeRelation::At { ROUNDED_TOLERANCE_S } else { 0 };
        self.day_by_tense(from - rounded, at + 60)
    }

    /// Returns today, or the day before or after it if the tense requires it.
    pub fn day_by_tense(&self, from: i32, to: i32) -> Date {
        let now = self.now_at();
        let today = span_between_seconds(self.today(), from, to.max(from), &self.zone);
        match self.tense {
            Tense::Past if today.start > now => self.day(-1),
            Tense::Future if today.end < now => self.day(1),
            _ => self.today(),
        }
    }

    /// Returns a clock time in seconds since midnight, given its part of the day.
    fn seconds_of_clock(&self, clock: ClockTime, part: Option<(i32, i32)>) -> i32 {
        let told = clock.as_told();
        if let Some((from, to)) = part {
            let (from, to) =
                if from < DAY_S / 2 && to <= DAY_S / 2 { (0, to) } else { (from - 2 * HOUR_S, to + HOUR_S) };
            let half = if clock.can_be_twelve_later || clock.at < 13 * HOUR_S && clock.half.is_none() {
                DAY_S / 2
            } else {
                DAY_S
            };
            let fitting = (-1..4).map(|times| told + times * half).find(|at| (from..to).contains(at) && *at >= 0);
            return fitting.unwrap_or(told);
        }
        if !clock.can_be_twelve_later {
            return told;
        }
        // Appointments are rarely at night, so 1 to 6 is in the afternoon and twelve is noon.
        let evening = self.is_about_evening() && (6 * HOUR_S..12 * HOUR_S).contains(&told);
        let early = self.is_about_early_morning() && (4 * HOUR_S..7 * HOUR_S).contains(&told);
        let afternoon = (HOUR_S..7 * HOUR_S).contains(&told) && !early;
        if evening || afternoon { told + DAY_S / 2 } else { told }
    }

    /// Returns whether the text is about an early morning.
    fn is_about_early_morning(&self) -> bool {
        self.tokens.iter().any(|token| {
            matches!(
                token.text.as_str(),
                "wake" | "wakes" | "waking" | "woke" | "woken" | "awake" | "early" | "dawn" | "breakfast"
            )
        })
    }

    /// Returns whether the text is about an evening.
    fn is_about_evening(&self) -> bool {
        self.mode == ParserMode::Telling
            && self.tokens.iter().any(|token| {
                matches!(
                    token.text.as_str(),
                    "concert"
                        | "party"
                        | "dinner"
                        | "supper"
                        | "theatre"
                        | "theater"
                        | "cinema"
                        | "film"
                        | "movie"
                        | "opera"
                        | "evening"
                        | "restaurant"
                        | "show"
                        | "barbecue"
                        | "bedtime"
                        | "sunset"
                )
            })
    }
}
