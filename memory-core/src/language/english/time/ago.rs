//! Distances from now: "ten minutes ago", "in the last hour", "in two days", "a week from today".

use std::time::Duration;

use jiff::civil::Date;
use jiff::{Span, ToSpan, Zoned};

use super::Tense;
use super::calendar::{Unit, day_after, shifted};
use super::numbers::whole_number;
use super::parser::{Mode, Parser, Piece};
use crate::{TimeSpan, Timestamp};

impl Parser<'_> {
    /// A count before a unit: "ten", "a", "a couple of", "half an", "about 5", "2.5". Returns the words taken and the
    /// number.
    pub fn count(&self, place: usize) -> Option<(usize, f64)> {
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
            ["several", ..] => (1, 4.0),
            ["a" | "an" | "one", "hour" | "day" | "week" | "month" | "year" | "minute", "and", "a"]
                if self.word(place + 4) == "half" =>
            {
                return None;
            }
            ["a" | "an", ..] => (1, 1.0),
            _ => {
                let (taken, count) = self.amount(place)?;
                match self.words::<3>(place + taken) {
                    ["and", "a", "half"] => (taken + 3, count + 0.5),
                    _ => (taken, count),
                }
            }
        };
        Some((skipped + taken, count))
    }

    fn amount(&self, place: usize) -> Option<(usize, f64)> {
        if let Some((whole, part)) = self.word(place).split_once('.')
            && whole.len() <= 4
            && part.len() <= 3
        {
            return self.word(place).parse().ok().map(|count| (1, count));
        }
        let (taken, count) = whole_number(self.rest(place))?;
        #[expect(clippy::cast_precision_loss, reason = "at most six digits")]
        let count = count as f64;
        Some((taken, count))
    }

    /// A length of time: words taken, count and unit ("ten minutes", "an hour and a half").
    fn length(&self, place: usize) -> Option<(usize, f64, Unit)> {
        if let ["a" | "an" | "one", unit, "and", "a", "half"] = self.words::<5>(place) {
            return Unit::of(unit).map(|unit| (5, 1.5, unit));
        }
        let (taken, count) = self.count(place)?;
        Unit::of(self.word(place + taken)).map(|unit| (taken + 1, count, unit))
    }

    /// "ten minutes ago", "in the last hour", "just now".
    pub fn ago(&self, place: usize) -> Option<(usize, Piece)> {
        let now = self.now_at();
        let back = |seconds: u64| Piece::Span(before(now, Duration::from_secs(seconds)), true);
        match self.words::<4>(place) {
            ["just" | "right", "now", ..] => return Some((2, back(120))),
            ["a", "moment", "ago", ..] => return Some((3, back(180))),
            ["moments", "ago", ..] => return Some((2, back(180))),
            ["a", "while", "ago", _] => return Some((3, back(6 * 3_600))),
            ["the", "last" | "past", ..] | ["in" | "over" | "during" | "within" | "for", "the", "last" | "past", _] => {
                let skipped = if self.word(place) == "the" { 2 } else { 3 };
                return self.last(place, skipped);
            }
            _ => {}
        }
        let (taken, count, unit) = self.length(place)?;
        if !matches!(self.word(place + taken), "ago") {
            return None;
        }
        Some((taken + 1, self.around(&self.shift(-count, unit), count, unit)))
    }

    fn last(&self, place: usize, skipped: usize) -> Option<(usize, Piece)> {
        let (taken, count) = self.count(place + skipped).unwrap_or((0, 1.0));
        let unit = Unit::of(self.word(place + skipped + taken))?;
        // "the last week of August" is not about now.
        if self.word(place + skipped + taken + 1) == "of" {
            return None;
        }
        let start = self.shift(-count, unit);
        let span = TimeSpan::new(start.timestamp().into(), self.now_at());
        Some((skipped + taken + 1, Piece::Span(span, unit.seconds() < 86_400)))
    }

    /// "in two days", "in half an hour", "two weeks from now", "within the next hour", "in the next few days".
    pub fn ahead(&self, place: usize) -> Option<(usize, Piece)> {
        // What was done "in two days" took them.
        let possible = self.tense != Tense::Past;
        match self.words::<3>(place) {
            ["in" | "over" | "during" | "within" | "for", "the", "next" | "coming"] if possible => {
                return self.next(place, 3);
            }
            ["the", "next" | "coming", _] if possible => {
                let (taken, piece) = self.next(place, 2)?;
                // "the next day" is told from another day.
                return (taken > 3).then_some((taken, piece));
            }
            ["within", ..] if possible => {
                let (taken, count, unit) = self.length(place + 1)?;
                let span = TimeSpan::new(self.now_at(), self.shift(count, unit).timestamp().into());
                return Some((taken + 1, Piece::Span(span, unit.seconds() < 86_400)));
            }
            ["in", ..] if possible => {
                let (taken, count, unit) = self.length(place + 1)?;
                // "in two minutes of silence", "in the session" and "in a day or so" are told from elsewhere.
                let elsewhere = matches!(self.word(place + 1 + taken), "of" | "into");
                return (!elsewhere).then(|| {
                    let skipped = if self.word(place + 1 + taken) == "time" { 1 } else { 0 };
                    (1 + taken + skipped, self.around(&self.shift(count, unit), count, unit))
                });
            }
            _ => {}
        }
        let (taken, count, unit) = self.length(place)?;
        match self.words::<2>(place + taken) {
            ["from", "now" | "today"] => Some((taken + 2, self.around(&self.shift(count, unit), count, unit))),
            ["from", "tomorrow"] if unit.seconds() >= 86_400 => {
                let day = day_after(self.shift(count, unit).date(), 1);
                Some((taken + 2, Piece::Days(day, day)))
            }
            _ => None,
        }
    }

    fn next(&self, place: usize, skipped: usize) -> Option<(usize, Piece)> {
        let (taken, count) = self.count(place + skipped).unwrap_or((0, 1.0));
        let unit = Unit::of(self.word(place + skipped + taken))?;
        let span = TimeSpan::new(self.now_at(), self.shift(count, unit).timestamp().into());
        Some((skipped + taken + 1, Piece::Span(span, unit.seconds() < 86_400)))
    }

    /// What a distance from now means, as exact as its unit.
    fn around(&self, at: &Zoned, count: f64, unit: Unit) -> Piece {
        let behind = at.timestamp() <= self.now.timestamp();
        match unit {
            Unit::Second | Unit::Minute | Unit::Hour => {
                let mut tolerance = (seconds(count, unit) * 0.5).max(seconds(0.5, unit)).max(10.0);
                if self.mode != Mode::Question {
                    // A time told is worth quoting, a search wants to find.
                    tolerance = (seconds(count, unit) * 0.1).clamp(1.0, 900.0);
                }
                let tolerance = Duration::from_secs_f64(tolerance);
                let (at, now) = (Timestamp::from(at.timestamp()), self.now_at());
                let (start, end) = (at.saturating_sub(tolerance), at.saturating_add(tolerance));
                Piece::Span(
                    if behind { TimeSpan::new(start, end.min(now)) } else { TimeSpan::new(start.max(now), end) },
                    true,
                )
            }
            Unit::Day => Piece::Days(at.date(), at.date()),
            // "In two weeks" is told as a day, "two weeks ago" is a memory.
            Unit::Week if !behind && count < 4.0 => Piece::Days(at.date(), at.date()),
            Unit::Week | Unit::Month | Unit::Year => {
                let around = (unit.seconds() / 86_400 / 2).days();
                let shift = |date: Date, by: jiff::Span| date.checked_add(by).unwrap_or(date);
                Piece::Days(shift(at.date(), -around), shift(at.date(), around))
            }
        }
    }

    /// Now, so many units later, or earlier for a count below zero.
    fn shift(&self, count: f64, unit: Unit) -> Zoned {
        #[expect(clippy::cast_possible_truncation, reason = "at most six digits")]
        let whole = count as i64;
        if count.fract() == 0.0 {
            unit.times(whole).map_or_else(|| self.now.clone(), |by| shifted(self.now, by))
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "at most six digits and a year in seconds")]
            let seconds = seconds(count, unit) as i64;
            Span::new().try_seconds(seconds).map_or_else(|_| self.now.clone(), |by| shifted(self.now, by))
        }
    }
}

/// So many units in seconds.
pub(super) fn seconds(count: f64, unit: Unit) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "at most 31,536,000")]
    let unit = unit.seconds() as f64;
    count * unit
}

fn before(now: Timestamp, by: Duration) -> TimeSpan {
    TimeSpan::new(now.saturating_sub(by), now)
}
