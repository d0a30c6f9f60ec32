//! One endpoint: one request at a time, ceilings of time, size and tokens, and replies that are checked here.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::tz::TimeZone;
use memory_core::Clock;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::breaker::Breaker;
use super::http::{HttpClient, HttpReply};
use super::transcript::{Recorder, Replay};
use super::usage::{Usage, UsageFile};
use super::wire::{ChatMessage, ChatReply, ChatRequest, estimated_tokens, json_within, schema_format};
use super::{EndpointAddress, LanguageModelHealth, LlmError};
use crate::config::{EndpointConfig, Purpose};

/// Maximum number of prompts that wait for an endpoint.
const MAX_WAITING: usize = 16;
/// Seed of every request.
const SEED: u64 = 7;
/// Number of tokens that a picture counts for. Most models need fewer.
const PICTURE_TOKENS: u64 = 1_600;

/// Destination of requests.
pub enum Transport {
    /// The endpoint.
    Http(Box<HttpClient>),
    /// A transcript.
    Replay(Arc<Replay>),
}

/// Request to a model.
pub struct Task {
    /// Purpose; also the name of the schema.
    pub purpose: Purpose,
    /// The rules, in the words of `prompts/`.
    pub rules: &'static str,
    /// The data, between marks.
    pub data: String,
    /// Pictures as data URLs.
    pub pictures: Vec<String>,
    /// The schema of the reply.
    pub schema: Value,
    /// Tokens that the reply may have.
    pub reply_tokens: u32,
}

/// Priority of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// A person.
    Question,
    /// Nobody; it makes way for questions.
    Background,
}

/// A language model behind an address.
pub struct Endpoint {
    section: &'static str,
    address: EndpointAddress,
    model: String,
    context: u32,
    timeout: Duration,
    monthly_tokens: Option<u64>,
    transport: Transport,
    recorder: Option<Arc<Recorder>>,
    clock: Arc<dyn Clock>,
    zone: TimeZone,
    turn: Semaphore,
    /// Questions that wait for their turn.
    waiting: watch::Sender<usize>,
    stopping: CancellationToken,
    file: UsageFile,
    state: Mutex<EndpointState>,
}

#[derive(Default)]
struct EndpointState {
    breaker: Breaker,
    usage: Usage,
    requests: u64,
    failures: u64,
    /// Replies that kept to the schema, and that did not.
    kept: u64,
    broken: u64,
    /// The server does not take a `response_format`.
    no_format: bool,
    last_error: Option<String>,
}

/// Parts of an endpoint beside its configuration.
pub struct EndpointParts {
    /// Its section below `llm`.
    pub section: &'static str,
    /// Destination of requests.
    pub transport: Transport,
    /// Notes what went there, if that is wanted.
    pub recorder: Option<Arc<Recorder>>,
    /// The injected clock.
    pub clock: Arc<dyn Clock>,
    /// Time zone in which days and months begin.
    pub zone: TimeZone,
    /// Directory of the token count.
    pub file: UsageFile,
}

impl Endpoint {
    /// An endpoint as it is configured.
    ///
    /// # Errors
    /// If its address cannot be read.
    pub fn new(config: &EndpointConfig, parts: EndpointParts) -> Result<Self, String> {
        let address = EndpointAddress::parse(config.url.as_deref().unwrap_or_default())
            .map_err(|error| format!("llm.{}.url {error}", parts.section))?;
        let state = EndpointState { usage: parts.file.read(), ..EndpointState::default() };
        Ok(Self {
            section: parts.section,
            address,
            model: config.model.clone().unwrap_or_default(),
            context: config.context,
            timeout: Duration::from_secs_f64(config.timeout_s),
            monthly_tokens: config.monthly_tokens,
            transport: parts.transport,
            recorder: parts.recorder,
            clock: parts.clock,
            zone: parts.zone,
            turn: Semaphore::new(1),
            waiting: watch::Sender::new(0),
            stopping: CancellationToken::new(),
            file: parts.file,
            state: Mutex::new(state),
        })
    }

    /// The name in `degraded`: `llm.chat`.
    pub fn name(&self) -> String {
        format!("llm.{}", self.section)
    }

    /// The model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the address.
    pub fn host(&self) -> String {
        self.address.authority()
    }

    /// Tokens that fit into it.
    pub fn context(&self) -> u32 {
        self.context
    }

