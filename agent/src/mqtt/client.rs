//! Hides the MQTT client crate. A [`Link`] is one connection, from CONNECT to its end, with an event loop of its own: what
//! belongs to a connection, its acknowledgements above all, dies with it and cannot reach the next one, where the same
//! packet id may mean another message.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rumqttc::mqttbytes::QoS;
use rumqttc::{
    AckMode, AsyncClient, ConnectReturnCode, ConnectionError, DisconnectReasonCode, Event, EventLoop, LastWill,
    ManualAck, MqttOptions, NetworkOptions, Packet, PersistedAckMode, PersistedSession, PubAckReason, Publish,
    PublishNotice, PublishNoticeError, PublishOptions, PublishProperties, PublishResult, SessionStore,
    SessionStoreError, SessionStoreKey, StateError, SubscribeFilter, SubscribeReasonCode, TlsConfiguration, Transport,
};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use super::{MqttError, tls, trouble};
use crate::config::mqtt::MqttConfig;
use crate::watchdog::Watchdog;

/// How long the broker may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Publications and subscriptions that may wait for the event loop of one connection.
const REQUESTS: usize = 64;

/// Publications under way to the broker at once.
const IN_FLIGHT: u16 = 100;

/// How the broker is reached, from the configuration.
pub struct Broker {
    host: String,
    port: u16,
    keep_alive_s: u16,
    packet_bytes: u32,
    credentials: Credentials,
    transport: Transport,
}

/// No `Debug`: a password must not find its way into a log.
struct Credentials {
    username: Option<String>,
    password: Option<String>,
    password_file: Option<PathBuf>,
}

/// What a connection is for.
#[derive(Clone, Default)]
pub struct LinkOptions {
    /// Stable where the session is kept.
    pub client_id: String,
    /// How long the broker keeps the session; `None` starts clean. A kept session is acknowledged by hand.
    pub keep_session: Option<Duration>,
    /// Messages that the broker may send before the first is acknowledged.
    pub receive_maximum: Option<u16>,
    /// Published by the broker, retained, when the connection breaks.
    pub will: Option<(String, &'static str)>,
    /// Watches the event loop, under this name.
    pub watched: Option<(Arc<Watchdog>, &'static str)>,
    /// Acknowledgements by hand that may wait for the event loop.
    pub acknowledgements: usize,
}

/// Takes the messages of a connection, in order of receipt, from its event loop.
pub trait Receive: Send + 'static {
    /// While this waits, the connection neither reads nor sends: it must wait for nothing that waits for the connection.
    fn receive(&mut self, message: Message) -> impl Future<Output = ()> + Send;
}

/// Receives without waiting.
impl<F: FnMut(Message) + Send + 'static> Receive for F {
    fn receive(&mut self, message: Message) -> impl Future<Output = ()> + Send {
        self(message);
        std::future::ready(())
    }
}

/// A message from the broker, or one that is made here and read as if it came from there.
#[derive(Debug, Default)]
pub struct Message {
    pub topic: String,
    pub payload: Bytes,
    /// It may have been delivered before.
    pub redelivered: bool,
    /// It was stored at the broker before this program subscribed.
    pub retained: bool,
    pub response_topic: Option<String>,
    pub correlation: Option<Bytes>,
    /// What is left of its life.
    pub expiry: Option<Duration>,
    /// To be sent when it is dealt with; `None` where nothing is owed.
    pub acknowledgement: Option<Acknowledgement>,
}

/// Tells the broker that a message is dealt with, on the connection that brought it or not at all.
#[derive(Debug)]
pub struct Acknowledgement {
    client: AsyncClient,
    ack: ManualAck,
}

impl Acknowledgement {
    /// Sends it. Without effect when the connection is gone: the broker then delivers the message again.
    pub async fn send(self) {
        drop(self.client.manual_ack(self.ack).await);
    }
}

