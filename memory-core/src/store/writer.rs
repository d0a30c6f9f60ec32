//! What the one writer keeps in memory. All of it is rebuilt from the tables.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use redb::ReadableTable;

use super::draft::Changes;
use super::event_set::EventSet;
use super::failure::Result;
use super::journal::Journal;
use super::published::Published;
use super::records::{EVENT, EpisodeBody, EventRow, Head};
use super::tables::{self, ENTITY, META, ReadTables};
use super::vectors::SpaceInUse;
use crate::index::{Document, Index, IndexOptions, LogIndex};
use crate::{AbsentRole, Clock, Origin, Stats};

/// How many documents are handed to the index at once while it is rebuilt.
const REBUILD_CHUNK: usize = 4096;

/// The write side of the memory, behind its one lock.
pub(crate) struct Writer {
    pub head: Head,
    pub index: Box<dyn Index>,
    pub journal: Journal,
    /// Visible events.
    pub live: EventSet,
    /// Visible events without a vector in the space in use.
    pub pending: EventSet,
    /// φ and its space.
    pub space: Option<SpaceInUse>,
    pub absent: Arc<[AbsentRole]>,
    /// Folded entity names with their counts of visible events.
    entities: BTreeMap<String, u64>,
    duplicates: u64,
    /// Records that did not decode when the memory was opened.
    damaged: u64,
}

impl Writer {
    /// Rebuilds everything from the tables. A damaged record costs itself and nothing else.
    pub(crate) fn recover(transaction: &redb::ReadTransaction, clock: &dyn Clock) -> Result<Self> {
        let head = tables::head(&transaction.open_table(META)?)?;
        let tables = ReadTables::open(transaction)?;
        let mut writer = Self {
            head,
            index: Box::new(LogIndex::new(IndexOptions::default())),
            journal: Journal::default(),
            live: EventSet::default(),
            pending: EventSet::default(),
            space: None,
            absent: Arc::from([]),
            entities: BTreeMap::new(),
            duplicates: 0,
            damaged: 0,
        };
        writer.recover_entities(&tables)?;
        writer.recover_events(&tables, clock)?;
        writer.pending = writer.live.clone();
        Ok(writer)
    }

    fn recover_entities(&mut self, tables: &ReadTables) -> Result<()> {
        let mut last: Option<(String, u64)> = None;
        for entry in tables.facets.range((ENTITY, "", 0)..(ENTITY + 1, "", 0))? {
            let key = entry?.0;
            let (_, name, _) = key.value();
            match &mut last {
                Some((current, count)) if current == name => *count += 1,
                _ => {
                    self.entities.extend(last.take());
                    last = Some((name.to_owned(), 1));
                }
            }
        }
        self.entities.extend(last);
        Ok(())
    }

    fn recover_events(&mut self, tables: &ReadTables, clock: &dyn Clock) -> Result<()> {
        let now = clock.now();
        let monotonic = clock.monotonic();
        let mut documents = Vec::with_capacity(REBUILD_CHUNK);
        // Events of one episode mostly follow each other.
        let mut episode: Option<(u64, Option<EpisodeBody>)> = None;
        for entry in tables.events.iter()? {
            let (key, value) = entry?;
            let id = key.value();
            let body = match tables::open_numbered(EVENT, id, value.value()) {
                Ok(EventRow::Live(body)) => body,
                Ok(_) => continue,
                Err(failure) => {
                    self.note_damage(failure);
                    continue;
                }
            };
            if episode.as_ref().is_none_or(|(known, _)| *known != body.episode) {
                let found = match tables.live_episode(body.episode) {
                    Ok(found) => found.map(|(_, episode)| episode),
                    Err(failure) => {
                        self.note_damage(failure);
                        None
                    }
                };
                episode = Some((body.episode, found));
            }
            let of = episode.as_ref().and_then(|(_, episode)| episode.as_ref());
            match body.to_event(id, of) {
                Ok(event) => documents.push(Document::of(&event)),
                Err(failure) => {
                    self.note_damage(failure);
                    continue;
                }
            }
            self.live.insert(id);
            let received = crate::Timestamp::from_micros(body.received);
            if body.origin == Origin::Told && !body.has_key() && Journal::is_recent(received, now) {
                // Its age in this run's monotonic time is not known: it counts from now, so it is kept a little longer.
                self.journal.extend([(body.digest(), crate::EventId(id))], monotonic);
            }
            if documents.len() == REBUILD_CHUNK {
                self.index.append(&documents);
                documents.clear();
            }
        }
        self.index.append(&documents);
        Ok(())
    }

    fn note_damage(&mut self, failure: super::failure::Failure) {
        self.damaged += 1;
        tracing::error!(problem = tables::describe(failure), "a record is damaged and left out; run `engram check`");
    }

    /// Takes in what a transaction committed at the monotonic time `at` has changed.
    pub(crate) fn apply(&mut self, head: Head, changes: Changes, at: Duration) {
        self.head = head;
        for document in &changes.appended {
            self.live.insert(document.id.0);
            self.pending.insert(document.id.0);
        }
        for hidden in &changes.hidden {
            self.live.remove(hidden.0);
            self.pending.remove(hidden.0);
        }
        self.index.append(&changes.appended);
        if !changes.moved.is_empty() {
            self.index.regroup(&changes.moved);
        }
        if !changes.hidden.is_empty() {
            self.index.hide(&changes.hidden);
        }
        for (name, change) in changes.entities {
            let count = self.entities.get(&name).copied().unwrap_or(0).saturating_add_signed(change);
            if count == 0 {
                self.entities.remove(&name);
            } else {
                self.entities.insert(name, count);
            }
        }
        self.journal.extend(changes.unkeyed, at);
        self.note_duplicates(changes.duplicates);
    }

    /// Counts repetitions that were dropped.
    pub(crate) fn note_duplicates(&mut self, duplicates: u64) {
        self.duplicates += duplicates;
    }

    /// What readers are to see from now on.
    pub(crate) fn publish(&self) -> Published {
        Published {
            search: self.index.snapshot(),
            stats: Stats {
                observations: self.head.observations,
                events: self.head.events,
                episodes: self.head.episodes,
                entities: self.entities.len() as u64,
                hidden: self.head.hidden,
                seq: self.head.seq,
                pending_embeddings: self.pending.len(),
                duplicates: self.duplicates,
                disk_bytes: 0,
                damaged: self.damaged,
            },
            embedder: self.space.as_ref().map(|space| Arc::clone(&space.embedder)),
            absent: Arc::clone(&self.absent),
        }
    }
}
