//! Where a command is carried out: on a store of this machine, or by the agent that serves it, which may be on another one.
//!
//! A store that nobody uses is opened. The agent is asked by MQTT where it uses the store, where `--robot`, `--mqtt-host` or
//! `--mqtt-port` name it, and where this machine has no memory. `--data-dir` names a memory of this machine, whatever else does.

use std::sync::Arc;
use std::time::Duration;

use memory_core::store::DirStorage;
use memory_core::{Memory, OpenError, SystemClock};
use serde_json::Value as Json;

use super::{block_on, requester};
use crate::config::{Config, Directories, Loaded, Origin};
use crate::exit::{Exit, Failure};
use crate::opening;
use crate::operator::{self, Proof};

/// Place where a command is carried out.
pub enum CommandTarget {
    /// The store, opened.
    Store(Memory),
    /// The agent.
    Agent(RunningAgent),
}

/// An agent that is asked by MQTT.
#[derive(Debug)]
pub struct RunningAgent {
    why: Why,
    loaded: Box<Loaded>,
}

#[derive(Debug)]
enum Why {
    /// The command opens the store of this machine.
    InUse(String),
    /// Flags name it.
    Named,
    /// There is no memory here.
    NoMemory(String),
}

/// Finds out where; opens the store if that is the place.
///
/// # Errors
/// [`Exit::Store`] if the store cannot be opened and nobody else can be asked.
pub fn open(loaded: &Loaded, clock: Arc<SystemClock>) -> Result<CommandTarget, Failure> {
    if is_named(loaded) {
        return Ok(CommandTarget::Agent(RunningAgent { why: Why::Named, loaded: Box::new(loaded.clone()) }));
    }
    match opening::existing_memory(&loaded.config, clock) {
        Ok(memory) => Ok(CommandTarget::Store(memory)),
        Err(failure) => elsewhere(loaded, failure),
    }
}

/// The agent that can be asked instead of a store that cannot be opened.
///
/// # Errors
/// `failure`, where there is none.
pub fn elsewhere(loaded: &Loaded, failure: Failure) -> Result<CommandTarget, Failure> {
    if failure.error.downcast_ref().is_some_and(OpenError::is_in_use) {
        let message = format!("{:#}", failure.error);
        return Ok(CommandTarget::Agent(RunningAgent { why: Why::InUse(message), loaded: Box::new(loaded.clone()) }));
    }
    let failure = match loaded.origin("data_dir") {
        origin @ (Origin::File { .. } | Origin::Environment(_)) if !has_memory(&loaded.config) => {
            let error = anyhow::anyhow!("{:#} (data_dir is set in {origin})", failure.error);
            Failure { exit: failure.exit, error }
        }
        _ => failure,
    };
    let message = format!("{:#}", failure.error);
    let chosen = matches!(loaded.origin("data_dir"), Origin::Flag(_));
    if has_memory(&loaded.config) || chosen || !loaded.config.mqtt.enabled {
        return Err(failure);
    }
    Ok(CommandTarget::Agent(RunningAgent { why: Why::NoMemory(message), loaded: Box::new(loaded.clone()) }))
}

/// Whether flags name an agent and none names a memory.
pub fn is_named(loaded: &Loaded) -> bool {
    let flag = |key: &str| matches!(loaded.origin(key), Origin::Flag(_));
    ["robot", "mqtt.host", "mqtt.port"].into_iter().any(flag) && !flag("data_dir")
}

fn has_memory(config: &Config) -> bool {
    DirStorage::new(Directories::from_config(config).memory).exists()
}

/// Whether a host is this machine, by its name.
fn is_here(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl RunningAgent {
    /// Whether its files need not be on this machine.
    pub fn may_be_elsewhere(&self) -> bool {
        !matches!(self.why, Why::InUse(_))
    }

    /// Sends a command and waits for what came of it.
    ///
    /// # Errors
    /// As [`requester::checked`]; the message says why the agent was asked.
    pub fn command(&self, config: &Config, name: &str, mut body: Json, patience: Duration) -> Result<Json, Failure> {
        // Who may not write there is obeyed as anybody else on the broker is. A machine without a memory gets no directory, and
        // the broker of another machine learns nothing that opens this one.
        let ours = !self.may_be_elsewhere() || is_here(&config.mqtt.host);
        let proof =
            (ours && has_memory(config)).then(|| Proof::leave(&Directories::from_config(config), name).ok()).flatten();
        if let Some(proof) = &proof {
            body[operator::PROOF_FIELD] = proof.name().into();
        }
        let reply = block_on(async {
            let client = requester::connect(config).await?;
            let reply = client.command(name, body, patience).await;
            client.close().await;
            requester::checked(reply)
        });
        reply.map_err(|failure| {
            let failure = requester::with_origins(failure, &self.loaded);
            // What the agent refuses is no matter of where it is.
            let context = match &self.why {
                Why::InUse(message) | Why::NoMemory(message) if failure.exit != Exit::Refused => message,
                _ => return failure,
            };
            let error = failure.error.context(format!("{context}; asked the agent by MQTT instead"));
            Failure { exit: failure.exit, error }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_here() {
        for host in ["localhost", "127.0.0.1", "127.1.2.3", "::1"] {
            assert!(is_here(host), "{host}");
        }
        for host in ["robot.local", "10.0.0.1", "localhost.example", "0.0.0.0"] {
            assert!(!is_here(host), "{host}");
        }
    }
}
