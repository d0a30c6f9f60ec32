//! Drives one connection: takes what the broker sends, and says why the connection ended.

use std::time::Duration;

use rumqttc::{
    AsyncClient, ConnectReturnCode, ConnectionError, DisconnectReasonCode, Event, EventLoop, Packet, Publish,
    StateError,
};
use tokio::sync::oneshot;

use super::super::trouble;
use super::{Acknowledgement, ConnectionEnd, EndKind, Message, Receive};

pub(super) struct Accepted {
    pub(super) session_present: bool,
    pub(super) max_packet: Option<u32>,
}

/// Drives one event loop, never cancelled while the connection lives.
pub(super) struct EventPump {
    pub(super) events: EventLoop,
    pub(super) acknowledge: Option<AsyncClient>,
    pub(super) accepted: Option<oneshot::Sender<Accepted>>,
    pub(super) place: String,
}

impl EventPump {
    pub(super) async fn run(mut self, mut receiver: impl Receive) -> ConnectionEnd {
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

    fn describe(&self, error: &ConnectionError) -> ConnectionEnd {
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
        ConnectionEnd { kind, message }
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

pub(super) fn ended(pump: Result<ConnectionEnd, tokio::task::JoinError>) -> ConnectionEnd {
    pump.unwrap_or_else(|error| ConnectionEnd {
        kind: EndKind::Lost,
        message: format!("the event loop stopped: {error}"),
    })
}
