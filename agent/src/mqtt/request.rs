//! Asks another engram over the broker, as any client would: for `engram ask`, `engram observe` and the like.
//!
//! ```no_run
//! # async fn example(config: agent::config::mqtt::MqttConfig) -> Result<(), agent::mqtt::request::RequestError> {
//! use std::time::Duration;
//! let client = agent::mqtt::request::Client::connect(&config, "kitchen-1").await?;
//! let reply = client.ask(serde_json::json!({"question": "where is the mug?"}), Duration::from_secs(5)).await?;
//! println!("{}", reply["answer"]);
//! client.close().await;
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio_util::task::AbortOnDropHandle;

use super::client::{Broker, ConnectionEnd, Delivery, LinkOptions, Message, Publication, Reliability, Sender};
use super::topics::{NameError, Outbound, Topics};
use super::{MqttError, presence};
use crate::config::mqtt::MqttConfig;

/// Maximum time of a clean disconnect.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] MqttError),
    /// The name cannot be part of a topic.
    #[error("the name `{name}` {error}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        error: NameError,
    },
    /// No connection to the broker.
    #[error("{0}")]
    Connection(String),
    /// The broker's access rules forbid it.
    #[error("the broker does not let this client publish to {0}; check its access rules")]
    Denied(String),
    /// No agent listens.
    #[error("no engram serves the robot `{0}` on this broker; is it running, and is the name right?")]
    NobodyThere(String),
    /// No reply in time.
    #[error("no reply from the robot `{robot}` within {} ms", .waited.as_millis())]
    Timeout {
        /// The robot.
        robot: String,
        /// How long this client waited.
        waited: Duration,
    },
}

/// A connection for requests. Several may wait for their replies at once.
pub struct Client {
    topics: Topics,
    /// Topic on which this client receives replies.
    inbox: String,
    sender: Sender,
    waiting: Arc<PendingReplies>,
    next: AtomicU64,
    /// Why the connection ended, once it has.
    ended: watch::Receiver<Option<String>>,
    farewell: oneshot::Sender<()>,
    keeper: AbortOnDropHandle<()>,
}

/// Pending replies, and the robot's status and health.
struct PendingReplies {
    replies: Mutex<BTreeMap<u64, oneshot::Sender<Value>>>,
    health_topic: String,
    status_topic: String,
    vitals: watch::Sender<Vitals>,
    reasoning_topic: String,
    /// Receiver of the steps of looking again, for the question with this id.
    reasoning: Mutex<Option<(String, OnStep)>>,
}

type OnStep = Box<dyn Fn(&Value) + Send + Sync>;

/// Status and health of a robot; both are retained by the broker.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Vitals {
    /// `online`, `offline` or `stopped`.
    pub status: Option<String>,
    /// The health report.
    pub health: Option<Value>,
}

impl PendingReplies {
    fn new(topics: &Topics) -> Self {
        Self {
            replies: Mutex::default(),
            health_topic: topics.outbound(Outbound::Health),
            status_topic: topics.outbound(Outbound::Status),
            vitals: watch::Sender::default(),
            reasoning_topic: topics.outbound(Outbound::Reasoning),
            reasoning: Mutex::default(),
        }
    }

    fn deliver(&self, message: &Message) {
        if message.topic == self.health_topic {
            let health = serde_json::from_slice(&message.payload).ok();
            return self.vitals.send_modify(|vitals| vitals.health = health);
        }
        if message.topic == self.status_topic {
            let status = String::from_utf8_lossy(&message.payload).into_owned();
            return self.vitals.send_modify(|vitals| vitals.status = Some(status));
        }
        if message.topic == self.reasoning_topic {
            let step = serde_json::from_slice::<Value>(&message.payload).unwrap_or_default();
            if let Some((id, hear)) = &*self.reasoning.lock()
                && step["request_id"] == id.as_str()
            {
                hear(&step);
            }
            return;
        }
        let id = message.correlation.as_ref().and_then(|id| std::str::from_utf8(id).ok()?.parse::<u64>().ok());
        let Ok(body) = serde_json::from_slice::<Value>(&message.payload) else { return };
        // A long command says first that it has begun.
        if body.get("state").and_then(Value::as_str) == Some("executing") {
            return;
        }
        if let Some(waiting) = id.and_then(|id| self.replies.lock().remove(&id)) {
            // A caller that gave up waiting needs no reply.
            drop(waiting.send(body));
        }
    }
}

