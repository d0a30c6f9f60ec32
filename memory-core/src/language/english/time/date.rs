//! Dates: "7 May 2023", "May 7th", "the twenty-fifth", "Monday the ninth", "in June", "2026-03-25", "25.03.2026",
//! "summer 2022".

use jiff::ToSpan;
use jiff::civil::Date;

use super::TimeRelation;
use super::calendar::{first_month_of_season, month_bounds, month_number, weekday_named};
use super::numbers::{leading_number, leading_ordinal};
use super::parser::{LocatedPiece, Parser, ParserMode, PartialDate, PhrasePiece, WeekdayModifier};
use super::tokens::Separator;

/// A day of the month and its number of words.
struct DayOfMonth {
    taken: usize,
    day: i8,
    /// Whether it is an ordinal ("7th", "seventh").
    ordinal: bool,
}

impl Parser<'_> {
    /// Parses a date, a month, a season, a year or a weekday.
    pub fn parse_date(&self, place: usize) -> Option<LocatedPiece> {
        let found = |taken, piece, weak| LocatedPiece {
            from: place,
            to: place + taken,
            piece,
            relation: TimeRelation::At,
            weak,
        };
        if let Some((taken, piece)) = self
            .parse_numeric_date(place)
            .or_else(|| self.parse_day_range(place))
            .or_else(|| self.parse_day_first(place))
            .or_else(|| self.parse_month_first(place))
        {
            return Some(found(taken, piece, false));
        }
        if let Some((taken, which, weak)) = self.parse_weekday(place) {
            return Some(found(taken, which, weak));
        }
        if let Some((taken, day, weak)) = self.parse_day_alone(place) {
            let date = PartialDate { year: None, month: None, day };
            return Some(found(taken, PhrasePiece::Date(date), weak));
        }
        self.parse_period(place).map(|(taken, piece)| found(taken, piece, false))
    }

    /// Parses "2023-05-07", "25.03.2026", "25/03/2026" or "on 25/03".
    fn parse_numeric_date(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        let word = self.word(place);
        if !word.as_bytes().first()?.is_ascii_digit() || word.len() > 10 {
            return None;
        }
        let full = |year: i16, month: i8, day: i8| {
            Date::new(year, month, day).ok().map(|_| PartialDate { year: Some(year), month: Some(month), day })
        };
        let parts = |mark: char| -> Option<Vec<i16>> { word.split(mark).map(|part| part.parse().ok()).collect() };
        let small = |value: i16| i8::try_from(value).ok();
        let date = if word.contains('-') {
            match parts('-')?.as_slice() {
                [year, month, day] => full(*year, small(*month)?, small(*day)?)?,
                _ => return None,
            }
        } else {
            let mark = if word.contains('/') { '/' } else { '.' };
            match parts(mark)?.as_slice() {
                [first, second, year @ 1970..2100] => full(*year, small(*second)?, small(*first)?)
                    .or_else(|| full(*year, small(*first)?, small(*second)?).filter(|_| mark == '/'))?,
                // A fraction or a number looks the same, so this needs a place where a date is expected.
                [day, month @ 1..=12] if word != "24/7" && self.expects_date(place, mark) => {
                    let (month, day) = (small(*month)?, small(*day)?);
                    Date::new(2024, month, day).ok()?;
                    PartialDate { year: None, month: Some(month), day }
                }
                _ => return None,
            }
        };
        Some((1, PhrasePiece::Date(date)))
    }

    /// Returns whether two numbers with a separator can be a day and a month here.
    fn expects_date(&self, place: usize, mark: char) -> bool {
        let parted = self.word(place).len() >= if mark == '.' { 5 } else { 3 };
        let before = self.word_before(place);
        let led = matches!(before, "on" | "since" | "until" | "till" | "by") || weekday_named(before).is_some();
        let alone = self.mode == ParserMode::Value && self.word(place).len() == 5;
        parted && (led && !matches!(self.word(place + 1), "of" | "a" | "an") || alone)
    }

    /// Parses "3 to 5 March 2024" or "between the 3rd and the 5th of March".
    fn parse_day_range(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        let skipped = usize::from(matches!(self.word(place), "from" | "between"));
        let first = self.parse_day_of_month(place + skipped)?;
        let mut at = place + skipped + first.taken;
        match self.word(at) {
            "to" | "until" | "till" | "and" => at += 1,
            _ if self.gap(at) == Separator::Dash => {}
            _ => return None,
        }
        // "On 3 and 5 March" names two days.
        if skipped == 0 && self.word(at - 1) == "and" {
            return None;
        }
        let second = self.parse_day_of_month(at)?;
        at += second.taken + usize::from(self.word(at + second.taken) == "of");
        let month = month_number(self.word(at))?;
        let (taken, year) = self.parse_year(at + 1);
        let date = |day: i8| PartialDate { year, month: Some(month), day };
        (first.day < second.day)
            .then(|| (at + 1 + taken - place, PhrasePiece::DateRange(date(first.day), date(second.day))))
    }

    /// Parses "7 May 2023", "the 7th of May" or "the seventh of May".
    fn parse_day_first(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        let day = self.parse_day_of_month(place)?;
        let mut at = place + day.taken;
        at += usize::from(self.word(at) == "of");
        let month = month_number(self.word(at)).filter(|_| self.gap(at) != Separator::Stop || at == place + 1)?;
        let (taken, year) = self.parse_year(at + 1);
        Date::new(year.unwrap_or(2024), month, day.day).ok()?;
        Some((at + 1 + taken - place, PhrasePiece::Date(PartialDate { year, month: Some(month), day: day.day })))
    }

    /// Parses "May 7th, 2023", "May the seventh", "in June" or "May 2023".
    fn parse_month_first(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        let word = self.word(place);
        let number = month_number(word)?;
        let the = usize::from(self.word(place + 1) == "the");
        if let Some(day) = self.parse_day_of_month(place + 1 + the).filter(|day| the == 0 || day.ordinal)
            && self.gap(place + 1) != Separator::Stop
            && self.parse_year(place + 1).1.is_none()
            // "may 7 people come" is a question.
            && (word != "may" || day.ordinal || self.cannot_be_counted(place + 1 + day.taken) || self.parse_year(place + 1 + day.taken).1.is_some())
        {
            let at = place + 1 + the + day.taken;
            let (taken, year) = self.parse_year(at);
            Date::new(year.unwrap_or(2024), number, day.day).ok()?;
            return Some((
                at + taken - place,
                PhrasePiece::Date(PartialDate { year, month: Some(number), day: day.day }),
            ));
        }
        let (taken, year) = self.parse_year(place + 1);
        // "May" and "march" are also verbs.
        let named = year.is_some()
            || !matches!(word, "may" | "march" | "mar" | "sep" | "dec" | "jan")
            || matches!(self.word_before(place), "in" | "during" | "since" | "of" | "until" | "by" | "last" | "next");
        named.then(|| {
            let periods = self.candidate_years(year, number).filter_map(|year| month_bounds(year, number)).collect();
            (1 + taken, PhrasePiece::Periods(periods))
        })
    }

    /// Parses "summer 2022" or "2022".
    fn parse_period(&self, place: usize) -> Option<(usize, PhrasePiece)> {
        if let Some(first) = first_month_of_season(self.word(place))
            && let (taken, Some(year)) = self.parse_year(place + 1)
        {
            let start = Date::new(year, first, 1).ok()?;
            let end = start.checked_add(2.months()).ok()?.last_of_month();
            return Some((1 + taken, PhrasePiece::Periods(vec![(start, end)])));
        }
        let expected = place > 0 || (self.mode == ParserMode::Value && self.tokens.len() == 1);
        let counted = is_counted_noun(self.word(place + 1));
        let year = self.parse_year(place).1.filter(|_| expected && !counted)?;
        let first = Date::new(year, 1, 1).ok()?;
        Some((1, PhrasePiece::Periods(vec![(first, first.last_of_year())])))
    }

    /// Parses "on Monday", "last Monday" or "Monday". The flag says whether it is a time only next to another piece.
    fn parse_weekday(&self, place: usize) -> Option<(usize, PhrasePiece, bool)> {
        let [first, second, third] = self.words::<3>(place);
        let (mut taken, which) = match (first, second) {
            ("on", "the") => (2, WeekdayModifier::Bare),
            ("on", "last") => (2, WeekdayModifier::Last),
            ("on", "next") => (2, WeekdayModifier::Next),
            ("on", "this") => (2, WeekdayModifier::This),
            ("on", _) => (1, WeekdayModifier::Bare),
            ("last" | "past" | "previous", _) => (1, WeekdayModifier::Last),
            ("this" | "coming", _) => (1, WeekdayModifier::This),
            ("next", _) => (1, WeekdayModifier::Next),
            _ => (0, WeekdayModifier::Bare),
        };
        let name = self.word(place + taken);
        let day = weekday_named(name)?;
        let led =
            taken > 0 || matches!(self.word_before(place), "since" | "until" | "till" | "by" | "before" | "after");
        // "Sat" and "sun" are also words.
        let weak = matches!(name, "sat" | "sun" | "wed" | "mon") && !(led && first == "on" && third != "to");
        taken += 1;
        // "Monday's meeting".
        if self.word(place + taken) == "s" && self.tokens[place + taken].start == self.tokens[place + taken - 1].end + 1
        {
            taken += 1;
        }
        Some((taken, PhrasePiece::Weekday(day, which), weak))
    }

    /// Parses "on the 25th" or "the twenty-fifth". The flag says whether it is a time only next to a weekday.
    fn parse_day_alone(&self, place: usize) -> Option<(usize, i8, bool)> {
        let on = usize::from(self.word(place) == "on");
        let the = usize::from(self.word(place + on) == "the");
        if the == 0 {
            return None;
        }
        let (taken, value) = leading_ordinal(self.rest(place + on + the))?;
        let day = i8::try_from(value).ok().filter(|day| (1..=31).contains(day))?;
        let taken = on + the + taken;
        let before = self.word_before(place);
        // "It's the twelfth now": who comes third is no day.
        let pronoun = place.checked_sub(2).map_or("", |before| self.word(before));
        let is = day > 3 && matches!(pronoun, "it" | "that") && matches!(before, "s" | "is");
        let led = on == 1
            || matches!(before, "since" | "from" | "until" | "till" | "by" | "before" | "after" | "to" | "for")
            || is;
        // "On the second floor" and "the third man" count things.
        let of_a_month = matches!(self.words(place + taken), ["of", "this" | "last" | "next", "month"]);
        let now = is && matches!(self.word(place + taken), "now" | "instead");
        if !of_a_month && !now && !self.cannot_be_counted(place + taken) && weekday_named(before).is_none() {
            return None;
        }
        let whole = self.mode == ParserMode::Value && day > 10;
        Some((taken, day, !(led || whole || of_a_month)))
    }

    fn parse_day_of_month(&self, place: usize) -> Option<DayOfMonth> {
        let the = usize::from(self.word(place) == "the");
        let rest = self.rest(place + the);
        if let Some((taken, value)) = leading_ordinal(rest) {
            let day = i8::try_from(value).ok().filter(|day| (1..=31).contains(day))?;
            return Some(DayOfMonth { taken: the + taken, day, ordinal: true });
        }
        let word = &rest.first()?.text;
        let (taken, value) = if word.as_bytes()[0].is_ascii_digit() {
            (1, word.parse::<i64>().ok().filter(|_| word.len() <= 2)?)
        } else {
            leading_number(rest)?
        };
        let day = i8::try_from(value).ok().filter(|day| (1..=31).contains(day) && the == 0)?;
        Some(DayOfMonth { taken, day, ordinal: false })
    }

    fn parse_year(&self, place: usize) -> (usize, Option<i16>) {
        let year = self.word(place).parse::<i16>().ok().filter(|year| (1970..2100).contains(year));
        let year = year.filter(|_| self.gap(place) != Separator::Stop || place == 0);
        (usize::from(year.is_some()), year)
    }
}

/// Returns whether the number before this word counts things and is not a year.
fn is_counted_noun(word: &str) -> bool {
    matches!(
        word,
        "people" | "times" | "dollars" | "euros" | "meters" | "metres" | "km" | "miles" | "steps" | "calories"
    )
}
