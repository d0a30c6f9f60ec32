//! The memory behind bounded queues: one writer thread with group commit, a recall pool, and a job thread that learns from
//! committed events and embeds them while no question is in progress.
//!
//! ```text
//! observe, forget ─▶ writer queue ─▶ writer thread ─▶ Memory::observe (one transaction for all that waits)
//! perceived       ─▶      "                              │ wakes
//!                                                        ▼
//! ask, list, get  ─▶ recall queue ─▶ recall threads   job thread (pauses while questions are answered)
//! ```
//!
//! Invariants: replies to `observe` come in the order of the calls. An accepted observation is durable before the caller gets
//! the reply. When the store cannot write, everything in the queue fails too, so that no later item overtakes an earlier one
//! that must be sent again.

mod behind;
mod compaction;
mod episodes;
mod jobs;
mod looking;
mod pool;
mod questions;
mod queue;
mod robot_path;
mod searching;
mod visiting;
mod writer;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use drivers::perception::Pace;
use memory_core::ports::{PerceptionSink, PortError, TextEmbedder};
use memory_core::{
    Answer, Clock, EntityNews, EpisodeFilter, EpisodeId, EpisodePage, Event, EventId, EventPage, ForgetError,
    ForgetPreview, ForgetReply, ForgetRequest, GistNews, Memory, NamingError, NamingRequest, Observation, Outcome,
    Page, Perceived, Person, ProcedureError, ProcedureNews, ProcedureReply, ProcedureRequest, Query, ReadError,
    SaveIndex, Timestamp,
};
use tokio::sync::{Semaphore, broadcast, oneshot};

use crate::health::QueueHealth;
use crate::llm::AnswerJudge;
use crate::upkeep::AutomaticOptions;
use behind::Behind;
pub use episodes::{EpisodeChange, EpisodeEvent};
pub use jobs::JobProgress;
pub use looking::{Looker, LookingNews};
use pool::RecallPool;
use questions::Questions;
pub use robot_path::{Dropped, PoseOptions, RobotPath};
use writer::{WriteJob, Writer};

/// News of persons that a listener may fall behind by.
const ENTITY_EVENTS: usize = 256;
/// The same of procedures: those of a house fit.
const PROCEDURE_EVENTS: usize = 1024;

/// The same of gists: a day of hours, and the day.
const GIST_EVENTS: usize = 64;

/// Listings that may wait or run at once; they are many at a time only where somebody floods.
const MAX_LISTINGS: usize = 16;

/// Sizes and waits of the service.
#[derive(Debug, Clone, PartialEq)]
pub struct ServiceOptions {
    /// Batches and segments that may wait for the writer.
    pub writer_queue: usize,
    /// Observations that one transaction takes at most, unless a single batch is larger.
    pub commit_items: usize,
    /// How long the writer waits for company before it commits; zero commits what is there.
    pub commit_linger: Duration,
    /// Threads that answer questions.
    pub recall_threads: usize,
    /// Questions that may wait; above it, `Busy`.
    pub recall_queue: usize,
    /// Time for a question that names none, waiting included.
    pub default_budget: Duration,
    /// Time that one slice of a job should take. Its size follows it.
    pub job_slice: Duration,
    /// How long jobs stay away after the last question.
    pub job_quiet: Duration,
    /// How long questions can keep a job away before it does one slice all the same.
    pub job_patience: Duration,
    /// When the memory is compacted by itself.
    pub compaction: AutomaticOptions,
    /// What the jobs follow.
    pub pace: Pace,
    /// Which poses of the robot are used.
    pub pose: PoseOptions,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            writer_queue: 256,
            commit_items: 2048,
            commit_linger: Duration::from_millis(2),
            recall_threads: cores.clamp(2, 4),
            recall_queue: 64,
            default_budget: Duration::from_secs(3),
            job_slice: Duration::from_millis(30),
            job_quiet: Duration::from_millis(20),
            job_patience: Duration::from_secs(1),
            compaction: AutomaticOptions::default(),
            pace: Pace::default(),
            pose: PoseOptions::default(),
        }
    }
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// One per observation, in order.
    pub outcomes: Vec<Outcome>,
    /// Number of the last commit.
    pub seq: u64,
}

/// Why nothing of a batch was committed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObserveFailure {
    /// The disk is full or the ceiling reached; the same batch can be sent again.
    #[error("{0}")]
    StorageFull(String),
    /// Any other failure of the store.
    #[error("{0}")]
    Store(String),
    /// Engram is stopping.
    #[error("engram is stopping; send it again when it is back")]
    Closed,
}

