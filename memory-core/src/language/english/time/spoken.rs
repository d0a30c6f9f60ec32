//! Times on the clock told in words: "seven thirty", "half past seven", "five to ten".

use super::calendar::{DAY, HOUR};
use super::clock::{Clock, Read};
use super::numbers::{number, whole_number};
use super::parser::Parser;
use super::tokens::Gap;

impl Parser<'_> {
    /// "seven", "seven thirty", "ten oh five".
    pub fn hour_in_words(&self, place: usize) -> Option<Read> {
        let (hour, at) = self.spoken_hour(place)?;
        if hour != 1 {
            return None;
        }
        let mut taken = 1;
        let mut minute = 0;
        if self.gap(place + 1) == Gap::Space {
            if matches!(self.word(place + 1), "oh" | "o") {
                if let Some(units @ 1..10) = number(self.word(place + 2)) {
                    (taken, minute) = (3, units);
                }
            } else if !self.word(place + 1).starts_with(|first: char| first.is_ascii_digit())
                && let Some((more, value @ 10..60)) = whole_number(self.rest(place + 1))
                && self.word(place + 1) != "dozen"
            {
                (taken, minute) = (1 + more, value);
            }
        }
        let minute = i32::try_from(minute).ok()?;
        let clock = spoken(at + minute * 60);
        Some((taken, clock, false))
    }

    /// An hour told by a word or by digits from one to twelve: words taken, seconds since midnight.
    fn spoken_hour(&self, place: usize) -> Option<(usize, i32)> {
        match self.word(place) {
            "noon" | "midday" => return Some((1, DAY / 2)),
            "midnight" => return Some((1, 0)),
            "once" | "twice" | "dozen" => return None,
            _ => {}
        }
        let hour = number(self.word(place)).filter(|hour| (1..=12).contains(hour))?;
        Some((1, i32::try_from(hour).ok()? * HOUR))
    }

    /// "half past seven", "a quarter to ten", "five to seven", "twenty minutes past six".
    pub fn past_or_to(&self, place: usize) -> Option<Read> {
        let (taken, minutes, sure) = match self.words::<3>(place) {
            ["half", "past" | "after", _] => (1, 30, true),
            ["half", _, _] => {
                let (more, at) = self.spoken_hour(place + 1)?;
                let said =
                    matches!(self.word_before(place), "at" | "around" | "about" | "until" | "by" | "before" | "after");
                return said.then(|| (1 + more, spoken(at + 30 * 60), false));
            }
            ["a", "quarter", _] => (2, 15, true),
            ["quarter", ..] => (1, 15, true),
            _ => {
                let (taken, value) = whole_number(self.rest(place)).filter(|(_, value)| (1..30).contains(value))?;
                if matches!(self.word(place + taken), "minutes" | "minute") {
                    (taken + 1, value, true)
                } else {
                    (taken, value, false)
                }
            }
        };
        let minutes = i32::try_from(minutes).ok()?;
        if (1..taken).any(|offset| matches!(self.gap(place + offset), Gap::Stop | Gap::Comma)) {
            return None;
        }
        let (more, hour) = self.spoken_hour(place + taken + 1)?;
        let at = match self.word(place + taken) {
            "past" => hour + minutes * 60,
            "to" | "of" | "till" => hour - minutes * 60,
            "after" if sure => hour + minutes * 60,
            "before" if sure => hour - minutes * 60,
            _ => return None,
        };
        // "five to seven" may be a range, "five past seven" cannot; "three of seven" is a share.
        let divisible = minutes % 5 == 0;
        let past = self.word(place + taken) == "past";
        if !sure && (!divisible && !past || self.word(place + taken) == "of") {
            return None;
        }
        let clock = Clock { half: None, ..spoken(at.rem_euclid(DAY)) };
        Some((taken + 1 + more, clock, sure || past))
    }
}

/// A time told in words, which may be meant twelve hours later.
fn spoken(at: i32) -> Clock {
    Clock {
        at,
        half: None,
        seconds: false,
        twelve: at < 13 * HOUR,
        to_the_minute: at / 60 % 5 != 0,
        colon: false,
        named: false,
    }
}
