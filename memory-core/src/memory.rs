//! The façade: one writer, many readers.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use crate::episodic::anchors::{EntityNews, NamingRequest, Person};
use crate::index::IndexOptions;
use crate::learning::LearningOptions;
use crate::ports::{FactExtractor, Progress, TextEmbedder};
use crate::semantic::Fact;
use crate::store::Store;
use crate::{
    AbsentRole, Answer, Clock, Entity, Episode, EpisodeId, EpisodeSummary, Event, EventId, ForgetError,
    MaintenanceError, NamingError, Observation, ObserveError, OpenError, ProcedureError, ProcedureNews, ProcedureReply,
    ProcedureRequest, Query, QueryError, ReadError, TimeSpan, Timestamp,
};

/// How a memory is opened.
#[derive(Clone)]
pub struct MemoryOptions {
    /// The zone in which people's time words ("this morning") are understood and times are written.
    pub zone: jiff::tz::TimeZone,
    /// Ceiling of the store on disk, bytes; beyond it `observe` answers `StorageFull`. `None`: the disk's own.
    pub max_bytes: Option<u64>,
    /// Page cache of the store, bytes.
    pub cache_bytes: usize,
    /// How the index is made. An index that was saved with other ones is built anew from the store when the memory is opened.
    pub index: IndexOptions,
}

/// What became of one observation of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Committed: durable and findable by words, entity and time.
    Accepted {
        /// The episode it joined or opened.
        episode: EpisodeId,
        /// Whether it opened that episode.
        opened: bool,
        /// Its events: one for a told observation.
        events: Vec<EventId>,
    },
    /// The same content is there already.
    Duplicate {
        /// The event that is there; of a segment its first one, or `EventId(0)`, which no event has, if it has none.
        of: EventId,
    },
    /// The same key with other content: the old event is superseded by the new one.
    Corrected {
        /// The event that was superseded.
        superseded: EventId,
        /// The event that took its place.
        by: EventId,
        /// Its episode.
        episode: EpisodeId,
    },
    /// Not committed.
    Rejected {
        /// Why, and what to change.
        message: String,
    },
}

/// Work that follows the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PendingWork {
    /// Events that have no embedding in the current space yet.
    pub embeddings: u64,
    /// Events that nothing was learnt from yet.
    pub lessons: u64,
    /// Whether everything is learnt anew, because something was forgotten or corrected.
    pub relearning: bool,
}

impl PendingWork {
    /// Whether learning has something to do.
    pub fn has_lessons(self) -> bool {
        self.lessons > 0 || self.relearning
    }
}

/// Counts, for `health` and `inspect stats`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Told observations and perceived segments accepted since the store was made.
    pub observations: u64,
    /// Visible atomic events.
    pub events: u64,
    /// Visible episodes.
    pub episodes: u64,
    /// Distinct entity names of visible events.
    pub entities: u64,
    /// Events hidden by `forget` or superseded, not yet compacted away.
    pub hidden: u64,
    /// Number of the last commit.
    pub seq: u64,
    /// Events that have no embedding yet.
    pub pending_embeddings: u64,
    /// Events that nothing was learnt from yet.
    pub pending_lessons: u64,
    /// Whether everything is learnt anew, because something was forgotten or corrected.
    pub relearning: bool,
    /// Topics of facts: an attribute of something, with all that was told of it.
    pub facts: u64,
    /// Duplicates dropped since the start.
    pub duplicates: u64,
    /// Bytes of the store on disk.
    pub disk_bytes: u64,
    /// Records that did not decode when the memory was opened and are left out; `check` names them.
    pub damaged: u64,
    /// Bytes of records that were hidden since the last compaction, which the next one gives back.
    pub stale_bytes: u64,
    /// When the first event was forgotten since the last compaction: until the next one, its words may be in freed pages of
    /// the store's file.
    pub forgotten_since: Option<Timestamp>,
    /// Number of the last event, visible or not.
    pub last_event: u64,
    /// What time it is at least, if the clock shows an earlier one: times of observations are then taken as they are told.
    pub clock_behind: Option<Timestamp>,
}

/// Which episodes to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EpisodeFilter {
    /// Only those that overlap this span (an open end is `Timestamp::from_micros(i64::MIN|MAX)`).
    pub span: Option<TimeSpan>,
    /// Only those with an event about this entity; case is ignored.
    pub entity: Option<String>,
    /// Only those with an event at this place (attribute `place`).
    pub place: Option<String>,
    /// Continue after this page's `next`.
    pub cursor: Option<EpisodeId>,
    /// How many at most; 50 if zero.
    pub limit: usize,
    /// How long it may take; [`ReadError::Deadline`] where that is too short.
    pub budget: Option<Duration>,
}

