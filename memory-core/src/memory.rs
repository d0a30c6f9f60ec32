//! The façade: one writer, many readers.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use crate::episodic::anchors::{EntityNews, NamingRequest, Person};
use crate::episodic::consolidation::{ConsolidationOptions, PlaceSpace};
use crate::episodic::gist::{Gist, GistNews, Level};
use crate::index::IndexOptions;
use crate::learning::LearningOptions;
use crate::ports::{FactExtractor, GistSelector, ProcedureJudge, Progress, TextEmbedder};
use crate::reasoning::{Controller, Reasoned, ReasoningOptions, Tools, Views, Watch, reason};
use crate::semantic::Fact;
use crate::store::Store;
use crate::word_search::{WordPage, WordQuery, WordSearchError};
use crate::{
    AbsentRole, Answer, Clock, Entity, Episode, EpisodeId, EpisodeSummary, Event, EventId, ForgetError,
    MaintenanceError, NamingError, Near, Observation, ObserveError, OpenError, Place, Pose, ProcedureError,
    ProcedureNews, ProcedureReply, ProcedureRequest, Query, QueryError, ReadError, TimeSpan, Timestamp,
};

/// Options for opening a memory.
#[derive(Clone)]
pub struct MemoryOptions {
    /// Time zone for people's time words ("this morning") and for written times.
    pub zone: jiff::tz::TimeZone,
    /// Maximum size of the store on disk, bytes; at the limit `observe` returns `StorageFull`. `None`: no limit but the disk.
    pub max_bytes: Option<u64>,
    /// Page cache of the store, bytes.
    pub cache_bytes: usize,
    /// Options of the index. If the saved index has other options, it is built again from the store when the memory is opened.
    pub index: IndexOptions,
}

/// The outcome of one observation of a batch.
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
    /// A duplicate: the same content is stored already.
    Duplicate {
        /// The stored event; for a segment its first one, or `EventId(0)`, which no event has, if it has none.
        of: EventId,
    },
    /// A correction: the same key with other content. The new event supersedes the old one.
    Corrected {
        /// The event that was superseded.
        superseded: EventId,
        /// The event that took its place.
        by: EventId,
        /// Its episode.
        episode: EpisodeId,
    },
    /// Rejected: nothing was committed.
    Rejected {
        /// The reason, and what to change.
        message: String,
    },
}

/// The backlog of background work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PendingWork {
    /// Events that have no embedding in the current space yet.
    pub embeddings: u64,
    /// Events that learning has not read yet.
    pub lessons: u64,
    /// Whether everything is being learned again, because something was forgotten or corrected.
    pub relearning: bool,
}

impl PendingWork {
    /// Returns whether learning has work to do.
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
    /// Events that learning has not read yet.
    pub pending_lessons: u64,
    /// Whether everything is learnt anew, because something was forgotten or corrected.
    pub relearning: bool,
    /// Number of topics: attributes of persons and things with their claims.
    pub facts: u64,
    /// Duplicates dropped since the start.
    pub duplicates: u64,
    /// Bytes of the store on disk.
    pub disk_bytes: u64,
    /// Records that did not decode when the memory was opened, and are omitted; `check` names them.
    pub damaged: u64,
    /// Bytes of records that were hidden since the last compaction, and that the next one frees.
    pub stale_bytes: u64,
    /// When the first event was forgotten since the last compaction: until the next one, its words may be in freed pages of
    /// the store's file.
    pub forgotten_since: Option<Timestamp>,
    /// Number of the last event, visible or not.
    pub last_event: u64,
    /// The earliest time that it can be, if the clock shows an earlier one. Times of observations are then not checked.
    pub clock_behind: Option<Timestamp>,
}

/// Which episodes to list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EpisodeFilter {
    /// Only those that overlap this span (an open end is `Timestamp::from_micros(i64::MIN|MAX)`).
    pub span: Option<TimeSpan>,
    /// Only those with an event about this entity; case is ignored.
    pub entity: Option<String>,
    /// Only those with an event at this place (attribute `place`).
    pub place: Option<String>,
    /// Only those with an event in this circle.
    pub near: Option<crate::Near>,
    /// Continue after this page's `next`.
    pub cursor: Option<EpisodeId>,
    /// Maximum number of episodes; 50 if zero.
    pub limit: usize,
    /// How long it may take; [`ReadError::Deadline`] where that is too short.
    pub budget: Option<Duration>,
}

