//! The state that the single writer keeps in memory. All of it can be rebuilt from the tables.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use redb::ReadTransaction;

use super::draft::Changes;
use super::index_seat::IndexSeat;
use super::learned;
use super::poses::{self, Positions};
use super::published::Published;
use super::resume::resume;
use super::saved_index::{SavedIndexPlace, Unfit};
use super::shared::Lately;
use super::vectors::{IndexedSpace, SpaceInUse};
use super::withdrawals::Withdrawals;
use crate::episodic::consolidation::PlaceSpace;
use crate::index::{CompressedIndex, Document, IndexOptions};
use crate::learning::Learnt;
use crate::ports::{AnswerExtractor, TextEmbedder};
use crate::store::event_set::EventSet;
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::generation::Generation;
use crate::store::journal::Journal;
use crate::store::records::{Behind, Digest, EVENT, EpisodeBody, EventRow, Head};
use crate::store::tables::{self, ENTITY, META, ReadTables};
use crate::{AbsentRole, Clock, EventId, Origin, PendingWork, Stats, Timestamp};

/// Number of documents that are passed to the index at once while it is rebuilt.
const REBUILD_CHUNK: usize = 4096;

/// Number of events from which a rebuild of the index is logged.
const MIN_LOGGED_REBUILD: u64 = 1024;

/// Maximum number of chunks that are decoded before they are indexed.
const MAX_CHUNKS_AHEAD: usize = 4;

/// Visible events as they are read back.
#[derive(Default)]
struct Recovered {
    documents: Vec<Document>,
    unkeyed: Vec<(Digest, EventId)>,
    damaged: u64,
}

/// The write side of the memory, behind its one lock.
pub(crate) struct Writer {
    pub head: Head,
    pub index: IndexSeat,
    /// Positions of visible events.
    pub positions: Positions,
    pub journal: Journal,
    /// Visible events.
    pub live: EventSet,
    /// Visible events without a vector in the space in use.
    pub pending: EventSet,
    /// Vectors that were committed lately: the same ones are shared.
    pub lately: Lately,
    /// φ and its space.
    pub space: Option<SpaceInUse>,
    pub absent: Arc<[AbsentRole]>,
    /// Texts in the space of pictures.
    pub picture_texts: Option<Arc<dyn TextEmbedder>>,
    pub extractor: Option<Arc<dyn AnswerExtractor>>,
    pub place_spaces: Arc<[PlaceSpace]>,
    /// Learnt state up to its cursor.
    pub learnt: Arc<Learnt>,
    /// Recent withdrawals. What was learnt beside them loses the same events.
    pub withdrawals: Withdrawals,
    /// Events that were told while the clock was behind.
    pub behind: Behind,
    /// How often what was learnt was read from the tables.
    pub learnt_openings: u64,
    /// Folded entity names with their counts of visible events.
    pub entities: BTreeMap<String, u64>,
    duplicates: u64,
    /// Records that did not decode when the index was built.
    pub damaged: u64,
    /// The space whose signatures the index has, in use or not.
    pub indexed_space: Option<IndexedSpace>,
    /// The row in `changes` of the index that was saved last.
    pub saved: Option<u64>,
}

impl Writer {
    /// Goes on from the index that was saved, or rebuilds everything from the tables where there is none that fits.
    pub(crate) fn open(
        transaction: &ReadTransaction,
        clock: &dyn Clock,
        place: &SavedIndexPlace<'_>,
        options: IndexOptions,
    ) -> Result<Self> {
        std::thread::scope(|scope| {
            let learnt = scope.spawn(|| learned::load(transaction));
            let mut writer = match resume(transaction, clock, place, options)? {
                Ok(writer) => writer,
                Err(unfit) => {
                    let writer = Self::rebuild(transaction, clock, place.generation, options, &mut |_| {})?;
                    if writer.live.len() >= MIN_LOGGED_REBUILD || !matches!(unfit, Unfit::Missing) {
                        let events = writer.live.len();
                        tracing::info!(events, why = %unfit, "the index was built anew, not read from its file");
                    }
                    writer
                }
            };
            writer.positions = poses::positions(transaction, &writer.live)?;
            writer.learnt = Arc::new(joined(learnt)?);
            Ok(writer)
        })
    }

