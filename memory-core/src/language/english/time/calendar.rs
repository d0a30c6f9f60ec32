//! Days, weeks, months and hours in a zone.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan, Zoned};

use crate::{TimeSpan, Timestamp};

/// Months by name, with their usual abbreviations.
pub(super) fn month(word: &str) -> Option<i8> {
    const MONTHS: [(&str, &str); 12] = [
        ("january", "jan"),
        ("february", "feb"),
        ("march", "mar"),
        ("april", "apr"),
        ("may", "may"),
        ("june", "jun"),
        ("july", "jul"),
        ("august", "aug"),
        ("september", "sep"),
        ("october", "oct"),
        ("november", "nov"),
        ("december", "dec"),
    ];
    if word == "sept" {
        return Some(9);
    }
    let place = MONTHS.iter().position(|(name, short)| word == *name || word == *short)?;
    i8::try_from(place + 1).ok()
}

/// Weekdays by name. "Mondays" is none: it names no single day.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    let day = match word {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" | "tues" => Weekday::Tuesday,
        "wednesday" | "wed" => Weekday::Wednesday,
        "thursday" | "thu" | "thur" | "thurs" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" | "sat" => Weekday::Saturday,
        "sunday" | "sun" => Weekday::Sunday,
        _ => return None,
    };
    Some(day)
}

/// Seasons of the northern year as first month and number of months.
pub(super) fn season(word: &str) -> Option<i8> {
    match word {
        "spring" => Some(3),
        "summer" => Some(6),
        "autumn" | "fall" => Some(9),
        "winter" => Some(12),
        _ => None,
    }
}

/// Seconds of an hour.
pub(super) const HOUR: i32 = 3_600;

/// Seconds of a day without a change of the clocks.
pub(super) const DAY: i32 = 24 * HOUR;

/// Parts of a day in seconds since midnight; the night ends on the next day.
pub(super) fn part_of_day(word: &str) -> Option<(i32, i32)> {
    match word {
        "morning" => Some((5 * HOUR, 12 * HOUR)),
        "lunchtime" => Some((11 * HOUR + HOUR / 2, 14 * HOUR)),
        "afternoon" => Some((12 * HOUR, 18 * HOUR)),
        "evening" => Some((17 * HOUR, 24 * HOUR)),
        "night" => Some((18 * HOUR, 29 * HOUR)),
        _ => None,
    }
}

/// Units of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    pub fn of(word: &str) -> Option<Self> {
        match word {
            "second" | "seconds" | "sec" | "secs" => Some(Self::Second),
            "minute" | "minutes" | "min" | "mins" => Some(Self::Minute),
            "hour" | "hours" | "hr" | "hrs" => Some(Self::Hour),
            "day" | "days" => Some(Self::Day),
            "week" | "weeks" => Some(Self::Week),
            "month" | "months" => Some(Self::Month),
            "year" | "years" => Some(Self::Year),
            _ => None,
        }
    }

    /// So many of it; `None` beyond the calendar.
    pub fn times(self, count: i64) -> Option<Span> {
        let span = Span::new();
        let times = match self {
            Self::Second => span.try_seconds(count),
            Self::Minute => span.try_minutes(count),
            Self::Hour => span.try_hours(count),
            Self::Day => span.try_days(count),
            Self::Week => span.try_weeks(count),
            Self::Month => span.try_months(count),
            Self::Year => span.try_years(count),
        };
        times.ok()
    }

    /// Roughly, for tolerances.
    pub fn seconds(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Day => 86_400,
            Self::Week => 7 * 86_400,
            Self::Month => 30 * 86_400,
            Self::Year => 365 * 86_400,
        }
    }
}

/// From the first moment of `first` to the last of `last`.
pub(super) fn days(first: Date, last: Date, zone: &TimeZone) -> TimeSpan {
    let end = last.checked_add(1.day()).unwrap_or(Date::MAX);
    let start = at(first.at(0, 0, 0, 0), zone);
    TimeSpan::new(start, at(end.at(0, 0, 0, 0), zone).saturating_sub(std::time::Duration::from_micros(1)))
}

/// The moment so many seconds after the midnight at which a day begins, as a clock on the wall shows it; below zero it
/// is the day before, beyond 24 hours the next day.
pub(super) fn moment_of(day: Date, seconds: i32, zone: &TimeZone) -> Timestamp {
    let day = day.checked_add(i64::from(seconds.div_euclid(DAY)).days()).unwrap_or(day);
    let seconds = seconds.rem_euclid(DAY);
    let part = |value: i32| i8::try_from(value).unwrap_or(0);
    at(day.at(part(seconds / HOUR), part(seconds / 60 % 60), part(seconds % 60), 0), zone)
}

/// From so many seconds after midnight to so many, both ends included.
pub(super) fn seconds_of(day: Date, from: i32, to: i32, zone: &TimeZone) -> TimeSpan {
    TimeSpan::new(moment_of(day, from, zone), moment_of(day, to, zone))
}

/// A day so many days later; at the end of the calendar the day itself.
pub(super) fn day_after(day: Date, days: i64) -> Date {
    day.checked_add(days.days()).unwrap_or(day)
}

/// A civil time in a zone. One that a change of the clocks skips or repeats is read as RFC 5545 says: the later one
/// after a gap, the earlier one in a fold.
pub(super) fn at(civil: DateTime, zone: &TimeZone) -> Timestamp {
    zone.to_ambiguous_zoned(civil).compatible().map(|zoned| zoned.timestamp().into()).unwrap_or_default()
}

/// Shifts a zoned time, clamped at the ends of the calendar.
pub(super) fn shifted(now: &Zoned, by: Span) -> Zoned {
    now.checked_add(by).unwrap_or_else(|_| now.clone())
}

/// First and last day of a month.
pub(super) fn month_of(year: i16, month: i8) -> Option<(Date, Date)> {
    let first = Date::new(year, month, 1).ok()?;
    Some((first, first.last_of_month()))
}