/// Which facts to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FactFilter {
    /// Only those about this person or thing; case and articles are ignored.
    pub subject: Option<String>,
    /// Also those that hold no more.
    pub past: bool,
    /// How many at most; 100 if zero.
    pub limit: usize,
    /// How long it may take; [`ReadError::Deadline`] where that is too short.
    pub budget: Option<Duration>,
}

/// One page of a list, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The episodes.
    pub episodes: Vec<EpisodeSummary>,
    /// Where the next page begins, if there is one.
    pub next: Option<EpisodeId>,
}

/// Which events of an episode to read. At least one is read, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPage {
    /// Those after this one.
    pub after: Option<EventId>,
    /// How many at most.
    pub limit: usize,
    /// Bytes of texts and attributes at most.
    pub bytes: usize,
}

/// An episode with some of its events.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodePage {
    /// The episode; its list of events is whole.
    pub episode: Episode,
    /// The events of the page, in order of commit.
    pub events: Vec<Event>,
    /// After which event the next page begins, if there is one.
    pub next: Option<EventId>,
}

/// What to forget. Exactly one way must be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetRequest {
    /// Whole episodes.
    Episodes(Vec<EpisodeId>),
    /// Every event that names this entity in any field, or shows it, by any of its names; case is ignored.
    Entity(String),
    /// Every event that overlaps the span.
    Span(TimeSpan),
}

/// What was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForgetReply {
    /// Episodes with nothing left.
    pub episodes: u64,
    /// Events hidden.
    pub events: u64,
    /// Recordings that show it and must be removed. They are kept in mind until [`Memory::recordings_removed`].
    pub recordings: Vec<ForgottenRecording>,
    /// Events that are still visible and may be about the entity: they say "she" where something that named her was hidden,
    /// or hold a longer word that begins with the name, or cannot be read.
    pub doubtful: u64,
    /// The first hundred of them.
    pub in_doubt: Vec<EventId>,
}

/// What a request would forget.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForgetPreview {
    /// What its answer would be.
    pub reply: ForgetReply,
    /// The first events that it would hide.
    pub events: Vec<Event>,
}

/// A stretch of recording that shows what was forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenRecording {
    /// Whose recording; of every source if absent.
    pub source: Option<String>,
    /// When.
    pub span: TimeSpan,
    /// Where the segment said that it is.
    pub media: Option<String>,
}

/// What a compaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactReply {
    /// Bytes of the store on disk before.
    pub bytes_before: u64,
    /// And after.
    pub bytes_after: u64,
    /// Rows that were copied.
    pub rows: u64,
    /// How long it took.
    pub took: Duration,
    /// How long nothing could be committed meanwhile.
    pub blocked: Duration,
}

/// When the index is to be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveIndex {
    /// At once.
    Now,
    /// If enough of it is new, and the last time is some minutes ago.
    IfDue,
    /// If enough of it is new that a program which is about to end should not leave it to the next one.
    AtEnd,
}

/// What was saved of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexSaved {
    /// Length of the file.
    pub bytes: u64,
    /// Visible events in it.
    pub events: u64,
    /// How long it took.
    pub took: Duration,
}

/// What is in a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupReply {
    /// Rows of the store.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Visible events.
    pub events: u64,
    /// Number of the last commit.
    pub seq: u64,
}

/// Something that is remembered, as it could be told again.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// What was told or perceived.
    pub observation: Observation,
    /// Its events.
    pub events: Vec<EventId>,
}

/// What `check` found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Records read.
    pub records: u64,
    /// What is wrong, one line each; empty for a sound store.
    pub problems: Vec<String>,
}

/// The memory. Cheap to clone; clones share it.
#[derive(Clone)]
pub struct Memory {
    store: Arc<Store>,
}

