//! Times on the clock: "15:30", "3 pm", "half past seven", "around noon", "between 9:15 and 10:45", "in the morning".

use super::Relation;
use super::calendar::{DAY, HOUR, part_of_day};
use super::parser::{Found, Hedge, Mode, Parser, Piece};
use super::tokens::Gap;

/// A time on the clock as it was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    /// Seconds since midnight.
    pub at: i32,
    /// Whether it is before (false) or after noon (true), where that is told.
    pub half: Option<bool>,
    /// Whether it is told to the second.
    pub seconds: bool,
    /// Whether it may be meant twelve hours later.
    pub twelve: bool,
    /// Whether it is told to the minute, and not as a rounded time.
    pub to_the_minute: bool,
    /// Whether it is told with a colon.
    pub colon: bool,
    /// Noon or midnight.
    pub named: bool,
}

impl Clock {
    /// Seconds since midnight where the half of the day is told or needs none.
    pub fn as_told(self) -> i32 {
        match self.half {
            Some(true) if self.at < DAY / 2 => self.at + DAY / 2,
            Some(false) if self.at >= DAY / 2 && self.at < DAY => self.at - DAY / 2,
            _ => self.at,
        }
    }

    /// Whether it is midnight by name.
    pub fn is_midnight(self) -> bool {
        self.named && self.at == 0
    }
}

/// A clock time with the words it takes; whether it is one beyond doubt.
pub(super) type Read = (usize, Clock, bool);

