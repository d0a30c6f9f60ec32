//! The way from a tool to the memory: the requests of the MQTT contract, and their replies.

use serde_json::{Value, json};

use super::broker_access::{BrokerAccess, ContractRequest};
use crate::mqtt::LocalAccess;
use crate::mqtt::request::Vitals;

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessError {
    /// A code of the contract, or `unreachable`.
    pub code: String,
    /// What failed and what to do.
    pub message: String,
}

impl AccessError {
    /// An error with a code.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }

    /// The request is wrong.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new("bad_request", message)
    }

    /// Returns the message for a client.
    pub fn body(&self) -> Value {
        json!({ "code": self.code, "message": self.message })
    }
}

/// The way to an agent.
pub enum MemoryAccess {
    /// Over the broker.
    Broker(Box<BrokerAccess>),
    /// Inside the agent.
    Agent(Box<LocalAccess>),
}

impl MemoryAccess {
    /// Opens it ahead of the first request.
    pub async fn prepare(&self) {
        match self {
            // The caller gets the reason.
            Self::Broker(access) => drop(access.client().await),
            Self::Agent(_) => {}
        }
    }

    /// Asks; `body` is the payload of `…/ask`.
    pub async fn ask(&self, body: Value) -> Result<Value, AccessError> {
        match self {
            Self::Broker(access) => access.request(ContractRequest::Ask, &body).await,
            Self::Agent(access) => checked(access.ask(&body).await),
        }
    }

    /// Tells; `body` is the payload of `…/observe`.
    pub async fn observe(&self, body: Value) -> Result<Value, AccessError> {
        match self {
            Self::Broker(access) => access.request(ContractRequest::Observe, &body).await,
            Self::Agent(access) => checked(access.observe(&body).await),
        }
    }

    /// Gives a command of the contract.
    pub async fn command(&self, name: &str, body: Value) -> Result<Value, AccessError> {
        match self {
            Self::Broker(access) => access.request(ContractRequest::Command(name), &body).await,
            Self::Agent(access) => checked(access.command(name, &body).await),
        }
    }

    /// The status and health of the agent.
    pub async fn vitals(&self) -> Result<Vitals, AccessError> {
        match self {
            Self::Broker(access) => access.vitals().await,
            Self::Agent(access) => Ok(access.vitals()),
        }
    }

    /// Name of the robot.
    pub fn robot(&self) -> &str {
        match self {
            Self::Broker(access) => access.robot(),
            Self::Agent(access) => access.robot(),
        }
    }

    /// Takes leave.
    pub async fn close(&self) {
        match self {
            Self::Broker(access) => access.close().await,
            Self::Agent(_) => {}
        }
    }
}

/// The reply, unless it is an error of the contract.
pub fn checked(reply: Value) -> Result<Value, AccessError> {
    match reply.get("error").filter(|error| error.is_object()) {
        Some(error) => Err(AccessError::new(
            error["code"].as_str().unwrap_or("internal"),
            error["message"].as_str().unwrap_or("no reason given"),
        )),
        None => Ok(reply),
    }
}
