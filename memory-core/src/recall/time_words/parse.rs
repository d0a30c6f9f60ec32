//! The grammar of time phrases.

use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};

use super::TimePhrase;
use super::calendar::{Unit, days, minutes_of, month, month_of, part_of_day, season, shifted, weekday};
use super::tokens::{Token, number, tokens};
use crate::{TimeSpan, Timestamp};

/// How many years back a date without a year may lie.
const YEARS_BACK: i16 = 15;

/// Longer spans ("last summer", "two years ago") are too vague to exclude anything.
const LONGEST_BOUND: Duration = Duration::from_secs(10 * 86_400);

/// How a conversation's date and the event's may differ: days around it, and how much is gained there.
const NEAR_A_DATE: [(i64, f32); 2] = [(1, 1.0), (8, 0.5)];

/// A part of a phrase.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    /// A day or a run of days, told relatively.
    Days(Date, Date),
    /// A day told by its date, in each year it may mean.
    Dates(Vec<Date>),
    /// A month, a season or a year told by name, in each year it may mean.
    Periods(Vec<(Date, Date)>),
    /// A time of day, in minutes since midnight.
    Hours(i32, i32),
    /// A span told relatively to now.
    Span(TimeSpan),
    /// A span told relatively to the session.
    InSession(TimeSpan),
}

struct Found {
    from: usize,
    to: usize,
    piece: Piece,
}

pub(super) struct Parser<'a> {
    tokens: Vec<Token>,
    now: &'a Zoned,
    zone: TimeZone,
    session: Option<TimeSpan>,
}

impl<'a> Parser<'a> {
    pub fn new(question: &str, now: &'a Zoned, session: Option<TimeSpan>) -> Self {
        Self { tokens: tokens(question), now, zone: now.time_zone().clone(), session }
    }

    pub fn phrases(&self) -> Vec<TimePhrase> {
        let mut found: Vec<Found> = Vec::new();
        let mut place = 0;
        while place < self.tokens.len() {
            match self.piece(place) {
                Some((taken, piece)) => {
                    found.push(Found { from: place, to: place + taken, piece });
                    place += taken;
                }
                None => place += 1,
            }
        }
        self.combine(found)
    }

    fn word(&self, place: usize) -> &str {
        self.tokens.get(place).map_or("", |token| token.text.as_str())
    }

    fn words<const N: usize>(&self, place: usize) -> [&str; N] {
        std::array::from_fn(|offset| self.word(place + offset))
    }

    fn today(&self) -> Date {
        self.now.date()
    }

    fn day(&self, offset: i64) -> Date {
        self.today().checked_add(offset.days()).unwrap_or_else(|_| self.today())
    }

    fn piece(&self, place: usize) -> Option<(usize, Piece)> {
        self.of_session(place)
            .or_else(|| self.ago(place))
            .or_else(|| self.relative_day(place))
            .or_else(|| self.relative_period(place))
            .or_else(|| self.date(place))
            .or_else(|| self.hours(place))
    }

    /// A count before a unit: "ten", "a", "a couple of", "half an", "about 5". Returns the words taken and the number.
    fn count(&self, place: usize) -> Option<(usize, f64)> {
        match self.words::<4>(place) {
            ["about" | "around" | "roughly" | "approximately" | "nearly" | "almost" | "some", ..] => {
                let (taken, count) = self.count(place + 1)?;
                return Some((taken + 1, count));
            }
            ["a", "couple", "of", _] => return Some((3, 2.0)),
            ["a", "few", ..] => return Some((2, 3.0)),
            ["a", "half", ..] | ["half", "a" | "an", ..] => return Some((2, 0.5)),
            ["several", ..] => return Some((1, 4.0)),
            ["a" | "an", ..] => return Some((1, 1.0)),
            _ => {}
        }
        let tens = number(self.word(place))?;
        let units =
            number(self.word(place + 1)).filter(|units| tens >= 20 && tens % 10 == 0 && (1..10).contains(units));
        #[expect(clippy::cast_precision_loss, reason = "at most six digits")]
        let count = (tens + units.unwrap_or(0)) as f64;
        Some((1 + usize::from(units.is_some()), count))
    }

