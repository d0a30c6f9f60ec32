//! The engine of the store: one writer, many readers.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arc_swap::ArcSwap;
use parking_lot::{Mutex, MutexGuard};

use super::draft::{Draft, Drafted};
use super::forget;
use super::learned;
use super::published::Published;
use super::refold::Refolds;
use super::saved_index::SavedIndexPlace;
use super::saving::SavingState;
use super::vectors::{self, SpaceInUse};
use super::view::View;
use super::wall::Wall;
use super::writer::Writer;
use crate::episodic::consolidation::PlaceSpace;
use crate::index::passage;
use crate::learning::{LearningOptions, News};
use crate::limits::MAX_TEXT_BYTES;
use crate::ports::{AnswerExtractor, FactExtractor, GistSelector, LongWork, ProcedureJudge, Progress, TextEmbedder};
use crate::store::database::{Database, Write};
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::Purge;
use crate::store::storage::Storage;
use crate::store::tables::{self, EVENTS, META, PURGES, ReadTables, SETTINGS, WriteTables};
use crate::{
    AbsentRole, Clock, EventId, ForgetError, ForgetPreview, ForgetReply, ForgetRequest, ForgottenRecording,
    MaintenanceError, MemoryOptions, Observation, ObserveError, ObserveOutcome, OpenError, PendingWork, ReadError,
    Stats, TimeSpan, Timestamp,
};

/// Maximum number of events in the preview of a request to forget.
const MAX_PREVIEWED: usize = 20;

/// Maximum number of attempts of one read.
const MAX_READ_ATTEMPTS: usize = 16;

/// Number of texts in one call of the embedder.
const EMBED_BATCH: usize = 32;

/// An open store.
pub(crate) struct Engine {
    pub(super) database: Database,
    /// The writer. Locked for the length of a commit; never by readers, and never while a model runs.
    pub(super) writer: Mutex<Writer>,
    published: ArcSwap<Published>,
    /// New folds of what is learnt, in progress. Locked while something is learnt.
    pub(super) refold: Mutex<Refolds>,
    /// Reads facts beside the rules, where there is one.
    pub(super) fact_extractor: Mutex<Option<Arc<dyn FactExtractor>>>,
    /// Judges patterns of actions, and chooses the lines of gists, where there is a model.
    pub(super) procedure_judge: Mutex<Option<Arc<dyn ProcedureJudge>>>,
    pub(super) gist_selector: Mutex<Option<Arc<dyn GistSelector>>>,
    /// Hears of the steps of long work.
    progress: Mutex<Option<Arc<dyn Progress>>>,
    /// Options of learning.
    pub(super) learning_options: Mutex<LearningOptions>,
    /// Announcements that nobody has taken yet.
    pub(super) news: Mutex<News>,
    pub(super) options: MemoryOptions,
    pub(super) clock: Arc<dyn Clock>,
    /// Lower bound of the clock's time.
    wall: Wall,
    pub(super) instance: String,
    /// Held by compaction, backup and restoring: one of them at a time.
    maintenance: Mutex<()>,
    /// No compaction goes on.
    pub(super) stopping: AtomicBool,
    /// How far consolidation has come.
    pub(super) consolidation: Mutex<super::consolidation::ConsolidationProgress>,
    /// Held while the index is saved.
    pub(super) saving: Mutex<SavingState>,
}

