//! Combines neighbouring pieces to one phrase: "yesterday" + "at 3 pm", "Saturday" + "the fourteenth" + "at six".

use jiff::civil::{Date, Weekday};

use super::TimeRelation;
use super::parser::{LocatedPiece, Parser, PartialDate, PhrasePiece, WeekdayModifier};
use super::tokens::Separator;
use crate::TimeSpan;

/// The day of a phrase.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PhraseDay {
    Known(Date),
    Weekday(Weekday, WeekdayModifier),
    Date(PartialDate, Option<Weekday>),
}

/// The time of day of a phrase.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PhraseClock {
    At(super::clock::ClockTime, super::parser::ClockHedge),
    Range(super::clock::ClockTime, super::clock::ClockTime),
}

/// A time that is no single day.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PhrasePeriod {
    Days(Date, Date),
    DateRange(PartialDate, PartialDate),
    Periods(Vec<(Date, Date)>),
    Span(TimeSpan, bool),
    InSession(TimeSpan),
}

/// A phrase as its pieces.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PhrasePieces {
    pub from: usize,
    pub to: usize,
    pub day: Option<PhraseDay>,
    /// Whether the day comes from a neighbouring phrase ("18:51 to 18:52, 19:03 on 14 June").
    pub lent: bool,
    pub part: Option<(i32, i32)>,
    pub clock: Option<PhraseClock>,
    pub whole: Option<PhrasePeriod>,
    /// The relation in front of the day, or of the phrase.
    pub relation: TimeRelation,
    /// The relation in front of the clock time.
    pub clock_relation: TimeRelation,
    pub weak: bool,
}

impl PhrasePieces {
    fn from_piece(found: &LocatedPiece) -> Self {
        let mut group = Self { from: found.from, to: found.to, weak: found.weak, ..Self::default() };
        match &found.piece {
            PhrasePiece::Days(first, last) if first == last => group.day = Some(PhraseDay::Known(*first)),
            PhrasePiece::PartOfDay(day, part) => {
                group.day = Some(PhraseDay::Known(*day));
                group.part = Some(*part);
            }
            PhrasePiece::Weekday(day, which) => group.day = Some(PhraseDay::Weekday(*day, *which)),
            PhrasePiece::Date(date) => group.day = Some(PhraseDay::Date(*date, None)),
            PhrasePiece::Part(from, to) => group.part = Some((*from, *to)),
            PhrasePiece::Clock(clock, hedge) => group.clock = Some(PhraseClock::At(*clock, *hedge)),
            PhrasePiece::ClockRange(from, to) => group.clock = Some(PhraseClock::Range(*from, *to)),
            PhrasePiece::Days(first, last) => group.whole = Some(PhrasePeriod::Days(*first, *last)),
            PhrasePiece::DateRange(first, last) => group.whole = Some(PhrasePeriod::DateRange(*first, *last)),
            PhrasePiece::Periods(periods) => group.whole = Some(PhrasePeriod::Periods(periods.clone())),
            PhrasePiece::Span(span, short) => group.whole = Some(PhrasePeriod::Span(*span, *short)),
            PhrasePiece::InSession(span) => group.whole = Some(PhrasePeriod::InSession(*span)),
        }
        if group.clock.is_some() {
            group.clock_relation = found.relation;
        } else {
            group.relation = found.relation;
        }
        group
    }

    /// Joins two groups to one phrase. Returns `None` if they are two phrases.
    fn join(&self, next: &Self) -> Option<Self> {
        let mut group = self.clone();
        group.to = next.to;
        group.weak = false;
        match (&self.whole, &next.whole) {
            (None, None) => {}
            // "Tuesday next week", "next week on Tuesday".
            (Some(PhrasePeriod::Days(first, last)), None) => {
                group.day = Some(PhraseDay::Known(day_in_period(next.day.as_ref()?, *first, *last)?));
                group.whole = None;
                return group.join_hours(next);
            }
            (None, Some(PhrasePeriod::Days(first, last))) => {
                group.day = Some(PhraseDay::Known(day_in_period(self.day.as_ref()?, *first, *last)?));
                return Some(group);
            }
            _ => return None,
        }
        if let Some(day) = &next.day {
            group.day = Some(match &self.day {
                None => day.clone(),
                Some(own) => merge_days(own, day)?,
            });
        }
        group.join_hours(next)
    }

