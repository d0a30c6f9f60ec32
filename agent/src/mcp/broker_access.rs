//! A connection to the broker that is opened on demand, and again after it broke.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Mutex;

use super::access::{AccessError, checked};
use crate::config::Directories;
use crate::config::mqtt::MqttConfig;
use crate::mqtt::request::{Client, RequestError, Vitals};
use crate::operator::{self, Proof};

/// Maximum time of a request, a new connection included. Some clients wait 10 s for a tool.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(9);
/// Maximum time of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(8);
/// Maximum time to receive the retained status.
const STATUS_TIMEOUT: Duration = Duration::from_millis(500);

/// A request of the contract.
#[derive(Debug, Clone, Copy)]
pub enum ContractRequest<'a> {
    /// `…/ask`
    Ask,
    /// `…/observe`
    Observe,
    /// `…/cmd/<name>`
    Command(&'a str),
}

/// The agent of a robot, over the broker.
pub struct BrokerAccess {
    config: MqttConfig,
    robot: String,
    directories: Directories,
    client: Mutex<Option<Arc<Client>>>,
}

impl BrokerAccess {
    /// The way to `robot`. Nothing is opened yet. `directories` are those of this machine's own memory, if it has one.
    pub fn new(config: MqttConfig, robot: String, directories: Directories) -> Self {
        Self { config, robot, directories, client: Mutex::new(None) }
    }

    /// Name of the robot.
    pub fn robot(&self) -> &str {
        &self.robot
    }

    /// The connection; a new one where the last one has ended.
    pub async fn client(&self) -> Result<Arc<Client>, AccessError> {
        let mut held = self.client.lock().await;
        if let Some(client) = held.as_ref().filter(|client| !client.has_ended()) {
            return Ok(Arc::clone(client));
        }
        *held = None;
        let client = Client::connect(&self.config, &self.robot).await.map_err(|error| self.explain(&error))?;
        Ok(Arc::clone(held.insert(Arc::new(client))))
    }

    /// Sends a request of the contract.
    pub async fn request(&self, request: ContractRequest<'_>, body: &Value) -> Result<Value, AccessError> {
        let attempt = async || {
            let (client, mut body) = (self.client().await?, body.clone());
            // A user who may write to the agent's own directory may see its recordings anyway. Nothing else is proved so:
            // a model should not forget by the rights of the person who started it.
            let picture = matches!(request, ContractRequest::Command("picture"));
            let proof = picture.then(|| Proof::leave(&self.directories, "picture").ok()).flatten();
            if let Some(proof) = &proof {
                body[operator::PROOF_FIELD] = proof.name().into();
            }
            Ok(match request {
                ContractRequest::Ask => client.ask(body, ATTEMPT_TIMEOUT).await,
                ContractRequest::Observe => client.observe(body, ATTEMPT_TIMEOUT).await,
                ContractRequest::Command(name) => client.command(name, body, ATTEMPT_TIMEOUT).await,
            })
        };
        // Once more where the connection broke under it. Requests can be repeated: what is told has an id, and forgetting
        // twice forgets nothing more.
        let attempts = async {
            match attempt().await? {
                Err(RequestError::Connection(_)) => attempt().await?,
                outcome => outcome,
            }
            .map_err(|error| self.explain(&error))
        };
        match tokio::time::timeout(REQUEST_TIMEOUT, attempts).await {
            Ok(outcome) => checked(outcome?),
            Err(_elapsed) => {
                Err(AccessError::new("unreachable", format!("no reply within {} s", REQUEST_TIMEOUT.as_secs())))
            }
        }
    }

    /// Reads the agent's status and health.
    pub async fn vitals(&self) -> Result<Vitals, AccessError> {
        let vitals = match self.client().await?.vitals(STATUS_TIMEOUT).await {
            Err(RequestError::Connection(_)) => self.client().await?.vitals(STATUS_TIMEOUT).await,
            vitals => vitals,
        };
        vitals.map_err(|error| self.explain(&error))
    }

    /// Takes leave of the broker.
    pub async fn close(&self) {
        if let Some(client) = self.client.lock().await.take().and_then(Arc::into_inner) {
            client.close().await;
        }
    }

    fn explain(&self, error: &RequestError) -> AccessError {
        let (robot, place) = (&self.robot, format!("{}:{}", self.config.host, self.config.port()));
        let advice = match error {
            RequestError::Connection(_) => {
                format!("is the broker at {place} running? --mqtt-host and --mqtt-port name another one")
            }
            RequestError::NobodyThere(_) => {
                format!("start it with `engram run`, or name another robot than `{robot}` with --robot")
            }
            RequestError::Timeout { .. } => {
                format!(
                    "is `engram run` on at the robot `{robot}`? --robot names another one; or try again in a moment"
                )
            }
            _ => return AccessError::new("unreachable", error.to_string()),
        };
        AccessError::new("unreachable", format!("{error}; {advice}"))
    }
}
