//! Times as people write and read them.

use std::time::Duration;

use jiff::civil;
use jiff::tz::TimeZone;
use memory_core::Timestamp;

/// Reads a time: RFC 3339, a local date with or without a time of day, or a duration ago (`2h`, `90 min`, `3 days`).
///
/// # Errors
/// If it is none of these; the message shows examples.
pub fn parse(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("now") {
        return Ok(now);
    }
    if let Ok(at) = Timestamp::parse(text) {
        return Ok(at);
    }
    let in_zone = |at: civil::DateTime| at.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp().into());
    if let Some(at) = text.parse::<civil::DateTime>().ok().and_then(in_zone) {
        return Ok(at);
    }
    if let Some(at) = text.parse::<civil::Date>().ok().map(|date| date.at(0, 0, 0, 0)).and_then(in_zone) {
        return Ok(at);
    }
    let today = now.to_jiff().to_zoned(zone.clone()).date();
    if let Some(at) = text.parse::<civil::Time>().ok().map(|time| today.to_datetime(time)).and_then(in_zone) {
        return Ok(at);
    }
    let span = text.strip_suffix("ago").unwrap_or(text).trim();
    if let Ok(span) = span.parse::<jiff::Span>()
        && !span.is_negative()
        && let Ok(at) = now.to_jiff().to_zoned(zone.clone()).checked_sub(span)
    {
        return Ok(at.timestamp().into());
    }
    Err(format!(
        "`{text}` is not a time: write 2026-11-20T08:00:00+01:00, \"2026-11-20 08:00\", 08:00, or how long ago, such as 2h"
    ))
}

/// A span as a person reads it: the day only where it is not today.
pub fn readable(start: Timestamp, end: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let zoned = |at: Timestamp| at.to_jiff().to_zoned(zone.clone());
    let (start, end, now) = (zoned(start), zoned(end), zoned(now));
    let day = if start.date() == now.date() {
        "today".to_owned()
    } else if now.date().yesterday().is_ok_and(|yesterday| yesterday == start.date()) {
        "yesterday".to_owned()
    } else {
        start.strftime("%a %-d %b %Y").to_string()
    };
    let clock = "%H:%M:%S";
    let from = start.strftime(clock).to_string();
    let until =
        if start.date() == end.date() { end.strftime(clock) } else { end.strftime("%-d %b %H:%M:%S") }.to_string();
    if from == until { format!("{day} {from}") } else { format!("{day} {from}–{until}") }
}

/// Stream time as a player shows it: `1:02.5`, `1:00:02`.
pub fn stream(at: Duration) -> String {
    let seconds = at.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{rest:02}")
    } else {
        format!("{minutes}:{rest:02}.{}", at.subsec_millis() / 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn berlin() -> TimeZone {
        TimeZone::get("Europe/Berlin").unwrap()
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn dates_and_times_without_an_offset_are_local() {
        let now = at("2026-11-20T12:00:00+01:00");
        assert_eq!(parse("2026-11-19", now, &berlin()).unwrap(), at("2026-11-19T00:00:00+01:00"));
        assert_eq!(parse("2026-07-01 08:30", now, &berlin()).unwrap(), at("2026-07-01T08:30:00+02:00"));
        assert_eq!(parse("08:30", now, &berlin()).unwrap(), at("2026-11-20T08:30:00+01:00"));
    }

    #[test]
    fn a_duration_means_ago() {
        let now = at("2026-11-20T12:00:00+01:00");
        assert_eq!(parse("90 min", now, &berlin()).unwrap(), at("2026-11-20T10:30:00+01:00"));
        assert_eq!(parse("2h ago", now, &berlin()).unwrap(), at("2026-11-20T10:00:00+01:00"));
        assert_eq!(parse("1 day", now, &berlin()).unwrap(), at("2026-11-19T12:00:00+01:00"));
        assert!(parse("-2h", now, &berlin()).is_err());
    }

    #[test]
    fn what_is_no_time_is_refused_with_examples() {
        let message = parse("soon", at("2026-11-20T12:00:00Z"), &berlin()).unwrap_err();
        assert!(message.contains("`soon`") && message.contains("2h"), "{message}");
    }

    #[test]
    fn the_day_is_named_as_people_name_it() {
        let now = at("2026-11-20T12:00:00+01:00");
        let say = |a: &str, b: &str| readable(at(a), at(b), now, &berlin());
        assert_eq!(say("2026-11-20T08:00:00+01:00", "2026-11-20T08:00:07+01:00"), "today 08:00:00–08:00:07");
        assert_eq!(say("2026-11-19T08:00:00+01:00", "2026-11-19T08:00:00+01:00"), "yesterday 08:00:00");
        assert_eq!(say("2026-07-01T08:00:00+02:00", "2026-07-01T08:00:00+02:00"), "Wed 1 Jul 2026 08:00:00");
    }

    #[test]
    fn stream_time_reads_like_a_player() {
        assert_eq!(stream(Duration::from_millis(62_540)), "1:02.5");
        assert_eq!(stream(Duration::from_secs(3602)), "1:00:02");
    }
}