/// Something to publish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publication {
    pub topic: String,
    pub payload: Bytes,
    pub retain: bool,
    /// QoS 0 instead of 1.
    pub fire_and_forget: bool,
    /// The payload is not JSON.
    pub plain_text: bool,
    pub correlation: Option<Bytes>,
    pub response_topic: Option<String>,
    pub expiry: Option<Duration>,
}

/// What the broker did with a publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It took it.
    Taken,
    /// It took it, and nobody is subscribed. Brokers need not say so.
    NobodyListens,
    /// Its access rules forbid it, or it has no room.
    Refused,
}

/// The connection ended before the broker answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the connection ended")]
pub struct Gone;

/// Why a connection ended or could not be made; the text says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub kind: EndKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndKind {
    /// This side closed it.
    Closed,
    /// The network or the broker went away, or was never there.
    Lost,
    /// The broker does not want this client.
    Refused,
    /// Another client came with the same client id.
    TakenOver,
    /// Its certificate is not accepted, or it does not encrypt.
    Untrusted,
    /// The name of the host is not resolved.
    NoSuchHost,
}

/// One live connection. Dropping it breaks the connection off.
pub struct Link {
    sender: Sender,
    session_present: bool,
    pump: AbortOnDropHandle<End>,
}

/// Publishes and subscribes on one connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sender {
    client: AsyncClient,
    max_packet: Option<u32>,
}

impl Broker {
    /// Reads the files that the section names, so that a wrong path is heard of at the start.
    ///
    /// # Errors
    /// If a file cannot be read or holds nothing usable.
    pub fn new(config: &MqttConfig) -> Result<Self, MqttError> {
        if let Some((key, message)) = config.problems().into_iter().next() {
            return Err(MqttError::Config { key, message });
        }
        let credentials = Credentials {
            username: config.username.clone(),
            password: config.password.clone(),
            password_file: config.password_file.clone(),
        };
        credentials.password().map_err(|message| MqttError::Config { key: "password_file", message })?;
        Ok(Self {
            host: config.host.clone(),
            port: config.port(),
            keep_alive_s: config.keep_alive_s,
            packet_bytes: config.limits.packet_bytes,
            credentials,
            transport: transport(config)?,
        })
    }

    /// Opens a connection and waits until the broker has accepted it. From then on `receiver` gets every message.
    ///
    /// # Errors
    /// See [`End`].
    pub async fn connect(&self, options: LinkOptions, receiver: impl Receive) -> Result<Link, End> {
        let requests = REQUESTS + options.acknowledgements;
        let heartbeat = options.watched.as_ref().map(|(watchdog, name)| watchdog.heartbeat(name));
        let options = self.options(options).map_err(|message| End { kind: EndKind::Refused, message })?;
        let manual = options.ack_mode() == AckMode::Manual;
        let (client, events) = AsyncClient::builder(options)
            .capacity(requests)
            .try_build()
            .map_err(|error| End { kind: EndKind::Refused, message: error.to_string() })?;
        let (accepted, acceptance) = oneshot::channel();
        let pump = Pump {
            events,
            acknowledge: manual.then(|| client.clone()),
            accepted: Some(accepted),
            place: [self.host.as_str(), &self.port.to_string()].join(":"),
        };
        let running = async move {
            match heartbeat {
                Some(heartbeat) => heartbeat.beside(pump.run(receiver)).await,
                None => pump.run(receiver).await,
            }
        };
        let mut pump = AbortOnDropHandle::new(tokio::spawn(running));
        match acceptance.await {
            Ok(Accepted { session_present, max_packet }) => {
                Ok(Link { sender: Sender { client, max_packet }, session_present, pump })
            }
            Err(_ended) => Err(ended((&mut pump).await)),
        }
    }

