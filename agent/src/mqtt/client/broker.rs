//! How the broker is reached: address, credentials, encryption, and one attempt to connect.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rumqttc::mqttbytes::QoS;
use rumqttc::{AckMode, AsyncClient, LastWill, MqttOptions, NetworkOptions, TlsConfiguration, Transport};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use super::super::{MqttError, tls};
use super::event_loop::{Accepted, EventPump, ended};
use super::session::{MAX_IN_FLIGHT, NothingUnderWay};
use super::{ConnectionEnd, EndKind, Link, LinkOptions, Receive, Sender};
use crate::config::mqtt::MqttConfig;

/// Maximum time for the broker to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of publications and subscriptions that wait for the event loop of a connection.
const MAX_REQUESTS: usize = 64;

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
    /// See [`ConnectionEnd`].
    pub async fn connect(&self, options: LinkOptions, receiver: impl Receive) -> Result<Link, ConnectionEnd> {
        let requests = MAX_REQUESTS + options.acknowledgements;
        let heartbeat = options.watched.as_ref().map(|(watchdog, name)| watchdog.heartbeat(name));
        let options = self.options(options).map_err(|message| ConnectionEnd { kind: EndKind::Refused, message })?;
        let manual = options.ack_mode() == AckMode::Manual;
        let (client, events) = AsyncClient::builder(options)
            .capacity(requests)
            .try_build()
            .map_err(|error| ConnectionEnd { kind: EndKind::Refused, message: error.to_string() })?;
        let (accepted, acceptance) = oneshot::channel();
        let pump = EventPump {
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
            .set_outgoing_inflight_upper_limit(MAX_IN_FLIGHT)
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

#[cfg(test)]
mod tests {
    use super::*;

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