impl Client {
    /// Connects to the broker of `config`, to talk to `robot`.
    ///
    /// # Errors
    /// If the configuration or the broker does not allow it.
    pub async fn connect(config: &MqttConfig, robot: &str) -> Result<Self, RequestError> {
        let topics =
            Topics::new(&config.root, robot).map_err(|error| RequestError::Name { name: robot.to_owned(), error })?;
        let tag = ["cli", &std::process::id().to_string(), &presence::nonce()].join("-");
        let inbox = topics.answer(&tag).map_err(|error| RequestError::Name { name: tag.clone(), error })?;
        let broker = Broker::new(config)?;
        let waiting = Arc::new(PendingReplies::new(&topics));
        let receiver = Arc::clone(&waiting);
        let options = LinkOptions { client_id: ["engram", &tag].join("-"), ..LinkOptions::default() };
        let connected = broker.connect(options, move |message| receiver.deliver(&message)).await;
        let mut link = connected.map_err(connection)?;
        let sender = link.sender().clone();
        let filters = [(inbox.clone(), Reliability::AtLeastOnce)];
        match link.during(sender.subscribe(&filters)).await.map_err(connection)? {
            Ok(granted) if granted.iter().all(|granted| *granted) => {}
            Ok(_) => return Err(RequestError::Denied(inbox)),
            Err(_gone) => return Err(connection(link.end().await)),
        }
        let (ending, ended) = watch::channel(None);
        let (farewell, leave) = oneshot::channel();
        let keeper = AbortOnDropHandle::new(tokio::spawn(async move {
            tokio::select! {
                end = link.end() => drop(ending.send_replace(Some(end.message))),
                _ = leave => link.close(DISCONNECT_TIMEOUT).await,
            }
        }));
        Ok(Self { topics, inbox, sender, waiting, next: AtomicU64::new(1), ended, farewell, keeper })
    }

    /// Asks; `question` is the payload of `…/ask`. The reply is the payload of the answer, an `error` included.
    ///
    /// # Errors
    /// If there is no reply.
    pub async fn ask(&self, question: Value, timeout: Duration) -> Result<Value, RequestError> {
        self.request(self.topics.ask(), question, timeout).await
    }

    /// Lets `hear` know of each step of looking again for the question with this `request_id`. Where the broker does not allow
    /// that, nothing is heard.
    pub async fn on_reasoning(&self, request_id: &str, hear: impl Fn(&Value) + Send + Sync + 'static) {
        *self.waiting.reasoning.lock() = Some((request_id.to_owned(), Box::new(hear)));
        let filters = [(self.waiting.reasoning_topic.clone(), Reliability::AtLeastOnce)];
        // Without progress the answer is the same.
        drop(self.sender.subscribe(&filters).await);
    }

    /// Tells; `observations` is the payload of `…/observe`. The reply says what became of each.
    ///
    /// # Errors
    /// If there is no reply.
    pub async fn observe(&self, observations: Value, timeout: Duration) -> Result<Value, RequestError> {
        self.request(self.topics.observe(), observations, timeout).await
    }

    /// Gives a command, by name.
    ///
    /// # Errors
    /// If there is no reply.
    pub async fn command(&self, name: &str, body: Value, timeout: Duration) -> Result<Value, RequestError> {
        let topic = self.topics.command(name).map_err(|error| RequestError::Name { name: name.to_owned(), error })?;
        self.request(topic, body, timeout).await
    }

    /// Name of the robot.
    pub fn robot(&self) -> &str {
        self.topics.robot()
    }

