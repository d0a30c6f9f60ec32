//! An MQTT 5 client that asks, tells, commands and listens.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rumqttc::{Event, MqttOptions, NetworkOptions, Packet, PublishOptions, PublishProperties, QoS, Transport};
use serde_json::{Value, json};

use crate::Broker;

/// Longest wait for the broker and for an ordinary answer.
const WAIT: Duration = Duration::from_secs(15);

/// Deadline of a thorough question that names none: `mqtt.limits.max_deadline_ms`, unless it is configured.
const THOROUGH: Duration = Duration::from_secs(60);

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A message that came.
#[derive(Debug, Clone)]
pub struct Message {
    /// Where it was published.
    pub topic: String,
    /// Its bytes.
    pub payload: Vec<u8>,
    /// It was retained before this client subscribed.
    pub retained: bool,
    /// Correlation Data, if any.
    pub correlation: Option<Vec<u8>>,
    /// Response Topic, if any.
    pub response_topic: Option<String>,
}

impl Message {
    /// The payload as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.payload).into_owned()
    }

    /// The payload as JSON.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.payload).with_context(|| format!("{}: not JSON: {}", self.topic, self.text()))
    }
}

/// An answer to a request.
pub type Reply = Value;

/// A connected client. Reconnects and subscribes again on its own.
pub struct Client {
    inner: rumqttc::Client,
    inbox: Arc<Inbox>,
    reply_topic: String,
}

#[derive(Debug, Default)]
struct Inbox {
    state: Mutex<ClientState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ClientState {
    messages: Vec<Message>,
    filters: Vec<String>,
    connected: u64,
    unconfirmed: usize,
    acknowledged: u64,
    published: u64,
    failure: Option<String>,
    closed: bool,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, ClientState> {
        self.state.lock().expect("no holder of the inbox panics")
    }

    fn change(&self, change: impl FnOnce(&mut ClientState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn wait<T>(&self, what: &str, deadline: Duration, mut look: impl FnMut(&ClientState) -> Option<T>) -> Result<T> {
        let end = Instant::now() + deadline;
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&state) {
                return Ok(found);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let failure = state.failure.as_deref().map(|text| format!("; connection: {text}")).unwrap_or_default();
                bail!("{what}: not within {deadline:?}{failure}");
            }
            state = self.changed.wait_timeout(state, left).expect("no holder of the inbox panics").0;
        }
    }
}

impl Client {
    /// Connects to `broker` with its own credentials and subscribes to a reply topic.
    ///
    /// # Errors
    /// If the broker refuses or does not answer.
    pub fn connect(broker: &Broker) -> Result<Self> {
        Self::connect_as(broker, broker.user())
    }