    fn options(&self, link: LinkOptions) -> Result<MqttOptions, String> {
        let mut options = MqttOptions::new(link.client_id.clone(), (self.host.clone(), self.port));
        let mut network = NetworkOptions::new();
        // Without it a small reply waits for a delayed acknowledgement: 40 ms and more.
        network.set_tcp_nodelay(true);
        options
            .set_transport(self.transport.clone())
            .set_network_options(network)
            .set_keep_alive(self.keep_alive_s)
            .set_connect_timeout(CONNECT_TIMEOUT)
            .set_max_packet_size(Some(self.packet_bytes))
            .set_receive_maximum(link.receive_maximum)
            .set_outgoing_inflight_upper_limit(IN_FLIGHT)
            .set_max_request_batch(32);
        match (&self.credentials.username, self.credentials.password()?) {
            (Some(username), Some(password)) => drop(options.set_credentials(username.clone(), password)),
            (Some(username), None) => drop(options.set_username(username.clone())),
            (None, _) => {}
        }
        if let Some((topic, payload)) = link.will {
            options.set_last_will(LastWill::new(topic, payload, QoS::AtLeastOnce, true, None));
        }
        if let Some(expiry) = link.keep_session {
            let expiry = u32::try_from(expiry.as_secs()).unwrap_or(u32::MAX);
            options
                .set_clean_start(false)
                .set_session_expiry_interval(Some(expiry))
                .set_ack_mode(AckMode::Manual)
                .set_session_store(NothingUnderWay { client_id: link.client_id, expiry });
        }
        Ok(options)
    }
}

impl Credentials {
    /// Read again for every connection, so that a corrected file needs no restart.
    fn password(&self) -> Result<Option<String>, String> {
        let Some(path) = &self.password_file else { return Ok(self.password.clone()) };
        let text = read(path)?;
        let text = String::from_utf8(text).map_err(|_| unreadable(path, "it is not UTF-8"))?;
        Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

fn transport(config: &MqttConfig) -> Result<Transport, MqttError> {
    let tls = &config.tls;
    if !tls.enabled {
        return Ok(Transport::tcp());
    }
    let file = |key: &'static str, path: &Path| read(path).map_err(|message| MqttError::Config { key, message });
    let Some(ca_file) = &tls.ca_file else {
        return Transport::try_tls_with_default_config().map_err(|error| MqttError::Config {
            key: "tls.ca_file",
            message: ["is needed: the system's certificates cannot be used: ", &error.to_string()].concat(),
        });
    };
    let ca = file("tls.ca_file", ca_file)?;
    if !contains(&ca, b"-----BEGIN CERTIFICATE-----") {
        let message = unreadable(ca_file, "it holds no certificate in PEM form");
        return Err(MqttError::Config { key: "tls.ca_file", message });
    }
    let identity = match (&tls.cert_file, &tls.key_file) {
        (Some(cert), Some(key)) => Some((file("tls.cert_file", cert)?, file("tls.key_file", key)?)),
        _ => None,
    };
    match &tls.crl_file {
        None => Ok(Transport::tls(ca, identity, None)),
        Some(path) => tls::with_revocations(&ca, identity, &file("tls.crl_file", path)?)
            .map(|config| Transport::tls_with_config(TlsConfiguration::Rustls(Arc::new(config))))
            .map_err(|why| MqttError::Config { key: "tls.crl_file", message: unreadable(path, &why) }),
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| unreadable(path, &error.to_string()))
}

fn unreadable(path: &Path, why: &str) -> String {
    format!("names {}, which cannot be used: {why}", path.display())
}

/// Says to the client crate that this program has nothing of its own under way in a kept session: `…-in` publishes
/// nothing, and what it received is the broker's to deliver again. Without it the crate refuses to resume a session after
/// a restart.
#[derive(Debug)]
struct NothingUnderWay {
    client_id: String,
    expiry: u32,
}

type StoreFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

impl SessionStore for NothingUnderWay {
    fn load<'a>(&'a self, _: &'a SessionStoreKey) -> StoreFuture<'a, Option<PersistedSession>> {
        let session = PersistedSession {
            format_version: 1,
            client_id: self.client_id.clone(),
            clean_start: false,
            session_expiry_interval: Some(self.expiry),
            outgoing_inflight_upper_limit: Some(IN_FLIGHT),
            ack_mode: PersistedAckMode::Manual,
            last_pkid: 0,
            last_puback: 0,
            replay: Vec::new(),
            incoming_qos2: Vec::new(),
        };
        Box::pin(std::future::ready(Ok(Some(session))))
    }

    fn save<'a>(&'a self, _: &'a SessionStoreKey, _: &'a PersistedSession) -> StoreFuture<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn clear<'a>(&'a self, _: &'a SessionStoreKey) -> StoreFuture<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }
}

struct Accepted {
    session_present: bool,
    max_packet: Option<u32>,
}

/// Drives one event loop, never cancelled while the connection lives.
struct Pump {
    events: EventLoop,
    acknowledge: Option<AsyncClient>,
    accepted: Option<oneshot::Sender<Accepted>>,
    place: String,
}

impl Pump {
    async fn run(mut self, mut receiver: impl Receive) -> End {
        loop {
            match self.events.poll().await {
                Ok(Event::Incoming(Packet::ConnAck(connack))) => {
                    if let Some(accepted) = self.accepted.take() {
                        let max_packet = connack.properties.and_then(|properties| properties.max_packet_size);
                        drop(accepted.send(Accepted { session_present: connack.session_present, max_packet }));
                    }
                }
                Ok(Event::Incoming(Packet::Publish(publish))) => {
                    if let Some(message) = self.message(publish) {
                        receiver.receive(message).await;
                    }
                }
                Ok(_) => {}
                Err(error) => return self.describe(&error),
            }
        }
    }

