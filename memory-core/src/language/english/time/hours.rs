//! The day and the hour that a clock time means.

use jiff::civil::Date;

use super::calendar::{DAY, HOUR, moment_of, seconds_of};
use super::clock::Clock;
use super::combine::{ClockOf, DayOf, Group};
use super::parser::{Hedge, Mode, Parser};
use super::{Relation, Tense, TimePhrase};
use crate::TimeSpan;

/// How far a rounded time of day reaches in a question, and one that is told with "around".
const ROUNDED: i32 = 600;
const AROUND: i32 = 1_800;

/// Who says what time it is is so far off at most.
const IT_IS: std::time::Duration = std::time::Duration::from_secs(600);

/// How long "shortly before" lasts.
const SHORTLY: i32 = 1_200;

impl Parser<'_> {
    /// A clock time or a range of them, on its day.
    pub fn on_the_clock(&self, group: &Group, day: Option<&DayOf>, clock: &ClockOf) -> Option<TimePhrase> {
        let has_date = day.is_some();
        let known = day.map(|day| self.days_of(day)).and_then(|days| days.first().copied());
        if has_date && known.is_none() {
            return None;
        }
        match clock {
            ClockOf::At(clock, hedge) => {
                let (date, at) = self.placed(known, group.part, *clock, group.clock_relation);
                let length = if clock.seconds { 0 } else { 60 };
                let (from, to) = match hedge {
                    Hedge::Exact => (at, at + length),
                    Hedge::Around => (at - AROUND, at + AROUND),
                    Hedge::ShortlyBefore => (at - SHORTLY, at),
                    Hedge::ShortlyAfter => (at, at + SHORTLY),
                };
                let named = self.clock_span(date, from, to, *hedge == Hedge::Exact && !clock.seconds);
                let dated = matches!(day, Some(DayOf::Date(..))) && clock.colon;
                let exact = clock.seconds || clock.to_the_minute || dated || *hedge != Hedge::Exact;
                let reach = if clock.named { AROUND } else { ROUNDED };
                let searched = if exact || self.mode != Mode::Question {
                    named
                } else {
                    seconds_of(date, at - reach, at + reach, &self.zone)
                };
                if group.clock_relation == Relation::At {
                    return Some(self.exact(group, named, searched, has_date, true));
                }
                let span = self.beside(group.clock_relation, date, at, named, has_date);
                let phrase = self.exact(group, named, span, has_date, true);
                Some(TimePhrase { relation: group.clock_relation, spans: vec![(span, 1.0)], bounds: true, ..phrase })
            }
            ClockOf::Range(from, to) => {
                let (date, start) = self.placed(known, group.part, *from, Relation::At);
                let mut end = self.hour_of(*to, group.part);
                while end < start && end + DAY / 2 <= start + DAY {
                    end += if to.twelve { DAY / 2 } else { DAY };
                }
                let span = self.clock_span(date, start, end, false);
                let until =
                    if to.seconds || !to.colon { span.end } else { self.clock_span(date, end, end + 60, true).end };
                let span = TimeSpan::new(span.start, until.max(span.start));
                Some(self.exact(group, span, span, has_date, true))
            }
        }
    }

    /// A span on the clock; `open` leaves out its last moment, which begins the next minute.
    fn clock_span(&self, date: Date, from: i32, to: i32, open: bool) -> TimeSpan {
        let mut span = seconds_of(date, from, to, &self.zone);
        if open {
            span.end = span.end.saturating_sub(std::time::Duration::from_micros(1)).max(span.start);
        }
        span
    }

    /// What lies before or after a time of a day.
    fn beside(&self, relation: Relation, date: Date, at: i32, named: TimeSpan, has_date: bool) -> TimeSpan {
        let now = self.now_at();
        let midnight = moment_of(date, 0, &self.zone);
        let start = if self.tense == Tense::Past || has_date { midnight } else { midnight.max(now) };
        let day_end = moment_of(date, DAY.max(at + HOUR), &self.zone);
        match relation {
            Relation::At => named,
            Relation::Since => TimeSpan::new(named.start, if named.start <= now { now } else { day_end }),
            Relation::Until => TimeSpan::new(start.min(named.end), named.end),
            Relation::Before => TimeSpan::new(start.min(named.start), named.start),
            Relation::After => TimeSpan::new(named.start, day_end),
        }
    }

    /// The day and the second of it at which a clock time lies.
    fn placed(&self, known: Option<Date>, part: Option<(i32, i32)>, clock: Clock, relation: Relation) -> (Date, i32) {
        let mut at = self.hour_of(clock, part);
        if clock.is_midnight() && (relation == Relation::Until || relation == Relation::Before) {
            at = DAY;
        }
        if let Some(date) = known {
            if clock.is_midnight() && (part.is_some() || self.mode != Mode::Question) {
                at = DAY;
            }
            return (date, at);
        }
        let now = self.now_at();
        let is_ahead = |at: i32| moment_of(self.today(), at, &self.zone) > now;
        // Of two hours the likelier one, unless the tense excludes it and not the other.
        if clock.twelve && part.is_none() {
            let other = if at >= DAY / 2 { at - DAY / 2 } else { at + DAY / 2 };
            let wants_ahead = self.looks_ahead();
            // "It is half past five": somebody says what time it is.
            let close = |at: i32| {
                let told = moment_of(self.today(), at, &self.zone);
                told.max(now).since(told.min(now)) <= IT_IS
            };
            let says_the_time = self.mode == Mode::Telling && self.tense == Tense::Present && close(other);
            if says_the_time {
                return (self.today(), other);
            }
            if is_ahead(at) != wants_ahead && is_ahead(other) == wants_ahead {
                at = other;
            }
        }
        (self.day_for_clock(at, relation), at)
    }

    /// Whether a time that is told without its day lies ahead. What is asked in the present may be a memory.
    pub fn looks_ahead(&self) -> bool {
        match self.tense {
            Tense::Past => false,
            Tense::Present => self.mode != Mode::Question,
            Tense::Future => true,
        }
    }

    /// The day of a clock time that is told without one.
    fn day_for_clock(&self, at: i32, relation: Relation) -> Date {
        let from = if matches!(relation, Relation::Before | Relation::Until) { 0 } else { at };
        let rounded = if self.mode == Mode::Question && relation == Relation::At { ROUNDED } else { 0 };
        self.day_for(from - rounded, at + 60)
    }

    /// Today, or the day before or after it where the tense says so.
    pub fn day_for(&self, from: i32, to: i32) -> Date {
        let now = self.now_at();
        let today = seconds_of(self.today(), from, to.max(from), &self.zone);
        match self.tense {
            Tense::Past if today.start > now => self.day(-1),
            Tense::Future if today.end < now => self.day(1),
            _ => self.today(),
        }
    }

    /// Seconds since midnight of a clock time, with the part of the day in which it lies.
    fn hour_of(&self, clock: Clock, part: Option<(i32, i32)>) -> i32 {
        let told = clock.as_told();
        if let Some((from, to)) = part {
            let (from, to) = if from < DAY / 2 && to <= DAY / 2 { (0, to) } else { (from - 2 * HOUR, to + HOUR) };
            let half = if clock.twelve || clock.at < 13 * HOUR && clock.half.is_none() { DAY / 2 } else { DAY };
            let fitting = (-1..4).map(|times| told + times * half).find(|at| (from..to).contains(at) && *at >= 0);
            return fitting.unwrap_or(told);
        }
        if !clock.twelve {
            return told;
        }
        // Nobody makes an appointment at two in the night: 1 to 6 is the afternoon, twelve is noon.
        let evening = self.of_an_evening() && (6 * HOUR..12 * HOUR).contains(&told);
        let early = self.of_an_early_morning() && (4 * HOUR..7 * HOUR).contains(&told);
        let afternoon = (HOUR..7 * HOUR).contains(&told) && !early;
        if evening || afternoon { told + DAY / 2 } else { told }
    }

    /// Whether the text speaks of what takes place early in the morning.
    fn of_an_early_morning(&self) -> bool {
        self.tokens.iter().any(|token| {
            matches!(
                token.text.as_str(),
                "wake" | "wakes" | "waking" | "woke" | "woken" | "awake" | "early" | "dawn" | "breakfast"
            )
        })
    }

    /// Whether the text speaks of what takes place in the evening.
    fn of_an_evening(&self) -> bool {
        self.mode == Mode::Telling
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
