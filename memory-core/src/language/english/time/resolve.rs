//! From a phrase to the spans that it means.

use jiff::civil::{Date, Weekday};

use super::calendar::{DAY, HOUR, day_after, days, moment_of, seconds_of};
use super::clock::Clock;
use super::combine::{ClockOf, DayOf, Group, Whole};
use super::parser::{Hedge, Mode, Parser, Which};
use super::relative::ALWAYS;
use super::tokens::Gap;
use super::{Relation, Tense, TimePhrase};
use crate::{TimeSpan, Timestamp};

/// Longer spans ("last summer", "two years ago") are too vague to exclude anything.
const LONGEST_BOUND: std::time::Duration = std::time::Duration::from_secs(10 * 86_400);

/// How a conversation's date and the event's may differ: days around it, and how much is gained there.
const NEAR_A_DATE: [(i64, f32); 2] = [(1, 1.0), (8, 0.5)];

/// How far a rounded time of day reaches in a question, and one that is told with "around".
const ROUNDED: i32 = 600;
const AROUND: i32 = 1_800;

/// How long "shortly before" lasts.
const SHORTLY: i32 = 1_200;

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

    /// The days that a day of a phrase may be, the likeliest first.
    fn days_of(&self, day: &DayOf) -> Vec<Date> {
        match day {
            DayOf::Known(date) => vec![*date],
            DayOf::Weekday(weekday, which) => vec![self.weekday_at(*weekday, *which)],
            DayOf::Date(date, on) => {
                let fitting = self.dates(*date, *on);
                if fitting.is_empty() && on.is_some() { self.dates(*date, None) } else { fitting }
            }
        }
    }

    fn weekday_at(&self, weekday: Weekday, which: Which) -> Date {
        let today = self.today().weekday();
        let back = i64::from(today.since(weekday));
        let forward = i64::from(weekday.since(today));
        // Who tells of "Thursday" on a Thursday means the next one, who asks may mean today.
        let told = if self.mode == Mode::Question {
            forward
        } else if forward == 0 {
            7
        } else {
            forward
        };
        let offset = match (which, self.tense) {
            (Which::Last, _) => -(if back == 0 { 7 } else { back }),
            (Which::Next, _) => {
                7 - i64::from(today.to_monday_zero_offset()) + i64::from(weekday.to_monday_zero_offset())
            }
            (Which::This, Tense::Past) => -back,
            (Which::This, _) => forward,
            (Which::Bare, Tense::Past) => -back,
            (Which::Bare, _) => told,
        };
        self.day(offset)
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
                let (first, last) = (*self.dates(*first, None).first()?, *self.dates(*last, None).first()?);
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

    fn on_the_clock(&self, group: &Group, day: Option<&DayOf>, clock: &ClockOf) -> Option<TimePhrase> {
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
            if is_ahead(at) != wants_ahead && is_ahead(other) == wants_ahead {
                at = other;
            }
        }
        (self.day_for_clock(at, relation), at)
    }

    fn looks_ahead(&self) -> bool {
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
    fn day_for(&self, from: i32, to: i32) -> Date {
        let now = self.now_at();
        let today = seconds_of(self.today(), from, to.max(from), &self.zone);
        match self.tense {
            Tense::Past if today.start > now => self.day(-1),
            Tense::Future if today.end < now => self.day(1),
            Tense::Present if today.end < now && self.mode != Mode::Question => self.day(1),
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
        let afternoon = (HOUR..7 * HOUR).contains(&told);
        if evening || afternoon { told + DAY / 2 } else { told }
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
                        | "show"
                        | "gig"
                        | "barbecue"
                        | "bedtime"
                        | "sunset"
                )
            })
    }

    /// A phrase of one span, with its relation.
    fn exact(&self, group: &Group, named: TimeSpan, searched: TimeSpan, has_date: bool, has_clock: bool) -> TimePhrase {
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
        for _ in 0..2 {
            let led = matches!(self.word_before(from), "on" | "at" | "in" | "during" | "the");
            let the = self.word_before(from) == "the"
                && !matches!(self.word_before(from.saturating_sub(1)), "on" | "in" | "during");
            if !led || the || self.gap(from) != Gap::Space {
                break;
            }
            from -= 1;
        }
        let (Some(first), Some(last)) = (self.tokens.get(from), self.tokens.get(group.to.saturating_sub(1))) else {
            return 0..0;
        };
        first.start..last.end.max(first.start)
    }

    /// Joins what "from … to …" stands around: "from 23:50 on 3 March to 00:10 on 4 March", "between Monday and Wednesday".
    fn ranges(&self, phrases: Vec<(Group, TimePhrase)>) -> Vec<TimePhrase> {
        let mut joined: Vec<(Group, TimePhrase)> = Vec::new();
        for (group, phrase) in phrases {
            if let Some((last, before)) = joined.last_mut()
                && self.spans_range(last, &group)
                && before.named.start <= phrase.named.end
            {
                let span = TimeSpan::new(before.named.start, phrase.named.end);
                before.range.end = phrase.range.end.max(before.range.end);
                if let Some(token) = last.from.checked_sub(1).and_then(|lead| self.tokens.get(lead))
                    && matches!(token.text.as_str(), "from" | "between")
                {
                    before.range.start = token.start;
                }
                before.named = span;
                before.spans = vec![(span, 1.0)];
                before.bounds = true;
                before.has_date |= phrase.has_date;
                before.has_clock &= phrase.has_clock;
                last.to = group.to;
                // A range is no end of another one.
                last.whole = Some(Whole::Span(span, false));
                continue;
            }
            joined.push((group, phrase));
        }
        let mut end = 0;
        let phrases = joined.into_iter().map(|(_, mut phrase)| {
            phrase.range.start = phrase.range.start.max(end).min(phrase.range.end);
            end = phrase.range.end;
            phrase
        });
        phrases.collect()
    }

    fn spans_range(&self, first: &Group, second: &Group) -> bool {
        let plain = |group: &Group| {
            matches!(group.whole, None | Some(Whole::Periods(_)))
                && group.relation == Relation::At
                && !matches!(group.clock, Some(ClockOf::Range(..)))
        };
        // "until" in front of the second one belongs to it.
        let until = first.to == second.from && second.relation == Relation::Until;
        let alike = first.clock.is_some() == second.clock.is_some();
        let lead = self.word_before(first.from);
        let own = self.word(first.from);
        let led = matches!(lead, "from" | "between") || matches!(own, "from" | "between");
        let between = lead == "between" || own == "between";
        let link = match second.from - first.to {
            0 => until || self.gap(second.from) == Gap::Dash,
            1 => {
                matches!(self.word(first.to), "to" | "until" | "till" | "til")
                    || between && self.word(first.to) == "and"
            }
            _ => false,
        };
        let dated = first.clock.is_some() && first.day.is_some();
        let second_plain =
            plain(&Group { relation: if until { Relation::At } else { second.relation }, ..second.clone() });
        link && alike
            && plain(first)
            && second_plain
            && (led || dated || self.mode == Mode::Value || self.gap(second.from) == Gap::Dash)
    }
}