    /// "two minutes into the session", "near the end of the recording", "in the first minute", "halfway through the video".
    fn of_session(&self, place: usize) -> Option<(usize, Piece)> {
        let session = self.session?;
        let length = session.end.since(session.start);
        let (taken, span) = self
            .time_into_session(place, session)
            .or_else(|| self.first_or_last_of_session(place, session))
            .or_else(|| self.halfway(place, session))
            .or_else(|| self.part_of_session(place, session, length))?;
        Some((taken, Piece::InSession(span)))
    }

    fn time_into_session(&self, place: usize, session: TimeSpan) -> Option<(usize, TimeSpan)> {
        let (taken, count) = self.count(place)?;
        let unit = Unit::of(self.word(place + taken))?;
        let ["into" | "in" | "through", "the" | "this", what] = self.words(place + taken + 1) else { return None };
        if !is_session(what) {
            return None;
        }
        let offset = seconds(count, unit);
        let around = Duration::from_secs_f64((offset * 0.15).clamp(15.0, 300.0));
        let at = session.start.saturating_add(Duration::from_secs_f64(offset));
        Some((taken + 4, TimeSpan::new(at.saturating_sub(around).max(session.start), at.saturating_add(around))))
    }

    /// "(in) the first two minutes (of the session)". "The last minute" is of the session only where that is said.
    fn first_or_last_of_session(&self, place: usize, session: TimeSpan) -> Option<(usize, TimeSpan)> {
        let skipped = usize::from(matches!(self.word(place), "in" | "during" | "within" | "over"));
        let ["the", which @ ("first" | "last")] = self.words(place + skipped) else { return None };
        let (taken, count) = self.count(place + skipped + 2).unwrap_or((0, 1.0));
        let unit = Unit::of(self.word(place + skipped + 2 + taken))?;
        let end = place + skipped + 3 + taken;
        let said = self.names_session(end);
        if !said && (which == "last" || end < self.tokens.len()) {
            return None;
        }
        let reach = Duration::from_secs_f64(seconds(count, unit).min(31_536_000.0));
        let span = if which == "first" {
            TimeSpan::new(session.start, session.start.saturating_add(reach).min(session.end))
        } else {
            TimeSpan::new(session.end.saturating_sub(reach).max(session.start), session.end)
        };
        Some((end - place + if said { 3 } else { 0 }, span))
    }

    fn halfway(&self, place: usize, session: TimeSpan) -> Option<(usize, TimeSpan)> {
        let taken = match self.words(place) {
            ["halfway", _] => 1,
            ["half", "way"] => 2,
            _ => return None,
        };
        let named = matches!(self.words(place + taken), ["through" | "into", "the" | "this", what] if is_session(what));
        let middle = middle_of(session);
        (named || place + taken == self.tokens.len()).then_some((taken + if named { 3 } else { 0 }, middle))
    }

    fn part_of_session(&self, place: usize, session: TimeSpan, length: Duration) -> Option<(usize, TimeSpan)> {
        let ["near" | "at" | "towards" | "toward" | "in" | "around", "the", where_in] = self.words(place) else {
            return None;
        };
        let mut taken = 3;
        if self.names_session(place + 3) {
            taken += 3;
        } else if place + taken < self.tokens.len() {
            return None;
        }
        let part = (length / 5).max(Duration::from_secs(20)).min(Duration::from_secs(1_800)).min(length);
        let span = match where_in {
            "end" | "close" => TimeSpan::new(session.end.saturating_sub(part), session.end),
            "beginning" | "start" => TimeSpan::new(session.start, session.start.saturating_add(part)),
            "middle" => middle_of(session),
            _ => return None,
        };
        Some((taken, span))
    }

    fn names_session(&self, place: usize) -> bool {
        matches!(self.words(place), ["of", "the" | "this", what] if is_session(what))
    }

