//! Ingest: from a message on `…-in` to its commit, and back to its acknowledgement.
//!
//! Messages go to the writer in the order of receipt, many at a time. They are acknowledged in the same order when their
//! commits are done. If the store cannot write, nothing more is acknowledged on this connection.
//!
//! The receive maximum should keep the broker from sending more than the memory can take, but Mosquitto 2.0 exceeds it many
//! times over when messages are waiting. So a semaphore limits the bytes in flight. A connection that gets no permit stops
//! reading until something is committed. TCP then holds the broker back, and nothing is dropped or requested again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use memory_core::{ForgetReply, ForgetRequest};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::addressed::read_request;
use super::client::{Acknowledgement, Message, Receive};
use super::commands::{self, CommandName};
use super::context::{Context, STORAGE};
use super::fields::Fields;
use super::forget;
use super::forgetting::{self, Side};
use super::observe::{Items, ObserveReport, read_observations};
use super::reply::{Code, Refusal, Route};
use super::topics::{Inbound, Outbound};
use crate::service::{Committed, ForgetFailure, ObserveFailure, WriterReply};

/// How long a reply to `observe` or `forget` waits for a connection.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum number of rejected items in one announcement.
const MAX_LISTED: usize = 32;

/// Maximum number of messages in flight, counting a long one as several.
pub const MAX_IN_FLIGHT: usize = 1024;

/// Number of bytes that count as one message.
const UNIT_BYTES: usize = 64 << 10;

/// The sending end, at the connection.
pub struct IngestSender {
    messages: mpsc::Sender<IngestMessage>,
    permit: Arc<Semaphore>,
}

/// The receiving end, at the memory.
pub type IngestReceiver = mpsc::Receiver<IngestMessage>;

/// A message with the permits that it holds until it is processed.
pub struct IngestMessage {
    message: Message,
    permit: OwnedSemaphorePermit,
}

/// Creates the channel for the messages of one connection.
pub fn ingest_channel() -> (IngestSender, IngestReceiver) {
    let (messages, receiver) = mpsc::channel(MAX_IN_FLIGHT);
    (IngestSender { messages, permit: Arc::new(Semaphore::new(MAX_IN_FLIGHT)) }, receiver)
}

impl Receive for IngestSender {
    async fn receive(&mut self, message: Message) {
        let units = message.payload.len().div_ceil(UNIT_BYTES).clamp(1, MAX_IN_FLIGHT);
        let units = u32::try_from(units).expect("at most MAX_IN_FLIGHT");
        // Commits release permits, and the queue of acknowledgements holds as many as there are permits: neither waits for
        // this connection. The semaphore is never closed; the receiving end is, when it takes nothing more.
        if let Ok(permit) = Arc::clone(&self.permit).acquire_many_owned(units).await {
            drop(self.messages.send(IngestMessage { message, permit }).await);
        }
    }
}

/// The messages of one connection.
pub struct Ingest {
    pub context: Arc<Context>,
    pub messages: IngestReceiver,
    /// Cancelled by this when the store cannot write.
    pub trouble: CancellationToken,
    /// Cancelled by the owner: deal with what has come, take nothing more.
    pub closing: CancellationToken,
}

/// A message that waits for its commit.
struct Pending {
    acknowledgement: Option<Acknowledgement>,
    redelivered: bool,
    route: Route,
    work: IngestWork,
    permit: OwnedSemaphorePermit,
}

enum IngestWork {
    Observe(Items, WriterReply<Result<Committed, ObserveFailure>>),
    Forget(WriterReply<Result<ForgetReply, ForgetFailure>>),
    /// Dealt with on receipt; waits only for its turn to be acknowledged.
    Done,
}

/// Result of the writer.
enum WriteOutcome {
    Observed(Result<Committed, ObserveFailure>),
    Forgotten(Result<ForgetReply, ForgetFailure>),
    Nothing,
}

/// How the messages of a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Every message was dealt with.
    Done,
    /// The store could not write; the text says why.
    StorageTrouble(String),
}