    /// Waits until no question waits for it.
    pub async fn quiet(&self) {
        let mut waiting = self.waiting.subscribe();
        tokio::select! {
            () = self.stopping.cancelled() => {}
            // It fails only without an endpoint.
            quiet = waiting.wait_for(|waiting| *waiting == 0) => drop(quiet),
        }
    }

    /// Gives up what is under way, and takes nothing more.
    pub fn stop(&self) {
        self.stopping.cancel();
    }

    /// Bytes of data that a task may carry, besides its rules and its schema.
    pub fn room(&self, rules: &str, schema: &Value, reply_tokens: u32) -> usize {
        let taken = estimated_tokens(rules.len() + 2 * schema.to_string().len() + 512) + u64::from(reply_tokens);
        usize::try_from(u64::from(self.context).saturating_sub(taken) * 3).unwrap_or(usize::MAX)
    }

    /// Asks and returns what `check` makes of the reply's JSON. A reply that is not usable is asked for once more.
    ///
    /// # Errors
    /// Says why there is nothing usable; the caller goes on without.
    pub async fn ask<T>(
        &self,
        task: &Task,
        within: Duration,
        urgency: Urgency,
        check: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Result<T, LlmError> {
        let begin = self.clock.monotonic();
        let limit = within.min(self.timeout);
        let outcome = tokio::select! {
            biased;
            () = self.stopping.cancelled() => Err(LlmError::Stopping),
            outcome = self.ask_within(task, limit, urgency, check) => outcome,
        };
        if let Err(error) = &outcome {
            let mut state = self.state.lock();
            if error.is_failure() {
                state.last_error = Some(error.to_string());
                state.failures += 1;
                state.breaker.failed(self.clock.monotonic());
            }
            drop(state);
            let seconds = self.clock.monotonic().saturating_sub(begin).as_secs_f64();
            tracing::debug!(endpoint = self.section, purpose = task.purpose.name(), seconds, %error, "no usable reply");
        }
        outcome
    }

    async fn ask_within<T>(
        &self,
        task: &Task,
        limit: Duration,
        urgency: Urgency,
        check: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Result<T, LlmError> {
        if limit.is_zero() {
            return Err(LlmError::NoTime);
        }
        self.permitted(task)?;
        let begin = tokio::time::Instant::now();
        let turn = tokio::time::timeout(limit, self.turn(urgency)).await.map_err(|_| LlmError::Busy)??;
        // The request before may have found the endpoint broken, or used up the tokens.
        self.permitted(task)?;
        let left = limit.saturating_sub(begin.elapsed());
        let asked = tokio::time::timeout(left, self.asked(task, check));
        let answered = match urgency {
            Urgency::Question => asked.await,
            Urgency::Background => {
                let mut waiting = self.waiting.subscribe();
                tokio::select! {
                    biased;
                    _ = waiting.wait_for(|waiting| *waiting > 0) => return Err(LlmError::Yielded),
                    answered = asked => answered,
                }
            }
        };
        drop(turn);
        let value = answered.map_err(|_| LlmError::Timeout(limit))??;
        let mut state = self.state.lock();
        state.breaker.succeeded();
        state.last_error = None;
        Ok(value)
    }

    /// Whether a request may be sent at all.
    fn permitted(&self, task: &Task) -> Result<(), LlmError> {
        let prompt = self.prompt_tokens(task);
        let whole = prompt + u64::from(task.reply_tokens);
        if whole > u64::from(self.context) {
            return Err(LlmError::TooLong(self.context));
        }
        let state = self.state.lock();
        if let Some(left) = state.breaker.left(self.clock.monotonic()) {
            return Err(LlmError::Open(left));
        }
        match self.monthly_tokens {
            Some(ceiling) if state.usage.this_month(self.clock.now(), &self.zone) + whole > ceiling => {
                Err(LlmError::Ceiling(ceiling))
            }
            _ => Ok(()),
        }
    }

    fn prompt_tokens(&self, task: &Task) -> u64 {
        let text = task.rules.len() + task.data.len() + task.schema.to_string().len();
        estimated_tokens(text) + PICTURE_TOKENS * task.pictures.len() as u64
    }

    async fn turn(&self, urgency: Urgency) -> Result<SemaphorePermit<'_>, LlmError> {
        let waiting = match urgency {
            Urgency::Background if *self.waiting.borrow() > 0 => return Err(LlmError::Yielded),
            Urgency::Background => None,
            Urgency::Question if *self.waiting.borrow() >= MAX_WAITING => return Err(LlmError::Busy),
            Urgency::Question => Some(QueuedPrompt::begin(&self.waiting)),
        };
        let permit = self.turn.acquire().await.map_err(|_| LlmError::Stopping);
        drop(waiting);
        permit
    }

    async fn asked<T>(&self, task: &Task, check: impl Fn(&str) -> Result<T, &'static str>) -> Result<T, LlmError> {
        let first = self.request_reply(task, None).await.and_then(|said| self.checked(&said, &check));
        let correction = match first {
            Err(LlmError::Invalid(reason)) => reason,
            Err(LlmError::Empty) => "it was empty",
            Err(LlmError::Malformed) => "it was no chat completion",
            other => return other,
        };
        self.request_reply(task, Some(correction)).await.and_then(|said| self.checked(&said, &check))
    }

    fn checked<T>(&self, said: &str, check: &impl Fn(&str) -> Result<T, &'static str>) -> Result<T, LlmError> {
        let outcome = check(json_within(said));
        let mut state = self.state.lock();
        match &outcome {
            Ok(_) => state.kept += 1,
            Err(_) => state.broken += 1,
        }
        outcome.map_err(LlmError::Invalid)
    }

    /// One exchange, or two with a server that does not take a `response_format`.
    async fn request_reply(&self, task: &Task, correction: Option<&'static str>) -> Result<String, LlmError> {
        let with_format = !self.state.lock().no_format;
        match self.exchange(task, correction, with_format).await {
            Err(LlmError::Status(400 | 422)) if with_format => {
                let said = self.exchange(task, correction, false).await?;
                self.state.lock().no_format = true;
                Ok(said)
            }
            other => other,
        }
    }

    async fn exchange(
        &self,
        task: &Task,
        correction: Option<&'static str>,
        with_format: bool,
    ) -> Result<String, LlmError> {
        let mut messages = vec![ChatMessage::system(task.rules), ChatMessage::user(task.data.clone(), &task.pictures)];
        if let Some(reason) = correction {
            let again =
                format!("Your last reply was not usable: {reason}. Reply with the JSON object and nothing else.");
            messages.push(ChatMessage::user(again, &[]));
        }
        let request = ChatRequest {
            model: self.model.clone(),
            messages,
            temperature: 0.0,
            seed: SEED,
            max_tokens: task.reply_tokens,
            stream: false,
            response_format: with_format.then(|| schema_format(task.purpose.name(), &task.schema)),
        };
        let body = Bytes::from(serde_json::to_vec(&request).map_err(|_| LlmError::Malformed)?);
        let mut spending = Spending { endpoint: self, begin: self.clock.monotonic(), tokens: self.prompt_tokens(task) };
        self.state.lock().requests += 1;
        let reply = match &self.transport {
            Transport::Http(client) => client.post(body.clone()).await,
            Transport::Replay(replay) => replay.reply(&body).ok_or(LlmError::NotRecorded),
        };
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                if matches!(error, LlmError::NotRecorded) {
                    spending.tokens = 0;
                }
                return Err(error);
            }
        };
        if let Some(recorder) = &self.recorder {
            recorder.note(task.purpose, &body, &reply);
        }
        self.read(&reply, &mut spending)
    }

    fn read(&self, reply: &HttpReply, spending: &mut Spending<'_>) -> Result<String, LlmError> {
        if !(200..300).contains(&reply.status) {
            // An error is not paid for.
            spending.tokens = 0;
            if let Some(wait) = reply.retry_after {
                self.state.lock().breaker.wait(self.clock.monotonic(), wait);
            }
            return Err(LlmError::Status(reply.status));
        }
        let completion: ChatReply = serde_json::from_slice(&reply.body).map_err(|_| LlmError::Malformed)?;
        let first = completion.choices.into_iter().next();
        let (message, finish) = first.map_or((None, None), |choice| (choice.message, choice.finish_reason));
        let said = message.as_ref().and_then(|message| message.content.as_deref()).unwrap_or_default().len();
        let counted = completion.usage.and_then(|usage| usage.total_tokens);
        spending.tokens = match counted {
            // No request can have used more than the context holds.
            Some(tokens) => tokens.min(u64::from(self.context)),
            None => spending.tokens + estimated_tokens(said),
        };
        let Some(message) = message else { return Err(LlmError::Malformed) };
        if message.refusal.is_some_and(|refusal| !refusal.is_empty()) || finish.as_deref() == Some("content_filter") {
            return Err(LlmError::Refused);
        }
        if finish.as_deref() == Some("length") {
            return Err(LlmError::CutOff);
        }
        message.content.filter(|content| !content.trim().is_empty()).ok_or(LlmError::Empty)
    }

    /// Whether the endpoint makes a model keep to a schema, tried with rules that ask for something else.
    ///
    /// # Errors
    /// Says why there is no reply.
    pub async fn probe(&self) -> Result<SchemaSupport, LlmError> {
        let task = Task {
            purpose: Purpose::Answers,
            rules: "Reply with the one word hello. Do not use JSON.",
            data: "Say hello.".to_owned(),
            pictures: Vec::new(),
            schema: json!({
                "type": "object",
                "properties": {"agreed": {"type": "boolean"}},
                "required": ["agreed"],
                "additionalProperties": false,
            }),
            reply_tokens: 64,
        };
        let kept = |said: &str| {
            let object = serde_json::from_str::<serde_json::Map<String, Value>>(said).ok();
            Ok(object.is_some_and(|object| object.len() == 1 && object.get("agreed").is_some_and(Value::is_boolean)))
        };
        let kept = self.ask(&task, self.timeout, Urgency::Question, kept).await?;
        Ok(match (self.state.lock().no_format, kept) {
            (true, _) => SchemaSupport::Refused,
            (false, true) => SchemaSupport::Enforced,
            (false, false) => SchemaSupport::Ignored,
        })
    }

    /// Returns the endpoint's part of health.
    pub fn health(&self, purposes: &[Purpose]) -> LanguageModelHealth {
        let now = self.clock.now();
        let state = self.state.lock();
        let (tokens_today, seconds_today, requests_today) = state.usage.today(now, &self.zone);
        let tokens_month = state.usage.this_month(now, &self.zone);
        let full = self.monthly_tokens.is_some_and(|ceiling| tokens_month >= ceiling);
        let replayed = matches!(self.transport, Transport::Replay(_));
        let schemas = match (state.no_format, state.kept, state.broken) {
            (true, ..) => "refused",
            (false, 0, 0) => "unknown",
            (false, _, 0) => "kept",
            (false, ..) => "not kept",
        };
        LanguageModelHealth {
            state: if full { "ceiling" } else { state.breaker.state(self.clock.monotonic()) }.to_owned(),
            model: self.model.clone(),
            host: if replayed { "transcript".to_owned() } else { self.address.authority() },
            leaves_the_machine: !replayed && !self.address.is_here(),
            encrypted: self.address.tls,
            purposes: purposes.iter().map(|purpose| purpose.name().to_owned()).collect(),
            schemas: schemas.to_owned(),
            requests: state.requests,
            failures: state.failures,
            requests_today,
            tokens_today,
            seconds_today: (seconds_today * 10.0).round() / 10.0,
            tokens_month,
            monthly_tokens: self.monthly_tokens,
            reason: state.last_error.clone(),
        }
    }
}

