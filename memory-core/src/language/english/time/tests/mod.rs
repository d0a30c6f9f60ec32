mod questions;
mod robustness;
mod telling;
mod verbs;
mod wording;

use jiff::civil::date;
use jiff::tz::TimeZone;

use super::*;
use crate::Timestamp;

/// Wednesday, 20 May 2026, 15:30 in Berlin.
fn now() -> Zoned {
    date(2026, 5, 20).at(15, 30, 0, 0).to_zoned(TimeZone::get("Europe/Berlin").unwrap()).unwrap()
}

fn written(at: Timestamp, zone: &TimeZone) -> String {
    let zoned = at.saturating_add(std::time::Duration::from_micros(1)).to_jiff().to_zoned(zone.clone());
    zoned.strftime("%m-%d %H:%M").to_string()
}

fn to_the_second(span: TimeSpan) -> String {
    let zoned =
        |at: Timestamp| at.to_jiff().to_zoned(now().time_zone().clone()).strftime("%Y-%m-%d %H:%M:%S").to_string();
    format!("{}..{}", zoned(span.start), zoned(span.end))
}

/// Returns a moment in the tests' zone.
fn at(text: &str) -> Timestamp {
    text.parse::<jiff::civil::DateTime>().unwrap().to_zoned(now().time_zone().clone()).unwrap().timestamp().into()
}
