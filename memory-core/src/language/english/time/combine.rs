//! Neighbouring pieces become one phrase: "yesterday" + "at 3 pm", "Saturday" + "the fourteenth" + "at six".

use jiff::civil::{Date, Weekday};

use super::Relation;
use super::parser::{Found, Parser, PartialDate, Piece, Which};
use super::tokens::Gap;
use crate::TimeSpan;

/// The day of a phrase.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DayOf {
    Known(Date),
    Weekday(Weekday, Which),
    Date(PartialDate, Option<Weekday>),
}

/// The time of day of a phrase.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ClockOf {
    At(super::clock::Clock, super::parser::Hedge),
    Range(super::clock::Clock, super::clock::Clock),
}

/// What is no single day.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Whole {
    Days(Date, Date),
    DateRange(PartialDate, PartialDate),
    Periods(Vec<(Date, Date)>),
    Span(TimeSpan, bool),
    InSession(TimeSpan),
}

/// A phrase as the pieces that it has.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    pub from: usize,
    pub to: usize,
    pub day: Option<DayOf>,
    /// Whether the day stands in a neighbouring phrase ("18:51 to 18:52, 19:03 on 14 June").
    pub lent: bool,
    pub part: Option<(i32, i32)>,
    pub clock: Option<ClockOf>,
    pub whole: Option<Whole>,
    /// The relation in front of the day, or of the phrase.
    pub relation: Relation,
    /// The relation in front of the clock time.
    pub clock_relation: Relation,
    pub weak: bool,
}

impl Group {
    fn of(found: &Found) -> Self {
        let mut group = Self { from: found.from, to: found.to, weak: found.weak, ..Self::default() };
        match &found.piece {
            Piece::Days(first, last) if first == last => group.day = Some(DayOf::Known(*first)),
            Piece::PartOfDay(day, part) => {
                group.day = Some(DayOf::Known(*day));
                group.part = Some(*part);
            }
            Piece::Weekday(day, which) => group.day = Some(DayOf::Weekday(*day, *which)),
            Piece::Date(date) => group.day = Some(DayOf::Date(*date, None)),
            Piece::Part(from, to) => group.part = Some((*from, *to)),
            Piece::Clock(clock, hedge) => group.clock = Some(ClockOf::At(*clock, *hedge)),
            Piece::ClockRange(from, to) => group.clock = Some(ClockOf::Range(*from, *to)),
            Piece::Days(first, last) => group.whole = Some(Whole::Days(*first, *last)),
            Piece::DateRange(first, last) => group.whole = Some(Whole::DateRange(*first, *last)),
            Piece::Periods(periods) => group.whole = Some(Whole::Periods(periods.clone())),
            Piece::Span(span, short) => group.whole = Some(Whole::Span(*span, *short)),
            Piece::InSession(span) => group.whole = Some(Whole::InSession(*span)),
        }
        if group.clock.is_some() {
            group.clock_relation = found.relation;
        } else {
            group.relation = found.relation;
        }
        group
    }

    /// Both as one phrase; `None` if they are two.
    fn joined(&self, next: &Self) -> Option<Self> {
        let mut group = self.clone();
        group.to = next.to;
        group.weak = false;
        match (&self.whole, &next.whole) {
            (None, None) => {}
            // "Tuesday next week", "next week on Tuesday".
            (Some(Whole::Days(first, last)), None) => {
                group.day = Some(DayOf::Known(in_period(next.day.as_ref()?, *first, *last)?));
                group.whole = None;
                return group.with_hours(next);
            }
            (None, Some(Whole::Days(first, last))) => {
                group.day = Some(DayOf::Known(in_period(self.day.as_ref()?, *first, *last)?));
                return Some(group);
            }
            _ => return None,
        }
        if let Some(day) = &next.day {
            group.day = Some(match &self.day {
                None => day.clone(),
                Some(own) => one_day(own, day)?,
            });
        }
        group.with_hours(next)
    }

    fn with_hours(mut self, next: &Self) -> Option<Self> {
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
        if next.relation != Relation::At {
            if self.relation != Relation::At {
                return None;
            }
            // "at ten until Friday" are two times.
            if self.day.is_some() && next.day.is_some()
                || self.clock.is_some() && next.clock.is_none() && self.clock_relation != Relation::At
            {
                return None;
            }
            self.relation = next.relation;
        }
        Some(self)
    }
}

