//! Clock times: "15:30", "3 pm", "half past seven", "around noon", "between 9:15 and 10:45", "in the morning".

use super::TimeRelation;
use super::calendar::{DAY_S, HOUR_S, part_of_day_seconds};
use super::parser::{ClockHedge, LocatedPiece, Parser, ParserMode, PhrasePiece};
use super::tokens::Separator;
use crate::language::english::closed::{is_one_of, number_word};

/// A clock time as it was stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockTime {
    /// Seconds since midnight.
    pub at: i32,
    /// `false` before noon, `true` after noon, if stated.
    pub half: Option<bool>,
    /// Whether seconds are stated.
    pub seconds: bool,
    /// Whether it may mean twelve hours later.
    pub can_be_twelve_later: bool,
    /// Whether it is exact to the minute and not rounded.
    pub to_the_minute: bool,
    /// Whether it is written with a colon.
    pub colon: bool,
    /// Noon or midnight.
    pub named: bool,
}

impl ClockTime {
    /// Returns the seconds since midnight, by the half of the day if one is stated.
    pub fn as_told(self) -> i32 {
        match self.half {
            Some(true) if self.at < DAY_S / 2 => self.at + DAY_S / 2,
            Some(false) if self.at >= DAY_S / 2 && self.at < DAY_S => self.at - DAY_S / 2,
            _ => self.at,
        }
    }

    /// Returns whether it is midnight by name.
    pub fn is_midnight(self) -> bool {
        self.named && self.at == 0
    }
}

/// Number of words, clock time, and whether it is certainly a clock time.
pub(super) type ParsedClock = (usize, ClockTime, bool);