    fn message(&self, publish: Publish) -> Option<Message> {
        let acknowledgement = self
            .acknowledge
            .as_ref()
            .and_then(|client| Some(Acknowledgement { ack: client.prepare_ack(&publish)?, client: client.clone() }));
        let properties = publish.properties.unwrap_or_default();
        Some(Message {
            // The crate has checked that it is UTF-8.
            topic: String::from_utf8(publish.topic.into()).ok()?,
            payload: publish.payload,
            redelivered: publish.dup,
            retained: publish.retain,
            response_topic: properties.response_topic,
            correlation: properties.correlation_data,
            expiry: properties.message_expiry_interval.map(|seconds| Duration::from_secs(seconds.into())),
            acknowledgement,
        })
    }

    fn describe(&self, error: &ConnectionError) -> End {
        let place = &self.place;
        let connecting = self.accepted.is_some();
        let (kind, message) = match error {
            ConnectionError::RequestsDone => (EndKind::Closed, "closed".to_owned()),
            ConnectionError::ConnectionRefused(code)
            | ConnectionError::MqttState(StateError::ConnFail { reason: code }) => {
                (EndKind::Refused, refusal(*code, place))
            }
            ConnectionError::Io(io) if connecting && let Some(end) = trouble::network(io, place) => end,
            ConnectionError::Timeout(_) => {
                (EndKind::Lost, format!("the broker at {place} does not answer; are mqtt.host and mqtt.port right?"))
            }
            ConnectionError::Tls(tls) => {
                let (kind, advice) = trouble::encryption(tls);
                (kind, format!("no encrypted connection to {place}: {tls}; {advice}"))
            }
            ConnectionError::MqttState(StateError::ServerDisconnect { reason_code, reason_string }) => {
                let kind = match reason_code {
                    DisconnectReasonCode::SessionTakenOver => EndKind::TakenOver,
                    DisconnectReasonCode::NotAuthorized => EndKind::Refused,
                    _ => EndKind::Lost,
                };
                let why = reason_string.as_ref().map_or_else(String::new, |text| format!(", {text}"));
                (kind, format!("the broker at {place} closed the connection: {reason_code:?}{why}"))
            }
            _ if connecting => (
                EndKind::Lost,
                format!(
                    "the broker at {place} broke off while connecting: {error}; does the port expect TLS (mqtt.tls.enabled), \
                     and does the broker speak MQTT 5?"
                ),
            ),
            _ => (EndKind::Lost, format!("the connection to the broker at {place} broke: {error}")),
        };
        End { kind, message }
    }
}

fn refusal(code: ConnectReturnCode, place: &str) -> String {
    match code {
        ConnectReturnCode::BadUserNamePassword | ConnectReturnCode::NotAuthorized => format!(
            "the broker at {place} refuses the user name or password; set mqtt.username and mqtt.password_file to what it \
             knows (it is tried again)"
        ),
        ConnectReturnCode::UnsupportedProtocolVersion | ConnectReturnCode::RefusedProtocolVersion => {
            format!("the broker at {place} does not speak MQTT 5, which engram needs")
        }
        other => format!("the broker at {place} refuses the connection: {other:?}"),
    }
}

fn ended(pump: Result<End, tokio::task::JoinError>) -> End {
    pump.unwrap_or_else(|error| End { kind: EndKind::Lost, message: format!("the event loop stopped: {error}") })
}

impl Link {
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The broker had kept the session.
    pub fn session_present(&self) -> bool {
        self.session_present
    }