/// Two days told of one day; `None` if they are two days.
fn one_day(first: &DayOf, second: &DayOf) -> Option<DayOf> {
    match (first, second) {
        (DayOf::Weekday(day, Which::Bare | Which::This), DayOf::Date(date, None))
        | (DayOf::Date(date, None), DayOf::Weekday(day, Which::Bare)) => Some(DayOf::Date(*date, Some(*day))),
        (DayOf::Weekday(_, _), DayOf::Date(date, None)) => Some(DayOf::Date(*date, None)),
        (DayOf::Known(day), DayOf::Date(date, _)) => {
            let agrees = date.day == day.day() && date.month.is_none_or(|month| month == day.month());
            Some(if agrees { DayOf::Known(*day) } else { DayOf::Date(*date, None) })
        }
        (DayOf::Known(day), DayOf::Weekday(weekday, Which::Bare)) if day.weekday() == *weekday => Some(first.clone()),
        (DayOf::Weekday(weekday, Which::Bare), DayOf::Known(day)) if day.weekday() == *weekday => Some(second.clone()),
        _ => None,
    }
}

/// A weekday inside a week, or a day of the month inside a month.
fn in_period(day: &DayOf, first: Date, last: Date) -> Option<Date> {
    let mut days = first.series(jiff::Span::new().days(1)).take_while(|date| *date <= last).take(31);
    match day {
        DayOf::Weekday(weekday, Which::Bare | Which::This) => days.take(7).find(|date| date.weekday() == *weekday),
        DayOf::Date(date, None) if date.month.is_none() => days.find(|other| other.day() == date.day),
        _ => None,
    }
}

impl Parser<'_> {
    /// The phrases of the text, each as its pieces, in order.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let found = self.pieces();
        for (place, next) in found.iter().enumerate() {
            if self.is_told_by_next(next, found.get(place + 1)) {
                continue;
            }
            let mut next_group = Group::of(next);
            if let Some(before) = place.checked_sub(1).map(|before| &found[before])
                && self.is_told_by_next(before, Some(next))
            {
                next_group.relation = Relation::At;
            }
            if let Some(last) = groups.last_mut()
                && self.only_joining_words(last.to, next.from)
                && let Some(joined) = last.joined(&next_group)
            {
                *last = joined;
                continue;
            }
            groups.push(next_group);
        }
        groups.retain(|group| !group.weak);
        self.lend_days(&mut groups);
        Self::lend_days_beside(&mut groups);
        groups
    }

    /// "The week before 7 May", "the last week of August": the date says when, and the words before it are not about
    /// now.
    fn is_told_by_next(&self, found: &Found, next: Option<&Found>) -> bool {
        let Some(next) =
            next.filter(|next| matches!(next.piece, Piece::Date(_) | Piece::Periods(_) | Piece::DateRange(..)))
        else {
            return false;
        };
        let relative =
            matches!(found.piece, Piece::Span(..) | Piece::Days(..) | Piece::PartOfDay(..) | Piece::Weekday(..));
        let linked = next.from == found.to && matches!(next.relation, Relation::Before | Relation::After)
            || next.from == found.to + 1 && matches!(self.word(found.to), "of" | "in");
        relative && linked && self.gap(found.to) == Gap::Space
    }

    fn only_joining_words(&self, from: usize, to: usize) -> bool {
        to - from <= 2
            && (from..=to).all(|place| self.gap(place) != Gap::Stop)
            && (from..to).all(|place| {
                matches!(
                    self.word(place),
                    "at" | "in" | "the" | "on" | "of" | "during" | "for" | "this" | "sharp" | "exactly"
                )
            })
    }

    /// Gives the phrases of a list that tell no day the day of their neighbour.
    fn lend_days(&self, groups: &mut [Group]) {
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

    /// Gives a clock time the day that a neighbouring phrase tells without an hour: "She comes on Wednesday. Her train
    /// gets in at 18:40.", "On 9 May, who came at ten?"
    fn lend_days_beside(groups: &mut [Group]) {
        let lends = |group: &Group| group.day.is_some() && group.clock.is_none() && group.relation == Relation::At;
        let borrows = |group: &Group| group.day.is_none() && group.clock.is_some() && group.whole.is_none();
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

    /// Whether nothing but what parts a list stands between two places.
    pub fn is_list(&self, from: usize, to: usize) -> bool {
        to - from <= 2
            && (from..to)
                .all(|place| matches!(self.word(place), "and" | "or" | "then" | "to" | "until" | "at" | "also"))
            && self.tokens.get(to).is_some_and(|token| token.gap != Gap::Stop || from == to)
    }
}
