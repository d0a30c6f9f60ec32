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
    let place = MONTHS.iter().position(|(name, short)| word == *name || word == *short)?;
    i8::try_from(place + 1).ok()
}

/// Weekdays by name.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    let day = match word {
        "monday" | "mondays" => Weekday::Monday,
        "tuesday" | "tuesdays" => Weekday::Tuesday,
        "wednesday" | "wednesdays" => Weekday::Wednesday,
        "thursday" | "thursdays" => Weekday::Thursday,
        "friday" | "fridays" => Weekday::Friday,
        "saturday" | "saturdays" => Weekday::Saturday,
        "sunday" | "sundays" => Weekday::Sunday,
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

/// Parts of a day in minutes since midnight; the night ends on the next day.
pub(super) fn part_of_day(word: &str) -> Option<(i32, i32)> {
    match word {
        "morning" => Some((5 * 60, 12 * 60)),
        "noon" | "midday" | "lunchtime" => Some((11 * 60 + 30, 14 * 60)),
        "afternoon" => Some((12 * 60, 18 * 60)),
        "evening" => Some((17 * 60, 24 * 60)),
        "night" => Some((20 * 60, 29 * 60)),
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

/// Minutes since midnight of a day, both ends included; beyond 24 hours it is the next day.
pub(super) fn minutes_of(day: Date, from: i32, to: i32, zone: &TimeZone) -> TimeSpan {
    let moment = |minutes: i32| {
        let day = day.checked_add(i64::from(minutes.div_euclid(24 * 60)).days()).unwrap_or(day);
        let minutes = minutes.rem_euclid(24 * 60);
        let (hour, minute) = (i8::try_from(minutes / 60).unwrap_or(0), i8::try_from(minutes % 60).unwrap_or(0));
        at(day.at(hour, minute, 0, 0), zone)
    };
    TimeSpan::new(moment(from), moment(to))
}

/// A civil time in a zone. One that a change of the clocks skips or repeats is read as RFC 5545 says: the later one after
/// a gap, the earlier one in a fold.
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
