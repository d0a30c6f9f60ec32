//! Requests to the running agent: their failures as exit codes.

use std::time::Duration;

use serde_json::Value as Json;

use crate::config::{Config, Loaded, Origin};
use crate::exit::{Exit, Failure};
use crate::mqtt::request::{Client, RequestError};
use crate::opening;

/// Maximum time for the running agent to answer a command that reads or names.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to the broker of the configuration, to talk to its robot.
///
/// # Errors
/// [`Exit::Broker`] if the broker cannot be reached or refuses.
pub async fn connect(config: &Config) -> Result<Client, Failure> {
    if !config.mqtt.enabled {
        return Err(Failure::new(
            Exit::Config,
            "mqtt.enabled is false, so no agent can be asked over MQTT; use --offline",
        ));
    }
    Client::connect(&config.mqtt, &opening::robot(config)?).await.map_err(failure)
}

/// Adds where the broker and the robot were named, if not on the command line: a file that nobody thinks of any more may have
/// done it.
pub fn with_origins(failure: Failure, loaded: &Loaded) -> Failure {
    if !matches!(failure.exit, Exit::Broker | Exit::Timeout) {
        return failure;
    }
    let set = |key: &&str| match loaded.origin(key) {
        origin @ (Origin::File { .. } | Origin::Environment(_)) => Some(format!("{key} is set in {origin}")),
        _ => None,
    };
    let places: Vec<String> = ["mqtt.host", "mqtt.port", "mqtt.root", "robot"].iter().filter_map(set).collect();
    if places.is_empty() {
        return failure;
    }
    Failure { exit: failure.exit, error: anyhow::anyhow!("{:#} ({})", failure.error, places.join(", ")) }
}

/// The reply, unless there is none or it is an error.
///
/// # Errors
/// [`Exit::Timeout`] if nobody answers, [`Exit::Broker`] if the connection breaks, else what the agent's error means.
pub fn checked(reply: Result<Json, RequestError>) -> Result<Json, Failure> {
    let reply = reply.map_err(failure)?;
    match reply.get("error").filter(|error| error.is_object()) {
        Some(error) => Err(refused(error)),
        None => Ok(reply),
    }
}

fn failure(error: RequestError) -> Failure {
    let (exit, advice) = match &error {
        RequestError::Config(_) | RequestError::Name { .. } => (Exit::Config, None),
        RequestError::NobodyThere(_) => (Exit::Timeout, Some("start it with `engram run`, or use --offline")),
        RequestError::Timeout { .. } => {
            (Exit::Timeout, Some("is `engram run` on, under this --robot? --offline asks the memory itself"))
        }
        _ => (Exit::Broker, None),
    };
    let message = match advice {
        Some(advice) => format!("{error}; {advice}"),
        None => error.to_string(),
    };
    Failure::new(exit, message)
}

/// The failure that an `error` of the contract means.
fn refused(error: &Json) -> Failure {
    let code = error["code"].as_str().unwrap_or("internal");
    let exit = match code {
        "deadline" => Exit::Timeout,
        "storage_full" => Exit::Store,
        "internal" => Exit::Internal,
        _ => Exit::Refused,
    };
    Failure::new(exit, format!("{code}: {}", error["message"].as_str().unwrap_or("no reason given")))
}
