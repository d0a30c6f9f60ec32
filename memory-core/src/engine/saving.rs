//! Saves the index while readers and writer continue, and decides when.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::changes;
use super::handle::Engine;
use super::saved_index::{self, Saving, SnapshotHeader};
use super::writer::Writer;
use crate::ports::LongWork;
use crate::store::failure::{Failure, Result};
use crate::store::generation::Generation;
use crate::store::records::Change;
use crate::store::tables::WriteTables;
use crate::{IndexSaved, MaintenanceError, SaveIndex};

/// Number of events below which the index is not saved, because it is built again in no time.
const MIN_EVENTS: u64 = 1024;
/// The index is saved again once one part in so many of it is new. The bytes written stay in proportion to the events, and the
/// time to open after a kill stays in proportion to the memory.
const NEW_SHARE: u64 = 32;
/// The same for a program that ends: a smaller share is worth saving, because the next start is faster.
const NEW_SHARE_AT_EXIT: u64 = 64;
/// Minimum time between two saves.
const MIN_INTERVAL: Duration = Duration::from_secs(300);

/// Held while the index is saved.
#[derive(Default)]
pub(crate) struct SavingState {
    /// Monotonic time of the last attempt.
    tried: Option<Duration>,
}

impl SavingState {
    fn is_due(&self, when: SaveIndex, writer: &Writer, now: Duration) -> bool {
        let (new, events) = (writer.index.unsaved(), writer.live.len());
        let rested = self.tried.is_none_or(|tried| now.saturating_sub(tried) >= MIN_INTERVAL);
        let worth = |part: u64| events >= MIN_EVENTS && new > 0 && new.saturating_mul(part) >= events;
        match when {
            SaveIndex::Now => true,
            SaveIndex::IfDue => rested && worth(NEW_SHARE),
            SaveIndex::AtEnd => worth(NEW_SHARE_AT_EXIT),
        }
    }
}

impl Engine {
    /// Saves the index if it is time. Only taking its state keeps the writer waiting, and giving the file its name.
    pub(crate) fn save_index(&self, when: SaveIndex) -> Result<Option<IndexSaved>, MaintenanceError> {
        let Some(mut state) = self.saving.try_lock() else { return Ok(None) };
        let begin = self.clock.monotonic();
        let (generation, saving, mut file, unsaved) = {
            let mut writer = self.writer.lock();
            let generation = self.database.generation();
            // After a compaction it is built anew first: the old one holds words of what was forgotten.
            if writer.index.generation() != generation || !state.is_due(when, &writer, begin) {
                return Ok(None);
            }
            state.tried = Some(begin);
            let saving = self.take_state(&mut writer, generation)?;
            // Created under the lock, so that removing the files of this generation removes it too.
            let file = self.database.storage().create(&saved_index::new_name(generation)).map_err(saving_failed)?;
            (generation, saving, file, writer.index.take_unsaved())
        };
        let number = saving.header.number;
        let written =
            saving.write(&mut file, &|| self.step(LongWork::Saving)).and_then(|bytes| file.sync().map(|()| bytes));
        drop(file);
        let named = written.map_err(saving_failed).and_then(|bytes| Ok((self.name_it(generation, number)?, bytes)));
        if let Ok((true, bytes)) = named {
            let took = self.clock.monotonic().saturating_sub(begin);
            return Ok(Some(IndexSaved { bytes, events: saving.search.len() as u64, took }));
        }
        // A compaction may have removed it already.
        let _gone_or_not = self.database.storage().remove(&saved_index::new_name(generation));
        self.writer.lock().index.add_unsaved(unsaved);
        named.map(|_| None)
    }

    /// Saves it where that is worth it; a failure costs time at the next opening, and is told.
    pub(crate) fn save_index_if_due(&self, when: SaveIndex) {
        if self.stopping.load(Ordering::Acquire) {
            return;
        }
        if let Err(error) = self.save_index(when) {
            tracing::warn!(%error, "the index could not be saved; the next start builds it anew");
        }
    }

    /// The state of the writer, with a row by which it is known again.
    fn take_state(&self, writer: &mut Writer, generation: Generation) -> Result<Saving> {
        let token = new_token()?;
        // Until the new file has its name, the old one may be needed.
        let needed = writer.saved;
        let number = self.commit(writer, |transaction, _| {
            let mut tables = WriteTables::open(transaction)?;
            let number = changes::push(&mut tables.changes, &Change::Saved { token })?;
            changes::prune(&mut tables.changes, needed.unwrap_or(number))?;
            Ok(number)
        })?;
        let space = writer.indexed_space.as_ref().map(|indexed| (indexed.space.clone(), indexed.number));
        Ok(Saving {
            header: SnapshotHeader {
                instance: self.instance.clone(),
                generation: generation.0,
                number,
                token,
                last_event: writer.head.last_event,
                at: self.clock.now().as_micros(),
                damaged: writer.damaged,
                space,
            },
            entities: writer.entities.clone(),
            recent: writer.journal.recent(self.clock.monotonic()),
            search: writer.index.snapshot(),
        })
    }

    /// Puts the whole and synced file in its place; not if the store has gone on to another generation meanwhile, or the two
    /// together would pass the ceiling: a cache takes no room from memories.
    fn name_it(&self, generation: Generation, number: u64) -> Result<bool, MaintenanceError> {
        let storage = self.database.storage();
        {
            let writer = self.writer.lock();
            if self.database.generation() != generation || writer.index.generation() != generation {
                return Ok(false);
            }
            let (new, name) = (saved_index::new_name(generation), generation.index_file_name());
            let together = self.database.disk_bytes().saturating_add(storage.disk_bytes(&new).unwrap_or(0));
            if self.options.max_bytes.is_some_and(|ceiling| together > ceiling) {
                tracing::debug!(together, "the index is not saved: there is no room for it below the ceiling");
                return Ok(false);
            }
            storage.rename(&new, &name).map_err(saving_failed)?;
        }
        storage.sync().map_err(saving_failed)?;
        let mut writer = self.writer.lock();
        if writer.index.generation() == generation {
            writer.saved = Some(number);
        }
        Ok(true)
    }
}

impl Engine {
    /// Gives up the saved index once it and the store together reach the ceiling.
    pub(super) fn make_room(&self, taken: u64, ceiling: u64) {
        let name = self.database.generation().index_file_name();
        let storage = self.database.storage();
        if storage.disk_bytes(&name).is_ok_and(|saved| taken.saturating_add(saved) >= ceiling) {
            match storage.remove(&name) {
                Ok(()) => tracing::debug!("the saved index gave its room to the store"),
                Err(error) => tracing::warn!(%error, "the saved index is in the way and cannot be removed"),
            }
        }
    }
}

fn saving_failed(error: std::io::Error) -> MaintenanceError {
    let full = crate::error::is_full(&error);
    let message = format!("the index cannot be saved: {error}");
    if full { MaintenanceError::Full(message) } else { MaintenanceError::Store(message) }
}

fn new_token() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| Failure::Store(format!("no random numbers: {error}")))?;
    Ok(u64::from_le_bytes(bytes))
}
