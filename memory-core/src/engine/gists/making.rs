//! The background work: marks hours of old events, makes what is due.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use redb::{ReadTransaction, ReadableTable};

use super::{
    DAY, DAY_MICROS, DUE_DAY, DUE_HOUR, GIST, GistRow, GistTable, HOUR, HOUR_MICROS, SEEDED, hour_of, key_bytes,
    number, span, touch,
};
use crate::engine::handle::Engine;
use crate::episodic::gist::{GistNews, Level, MOST_EVENTS, joined};
use crate::ports::LongWork;
use crate::store::envelope;
use crate::store::failure::{Result, if_sound};
use crate::store::records::{EVENT, EventRow};
use crate::store::tables::{self, EVENTS, GISTS};
use crate::{ObserveError, TimeSpan, Timestamp};

/// Delay, in microseconds, after which an hour counts as over. Segments arrive when they close.
const GRACE_US: i64 = 60_000_000;
/// Maximum number of events that one call scans for hours without a gist.
const MAX_SEEDED_EVENTS: usize = 16_384;
/// Maximum age, in microseconds, of a gist that is announced. An import of a year announces none of its old days.
const MAX_NEWS_AGE_US: i64 = 2 * DAY_MICROS;

/// Gist of an hour, to be written unless the hour has changed meanwhile.
struct MadeHour {
    hour: i64,
    mark: u64,
    row: Option<GistRow>,
}

/// Gists of the local days that overlap a day of universal time.
struct MadeDays {
    number_of_day: i64,
    mark: u64,
    rows: Vec<(i64, GistRow)>,
}

impl Engine {
    /// How many gists are to be made; one more while not every event was looked at.
    pub(crate) fn gists_due(&self) -> Result<usize> {
        let over = hour_of(self.now().as_micros().saturating_sub(GRACE_US));
        let Some(table) = tables::gists(&self.database.read()?)? else { return Ok(1) };
        let is_seeded = table.get((SEEDED, 0))?.is_some_and(|value| number(value.value()) == u64::MAX);
        let mut due = usize::from(!is_seeded);
        for entry in table.range((DUE_HOUR, i64::MIN)..(DUE_HOUR, over))? {
            entry?;
            due += 1;
        }
        for entry in table.range((DUE_DAY, i64::MIN)..=(DUE_DAY, i64::MAX))? {
            due += usize::from(is_over(&days_of(entry?.0.value().1, &self.options.zone), over));
        }
        Ok(due)
    }

    /// Makes up to `limit` gists of hours that are over or, if there are none, of days; how many are left.
    pub(crate) fn gists_pending(&self, limit: usize) -> Result<usize, ObserveError> {
        if !self.seed_gists()? {
            return Ok(self.gists_due()?);
        }
        let over = hour_of(self.now().as_micros().saturating_sub(GRACE_US));
        let hours = self.make_hours(limit, over)?;
        if hours.is_empty() {
            let days = self.make_days(limit, over)?;
            self.commit_days(days)?;
        } else {
            self.commit_hours(hours)?;
        }
        Ok(self.gists_due()?)
    }

    /// The tables as the index knows them: between a commit and its publishing the writer is locked.
    fn marks(&self) -> Result<ReadTransaction> {
        let _no_commit = self.writer();
        self.database.read()
    }

    /// Marks the hours of events from before there were gists; whether none are left.
    fn seed_gists(&self) -> Result<bool, ObserveError> {
        let unseeded = || -> Result<Option<Vec<(u64, i64)>>> {
            let transaction = self.database.read()?;
            let from = match tables::gists(&transaction)? {
                Some(table) => table.get((SEEDED, 0))?.map_or(0, |value| number(value.value())),
                None => 0,
            };
            if from == u64::MAX {
                return Ok(None);
            }
            let mut begins = Vec::new();
            for entry in transaction.open_table(EVENTS)?.range(from.saturating_add(1)..)?.take(MAX_SEEDED_EVENTS) {
                let (key, value) = entry?;
                if let Some(EventRow::Live(body)) = if_sound(tables::open_numbered(EVENT, key.value(), value.value()))?
                {
                    begins.push((key.value(), body.start));
                } else {
                    begins.push((key.value(), i64::MIN));
                }
            }
            Ok(Some(begins))
        };
        let Some(begins) = unseeded()? else { return Ok(true) };
        self.step(LongWork::Learning);
        let done = begins.len() < MAX_SEEDED_EVENTS;
        let last = if done { u64::MAX } else { begins.last().map_or(u64::MAX, |(event, _)| *event) };
        let hours: BTreeSet<i64> =
            begins.iter().filter(|(_, start)| *start > i64::MIN).map(|(_, start)| hour_of(*start)).collect();
        self.write_gists(|table, seq| {
            for hour in hours {
                if table.get((HOUR, hour))?.is_none() {
                    touch(table, hour, seq)?;
                }
            }
            table.insert((SEEDED, 0), last.to_le_bytes().as_slice())?;
            Ok(())
        })?;
        Ok(done)
    }