    /// Connects to `broker` as a user, or as nobody. Answers come to `reply/<user>/…`, or `reply/…`.
    ///
    /// # Errors
    /// If the broker refuses or does not answer.
    pub fn connect_as(broker: &Broker, user: Option<(&str, &str)>) -> Result<Self> {
        let id = format!("test-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut options = MqttOptions::new(&id, ("localhost", broker.port()));
        options.set_keep_alive(30).set_clean_start(true).set_unlimited_incoming_packet_size();
        let mut network = NetworkOptions::new();
        network.set_tcp_nodelay(true);
        options.set_network_options(network);
        if let Some((user, password)) = user {
            options.set_credentials(user.to_owned(), password.to_owned());
        }
        if let Some(made) = broker.certificates() {
            let authority = std::fs::read(&made.authority).context("cannot read the authority's certificate")?;
            options.set_transport(Transport::tls(authority, None, None));
        }
        let (inner, connection) = rumqttc::Client::builder(options).capacity(64).build();
        let inbox = Arc::new(Inbox::default());
        std::thread::spawn({
            let (inner, inbox) = (inner.clone(), Arc::clone(&inbox));
            move || receive(connection, &inner, &inbox)
        });
        let reply_topic = match user {
            Some((user, _)) => format!("reply/{user}/{id}"),
            None => format!("reply/{id}"),
        };
        let client = Self { inner, inbox, reply_topic };
        client.inbox.wait("connection to the broker", WAIT, |state| (state.connected > 0).then_some(()))?;
        client.subscribe(&client.reply_topic.clone())?;
        Ok(client)
    }

    /// Subscribes and waits until the broker has confirmed it.
    ///
    /// # Errors
    /// If it does not.
    pub fn subscribe(&self, filter: &str) -> Result<()> {
        self.inbox.change(|state| {
            state.filters.push(filter.to_owned());
            state.unconfirmed += 1;
        });
        self.inner.subscribe(filter, QoS::AtLeastOnce).with_context(|| format!("cannot subscribe to {filter}"))?;
        self.wait_connected().with_context(|| format!("subscription to {filter}"))
    }

    /// Publishes at QoS 1 and waits until the broker has acknowledged everything published so far.
    ///
    /// # Errors
    /// If it does not.
    pub fn publish(&self, topic: &str, payload: impl Into<Vec<u8>>) -> Result<()> {
        self.send(topic, payload.into(), PublishProperties::default())?;
        self.flush()
    }

    /// As [`Client::publish`], and the broker keeps the message for those who come later.
    ///
    /// # Errors
    /// If the broker does not acknowledge it.
    pub fn publish_retained(&self, topic: &str, payload: impl Into<Vec<u8>>) -> Result<()> {
        self.inbox.lock().published += 1;
        self.inner
            .publish(topic, payload.into(), PublishOptions::at_least_once().retained())
            .with_context(|| format!("cannot publish to {topic}"))?;
        self.flush()
    }

    /// Publishes what the broker may deny, and waits until it has decided. A client that was denied something is not to be
    /// used any more: its connection may be gone.
    ///
    /// # Errors
    /// If the broker says nothing.
    pub fn attempt(&self, topic: &str, payload: &str, retain: bool) -> Result<()> {
        let wanted = {
            let mut state = self.inbox.lock();
            state.published += 1;
            state.published
        };
        let options = PublishOptions::at_least_once();
        let options = if retain { options.retained() } else { options };
        self.inner.publish(topic, payload.as_bytes().to_vec(), options)?;
        self.inbox.wait("decision of the broker", WAIT, |state| {
            (state.acknowledged >= wanted || state.failure.is_some() || state.connected > 1).then_some(())
        })
    }

    /// Waits until the broker has acknowledged everything published so far.
    ///
    /// # Errors
    /// If it does not.
    pub fn flush(&self) -> Result<()> {
        let wanted = self.inbox.lock().published;
        self.inbox.wait("acknowledgement of the broker", WAIT, |state| (state.acknowledged >= wanted).then_some(()))
    }

    /// Waits until the connection to the broker is lost.
    ///
    /// # Errors
    /// If it still stands after a while.
    pub fn wait_disconnected(&self) -> Result<()> {
        self.inbox.wait("loss of the connection", WAIT, |state| state.failure.is_some().then_some(()))
    }

    /// Waits until the broker is connected and has confirmed every subscription (again).
    ///
    /// # Errors
    /// If it does not.
    pub fn wait_connected(&self) -> Result<()> {
        self.inbox.wait("connection to the broker", WAIT, |state| {
            (state.failure.is_none() && state.unconfirmed == 0 && state.connected > 0).then_some(())
        })
    }

    /// How many messages the broker has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.inbox.lock().acknowledged
    }

    /// Publishes with a Response Topic and Correlation Data; the correlation is returned for [`Client::reply`].
    ///
    /// # Errors
    /// If the client's queue is closed.
    pub fn request_later(&self, topic: &str, payload: impl Into<Vec<u8>>) -> Result<String> {
        self.request_expiring(topic, payload.into(), None)
    }

