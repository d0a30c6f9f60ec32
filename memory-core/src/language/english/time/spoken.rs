//! Parses clock times in words: "seven thirty", "half past seven", "five to ten".

use super::calendar::{DAY_S, HOUR_S};
use super::clock::{ClockTime, ParsedClock};
use super::numbers::{leading_number, parse_number};
use super::parser::Parser;
use super::tokens::Separator;

impl Parser<'_> {
    /// Parses "seven", "seven thirty" or "ten oh five".
    pub fn parse_hour_in_words(&self, place: usize) -> Option<ParsedClock> {
        let (hour, at) = self.parse_spoken_hour(place)?;
        if hour != 1 {
            return None;
        }
        let mut taken = 1;
        let mut minute = 0;
        if self.gap(place + 1) == Separator::Space {
            if matches!(self.word(place + 1), "oh" | "o") {
                if let Some(units @ 1..10) = parse_number(self.word(place + 2)) {
                    (taken, minute) = (3, units);
                }
            } else if !self.word(place + 1).starts_with(|first: char| first.is_ascii_digit())
                && let Some((more, value @ 10..60)) = leading_number(self.rest(place + 1))
                && self.word(place + 1) != "dozen"
            {
                (taken, minute) = (1 + more, value);
            }
        }
        let minute = i32::try_from(minute).ok()?;
        let clock = spoken_clock(at + minute * 60);
        Some((taken, clock, false))
    }

    /// Parses an hour in words or in digits from one to twelve. Returns the number of words and the seconds since
    /// midnight.
    fn parse_spoken_hour(&self, place: usize) -> Option<(usize, i32)> {
        match self.word(place) {
            "noon" | "midday" => return Some((1, DAY_S / 2)),
            "midnight" => return Some((1, 0)),
            "once" | "twice" | "dozen" => return None,
            _ => {}
        }
        let hour = parse_number(self.word(place)).filter(|hour| (1..=12).contains(hour))?;
        Some((1, i32::try_from(hour).ok()? * HOUR_S))
    }

    /// Parses "half past seven", "a quarter to ten", "five to seven" or "twenty minutes past six".
    pub fn parse_past_or_to(&self, place: usize) -> Option<ParsedClock> {
        let (taken, minutes, sure) = match self.words::<3>(place) {
            ["half", "past" | "after", _] => (1, 30, true),
            ["half", _, _] => {
                let (more, at) = self.parse_spoken_hour(place + 1)?;
                let said =
                    matches!(self.word_before(place), "at" | "around" | "about" | "until" | "by" | "before" | "after");
                return said.then(|| (1 + more, spoken_clock(at + 30 * 60), false));
            }
            ["a", "quarter", _] => (2, 15, true),
            ["quarter", ..] => (1, 15, true),
            _ => {
                let (taken, value) = leading_number(self.rest(place)).filter(|(_, value)| (1..30).contains(value))?;
                if matches!(self.word(place + taken), "minutes" | "minute") {
                    (taken + 1, value, true)
                } else {
                    (taken, value, false)
                }
            }
        };
        let minutes = i32::try_from(minutes).ok()?;
        if (1..taken).any(|offset| matches!(self.gap(place + offset), Separator::Stop | Separator::Comma)) {
            return None;
        }
        let (more, hour) = self.parse_spoken_hour(place + taken + 1)?;
        let at = match self.word(place + taken) {
            "past" => hour + minutes * 60,
            "to" | "of" | "till" => hour - minutes * 60,
            "after" if sure => hour + minutes * 60,
            "before" if sure => hour - minutes * 60,
            _ => return None,
        };
        // "Five to seven" may be a range, "five past seven" cannot. "Three of seven" is a share.
        let divisible = minutes % 5 == 0;
        let past = self.word(place + taken) == "past";
        if !sure && (!divisible && !past || self.word(place + taken) == "of") {
            return None;
        }
        let clock = ClockTime { half: None, ..spoken_clock(at.rem_euclid(DAY_S)) };
        Some((taken + 1 + more, clock, sure || past))
    }
}

/// Returns a clock time in words, which may mean twelve hours later.
fn spoken_clock(at: i32) -> ClockTime {
    ClockTime {
        at,
        half: None,
        seconds: false,
        can_be_twelve_later: at < 13 * HOUR_S,
        to_the_minute: at / 60 % 5 != 0,
        colon: false,
        named: false,
    }
}