/// Why a question, or a reading, got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskFailure {
    /// More questions wait than the queue holds.
    #[error("too many questions are waiting; ask again in a moment")]
    Busy,
    /// The time ran out, waiting included.
    #[error("no answer within {} ms; ask again with a larger deadline_ms", .0.as_millis())]
    Deadline(Duration),
    /// The question cannot be understood as one.
    #[error("{0}")]
    Invalid(String),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The answer failed in a way that is a bug.
    #[error("answering failed unexpectedly: {0}; please report it")]
    Internal(String),
    /// Engram is stopping.
    #[error("engram is stopping")]
    Closed,
}

/// Why nothing was forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetFailure {
    /// The request names nothing, or is contradictory.
    #[error("{0}")]
    Invalid(String),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The store could not write; nothing was forgotten.
    #[error(transparent)]
    Write(#[from] ObserveFailure),
}

/// A promise of the writer.
pub type Reply<T> = oneshot::Receiver<T>;

/// The memory behind its queues. Cheap to clone; clones share it.
#[derive(Clone)]
pub struct MemoryService {
    shared: Arc<ServiceShared>,
}

struct ServiceShared {
    memory: Memory,
    clock: Arc<dyn Clock>,
    writer: Arc<Writer>,
    pool: Arc<RecallPool>,
    jobs: Arc<jobs::Signal>,
    entity_events: broadcast::Sender<EntityNews>,
    procedure_events: broadcast::Sender<ProcedureNews>,
    gist_events: broadcast::Sender<GistNews>,
    questions: Arc<Questions>,
    behind: Arc<Behind>,
    robot_path: RobotPath,
    /// The place that the robot is at.
    visiting: parking_lot::Mutex<visiting::Visiting>,
    default_budget: Duration,
    /// Looks at recordings again, once encoders are there.
    looker: OnceLock<Arc<Looker>>,
    looking_events: broadcast::Sender<LookingNews>,
    /// Listings that wait or run, and the one that runs.
    listings_waiting: Semaphore,
    listings: Semaphore,
    /// Decides questions with a language model, where there is one.
    answer_judge: OnceLock<AnswerJudge>,
}