    fn request_expiring(&self, topic: &str, payload: Vec<u8>, expiry_s: Option<u32>) -> Result<String> {
        let correlation = format!("c-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let properties = PublishProperties {
            response_topic: Some(self.reply_topic.clone()),
            correlation_data: Some(correlation.clone().into_bytes().into()),
            content_type: Some("application/json".to_owned()),
            message_expiry_interval: expiry_s,
            ..PublishProperties::default()
        };
        self.send(topic, payload, properties)?;
        Ok(correlation)
    }

    /// Where its answers come to.
    pub fn reply_topic(&self) -> &str {
        &self.reply_topic
    }

    /// Waits for the final answer to a request; `executing` is no final answer.
    ///
    /// # Errors
    /// If none comes within `deadline`, or one that is not JSON.
    pub fn reply(&self, correlation: &str, deadline: Duration) -> Result<Reply> {
        self.reply_that(correlation, deadline, |reply| reply["state"] != "executing")
    }

    /// Waits for an answer to a request that satisfies `wanted`; a message that is delivered twice is answered twice.
    ///
    /// # Errors
    /// If none comes within `deadline`.
    pub fn reply_that(&self, correlation: &str, deadline: Duration, wanted: impl Fn(&Reply) -> bool) -> Result<Reply> {
        self.inbox.wait(&format!("answer to {correlation}"), deadline, |state| {
            let mine = state.messages.iter().filter(|message| {
                message.topic == self.reply_topic && message.correlation.as_deref() == Some(correlation.as_bytes())
            });
            mine.filter_map(|message| message.json().ok()).find(|reply| wanted(reply))
        })
    }

    /// The answer to a request, if it has come.
    pub fn try_reply(&self, correlation: &str) -> Option<Message> {
        let state = self.inbox.lock();
        let found =
            state.messages.iter().find(|message| message.correlation.as_deref() == Some(correlation.as_bytes()));
        found.cloned()
    }

    /// Publishes a request and waits for its answer.
    ///
    /// # Errors
    /// If none comes.
    pub fn request(&self, topic: &str, payload: impl Into<Vec<u8>>) -> Result<Reply> {
        let correlation = self.request_later(topic, payload)?;
        self.reply(&correlation, WAIT).with_context(|| format!("request to {topic}"))
    }

    /// Asks `robot` a question in plain words.
    ///
    /// # Errors
    /// If no answer comes.
    pub fn ask(&self, robot: &str, question: &str) -> Result<Reply> {
        self.ask_with(robot, json!({"question": question}))
    }

    /// Asks with all fields of the contract, and waits for as long as the question may last by it.
    ///
    /// # Errors
    /// If no answer comes.
    pub fn ask_with(&self, robot: &str, body: Value) -> Result<Reply> {
        let named = body["deadline_ms"].as_u64().map(Duration::from_millis);
        let thorough = (body["effort"] == "thorough").then_some(THOROUGH);
        let topic = format!("engram/{robot}/ask");
        let correlation = self.request_later(&topic, body.to_string())?;
        let deadline = named.or(thorough).unwrap_or_default();
        self.reply(&correlation, WAIT + deadline).with_context(|| format!("request to {topic}"))
    }

    /// Tells `robot` one observation or an array of them and waits for the reply.
    ///
    /// # Errors
    /// If no reply comes.
    pub fn observe(&self, robot: &str, body: Value) -> Result<Reply> {
        self.request(&format!("engram/{robot}/observe"), body.to_string())
    }

    /// Sends a command and waits for its final reply.
    ///
    /// # Errors
    /// If no reply comes.
    pub fn command(&self, robot: &str, name: &str, body: Value) -> Result<Reply> {
        self.request(&format!("engram/{robot}/cmd/{name}"), body.to_string())
    }

    /// Answers a request as if this client were the agent.
    ///
    /// # Errors
    /// If the request asks for no answer, or the broker does not acknowledge it.
    pub fn respond(&self, request: &Message, body: &Value) -> Result<()> {
        let topic = request.response_topic.as_deref().context("the request has no Response Topic")?;
        let properties = PublishProperties {
            correlation_data: request.correlation.clone().map(Into::into),
            ..PublishProperties::default()
        };
        self.send(topic, body.to_string().into_bytes(), properties)?;
        self.flush()
    }