    /// Waits for the end of the connection.
    pub async fn end(&mut self) -> End {
        ended((&mut self.pump).await)
    }

    /// `work`, unless the connection ends first.
    ///
    /// # Errors
    /// How the connection ended.
    pub async fn during<T>(&mut self, work: impl Future<Output = T>) -> Result<T, End> {
        tokio::select! {
            biased;
            done = work => Ok(done),
            end = self.end() => Err(end),
        }
    }

    /// Takes leave: what was given to the connection is sent first. Breaks off after `patience`.
    pub async fn close(mut self, patience: Duration) {
        if self.sender.client.disconnect_with_timeout(patience).await.is_ok() {
            // Broken off when it takes longer; there is nothing else to do about it.
            drop(tokio::time::timeout(patience, self.end()).await);
        }
    }
}

impl Sender {
    /// Publishes and waits for the broker's answer; with `fire_and_forget`, until it is on its way.
    ///
    /// # Errors
    /// If the connection ends first.
    pub async fn publish(&self, publication: Publication) -> Result<Delivery, Gone> {
        let Some(notice) = self.submit(publication).await? else { return Ok(Delivery::Refused) };
        delivery(notice.wait_async().await)
    }

    /// Gives a publication to the connection without waiting for the broker. Those of one task keep their order.
    ///
    /// # Errors
    /// If the connection has ended.
    pub async fn send(&self, publication: Publication) -> Result<(), Gone> {
        self.submit(publication).await.map(drop)
    }

    async fn submit(&self, publication: Publication) -> Result<Option<PublishNotice>, Gone> {
        let size = publication.payload.len() + publication.topic.len() + 512;
        if self.max_packet.is_some_and(|most| size > most as usize) {
            // Sent all the same, the broker would close the connection.
            tracing::warn!(topic = publication.topic, bytes = size, most = self.max_packet, "too large for the broker");
            return Ok(None);
        }
        let qos = if publication.fire_and_forget { QoS::AtMostOnce } else { QoS::AtLeastOnce };
        let properties = PublishProperties {
            payload_format_indicator: Some(1),
            message_expiry_interval: publication
                .expiry
                .map(|left| u32::try_from(left.as_secs().max(1)).unwrap_or(u32::MAX)),
            response_topic: publication.response_topic,
            correlation_data: publication.correlation,
            content_type: (!publication.plain_text).then(|| "application/json".to_owned()),
            ..PublishProperties::default()
        };
        let options = PublishOptions::new(qos).retain(publication.retain).properties(properties);
        match self.client.publish_tracked(publication.topic, publication.payload, options).await {
            Ok(notice) => Ok(Some(notice)),
            Err(rumqttc::ClientError::InvalidRequest(request)) => {
                tracing::warn!(?request, "not a topic to publish to");
                Ok(None)
            }
            Err(_) => Err(Gone),
        }
    }

    /// Wants nothing more from these filters.
    ///
    /// # Errors
    /// If the connection has ended.
    pub async fn unsubscribe(&self, filters: Vec<String>) -> Result<(), Gone> {
        self.client.unsubscribe_many(filters).await.map_err(|_| Gone)
    }

