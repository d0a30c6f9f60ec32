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
mod failure;
mod jobs;
mod looking;
mod options;
mod pool;
mod questions;
mod queue;
mod reading;
mod robot_path;
mod searching;
mod threads;
mod visiting;
mod writer;
mod writing;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use memory_core::ports::TextEmbedder;
use memory_core::{Clock, EntityNews, GistNews, Memory, ProcedureNews};
use tokio::sync::{Semaphore, broadcast};

use crate::health::QueueHealth;
use crate::llm::AnswerJudge;
use behind::Behind;
pub use episodes::{EpisodeChange, EpisodeEvent};
pub use failure::{AskFailure, ForgetFailure, ObserveFailure};
pub use jobs::JobProgress;
pub use looking::{Looker, LookingNews};
pub use options::ServiceOptions;
use pool::RecallPool;
use questions::Questions;
pub use robot_path::{Dropped, PoseOptions, RobotPath};
pub use threads::ServiceThreads;
use writer::Writer;
pub use writing::{Committed, WriterReply};

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

impl MemoryService {
    /// Lets a language model decide questions from now on; once.
    pub fn set_answer_judge(&self, judge: AnswerJudge) {
        if self.shared.answer_judge.set(judge).is_err() {
            tracing::error!("the judge of answers was set twice; the first one stays");
        }
    }

    /// Returns the path of the robot in the last minutes.
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

    /// Gives the memory its φ and wakes the job thread.
    pub fn set_text_embedder(&self, embedder: Option<Arc<dyn TextEmbedder>>) {
        self.shared.memory.set_text_embedder(embedder);
        self.shared.jobs.wake();
    }

    /// Another memory was put in the place of this one: there may be work that nobody announced.
    pub fn memory_replaced(&self) {
        self.shared.jobs.wake();
    }

    /// Depth, ceiling and refusals of the queues, by name.
    pub fn queues(&self) -> BTreeMap<String, QueueHealth> {
        BTreeMap::from([
            ("memory_writer".to_owned(), self.shared.writer.queue.gauge()),
            ("recall".to_owned(), self.shared.pool.gauge()),
        ])
    }

    /// Returns the counters of the threads since the start.
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
}

/// Counters of the threads since the start, for `health` and metrics.
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
