//! The stretches of time that gists are about: minutes, hours and days.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::{TimeSpan, Timestamp};

const MINUTE_US: i64 = 60_000_000;
const HOUR_US: i64 = 60 * MINUTE_US;

/// How long a stretch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A minute of the clock.
    Minute,
    /// An hour of universal time, so that it is the same hour in every time zone.
    Hour,
    /// A day from midnight to midnight in the memory's time zone.
    Day,
}

impl Level {
    /// Every level, the shortest first.
    pub const ALL: [Self; 3] = [Self::Minute, Self::Hour, Self::Day];

    /// The name in the MQTT contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    /// The stretch of this length that a moment lies in; the end belongs to the next one.
    pub(crate) fn around(self, moment: Timestamp, zone: &TimeZone) -> TimeSpan {
        let of_length = |length: i64| {
            let start = moment.as_micros().div_euclid(length).saturating_mul(length);
            TimeSpan::new(Timestamp::from_micros(start), Timestamp::from_micros(start.saturating_add(length)))
        };
        match self {
            Self::Minute => of_length(MINUTE_US),
            Self::Hour => of_length(HOUR_US),
            Self::Day => day(moment, zone).unwrap_or_else(|| of_length(24 * HOUR_US)),
        }
    }

    /// The most words of the lines that a gist keeps.
    pub(crate) const fn words(self) -> usize {
        match self {
            Self::Minute => 120,
            Self::Hour => 400,
            Self::Day => 800,
        }
    }
}

/// `None` at the ends of the calendar.
fn day(moment: Timestamp, zone: &TimeZone) -> Option<TimeSpan> {
    let local = moment.to_jiff().to_zoned(zone.clone());
    let start = local.start_of_day().ok()?;
    let end = start.tomorrow().ok()?.start_of_day().ok()?;
    Some(TimeSpan::new(start.timestamp().into(), end.timestamp().into()))
}
