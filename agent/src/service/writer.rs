//! The single writer: collects pending batches, commits them as one transaction, and replies to each.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use memory_core::{Clock, ForgetError, ForgetReply, ForgetRequest, Memory, Observation, ObserveError, ObserveOutcome};
use parking_lot::Mutex;
use tokio::sync::{broadcast, oneshot};

use super::episodes::{EpisodeEvent, OpenEpisodes};
use super::jobs::Signal;
use super::pool::panic_message;
use super::queue::BoundedQueue;
use super::{Committed, ForgetFailure, ObserveFailure, ServiceCounters, ServiceOptions};
use crate::watchdog::Pulse;

/// Number of announcements of episodes that a listener may lag behind.
const EPISODE_EVENTS: usize = 1024;

/// Interval at which the thread shows that it is not stuck, and checks for idle episodes.
const TICK: Duration = Duration::from_secs(1);

/// One thing to write.
pub enum WriteJob {
    Observe { batch: Vec<Observation>, reply: oneshot::Sender<Result<Committed, ObserveFailure>> },
    Forget { request: ForgetRequest, reply: oneshot::Sender<Result<ForgetReply, ForgetFailure>> },
}

/// Work after something was forgotten.
pub type AfterForgetting = Box<dyn Fn(&Memory) + Send + Sync>;

type QueuedObservations = (usize, oneshot::Sender<Result<Committed, ObserveFailure>>);

pub struct Writer {
    pub queue: BoundedQueue<WriteJob>,
    pub episode_events: broadcast::Sender<EpisodeEvent>,
    commit_items: usize,
    linger: Duration,
    counters: Mutex<ServiceCounters>,
    /// Action after something was forgotten, before the reply.
    pub after_forgetting: OnceLock<AfterForgetting>,
    /// Last tick of its thread.
    pub pulse: Arc<Pulse>,
}

impl Writer {
    pub fn new(options: &ServiceOptions, clock: Arc<dyn Clock>) -> Self {
        Self {
            queue: BoundedQueue::new(options.writer_queue),
            episode_events: broadcast::Sender::new(EPISODE_EVENTS),
            commit_items: options.commit_items,
            linger: options.commit_linger,
            counters: Mutex::default(),
            after_forgetting: OnceLock::new(),
            pulse: Arc::new(Pulse::new(clock)),
        }
    }

    pub fn counters(&self) -> ServiceCounters {
        self.counters.lock().clone()
    }

    /// Body of the thread; returns when the queue is closed and empty.
    pub fn run(&self, memory: &Memory, clock: &dyn Clock, jobs: &Signal) {
        let mut open = OpenEpisodes::default();
        let mut held: Option<WriteJob> = None;
        loop {
            self.pulse.tick();
            let Some(job) = held.take().or_else(|| self.queue.pop(Some(TICK))) else {
                if self.queue.is_done() {
                    break;
                }
                self.announce(open.end_idle(clock.monotonic()));
                continue;
            };
            match job {
                WriteJob::Forget { request, reply } => drop(reply.send(self.forget(memory, &request))),
                WriteJob::Observe { batch, reply } => {
                    let mut items = batch;
                    let mut waiting = vec![(items.len(), reply)];
                    held = self.collect(&mut items, &mut waiting);
                    // What each observation belongs to must be read before the memory takes it.
                    let streams = open.streams_of(&items);
                    match self.commit(memory, items) {
                        Ok(outcomes) => {
                            jobs.wake();
                            let changes = open.note(&streams, &outcomes, clock.monotonic());
                            answer(waiting, outcomes, memory.stats().seq);
                            self.announce(changes);
                        }
                        Err(failure) => held = self.fail(waiting, held, &failure),
                    }
                    self.announce(open.end_idle(clock.monotonic()));
                }
            }
        }
        self.announce(open.end_all());
    }

