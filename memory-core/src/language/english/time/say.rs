//! Formats times as a person would say them.

use std::time::Duration;

use jiff::Zoned;
use jiff::civil::Date;

use super::calendar::day_after;
use crate::{TimeSpan, Timestamp};

/// Returns a moment as a person would say it: with the day if it is not today, and with the distance from now if that
/// is short.
pub(crate) fn say_moment(at: Timestamp, now: &Zoned) -> String {
    let there = at.to_jiff().to_zoned(now.time_zone().clone());
    let now_at = Timestamp::from(now.timestamp());
    let clock = there.strftime("%H:%M:%S").to_string();
    let rounded = there.strftime("%H:%M");
    if at <= now_at && there.date() == now.date() {
        let ago = now_at.since(at).as_secs();
        return match ago {
            0..60 => format!("at {clock} (just now)"),
            60..120 => format!("at {clock} (a minute ago)"),
            120..3_600 => format!("at {clock} ({} minutes ago)", ago / 60),
            _ => format!("today at {rounded}"),
        };
    }
    if at > now_at {
        return say_future_moment(&there, now, &rounded.to_string());
    }
    if now.date().yesterday().ok() == Some(there.date()) {
        return format!("yesterday at {rounded}");
    }
    format!("on {} at {rounded}", say_date(there.date()))
}

/// Returns a future moment in words.
fn say_future_moment(there: &Zoned, now: &Zoned, clock: &str) -> String {
    if there.date() == now.date() {
        let minutes = Timestamp::from(there.timestamp()).since(now.timestamp().into()).as_secs().div_ceil(60);
        return match minutes {
            0..=1 => format!("at {clock} (in a minute)"),
            2..60 => format!("at {clock} (in {minutes} minutes)"),
            _ => format!("today at {clock}"),
        };
    }
    format!("{} at {clock}", say_future_day(there.date(), now.date()))
}

/// Returns a future day in words: "tomorrow", "on Friday 6 March", "on 6 March 2027".
fn say_future_day(day: Date, today: Date) -> String {
    if day == day_after(today, 1) {
        "tomorrow".into()
    } else if day.year() == today.year() {
        format!("on {} {} {}", day.strftime("%A"), day.day(), day.strftime("%B"))
    } else {
        format!("on {}", say_date(day))
    }
}

/// Returns the day of a moment: "today", "yesterday", "on 7 May 2026".
pub(crate) fn say_day(at: Timestamp, now: &Zoned) -> String {
    let day = at.to_jiff().to_zoned(now.time_zone().clone()).date();
    if now.date().yesterday().ok() == Some(day) {
        "yesterday".into()
    } else if day >= now.date() {
        say_day_name(day, now.date())
    } else {
        format!("on {}", say_date(day))
    }
}

fn say_date(day: Date) -> String {
    format!("{} {}", day.day(), day.strftime("%B %Y"))
}

/// Returns a moment with its seconds and its date: "at 14:34:08 on 22 June 2024".
pub(crate) fn say_exact_moment(at: Timestamp, now: &Zoned) -> String {
    say_clock_range(TimeSpan::new(at, at), now)
}

/// Returns a span by the clock: "from 14:34:08 to 14:34:18 on 22 June 2024", "at 19:04 on 17 June 2024". Seconds are
/// omitted if the span consists of whole minutes.
pub(crate) fn say_clock_range(span: TimeSpan, now: &Zoned) -> String {
    let zone = now.time_zone();
    let zoned = |at: Timestamp| at.to_jiff().to_zoned(zone.clone());
    let minute = 60_000_000;
    let begins = span.start.as_micros().rem_euclid(minute) == 0;
    // A span of whole minutes ends with the last moment of a minute, or with the first of the next.
    let closes = span.end.as_micros().rem_euclid(minute) == minute - 1;
    let whole = begins && (closes || span.end.as_micros().rem_euclid(minute) == 0) && span.start != span.end;
    let (start, end) = (zoned(span.start), zoned(span.end));
    let clock = |at: &Zoned| at.strftime(if whole { "%H:%M" } else { "%H:%M:%S" }).to_string();
    let day = |at: &Zoned| match at.date() {
        date if date == now.date() => "today".into(),
        date => format!("on {}", say_date(date)),
    };
    if clock(&start) == clock(&end) && start.date() == end.date() {
        return format!("at {} {}", clock(&start), day(&start));
    }
    if start.date() == end.date() {
        return format!("from {} to {} {}", clock(&start), clock(&end), day(&start));
    }
    format!("from {} {} to {} {}", clock(&start), day(&start), clock(&end), day(&end))
}