    /// "ten minutes ago", "in the last hour", "just now".
    fn ago(&self, place: usize) -> Option<(usize, Piece)> {
        let now = Timestamp::from(self.now.timestamp());
        match self.words::<4>(place) {
            ["just" | "right", "now", ..] => return Some((2, Piece::Span(before(now, Duration::from_secs(120))))),
            ["a", "moment", "ago", ..] => return Some((3, Piece::Span(before(now, Duration::from_secs(180))))),
            ["moments", "ago", ..] => return Some((2, Piece::Span(before(now, Duration::from_secs(180))))),
            ["the", "last" | "past", ..] | ["in" | "over" | "during" | "within", "the", "last" | "past", _] => {
                let skipped = if self.word(place) == "the" { 2 } else { 3 };
                let (taken, count) = self.count(place + skipped).unwrap_or((0, 1.0));
                let unit = Unit::of(self.word(place + skipped + taken))?;
                // "the last week of August" is not about now.
                if self.word(place + skipped + taken + 1) == "of" {
                    return None;
                }
                let start = self.back(count, unit);
                return Some((skipped + taken + 1, Piece::Span(TimeSpan::new(start.timestamp().into(), now))));
            }
            _ => {}
        }
        let (taken, count) = self.count(place)?;
        let unit = Unit::of(self.word(place + taken))?;
        if self.word(place + taken + 1) != "ago" {
            return None;
        }
        let at = self.back(count, unit);
        let piece = match unit {
            Unit::Second | Unit::Minute | Unit::Hour => {
                let tolerance = (seconds(count, unit) * 0.5).max(seconds(0.5, unit)).max(10.0);
                let tolerance = Duration::from_secs_f64(tolerance);
                let at = Timestamp::from(at.timestamp());
                let end = at.saturating_add(tolerance).min(now);
                Piece::Span(TimeSpan::new(at.saturating_sub(tolerance), end))
            }
            Unit::Day => Piece::Days(at.date(), at.date()),
            Unit::Week | Unit::Month | Unit::Year => {
                let around = (unit.seconds() / 86_400 / 2).days();
                let first = at.date().checked_sub(around).unwrap_or_else(|_| at.date());
                let last = at.date().checked_add(around).unwrap_or_else(|_| at.date());
                Piece::Days(first, last)
            }
        };
        Some((taken + 2, piece))
    }

