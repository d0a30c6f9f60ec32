//! Parses days and periods relative to today: "yesterday", "tomorrow morning", "tonight", "this week", "next summer",
//! "the other day".

use jiff::ToSpan;
use jiff::civil::Date;

use super::Tense;
use super::calendar::{HOUR_S, day_after, first_month_of_season, moment_at, part_of_day_seconds};
use super::parser::{Parser, ParserMode, PhrasePiece};
use crate::{TimeSpan, Timestamp};

/// Maximum number of words of a noun phrase of which the first or last is asked for.
const MAX_ORDERED_WORDS: usize = 5;

impl Parser<'_> {
    /// Parses "today", "yesterday", "last night", "this morning" or "the day after tomorrow".
    pub fn parse_relative_day(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        let one = |taken: usize, offset: i64| Some((taken, PhrasePiece::Days(self.day(offset), self.day(offset))));
        let hours = |taken: usize, offset: i64, from: i32, to: i32| {
            Some((taken, PhrasePiece::PartOfDay(self.day(offset), (from * HOUR_S, to * HOUR_S))))
        };
        match self.words::<4>(place) {
            ["the", "day", "before", "yesterday"] => one(4, -2),
            ["the", "day", "after", "tomorrow"] => one(4, 2),
            ["day", "before", "yesterday", _] => one(3, -2),
            ["day", "after", "tomorrow", _] => one(3, 2),
            ["the", "other", "day", _] => Some((3, PhrasePiece::Days(self.day(-7), self.day(-1)))),
            ["yesterday", "s", ..] => one(2, -1),
            ["today" | "tomorrow", "s", ..] => one(2, i64::from(self.word(place) == "tomorrow")),
            ["yesterday", ..] => one(1, -1),
            ["today", ..] => one(1, 0),
            ["tomorrow", ..] => one(1, 1),
            ["earlier", "today", ..] => Some((2, PhrasePiece::Span(self.span_so_far_today(), false))),
            ["later", "today" | "tonight", ..] => Some((2, PhrasePiece::Span(self.span_of_rest_of_today(), false))),
            ["tonight", ..] => hours(1, 0, 17, 29),
            // Before five in the morning, this is the night that is still going on.
            ["last", "night", ..] => hours(2, -1, 18, 29),
            ["of", "the" | "this", "day", _] if self.follows_order(place) => one(3, 0),
            ["of" | "in", "the" | "this", part, _] if self.follows_order(place) => {
                self.latest_part_of_day(part).map(|piece| (3, piece))
            }
            ["later", "this", part, _] => self.part_of_relative_day(part, 0).map(|piece| (3, piece)),
            ["this", part, ..] => self.part_of_relative_day(part, 0).map(|piece| (2, piece)),
            ["during", "the", "night", _] if self.tense == Tense::Past => hours(3, -1, 20, 29),
            ["in", "the", "night", _] if self.tense == Tense::Past && self.word(place + 3).is_empty() => {
                hours(3, -1, 20, 29)
            }
            _ => None,
        }
    }

    fn part_of_relative_day(&self, part: &str, offset: i64) -> Option<PhrasePiece> {
        part_of_day_seconds(part).map(|part| PhrasePiece::PartOfDay(self.day(offset), part))
    }

    /// Returns whether a question asks for the first or the last of something right before a position: "the first guest".
    fn follows_order(&self, place: usize) -> bool {
        let noun = (place.saturating_sub(MAX_ORDERED_WORDS)..place).rev();
        let orders = |word: &str| matches!(word, "first" | "last" | "earliest" | "latest");
        self.mode == ParserMode::Question && noun.skip(1).any(|at| orders(self.word(at)))
    }

    /// Returns a part of today, or of yesterday if it has not begun today.
    fn latest_part_of_day(&self, part: &str) -> Option<PhrasePiece> {
        let (from, to) = part_of_day_seconds(part)?;
        let begun = moment_at(self.today(), from, &self.zone) <= self.now_at();
        Some(PhrasePiece::PartOfDay(self.day(if begun { 0 } else { -1 }), (from, to)))
    }

    fn span_so_far_today(&self) -> TimeSpan {
        TimeSpan::new(moment_at(self.today(), 0, &self.zone), self.now_at())
    }

    fn span_of_rest_of_today(&self) -> TimeSpan {
        let midnight = moment_at(self.today(), 24 * HOUR_S - 1, &self.zone);
        TimeSpan::new(self.now_at(), midnight.max(self.now_at()))
    }

    /// Parses "this week", "last month", "next summer" or "at the weekend".
    pub fn parse_relative_period(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        let today = self.today();
        let monday = self.day(-i64::from(today.weekday().to_monday_zero_offset()));
        let (skipped, steps) = match self.words::<3>(place) {
            ["early" | "late" | "later" | "earlier", "this", _] => (2, 0),
            ["this", ..] => (1, 0),
            ["last" | "previous", ..] => (1, 1),
            ["next", ..] => (1, -1),
            ["the", "coming" | "following", _] => (2, -1),
            ["the", "weekend", _] if self.word_before(place) != "of" => {
                // The weekend of this week; in the past tense and before Saturday, the previous one.
                let saturday = day_after(
                    monday,
                    if self.tense == Tense::Past && self.day(0) < day_after(monday, 5) { -2 } else { 5 },
                );
                return Some((2, PhrasePiece::Days(saturday, day_after(saturday, 1))));
            }
            _ => return None,
        };
        let shift = |date: Date, by: jiff::Span| date.checked_add(by).unwrap_or(date);
        let piece = match self.word(place + skipped) {
            "week" => {
                let first = day_after(monday, -7 * steps);
                PhrasePiece::Days(first, day_after(first, 6))
            }
            "weekend" => {
                let saturday = day_after(monday, 5 - 7 * steps);
                PhrasePiece::Days(saturday, day_after(saturday, 1))
            }
            "month" => {
                let first = shift(today.first_of_month(), (-steps).months());
                PhrasePiece::Days(first, first.last_of_month())
            }
            "year" => {
                let first = shift(today.first_of_year(), (-steps).years());
                PhrasePiece::Days(first, first.last_of_year())
            }
            "night" | "morning" | "evening" | "afternoon" => return None,
            what => self.season_piece(first_month_of_season(what)?, steps)?,
        };
        Some((skipped + 1, piece))
    }

    /// Returns the season of this year, or the previous or next one with its name.
    fn season_piece(&self, first_month: i8, steps: i64) -> Option<PhrasePiece> {
        let today = self.today();
        let shift = |date: Date, by: jiff::Span| date.checked_add(by).unwrap_or(date);
        let end = |first: Date| shift(first, 2.months()).last_of_month();
        let mut first = Date::new(today.year(), first_month, 1).ok()?;
        if steps < 0 {
            if first <= today {
                first = shift(first, 1.year());
            }
            return Some(PhrasePiece::Days(first, end(first)));
        }
        if first > today && self.tense != Tense::Future {
            first = shift(first, (-1).years());
        }
        if steps == 1 && end(first) >= today {
            first = shift(first, (-1).years());
        }
        Some(PhrasePiece::Days(first, end(first)))
    }
}

/// The span of all representable times.
pub(super) const ALWAYS: TimeSpan =
    TimeSpan { start: Timestamp::from_micros(i64::MIN), end: Timestamp::from_micros(i64::MAX) };