    fn join_hours(mut self, next: &Self) -> Option<Self> {
        if let Some(part) = next.part {
            if self.part.is_some() {
                return None;
            }
            self.part = Some(part);
        }
        if let Some(clock) = &next.clock {
            if self.clock.is_some() {
                return None;
            }
            self.clock = Some(clock.clone());
            self.clock_relation = next.clock_relation;
        }
        if next.relation != TimeRelation::At {
            if self.relation != TimeRelation::At {
                return None;
            }
            // "At ten until Friday" has two times.
            if self.day.is_some() && next.day.is_some()
                || self.clock.is_some() && next.clock.is_none() && self.clock_relation != TimeRelation::At
            {
                return None;
            }
            self.relation = next.relation;
        }
        Some(self)
    }
}

/// Merges two descriptions of one day. Returns `None` for two days.
fn merge_days(first: &PhraseDay, second: &PhraseDay) -> Option<PhraseDay> {
    match (first, second) {
        (PhraseDay::Weekday(day, WeekdayModifier::Bare | WeekdayModifier::This), PhraseDay::Date(date, None))
        | (PhraseDay::Date(date, None), PhraseDay::Weekday(day, WeekdayModifier::Bare)) => {
            Some(PhraseDay::Date(*date, Some(*day)))
        }
        (PhraseDay::Weekday(_, _), PhraseDay::Date(date, None)) => Some(PhraseDay::Date(*date, None)),
        (PhraseDay::Known(day), PhraseDay::Date(date, _)) => {
            let agrees = date.day == day.day() && date.month.is_none_or(|month| month == day.month());
            Some(if agrees { PhraseDay::Known(*day) } else { PhraseDay::Date(*date, None) })
        }
        (PhraseDay::Known(day), PhraseDay::Weekday(weekday, WeekdayModifier::Bare)) if day.weekday() == *weekday => {
            Some(first.clone())
        }
        (PhraseDay::Weekday(weekday, WeekdayModifier::Bare), PhraseDay::Known(day)) if day.weekday() == *weekday => {
            Some(second.clone())
        }
        _ => None,
    }
}

/// Returns a weekday within a week, or a day of the month within a month.
fn day_in_period(day: &PhraseDay, first: Date, last: Date) -> Option<Date> {
    let mut days = first.series(jiff::Span::new().days(1)).take_while(|date| *date <= last).take(31);
    match day {
        PhraseDay::Weekday(weekday, WeekdayModifier::Bare | WeekdayModifier::This) => {
            days.take(7).find(|date| date.weekday() == *weekday)
        }
        PhraseDay::Date(date, None) if date.month.is_none() => days.find(|other| other.day() == date.day),
        _ => None,
    }
}