impl Engine {
    pub(crate) fn open(
        storage: Arc<dyn Storage>,
        options: MemoryOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let database = Database::open(storage, options.cache_bytes)?;
        let damaged = |failure| OpenError::Damaged { path: database.path(), detail: tables::describe(failure) };
        let recover = || -> Result<(Writer, String, Option<Timestamp>)> {
            let transaction = database.read()?;
            let instance = tables::text(&transaction.open_table(META)?, "instance")?
                .ok_or_else(|| Failure::damaged("meta", "instance", "missing"))?;
            let writer = Writer::open(
                &transaction,
                clock.as_ref(),
                &SavedIndexPlace::in_generation(&database, &instance),
                options.index,
            )?;
            Ok((writer, instance, tables::latest(&transaction.open_table(EVENTS)?)?))
        };
        let (writer, instance, latest) = match catch_unwind(AssertUnwindSafe(recover)) {
            Ok(recovered) => recovered.map_err(damaged)?,
            Err(_) => return Err(damaged(Failure::Store("its pages contradict each other".into()))),
        };
        let published = ArcSwap::from_pointee(writer.publish());
        Ok(Self {
            database,
            writer: Mutex::new(writer),
            published,
            refold: Mutex::default(),
            fact_extractor: Mutex::new(None),
            procedure_judge: Mutex::new(None),
            gist_selector: Mutex::new(None),
            progress: Mutex::new(None),
            learning_options: Mutex::default(),
            news: Mutex::default(),
            options,
            wall: Wall::new(Arc::clone(&clock), latest),
            clock,
            instance,
            maintenance: Mutex::default(),
            stopping: AtomicBool::new(false),
            consolidation: Mutex::default(),
            saving: Mutex::default(),
        })
    }

    pub(crate) fn set_progress(&self, progress: Option<Arc<dyn Progress>>) {
        *self.progress.lock() = progress;
    }

    /// The time, as far as it can be known.
    pub(super) fn now(&self) -> Timestamp {
        self.wall.moment().now
    }

    /// Says that long work goes on.
    pub(super) fn step(&self, work: LongWork) {
        if let Some(progress) = self.progress.lock().as_ref() {
            progress.step(work);
        }
    }

