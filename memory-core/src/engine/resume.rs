//! Continues from a saved index: finds the changes of the store since then, and applies them.

use std::collections::BTreeMap;

use redb::ReadTransaction;

use super::changes;
use super::saved_index::{Loaded, RecentTold, SavedIndexPlace, SnapshotHeader, Unfit};
use super::vectors::IndexedSpace;
use super::writer::Writer;
use crate::index::{Document, IndexOptions};
use crate::store::event_set::EventSet;
use crate::store::failure::Result;
use crate::store::journal::Journal;
use crate::store::records::{CHANGE, Change};
use crate::store::tables::{self, CHANGES, ReadTables};
use crate::words::fold_name;
use crate::{Clock, EpisodeId, EventId, Timestamp};

/// A writer with the saved index and all that came after it; [`Unfit`] says why that index is of no use.
pub(super) fn resume(
    transaction: &ReadTransaction,
    clock: &dyn Clock,
    place: &SavedIndexPlace<'_>,
    options: IndexOptions,
) -> Result<Result<Writer, Unfit>> {
    let is_ours = |header: &SnapshotHeader| {
        let row = saved_row(transaction, header.number);
        row.is_ok_and(|row| row == Some(Change::Saved { token: header.token }))
    };
    let Loaded { header, entities, recent, index } = match place.load(options, is_ours) {
        Ok(loaded) => loaded,
        Err(unfit) => return Ok(Err(unfit)),
    };
    let changes = match changes::since(transaction, header.number) {
        Ok(changes) => changes,
        Err(failure) => {
            tracing::warn!(
                problem = tables::describe(failure),
                "it is not known what changed since the index was saved"
            );
            return Ok(Err(Unfit::Foreign("what changed since it was saved is not known")));
        }
    };
    let mut writer = Writer::with(transaction, index, place.generation)?;
    writer.entities = entities;
    writer.damaged = header.damaged;
    writer.indexed_space = header.space.clone().map(|(space, number)| IndexedSpace { space, number });
    writer.saved = Some(header.number);
    writer.live = visible(&writer);
    for change in &changes {
        writer.do_again(change, header.last_event);
    }
    writer.recover_recent(&recent, Timestamp::from_micros(header.at), clock);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut count = |document: &Document| {
        if let Some(entity) = &document.entity {
            *counts.entry(fold_name(entity)).or_default() += 1;
        }
    };
    writer.recover_events(&ReadTables::open(transaction)?, clock, header.last_event, &mut count)?;
    for (name, count) in counts {
        *writer.entities.entry(name).or_default() += count;
    }
    // A record that is damaged is counted by the head and is in no index.
    let (events, known) = (writer.head.events, writer.live.len());
    if known > events || known + writer.damaged < events {
        return Ok(Err(Unfit::Foreign("it has not as many events as the store")));
    }
    writer.pending = writer.live.clone();
    Ok(Ok(writer))
}

fn saved_row(transaction: &ReadTransaction, number: u64) -> Result<Option<Change>> {
    let table = match transaction.open_table(CHANGES) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    table.get(number)?.map(|row| tables::open_numbered(CHANGE, number, row.value())).transpose()
}

fn visible(writer: &Writer) -> EventSet {
    let mut live = EventSet::default();
    writer.index.snapshot().for_each_visible(&mut |event, _| live.insert(event.0));
    live
}

impl Writer {
    /// Does again what changed events that the saved index holds; `last` is the last of them. Later ones are read as they are now.
    fn do_again(&mut self, change: &Change, last: u64) {
        match change {
            Change::Saved { .. } => {}
            Change::Dropped { spaces } => {
                let number = self.indexed_space.as_ref().and_then(|indexed| indexed.number);
                if number.is_some_and(|number| spaces.contains(&number)) {
                    self.indexed_space = None;
                }
            }
            Change::Events { hidden, moved } => {
                let moves: Vec<_> = moved
                    .iter()
                    .filter(|(event, _)| *event <= last)
                    .map(|(event, episode)| (EventId(*event), EpisodeId(*episode)))
                    .collect();
                self.index.regroup(&moves);
                let known: Vec<(u64, u64)> =
                    hidden.iter().copied().filter(|(event, _)| self.live.contains(*event)).collect();
                if known.is_empty() {
                    return;
                }
                let names: BTreeMap<u64, String> =
                    self.entities.keys().map(|name| (changes::hash_of(name), name.clone())).collect();
                for (event, entity) in &known {
                    self.live.remove(*event);
                    changes::count_out(&mut self.entities, *entity, &names);
                }
                self.index.hide(&known.iter().map(|(event, _)| EventId(*event)).collect::<Vec<_>>());
            }
        }
    }

    /// Takes in what was told in the minutes before the index was saved, `at` by the wall clock.
    fn recover_recent(&mut self, recent: &[RecentTold], at: Timestamp, clock: &dyn Clock) {
        let now = clock.now();
        let young = recent.iter().filter(|(_, event, age)| {
            self.live.contains(event.0)
                && (self.behind.has(event.0) || Journal::is_recent(at.saturating_sub(*age), now))
        });
        let entries: Vec<_> = young.map(|(digest, event, _)| (*digest, *event)).collect();
        self.journal.extend(entries, clock.monotonic());
    }
}
