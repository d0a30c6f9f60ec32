//! Days, weeks, months and hours in a time zone.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan, Zoned};

use crate::{TimeSpan, Timestamp};

/// Words that name a day, a part of one or a longer time. What is announced for another day has one.
pub(crate) const WORDS_OF_DAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "today",
    "tonight",
    "tomorrow",
    "day",
    "week",
    "weekend",
    "fortnight",
    "month",
    "year",
    "morning",
    "afternoon",
    "evening",
    "noon",
];

/// Returns the number of a month by its name or a common abbreviation.
pub(super) fn month_number(word: &str) -> Option<i8> {
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

/// Returns a weekday by its name. "Mondays" is not one: it names no single day.
pub(super) fn weekday_named(word: &str) -> Option<Weekday> {
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

/// Returns the first month of a season in the northern hemisphere.
pub(super) fn first_month_of_season(word: &str) -> Option<i8> {
    match word {
        "spring" => Some(3),
        "summer" => Some(6),
        "autumn" | "fall" => Some(9),
        "winter" => Some(12),
        _ => None,
    }
}

/// Length of an hour in seconds.
pub(super) const HOUR_S: i32 = 3_600;

/// Length of a day without a change of the clocks, in seconds.
pub(super) const DAY_S: i32 = 24 * HOUR_S;

/// Returns the start and the end of a part of a day, in seconds since midnight. The night ends on the next day.
pub(crate) fn part_of_day_seconds(word: &str) -> Option<(i32, i32)> {
    match word {
        "morning" => Some((5 * HOUR_S, 12 * HOUR_S)),
        "lunchtime" => Some((11 * HOUR_S + HOUR_S / 2, 14 * HOUR_S)),
        "afternoon" => Some((12 * HOUR_S, 18 * HOUR_S)),
        "evening" => Some((17 * HOUR_S, 24 * HOUR_S)),
        "night" => Some((18 * HOUR_S, 29 * HOUR_S)),
        _ => None,
    }
}

/// A unit of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl TimeUnit {
    pub fn from_word(word: &str) -> Option<Self> {
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

    /// Returns a number of units as a span. `None` beyond the calendar.
    pub fn span_of(self, count: i64) -> Option<Span> {
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

    /// Returns the approximate length in seconds, for tolerances.
    pub fn approximate_seconds(self) -> i64 {
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

/// Returns the span from the first moment of `first` to the last of `last`.
pub(super) fn span_of_days(first: Date, last: Date, zone: &TimeZone) -> TimeSpan {
    let end = last.checked_add(1.day()).unwrap_or(Date::MAX);
    let start = timestamp_in_zone(first.at(0, 0, 0, 0), zone);
    TimeSpan::new(
        start,
        timestamp_in_zone(end.at(0, 0, 0, 0), zone).saturating_sub(std::time::Duration::from_micros(1)),
    )
}

/// Returns the moment at a number of seconds after midnight by the wall clock. Negative values are on the day before,
/// values beyond 24 hours on the next day.
pub(super) fn moment_at(day: Date, seconds: i32, zone: &TimeZone) -> Timestamp {
    let day = day.checked_add(i64::from(seconds.div_euclid(DAY_S)).days()).unwrap_or(day);
    let seconds = seconds.rem_euclid(DAY_S);
    let part = |value: i32| i8::try_from(value).unwrap_or(0);
    timestamp_in_zone(day.at(part(seconds / HOUR_S), part(seconds / 60 % 60), part(seconds % 60), 0), zone)
}

/// Returns the span between two numbers of seconds after midnight, both included.
pub(super) fn span_between_seconds(day: Date, from: i32, to: i32, zone: &TimeZone) -> TimeSpan {
    TimeSpan::new(moment_at(day, from, zone), moment_at(day, to, zone))
}

/// Returns the date a number of days later, clamped to the calendar.
pub(super) fn day_after(day: Date, days: i64) -> Date {
    day.checked_add(days.days()).unwrap_or(day)
}

/// Converts a civil time to a moment. As in RFC 5545, a time in a gap of the clocks becomes the later one, and a time
/// in a fold the earlier one.
pub(super) fn timestamp_in_zone(civil: DateTime, zone: &TimeZone) -> Timestamp {
    zone.to_ambiguous_zoned(civil).compatible().map(|zoned| zoned.timestamp().into()).unwrap_or_default()
}

/// Shifts a zoned time, clamped to the calendar.
pub(super) fn shift_clamped(now: &Zoned, by: Span) -> Zoned {
    now.checked_add(by).unwrap_or_else(|_| now.clone())
}

/// Returns the first and the last day of a month.
pub(super) fn month_bounds(year: i16, month: i8) -> Option<(Date, Date)> {
    let first = Date::new(year, month, 1).ok()?;
    Some((first, first.last_of_month()))
}