/// Support of an endpoint for schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSupport {
    /// The reply keeps to it, whatever the model wants to say.
    Enforced,
    /// The schema is accepted, but the model may reply something else.
    Ignored,
    /// Requests with one are refused.
    Refused,
}

/// A question in the queue of an endpoint.
struct QueuedPrompt<'a>(&'a watch::Sender<usize>);

impl<'a> QueuedPrompt<'a> {
    fn begin(waiting: &'a watch::Sender<usize>) -> Self {
        waiting.send_modify(|waiting| *waiting += 1);
        Self(waiting)
    }
}

impl Drop for QueuedPrompt<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|waiting| *waiting -= 1);
    }
}

/// Counts a request when it ends, also one that is given up: the server has worked for it.
struct Spending<'a> {
    endpoint: &'a Endpoint,
    begin: Duration,
    tokens: u64,
}

impl Drop for Spending<'_> {
    fn drop(&mut self) {
        let endpoint = self.endpoint;
        let seconds = endpoint.clock.monotonic().saturating_sub(self.begin).as_secs_f64();
        let usage = {
            let mut state = endpoint.state.lock();
            state.usage.add(endpoint.clock.now(), &endpoint.zone, self.tokens, seconds);
            state.usage.clone()
        };
        endpoint.file.write(&usage);
    }
}