    /// The write side, waited for.
    pub(super) fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }

    /// Keeps every other compaction, backup and restoring out.
    pub(super) fn alone(&self) -> Result<MutexGuard<'_, ()>, MaintenanceError> {
        self.maintenance.try_lock().ok_or(MaintenanceError::Busy)
    }

    /// Shows readers the writer's state.
    pub(super) fn publish(&self, writer: &Writer) {
        self.published.store(Arc::new(writer.publish()));
    }

    /// A consistent state for one reader.
    pub(crate) fn view(&self) -> Result<View> {
        // In this order: the tables may be newer than the index, never older.
        let published = self.published.load_full();
        let transaction = self.database.read()?;
        let tables = ReadTables::open(&transaction)?;
        Ok(View { published, tables, zone: self.options.zone.clone(), clock: Arc::clone(&self.clock) })
    }

    /// Runs a read again if the database was reopened under it. On a disk that refuses writes every attempt to write reopens
    /// it, so that may happen more than once. Reopens it itself, once, where the disk could not be read.
    pub(crate) fn reading<T, E>(&self, read: impl Fn(&View) -> std::result::Result<T, E>) -> std::result::Result<T, E>
    where
        E: From<ReadError>,
    {
        let mut repetitions = 0..MAX_READ_ATTEMPTS;
        let mut reopened = false;
        loop {
            let openings = self.database.openings();
            let result = self.view().map_err(|failure| ReadError::from(failure).into()).and_then(|view| read(&view));
            if result.is_err() && !reopened && self.database.openings() == openings && self.database.take_unread() {
                reopened = true;
                if let Err(failure) = self.heal(&mut self.writer.lock()) {
                    tracing::error!(problem = tables::describe(failure), "the store cannot be read");
                }
            }
            let interrupted = result.is_err() && self.database.openings() != openings;
            if !interrupted || repetitions.next().is_none() {
                return result;
            }
        }
    }

    /// The name of the place that a position belongs to.
    pub(crate) fn place_at(&self, pose: &crate::Pose) -> Option<String> {
        self.published.load().positions.places.place_at(&pose.frame, pose.x, pose.y).map(str::to_owned)
    }

    pub(crate) fn stats(&self) -> Stats {
        let mut stats = self.published.load().stats.clone();
        stats.disk_bytes = self.database.disk_bytes();
        stats.clock_behind = self.wall.behind();
        stats
    }

    pub(crate) fn observe(&self, batch: Vec<Observation>) -> Result<Vec<ObserveOutcome>, ObserveError> {
        let mut writer = self.writer.lock();
        writer.journal.expire(self.clock.monotonic());
        self.check_ceiling()?;
        let mut prepared = writer.learnt.is_prepared();
        // What a damaged record makes impossible, by its place in the batch.
        let mut refused: BTreeMap<usize, String> = BTreeMap::new();
        loop {
            let mut failed = None;
            let outcomes = self.transact(&mut writer, prepared, |draft, writer| {
                let observe = |(number, observation): (usize, &Observation)| {
                    if let Some(message) = refused.get(&number) {
                        return Ok(ObserveOutcome::Rejected { message: message.clone() });
                    }
                    failed = Some(number);
                    match observation.clone() {
                        Observation::Told(told) => draft.tell(told, &writer.journal),
                        Observation::Perceived(segment) => draft.perceive(segment),
                        Observation::Looked(looked) => draft.take_looked(looked),
                    }
                };
                let outcomes = batch.iter().enumerate().map(observe).collect::<Result<_>>()?;
                failed = None;
                Ok(outcomes)
            });
            match (outcomes, failed) {
                (Ok(Some(outcomes)), _) => return Ok(outcomes),
                (Ok(None), _) => {
                    drop(writer);
                    self.prepare_learnt();
                    prepared = true;
                    writer = self.writer.lock();
                }
                // It would fail again however often it is sent, and hold up whatever is sent with it.
                (Err(failure @ Failure::Damaged { .. }), Some(number)) => {
                    let problem = tables::describe(failure);
                    tracing::error!(problem, "an observation is refused, because a record that it changes is damaged");
                    let message = format!("{problem}; run `engram check`, and forget what is damaged or tell it anew");
                    refused.insert(number, message);
                }
                (Err(failure), _) => return Err(failure.into()),
            }
        }
    }

    pub(crate) fn forget(&self, request: &ForgetRequest) -> Result<ForgetReply, ForgetError> {
        forget::validate(request).map_err(ForgetError::Invalid)?;
        self.prepare_learnt();
        let found = self.look_for(request).map_err(|failure| ForgetError::Read(failure.into()))?;
        let mut writer = self.writer.lock();
        let reply = self.transact(&mut writer, true, |draft, writer| draft.forget(request, &writer.learnt, found));
        let reply = reply.map_err(|failure| ForgetError::Write(failure.into()))?;
        Ok(reply.expect("a transaction that must be done is"))
    }

    pub(crate) fn preview_forget(&self, request: &ForgetRequest) -> Result<ForgetPreview, ForgetError> {
        forget::validate(request).map_err(ForgetError::Invalid)?;
        let previewed = || -> Result<ForgetPreview> {
            let found = self.look_for(request)?;
            let (reply, hidden) = {
                let mut writer = self.writer.lock();
                let transaction = self.begin(&mut writer)?;
                let mut draft = Draft::new(WriteTables::open(&transaction)?, self.wall.moment())?;
                let reply = draft.forget(request, &writer.learnt, found)?;
                let hidden = std::mem::take(&mut draft.changes.hidden);
                drop(draft);
                transaction.abort()?;
                (reply, hidden)
            };
            let view = self.view()?;
            let mut events = Vec::new();
            for id in hidden.into_iter().take(MAX_PREVIEWED) {
                events.extend(if_sound(view.find_event(id))?.flatten());
            }
            Ok(ForgetPreview { reply, events })
        };
        previewed().map_err(|failure| ForgetError::Write(failure.into()))
    }

    /// One write transaction: all of it or nothing, in the tables and in memory. Nothing, and `None`, if it would hide
    /// something before what was learnt is prepared for that, unless it `must` be done.
    pub(super) fn transact<T>(
        &self,
        writer: &mut Writer,
        must: bool,
        work: impl FnOnce(&mut Draft<'_>, &Writer) -> Result<T>,
    ) -> Result<Option<T>> {
        let transaction = self.begin(writer)?;
        let drafted = || {
            let mut draft = Draft::new(WriteTables::open(&transaction)?, self.wall.moment())?;
            let value = work(&mut draft, writer)?;
            if !draft.dirty {
                return Ok(Drafted::Unchanged { value: Some(value), duplicates: draft.changes.duplicates });
            }
            if !must && draft.withdraws() && !writer.learnt.is_prepared() {
                return Ok(Drafted::Unchanged { value: None, duplicates: 0 });
            }
            let learnt = draft.withdraw(&writer.learnt, *self.learning_options.lock())?;
            let (head, changes) = draft.finish()?;
            Ok(Drafted::Changed { value, head, changes, learnt })
        };
        let value = match drafted() {
            Ok(Drafted::Changed { value, head, changes, learnt }) => {
                transaction.commit().map_err(|error| self.failed(writer, error.into()))?;
                if let Some((mut learnt, withdrawal)) = learnt {
                    // What became of procedures is told when they were folded anew.
                    self.news.lock().add_entities(learnt.take_news());
                    writer.learnt = Arc::new(learnt);
                    writer.withdrawals.push(withdrawal);
                }
                writer.apply(head, changes, self.clock.monotonic());
                Some(value)
            }
            Ok(Drafted::Unchanged { value, duplicates }) => {
                transaction.abort().map_err(|error| self.failed(writer, error.into()))?;
                writer.note_duplicates(duplicates);
                value
            }
            Err(failure) => {
                // The transaction rolls back as it is dropped, before the database is looked after.
                drop(transaction);
                return Err(self.failed(writer, failure));
            }
        };
        self.published.store(Arc::new(writer.publish()));
        Ok(value)
    }

    pub(super) fn begin(&self, writer: &mut Writer) -> Result<Write> {
        match self.database.write() {
            Ok(transaction) => Ok(transaction),
            // An earlier I/O error, also one of a reader, has closed the database for writing.
            Err(_) => {
                self.heal(writer)?;
                self.database.write()
            }
        }
    }

    /// A transaction of its own for what `work` writes: all of it is committed, or nothing.
    pub(super) fn commit<T>(
        &self,
        writer: &mut Writer,
        work: impl FnOnce(&mut Write, &mut Writer) -> Result<T>,
    ) -> Result<T> {
        let mut transaction = self.begin(writer)?;
        match work(&mut transaction, writer) {
            Ok(value) => {
                transaction.commit().map_err(|error| self.failed(writer, error.into()))?;
                Ok(value)
            }
            Err(failure) => {
                // It rolls back as it is dropped, before the database is looked after.
                drop(transaction);
                Err(self.failed(writer, failure))
            }
        }
    }

    /// Sees to the database after a failed write and says what the failure means.
    pub(super) fn failed(&self, writer: &mut Writer, failure: Failure) -> Failure {
        let failure = self.database.explain(failure);
        if !matches!(failure, Failure::Damaged { .. })
            && let Err(healing) = self.heal(writer)
        {
            tracing::error!(problem = tables::describe(healing), "the store stays closed after an I/O error for now");
        }
        failure
    }

    /// Reopens the database, for reading only where the disk takes no writes; then the error says why.
    fn heal(&self, writer: &mut Writer) -> Result<()> {
        let reopened = self.database.reopen();
        self.follow_tables(writer)?;
        reopened.map_err(|error| self.database.explain(Failure::Store(error.to_string())))
    }

    /// Brings memory in step with the tables: a commit that failed half-way may turn out to have happened.
    fn follow_tables(&self, writer: &mut Writer) -> Result<()> {
        let transaction = self.database.read()?;
        let head = tables::head(&transaction.open_table(META)?)?;
        if head != writer.head {
            let place = SavedIndexPlace::in_generation(&self.database, &self.instance);
            let mut recovered = Writer::open(&transaction, self.clock.as_ref(), &place, self.options.index)?;
            recovered.absent = Arc::clone(&writer.absent);
            recovered.picture_texts.clone_from(&writer.picture_texts);
            recovered.extractor.clone_from(&writer.extractor);
            recovered.place_spaces = Arc::clone(&writer.place_spaces);
            if let Some(space) = writer.space.take() {
                recovered.use_space(SpaceInUse::new(space.embedder), &transaction)?;
            }
            recovered.follow_learnt(writer);
            *writer = recovered;
            self.published.store(Arc::new(writer.publish()));
        } else {
            // Slices of learning wait for no disk: those since the last durable commit may be gone.
            writer.learnt = Arc::new(learned::load(&transaction)?);
            writer.withdrawals.restart();
            writer.learnt_openings += 1;
            self.published.store(Arc::new(writer.publish()));
        }
        Ok(())
    }

    fn check_ceiling(&self) -> Result<(), ObserveError> {
        let Some(ceiling) = self.options.max_bytes else { return Ok(()) };
        let taken = self.database.disk_bytes();
        self.make_room(taken, ceiling);
        if taken < ceiling {
            return Ok(());
        }
        Err(ObserveError::StorageFull(format!("it takes {taken} bytes, and its ceiling is {ceiling}")))
    }

    pub(crate) fn set_absent_roles(&self, roles: Vec<AbsentRole>) {
        let mut writer = self.writer.lock();
        writer.absent = roles.into();
        self.published.store(Arc::new(writer.publish()));
    }

    pub(super) fn publish_place_spaces(&self, spaces: Arc<[PlaceSpace]>) {
        let mut writer = self.writer.lock();
        writer.place_spaces = spaces;
        self.published.store(Arc::new(writer.publish()));
    }

    /// The spaces of pictures in which places can be told apart.
    pub(super) fn place_spaces(&self) -> Arc<[PlaceSpace]> {
        Arc::clone(&self.published.load().place_spaces)
    }

    pub(crate) fn set_picture_texts(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        let mut writer = self.writer.lock();
        writer.picture_texts = embedder;
        self.published.store(Arc::new(writer.publish()));
    }

    pub(crate) fn set_answer_extractor(&self, extractor: Option<Arc<dyn AnswerExtractor>>) {
        let mut writer = self.writer.lock();
        writer.extractor = extractor;
        self.published.store(Arc::new(writer.publish()));
    }

    pub(crate) fn set_text_embedder(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        let mut writer = self.writer.lock();
        match embedder.map(SpaceInUse::new) {
            None => writer.leave_space(),
            Some(new) => match &mut writer.space {
                Some(old) if old.space == new.space => old.embedder = new.embedder,
                _ => {
                    let loaded = self.database.read().and_then(|transaction| writer.use_space(new, &transaction));
                    if let Err(failure) = loaded {
                        // What was not loaded stays pending and is embedded again.
                        tracing::error!(problem = tables::describe(failure), "stored embeddings could not be read");
                    }
                }
            },
        }
        self.published.store(Arc::new(writer.publish()));
    }

    /// Embeds the newest pending events, so that a backlog does not hold up what just happened.
    pub(crate) fn embed_pending(&self, limit: usize) -> Result<PendingWork, ObserveError> {
        let (ids, embedder, space) = {
            let writer = self.writer.lock();
            let Some(in_use) = &writer.space else {
                return Ok(writer.pending_work());
            };
            (writer.pending.newest(limit), Arc::clone(&in_use.embedder), in_use.space.clone())
        };
        let texts = self.passages(&ids)?;
        let mut embedded = Vec::with_capacity(texts.len());
        for batch in texts.chunks(EMBED_BATCH) {
            embedded.extend(embed(embedder.as_ref(), batch)?);
            self.step(LongWork::Embedding);
        }

        let mut writer = self.writer.lock();
        if writer.space.as_ref().is_none_or(|in_use| in_use.space != space) {
            return Ok(writer.pending_work());
        }
        embedded.retain(|(id, _)| writer.live.contains(id.0));
        if !embedded.is_empty() {
            let last = embedded.len() as u64 >= writer.pending.len();
            let number = self.commit_vectors(&mut writer, &space, &embedded, last)?;
            for (id, _) in &embedded {
                writer.pending.remove(id.0);
            }
            if let Some(in_use) = &mut writer.space {
                in_use.number = Some(number);
            }
            if let Some(indexed) = &mut writer.indexed_space {
                indexed.number = Some(number);
            }
            writer.index.embed(&embedded);
            self.published.store(Arc::new(writer.publish()));
        }
        Ok(writer.pending_work())
    }

    fn passages(&self, ids: &[u64]) -> Result<Vec<(EventId, String)>> {
        let view = self.view()?;
        let mut texts = Vec::with_capacity(ids.len());
        for &id in ids {
            if let Some(event) = view.find_event(EventId(id))? {
                texts.push((event.id, passage(&event)));
            }
        }
        Ok(texts)
    }

    fn commit_vectors(
        &self,
        writer: &mut Writer,
        space: &crate::store::records::Space,
        embedded: &[(EventId, Vec<i16>)],
        last: bool,
    ) -> Result<u32> {
        self.commit(writer, |transaction, writer| {
            let mut tables = WriteTables::open(transaction)?;
            let number = vectors::number_of(&mut tables, space)?;
            for (id, vector) in embedded {
                writer.lately.put(&mut tables.vectors, number, *id, vector)?;
            }
            // Once every event is in the new space, nothing leads back to an old one.
            if last {
                vectors::drop_others(&mut tables, number)?;
            }
            Ok(number)
        })
    }

    pub(crate) fn setting(&self, name: &str) -> Result<Option<String>, ReadError> {
        let transaction = self.database.read()?;
        Ok(tables::text(&transaction.open_table(SETTINGS).map_err(Failure::from)?, name)?)
    }

    pub(crate) fn set_setting(&self, name: &str, value: &str) -> Result<(), ObserveError> {
        if value.len() > MAX_TEXT_BYTES {
            let message = format!("setting {name} has {} bytes; at most {MAX_TEXT_BYTES}", value.len());
            return Err(ObserveError::Store(message));
        }
        let mut writer = self.writer.lock();
        self.commit(&mut writer, |transaction, _| {
            let mut settings = transaction.open_table(SETTINGS)?;
            settings.insert(name, tables::seal_text(name, value).as_slice())?;
            Ok(())
        })?;
        Ok(())
    }

    /// Recordings that still have to be removed.
    pub(crate) fn recordings_to_remove(&self) -> Result<Vec<(u64, ForgottenRecording)>, ReadError> {
        let purges = tables::purges(&self.database.read()?)?;
        let recording = |(number, purge): (u64, Purge)| {
            let span = TimeSpan::new(Timestamp::from_micros(purge.start), Timestamp::from_micros(purge.end));
            (number, ForgottenRecording { source: purge.source, span, media: purge.media })
        };
        Ok(purges.into_iter().map(recording).collect())
    }

    pub(crate) fn recordings_removed(&self, numbers: &[u64]) -> Result<(), ObserveError> {
        let mut writer = self.writer.lock();
        self.commit(&mut writer, |transaction, _| {
            let mut purges = transaction.open_table(PURGES)?;
            for number in numbers {
                purges.remove(*number)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    pub(crate) fn check(&self) -> Result<crate::CheckReport, ReadError> {
        Ok(super::check::check(&self.database.read()?)?)
    }
}

fn embed(embedder: &dyn TextEmbedder, batch: &[(EventId, String)]) -> Result<Vec<(EventId, Vec<i16>)>, ObserveError> {
    let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
    let vectors = embedder.embed(&texts).map_err(|error| ObserveError::Store(error.to_string()))?;
    if vectors.len() != batch.len() || vectors.iter().any(|vector| vector.len() != embedder.dimensions()) {
        let space = embedder.space();
        return Err(ObserveError::Store(format!(
            "the embedder of {space} returned vectors of another number or length"
        )));
    }
    Ok(batch.iter().zip(&vectors).map(|((id, _), vector)| (*id, vectors::quantize(vector))).collect())
}
