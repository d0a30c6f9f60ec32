//! The façade: one writer, many readers.

mod builder;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::Engine;
use crate::episodic::anchors::{EntityNews, NamingRequest, Person};
use crate::episodic::consolidation::{ConsolidationOptions, PlaceSpace};
use crate::episodic::gist::{Gist, GistNews};
use crate::learning::LearningOptions;
use crate::ports::{AnswerExtractor, FactExtractor, GistSelector, ProcedureJudge, Progress, TextEmbedder};
use crate::reasoning::{Controller, Reasoned, ReasoningOptions, Tools, Views, Watch, reason};
use crate::requests::{
    BackupReply, CheckReport, CompactReply, EpisodeFilter, EpisodeListPage, EpisodePage, EventPage, Exported,
    FactFilter, ForgetPreview, ForgetReply, ForgetRequest, ForgottenRecording, GistFilter, IndexSaved, ObserveOutcome,
    PendingWork, SaveIndex, Stats,
};
use crate::semantic::Fact;
use crate::word_search::{WordPage, WordQuery, WordSearchError};
use crate::{
    AbsentRole, Answer, Clock, Entity, Episode, EpisodeId, Event, EventId, ForgetError, MaintenanceError,
    MemoryOptions, NamingError, Near, Observation, ObserveError, OpenError, Place, Pose, ProcedureError, ProcedureNews,
    ProcedureReply, ProcedureRequest, Query, QueryError, ReadError,
};
pub use builder::MemoryBuilder;

/// The memory. Cheap to clone; clones share it.
#[derive(Clone)]
pub struct Memory {
    store: Arc<Engine>,
}

impl Memory {
    /// Opens the memory in a directory with default options, making it if there is none, and recovers from whatever ended the
    /// last run. [`Memory::builder`] takes options.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, OpenError> {
        Self::builder().open(dir)
    }

    /// Returns a builder, for a memory with other options or another clock.
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::default()
    }

    /// Opens the memory in any storage, with all options: for tests, and for storage that is no directory.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_in(
        storage: Arc<dyn crate::store::Storage>,
        options: MemoryOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        Ok(Self { store: Arc::new(Engine::open(storage, options, clock)?) })
    }

    /// Commits a batch as one durable transaction and returns what became of each item, in order. When it returns, the
    /// accepted ones survive power loss and are findable by words, entity and time.
    ///
    /// # Errors
    /// If the store cannot write; then nothing of the batch was committed.
    pub fn observe(&self, batch: Vec<Observation>) -> Result<Vec<ObserveOutcome>, ObserveError> {
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

    /// Sets or removes the reader that extracts answers from texts. Without it, only the rules of recall answer.
    pub fn set_answer_extractor(&self, extractor: Option<Arc<dyn AnswerExtractor>>) {
        self.store.set_answer_extractor(extractor);
    }

    /// Returns whether a reader extracts answers from texts.
    pub fn has_answer_extractor(&self) -> bool {
        self.store.has_answer_extractor()
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
        crate::engine::verify_backup(input)
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
    pub fn episodes(&self, filter: &EpisodeFilter) -> Result<EpisodeListPage, ReadError> {
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
struct StoreViews<'a>(&'a crate::engine::Engine);

impl Views for StoreViews<'_> {
    fn read<T>(&self, read: impl Fn(&dyn crate::recall::Reader) -> Result<T, QueryError>) -> Result<T, QueryError> {
        self.0.reading(|view| read(view))
    }
}
