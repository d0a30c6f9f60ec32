//! The days that a date or a weekday means, by the tense.

use jiff::civil::{Date, Weekday};

use super::Tense;
use super::combine::DayOf;
use super::parser::{Mode, Parser, PartialDate, Which};

/// How many years back a date without a year may lie.
const YEARS_BACK: i16 = 15;

impl Parser<'_> {
    /// The years that a month without a year may be of, the likeliest first.
    pub fn years(&self, year: Option<i16>, month: i8) -> impl Iterator<Item = i16> + use<> {
        let today = self.today();
        let this = today.year();
        let (from, to) = match (year, self.tense) {
            (Some(year), _) => (year, year),
            (None, Tense::Future) if month < today.month() => (this + 1, this + 1),
            (None, Tense::Future) => (this, this),
            (None, _) => (this - YEARS_BACK, this),
        };
        (from..=to).rev()
    }

    /// The days that a date may mean, the likeliest first.
    pub fn dates(&self, date: PartialDate, on: Option<Weekday>) -> Vec<Date> {
        let today = self.today();
        let ahead = self.looks_ahead();
        match (date.year, date.month) {
            (Some(year), Some(month)) => Date::new(year, month, date.day).into_iter().collect(),
            (None, Some(month)) => {
                let this = today.year();
                let mut dates: Vec<Date> = (this - YEARS_BACK..=this + 6)
                    .rev()
                    .filter_map(|year| Date::new(year, month, date.day).ok())
                    .filter(|date| on.is_none_or(|on| date.weekday() == on))
                    .collect();
                let future = |date: &Date| *date >= today;
                if ahead {
                    dates.retain(future);
                    dates.reverse();
                    dates.truncate(1);
                } else {
                    // A day ahead in this year is the last guess.
                    let next = dates.iter().copied().rev().find(future).filter(|date| date.year() == this);
                    dates.retain(|date| *date <= today);
                    dates.extend(next.filter(|next| *next != today));
                }
                dates
            }
            _ => {
                let step = if ahead { 1 } else { -1 };
                let fits = |day: &Date| day.day() == date.day && on.is_none_or(|on| day.weekday() == on);
                (0..800).map(|days| self.day(days * step)).find(fits).into_iter().collect()
            }
        }
    }

    /// The days that a day of a phrase may be, the likeliest first.
    pub fn days_of(&self, day: &DayOf) -> Vec<Date> {
        match day {
            DayOf::Known(date) => vec![*date],
            DayOf::Weekday(weekday, which) => vec![self.weekday_at(*weekday, *which)],
            DayOf::Date(date, on) => {
                let fitting = self.dates(*date, *on);
                if fitting.is_empty() && on.is_some() { self.dates(*date, None) } else { fitting }
            }
        }
    }

    fn weekday_at(&self, weekday: Weekday, which: Which) -> Date {
        let today = self.today().weekday();
        let back = i64::from(today.since(weekday));
        let forward = i64::from(weekday.since(today));
        // Who tells of "Thursday" on a Thursday means the next one, who asks may mean today.
        let bare = match self.looks_ahead() {
            false => -back,
            true if forward == 0 && self.mode != Mode::Question => 7,
            true => forward,
        };
        let offset = match (which, self.tense) {
            (Which::Last, _) => -(if back == 0 { 7 } else { back }),
            (Which::Next, _) => {
                7 - i64::from(today.to_monday_zero_offset()) + i64::from(weekday.to_monday_zero_offset())
            }
            (Which::This, Tense::Past) => -back,
            (Which::This, _) => forward,
            (Which::Bare, _) => bare,
        };
        self.day(offset)
    }
}