    /// Subscribes with one packet; says for each filter whether the broker grants it.
    ///
    /// # Errors
    /// If the connection ends first.
    pub async fn subscribe(&self, filters: &[(String, Reliability)]) -> Result<Vec<bool>, Gone> {
        let filters = filters.iter().map(|(filter, reliability)| {
            SubscribeFilter::new(
                filter.clone(),
                match reliability {
                    Reliability::AtMostOnce => QoS::AtMostOnce,
                    Reliability::AtLeastOnce => QoS::AtLeastOnce,
                },
            )
        });
        let notice = self.client.subscribe_many_tracked(filters).await.map_err(|_| Gone)?;
        let suback = notice.wait_async().await.map_err(|_| Gone)?;
        Ok(suback.return_codes.iter().map(|code| matches!(code, SubscribeReasonCode::Success(_))).collect())
    }
}

/// How often a subscribed message may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reliability {
    /// Once or never.
    AtMostOnce,
    /// Until it is acknowledged.
    AtLeastOnce,
}

fn delivery(outcome: Result<PublishResult, PublishNoticeError>) -> Result<Delivery, Gone> {
    match outcome {
        Ok(PublishResult::Qos1(puback)) => Ok(match puback.reason {
            PubAckReason::Success => Delivery::Taken,
            PubAckReason::NoMatchingSubscribers => Delivery::NobodyListens,
            _ => Delivery::Refused,
        }),
        Ok(_) => Ok(Delivery::Taken),
        Err(PublishNoticeError::V5PubAck(_) | PublishNoticeError::RetainNotSupported) => Ok(Delivery::Refused),
        Err(_) => Err(Gone),
    }
}

/// Doubling pauses between attempts.
#[derive(Debug, Clone)]
pub struct Backoff {
    next: Duration,
    most: Duration,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(250);
    /// A refusal does not go away by itself: asking often only fills the broker's log.
    const AFTER_REFUSAL: Duration = Duration::from_secs(10);

    pub fn new(most: Duration) -> Self {
        Self { next: Self::FIRST.min(most), most }
    }

    /// The pause before the next attempt.
    pub fn pause(&mut self, kind: EndKind) -> Duration {
        let pause = self.next;
        self.next = (self.next * 2).min(self.most);
        match kind {
            EndKind::Refused | EndKind::TakenOver => pause.max(Self::AFTER_REFUSAL.min(self.most)),
            EndKind::Lost | EndKind::Closed | EndKind::Untrusted | EndKind::NoSuchHost => pause,
        }
    }

    /// All is well again.
    pub fn reset(&mut self) {
        self.next = Self::FIRST.min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_ceiling_and_start_over() {
        let mut backoff = Backoff::new(Duration::from_secs(1));
        let pauses: Vec<u128> = (0..4).map(|_| backoff.pause(EndKind::Lost).as_millis()).collect();
        assert_eq!(pauses, [250, 500, 1000, 1000]);
        backoff.reset();
        assert_eq!(backoff.pause(EndKind::Lost).as_millis(), 250);
    }

    #[test]
    fn a_refusal_is_tried_again_slowly() {
        let mut backoff = Backoff::new(Duration::from_secs(60));
        assert_eq!(backoff.pause(EndKind::Refused), Duration::from_secs(10));
    }

    #[test]
    fn a_missing_password_file_is_named() {
        let config = MqttConfig {
            username: Some("engram".to_owned()),
            password_file: Some("/does/not/exist".into()),
            ..MqttConfig::default()
        };
        let error = Broker::new(&config).err().unwrap().to_string();
        assert!(error.contains("mqtt.password_file") && error.contains("/does/not/exist"), "{error}");
    }

    #[test]
    fn the_password_is_read_without_its_line_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("password");
        std::fs::write(&path, "s3cret\n").unwrap();
        let config =
            MqttConfig { username: Some("engram".to_owned()), password_file: Some(path), ..MqttConfig::default() };
        let broker = Broker::new(&config).unwrap();
        assert_eq!(broker.credentials.password(), Ok(Some("s3cret".to_owned())));
    }
}