/// Which facts to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FactFilter {
    /// Only those about this person or thing; case and articles are ignored.
    pub subject: Option<String>,
    /// Also those that no longer hold.
    pub past: bool,
    /// Maximum number of facts; 100 if zero.
    pub limit: usize,
    /// How long it may take; [`ReadError::Deadline`] where that is too short.
    pub budget: Option<Duration>,
}

/// Which gists to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GistFilter {
    /// How long their stretches are.
    pub level: Level,
    /// Only what happened in this span.
    pub span: Option<TimeSpan>,
    /// Maximum number of gists; 24 if zero.
    pub limit: usize,
    /// How long it may take; [`ReadError::Deadline`] where that is too short.
    pub budget: Option<Duration>,
}

/// One page of a list, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The episodes.
    pub episodes: Vec<EpisodeSummary>,
    /// The cursor of the next page, if there is one.
    pub next: Option<EpisodeId>,
}

/// Which events of an episode to read. At least one is read if the episode has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPage {
    /// Only events after this one.
    pub after: Option<EventId>,
    /// Maximum number of events.
    pub limit: usize,
    /// Maximum bytes of texts and attributes.
    pub bytes: usize,
}

/// An episode with some of its events.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodePage {
    /// The episode, with the ids of all its events.
    pub episode: Episode,
    /// The events of the page, in order of commit.
    pub events: Vec<Event>,
    /// The cursor of the next page, if there is one: its events come after this one.
    pub next: Option<EventId>,
}

/// What to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetRequest {
    /// Whole episodes.
    Episodes(Vec<EpisodeId>),
    /// Every event that names this entity in any field, under any of its names, or shows it; case is ignored.
    Entity(String),
    /// Every event that overlaps the span.
    Span(TimeSpan),
}

/// The result of forgetting.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ForgetReply {
    /// Episodes with nothing left.
    pub episodes: u64,
    /// Hidden events.
    pub events: u64,
    /// Recordings that show it and must be deleted. The memory lists them until [`Memory::recordings_removed`].
    pub recordings: Vec<ForgottenRecording>,
    /// Events that are still visible and may be about the entity: they say "she" where something that named her was hidden,
    /// or contain a longer word that begins with the name, or cannot be read.
    pub doubtful: u64,
    /// The first hundred of these events.
    pub in_doubt: Vec<EventId>,
}

/// What a request would forget.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForgetPreview {
    /// The result that it would return.
    pub reply: ForgetReply,
    /// The first events that it would hide.
    pub events: Vec<Event>,
}

/// A part of a recording that shows forgotten events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenRecording {
    /// The source of the recording; every source if absent.
    pub source: Option<String>,
    /// The time span.
    pub span: TimeSpan,
    /// The address in the segment.
    pub media: Option<String>,
}

/// The result of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactReply {
    /// Bytes of the store on disk before.
    pub bytes_before: u64,
    /// Bytes of the store on disk after.
    pub bytes_after: u64,
    /// Rows that were copied.
    pub rows: u64,
    /// How long it took.
    pub took: Duration,
    /// How long commits were blocked.
    pub blocked: Duration,
}

/// When to save the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaveIndex {
    /// At once.
    Now,
    /// If enough of it is new, and the last save is some minutes ago.
    IfDue,
    /// If enough of it is new to be worth saving before the program ends.
    AtEnd,
}

/// The result of saving the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexSaved {
    /// Length of the file.
    pub bytes: u64,
    /// Visible events in it.
    pub events: u64,
    /// How long it took.
    pub took: Duration,
}

/// The content of a backup.
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

