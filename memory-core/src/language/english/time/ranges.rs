//! Joins ranges of two phrases: "from 23:50 on 3 March to 00:10 on 4 March", "between Monday and Wednesday".

use super::combine::{PhraseClock, PhraseDay, PhrasePeriod, PhrasePieces};
use super::parser::{Parser, ParserMode};
use super::tokens::Separator;
use super::{TimePhrase, TimeRelation};
use crate::TimeSpan;

impl Parser<'_> {
    /// Joins the two phrases of "from … to …" and "between … and …".
    pub fn join_ranges(&self, phrases: Vec<(PhrasePieces, TimePhrase)>) -> Vec<TimePhrase> {
        let mut joined: Vec<(PhrasePieces, TimePhrase)> = Vec::new();
        for (group, phrase) in phrases {
            if let Some((last, before)) = joined.last_mut()
                && self.is_range(last, &group)
                && let Some(span) = self.span_between(last, &group, before.named, phrase.named)
            {
                before.range.end = phrase.range.end.max(before.range.end);
                if let Some(token) = last.from.checked_sub(1).and_then(|lead| self.tokens.get(lead))
                    && matches!(token.text.as_str(), "from" | "between")
                {
                    before.range.start = token.start;
                }
                before.named = span;
                before.spans = vec![(span, 1.0)];
                before.bounds = true;
                before.has_date |= phrase.has_date;
                before.has_clock &= phrase.has_clock;
                last.to = group.to;
                // A range cannot be the end of another range.
                last.whole = Some(PhrasePeriod::Span(span, false));
                continue;
            }
            joined.push((group, phrase));
        }
        let mut end = 0;
        let phrases = joined.into_iter().map(|(_, mut phrase)| {
            phrase.range.start = phrase.range.start.max(end).min(phrase.range.end);
            end = phrase.range.end;
            phrase
        });
        phrases.collect()
    }

    /// Returns the span between two times. A weekday on the wrong side belongs to another week.
    fn span_between(
        &self,
        first: &PhrasePieces,
        second: &PhrasePieces,
        from: TimeSpan,
        to: TimeSpan,
    ) -> Option<TimeSpan> {
        if from.start <= to.end {
            return Some(TimeSpan::new(from.start, to.end));
        }
        let named = |group: &PhrasePieces| matches!(group.day, Some(PhraseDay::Weekday(..)));
        if !named(first) || !named(second) {
            return None;
        }
        let week = std::time::Duration::from_secs(7 * 86_400);
        Some(if self.looks_ahead() {
            TimeSpan::new(from.start, to.end.saturating_add(week))
        } else {
            TimeSpan::new(from.start.saturating_sub(week), to.end)
        })
    }

    fn is_range(&self, first: &PhrasePieces, second: &PhrasePieces) -> bool {
        let plain = |group: &PhrasePieces| {
            matches!(group.whole, None | Some(PhrasePeriod::Periods(_)))
                && group.relation == TimeRelation::At
                && !matches!(group.clock, Some(PhraseClock::Range(..)))
        };
        // "Until" in front of the second time belongs to it.
        let until = first.to == second.from && second.relation == TimeRelation::Until;
        let alike = first.clock.is_some() == second.clock.is_some();
        let lead = self.word_before(first.from);
        let own = self.word(first.from);
        let led = matches!(lead, "from" | "between") || matches!(own, "from" | "between");
        let between = lead == "between" || own == "between";
        let link = match second.from - first.to {
            0 => until || self.gap(second.from) == Separator::Dash,
            1 => {
                matches!(self.word(first.to), "to" | "until" | "till" | "til")
                    || between && self.word(first.to) == "and"
            }
            _ => false,
        };
        let dated = first.clock.is_some() && first.day.is_some();
        let second_plain =
            plain(&PhrasePieces { relation: if until { TimeRelation::At } else { second.relation }, ..second.clone() });
        // A move from Tuesday to Friday does not last from Tuesday to Friday.
        let moved = (1..8).filter_map(|back| first.from.checked_sub(back)).any(|place| {
            matches!(self.word(place), "moved" | "postponed" | "shifted" | "rescheduled" | "delayed" | "changed")
        }) && first.clock.is_none();
        link && !moved
            && alike
            && plain(first)
            && second_plain
            && (led || dated || self.mode == ParserMode::Value || self.gap(second.from) == Separator::Dash)
    }
}