impl Parser<'_> {
    /// Returns the phrases of the text in order, each as its pieces.
    pub fn groups(&self) -> Vec<PhrasePieces> {
        let mut groups: Vec<PhrasePieces> = Vec::new();
        let found = self.parse_pieces();
        for (place, next) in found.iter().enumerate() {
            if self.depends_on_next(next, found.get(place + 1)) {
                continue;
            }
            let mut next_group = PhrasePieces::from_piece(next);
            if let Some(before) = place.checked_sub(1).map(|before| &found[before])
                && self.depends_on_next(before, Some(next))
            {
                next_group.relation = TimeRelation::At;
            }
            if let Some(last) = groups.last_mut()
                && self.only_joining_words(last.to, next.from)
                && let Some(joined) = last.join(&next_group)
            {
                *last = joined;
                continue;
            }
            groups.push(next_group);
        }
        groups.retain(|group| !group.weak);
        self.lend_days(&mut groups);
        Self::lend_days_to_neighbours(&mut groups);
        groups
    }

    /// Returns whether a later date determines a phrase. Such a phrase is not relative to now: "the week before 7 May",
    /// "the last week of August".
    fn depends_on_next(&self, found: &LocatedPiece, next: Option<&LocatedPiece>) -> bool {
        let Some(next) = next.filter(|next| {
            matches!(next.piece, PhrasePiece::Date(_) | PhrasePiece::Periods(_) | PhrasePiece::DateRange(..))
        }) else {
            return false;
        };
        let relative = matches!(
            found.piece,
            PhrasePiece::Span(..) | PhrasePiece::Days(..) | PhrasePiece::PartOfDay(..) | PhrasePiece::Weekday(..)
        );
        let linked = next.from == found.to && matches!(next.relation, TimeRelation::Before | TimeRelation::After)
            || next.from == found.to + 1 && matches!(self.word(found.to), "of" | "in");
        relative && linked && self.gap(found.to) == Separator::Space
    }

    fn only_joining_words(&self, from: usize, to: usize) -> bool {
        to - from <= 2
            && (from..=to).all(|place| self.gap(place) != Separator::Stop)
            && (from..to).all(|place| {
                matches!(
                    self.word(place),
                    "at" | "in" | "the" | "on" | "of" | "during" | "for" | "this" | "sharp" | "exactly"
                )
            })
    }

    /// Copies the day to the phrases of a list that have none.
    fn lend_days(&self, groups: &mut [PhrasePieces]) {
        for place in 1..groups.len() {
            let (before, after) = groups.split_at_mut(place);
            let (Some(last), Some(next)) = (before.last(), after.first_mut()) else { continue };
            if next.day.is_none() && next.clock.is_some() && last.clock.is_some() && self.is_list(last.to, next.from) {
                next.day = last.day.clone();
                next.part = next.part.or(last.part);
                next.lent = next.day.is_some();
            }
        }
        for place in (1..groups.len()).rev() {
            let (before, after) = groups.split_at_mut(place);
            let (Some(last), Some(next)) = (before.last_mut(), after.first()) else { continue };
            let lends = last.day.is_none() && last.clock.is_some() && next.clock.is_some();
            if lends && self.is_list(last.to, next.from) {
                last.day = next.day.clone();
                last.part = last.part.or(next.part);
                last.lent = last.day.is_some();
            }
        }
    }

    /// Copies the day of a neighbouring phrase without an hour to a clock time: "She comes on Wednesday. Her train gets
    /// in at 18:40.", "On 9 May, who came at ten?"
    fn lend_days_to_neighbours(groups: &mut [PhrasePieces]) {
        let lends =
            |group: &PhrasePieces| group.day.is_some() && group.clock.is_none() && group.relation == TimeRelation::At;
        let borrows = |group: &PhrasePieces| group.day.is_none() && group.clock.is_some() && group.whole.is_none();
        for place in 0..groups.len() {
            let before = place.checked_sub(1).filter(|before| lends(&groups[*before]) && !groups[*before].lent);
            let after = Some(place + 1).filter(|after| groups.get(*after).is_some_and(lends));
            if borrows(&groups[place])
                && let Some(lender) = before.or(after)
            {
                let (day, part) = (groups[lender].day.clone(), groups[lender].part);
                groups[place].day = day;
                groups[place].part = groups[place].part.or(part);
                groups[place].lent = true;
            }
        }
    }

    /// Returns whether only list separators stand between two positions.
    pub fn is_list(&self, from: usize, to: usize) -> bool {
        to - from <= 2
            && (from..to)
                .all(|place| matches!(self.word(place), "and" | "or" | "then" | "to" | "until" | "at" | "also"))
            && self.tokens.get(to).is_some_and(|token| token.gap != Separator::Stop || from == to)
    }
}