impl Parser<'_> {
    /// Parses a time of day with its prepositions and hedges.
    pub fn parse_time_of_day(&self, place: usize) -> Option<LocatedPiece> {
        let found = |taken, piece, weak| LocatedPiece {
            from: place,
            to: place + taken,
            piece,
            relation: TimeRelation::At,
            weak,
        };
        if let Some((taken, part)) = self.parse_part_of_day(place) {
            // "Morning, all of you" and "the parents' evening" are not times.
            let bare = self.mode == ParserMode::Telling && taken == 1;
            return Some(found(taken, PhrasePiece::Part(part.0, part.1), bare));
        }
        let skipped = usize::from(matches!(self.word(place), "between" | "from"));
        if let Some((taken, from, to, weak)) = self.parse_clock_range(place + skipped, skipped == 1) {
            return Some(found(skipped + taken, PhrasePiece::ClockRange(from, to), weak));
        }
        let (skipped, hedge) = self.parse_hedge(place);
        let at = usize::from(matches!(self.word(place + skipped), "at" | "exactly" | "precisely"));
        let exactly = usize::from(at == 1 && matches!(self.word(place + skipped + 1), "exactly" | "about" | "around"));
        let hedge =
            if exactly == 1 && self.word(place + skipped + 1) != "exactly" { ClockHedge::Around } else { hedge };
        let skipped = skipped + at + exactly;
        let (taken, clock, precise) = self.parse_clock(place + skipped)?;
        // "They come on Friday, four of them."
        if skipped == 0 && !precise && (self.word(place + taken) == "of" || self.follows_age_verb(place)) {
            return None;
        }
        // "For the one night", and not "on the seven thirty bus".
        if skipped == 0
            && !precise
            && taken == 1
            && is_one_of(self.word_before(place), &["the", "this", "that", "only"])
        {
            return None;
        }
        let spoken = skipped > 0 && self.cannot_be_counted(place + skipped + taken);
        Some(found(skipped + taken, PhrasePiece::Clock(clock, hedge), !precise && !spoken))
    }

    /// Returns whether a number says how old somebody is or becomes: "Emil turns five on Friday", "she'll be six".
    fn follows_age_verb(&self, place: usize) -> bool {
        let before = |back: usize| place.checked_sub(back).map_or("", |at| self.word(at));
        // "Seventy-four on Friday".
        if number_word(before(1)).is_some_and(|tens| tens >= 20.0) {
            return true;
        }
        match before(1) {
            "turn" | "turns" | "turned" | "turning" => true,
            "be" | "is" | "am" | "s" | "m" => (2..=3).any(|back| matches!(before(back), "he" | "she" | "i" | "who")),
            _ => false,
        }
    }

    /// Parses "around", "shortly before" or "a little after". Returns the number of words.
    fn parse_hedge(&self, place: usize) -> (usize, ClockHedge) {
        let (taken, which) = match self.words::<3>(place) {
            [
                "around" | "about" | "roughly" | "approximately" | "circa" | "towards" | "toward" | "near" | "nearly",
                ..,
            ] => {
                return (1, ClockHedge::Around);
            }
            ["shortly" | "just" | "right" | "soon" | "briefly" | "directly" | "immediately", which, _] => (2, which),
            ["a", "little" | "bit", which] => (3, which),
            ["a" | "some", "few" | "couple", _] => return (0, ClockHedge::Exact),
            _ => return (0, ClockHedge::Exact),
        };
        match which {
            "before" => (taken, ClockHedge::ShortlyBefore),
            "after" | "past" => (taken, ClockHedge::ShortlyAfter),
            _ => (0, ClockHedge::Exact),
        }
    }

    /// Parses "in the morning", "evening", "at night" or "at lunchtime".
    fn parse_part_of_day(&self, place: usize) -> Option<(usize, (i32, i32))> {
        let skipped = match self.words::<3>(place) {
            ["early" | "late", "in", "the"] => 3,
            ["in" | "during" | "on" | "for", "the", "early" | "late"] => 3,
            ["early" | "late", ..] => 1,
            ["in" | "during" | "on", "the", _] => 2,
            ["at", ..] => 1,
            _ => 0,
        };
        // "The morning room" and "night watch" are not times, but "Monday morning" is one.
        part_of_day_seconds(self.word(place + skipped)).map(|part| (skipped + 1, part))
    }

    /// Parses "9:15 to 10:45" or "3 and 4 pm" (after "between"). The flag says whether it is a time only next to a day.
    fn parse_clock_range(&self, place: usize, led: bool) -> Option<(usize, ClockTime, ClockTime, bool)> {
        let (taken, from, precise) = self.parse_clock(place)?;
        let to_place = place + taken;
        let dashed = self.gap(to_place) == Separator::Dash;
        let joins = match self.word(to_place) {
            "to" | "until" | "till" | "til" => 1,
            "and" if led => 1,
            _ if dashed => 0,
            _ => return None,
        };
        let (more, to, to_precise) = self.parse_clock(to_place + joins)?;
        let spoken = led && self.mode != ParserMode::Question && self.cannot_be_counted(to_place + joins + more);
        let weak = !precise && !to_precise && !spoken;
        // A number before a dash or "to" is ambiguous: "7 to 10 pm" needs a colon, a half or a lead.
        if !led && !precise && (dashed || !to_precise) && from.half.or(to.half).is_none() {
            return None;
        }
        let (from, to) = complete_range(from, to);
        Some((taken + joins + more, from, to, weak))
    }

    /// Parses a clock time.
    pub fn parse_clock(&self, place: usize) -> Option<ParsedClock> {
        let word = self.word(place);
        let named = |at: i32| ClockTime {
            at,
            half: Some(at > 0),
            seconds: false,
            can_be_twelve_later: false,
            to_the_minute: false,
            colon: false,
            named: true,
        };
        match word {
            "noon" | "midday" => return Some((1, named(DAY_S / 2), true)),
            "midnight" => return Some((1, named(0), true)),
            _ => {}
        }
        let (taken, clock, precise) = self
            .parse_past_or_to(place)
            .or_else(|| self.parse_digits(place))
            .or_else(|| self.parse_hour_in_words(place))?;
        let (more, half) = self.parse_half_of_day(place + taken);
        let clock_word = more > 0 && half.is_none();
        let valid = half.is_none() || (1..=12).contains(&(clock.at / HOUR_S)) || clock.at / HOUR_S == 0;
        if !valid {
            return Some((taken, clock, precise));
        }
        let twelve = half.is_none() && clock.can_be_twelve_later;
        Some((
            taken + more,
            ClockTime { half, can_be_twelve_later: twelve, ..clock },
            precise || half.is_some() || clock_word,
        ))
    }

    /// Parses "am", "p.m.", "o'clock" or "h". Returns the number of words.
    fn parse_half_of_day(&self, place: usize) -> (usize, Option<bool>) {
        match self.words::<2>(place) {
            ["am", _] => (1, Some(false)),
            ["pm", _] => (1, Some(true)),
            ["a", "m"] => (2, Some(false)),
            ["p", "m"] => (2, Some(true)),
            ["o", "clock"] => match self.parse_half_of_day(place + 2) {
                (more, Some(half)) => (2 + more, Some(half)),
                _ => (2, None),
            },
            ["oclock", _] => (1, None),
            _ => (0, None),
        }
    }

    /// Parses "15:30", "15:30:12", "15.30" or "3".
    fn parse_digits(&self, place: usize) -> Option<ParsedClock> {
        let word = self.word(place);
        if !word.as_bytes().first()?.is_ascii_digit() || word.len() > 15 {
            return None;
        }
        let colon = word.contains(':');
        let (whole, dotted) = match word.split_once('.') {
            // Fractions of a second are dropped. 15.30 is a time, 3.5 is not.
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
        let at = hour * HOUR_S + minute * 60 + second.unwrap_or(0);
        if at > DAY_S || (!colon && !dotted && hour == 0) {
            return None;
        }
        let zero = whole.starts_with('0');
        // A statement such as "the lesson is at 3:30" rarely means the night.
        let twelve = if colon || dotted {
            self.mode == ParserMode::Telling && !zero && (1..=5).contains(&hour)
        } else {
            (1..=12).contains(&hour)
        };
        let to_the_minute = minute % 5 != 0;
        let clock = ClockTime {
            at,
            half: None,
            seconds: second.is_some(),
            can_be_twelve_later: twelve,
            to_the_minute,
            colon,
            named: false,
        };
        // A bare number beyond twelve needs a word such as "h" after it.
        let plain = !colon && !dotted;
        if plain && hour > 12 && self.parse_half_of_day(place + 1).0 == 0 {
            return None;
        }
        Some((1, clock, colon))
    }
}

/// Completes the halves of the day of a range: "between 3 and 4 pm", "from 11 to 1 pm", "from nine to five".
fn complete_range(mut from: ClockTime, mut to: ClockTime) -> (ClockTime, ClockTime) {
    if to.is_midnight() {
        to.at = DAY_S;
        to.half = None;
    }
    if from.half.is_none() && to.half.is_some() && from.can_be_twelve_later {
        from.half = to.half;
        if from.as_told() > to.as_told() {
            from.half = to.half.map(|half| !half);
        }
        from.can_be_twelve_later = false;
    }
    if to.half.is_none() && from.half.is_some() && to.can_be_twelve_later {
        to.half = from.half;
        if from.as_told() > to.as_told() {
            to.half = from.half.map(|half| !half);
        }
        to.can_be_twelve_later = false;
    }
    (from, to)
}
