//! Stored gists: one row an hour and one a day, made in the background and taken away by the transaction that adds or hides
//! an event in that time.
//!
//! # Invariants
//!
//! 1. An hour that is due has no row, nor has a day that contains it. So a row never says what a hidden event said, and never
//!    lacks what a visible one says.
//! 2. What has no row is made from events when it is read. A gist that was never made costs time and nothing else.
//! 3. The mark of a due hour is the number of the commit that touched it last. A gist is written only if the mark is still the one
//!    that was read before it was made.
//!
//! An hour counts as being of the events that begin in it.

mod making;
mod reading;
mod selecting;
#[cfg(test)]
mod tests;

use redb::{ReadOnlyTable, ReadableTable};
use serde::{Deserialize, Serialize};

use super::draft::Draft;
use crate::episodic::gist::Line;
use crate::store::envelope::{self, RecordType};
use crate::store::failure::{Failure, Result};
use crate::store::noted::Noted;
use crate::store::tables;
use crate::{EventId, TimeSpan, Timestamp};

/// The payload of a row.
pub(super) const GIST: RecordType = RecordType { table: "gists", tag: 11, version: 1 };

/// How far a memory from before there were gists has been looked through: the last event.
const SEEDED: u8 = 0;
/// An hour whose gist is to be made → the number of the commit that touched it.
const DUE_HOUR: u8 = 1;
const HOUR: u8 = 2;
/// A day of universal time in which an hour's gist was made or taken away → that commit.
const DUE_DAY: u8 = 3;
/// A day in the memory's zone, by its begin.
const DAY: u8 = 4;

const HOUR_MICROS: i64 = 3_600_000_000;
const DAY_MICROS: i64 = 24 * HOUR_MICROS;
/// No local day is longer.
const LONGEST_DAY: i64 = 26 * HOUR_MICROS;

/// A gist as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct GistRow {
    pub end: i64,
    pub lines: Vec<Line>,
}

type GistTable<'t> = Noted<'t, (u8, i64), &'static [u8]>;

fn key_bytes(level: u8, start: i64) -> [u8; 9] {
    let mut key = [level; 9];
    key[1..].copy_from_slice(&start.to_le_bytes());
    key
}

fn opened(level: u8, start: i64, sealed: &[u8]) -> Result<GistRow> {
    envelope::open(GIST, &key_bytes(level, start), sealed).map_err(|detail| Failure::damaged(GIST.table, start, detail))
}

fn number(value: &[u8]) -> u64 {
    value.try_into().map(u64::from_le_bytes).unwrap_or_default()
}

fn hour_of(moment: i64) -> i64 {
    moment.div_euclid(HOUR_MICROS).saturating_mul(HOUR_MICROS)
}

fn span(start: i64, end: i64) -> TimeSpan {
    TimeSpan::new(Timestamp::from_micros(start), Timestamp::from_micros(end))
}

/// Marks an hour as due and takes away what was made of it. Returns the bytes of that.
fn touch(table: &mut GistTable<'_>, hour: i64, seq: u64) -> Result<usize> {
    let mut stale = table.remove((HOUR, hour))?.map_or(0, |old| old.value().len());
    let days = table.range((DAY, hour.saturating_sub(LONGEST_DAY))..=(DAY, hour.saturating_add(HOUR_MICROS)))?;
    let days = days.map(|entry| Ok(entry?.0.value().1)).collect::<Result<Vec<i64>>>()?;
    for day in days {
        stale += table.remove((DAY, day))?.map_or(0, |old| old.value().len());
    }
    let mark = seq.to_le_bytes();
    table.insert((DUE_HOUR, hour), mark.as_slice())?;
    table.insert((DUE_DAY, hour.div_euclid(DAY_MICROS)), mark.as_slice())?;
    Ok(stale)
}

impl Draft<'_> {
    /// Marks the hours that this transaction changed.
    pub(super) fn touch_gists(&mut self) -> Result<()> {
        let seq = self.head.seq;
        if std::mem::take(&mut self.unknown_hours) {
            // What a damaged event said cannot be told, nor when: every gist is made again.
            let from = (HOUR, i64::MIN);
            for entry in self.tables.gists.range(from..=(HOUR, i64::MAX))? {
                self.hours.insert(entry?.0.value().1);
            }
        }
        let mut stale = 0;
        for hour in std::mem::take(&mut self.hours) {
            stale += touch(&mut self.tables.gists, hour, seq)?;
        }
        self.head.stale_bytes += stale as u64;
        Ok(())
    }

    /// Notes that something in this time came or went.
    pub(super) fn note_hour(&mut self, start: i64) {
        self.hours.insert(hour_of(start));
    }
}

/// Verifies every row and says what is wrong.
pub(super) fn check(
    table: &ReadOnlyTable<(u8, i64), &'static [u8]>,
    is_visible: &dyn Fn(EventId) -> bool,
    problem: &mut dyn FnMut(String),
) -> Result<u64> {
    let mut records = 0;
    for entry in table.iter()? {
        let (key, value) = entry?;
        let (level, start) = key.value();
        match level {
            // Marks are no records of their own: they say what is to be made.
            SEEDED | DUE_HOUR | DUE_DAY if value.value().len() == 8 => continue,
            HOUR | DAY => match opened(level, start, value.value()) {
                Ok(row) => {
                    let hidden = row.lines.iter().flat_map(|line| &line.sources).find(|event| !is_visible(**event));
                    if let Some(event) = hidden {
                        problem(format!("gists: the one of {start} goes back to event {event}, which is not visible"));
                    }
                }
                Err(failure) => problem(tables::describe(failure)),
            },
            _ => problem(format!("record ({level}, {start}) of gists: it is of no kind that is known")),
        }
        records += 1;
    }
    Ok(records)
}
