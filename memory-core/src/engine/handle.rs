//! The engine of the store: one writer, many readers.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arc_swap::ArcSwap;
use parking_lot::{Mutex, MutexGuard};

use super::draft::Draft;
use super::forget;
use super::published::Published;
use super::refold::Refolds;
use super::saved_index::SavedIndexPlace;
use super::saving::SavingState;
use super::view::View;
use super::wall::Wall;
use super::writer::Writer;
use crate::episodic::consolidation::PlaceSpace;
use crate::learning::{LearningOptions, News};
use crate::limits::MAX_TEXT_BYTES;
use crate::ports::{AnswerExtractor, FactExtractor, GistSelector, LongWork, ProcedureJudge, Progress, TextEmbedder};
use crate::store::database::Database;
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::records::Purge;
use crate::store::storage::Storage;
use crate::store::tables::{self, EVENTS, META, PURGES, ReadTables, SETTINGS, WriteTables};
use crate::{
    AbsentRole, Clock, ForgetError, ForgetPreview, ForgetReply, ForgetRequest, ForgottenRecording, MaintenanceError,
    MemoryOptions, Observation, ObserveError, ObserveOutcome, OpenError, ReadError, Stats, TimeSpan, Timestamp,
};

/// Maximum number of events in the preview of a request to forget.
const MAX_PREVIEWED: usize = 20;

/// Maximum number of attempts of one read.
const MAX_READ_ATTEMPTS: usize = 16;

/// An open store.
pub(crate) struct Engine {
    pub(super) database: Database,
    /// The writer. Locked for the length of a commit; never by readers, and never while a model runs.
    pub(super) writer: Mutex<Writer>,
    pub(super) published: ArcSwap<Published>,
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
    pub(super) wall: Wall,
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
    /// it, so that may happen more than once. Reopens it itself, once, where the disk has failed and nobody has yet.
    pub(crate) fn reading<T, E>(&self, read: impl Fn(&View) -> std::result::Result<T, E>) -> std::result::Result<T, E>
    where
        E: From<ReadError>,
    {
        let mut repetitions = 0..MAX_READ_ATTEMPTS;
        let mut reopened = false;
        loop {
            let openings = self.database.openings();
            let result = self.view().map_err(|failure| ReadError::from(failure).into()).and_then(|view| read(&view));
            if result.is_err() && !reopened && self.database.openings() == openings && self.database.take_failed() {
                reopened = true;
                let mut writer = self.writer.lock();
                // The writer that met the failure may have seen to the database meanwhile.
                if self.database.openings() == openings
                    && let Err(failure) = self.heal(&mut writer)
                {
                    tracing::error!(
                        problem = tables::describe(failure),
                        "the store takes no writes after an I/O error for now, or is closed"
                    );
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

    pub(crate) fn has_answer_extractor(&self) -> bool {
        self.published.load().extractor.is_some()
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