impl Ingest {
    /// Runs until the connection is over, or until the store cannot write, and what was given to the writer came back.
    pub async fn run(mut self) -> Ended {
        let mut pending: VecDeque<Pending> = VecDeque::new();
        let mut trouble: Option<String> = None;
        // Observations read but not yet given to the writer, because they came faster than allowed.
        let mut open = true;
        let mut hold_until: Option<tokio::time::Instant> = None;
        loop {
            let hold = hold_until;
            tokio::select! {
                biased;
                outcome = next_outcome(&mut pending), if !pending.is_empty() => {
                    let front = pending.pop_front().expect("the branch needs one");
                    let problem = self.finish(front, outcome, trouble.is_none()).await;
                    if trouble.is_none() && let Some(problem) = problem {
                        trouble = Some(problem);
                        open = false;
                        self.messages.close();
                        self.trouble.cancel();
                    }
                }
                () = self.closing.cancelled(), if open && !self.messages.is_closed() => self.messages.close(),
                () = sleep_until(hold), if hold.is_some() => hold_until = None,
                message = self.messages.recv(), if open && hold.is_none() => match message {
                    None => open = false,
                    Some(arrival) => {
                        let (next, wait) = self.begin(arrival).await;
                        pending.push_back(next);
                        if !wait.is_zero() {
                            hold_until = Some(tokio::time::Instant::now() + wait);
                        }
                    }
                },
                else => break,
            }
        }
        trouble.map_or(Ended::Done, Ended::StorageTrouble)
    }

    /// Reads a message and gives it to the writer. Says how long to take no further one.
    async fn begin(&self, IngestMessage { mut message, permit }: IngestMessage) -> (Pending, Duration) {
        let acknowledgement = message.acknowledgement.take();
        let redelivered = message.redelivered;
        let (route, work, wait) = match self.context.topics.parse(&message.topic) {
            // What a broker has stored comes again with every subscription; it was heard when it was said.
            _ if message.retained => (Route::default(), IngestWork::Done, Duration::ZERO),
            Some(Inbound::Observe) => self.begin_observe(&message).await,
            Some(Inbound::Command(name)) if name == CommandName::Forget.as_str() => self.begin_forget(&message).await,
            _ => {
                // Left over from a subscription that an earlier configuration made.
                tracing::debug!(topic = message.topic, "a message that nobody wants");
                (Route::default(), IngestWork::Done, Duration::ZERO)
            }
        };
        (Pending { acknowledgement, redelivered, route, work, permit }, wait)
    }

    async fn begin_observe(&self, message: &Message) -> (Route, IngestWork, Duration) {
        let context = &self.context;
        context.counters.observe_messages.increment();
        let request = read_observations(message, &context.router(), &context.config.limits);
        if let Some(refused) = &request.route.refused {
            // What was observed is worth keeping even where the sender cannot be told so.
            context.counters.forbidden_replies.increment();
            tracing::warn!(reason = refused.message, "no reply to an observe message");
        }
        match request.body {
            Err(refusal) => {
                context.counters.observations_rejected.increment();
                self.tell_refusal(&request.route, &refusal);
                (request.route, IngestWork::Done, Duration::ZERO)
            }
            Ok(mut items) => {
                let told = std::mem::take(&mut items.told);
                let wait = context.pace(told.len());
                let batch = told.into_iter().map(memory_core::Observation::Told).collect();
                let reply = context.service.enqueue_observe(batch).await;
                (request.route, IngestWork::Observe(items, reply), wait)
            }
        }
    }

    async fn begin_forget(&self, message: &Message) -> (Route, IngestWork, Duration) {
        let context = &self.context;
        context.counters.commands.increment();
        let mut request = read_request(message, &context.router(), context.config.limits.ask_bytes, |payload| {
            let fields = commands::fields(CommandName::Forget.as_str(), payload)?;
            CommandName::Forget.check_allowed_to(&context.config, &context.proofs, &fields)?;
            forget::read_forget(Fields(&fields), &context.moment())
        })
        .only_if_answerable();
        match request.body {
            Err(refusal) => {
                context.answer(&request.route, &request.route.error(&refusal), REPLY_TIMEOUT);
                (request.route, IngestWork::Done, Duration::ZERO)
            }
            Ok(forget) => {
                // A name that is to be forgotten must not stay in the log.
                let what = match &forget {
                    ForgetRequest::Episodes(ids) => format!("{} episodes", ids.len()),
                    ForgetRequest::Entity(_) => "an entity".to_owned(),
                    ForgetRequest::Span(_) => "a span".to_owned(),
                };
                tracing::info!(what, "forgetting");
                if !context.forgetting.begin(forgetting::key(message), Side::In, context.clock.monotonic()) {
                    // It was done and answered already; now it reaches what was waiting before it.
                    request.route = Route::default();
                }
                (request.route, IngestWork::Forget(context.service.enqueue_forget(forget).await), Duration::ZERO)
            }
        }
    }