impl Memory {
    /// Opens the memory in `storage`, making it if there is none, and recovers from whatever ended the last run.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(
        storage: Arc<dyn crate::store::Storage>,
        options: MemoryOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        Ok(Self { store: Arc::new(Store::open(storage, options, clock)?) })
    }

    /// Commits a batch as one durable transaction and returns what became of each item, in order. When it returns, the
    /// accepted ones survive power loss and are findable by words, entity and time.
    ///
    /// # Errors
    /// If the store cannot write; then nothing of the batch was committed.
    pub fn observe(&self, batch: Vec<Observation>) -> Result<Vec<Outcome>, ObserveError> {
        self.store.observe(batch)
    }

    /// Answers a question from a consistent snapshot. Takes no lock that `observe` waits for.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn ask(&self, query: &Query) -> Result<Answer, QueryError> {
        self.store.reading(|view| crate::recall::answer(query, view))
    }

    /// Answers a symbolic query about procedures from a consistent snapshot (`cmd/procedure`).
    ///
    /// # Errors
    /// See [`ProcedureError`].
    pub fn procedure(&self, request: &ProcedureRequest) -> Result<ProcedureReply, ProcedureError> {
        self.store.reading(|view| crate::recall::serve(request, view))
    }

    /// Gives the memory its φ, or takes it away. Events without an embedding in its space become pending.
    pub fn set_text_embedder(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        self.store.set_text_embedder(embedder);
    }

    /// Gives the memory the texts' side of a model that places pictures and texts in one space, or takes it away. Questions
    /// then find scenes by what they look like.
    pub fn set_picture_texts(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        self.store.set_picture_texts(embedder);
    }

    /// Tells the memory which encoder roles are absent; answers they would have served name them.
    pub fn set_absent_roles(&self, roles: Vec<AbsentRole>) {
        self.store.set_absent_roles(roles);
    }

    /// Embeds up to `limit` pending events, durably, and returns what is still pending. Call from one worker thread.
    ///
    /// # Errors
    /// If the model or the store fails; what was embedded before stays.
    pub fn embed_pending(&self, limit: usize) -> Result<PendingWork, ObserveError> {
        self.store.embed_pending(limit)
    }

    /// Tells somebody of every step of long work from now on, or nobody.
    pub fn set_progress(&self, progress: Option<Arc<dyn Progress>>) {
        self.store.set_progress(progress);
    }

    /// Gives the memory somebody who reads facts beside the rules, or takes it away. What was learnt stays;
    /// [`relearn`](Self::relearn) reads everything again.
    pub fn set_fact_extractor(&self, extractor: Option<Arc<dyn FactExtractor>>) {
        self.store.set_fact_extractor(extractor);
    }

    /// Sets what learning goes by from now on; what was learnt stays until it is learnt again.
    pub fn set_learning_options(&self, options: LearningOptions) {
        self.store.set_learning_options(options);
    }

    /// Learns from up to `limit` events after those that it has learnt from, and returns what is still pending. Call from one
    /// worker thread: neither ingest nor questions wait for it.
    ///
    /// # Errors
    /// If the store fails; what was learnt before stays.
    pub fn learn_pending(&self, limit: usize) -> Result<PendingWork, ObserveError> {
        self.store.learn_pending(limit)
    }

    /// Has everything learnt anew by the next calls of [`learn_pending`](Self::learn_pending); until that is done, what
    /// was learnt before is used.
    ///
    /// # Errors
    /// If the store cannot write.
    pub fn relearn(&self) -> Result<(), ObserveError> {
        self.store.relearn()
    }

    /// What is held to be so, sorted by subject, attribute and time.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, ReadError> {
        self.store.reading(|view| view.list_facts(filter))
    }

    /// Persons who are recognised by face or voice, by id.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn persons(&self) -> Result<Vec<Person>, ReadError> {
        self.store.reading(|view| Ok(view.learnt().anchors().persons()))
    }

    /// Names, merges or splits persons, durably, and returns those that it is about.
    ///
    /// # Errors
    /// See [`NamingError`].
    pub fn name_entity(&self, request: &NamingRequest) -> Result<Vec<Person>, NamingError> {
        self.store.name_entity(request)
    }

    /// What was learnt of persons since the last call, oldest first; of what nobody takes, the oldest goes.
    pub fn take_entity_news(&self) -> Vec<EntityNews> {
        self.store.take_entity_news()
    }

    /// What became of procedures since the last call: of each that changed, its present state. Of what nobody takes, the
    /// oldest goes.
    pub fn take_procedure_news(&self) -> Vec<ProcedureNews> {
        self.store.take_procedure_news()
    }

    /// Hides events at once and everywhere, durably.
    ///
    /// # Errors
    /// See [`ForgetError`].
    pub fn forget(&self, request: &ForgetRequest) -> Result<ForgetReply, ForgetError> {
        self.store.forget(request)
    }

    /// Says what a request would forget, and forgets nothing.
    ///
    /// # Errors
    /// See [`ForgetError`].
    pub fn preview_forget(&self, request: &ForgetRequest) -> Result<ForgetPreview, ForgetError> {
        self.store.preview_forget(request)
    }

    /// Recordings that show what was forgotten and are not removed yet, with their numbers. What leads to them is gone; the
    /// bytes are the archive's.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn recordings_to_remove(&self) -> Result<Vec<(u64, ForgottenRecording)>, ReadError> {
        self.store.recordings_to_remove()
    }

    /// Notes durably that recordings are gone.
    ///
    /// # Errors
    /// If the store cannot write; then they are named again.
    pub fn recordings_removed(&self, numbers: &[u64]) -> Result<(), ObserveError> {
        self.store.recordings_removed(numbers)
    }

    /// Copies what is live to a new file and removes the old one, with everything that was forgotten. Readers and writer go
    /// on; only the last moment is theirs to wait for.
    ///
    /// # Errors
    /// See [`MaintenanceError`]; the memory is then as it was.
    pub fn compact(&self) -> Result<CompactReply, MaintenanceError> {
        self.store.compact()
    }

    /// Saves the index beside the store, so that the next opening reads it instead of building it from every event, while
    /// readers and writer go on. `None` if it is not time, or somebody else is at it. Call from a background thread, and
    /// when the program ends.
    ///
    /// # Errors
    /// See [`MaintenanceError`]; the memory is as it was, and what was saved before is still there.
    pub fn save_index(&self, when: SaveIndex) -> Result<Option<IndexSaved>, MaintenanceError> {
        self.store.save_index(when)
    }

    /// Writes one consistent state of the whole memory, while readers and writer go on. The file is whole only if this
    /// returns without an error.
    ///
    /// # Errors
    /// See [`MaintenanceError`].
    pub fn backup(&self, out: &mut dyn Write) -> Result<BackupReply, MaintenanceError> {
        self.store.backup(out)
    }

    /// Reads a backup to its end and verifies the header, the checksum of every frame and the SHA-256 of all rows, without
    /// restoring anything. Says what is in it.
    ///
    /// # Errors
    /// [`MaintenanceError::Unusable`] if it is no whole backup, [`MaintenanceError::Read`] if it cannot be read.
    pub fn verify_backup(input: &mut dyn Read) -> Result<BackupReply, MaintenanceError> {
        crate::store::verify_backup(input)
    }

    /// Puts a backup in the place of this memory, once all of it was read, verified and synced. Until then questions are
    /// answered from the present memory, and nothing can be committed. With `keep_instance` the memory keeps its own id, under
    /// which the broker keeps messages for it; else it takes that of the backup.
    ///
    /// # Errors
    /// See [`MaintenanceError`]; the memory is then as it was.
    pub fn restore(&self, input: &mut dyn Read, keep_instance: bool) -> Result<BackupReply, MaintenanceError> {
        self.store.restore(input, keep_instance)
    }

    /// Ends a compaction that is under way, and lets no other begin: the program is about to end.
    pub fn stop_compaction(&self) {
        self.store.stop_compaction();
    }

    /// Calls `visit` with everything that is visible, as it was told and perceived, in order of commit; segments in which
    /// nothing happened come last. One consistent state.
    ///
    /// # Errors
    /// See [`MaintenanceError`], and what `visit` fails with.
    pub fn export(
        &self,
        visit: &mut dyn FnMut(Exported) -> Result<(), MaintenanceError>,
    ) -> Result<(), MaintenanceError> {
        self.store.export(visit)
    }

    /// Episodes, newest first, a page at a time.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn episodes(&self, filter: &EpisodeFilter) -> Result<Page, ReadError> {
        self.store.reading(|view| Ok(view.list_episodes(filter)?))
    }

    /// One episode with its visible events; `None` if there is none or it was forgotten.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn episode(&self, id: EpisodeId) -> Result<Option<(Episode, Vec<Event>)>, ReadError> {
        self.store.reading(|view| Ok(view.whole_episode(id)?))
    }

    /// One visible event; `None` if there is none or it was forgotten.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        self.store.reading(|view| Ok(view.find_event(id)?))
    }

    /// One episode with a page of its visible events; `None` if there is none or it was forgotten.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn episode_page(&self, id: EpisodeId, page: EventPage) -> Result<Option<EpisodePage>, ReadError> {
        self.store.reading(|view| Ok(view.episode_page(id, page)?))
    }

    /// Visible events in order of commit, at most `limit`, after `after`.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn events(&self, after: Option<EventId>, limit: usize) -> Result<Vec<Event>, ReadError> {
        self.store.reading(|view| Ok(view.list_events(after, limit)?))
    }

    /// Entity names with their counts, most frequent first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn entities(&self, limit: usize) -> Result<Vec<Entity>, ReadError> {
        self.store.reading(|view| Ok(view.list_entities(limit)?))
    }

    /// Counts; cheap enough for every heartbeat.
    pub fn stats(&self) -> Stats {
        self.store.stats()
    }

    /// The random id of this memory, made with the store (`…/instance`).
    pub fn instance(&self) -> &str {
        self.store.instance()
    }

    /// Reads every record, verifies checksums and the agreement of the tables, and says what is wrong.
    ///
    /// # Errors
    /// If the store cannot be read at all.
    pub fn check(&self) -> Result<CheckReport, ReadError> {
        self.store.check()
    }

    /// A setting kept with the memory across restarts (for instance whether recording is paused).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn setting(&self, name: &str) -> Result<Option<String>, ReadError> {
        self.store.setting(name)
    }

    /// Keeps a setting durably.
    ///
    /// # Errors
    /// If the store cannot write.
    pub fn set_setting(&self, name: &str, value: &str) -> Result<(), ObserveError> {
        self.store.set_setting(name, value)
    }
}