    /// Builds everything from the tables but what was learnt, and shows every document to `visit`. A damaged record costs itself
    /// and nothing else.
    pub(crate) fn rebuild(
        transaction: &ReadTransaction,
        clock: &dyn Clock,
        generation: Generation,
        options: IndexOptions,
        visit: &mut dyn FnMut(&Document),
    ) -> Result<Self> {
        let tables = ReadTables::open(transaction)?;
        let mut writer = Self::with(transaction, CompressedIndex::new(options), generation)?;
        writer.recover_entities(&tables)?;
        writer.recover_events(&tables, clock, 0, visit)?;
        writer.pending = writer.live.clone();
        Ok(writer)
    }

    /// A writer whose index knows of no event that is not in `index`.
    pub(super) fn with(transaction: &ReadTransaction, index: CompressedIndex, generation: Generation) -> Result<Self> {
        Ok(Self {
            head: tables::head(&transaction.open_table(META)?)?,
            index: IndexSeat::new(Box::new(index), generation),
            positions: Positions::default(),
            journal: Journal::default(),
            live: EventSet::default(),
            pending: EventSet::default(),
            lately: Lately::default(),
            space: None,
            picture_texts: None,
            extractor: None,
            place_spaces: Arc::from([]),
            absent: Arc::from([]),
            learnt: Arc::default(),
            withdrawals: Withdrawals::default(),
            behind: tables::behind(&transaction.open_table(META)?)?,
            learnt_openings: 0,
            entities: BTreeMap::new(),
            duplicates: 0,
            damaged: 0,
            indexed_space: None,
            saved: None,
        })
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

    /// Takes in every visible event after `after`, and shows its document to `visit`. Reads and decodes in one thread and
    /// indexes in this one: it takes as long as the slower of the two.
    pub(super) fn recover_events(
        &mut self,
        tables: &ReadTables,
        clock: &dyn Clock,
        after: u64,
        visit: &mut dyn FnMut(&Document),
    ) -> Result<()> {
        let (now, behind) = (clock.now(), self.behind);
        let monotonic = clock.monotonic();
        std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::sync_channel(MAX_CHUNKS_AHEAD);
            let reader = scope.spawn(move || read_events(tables, after, now, behind, &sender));
            for chunk in receiver {
                let Recovered { documents, unkeyed, damaged } = chunk;
                for document in &documents {
                    self.live.insert(document.id.0);
                    visit(document);
                }
                self.index.append(&documents);
                // Their age in this run's monotonic time is not known: it counts from now, so they are kept a little longer.
                self.journal.extend(unkeyed, monotonic);
                self.damaged += damaged;
            }
            joined(reader)
        })
    }

    /// Takes in what a transaction committed at the monotonic time `at` has changed.
    pub(crate) fn apply(&mut self, head: Head, mut changes: Changes, at: Duration) {
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
        self.positions.apply(&mut changes);
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

    /// Takes over after a writer whose tables were read anew.
    pub(super) fn follow_learnt(&mut self, before: &mut Self) {
        self.withdrawals = std::mem::take(&mut before.withdrawals);
        self.withdrawals.restart();
        self.learnt_openings = before.learnt_openings + 1;
    }

    /// Returns the work that follows the commit and is not done yet.
    pub(crate) fn pending_work(&self) -> PendingWork {
        PendingWork {
            embeddings: self.pending.len(),
            lessons: self.live.count_after(self.learnt.cursor().0),
            relearning: self.learnt.is_unsettled(),
        }
    }

    /// Counts repetitions that were dropped.
    pub(crate) fn note_duplicates(&mut self, duplicates: u64) {
        self.duplicates += duplicates;
    }

    /// Returns the names of what is not available, for answers.
    fn absent_roles(&self) -> Arc<[AbsentRole]> {
        if !self.learnt.is_unsettled() {
            return Arc::clone(&self.absent);
        }
        let reason = match self.learnt.has_withdrawn() {
            true => "running again after something was corrected or forgotten; procedures that contain it are omitted",
            false => "running again after something was corrected or forgotten",
        };
        let learning = AbsentRole { role: "learning".into(), reason: reason.into(), modality: None };
        self.absent.iter().cloned().chain([learning]).collect()
    }

    /// Returns the state that readers see from now on.
    pub(crate) fn publish(&self) -> Published {
        let numbered = |space: &SpaceInUse| space.number.map(|number| (number, space.space.dimensions));
        Published {
            space: self.space.as_ref().and_then(numbered),
            search: self.index.snapshot(),
            positions: self.positions.clone(),
            longest_segment: self.head.longest_segment,
            stats: Stats {
                observations: self.head.observations,
                events: self.head.events,
                episodes: self.head.episodes,
                entities: self.entities.len() as u64,
                hidden: self.head.hidden,
                seq: self.head.seq,
                pending_embeddings: self.pending.len(),
                pending_lessons: self.live.count_after(self.learnt.cursor().0),
                relearning: self.learnt.is_unsettled(),
                facts: self.learnt.facts().len() as u64,
                duplicates: self.duplicates,
                disk_bytes: 0,
                damaged: self.damaged,
                stale_bytes: self.head.stale_bytes,
                forgotten_since: self.head.forgotten_since.map(Timestamp::from_micros),
                last_event: self.head.last_event,
                clock_behind: None,
            },
            embedder: self.space.as_ref().map(|space| Arc::clone(&space.embedder)),
            absent: self.absent_roles(),
            picture_texts: self.picture_texts.clone(),
            extractor: self.extractor.clone(),
            place_spaces: Arc::clone(&self.place_spaces),
            learnt: Arc::clone(&self.learnt),
        }
    }
}