    fn make_hours(&self, limit: usize, over: i64) -> Result<Vec<MadeHour>> {
        // Marks that are older than what is read: whatever comes meanwhile changes them.
        let marks = self.marks()?;
        let Some(table) = tables::gists(&marks)? else { return Ok(Vec::new()) };
        let view = self.view()?;
        let mut made = Vec::new();
        for entry in table.range((DUE_HOUR, i64::MIN)..(DUE_HOUR, over))?.take(limit) {
            let (key, value) = entry?;
            let (hour, mark) = (key.value().1, number(value.value()));
            let end = hour.saturating_add(HOUR_MICROS);
            let lines = joined(view.lines_of_events(span(hour, end), false, MOST_EVENTS)?);
            let lines = self.select_lines(Level::Hour, lines);
            self.step(LongWork::Learning);
            made.push(MadeHour { hour, mark, row: (!lines.is_empty()).then_some(GistRow { end, lines }) });
        }
        Ok(made)
    }

    fn commit_hours(&self, made: Vec<MadeHour>) -> Result<(), ObserveError> {
        let mut news = Vec::new();
        self.write_gists(|table, seq| {
            for MadeHour { hour, mark, row } in made {
                if !is_unchanged(table, (DUE_HOUR, hour), mark)? {
                    continue;
                }
                table.remove((DUE_HOUR, hour))?;
                table.insert((DUE_DAY, hour.div_euclid(DAY_MICROS)), seq.to_le_bytes().as_slice())?;
                if let Some(row) = row {
                    put(table, HOUR, hour, &row)?;
                    news.push(GistNews { level: Level::Hour, span: span(hour, row.end) });
                }
            }
            Ok(())
        })?;
        self.tell_of_gists(news);
        Ok(())
    }

    /// Makes the gists of days that are over. Every hour before is made.
    fn make_days(&self, limit: usize, over: i64) -> Result<Vec<MadeDays>> {
        let zone = &self.options.zone;
        let marks = self.marks()?;
        let Some(table) = tables::gists(&marks)? else { return Ok(Vec::new()) };
        let view = self.view()?;
        let mut made = Vec::new();
        for entry in table.range((DUE_DAY, i64::MIN)..=(DUE_DAY, i64::MAX))? {
            let (key, value) = entry?;
            let (number_of_day, mark) = (key.value().1, number(value.value()));
            let days = days_of(number_of_day, zone);
            if made.len() == limit {
                break;
            }
            if !is_over(&days, over) {
                continue;
            }
            let mut rows = Vec::new();
            for day in days {
                let lines = self.select_lines(Level::Day, view.lines_of(day, false)?);
                if !lines.is_empty() {
                    rows.push((day.start.as_micros(), GistRow { end: day.end.as_micros(), lines }));
                }
                self.step(LongWork::Learning);
            }
            made.push(MadeDays { number_of_day, mark, rows });
        }
        Ok(made)
    }

    fn commit_days(&self, made: Vec<MadeDays>) -> Result<(), ObserveError> {
        if made.is_empty() {
            return Ok(());
        }
        let mut news = Vec::new();
        self.write_gists(|table, _| {
            for MadeDays { number_of_day, mark, rows } in made {
                if !is_unchanged(table, (DUE_DAY, number_of_day), mark)? {
                    continue;
                }
                table.remove((DUE_DAY, number_of_day))?;
                for (start, row) in rows {
                    // The other day of universal time that it overlaps may have changed.
                    let is_due = table.range((DUE_HOUR, start)..(DUE_HOUR, row.end))?.next().is_some();
                    if !is_due && put(table, DAY, start, &row)? {
                        news.push(GistNews { level: Level::Day, span: span(start, row.end) });
                    }
                }
            }
            Ok(())
        })?;
        self.tell_of_gists(news);
        Ok(())
    }

    fn tell_of_gists(&self, mut news: Vec<GistNews>) {
        let now = self.now().as_micros();
        news.retain(|gist| gist.span.end.as_micros() > now.saturating_sub(MAX_NEWS_AGE_US));
        self.news.lock().add_gists(news);
    }

    /// News of gists since the last call.
    pub(crate) fn take_gist_news(&self) -> Vec<GistNews> {
        self.news.lock().take_gists()
    }

    /// One transaction for gists alone. It waits for no disk: what is lost is made again.
    fn write_gists(&self, work: impl FnOnce(&mut GistTable<'_>, u64) -> Result<()>) -> Result<(), ObserveError> {
        let mut writer = self.writer();
        let seq = writer.head.seq;
        self.commit(&mut writer, |transaction, _| {
            transaction.wait_for_no_disk()?;
            work(&mut transaction.open_table(GISTS)?, seq)
        })?;
        Ok(())
    }
}

/// Whether a mark is still the one that was read.
fn is_unchanged(table: &GistTable<'_>, key: (u8, i64), mark: u64) -> Result<bool> {
    Ok(table.get(key)?.is_some_and(|value| number(value.value()) == mark))
}

/// Writes a gist; `false` if the same one was there.
fn put(table: &mut GistTable<'_>, level: u8, start: i64, row: &GistRow) -> Result<bool> {
    let sealed = envelope::seal(GIST, &key_bytes(level, start), row);
    let old = table.insert((level, start), sealed.as_slice())?;
    Ok(old.is_none_or(|old| old.value() != sealed))
}

/// The local days that overlap a day of universal time.
fn days_of(number_of_day: i64, zone: &TimeZone) -> Vec<TimeSpan> {
    let first = number_of_day.saturating_mul(DAY_MICROS);
    let around = |moment| Level::Day.around(Timestamp::from_micros(moment), zone);
    let mut days = vec![around(first), around(first.saturating_add(DAY_MICROS - 1))];
    days.dedup();
    days
}

fn is_over(days: &[TimeSpan], over: i64) -> bool {
    days.iter().all(|day| day.end.as_micros() <= over)
}