impl Parser<'_> {
    /// A time of day with what stands in front of it.
    pub fn time_of_day(&self, place: usize) -> Option<Found> {
        let found = |taken, piece, weak| Found { from: place, to: place + taken, piece, relation: Relation::At, weak };
        if let Some((taken, part)) = self.part_of_any_day(place) {
            // "Morning, all of you" and "the parents' evening" are no times of a sentence.
            let bare = self.mode == Mode::Telling && taken == 1;
            return Some(found(taken, Piece::Part(part.0, part.1), bare));
        }
        let skipped = usize::from(matches!(self.word(place), "between" | "from"));
        if let Some((taken, from, to, weak)) = self.clock_range(place + skipped, skipped == 1) {
            return Some(found(skipped + taken, Piece::ClockRange(from, to), weak));
        }
        let (skipped, hedge) = self.hedge(place);
        let at = usize::from(matches!(self.word(place + skipped), "at" | "exactly" | "precisely"));
        let exactly = usize::from(at == 1 && matches!(self.word(place + skipped + 1), "exactly" | "about" | "around"));
        let hedge = if exactly == 1 && self.word(place + skipped + 1) != "exactly" { Hedge::Around } else { hedge };
        let skipped = skipped + at + exactly;
        let (taken, clock, precise) = self.clock(place + skipped)?;
        let spoken = skipped > 0 && self.ends_number(place + skipped + taken);
        Some(found(skipped + taken, Piece::Clock(clock, hedge), !precise && !spoken))
    }

    /// "around", "shortly before", "a little after". Returns the words it takes.
    fn hedge(&self, place: usize) -> (usize, Hedge) {
        let (taken, which) = match self.words::<3>(place) {
            [
                "around" | "about" | "roughly" | "approximately" | "circa" | "towards" | "toward" | "near" | "nearly",
                ..,
            ] => {
                return (1, Hedge::Around);
            }
            ["shortly" | "just" | "right" | "soon" | "briefly" | "directly" | "immediately", which, _] => (2, which),
            ["a", "little" | "bit", which] => (3, which),
            ["a" | "some", "few" | "couple", _] => return (0, Hedge::Exact),
            _ => return (0, Hedge::Exact),
        };
        match which {
            "before" => (taken, Hedge::ShortlyBefore),
            "after" | "past" => (taken, Hedge::ShortlyAfter),
            _ => (0, Hedge::Exact),
        }
    }

    /// "in the morning", "evening", "at night", "at lunchtime".
    fn part_of_any_day(&self, place: usize) -> Option<(usize, (i32, i32))> {
        let skipped = match self.words::<3>(place) {
            ["early" | "late", "in", "the"] => 3,
            ["in" | "during" | "on" | "for", "the", "early" | "late"] => 3,
            ["early" | "late", ..] => 1,
            ["in" | "during" | "on", "the", _] => 2,
            ["at", ..] => 1,
            _ => 0,
        };
        // "the morning room" and "night watch" are no times, but "Monday morning" is one.
        part_of_day(self.word(place + skipped)).map(|part| (skipped + 1, part))
    }

    /// "9:15 to 10:45", "3 and 4 pm" (after "between"). The third part says whether it is a time only beside a day.
    fn clock_range(&self, place: usize, led: bool) -> Option<(usize, Clock, Clock, bool)> {
        let (taken, from, precise) = self.clock(place)?;
        let to_place = place + taken;
        let dashed = self.gap(to_place) == Gap::Dash;
        let joins = match self.word(to_place) {
            "to" | "until" | "till" | "til" => 1,
            "and" if led => 1,
            _ if dashed => 0,
            _ => return None,
        };
        let (more, to, to_precise) = self.clock(to_place + joins)?;
        let spoken = led && self.mode != Mode::Question && self.ends_number(to_place + joins + more);
        let weak = !precise && !to_precise && !spoken;
        // A number in front of a dash or "to" may be anything: "7 to 10 pm" needs a colon, a half or a lead.
        if !led && !precise && (dashed || !to_precise) && from.half.or(to.half).is_none() {
            return None;
        }
        let (from, to) = ordered(from, to);
        Some((taken + joins + more, from, to, weak))
    }

    /// A time on the clock.
    pub fn clock(&self, place: usize) -> Option<Read> {
        let word = self.word(place);
        let named = |at: i32| Clock {
            at,
            half: Some(at > 0),
            seconds: false,
            twelve: false,
            to_the_minute: false,
            colon: false,
            named: true,
        };
        match word {
            "noon" | "midday" => return Some((1, named(DAY / 2), true)),
            "midnight" => return Some((1, named(0), true)),
            _ => {}
        }
        let (taken, clock, precise) =
            self.past_or_to(place).or_else(|| self.digits(place)).or_else(|| self.hour_in_words(place))?;
        let (more, half) = self.half_of_day(place + taken);
        let clock_word = more > 0 && half.is_none();
        let valid = half.is_none() || (1..=12).contains(&(clock.at / HOUR)) || clock.at / HOUR == 0;
        if !valid {
            return Some((taken, clock, precise));
        }
        let twelve = half.is_none() && clock.twelve;
        Some((taken + more, Clock { half, twelve, ..clock }, precise || half.is_some() || clock_word))
    }

    /// "am", "p.m.", "o'clock", "h". Returns the words it takes.
    fn half_of_day(&self, place: usize) -> (usize, Option<bool>) {
        match self.words::<2>(place) {
            ["am", _] => (1, Some(false)),
            ["pm", _] => (1, Some(true)),
            ["a", "m"] => (2, Some(false)),
            ["p", "m"] => (2, Some(true)),
            ["o", "clock"] => match self.half_of_day(place + 2) {
                (more, Some(half)) => (2 + more, Some(half)),
                _ => (2, None),
            },
            ["oclock", _] => (1, None),
            _ => (0, None),
        }
    }

    /// "15:30", "15:30:12", "15.30", "3".
    fn digits(&self, place: usize) -> Option<Read> {
        let word = self.word(place);
        if !word.as_bytes().first()?.is_ascii_digit() || word.len() > 15 {
            return None;
        }
        let colon = word.contains(':');
        let (whole, dotted) = match word.split_once('.') {
            // Fractions of a second are left out; 15.30 is a time, 3.5 is none.
            Some((whole, _)) if colon => (whole, false),
            Some((hour, minute)) if hour.len() <= 2 && minute.len() == 2 => (word, !hour.is_empty()),
            Some(_) => return None,
            None => (word, false),
        };
        let mut parts = whole.split([':', '.']);
        let mut part = |width: std::ops::RangeInclusive<usize>| {
            let part = parts.next()?;
            width.contains(&part.len()).then(|| part.parse::<i32>().ok()).flatten()
        };
        let hour = part(1..=2)?;
        let minute = if colon || dotted { part(2..=2)? } else { 0 };
        let second = part(2..=2);
        if parts.next().is_some() || minute > 59 || second.is_some_and(|second| second > 59) {
            return None;
        }
        let at = hour * HOUR + minute * 60 + second.unwrap_or(0);
        if at > DAY || (!colon && !dotted && hour == 0) {
            return None;
        }
        let zero = whole.starts_with('0');
        // In a sentence told, "the lesson is at 3:30" is rarely meant in the night.
        let twelve = if colon || dotted {
            self.mode == Mode::Telling && !zero && (1..=5).contains(&hour)
        } else {
            (1..=12).contains(&hour)
        };
        let to_the_minute = minute % 5 != 0;
        let clock = Clock { at, half: None, seconds: second.is_some(), twelve, to_the_minute, colon, named: false };
        // A bare number beyond twelve is a time only with more.
        let plain = !colon && !dotted;
        if plain && hour > 12 && self.half_of_day(place + 1).0 == 0 {
            return None;
        }
        Some((1, clock, colon))
    }
}

/// The ends of a range with their halves of the day: "between 3 and 4 pm", "from 11 to 1 pm", "from nine to five".
fn ordered(mut from: Clock, mut to: Clock) -> (Clock, Clock) {
    if to.is_midnight() {
        to.at = DAY;
        to.half = None;
    }
    if from.half.is_none() && to.half.is_some() && from.twelve {
        from.half = to.half;
        if from.as_told() > to.as_told() {
            from.half = to.half.map(|half| !half);
        }
        from.twelve = false;
    }
    if to.half.is_none() && from.half.is_some() && to.twelve {
        to.half = from.half;
        if from.as_told() > to.as_told() {
            to.half = from.half.map(|half| !half);
        }
        to.twelve = false;
    }
    (from, to)
}