    /// Whether the connection has ended. Every request on it fails.
    pub fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// What the robot says of itself. The first call subscribes to it and waits up to `timeout` for the report that the
    /// broker keeps; later calls return the latest one at once.
    ///
    /// # Errors
    /// If the broker does not allow it or the connection ends.
    pub async fn vitals(&self, timeout: Duration) -> Result<Vitals, RequestError> {
        let mut vitals = self.waiting.vitals.subscribe();
        let first = vitals.borrow().clone();
        if first != Vitals::default() {
            return Ok(first);
        }
        let filters = [&self.waiting.health_topic, &self.waiting.status_topic];
        let filters = filters.map(|topic| (topic.clone(), Reliability::AtLeastOnce));
        let gone = || RequestError::Connection("the connection to the broker ended".to_owned());
        match tokio::time::timeout(timeout, self.sender.subscribe(&filters)).await {
            Ok(Ok(granted)) if granted.iter().all(|granted| *granted) => {}
            Ok(Ok(_)) => return Err(RequestError::Denied(self.waiting.health_topic.clone())),
            Ok(Err(_)) | Err(_) => return Err(gone()),
        }
        let complete = |vitals: &Vitals| vitals.status.is_some() && vitals.health.is_some();
        // A robot that was never there has none, and no answer tells that.
        let heard = tokio::time::timeout(timeout, vitals.wait_for(complete)).await;
        match heard {
            Ok(Ok(vitals)) => Ok(vitals.clone()),
            Ok(Err(_)) => Err(gone()),
            Err(_elapsed) => Ok(self.waiting.vitals.borrow().clone()),
        }
    }

    async fn request(&self, topic: String, body: Value, timeout: Duration) -> Result<Value, RequestError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        self.waiting.replies.lock().insert(id, reply);
        let publication = Publication {
            topic: topic.clone(),
            payload: body.to_string().into(),
            correlation: Some(id.to_string().into()),
            response_topic: Some(self.inbox.clone()),
            expiry: Some(timeout),
            ..Publication::default()
        };
        let mut ended = self.ended.clone();
        let outcome = tokio::time::timeout(timeout, async {
            tokio::select! {
                biased;
                outcome = self.exchange(topic, publication, answer) => outcome,
                end = ended.wait_for(Option::is_some) => {
                    let why = end.ok().and_then(|end| end.clone());
                    Err(RequestError::Connection(why.unwrap_or_else(|| "the connection ended".to_owned())))
                }
            }
        })
        .await;
        self.waiting.replies.lock().remove(&id);
        outcome.unwrap_or_else(|_elapsed| {
            Err(RequestError::Timeout { robot: self.topics.robot().to_owned(), waited: timeout })
        })
    }

    async fn exchange(
        &self,
        topic: String,
        publication: Publication,
        answer: oneshot::Receiver<Value>,
    ) -> Result<Value, RequestError> {
        match self.sender.publish(publication).await {
            Ok(Delivery::Taken) => {}
            Ok(Delivery::NobodyListens) => return Err(RequestError::NobodyThere(self.topics.robot().to_owned())),
            Ok(Delivery::Refused) => return Err(RequestError::Denied(topic)),
            // Why, says the end of the connection.
            Err(_gone) => std::future::pending().await,
        }
        match answer.await {
            Ok(reply) => Ok(reply),
            // The other end stays in the table until the reply comes.
            Err(_) => std::future::pending().await,
        }
    }

    /// Takes leave of the broker.
    pub async fn close(self) {
        // A connection that has ended needs no farewell.
        if self.farewell.send(()).is_ok() {
            drop(self.keeper.await);
        }
    }
}

/// One question on a connection of its own: a text, or the payload of `…/ask`.
///
/// # Errors
/// If there is no reply.
pub async fn ask(config: &MqttConfig, robot: &str, question: Value, timeout: Duration) -> Result<Value, RequestError> {
    let question = if question.is_string() { json!({ "question": question }) } else { question };
    let client = Client::connect(config, robot).await?;
    let reply = client.ask(question, timeout).await;
    client.close().await;
    reply
}

fn connection(end: ConnectionEnd) -> RequestError {
    RequestError::Connection(end.message)
}