/// Returns a span in words, as exact as it is: a day, a month, a part of a day, a time.
pub(crate) fn say_period(span: TimeSpan, now: &Zoned) -> String {
    let zone = now.time_zone();
    let (start, end) = (span.start.to_jiff().to_zoned(zone.clone()), span.end.to_jiff().to_zoned(zone.clone()));
    let (first, last) = (start.date(), end.date());
    let long = span.end.since(span.start);
    let is_ahead = span.end > Timestamp::from(now.timestamp());
    if long <= Duration::from_secs(60) {
        return say_moment(span.start, now);
    }
    let day = |at: Date| {
        if is_ahead && at >= now.date() { say_day_name(at, now.date()) } else { format!("on {}", say_date(at)) }
    };
    if let Some(part) = part_of_day_name(&start, long) {
        return format!("{} in the {part}", day(first));
    }
    if (3_600 + 60..20 * 3_600).contains(&long.as_secs()) && first == last {
        let clock = |at: &Zoned| at.strftime("%H:%M").to_string();
        format!("{} between {} and {}", day(first), clock(&start), clock(&end))
    } else if long.as_secs() < 20 * 3_600 && first == last {
        format!("{} about {}", day(first), start.strftime("%H:%M"))
    } else if first == last {
        day(first)
    } else if first == first.first_of_year() && last == first.last_of_year() {
        format!("in {}", first.year())
    } else if first == first.first_of_month() && last == first.last_of_month() {
        format!("in {}", start.strftime("%B %Y"))
    } else {
        format!("between {} and {}", say_date(first), say_date(last))
    }
}

fn say_day_name(day: Date, today: Date) -> String {
    if day == today { "today".into() } else { say_future_day(day, today) }
}

/// Returns the part of a day that a span covers.
fn part_of_day_name(start: &Zoned, long: Duration) -> Option<&'static str> {
    let hours = (start.hour(), long.as_secs() / 3_600);
    match hours {
        (5, 7) => Some("morning"),
        (12, 6) => Some("afternoon"),
        (17, 7) => Some("evening"),
        (17 | 18, 11 | 12) => Some("evening"),
        (20, 9) => Some("night"),
        _ => None,
    }
}

/// Returns a length of time with its begin and end: "2 hours, from yesterday at 09:00 to yesterday at 11:00", or since when
/// it lasts if it has no end yet.
pub(crate) fn say_length_of(start: Timestamp, end: Option<Timestamp>, now: &Zoned) -> String {
    let length = say_length(end.unwrap_or_else(|| now.timestamp().into()).since(start));
    let moment = |at: Timestamp| {
        let said = say_moment(at, now);
        said.strip_prefix("on ").or_else(|| said.strip_prefix("at ")).unwrap_or(&said).to_owned()
    };
    match end {
        Some(end) => format!("{length}, from {} to {}", moment(start), moment(end)),
        None => format!("{length} so far, since {}", moment(start)),
    }
}

/// Returns a length of time in its two largest units: "30 minutes", "1 hour 20 minutes", "45 seconds".
pub(crate) fn say_length(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    // Seconds do not matter beside hours, nor minutes beside days.
    let step = if seconds < 600.0 {
        1.0
    } else if seconds < 86_400.0 {
        60.0
    } else {
        3_600.0
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a duration is not negative")]
    let whole = ((seconds / step).round() * step) as u64;
    if whole == 0 {
        return "less than a second".into();
    }
    let units = [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)];
    let mut rest = whole;
    let mut parts = Vec::new();
    for (name, size) in units {
        let count = rest / size;
        rest %= size;
        if count > 0 {
            parts.push(format!("{count} {name}{}", if count == 1 { "" } else { "s" }));
        }
    }
    parts.truncate(2);
    parts.join(" ")
}