/// What a thread found. A panic is redb's answer to pages that contradict each other; whoever opens the store tells it as
/// damage.
pub(super) fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Sends every visible event after `after`, in order of ids. A damaged record is told and left out.
fn read_events(
    tables: &ReadTables,
    after: u64,
    now: Timestamp,
    behind: Behind,
    sender: &SyncSender<Recovered>,
) -> Result<()> {
    let mut chunk = Recovered::default();
    // Events of one episode mostly follow each other.
    let mut episode: Option<(u64, Option<EpisodeBody>)> = None;
    for entry in tables.events.range(after.saturating_add(1)..)? {
        let (key, value) = entry?;
        let id = key.value();
        let body = match tables::open_numbered(EVENT, id, value.value()) {
            Ok(EventRow::Live(body)) => body,
            Ok(_) => continue,
            Err(failure) => {
                chunk.damaged += told_damage(failure);
                continue;
            }
        };
        if episode.as_ref().is_none_or(|(known, _)| *known != body.episode) {
            let found = tables.live_episode(body.episode).unwrap_or_else(|failure| {
                chunk.damaged += told_damage(failure);
                None
            });
            episode = Some((body.episode, found.map(|(_, episode)| episode)));
        }
        let of = episode.as_ref().and_then(|(_, episode)| episode.as_ref());
        let received = Timestamp::from_micros(body.received);
        if body.origin == Origin::Told && !body.has_key() && (Journal::is_recent(received, now) || behind.has(id)) {
            let pose = if_sound(tables.pose(id))?.flatten();
            chunk.unkeyed.push((body.digest(poses::said(pose.as_ref()).as_ref()), EventId(id)));
        }
        match body.into_event(id, of) {
            Ok(event) => chunk.documents.push(Document::of(&event)),
            Err(failure) => chunk.damaged += told_damage(failure),
        }
        if chunk.documents.len() == REBUILD_CHUNK && sender.send(std::mem::take(&mut chunk)).is_err() {
            return Ok(());
        }
    }
    // The receiver goes away only by a panic, which its thread tells.
    sender.send(chunk).or(Ok(()))
}

fn told_damage(failure: Failure) -> u64 {
    tracing::error!(problem = tables::describe(failure), "a record is damaged and left out; run `engram check`");
    1
}