    fn back(&self, count: f64, unit: Unit) -> Zoned {
        #[expect(clippy::cast_possible_truncation, reason = "at most six digits")]
        let whole = count as i64;
        if count.fract() == 0.0 {
            unit.times(-whole).map_or_else(|| self.now.clone(), |by| shifted(self.now, by))
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "at most six digits")]
            let seconds = (count * unit.seconds() as f64) as i64;
            shifted(self.now, (-seconds).seconds())
        }
    }

    /// "today", "yesterday", "last night", "this morning", "on Monday".
    fn relative_day(&self, place: usize) -> Option<(usize, Piece)> {
        let one = |taken: usize, day: Date| Some((taken, Piece::Days(day, day)));
        match self.words::<4>(place) {
            ["the", "day", "before", "yesterday"] => return one(4, self.day(-2)),
            ["yesterday", ..] => return one(1, self.day(-1)),
            ["today", ..] => return one(1, self.today()),
            ["tonight", ..] => return Some((1, self.hours_of(self.today(), (17 * 60, 29 * 60)))),
            ["last", "night", ..] => {
                // Before five in the morning the night is still going on: the one before it is meant all the same.
                return Some((2, self.hours_of(self.day(-1), (18 * 60, 29 * 60))));
            }
            ["this", part, ..] => {
                if let Some(part) = part_of_day(part) {
                    return Some((2, self.hours_of(self.today(), part)));
                }
            }
            _ => {}
        }
        let (taken, past) = match self.words::<2>(place) {
            ["last" | "this" | "past", _] => (2, self.word(place) == "last"),
            ["on", _] => (2, false),
            _ => return None,
        };
        let weekday = weekday(self.word(place + taken - 1))?;
        let mut back = i64::from(self.today().weekday().since(weekday));
        if past && back == 0 {
            back = 7;
        }
        one(taken, self.day(-back))
    }

    fn hours_of(&self, day: Date, (from, to): (i32, i32)) -> Piece {
        Piece::Span(minutes_of(day, from, to, &self.zone))
    }

    /// "this week", "last month", "last summer", "the weekend".
    fn relative_period(&self, place: usize) -> Option<(usize, Piece)> {
        let [which, what] = self.words(place);
        let steps = match which {
            "this" => 0,
            "last" | "previous" => 1,
            _ => return None,
        };
        let today = self.today();
        let monday = self.day(-i64::from(today.weekday().to_monday_zero_offset()));
        let shift = |date: Date, by: jiff::Span| date.checked_add(by).unwrap_or(date);
        let piece = match what {
            "week" => {
                let first = shift(monday, (-7 * steps).days());
                Piece::Days(first, shift(first, 6.days()))
            }
            "weekend" => {
                let saturday = shift(monday, (5 - 7 * steps).days());
                Piece::Days(saturday, shift(saturday, 1.day()))
            }
            "month" => {
                let first = shift(today.first_of_month(), (-steps).months());
                Piece::Days(first, first.last_of_month())
            }
            "year" => {
                let first = shift(today.first_of_year(), (-steps).years());
                Piece::Days(first, first.last_of_year())
            }
            _ => {
                let first_month = season(what)?;
                let mut first = Date::new(today.year(), first_month, 1).ok()?;
                if first > today {
                    first = shift(first, (-1).years());
                }
                let end = |first: Date| shift(first, 2.months()).last_of_month();
                if steps == 1 && end(first) >= today {
                    first = shift(first, (-1).years());
                }
                Piece::Days(first, end(first))
            }
        };
        Some((2, piece))
    }

    /// "7 May 2023", "May 7th", "in June", "2023-05-07", "in 2022", "summer 2022".
    fn date(&self, place: usize) -> Option<(usize, Piece)> {
        let word = self.word(place);
        if let Ok(date) = word.parse::<Date>()
            && word.contains('-')
        {
            return Some((1, Piece::Dates(vec![date])));
        }
        // Day first: 7 May 2023, the 7th of May.
        if let Some(day) = day_of_month(word) {
            let mut at = place + 1;
            if is_ordinal_suffix(self.word(at)) {
                at += 1;
            }
            if self.word(at) == "of" {
                at += 1;
            }
            if let Some(month) = month(self.word(at)) {
                at += 1;
                let (taken, year) = self.year(at);
                return Some((at + taken - place, self.dates(year, month, day)?));
            }
        }
        // Month first: May 7th, 2023; May 2023; in June.
        if let Some(number) = month(word) {
            let mut at = place + 1;
            if let Some(day) = day_of_month(self.word(at)).filter(|_| !self.is_year(at)) {
                at += 1;
                if is_ordinal_suffix(self.word(at)) {
                    at += 1;
                }
                let (taken, year) = self.year(at);
                return Some((at + taken - place, self.dates(year, number, day)?));
            }
            let (taken, year) = self.year(at);
            // "may" and "march" are verbs, too.
            let named = year.is_some()
                || !matches!(word, "may" | "march" | "mar" | "sep" | "dec" | "jan")
                || (place > 0 && matches!(self.word(place - 1), "in" | "during" | "since" | "of" | "until" | "by"));
            return named.then(|| {
                let periods = self.years(year).filter_map(|year| month_of(year, number)).collect();
                (1 + taken, Piece::Periods(periods))
            });
        }
        if let Some(first) = season(word)
            && let (taken, Some(year)) = self.year(place + 1)
        {
            let start = Date::new(year, first, 1).ok()?;
            let end = start.checked_add(2.months()).ok()?.last_of_month();
            return Some((1 + taken, Piece::Periods(vec![(start, end)])));
        }
        let year = self.year(place).1.filter(|_| place > 0 && !is_measured(self.word(place + 1)))?;
        let first = Date::new(year, 1, 1).ok()?;
        Some((1, Piece::Periods(vec![(first, first.last_of_year())])))
    }

    fn is_year(&self, place: usize) -> bool {
        self.year(place).1.is_some()
    }

    fn year(&self, place: usize) -> (usize, Option<i16>) {
        let year = self.word(place).parse::<i16>().ok().filter(|year| (1970..2100).contains(year));
        (usize::from(year.is_some()), year)
    }

    fn years(&self, year: Option<i16>) -> impl Iterator<Item = i16> + use<> {
        let this = self.today().year();
        let (from, to) = year.map_or((this - YEARS_BACK, this), |year| (year, year));
        (from..=to).rev()
    }

    fn dates(&self, year: Option<i16>, month: i8, day: i8) -> Option<Piece> {
        let dates: Vec<Date> = self.years(year).filter_map(|year| Date::new(year, month, day).ok()).collect();
        (!dates.is_empty()).then_some(Piece::Dates(dates))
    }

    /// "at 3 pm", "at 15:30", "between 3 and 4 pm", "in the morning", "at noon".
    fn hours(&self, place: usize) -> Option<(usize, Piece)> {
        if let Some((from, to)) = part_of_day(self.word(place)) {
            return Some((1, Piece::Hours(from, to)));
        }
        if self.word(place) == "midnight" {
            return Some((1, Piece::Hours(-30, 30)));
        }
        if matches!(self.word(place), "between" | "from") {
            let (taken, from, half) = self.clock(place + 1)?;
            if !matches!(self.word(place + 1 + taken), "and" | "to" | "until" | "till") {
                return None;
            }
            let (more, to, to_half) = self.clock(place + 2 + taken)?;
            if half.or(to_half).is_none() && !self.has_colon(place + 1) {
                return None;
            }
            let to = minutes(to, to_half);
            let mut from = minutes(from, half.or(to_half));
            if from > to {
                from -= 12 * 60;
            }
            return (from < to).then_some((2 + taken + more, Piece::Hours(from, to)));
        }
        let relation = self.word(place);
        if matches!(relation, "at" | "around" | "about" | "before" | "after" | "by") {
            let (taken, clock, half) = self.clock(place + 1)?;
            let precise = half.is_some() || self.has_colon(place + 1) || self.word(place + 1 + taken - 1) == "clock";
            if !precise {
                return None;
            }
            let at = minutes(clock, half);
            let hours = match relation {
                "before" | "by" => Piece::Hours(0, at),
                "after" => Piece::Hours(at, 24 * 60),
                "at" => Piece::Hours(at - 10, at + 10),
                _ => Piece::Hours(at - 30, at + 30),
            };
            return Some((1 + taken, hours));
        }
        None
    }

    fn has_colon(&self, place: usize) -> bool {
        self.word(place).contains(':')
    }

    /// A time on the clock: words taken, minutes, and whether it is before (false) or after noon (true) where that is told.
    fn clock(&self, place: usize) -> Option<(usize, i32, Option<bool>)> {
        let word = self.word(place);
        let minutes = match word.split_once(':') {
            Some((hour, minute)) => hour.parse::<i32>().ok()? * 60 + minute.get(..2)?.parse::<i32>().ok()?,
            None if word == "noon" => return Some((1, 12 * 60, Some(true))),
            None if word == "midnight" => return Some((1, 0, Some(false))),
            None => i32::try_from(number(word)?).ok()? * 60,
        };
        if minutes > 24 * 60 {
            return None;
        }
        let (taken, half) = match self.words(place + 1) {
            ["am", _] => (1, Some(false)),
            ["pm", _] => (1, Some(true)),
            ["a", "m"] => (2, Some(false)),
            ["p", "m"] => (2, Some(true)),
            ["o", "clock"] => (2, None),
            ["oclock", _] => (1, None),
            _ => (0, None),
        };
        Some((1 + taken, minutes, half))
    }

    /// Joins neighbouring pieces ("yesterday" + "at 3 pm") and says what each phrase means.
    fn combine(&self, found: Vec<Found>) -> Vec<TimePhrase> {
        let mut joined: Vec<Found> = Vec::new();
        for next in found {
            if let Some(last) = joined.last_mut()
                && self.only_joining_words(last.to, next.from)
                && let Some(piece) = self.join(&last.piece, &next.piece)
            {
                last.to = next.to;
                last.piece = piece;
                continue;
            }
            joined.push(next);
        }
        joined.into_iter().filter_map(|found| self.phrase(&found)).collect()
    }

    fn only_joining_words(&self, from: usize, to: usize) -> bool {
        to - from <= 2
            && (from..to).all(|place| matches!(self.word(place), "at" | "in" | "the" | "on" | "of" | "during"))
    }

    fn join(&self, first: &Piece, second: &Piece) -> Option<Piece> {
        match (first, second) {
            (Piece::Hours(from, to), day @ (Piece::Days(..) | Piece::Dates(_)))
            | (day @ (Piece::Days(..) | Piece::Dates(_)), Piece::Hours(from, to)) => {
                let day = match day {
                    Piece::Days(first, last) if first == last => *first,
                    Piece::Dates(dates) => *dates.first()?,
                    _ => return None,
                };
                Some(Piece::Span(minutes_of(day, *from, *to, &self.zone)))
            }
            // "on Monday, 7 May": the date is the more precise one.
            (Piece::Days(..), Piece::Dates(dates)) => Some(Piece::Dates(dates.clone())),
            _ => None,
        }
    }

    fn phrase(&self, found: &Found) -> Option<TimePhrase> {
        let range = self.tokens[found.from].start..self.tokens[found.to - 1].end;
        // "The week before 7 May": the date says when, and the words before it are not about now.
        let relative =
            matches!(self.word(found.to), "before" | "after" | "of" | "on") && self.date(found.to + 1).is_some();
        if relative && !matches!(found.piece, Piece::Dates(_) | Piece::Periods(_)) {
            return None;
        }
        let bounded = |span: TimeSpan| {
            let bounds = span.end.since(span.start) <= LONGEST_BOUND;
            TimePhrase { range: range.clone(), spans: vec![(span, 1.0)], bounds, of_session: false }
        };
        Some(match &found.piece {
            Piece::Span(span) => bounded(*span),
            Piece::InSession(span) => TimePhrase { of_session: true, ..bounded(*span) },
            Piece::Days(first, last) => bounded(days(*first, *last, &self.zone)),
            Piece::Hours(from, to) => {
                // A part of the day with no day ("in the morning") may be any day's.
                let word = self.word(found.to - 1);
                if part_of_day(word).is_some() && found.to - found.from == 1 {
                    return None;
                }
                let today = minutes_of(self.today(), *from, *to, &self.zone);
                let past = today.start <= Timestamp::from(self.now.timestamp());
                bounded(if past { today } else { minutes_of(self.day(-1), *from, *to, &self.zone) })
            }
            Piece::Dates(dates) => {
                let mut spans = Vec::new();
                for date in dates {
                    for (around, weight) in NEAR_A_DATE {
                        let first = date.checked_sub(around.days()).unwrap_or(*date);
                        let last = date.checked_add(around.days()).unwrap_or(*date);
                        spans.push((days(first, last, &self.zone), weight));
                    }
                }
                TimePhrase { range, spans, bounds: false, of_session: false }
            }
            Piece::Periods(periods) => {
                let spans = periods.iter().map(|(first, last)| (days(*first, *last, &self.zone), 1.0)).collect();
                TimePhrase { range, spans, bounds: false, of_session: false }
            }
        })
    }
}

