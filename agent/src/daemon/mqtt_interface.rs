//! The MQTT interface under supervision.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::board::Board;
use crate::config::mqtt::MqttConfig;
use crate::exit::{Exit, Failure};
use crate::mqtt::{ConfigurationControl, Identity, MqttCounters, MqttError, MqttInterface, RecordingControl, serve};
use crate::service::MemoryService;

/// First pause before the MQTT interface restarts after a panic; it doubles with each restart.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(60);

/// Everything needed to open it, again where need be.
pub struct MqttInterfaceParts {
    pub config: MqttConfig,
    pub identity: Identity,
    pub service: MemoryService,
    pub health: watch::Receiver<crate::health::HealthReport>,
    pub recording: Arc<dyn RecordingControl>,
    pub configuration: Arc<dyn ConfigurationControl>,
    pub clock: Arc<dyn memory_core::Clock>,
    pub zone: jiff::tz::TimeZone,
    pub media: crate::media::MediaLinks,
    pub homeassistant: watch::Receiver<crate::mqtt::homeassistant::DiscoverySettings>,
    pub counters: Arc<MqttCounters>,
    pub backups: std::path::PathBuf,
    pub backup_limits: crate::upkeep::BackupLimits,
    pub ceiling: crate::ceilings::ProgramCeiling,
    pub proofs: crate::operator::Proofs,
    pub watchdog: Arc<crate::watchdog::Watchdog>,
}

impl MqttInterfaceParts {
    pub fn interface(&self) -> MqttInterface {
        MqttInterface {
            config: self.config.clone(),
            identity: self.identity.clone(),
            service: self.service.clone(),
            health: self.health.clone(),
            recording: Arc::clone(&self.recording),
            configuration: Arc::clone(&self.configuration),
            clock: Arc::clone(&self.clock),
            zone: self.zone.clone(),
            media: self.media.clone(),
            homeassistant: self.homeassistant.clone(),
            counters: Arc::clone(&self.counters),
            backups: self.backups.clone(),
            backup_limits: self.backup_limits,
            ceiling: self.ceiling,
            proofs: self.proofs.clone(),
            watchdog: Arc::clone(&self.watchdog),
        }
    }
}

/// Serves until `shutdown`. A panic inside is counted as a restart, not as the end.
///
/// # Errors
/// [`Exit::NameTaken`] or [`Exit::Config`]: what waiting cannot mend.
pub async fn run(
    parts: MqttInterfaceParts,
    shutdown: CancellationToken,
    online: watch::Sender<bool>,
    board: Arc<Board>,
) -> Result<(), Failure> {
    if !parts.config.enabled {
        tracing::info!("mqtt.enabled is false: only `--offline` commands can ask and tell");
        shutdown.cancelled().await;
        return Ok(());
    }
    let mut backoff = BACKOFF_MIN;
    loop {
        let serving = tokio::spawn(serve(parts.interface(), shutdown.clone(), online.clone()));
        match serving.await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => {
                let exit = match error {
                    MqttError::RobotNameTaken { .. } => Exit::NameTaken,
                    MqttError::Config { .. } | MqttError::RobotName { .. } => Exit::Config,
                };
                return Err(Failure { exit, error: error.into() });
            }
            Err(panic) => {
                tracing::error!(%panic, "the MQTT interface failed; restarting it in {backoff:?}");
                board.degraded("front interface", Some(format!("failed, opened again in {} s", backoff.as_secs())));
                tokio::select! {
                    () = tokio::time::sleep(backoff) => {}
                    () = shutdown.cancelled() => return Ok(()),
                }
                board.degraded("front interface", None);
                backoff = (backoff * 2).min(BACKOFF_MAX);
            }
        }
    }
}
