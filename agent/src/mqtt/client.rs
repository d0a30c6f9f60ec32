//! Hides the MQTT client crate. A [`Link`] is one connection, from CONNECT to its end, with an event loop of its own: what
//! belongs to a connection, its acknowledgements above all, dies with it and cannot reach the next one, where the same
//! packet id may mean another message.

mod broker;
mod event_loop;
mod session;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rumqttc::mqttbytes::QoS;
use rumqttc::{
    AsyncClient, ManualAck, PubAckReason, PublishNotice, PublishNoticeError, PublishOptions, PublishProperties,
    PublishResult, SubscribeFilter, SubscribeReasonCode,
};
use tokio_util::task::AbortOnDropHandle;

use crate::watchdog::Watchdog;
pub use broker::Broker;
use event_loop::ended;

/// Purpose of a connection.
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
    /// Whether it may have been delivered before.
    pub redelivered: bool,
    /// Whether the broker stored it before this program subscribed.
    pub retained: bool,
    pub response_topic: Option<String>,
    pub correlation: Option<Bytes>,
    /// Rest of its expiry time.
    pub expiry: Option<Duration>,
    /// Acknowledgement to send after processing; `None` if none is due.
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

/// Result of a publication at the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The broker accepted it.
    Taken,
    /// The broker accepted it, and nobody is subscribed. Brokers need not report that.
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
pub struct ConnectionEnd {
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
    pump: AbortOnDropHandle<ConnectionEnd>,
}

/// Publishes and subscribes on one connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sender {
    client: AsyncClient,
    max_packet: Option<u32>,
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
    pub async fn end(&mut self) -> ConnectionEnd {
        ended((&mut self.pump).await)
    }

    /// `work`, unless the connection ends first.
    ///
    /// # Errors
    /// How the connection ended.
    pub async fn during<T>(&mut self, work: impl Future<Output = T>) -> Result<T, ConnectionEnd> {
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
    /// Sent again until it is acknowledged.
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