    /// Tells the sender and acknowledges. Returns what is wrong with the store, if that is why it must come again.
    async fn finish(&self, pending: Pending, outcome: WriteOutcome, acknowledge: bool) -> Option<String> {
        let Pending { acknowledgement, redelivered, route, work, permit } = pending;
        let context = &self.context;
        let problem = match (work, outcome) {
            (IngestWork::Observe(items, _), WriteOutcome::Observed(Ok(committed))) => {
                context.counters.set_problem(STORAGE, None);
                self.tell_report(&route, &items.report(&committed));
                None
            }
            (IngestWork::Observe(..), WriteOutcome::Observed(Err(failure))) => {
                context.counters.observe_deferred.increment();
                let code = match failure {
                    ObserveFailure::StorageFull(_) => Code::StorageFull,
                    _ => Code::Internal,
                };
                // Every redelivery fails the same way; once is enough to know.
                if !redelivered && failure != ObserveFailure::Closed {
                    let refusal = Refusal::new(code, failure.to_string());
                    context.answer(&route, &route.error(&refusal), REPLY_TIMEOUT);
                }
                Some(failure.to_string())
            }
            (IngestWork::Forget(_), WriteOutcome::Forgotten(outcome)) => {
                self.tell_forgotten(&route, redelivered, outcome)
            }
            _ => None,
        };
        if problem.is_none()
            && acknowledge
            && let Some(acknowledgement) = acknowledgement
        {
            acknowledgement.send().await;
        }
        drop(permit);
        problem
    }

    fn tell_report(&self, route: &Route, report: &ObserveReport) {
        let context = &self.context;
        context.counters.observations_accepted.add(report.accepted);
        context.counters.observations_duplicate.add(report.duplicates);
        context.counters.observations_rejected.add(report.rejected.len() as u64);
        if route.address.is_some() {
            context.answer(route, &report.body(route), REPLY_TIMEOUT);
        } else if !report.rejected.is_empty() {
            let listed = &report.rejected[..report.rejected.len().min(MAX_LISTED)];
            self.announce_rejected(json!({"rejected": listed, "rejected_total": report.rejected.len()}));
        }
    }

    fn tell_refusal(&self, route: &Route, refusal: &Refusal) {
        if route.address.is_some() {
            self.context.answer(route, &route.error(refusal), REPLY_TIMEOUT);
        } else {
            self.announce_rejected(
                json!({"rejected": [{"index": 0, "id": null, "error": refusal}], "rejected_total": 1}),
            );
        }
    }

    fn announce_rejected(&self, body: Value) {
        let topic = self.context.topics.outbound(Outbound::Rejected);
        self.context.outbox.announce(topic, &body);
    }

    fn tell_forgotten(
        &self,
        route: &Route,
        redelivered: bool,
        outcome: Result<ForgetReply, ForgetFailure>,
    ) -> Option<String> {
        let (refusal, problem) = match outcome {
            Ok(reply) => {
                let body = forgetting::body(&self.context, &reply);
                self.context.answer(route, &route.seal(body), REPLY_TIMEOUT);
                return None;
            }
            Err(ForgetFailure::Invalid(message)) => (Refusal::bad(message), None),
            Err(ForgetFailure::Write(failure)) => {
                let code = match failure {
                    ObserveFailure::StorageFull(_) => Code::StorageFull,
                    _ => Code::Internal,
                };
                (Refusal::new(code, failure.to_string()), Some(failure.to_string()))
            }
            Err(ForgetFailure::Read(error)) => (Refusal::new(Code::Internal, error.to_string()), None),
        };
        if problem.is_none() || !redelivered {
            self.context.answer(route, &route.error(&refusal), REPLY_TIMEOUT);
        }
        problem
    }
}

/// Waits for the commit of the oldest message. Cancelling it loses nothing.
async fn next_outcome(pending: &mut VecDeque<Pending>) -> WriteOutcome {
    match pending.front_mut().map(|pending| &mut pending.work) {
        Some(IngestWork::Observe(_, reply)) => {
            WriteOutcome::Observed(reply.await.unwrap_or(Err(ObserveFailure::Closed)))
        }
        Some(IngestWork::Forget(reply)) => {
            WriteOutcome::Forgotten(reply.await.unwrap_or(Err(ForgetFailure::Write(ObserveFailure::Closed))))
        }
        Some(IngestWork::Done) | None => WriteOutcome::Nothing,
    }
}

async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