    /// How many messages have come; a mark for [`Client::message_after`].
    pub fn mark(&self) -> usize {
        self.inbox.lock().messages.len()
    }

    /// Waits for a message on `topic` that satisfies `wanted`, among all that ever came.
    ///
    /// # Errors
    /// If none comes within `deadline`.
    pub fn message(&self, topic: &str, deadline: Duration, wanted: impl Fn(&Message) -> bool) -> Result<Message> {
        self.message_after(0, topic, deadline, wanted)
    }

    /// As [`Client::message`], among those that came after `mark`.
    ///
    /// # Errors
    /// If none comes within `deadline`; the error shows the last message of the topic.
    pub fn message_after(
        &self,
        mark: usize,
        topic: &str,
        deadline: Duration,
        wanted: impl Fn(&Message) -> bool,
    ) -> Result<Message> {
        let found = self.inbox.wait(&format!("message on {topic}"), deadline, |state| {
            state.messages[mark..].iter().find(|message| message.topic == topic && wanted(message)).cloned()
        });
        found.with_context(|| match self.messages(topic).last() {
            Some(last) => format!("the last one on {topic} was {}", last.text()),
            None => format!("nothing ever came on {topic}"),
        })
    }

    /// All messages of `topic` so far.
    pub fn messages(&self, topic: &str) -> Vec<Message> {
        self.inbox.lock().messages.iter().filter(|message| message.topic == topic).cloned().collect()
    }

    fn send(&self, topic: &str, payload: Vec<u8>, properties: PublishProperties) -> Result<()> {
        self.inbox.lock().published += 1;
        self.inner
            .publish(topic, payload, PublishOptions::at_least_once().properties(properties))
            .with_context(|| format!("cannot publish to {topic}"))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("reply_topic", &self.reply_topic).finish_non_exhaustive()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.inbox.change(|state| state.closed = true);
        // Refused only where the connection is gone already. The thread ends with the connection; nobody waits for it.
        self.inner.try_disconnect_now().ok();
    }
}

fn receive(mut connection: rumqttc::Connection, client: &rumqttc::Client, inbox: &Inbox) {
    while !inbox.lock().closed {
        match connection.recv() {
            Ok(Ok(Event::Incoming(packet))) => received(packet, client, inbox),
            Ok(Ok(_)) => {}
            Ok(Err(error)) => {
                inbox.change(|state| state.failure = Some(error.to_string()));
                // The broker may be away for a while: look again soon, or at once when this client closes.
                let state = inbox.lock();
                let pause = Duration::from_millis(50);
                drop(inbox.changed.wait_timeout_while(state, pause, |state| !state.closed));
            }
            Err(rumqttc::RecvError) => return,
        }
    }
}

fn received(packet: Packet, client: &rumqttc::Client, inbox: &Inbox) {
    match packet {
        Packet::ConnAck(_) => {
            let mut again = Vec::new();
            inbox.change(|state| {
                state.connected += 1;
                state.failure = None;
                if state.connected > 1 {
                    again.clone_from(&state.filters);
                    state.unconfirmed = again.len();
                }
            });
            for filter in again {
                // The queue holds 64 requests and a client has a few filters.
                client.try_subscribe(filter, QoS::AtLeastOnce).expect("room for a few subscriptions");
            }
        }
        Packet::SubAck(_) => inbox.change(|state| state.unconfirmed = state.unconfirmed.saturating_sub(1)),
        Packet::PubAck(_) => inbox.change(|state| state.acknowledged += 1),
        Packet::Publish(publish) => {
            let properties = publish.properties.unwrap_or_default();
            let message = Message {
                topic: String::from_utf8_lossy(&publish.topic).into_owned(),
                payload: publish.payload.to_vec(),
                retained: publish.retain,
                correlation: properties.correlation_data.map(|data| data.to_vec()),
                response_topic: properties.response_topic,
            };
            inbox.change(|state| state.messages.push(message));
        }
        _ => {}
    }
}