/// The threads behind a [`MemoryService`].
pub struct ServiceThreads {
    shared: Arc<ServiceShared>,
    threads: Vec<(&'static str, std::thread::JoinHandle<()>)>,
    /// Closed when the last thread ends.
    ended: std::sync::mpsc::Receiver<()>,
    /// Dropped to end the compaction's thread.
    stop_compaction: std::sync::mpsc::SyncSender<()>,
}

impl MemoryService {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the system gives no more threads.
    pub fn start(
        memory: Memory,
        options: ServiceOptions,
        clock: Arc<dyn Clock>,
    ) -> std::io::Result<(Self, ServiceThreads)> {
        let questions = Arc::new(Questions::new(Arc::clone(&clock)));
        let jobs = Arc::new(jobs::Signal::new());
        let behind = Arc::new(Behind::new(&clock));
        memory.set_progress(Some(Arc::<Behind>::clone(&behind)));
        let entity_events = broadcast::Sender::new(ENTITY_EVENTS);
        let procedure_events = broadcast::Sender::new(PROCEDURE_EVENTS);
        let gist_events = broadcast::Sender::new(GIST_EVENTS);
        let writer = Arc::new(Writer::new(&options, Arc::clone(&clock)));
        let pool = Arc::new(RecallPool::new(options.recall_queue));
        let shared = Arc::new(ServiceShared {
            memory: memory.clone(),
            clock: Arc::clone(&clock),
            writer: Arc::clone(&writer),
            pool: Arc::clone(&pool),
            jobs: Arc::clone(&jobs),
            entity_events: entity_events.clone(),
            procedure_events: procedure_events.clone(),
            gist_events: gist_events.clone(),
            questions: Arc::clone(&questions),
            behind: Arc::clone(&behind),
            robot_path: RobotPath::new(options.pose.clone()),
            visiting: parking_lot::Mutex::default(),
            default_budget: options.default_budget,
            looker: OnceLock::new(),
            looking_events: broadcast::Sender::new(looking::NEWS),
            listings_waiting: Semaphore::new(MAX_LISTINGS),
            listings: Semaphore::new(1),
            answer_judge: OnceLock::new(),
        });
        // Never sent on: a thread holds its end open for as long as it lives.
        let (alive, ended) = std::sync::mpsc::sync_channel::<()>(0);
        let mut threads = Vec::new();
        let mut spawn = |name: &'static str, body: Box<dyn FnOnce() + Send>| -> std::io::Result<()> {
            let alive = alive.clone();
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                body();
                drop(alive);
            })?;
            threads.push((name, thread));
            Ok(())
        };
        {
            let (memory, clock, signal) = (memory.clone(), Arc::clone(&clock), Arc::clone(&jobs));
            let writer = Arc::clone(&writer);
            spawn("memory-writer", Box::new(move || writer.run(&memory, clock.as_ref(), &signal)))?;
        }
        for _ in 0..options.recall_threads.max(1) {
            let (memory, clock, pool) = (memory.clone(), Arc::clone(&clock), Arc::clone(&pool));
            spawn("recall", Box::new(move || pool.run(&memory, clock.as_ref())))?;
        }
        let (stop_compaction, stopped) = std::sync::mpsc::sync_channel::<()>(0);
        {
            let (memory, clock, questions) = (memory.clone(), Arc::clone(&clock), Arc::clone(&questions));
            let (compaction, behind) = (options.compaction.clone(), Arc::clone(&behind));
            spawn(
                "compaction",
                Box::new(move || {
                    compaction::run(&memory, compaction, clock.as_ref(), &questions, &stopped, &behind.compaction);
                }),
            )?;
        }
        spawn(
            "memory-jobs",
            Box::new(move || {
                let ingesting = || writer.queue.gauge().depth > 0;
                // Nobody listening is no failure.
                let of_person = |news| drop(entity_events.send(news));
                let of_procedure = |news| drop(procedure_events.send(news));
                let of_gist = |gist| drop(gist_events.send(gist));
                let around = jobs::JobEnvironment {
                    questions: &questions,
                    ingesting: &ingesting,
                    of_person: &of_person,
                    of_procedure: &of_procedure,
                    of_gist: &of_gist,
                    pulse: &behind.jobs,
                };
                jobs::run(&memory, &options, clock.as_ref(), &jobs, &around);
            }),
        )?;
        Ok((Self { shared: Arc::clone(&shared) }, ServiceThreads { shared, threads, ended, stop_compaction }))
    }

    /// Commits a batch; waits for space in the queue and for the commit.
    ///
    /// # Errors
    /// See [`ObserveFailure`]; then nothing of the batch was committed.
    pub async fn observe(&self, batch: Vec<Observation>) -> Result<Committed, ObserveFailure> {
        self.enqueue_observe(batch).await.await.unwrap_or(Err(ObserveFailure::Closed))
    }

    /// Puts a batch in the writer's queue, waiting for space there but not for the commit. Batches are committed in the
    /// order in which these calls return.
    pub async fn enqueue_observe(&self, mut batch: Vec<Observation>) -> Reply<Result<Committed, ObserveFailure>> {
        let now = self.shared.clock.now();
        batch.iter_mut().for_each(|observation| self.shared.robot_path.attach(observation, now));
        let (reply, promise) = oneshot::channel();
        if let Err(WriteJob::Observe { reply, .. }) =
            self.shared.writer.queue.push(WriteJob::Observe { batch, reply }).await
        {
            // A receiver that went away needs no answer.
            drop(reply.send(Err(ObserveFailure::Closed)));
        }
        promise
    }

    /// Hides events; ordered with the observations before and after it.
    ///
    /// # Errors
    /// See [`ForgetFailure`].
    pub async fn forget(&self, request: ForgetRequest) -> Result<ForgetReply, ForgetFailure> {
        self.enqueue_forget(request).await.await.unwrap_or(Err(ForgetFailure::Write(ObserveFailure::Closed)))
    }

    /// Says what a request would forget.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn preview_forget(&self, budget: Duration, request: ForgetRequest) -> Result<ForgetPreview, AskFailure> {
        self.read(budget, move |memory| {
            memory.preview_forget(&request).map_err(|error| match error {
                ForgetError::Invalid(message) => AskFailure::Invalid(message),
                ForgetError::Read(error) => AskFailure::Read(error),
                other => AskFailure::Internal(other.to_string()),
            })
        })
        .await
    }

    /// Puts a request to forget in the writer's queue, in its order among the batches.
    pub async fn enqueue_forget(&self, request: ForgetRequest) -> Reply<Result<ForgetReply, ForgetFailure>> {
        let (reply, promise) = oneshot::channel();
        if let Err(WriteJob::Forget { reply, .. }) =
            self.shared.writer.queue.push(WriteJob::Forget { request, reply }).await
        {
            drop(reply.send(Err(ForgetFailure::Write(ObserveFailure::Closed))));
        }
        promise
    }

    /// Answers a question. `query.budget` (or the default) counts from here, the wait in the queue included.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn ask(&self, query: Query) -> Result<Answer, AskFailure> {
        let budget = query.budget.unwrap_or(self.shared.default_budget);
        let until = self.shared.clock.monotonic() + budget;
        let robot = query.robot.clone().or_else(|| self.shared.robot_path.at(self.shared.clock.now()));
        let query = Query { robot, ..query };
        let answer = self.remembered(query.clone(), budget).await?;
        Ok(self.looked_again(&query, answer, until).await)
    }

    /// The answer of the memory alone.
    async fn remembered(&self, query: Query, budget: Duration) -> Result<Answer, AskFailure> {
        let clock = Arc::clone(&self.shared.clock);
        let deadline = clock.monotonic() + budget;
        let _question = self.shared.questions.begin();
        let timed = move |mut query: Query, clock: &dyn Clock| {
            let left = deadline.saturating_sub(clock.monotonic());
            query.budget = Some(left);
            if left.is_zero() { Err(AskFailure::Deadline(budget)) } else { Ok(query) }
        };
        let failed = move |error| match error {
            memory_core::QueryError::Invalid(message) => AskFailure::Invalid(message),
            memory_core::QueryError::Deadline(_) => AskFailure::Deadline(budget),
            memory_core::QueryError::Read(error) => AskFailure::Read(error),
            other => AskFailure::Internal(other.to_string()),
        };
        let Some(judge) = self.shared.answer_judge.get() else {
            let asked = move |memory: &Memory| memory.ask(&timed(query, clock.as_ref())?).map_err(failed);
            return self.read(budget, asked).await;
        };
        let (asked, asked_by) = (query.clone(), Arc::clone(&clock));
        let deliberated = move |memory: &Memory| memory.deliberate(&timed(asked, asked_by.as_ref())?).map_err(failed);
        let deliberation = self.read(budget, deliberated).await?;
        Ok(judge.decide(deliberation, &query, deadline.saturating_sub(clock.monotonic())).await)
    }

    /// Lets a language model decide questions from now on; once.
    pub fn set_answer_judge(&self, judge: AnswerJudge) {
        if self.shared.answer_judge.set(judge).is_err() {
            tracing::error!("the judge of answers was set twice; the first one stays");
        }
    }

    /// Where the robot was in the last minutes.
    pub fn robot_path(&self) -> &RobotPath {
        &self.shared.robot_path
    }

    /// Lets questions look at recordings again; once.
    pub fn set_looker(&self, looker: Looker) {
        if self.shared.looker.set(Arc::new(looker)).is_err() {
            tracing::error!("the tools to look again were set twice; the first ones stay");
        }
    }

    fn looker(&self) -> Option<Arc<Looker>> {
        self.shared.looker.get().cloned()
    }

    /// Episodes, newest first, a page at a time.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn episodes(&self, filter: EpisodeFilter) -> Result<Page, AskFailure> {
        let list =
            move |memory: &Memory, left| memory.episodes(&EpisodeFilter { budget: Some(left), ..filter.clone() });
        self.list(self.shared.default_budget, list).await
    }

    /// Runs a listing on the recall pool, one at a time, so that questions always find a thread. `work` is told how long it
    /// may take.
    ///
    /// # Errors
    /// `Busy` if enough of them wait, and as [`read`](Self::read).
    pub async fn list<T: Send + 'static>(
        &self,
        budget: Duration,
        work: impl FnOnce(&Memory, Duration) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<T, AskFailure> {
        let clock = Arc::clone(&self.shared.clock);
        let deadline = clock.monotonic() + budget;
        let Ok(_place) = self.shared.listings_waiting.try_acquire() else { return Err(AskFailure::Busy) };
        let turn = tokio::time::timeout(budget, self.shared.listings.acquire()).await;
        let Ok(Ok(_turn)) = turn else { return Err(AskFailure::Deadline(budget)) };
        let left = deadline.saturating_sub(clock.monotonic());
        self.read(left, move |memory| {
            let left = deadline.saturating_sub(clock.monotonic());
            work(memory, left).map_err(|error| match error {
                ReadError::Deadline(_) => AskFailure::Deadline(budget),
                other => AskFailure::Read(other),
            })
        })
        .await
    }

    /// One episode with a page of its visible events.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn episode(&self, id: EpisodeId, page: EventPage) -> Result<Option<EpisodePage>, AskFailure> {
        let read = move |memory: &Memory| memory.episode_page(id, page).map_err(AskFailure::Read);
        self.read(self.shared.default_budget, read).await
    }

    /// One visible event.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn event(&self, id: EventId) -> Result<Option<Event>, AskFailure> {
        self.read(self.shared.default_budget, move |memory| memory.event(id).map_err(AskFailure::Read)).await
    }

    /// Answers a symbolic query about procedures.
    ///
    /// # Errors
    /// See [`AskFailure`].
    pub async fn procedure(&self, request: ProcedureRequest) -> Result<ProcedureReply, AskFailure> {
        let _question = self.shared.questions.begin();
        self.read(self.shared.default_budget, move |memory| {
            memory.procedure(&request).map_err(|error| match error {
                ProcedureError::Read(error) => AskFailure::Read(error),
                other => AskFailure::Invalid(other.to_string()),
            })
        })
        .await
    }

    /// Runs any reading on the recall pool.
    ///
    /// # Errors
    /// `Busy`, `Deadline`, `Closed`, or what `work` fails with.
    pub async fn read<T: Send + 'static>(
        &self,
        budget: Duration,
        work: impl FnOnce(&Memory) -> Result<T, AskFailure> + Send + 'static,
    ) -> Result<T, AskFailure> {
        let answer = self.shared.pool.submit(self.shared.clock.monotonic() + budget, budget, work)?;
        // The pool keeps the deadline; this holds even where the memory overruns its own.
        match tokio::time::timeout(budget, answer).await {
            Ok(answer) => answer.unwrap_or(Err(AskFailure::Closed)),
            Err(_elapsed) => {
                self.shared.pool.count_overrun();
                Err(AskFailure::Deadline(budget))
            }
        }
    }

    /// Gives the memory its φ and wakes the job thread.
    pub fn set_text_embedder(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        self.shared.memory.set_text_embedder(embedder);
        self.shared.jobs.wake();
    }

    /// Another memory was put in the place of this one: there may be work that nobody announced.
    pub fn memory_replaced(&self) {
        self.shared.jobs.wake();
    }

    /// New, changed and ended episodes from now on. A slow listener loses the oldest and is told how many.
    pub fn episode_events(&self) -> broadcast::Receiver<EpisodeEvent> {
        self.shared.writer.episode_events.subscribe()
    }

    /// Persons that are recognised, named, merged and split, from now on. A slow listener loses the oldest.
    pub fn entity_events(&self) -> broadcast::Receiver<EntityNews> {
        self.shared.entity_events.subscribe()
    }

    /// Procedures that are learnt, changed and given up, from now on. A slow listener loses the oldest.
    pub fn procedure_events(&self) -> broadcast::Receiver<ProcedureNews> {
        self.shared.procedure_events.subscribe()
    }

    /// Gists of hours and days, as they are made.
    pub fn gist_events(&self) -> broadcast::Receiver<GistNews> {
        self.shared.gist_events.subscribe()
    }

    /// Names, merges or splits persons, durably.
    ///
    /// # Errors
    /// See [`AskFailure`]; `Invalid` says what to change.
    pub async fn name_entity(&self, request: NamingRequest) -> Result<Vec<Person>, AskFailure> {
        let budget = self.shared.default_budget;
        let named = self.read(budget, move |memory| {
            memory.name_entity(&request).map_err(|error| match error {
                NamingError::Invalid(message) => AskFailure::Invalid(message),
                NamingError::Read(error) => AskFailure::Read(error),
                other => AskFailure::Internal(other.to_string()),
            })
        });
        let named = named.await;
        self.shared.jobs.wake();
        named
    }

    /// Depth, ceiling and refusals of the queues, by name.
    pub fn queues(&self) -> BTreeMap<String, QueueHealth> {
        BTreeMap::from([
            ("memory_writer".to_owned(), self.shared.writer.queue.gauge()),
            ("recall".to_owned(), self.shared.pool.gauge()),
        ])
    }

    /// What the threads did since the start.
    pub fn counters(&self) -> ServiceCounters {
        let mut counters = self.shared.writer.counters();
        self.shared.pool.add_to(&mut counters);
        counters.embedding = self.shared.jobs.progress(jobs::Kind::Embedding);
        counters.learning = self.shared.jobs.progress(jobs::Kind::Learning);
        counters
    }

    /// How long ago the writer's thread ticked, which it does while it waits too. A commit is one tick.
    pub fn writer_silence(&self) -> Duration {
        self.shared.writer.pulse.silence()
    }

    /// How long ago the jobs ticked: while they wait, and at every step of what they learn and embed.
    pub fn jobs_silence(&self) -> Duration {
        self.shared.behind.jobs.silence()
    }

    /// How long ago compaction ticked, or the saving of the index: while its thread waits, and at every step of a copy and of a file,
    /// also of one that was asked for.
    pub fn compaction_silence(&self) -> Duration {
        self.shared.behind.compaction.silence()
    }

    /// Sets what is done after something was forgotten and before that is answered; once.
    pub fn after_forgetting(&self, work: impl Fn(&Memory) + Send + Sync + 'static) {
        if self.shared.writer.after_forgetting.set(Box::new(work)).is_err() {
            tracing::error!("the action after forgetting was set twice; the first one stays");
        }
    }

    /// The memory itself, for what needs no queue.
    pub fn memory(&self) -> &Memory {
        &self.shared.memory
    }

    /// The injected clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.shared.clock
    }
}

