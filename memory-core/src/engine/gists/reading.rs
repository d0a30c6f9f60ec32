//! What readers see: gists where there are some, events where there are none.

use std::collections::BTreeSet;

use super::{DAY, DUE_HOUR, GistRow, HOUR, HOUR_MICROS, opened, span};
use crate::engine::view::View;
use crate::episodic::gist::{Gist, Level, Line, MOST_EVENTS, SUMMARY_WORDS, joined, kept, summary};
use crate::index::SearchQuery;
use crate::store::failure::{Result, if_sound};
use crate::{GistFilter, ReadError, TimeSpan, Timestamp};

/// Number of gists on a page: by default, and at most.
const PAGE_GISTS: (usize, usize) = (24, 500);

impl View {
    /// Lines of what begins in a span; of what overlaps its begin too, if `reaching_in`.
    pub(super) fn lines_of_events(&self, span: TimeSpan, reaching_in: bool, limit: usize) -> Result<Vec<Line>> {
        let query = SearchQuery { span: Some(span), limit, ..SearchQuery::default() };
        let mut lines = Vec::new();
        for hit in self.published.search.search(&query) {
            let Some(event) = if_sound(self.find_event(hit.id))?.flatten() else { continue };
            let begins = event.span.start >= span.start && event.span.start < span.end;
            if begins || reaching_in && event.span.start < span.start {
                lines.extend(Line::of(&event));
            }
        }
        Ok(lines)
    }

    /// What happened from a moment to another, which is not part of it: from gists where there are some, else from events.
    pub(in crate::engine) fn lines_of(&self, wanted: TimeSpan, reaching_in: bool) -> Result<Vec<Line>> {
        let Some(all) = self.extent(wanted)? else { return Ok(Vec::new()) };
        let mut rows: Vec<(i64, GistRow)> = self.rows_within(DAY, all)?;
        let mut hours = Vec::new();
        for gap in gaps(all, &rows) {
            hours.extend(self.rows_within(HOUR, gap)?);
        }
        rows.extend(hours);
        rows.sort_by_key(|(start, _)| *start);
        let mut left = MOST_EVENTS;
        let mut lines = Vec::new();
        for gap in gaps(all, &rows) {
            let reaching_in = reaching_in && gap.start == all.start;
            let found = self.lines_of_events(gap, reaching_in, left)?;
            left = left.saturating_sub(found.len());
            lines.extend(found);
        }
        lines.extend(rows.into_iter().flat_map(|(_, row)| row.lines));
        Ok(joined(lines))
    }

    /// A span cut to where there are events; `None` where there are none.
    fn extent(&self, wanted: TimeSpan) -> Result<Option<TimeSpan>> {
        let end = |latest: bool| -> Result<Option<TimeSpan>> {
            let query = SearchQuery { span: Some(wanted), latest, limit: 1, ..SearchQuery::default() };
            let hit = self.published.search.search(&query).into_iter().next();
            let event = hit.map(|hit| self.find_event(hit.id)).transpose()?.flatten();
            Ok(event.map(|event| event.span))
        };
        let (Some(first), Some(last)) = (end(false)?, end(true)?) else { return Ok(None) };
        let after = last.end.as_micros().saturating_add(1).min(wanted.end.as_micros());
        Ok(Some(span(first.start.max(wanted.start).as_micros(), after)))
    }

    /// Rows of gists that lie wholly in a span. A damaged one is passed over: its events are read instead.
    fn rows_within(&self, level: u8, within: TimeSpan) -> Result<Vec<(i64, GistRow)>> {
        let Some(table) = &self.tables.gists else { return Ok(Vec::new()) };
        let (start, end) = (within.start.as_micros(), within.end.as_micros());
        let mut rows = Vec::new();
        for entry in table.range((level, start)..(level, end.max(start)))? {
            let (key, value) = entry?;
            let begin = key.value().1;
            let Some(row) = if_sound(opened(level, begin, value.value()))? else { continue };
            // A day that was made in another time zone is no day here.
            let fits = level != DAY || {
                let day = Level::Day.around(Timestamp::from_micros(begin), &self.zone);
                (day.start.as_micros(), day.end.as_micros()) == (begin, row.end)
            };
            if row.end <= end && fits {
                rows.push((begin, row));
            }
        }
        Ok(rows)
    }

    /// Gists, the newest first.
    pub(crate) fn list_gists(&self, filter: &GistFilter) -> Result<Vec<Gist>, ReadError> {
        let limit = filter.limit.unwrap_or(PAGE_GISTS.0).clamp(1, PAGE_GISTS.1);
        let wanted = filter.span.unwrap_or(span(i64::MIN, i64::MAX));
        let begin = self.clock.monotonic();
        let mut gists: Vec<Gist> = Vec::new();
        let mut last = None;
        for hour in self.hours_within(wanted)?.into_iter().rev() {
            for stretch in self.stretches_of(hour, filter.level) {
                if last == Some(stretch.start) || !stretch.overlaps(wanted) {
                    continue;
                }
                last = Some(stretch.start);
                if gists.len() == limit {
                    return Ok(gists);
                }
                if filter.budget.is_some_and(|budget| self.clock.monotonic().saturating_sub(begin) >= budget) {
                    return Err(ReadError::Deadline(filter.budget.unwrap_or_default()));
                }
                let lines = kept(filter.level, self.lines_of(stretch, false)?);
                if let Some((summary, _)) = summary(&lines, SUMMARY_WORDS, &self.zone) {
                    gists.push(Gist { level: filter.level, span: stretch, summary, lines });
                }
            }
        }
        Ok(gists)
    }

    /// The hours with events that overlap a span, in order.
    fn hours_within(&self, within: TimeSpan) -> Result<BTreeSet<i64>> {
        let Some(table) = &self.tables.gists else { return Ok(BTreeSet::new()) };
        let (start, end) = (within.start.as_micros().saturating_sub(HOUR_MICROS), within.end.as_micros());
        let mut hours = BTreeSet::new();
        for level in [DUE_HOUR, HOUR] {
            for entry in table.range((level, start.saturating_add(1))..=(level, end))? {
                hours.insert(entry?.0.value().1);
            }
        }
        Ok(hours)
    }

    /// The stretches of a level that overlap an hour, the latest first.
    fn stretches_of(&self, hour: i64, level: Level) -> Vec<TimeSpan> {
        let mut stretches = Vec::new();
        let mut moment = hour.saturating_add(HOUR_MICROS - 1);
        while moment >= hour {
            let stretch = level.around(Timestamp::from_micros(moment), &self.zone);
            stretches.push(stretch);
            let Some(before) = stretch.start.as_micros().checked_sub(1) else { break };
            moment = before;
        }
        stretches
    }
}

/// Returns the parts of a span that no row covers. Rows are in order and do not overlap.
fn gaps(all: TimeSpan, rows: &[(i64, GistRow)]) -> Vec<TimeSpan> {
    let (mut from, end) = (all.start.as_micros(), all.end.as_micros());
    let mut gaps = Vec::new();
    for (start, row) in rows {
        if *start > from {
            gaps.push(span(from, *start));
        }
        from = from.max(row.end);
    }
    if from < end {
        gaps.push(span(from, end));
    }
    gaps
}
