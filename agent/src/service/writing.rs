//! Observations, requests to forget and names: what changes the memory.

use memory_core::ports::{PerceptionSink, PortError};
use memory_core::{
    ForgetReply, ForgetRequest, NamingError, NamingRequest, Observation, ObserveOutcome, Perceived, Person, Timestamp,
};
use tokio::sync::oneshot;

use super::writer::WriteJob;
use super::{AskFailure, ForgetFailure, MemoryService, ObserveFailure};

/// Result of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    /// One per observation, in order.
    pub outcomes: Vec<ObserveOutcome>,
    /// Number of the last commit.
    pub seq: u64,
}

/// A promise of the writer.
pub type WriterReply<T> = oneshot::Receiver<T>;

impl MemoryService {
    /// Commits a batch; waits for space in the queue and for the commit.
    ///
    /// # Errors
    /// See [`ObserveFailure`]; then nothing of the batch was committed.
    pub async fn observe(&self, batch: Vec<Observation>) -> Result<Committed, ObserveFailure> {
        self.enqueue_observe(batch).await.await.unwrap_or(Err(ObserveFailure::Closed))
    }

    /// Puts a batch in the writer's queue, waiting for space there but not for the commit. Batches are committed in the
    /// order in which these calls return.
    pub async fn enqueue_observe(&self, mut batch: Vec<Observation>) -> WriterReply<Result<Committed, ObserveFailure>> {
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

    /// Puts a request to forget in the writer's queue, in its order among the batches.
    pub async fn enqueue_forget(&self, request: ForgetRequest) -> WriterReply<Result<ForgetReply, ForgetFailure>> {
        let (reply, promise) = oneshot::channel();
        if let Err(WriteJob::Forget { reply, .. }) =
            self.shared.writer.queue.push(WriteJob::Forget { request, reply }).await
        {
            drop(reply.send(Err(ForgetFailure::Write(ObserveFailure::Closed))));
        }
        promise
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
            Some(ObserveOutcome::Rejected { message }) => Err(PortError { role: "memory", message }),
            _ => Ok(self.shared.clock.now()),
        }
    }
}
