//! The façade: one writer, many readers.

use std::sync::Arc;

use crate::ports::TextEmbedder;
use crate::store::Store;
use crate::{
    AbsentRole, Answer, Clock, Entity, Episode, EpisodeId, EpisodeSummary, Event, EventId, ForgetError, Observation,
    ObserveError, OpenError, Query, QueryError, ReadError, TimeSpan,
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
    /// Duplicates dropped since the start.
    pub duplicates: u64,
    /// Bytes of the store on disk.
    pub disk_bytes: u64,
    /// Records that did not decode when the memory was opened and are left out; `check` names them.
    pub damaged: u64,
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
}

/// One page of a list, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The episodes.
    pub episodes: Vec<EpisodeSummary>,
    /// Where the next page begins, if there is one.
    pub next: Option<EpisodeId>,
}

/// What to forget. Exactly one way must be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetRequest {
    /// Whole episodes.
    Episodes(Vec<EpisodeId>),
    /// Every event about or by this entity; case is ignored.
    Entity(String),
    /// Every event that overlaps the span.
    Span(TimeSpan),
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ForgetReply {
    /// Episodes with nothing left.
    pub episodes: u64,
    /// Events hidden.
    pub events: u64,
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

    /// Gives the memory its φ, or takes it away. Events without an embedding in its space become pending.
    pub fn set_text_embedder(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        self.store.set_text_embedder(embedder);
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

    /// Hides events at once and everywhere, durably.
    ///
    /// # Errors
    /// See [`ForgetError`].
    pub fn forget(&self, request: &ForgetRequest) -> Result<ForgetReply, ForgetError> {
        self.store.forget(request)
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
