//! The recall pool: threads that read the memory, a bounded queue in front of them, deadlines that count the wait.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memory_core::{Clock, Memory};
use tokio::sync::oneshot;

use super::queue::{BoundedQueue, PushError};
use super::{AskFailure, ServiceCounters, WriterReply};
use crate::health::QueueHealth;

type Work = Box<dyn FnOnce(&Memory, &dyn Clock) -> Done + Send>;

/// How a job ended, for the counters.
enum Done {
    Answered,
    Overdue,
    /// The caller is gone.
    Abandoned,
}

pub struct RecallPool {
    queue: BoundedQueue<Work>,
    answered: AtomicU64,
    overdue: AtomicU64,
    micros: AtomicU64,
}

impl RecallPool {
    pub fn new(capacity: usize) -> Self {
        Self {
            queue: BoundedQueue::new(capacity),
            answered: AtomicU64::new(0),
            overdue: AtomicU64::new(0),
            micros: AtomicU64::new(0),
        }
    }

    /// Queues `work`, to begin before `deadline` (monotonic) or not at all.
    pub fn submit<T: Send + 'static>(
        &self,
        deadline: Duration,
        budget: Duration,
        work: impl FnOnce(&Memory) -> Result<T, AskFailure> + Send + 'static,
    ) -> Result<WriterReply<Result<T, AskFailure>>, AskFailure> {
        let (reply, answer) = oneshot::channel();
        let job: Work = Box::new(move |memory, clock| {
            if reply.is_closed() {
                return Done::Abandoned;
            }
            if clock.monotonic() >= deadline {
                drop(reply.send(Err(AskFailure::Deadline(budget))));
                return Done::Overdue;
            }
            // A question that trips over a bug must not take the pool with it. The memory's readers hold no state of
            // their own, so nothing half-done stays behind.
            let outcome = catch_unwind(AssertUnwindSafe(|| work(memory)))
                .unwrap_or_else(|panic| Err(AskFailure::Internal(panic_message(panic.as_ref()))));
            let done = if matches!(outcome, Err(AskFailure::Deadline(_))) { Done::Overdue } else { Done::Answered };
            drop(reply.send(outcome));
            done
        });
        match self.queue.try_push(job) {
            Ok(()) => Ok(answer),
            Err(PushError::Full(_)) => Err(AskFailure::Busy),
            Err(PushError::Closed(_)) => Err(AskFailure::Closed),
        }
    }

    /// Body of one thread.
    pub fn run(&self, memory: &Memory, clock: &dyn Clock) {
        while let Some(job) = self.queue.pop(None) {
            let begin = clock.monotonic();
            let counter = match job(memory, clock) {
                Done::Answered => &self.answered,
                Done::Overdue => &self.overdue,
                Done::Abandoned => continue,
            };
            counter.fetch_add(1, Ordering::Relaxed);
            let micros = clock.monotonic().saturating_sub(begin).as_micros();
            self.micros.fetch_add(u64::try_from(micros).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// The asker stopped waiting before the pool answered.
    pub fn count_overrun(&self) {
        self.overdue.fetch_add(1, Ordering::Relaxed);
    }

    pub fn close(&self) {
        self.queue.close();
    }

    pub fn gauge(&self) -> QueueHealth {
        self.queue.gauge()
    }

    pub fn add_to(&self, counters: &mut ServiceCounters) {
        counters.answered = self.answered.load(Ordering::Relaxed);
        counters.overdue = self.overdue.load(Ordering::Relaxed);
        counters.busy = self.queue.gauge().dropped;
        counters.answer_time = Duration::from_micros(self.micros.load(Ordering::Relaxed));
    }
}

/// Returns the message of a panic.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panic without a message".to_owned())
}
