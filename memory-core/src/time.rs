//! Points and spans of time.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in wall-clock time: microseconds since the Unix epoch, negative before 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// A text that is not an RFC 3339 time, or a time outside the calendar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a time: expected RFC 3339 with an offset, such as 2026-11-20T08:00:00+01:00")]
pub struct TimestampError {
    text: String,
}

impl Timestamp {
    /// Microseconds since the Unix epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 time with an offset (`Z` counts as one).
    ///
    /// # Errors
    /// If `text` is not RFC 3339, lacks the offset, or lies outside the years -9999 to 9999.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        text.trim()
            .parse::<jiff::Timestamp>()
            .map(Self::from)
            .map_err(|_| TimestampError { text: text.chars().take(64).collect() })
    }

    /// RFC 3339 in `zone`, with its offset and at most millisecond digits.
    pub fn format(self, zone: &jiff::tz::TimeZone) -> String {
        let zoned = self.to_jiff().to_zoned(zone.clone());
        if self.0.rem_euclid(1_000_000) == 0 {
            zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
        } else {
            zoned.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string()
        }
    }

    /// The same point for calendar arithmetic; points outside jiff's calendar are clamped to its ends.
    pub fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }

    /// `self + duration`, saturating.
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// `self - duration`, saturating.
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(at: jiff::Timestamp) -> Self {
        Self(at.as_microsecond())
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format(&jiff::tz::TimeZone::UTC))
    }
}

/// A closed span of wall-clock time; `end >= start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TimeSpan {
    /// First moment.
    pub start: Timestamp,
    /// Last moment; equal to `start` for a point.
    pub end: Timestamp,
}

impl TimeSpan {
    /// A span; the ends are swapped if they are in the wrong order.
    pub fn new(a: Timestamp, b: Timestamp) -> Self {
        if a <= b { Self { start: a, end: b } } else { Self { start: b, end: a } }
    }

    /// Whether the two spans share a moment.
    pub fn overlaps(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// Whether `at` lies in the span, ends included.
    pub fn contains(self, at: Timestamp) -> bool {
        self.start <= at && at <= self.end
    }
}

/// A span of stream time: offsets since the capture session began (for a replayed file: into the file).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StreamSpan {
    /// First moment.
    pub start: Duration,
    /// Last moment, not before `start`.
    pub end: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_with_an_offset_is_read_and_written_back_in_a_zone() {
        let at = Timestamp::parse("2026-11-20T08:00:00+01:00").unwrap();
        assert_eq!(at.to_string(), "2026-11-20T07:00:00+00:00");
        let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(1));
        assert_eq!(at.format(&zone), "2026-11-20T08:00:00+01:00");
    }

    #[test]
    fn a_time_without_an_offset_is_refused_with_an_example() {
        let error = Timestamp::parse("2026-11-20T08:00:00").unwrap_err();
        assert!(error.to_string().contains("+01:00"), "{error}");
    }

    #[test]
    fn fractions_of_a_second_survive_to_the_millisecond() {
        assert_eq!(Timestamp::parse("1969-12-31T23:59:59.25Z").unwrap().to_string(), "1969-12-31T23:59:59.250+00:00");
    }
}
