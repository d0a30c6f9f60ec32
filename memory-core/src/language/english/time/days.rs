//! Resolves dates and weekdays to days by the tense.

use jiff::civil::{Date, Weekday};

use super::Tense;
use super::combine::PhraseDay;
use super::parser::{Parser, ParserMode, PartialDate, WeekdayModifier};

/// Maximum age in years of a date without a year.
const MAX_YEARS_BACK: i16 = 15;

impl Parser<'_> {
    /// Returns the possible years of a month without a year, the most likely first.
    pub fn candidate_years(&self, year: Option<i16>, month: i8) -> impl Iterator<Item = i16> + use<> {
        let today = self.today();
        let this = today.year();
        let (from, to) = match (year, self.tense) {
            (Some(year), _) => (year, year),
            (None, Tense::Future) if month < today.month() => (this + 1, this + 1),
            (None, Tense::Future) => (this, this),
            (None, _) => (this - MAX_YEARS_BACK, this),
        };
        (from..=to).rev()
    }

    /// Returns the possible days of a date, the most likely first.
    pub fn candidate_dates(&self, date: PartialDate, on: Option<Weekday>) -> Vec<Date> {
        let today = self.today();
        let ahead = self.looks_ahead();
        match (date.year, date.month) {
            (Some(year), Some(month)) => Date::new(year, month, date.day).into_iter().collect(),
            (None, Some(month)) => {
                let this = today.year();
                let mut dates: Vec<Date> = (this - MAX_YEARS_BACK..=this + 6)
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
                    // A future day of this year is the least likely.
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

    /// Returns the possible days of a phrase, the most likely first.
    pub fn candidate_days(&self, day: &PhraseDay) -> Vec<Date> {
        match day {
            PhraseDay::Known(date) => vec![*date],
            PhraseDay::Weekday(weekday, which) => vec![self.resolve_weekday(*weekday, *which)],
            PhraseDay::Date(date, on) => {
                let fitting = self.candidate_dates(*date, *on);
                if fitting.is_empty() && on.is_some() { self.candidate_dates(*date, None) } else { fitting }
            }
        }
    }

    fn resolve_weekday(&self, weekday: Weekday, which: WeekdayModifier) -> Date {
        let today = self.today().weekday();
        let back = i64::from(today.since(weekday));
        let forward = i64::from(weekday.since(today));
        // On a Thursday, "Thursday" in a statement means the next one; in a question it may mean today.
        let bare = match self.looks_ahead() {
            false => -back,
            true if forward == 0 && self.mode != ParserMode::Question => 7,
            true => forward,
        };
        let offset = match (which, self.tense) {
            (WeekdayModifier::Last, _) => -(if back == 0 { 7 } else { back }),
            (WeekdayModifier::Next, _) => {
                7 - i64::from(today.to_monday_zero_offset()) + i64::from(weekday.to_monday_zero_offset())
            }
            (WeekdayModifier::This, Tense::Past) => -back,
            (WeekdayModifier::This, _) => forward,
            (WeekdayModifier::Bare, _) => bare,
        };
        self.day(offset)
    }
}