    /// Adds waiting batches until the group is full or the linger is over. Returns a job that must come after the group.
    fn collect(&self, items: &mut Vec<Observation>, waiting: &mut Vec<QueuedObservations>) -> Option<WriteJob> {
        let until = Instant::now() + self.linger;
        while items.len() < self.commit_items {
            let left = until.saturating_duration_since(Instant::now());
            match self.queue.pop(Some(left)) {
                Some(WriteJob::Observe { batch, reply }) if items.len() + batch.len() <= self.commit_items => {
                    waiting.push((batch.len(), reply));
                    items.extend(batch);
                }
                other => return other,
            }
        }
        None
    }

    fn commit(&self, memory: &Memory, items: Vec<Observation>) -> Result<Vec<ObserveOutcome>, ObserveFailure> {
        let begin = Instant::now();
        let count = items.len();
        let outcome = if items.is_empty() {
            Ok(Vec::new())
        } else {
            match catch_unwind(AssertUnwindSafe(|| memory.observe(items))) {
                Ok(outcome) => outcome.map_err(failure),
                Err(panic) => Err(ObserveFailure::Store(panic_message(panic.as_ref()))),
            }
        };
        let mut counters = self.counters.lock();
        counters.commit_time += begin.elapsed();
        match &outcome {
            Ok(outcomes) => {
                debug_assert_eq!(outcomes.len(), count, "one outcome per observation");
                counters.commits += u64::from(count > 0);
                counters.write_error = None;
            }
            Err(error) => {
                if counters.write_error.is_none() {
                    tracing::error!(%error, "the store cannot write; nothing is remembered until it can");
                }
                counters.write_error = Some(error.to_string());
            }
        }
        outcome
    }

    /// Fails the group and everything that waits behind it: an item that overtook an earlier one which must be sent again
    /// would change the order. Requests to forget do not depend on that and stay.
    fn fail(
        &self,
        waiting: Vec<QueuedObservations>,
        held: Option<WriteJob>,
        failure: &ObserveFailure,
    ) -> Option<WriteJob> {
        let mut failed = waiting.len();
        for (_, reply) in waiting {
            drop(reply.send(Err(failure.clone())));
        }
        let mut next = held;
        loop {
            match next {
                Some(WriteJob::Observe { reply, .. }) => {
                    failed += 1;
                    drop(reply.send(Err(failure.clone())));
                }
                other => {
                    self.counters.lock().failed_batches += failed as u64;
                    return other;
                }
            }
            next = self.queue.pop(Some(Duration::ZERO));
        }
    }

    fn forget(&self, memory: &Memory, request: &ForgetRequest) -> Result<ForgetReply, ForgetFailure> {
        let forgotten = catch_unwind(AssertUnwindSafe(|| memory.forget(request)));
        if let (Ok(Ok(_)), Some(work)) = (&forgotten, self.after_forgetting.get()) {
            work(memory);
        }
        match forgotten {
            Ok(outcome) => outcome.map_err(|error| match error {
                ForgetError::Invalid(message) => ForgetFailure::Invalid(message),
                ForgetError::Read(error) => ForgetFailure::Read(error),
                ForgetError::Write(error) => ForgetFailure::Write(failure(error)),
                other => ForgetFailure::Write(ObserveFailure::Store(other.to_string())),
            }),
            Err(panic) => Err(ForgetFailure::Write(ObserveFailure::Store(panic_message(panic.as_ref())))),
        }
    }

    fn announce(&self, events: Vec<EpisodeEvent>) {
        for event in events {
            // Without a listener nobody wants to know.
            drop(self.episode_events.send(event));
        }
    }
}

fn failure(error: ObserveError) -> ObserveFailure {
    if error.is_storage_full() {
        ObserveFailure::StorageFull(error.to_string())
    } else {
        ObserveFailure::Store(error.to_string())
    }
}

fn answer(waiting: Vec<QueuedObservations>, outcomes: Vec<ObserveOutcome>, seq: u64) {
    let mut outcomes = outcomes.into_iter();
    for (count, reply) in waiting {
        let outcomes = outcomes.by_ref().take(count).collect();
        drop(reply.send(Ok(Committed { outcomes, seq })));
    }
}