impl PerceptionSink for MemoryService {
    /// Blocks until the segment is durable; call from a source's own thread, never from an async task.
    fn perceived(&self, segment: Perceived) -> Result<Timestamp, PortError> {
        let failed = |failure: ObserveFailure| PortError { role: "memory", message: failure.to_string() };
        let (reply, promise) = oneshot::channel();
        let mut segment = Observation::Perceived(segment);
        self.shared.robot_path.attach(&mut segment, self.shared.clock.now());
        let job = WriteJob::Observe { batch: vec![segment], reply };
        if self.shared.writer.queue.push_blocking(job).is_err() {
            return Err(failed(ObserveFailure::Closed));
        }
        let committed = promise.blocking_recv().unwrap_or(Err(ObserveFailure::Closed)).map_err(failed)?;
        match committed.outcomes.into_iter().next() {
            Some(Outcome::Rejected { message }) => Err(PortError { role: "memory", message }),
            _ => Ok(self.shared.clock.now()),
        }
    }
}

/// What the threads did since the start, for `health` and metrics.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServiceCounters {
    /// Transactions.
    pub commits: u64,
    /// Batches that failed because the store could not write.
    pub failed_batches: u64,
    /// Time spent in transactions.
    pub commit_time: Duration,
    /// Questions and readings answered.
    pub answered: u64,
    /// Questions and readings refused because too many waited.
    pub busy: u64,
    /// Questions and readings whose time ran out.
    pub overdue: u64,
    /// Time spent answering.
    pub answer_time: Duration,
    /// The embedding job.
    pub embedding: JobProgress,
    /// The learning job.
    pub learning: JobProgress,
    /// The writer's last failure, until a commit succeeds again.
    pub write_error: Option<String>,
}

impl ServiceThreads {
    /// Takes nothing new, finishes what is queued, stops the threads, and saves the index for the next start. A thread that
    /// is not done at the deadline is left to the end of the process and named in the log.
    pub fn drain(self, deadline: Duration) {
        let until = std::time::Instant::now() + deadline;
        drop(self.stop_compaction);
        // A copy that is under way is given up; the next run begins a new one.
        self.shared.memory.stop_compaction();
        self.shared.jobs.stop();
        self.shared.writer.queue.close();
        self.shared.pool.close();
        if let Some(looker) = self.shared.looker.get() {
            looker.stop();
        }
        let patience = until.saturating_duration_since(std::time::Instant::now());
        // Nobody sends: the wait ends when the last thread has dropped its end, or in vain.
        let all_ended =
            matches!(self.ended.recv_timeout(patience), Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
        for (name, thread) in self.threads {
            if !all_ended && !thread.is_finished() {
                tracing::error!(thread = name, "not finished after {deadline:?}; abandoned");
            } else if thread.join().is_err() {
                tracing::error!(thread = name, "panicked");
            }
        }
        compaction::save_index(&self.shared.memory, SaveIndex::AtEnd);
    }
}