/// Whether a word of the question belongs to a phrase of `Parser::of_session`.
pub(super) fn may_name_session(question: &str) -> bool {
    let ends = |word: &str| matches!(word, "end" | "close" | "beginning" | "start" | "middle" | "halfway");
    let tokens = tokens(question);
    let counts_from_its_begin = tokens
        .windows(4)
        .any(|four| four[0].text == "first" && four[1..].iter().any(|it| Unit::of(&it.text).is_some()));
    let ends_with_first =
        tokens.windows(2).last().is_some_and(|two| two[0].text == "first" && Unit::of(&two[1].text).is_some());
    counts_from_its_begin || ends_with_first || tokens.iter().any(|token| is_session(&token.text) || ends(&token.text))
}

/// A quarter of the session around its middle.
fn middle_of(session: TimeSpan) -> TimeSpan {
    let length = session.end.since(session.start);
    let middle = session.start.saturating_add(length / 2);
    let reach = (length / 8).max(Duration::from_secs(20)).min(Duration::from_secs(1_800)).min(length / 2);
    TimeSpan::new(middle.saturating_sub(reach), middle.saturating_add(reach))
}

fn is_session(word: &str) -> bool {
    matches!(word, "session" | "recording" | "video" | "clip" | "film" | "movie" | "file" | "stream" | "footage")
}

/// A number before these words counts things, and is no year.
fn is_measured(word: &str) -> bool {
    matches!(
        word,
        "people" | "times" | "dollars" | "euros" | "meters" | "metres" | "km" | "miles" | "steps" | "calories"
    )
}

fn is_ordinal_suffix(word: &str) -> bool {
    matches!(word, "st" | "nd" | "rd" | "th")
}

fn day_of_month(word: &str) -> Option<i8> {
    word.parse::<i8>().ok().filter(|day| (1..=31).contains(day) && word.len() <= 2)
}

fn seconds(count: f64, unit: Unit) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "at most 31,536,000")]
    let unit = unit.seconds() as f64;
    count * unit
}

fn before(now: Timestamp, by: Duration) -> TimeSpan {
    TimeSpan::new(now.saturating_sub(by), now)
}

/// Minutes since midnight of a time told with or without a half of the day.
fn minutes(clock: i32, after_noon: Option<bool>) -> i32 {
    match after_noon {
        Some(true) if clock < 12 * 60 => clock + 12 * 60,
        Some(false) if clock >= 12 * 60 => clock - 12 * 60,
        _ => clock,
    }
}