/// One exported item, in a form that can be observed again.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// The told or perceived observation.
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

    /// Answers a question as [`ask`](Self::ask) does, together with the answers that it was chosen from.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn deliberate(&self, query: &Query) -> Result<crate::recall::Deliberation, QueryError> {
        self.store.reading(|view| crate::recall::deliberate(query, view, true))
    }

    /// Answers a question, and looks at recordings again where the memory's answer is unsure and a look may help.
    ///
    /// It may take seconds, and the tools take most of it. Nothing is written: what was found is in [`Reasoned`]. `controller` chooses
    /// what to look at; without one the policy does.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn reason(
        &self,
        query: &Query,
        tools: &dyn Tools,
        options: &ReasoningOptions,
        controller: Option<&dyn Controller>,
        watch: &dyn Watch,
    ) -> Result<Reasoned, QueryError> {
        reason(query, &StoreViews(&self.store), self.store.clock(), tools, options, controller, watch)
    }

    /// Answers a symbolic query about procedures from a consistent snapshot (`cmd/procedure`).
    ///
    /// # Errors
    /// See [`ProcedureError`].
    pub fn procedure(&self, request: &ProcedureRequest) -> Result<ProcedureReply, ProcedureError> {
        self.store.reading(|view| crate::recall::serve(request, view))
    }

    /// Sets or removes the text embedding model (φ). Events without an embedding in its space become pending.
    pub fn set_text_embedder(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        self.store.set_text_embedder(embedder);
    }

    /// Sets or removes the text half of a model that maps pictures and texts to one space. With it, questions find scenes by
    /// what they look like.
    pub fn set_picture_texts(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        self.store.set_picture_texts(embedder);
    }

    /// Sets the absent encoder roles; answers that needed them name them.
    pub fn set_absent_roles(&self, roles: Vec<AbsentRole>) {
        self.store.set_absent_roles(roles);
    }

    /// Embeds up to `limit` pending events, durably, and returns what is still pending. Call from one worker thread.
    ///
    /// # Errors
    /// If the model or the store fails; embeddings that were committed before remain.
    pub fn embed_pending(&self, limit: usize) -> Result<PendingWork, ObserveError> {
        self.store.embed_pending(limit)
    }

    /// Sets or removes the receiver of the progress of long work.
    pub fn set_progress(&self, progress: Option<Arc<dyn Progress>>) {
        self.store.set_progress(progress);
    }

    /// Sets or removes the judge of patterns of actions. What was judged before remains.
    pub fn set_procedure_judge(&self, judge: Option<Arc<dyn ProcedureJudge>>) {
        self.store.set_procedure_judge(judge);
    }

    /// Sets or removes the selector of the lines of gists. Gists that were made before remain.
    pub fn set_gist_selector(&self, selector: Option<Arc<dyn GistSelector>>) {
        self.store.set_gist_selector(selector);
    }

    /// Sets or removes a fact extractor that is used in addition to the rules. What was learned before remains;
    /// [`relearn`](Self::relearn) learns everything again.
    pub fn set_fact_extractor(&self, extractor: Option<Arc<dyn FactExtractor>>) {
        self.store.set_fact_extractor(extractor);
    }

    /// Sets the options of learning. What was learned before remains until it is learned again.
    pub fn set_learning_options(&self, options: LearningOptions) {
        self.store.set_learning_options(options);
    }

    /// Learns from up to `limit` further events, and returns what is still pending. Call it from one worker thread; neither
    /// observations nor questions wait for it.
    ///
    /// # Errors
    /// If the store fails; what was learned before remains.
    pub fn learn_pending(&self, limit: usize) -> Result<PendingWork, ObserveError> {
        self.store.learn_pending(limit)
    }

    /// Returns how many gists of hours and days are to be made.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn gists_due(&self) -> Result<usize, ReadError> {
        Ok(self.store.gists_due()?)
    }

    /// Makes up to `limit` gists of hours that are over or, if there are none, of days, and returns how many are left. Call it from one
    /// worker thread; observations wait for its commits only.
    ///
    /// # Errors
    /// If the store fails; what was made before remains.
    pub fn gists_pending(&self, limit: usize) -> Result<usize, ObserveError> {
        self.store.gists_pending(limit)
    }

    /// Returns gists, the newest first. Those that are not made yet, such as that of the present hour, are made from their events.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn gists(&self, filter: &GistFilter) -> Result<Vec<Gist>, ReadError> {
        self.store.reading(|view| view.list_gists(filter))
    }

    /// Returns which gists were made since the last call, oldest first.
    pub fn take_gist_news(&self) -> Vec<GistNews> {
        self.store.take_gist_news()
    }

    /// Sets the options of consolidation.
    pub fn set_consolidation(&self, options: ConsolidationOptions) {
        self.store.set_consolidation(options);
    }

    /// Sets the spaces of pictures in which places can be told apart; without any, segments show one place if the same words tell of
    /// them. A space whose γ is not above 0 and at most 1 is left out.
    pub fn set_place_spaces(&self, spaces: Vec<PlaceSpace>) {
        self.store.set_place_spaces(spaces);
    }

    /// Returns how many stays are to be consolidated: an estimate that is 0 if there are none.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn consolidation_due(&self) -> Result<usize, ReadError> {
        Ok(self.store.consolidation_due()?)
    }

    /// Looks through the next perceived segments, makes one episode of each of up to `limit` stays at one place, and returns how many
    /// are left. Call it from one worker thread; observations wait for its commits only.
    ///
    /// # Errors
    /// If the store fails; what was consolidated before remains.
    pub fn consolidate_pending(&self, limit: usize) -> Result<usize, ObserveError> {
        self.store.consolidate_pending(limit)
    }

    /// Makes the next calls of [`learn_pending`](Self::learn_pending) learn everything again. Until that is done, the old
    /// state is used.
    ///
    /// # Errors
    /// If the store cannot write.
    pub fn relearn(&self) -> Result<(), ObserveError> {
        self.store.relearn()
    }

    /// Returns the facts, sorted by subject, attribute and time.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, ReadError> {
        self.store.reading(|view| view.list_facts(filter))
    }

    /// Returns the persons who are recognised by face or voice, ordered by id.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn persons(&self) -> Result<Vec<Person>, ReadError> {
        self.store.reading(|view| Ok(view.learnt().anchors().persons()))
    }

    /// Names, merges or splits persons, durably, and returns the persons concerned.
    ///
    /// # Errors
    /// See [`NamingError`].
    pub fn name_entity(&self, request: &NamingRequest) -> Result<Vec<Person>, NamingError> {
        self.store.name_entity(request)
    }

    /// Returns the changes of persons since the last call, oldest first. If nobody takes them, the oldest are dropped.
    pub fn take_entity_news(&self) -> Vec<EntityNews> {
        self.store.take_entity_news()
    }

    /// Returns the present state of each procedure that changed since the last call. If nobody takes them, the oldest are
    /// dropped.
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

    /// Returns what a request would forget, and forgets nothing.
    ///
    /// # Errors
    /// See [`ForgetError`].
    pub fn preview_forget(&self, request: &ForgetRequest) -> Result<ForgetPreview, ForgetError> {
        self.store.preview_forget(request)
    }

    /// Returns the recordings that show forgotten events and are not deleted yet, with their numbers. The memory no longer
    /// refers to them; the archive must delete the files.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn recordings_to_remove(&self) -> Result<Vec<(u64, ForgottenRecording)>, ReadError> {
        self.store.recordings_to_remove()
    }

    /// Records durably that recordings were deleted.
    ///
    /// # Errors
    /// If the store cannot write; then they are listed again.
    pub fn recordings_removed(&self, numbers: &[u64]) -> Result<(), ObserveError> {
        self.store.recordings_removed(numbers)
    }

    /// Copies the live data to a new file and removes the old one, with everything that was forgotten. Readers and writer
    /// continue; they wait only for the last moment.
    ///
    /// # Errors
    /// See [`MaintenanceError`]; the memory is then unchanged.
    pub fn compact(&self) -> Result<CompactReply, MaintenanceError> {
        self.store.compact()
    }

    /// Saves the index beside the store, so that the next opening reads it instead of building it from every event. Readers
    /// and writer continue. Returns `None` if it is not time, or if another thread is saving it. Call it from a background
    /// thread, and when the program ends.
    ///
    /// # Errors
    /// See [`MaintenanceError`]; the memory is unchanged, and the index that was saved before is still there.
    pub fn save_index(&self, when: SaveIndex) -> Result<Option<IndexSaved>, MaintenanceError> {
        self.store.save_index(when)
    }

    /// Writes one consistent state of the whole memory, while readers and writer continue. The file is complete only if this
    /// returns without an error.
    ///
    /// # Errors
    /// See [`MaintenanceError`].
    pub fn backup(&self, out: &mut dyn Write) -> Result<BackupReply, MaintenanceError> {
        self.store.backup(out)
    }

    /// Reads a backup to its end and verifies the header, the checksum of every frame and the SHA-256 of all rows, without
    /// restoring anything. Returns what is in it.
    ///
    /// # Errors
    /// [`MaintenanceError::Unusable`] if it is not a complete backup, [`MaintenanceError::Read`] if it cannot be read.
    pub fn verify_backup(input: &mut dyn Read) -> Result<BackupReply, MaintenanceError> {
        crate::store::verify_backup(input)
    }

    /// Replaces this memory with a backup, once all of it is read, verified and synced. Until then questions are answered from
    /// the present memory, and nothing can be committed. With `keep_instance` the memory keeps its own id, under which the
    /// broker keeps messages for it; otherwise it takes the id of the backup.
    ///
    /// # Errors
    /// See [`MaintenanceError`]; the memory is then unchanged.
    pub fn restore(&self, input: &mut dyn Read, keep_instance: bool) -> Result<BackupReply, MaintenanceError> {
        self.store.restore(input, keep_instance)
    }

    /// Stops a running compaction and prevents further ones, because the program is about to end.
    pub fn stop_compaction(&self) {
        self.store.stop_compaction();
    }

    /// Calls `visit` with every visible observation, as it was told or perceived, in order of commit. Segments without events
    /// come last. All of them belong to one consistent state.
    ///
    /// # Errors
    /// See [`MaintenanceError`], and the errors of `visit`.
    pub fn export(
        &self,
        visit: &mut dyn FnMut(Exported) -> Result<(), MaintenanceError>,
    ) -> Result<(), MaintenanceError> {
        self.store.export(visit)
    }

    /// Searches events for words, phrases and nearby words, and for what is like an event or an episode. Texts around the hits come
    /// from the index; who, where from and with which recording are read from the store.
    ///
    /// # Errors
    /// [`WordSearchError::Query`] if the index keeps no word of what must be found, [`WordSearchError::UnknownExample`] and
    /// [`WordSearchError::NoEmbedding`] if nothing can be compared with the example, [`WordSearchError::Read`] if the store cannot be
    /// read.
    pub fn search_words(&self, query: &WordQuery) -> Result<WordPage, WordSearchError> {
        self.store.reading(|view| view.search_words(query))
    }

    /// Returns a page of episodes, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn episodes(&self, filter: &EpisodeFilter) -> Result<Page, ReadError> {
        self.store.reading(|view| Ok(view.list_episodes(filter)?))
    }

    /// Returns one episode with its visible events; `None` if there is none or it was forgotten.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn episode(&self, id: EpisodeId) -> Result<Option<(Episode, Vec<Event>)>, ReadError> {
        self.store.reading(|view| Ok(view.whole_episode(id)?))
    }

    /// Returns one visible event; `None` if there is none or it was forgotten.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        self.store.reading(|view| Ok(view.find_event(id)?))
    }

    /// Returns one episode with a page of its visible events; `None` if there is none or it was forgotten.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn episode_page(&self, id: EpisodeId, page: EventPage) -> Result<Option<EpisodePage>, ReadError> {
        self.store.reading(|view| Ok(view.episode_page(id, page)?))
    }

    /// Returns at most `limit` visible events after `after`, in order of commit.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn events(&self, after: Option<EventId>, limit: usize) -> Result<Vec<Event>, ReadError> {
        self.store.reading(|view| Ok(view.list_events(after, limit)?))
    }

    /// Returns at most `limit` visible events with a pose in a circle after `after`, in order of commit.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn events_near(&self, near: &Near, after: Option<EventId>, limit: usize) -> Result<Vec<Event>, ReadError> {
        self.store.reading(|view| Ok(view.list_events_near(near, after, limit)?))
    }

    /// Returns entity names with their counts, most frequent first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn entities(&self, limit: usize) -> Result<Vec<Entity>, ReadError> {
        self.store.reading(|view| Ok(view.list_entities(limit)?))
    }

    /// Returns the places that have a name with the robot's visits to them: those on a map first, the most visited before others.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn places(&self) -> Result<Vec<Place>, ReadError> {
        self.store.reading(|view| view.list_places())
    }

    /// Returns the name of the place that a position belongs to: the one that was named nearest, if that is near enough.
    pub fn place_at(&self, pose: &Pose) -> Option<String> {
        self.store.place_at(pose)
    }

    /// Returns counts and sizes. It is cheap enough for every heartbeat.
    pub fn stats(&self) -> Stats {
        self.store.stats()
    }

    /// Returns the random id of this memory, created with the store (`…/instance`).
    pub fn instance(&self) -> &str {
        self.store.instance()
    }

    /// Reads every record, verifies the checksums and the consistency of the tables, and returns the problems.
    ///
    /// # Errors
    /// If the store cannot be read at all.
    pub fn check(&self) -> Result<CheckReport, ReadError> {
        self.store.check()
    }

    /// Returns a setting that is stored with the memory (for instance whether recording is paused).
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn setting(&self, name: &str) -> Result<Option<String>, ReadError> {
        self.store.setting(name)
    }

    /// Stores a setting durably.
    ///
    /// # Errors
    /// If the store cannot write.
    pub fn set_setting(&self, name: &str, value: &str) -> Result<(), ObserveError> {
        self.store.set_setting(name, value)
    }
}

/// Each reading of the loop is one of the store's.
struct StoreViews<'a>(&'a crate::store::Store);

impl Views for StoreViews<'_> {
    fn read<T>(&self, read: impl Fn(&dyn crate::recall::Reader) -> Result<T, QueryError>) -> Result<T, QueryError> {
        self.0.reading(|view| read(view))
    }
}
