//! The threads behind the service: their start and their end.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use memory_core::{Clock, Memory, SaveIndex};
use tokio::sync::{Semaphore, broadcast};

use super::behind::Behind;
use super::pool::RecallPool;
use super::questions::Questions;
use super::writer::Writer;
use super::{MemoryService, RobotPath, ServiceOptions, ServiceShared, compaction, jobs, looking};

/// Number of announcements of persons that a listener may lag behind.
const ENTITY_EVENTS: usize = 256;

/// The same for procedures; those of a house fit.
const PROCEDURE_EVENTS: usize = 1024;

/// The same for gists: a day of hours, and the day.
const GIST_EVENTS: usize = 64;

/// Maximum number of lists that wait or run. Only a flood of requests reaches it.
const MAX_LISTINGS: usize = 16;

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
            looking_events: broadcast::Sender::new(looking::MAX_NEWS),
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
