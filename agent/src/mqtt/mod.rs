//! The MQTT interface. `docs/mqtt.md` is its contract.
//!
//! There are two connections. `…-in` takes observations and `cmd/forget`. Its session outlives restarts, and every message
//! is acknowledged by hand after its commit, in order of receipt, and only on the connection that brought it. `…-ask` takes
//! questions and the other commands and carries everything that Engram publishes. It starts clean, so that old questions
//! are not answered hours later. Neither event loop waits for the memory.

mod addressed;
pub(crate) mod ask;
mod backoff;
mod beat;
pub(crate) mod client;
pub(crate) mod commands;
mod connections;
mod context;
#[cfg(test)]
mod contract_tests;
mod conversations;
mod counters;
mod dispute;
pub(crate) mod entities;
pub(crate) mod episodes;
pub(crate) mod forget;
mod forgetting;
#[cfg(test)]
mod fuzz_tests;
pub mod gists;
pub mod homeassistant;
mod ingest;
mod limits;
mod local;
mod looking;
pub(crate) mod observe;
mod outbox;
mod picture;
pub(crate) mod places;
mod presence;
pub(crate) mod procedure;
pub(crate) mod reply;
pub mod request;
mod requests;
pub(crate) mod search;
mod shares;
mod tls;
mod trouble;
pub(crate) mod upkeep;

use std::sync::Arc;

use memory_core::Clock;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::config::mqtt::MqttConfig;
use crate::health::HealthReport;
pub(crate) use crate::json::{fields, pose};
use crate::operator::Proofs;
use crate::service::MemoryService;
pub use crate::topics;
use crate::upkeep::BackupLimits;
use crate::watchdog::Watchdog;
pub use counters::{Counter, MqttCounters};
pub use local::LocalAccess;

/// Identity of this instance on the broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Name of the robot, second level of every topic.
    pub robot: String,
    /// SeededRandom id of the memory.
    pub instance: String,
    /// Version of the program.
    pub version: String,
}

/// Stops and starts recording and perceiving (`cmd/pause`, `cmd/resume`).
pub trait RecordingControl: Send + Sync {
    /// Stops; holds over restarts.
    ///
    /// # Errors
    /// Says why it goes on.
    fn pause(&self) -> Result<(), String>;
    /// Starts again.
    ///
    /// # Errors
    /// Says why it stays paused.
    fn resume(&self) -> Result<(), String>;
    /// Whether it is stopped.
    fn paused(&self) -> bool;
}

/// Takes a changed configuration into use (`cmd/reload`).
pub trait ConfigurationControl: Send + Sync {
    /// Reads the configuration again and applies what can be while the program runs.
    ///
    /// # Errors
    /// What is wrong with it; nothing was applied.
    fn reload(&self) -> Result<Reloaded, String>;
}

/// Result of a reload: the keys that changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Reloaded {
    /// Keys in use now.
    pub applied: Vec<String>,
    /// Keys that wait for a restart.
    pub restart: Vec<String>,
}

/// Why [`serve`] ended for good. A broker that is away or refuses the password does not end it: that is retried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MqttError {
    /// Another live engram served this robot name on this broker before this one did.
    #[error(
        "another engram (instance {other}) already serves the robot `{robot}` on this broker; set a different `robot` in \
         the configuration of one of the two, or stop the other"
    )]
    RobotNameTaken {
        /// The name.
        robot: String,
        /// The other's id.
        other: String,
    },
    /// The robot's name cannot be part of a topic.
    #[error("the robot name `{robot}` {error}; set `robot` in the configuration")]
    RobotName {
        /// The name.
        robot: String,
        /// What is wrong with it.
        error: topics::NameError,
    },
    /// The configuration cannot be used.
    #[error("mqtt.{key} {message}")]
    Config {
        /// The key below `mqtt`.
        key: &'static str,
        /// What is wrong and what to do.
        message: String,
    },
}

/// Everything that [`serve`] needs.
pub struct MqttInterface {
    /// The section of the configuration.
    pub config: MqttConfig,
    /// Identity of this instance.
    pub identity: Identity,
    /// The memory behind its queues.
    pub service: MemoryService,
    /// The report to publish, kept current by the program.
    pub health: watch::Receiver<HealthReport>,
    /// Pauses and resumes recording.
    pub recording: Arc<dyn RecordingControl>,
    /// Takes a changed configuration into use.
    pub configuration: Arc<dyn ConfigurationControl>,
    /// The injected clock.
    pub clock: Arc<dyn Clock>,
    /// Zone in which times are written.
    pub zone: jiff::tz::TimeZone,
    /// Addresses at which evidence can be viewed.
    pub media: crate::media::MediaLinks,
    /// How Home Assistant shall find this robot; changes with the configuration.
    pub homeassistant: watch::Receiver<homeassistant::DiscoverySettings>,
    /// Counters, shown in `health.mqtt`.
    pub counters: Arc<MqttCounters>,
    /// Directory of backups and exports, which no command leaves.
    pub backups: std::path::PathBuf,
    /// How much they may take.
    pub backup_limits: BackupLimits,
    /// Limits of the program.
    pub ceiling: crate::ceilings::ProgramCeiling,
    /// Proofs that a command comes from the operator's own command line.
    pub proofs: Proofs,
    /// Watches the two clients and their event loops.
    pub watchdog: Arc<Watchdog>,
}

/// Serves until `shutdown`, then leaves cleanly: takes nothing new, finishes what it has, says `stopped`. `online` turns
/// true when `online` was published, and false while the connection is away.
///
/// # Errors
/// See [`MqttError`].
pub async fn serve(
    interface: MqttInterface,
    shutdown: CancellationToken,
    online: watch::Sender<bool>,
) -> Result<(), MqttError> {
    if !interface.config.enabled {
        shutdown.cancelled().await;
        return Ok(());
    }
    let (context, health) = context::Context::new(interface)?;
    let context = Arc::new(context);
    let (claimed, may_serve) = watch::channel(false);
    let (observing, subscribed) = watch::channel(false);
    let stop_in = CancellationToken::new();
    let in_connection = connections::InConnection {
        context: Arc::clone(&context),
        claimed: may_serve,
        subscribed: observing,
        stop: stop_in.clone(),
    };
    let heartbeat = context.watchdog.heartbeat("mqtt in");
    let in_connection =
        AbortOnDropHandle::new(tokio::spawn(async move { heartbeat.beside(in_connection.run()).await }));
    let heartbeat = context.watchdog.heartbeat("mqtt ask");
    let ask = connections::AskConnection {
        context,
        health,
        claimed,
        has_served: false,
        subscribed,
        shutdown,
        online,
        stop_in,
        in_connection,
    };
    heartbeat.beside(Box::pin(ask.run())).await
}
