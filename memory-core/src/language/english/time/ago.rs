//! Durations relative to now: "ten minutes ago", "in the last hour", "in two days", "a week from today".

use std::time::Duration;

use jiff::civil::Date;
use jiff::{Span, ToSpan, Zoned};

use super::Tense;
use super::calendar::{TimeUnit, day_after, shift_clamped};
use super::numbers::leading_number;
use super::parser::{Parser, ParserMode, PhrasePiece};
use crate::{TimeSpan, Timestamp};

/// What "several days" and "the next weeks" are taken to mean.
const SEVERAL: f64 = 4.0;

impl Parser<'_> {
    /// Parses a count before a unit: "ten", "a", "a couple of", "half an", "about 5", "2.5". Returns the number of
    /// words and the count.
    pub fn parse_count(&self, place: usize) -> Option<(usize, f64)> {
        let (skipped, place) = match self.word(place) {
            "about" | "around" | "roughly" | "approximately" | "nearly" | "almost" | "some" | "another" => {
                (1, place + 1)
            }
            _ => (0, place),
        };
        let (taken, count) = match self.words::<4>(place) {
            ["a", "couple", "of", _] => (3, 2.0),
            ["a", "couple", ..] => (2, 2.0),
            ["a", "few", ..] => (2, 3.0),
            ["few", ..] => (1, 3.0),
            ["a", "half", ..] | ["half", "a" | "an", ..] => (2, 0.5),
            ["a", "quarter", "of", "an"] => (4, 0.25),
            ["quarter", "of", "an", _] => (3, 0.25),
            ["three", "quarters", "of", "an"] => (4, 0.75),
            ["several", ..] => (1, SEVERAL),
            ["a" | "an" | "one", "hour" | "day" | "week" | "month" | "year" | "minute", "and", "a"]
                if self.word(place + 4) == "half" =>
            {
                return None;
            }
            ["a" | "an", ..] => (1, 1.0),
            _ => {
                let (taken, count) = self.parse_amount(place)?;
                match self.words::<3>(place + taken) {
                    ["and", "a", "half"] => (taken + 3, count + 0.5),
                    _ => (taken, count),
                }
            }
        };
        Some((skipped + taken, count))
    }

    fn parse_amount(&self, place: usize) -> Option<(usize, f64)> {
        if let Some((whole, part)) = self.word(place).split_once('.')
            && whole.len() <= 4
            && part.len() <= 3
        {
            return self.word(place).parse().ok().map(|count| (1, count));
        }
        let (taken, count) = leading_number(self.rest(place))?;
        #[expect(clippy::cast_precision_loss, reason = "at most six digits")]
        let count = count as f64;
        Some((taken, count))
    }

    /// Parses a duration ("ten minutes", "an hour and a half"). Returns the number of words, the count and the unit.
    fn parse_duration(&self, place: usize) -> Option<(usize, f64, TimeUnit)> {
        if let ["a" | "an" | "one", unit, "and", "a", "half"] = self.words::<5>(place) {
            return TimeUnit::from_word(unit).map(|unit| (5, 1.5, unit));
        }
        let (taken, count) = self.parse_count(place)?;
        TimeUnit::from_word(self.word(place + taken)).map(|unit| (taken + 1, count, unit))
    }

    /// Parses "ten minutes ago", "in the last hour" or "just now".
    pub fn parse_ago(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        let now = self.now_at();
        let back = |seconds: u64| PhrasePiece::Span(span_before(now, Duration::from_secs(seconds)), true);
        match self.words::<4>(place) {
            ["just" | "right", "now", ..] => return Some((2, back(120))),
            ["a", "moment", "ago", ..] => return Some((3, back(180))),
            ["moments", "ago", ..] => return Some((2, back(180))),
            ["a", "while", "ago", _] => return Some((3, back(6 * 3_600))),
            ["the", "last" | "past", ..] | ["in" | "over" | "during" | "within" | "for", "the", "last" | "past", _] => {
                let skipped = if self.word(place) == "the" { 2 } else { 3 };
                return self.parse_last(place, skipped);
            }
            _ => {}
        }
        let (taken, count, unit) = self.parse_duration(place)?;
        if !matches!(self.word(place + taken), "ago") {
            return None;
        }
        Some((taken + 1, self.span_around(&self.shift_now(-count, unit), count, unit)))
    }

    fn parse_last(&self, place: usize, skipped: usize) -> Option<(usize, PhrasePiece)> {
        let (taken, count, unit) = self.parse_length_of_time(place + skipped)?;
        // "The last week of August" is not relative to now.
        if self.word(place + skipped + taken) == "of" {
            return None;
        }
        let start = self.shift_now(-count, unit);
        let span = TimeSpan::new(start.timestamp().into(), self.now_at());
        Some((skipped + taken, PhrasePiece::Span(span, unit.approximate_seconds() < 86_400)))
    }

    /// Parses "week", "two weeks", "weeks" or "days and weeks" after "last" or "next". Returns the number of words, and
    /// how many of which unit.
    fn parse_length_of_time(&self, place: usize) -> Option<(usize, f64, TimeUnit)> {
        let counted = self.parse_count(place);
        let taken = counted.map_or(0, |(taken, _)| taken);
        let unit = TimeUnit::from_word(self.word(place + taken))?;
        let is_plural = |place: usize| self.word(place).ends_with('s');
        if let Some((_, count)) = counted {
            return Some((taken + 1, count, unit));
        }
        if !is_plural(place) {
            return Some((1, 1.0, unit));
        }
        let longer = TimeUnit::from_word(self.word(place + 2));
        match longer.filter(|_| self.word(place + 1) == "and" && is_plural(place + 2)) {
            Some(longer) => Some((3, SEVERAL, longer)),
            None => Some((1, SEVERAL, unit)),
        }
    }

    /// Parses "in two days", "in half an hour", "two weeks from now", "within the next hour" or "in the next few days".
    pub fn parse_ahead(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        // In the past tense, "in two days" is a duration.
        let possible = self.tense != Tense::Past;
        match self.words::<3>(place) {
            ["in" | "over" | "during" | "within" | "for", "the", "next" | "coming"] if possible => {
                return self.parse_next(place, 3);
            }
            ["the", "next" | "coming", _] if possible => {
                let (taken, piece) = self.parse_next(place, 2)?;
                // "The next day" is relative to another day.
                return (taken > 3).then_some((taken, piece));
            }
            ["within", ..] if possible => {
                let (taken, count, unit) = self.parse_duration(place + 1)?;
                let span = TimeSpan::new(self.now_at(), self.shift_now(count, unit).timestamp().into());
                return Some((taken + 1, PhrasePiece::Span(span, unit.approximate_seconds() < 86_400)));
            }
            ["in", ..] if possible => {
                let (taken, count, unit) = self.parse_duration(place + 1)?;
                // "In two minutes of silence" and "in two minutes into the session" are not relative to now.
                let elsewhere = matches!(self.word(place + 1 + taken), "of" | "into");
                return (!elsewhere).then(|| {
                    let skipped = if self.word(place + 1 + taken) == "time" { 1 } else { 0 };
                    (1 + taken + skipped, self.span_around(&self.shift_now(count, unit), count, unit))
                });
            }
            _ => {}
        }
        let (taken, count, unit) = self.parse_duration(place)?;
        match self.words::<2>(place + taken) {
            ["from", "now" | "today"] => Some((taken + 2, self.span_around(&self.shift_now(count, unit), count, unit))),
            ["from", "tomorrow"] if unit.approximate_seconds() >= 86_400 => {
                let day = day_after(self.shift_now(count, unit).date(), 1);
                Some((taken + 2, PhrasePiece::Days(day, day)))
            }
            _ => None,
        }
    }

    fn parse_next(&self, place: usize, skipped: usize) -> Option<(usize, PhrasePiece)> {
        let (taken, count, unit) = self.parse_length_of_time(place + skipped)?;
        let span = TimeSpan::new(self.now_at(), self.shift_now(count, unit).timestamp().into());
        Some((skipped + taken, PhrasePiece::Span(span, unit.approximate_seconds() < 86_400)))
    }

    /// Returns the span around a moment at a distance from now, as exact as its unit.
    fn span_around(&self, at: &Zoned, count: f64, unit: TimeUnit) -> PhrasePiece {
        let behind = at.timestamp() <= self.now.timestamp();
        match unit {
            TimeUnit::Second | TimeUnit::Minute | TimeUnit::Hour => {
                let mut tolerance = (duration_seconds(count, unit) * 0.5).max(duration_seconds(0.5, unit)).max(10.0);
                if self.mode != ParserMode::Question {
                    // A stated time needs less tolerance than a search.
                    tolerance = (duration_seconds(count, unit) * 0.1).clamp(1.0, 900.0);
                }
                let tolerance = Duration::from_secs_f64(tolerance);
                let (at, now) = (Timestamp::from(at.timestamp()), self.now_at());
                let (start, end) = (at.saturating_sub(tolerance), at.saturating_add(tolerance));
                PhrasePiece::Span(
                    if behind { TimeSpan::new(start, end.min(now)) } else { TimeSpan::new(start.max(now), end) },
                    true,
                )
            }
            TimeUnit::Day => PhrasePiece::Days(at.date(), at.date()),
            // "In two weeks" means a day, "two weeks ago" is vague.
            TimeUnit::Week if !behind && count < 4.0 => PhrasePiece::Days(at.date(), at.date()),
            TimeUnit::Week | TimeUnit::Month | TimeUnit::Year => {
                let around = (unit.approximate_seconds() / 86_400 / 2).days();
                let shift = |date: Date, by: jiff::Span| date.checked_add(by).unwrap_or(date);
                PhrasePiece::Days(shift(at.date(), -around), shift(at.date(), around))
            }
        }
    }

    /// Shifts now by a number of units, into the past for a negative count.
    fn shift_now(&self, count: f64, unit: TimeUnit) -> Zoned {
        #[expect(clippy::cast_possible_truncation, reason = "at most six digits")]
        let whole = count as i64;
        if count.fract() == 0.0 {
            unit.span_of(whole).map_or_else(|| self.now.clone(), |by| shift_clamped(self.now, by))
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "at most six digits and a year in seconds")]
            let seconds = duration_seconds(count, unit) as i64;
            Span::new().try_seconds(seconds).map_or_else(|_| self.now.clone(), |by| shift_clamped(self.now, by))
        }
    }
}

/// Converts a number of units to seconds.
pub(super) fn duration_seconds(count: f64, unit: TimeUnit) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "at most 31,536,000")]
    let unit = unit.approximate_seconds() as f64;
    count * unit
}

fn span_before(now: Timestamp, by: Duration) -> TimeSpan {
    TimeSpan::new(now.saturating_sub(by), now)
}
