//! `engram run`: the parts wired together, supervised, and drained in order.
//!
//! ```text
//! sources ─▶ encoders ─▶ MemoryService ◀─ MQTT interface ◀─ broker
//!    └─ state ─▶ board ◀─ counters ┘              ▲
//!                  └─▶ health report ─────────────┴─▶ metrics port, systemd
//! ```
//!
//! Start: memory, MQTT, `READY`, then encoders and sources in the background. An agent that can only answer is already useful,
//! and a missing broker or camera must not prevent that. End: sources, encoders, MQTT (which publishes `stopped` once
//! everything it accepted is committed), memory. Only a store that does not answer ends the program by itself.

mod board;
mod health_loop;
mod language_models;
mod mqtt_interface;
mod perceiving;
mod recording;
mod reload;
mod servers;
mod signals;
mod systemd;

use std::sync::Arc;
use std::time::Duration;

use drivers::archive::Archive;
use drivers::perception::Pace;
use memory_core::{Clock, EventId, Memory, SystemClock};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use board::{Board, SourceProbe, free_bytes};
use perceiving::{End, Perceiving};
pub use recording::{PauseSource, Recording};
use reload::Reloader;

use crate::ceilings::{Ceilings, ProgramCeiling};
use crate::config::{self, Config, Directories, LayerSources, Loaded, ThermalConfig};
use crate::exit::{Exit, Failure, OrExit};
use crate::logging::Log;
use crate::media::{MediaLinks, Recordings};
use crate::mqtt::{Identity, MqttCounters};
use crate::service::{MemoryService, ServiceOptions};
use crate::upkeep::AutomaticOptions;
use crate::watchdog::{Watchdog, Watched};
use crate::{logging, media, metrics, opening, thermal};

/// How the daemon runs, beyond the configuration.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// End when every file has been played and is embedded.
    pub exit_at_end: bool,
    /// A taken metrics port or an unusable broker at the start is an error.
    pub strict: bool,
}

/// Maximum time for the threads of the service to finish what is queued.
const MEMORY_DRAIN_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum time for the sources to deliver their last segments.
const SOURCES_DRAIN_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum time to send the last messages to the broker.
const MQTT_DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// How long `--strict` waits for the broker.
const STRICT_BROKER_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs until a signal, the end of all files with `exit_at_end`, or a broken store. `layers` are what `loaded` was made from.
///
/// # Errors
/// See the exit codes.
pub fn run(loaded: &Loaded, layers: LayerSources, options: RunOptions, log: Log) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("engram-async")
        .enable_all()
        .build()
        .or_exit(Exit::Internal)?;
    let outcome = runtime.block_on(Box::pin(serve(loaded, layers, options, log)));
    // A device that blocks in the kernel must not keep the program from ending.
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

async fn serve(loaded: &Loaded, layers: LayerSources, options: RunOptions, log: Log) -> Result<Exit, Failure> {
    let config = &loaded.config;
    logging::catch_panics();
    let stop = CancellationToken::new();
    signals::watch(stop.clone()).or_exit(Exit::Internal)?;
    let hangups = signals::hangups().or_exit(Exit::Internal)?;

    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let zone = opening::zone(config)?;
    let identity_robot = opening::robot(config)?;
    let directories = Directories::from_config(config);
    if let Some(message) = config::unusable(&directories.data) {
        return Err(Failure::new(Exit::Config, format!("data_dir cannot be used: {message}")));
    }
    for warning in config::beyond_the_disk(config) {
        tracing::warn!("{warning}; older recordings are deleted earlier");
    }
    let memory = {
        let (config, clock) = (config.clone(), Arc::clone(&clock));
        tokio::task::spawn_blocking(move || open_memory(&config, clock)).await.or_exit(Exit::Internal)??
    };
    let stats = memory.stats();
    tracing::info!(
        directory = %directories.memory.display(), episodes = stats.episodes, events = stats.events, "memory is open"
    );
    let instance = memory.instance().to_owned();
    let board = Arc::new(Board::new(Arc::clone(&clock), instance.clone(), directories.data.clone(), log.last_error));
    let reloader = Arc::new(Reloader::new(layers, config.clone(), log.level, Arc::clone(&board)));
    let recording = Arc::new(Recording::restore(memory.clone(), Arc::clone(&board)).or_exit(Exit::Store)?);
    let ceiling_mib = Ceilings::of_this_machine(&config.memory).program_mib;
    board.ceiling(ceiling_mib);
    let pace = Pace::default();
    let _thermal = watch_temperature(&config.thermal, &board, &clock, &pace).or_exit(Exit::Internal)?;
    let service_options = service_options(config, pace.clone());
    let (service, threads) =
        MemoryService::start(memory, service_options, Arc::clone(&clock)).or_exit(Exit::Internal)?;

    let language_models = language_models::start(config, &directories, &service, &board, &zone);

    let watchdog = Watchdog::new(Arc::clone(&clock));
    let _watched_threads = watch_threads(&watchdog, &service);

    let recordings = Recordings::open(config)?;
    let archive = Arc::clone(&recordings.archive);
    tidy(&archive);
    delete_recordings_of_forgotten(&service, &recordings, language_models.after_forgetting(), &board);

    let counters = Arc::new(MqttCounters::default());
    let first = health_loop::report(&board, &service, &counters, &archive);
    let (health, watched) = watch::channel(first);
    let background = CancellationToken::new();
    let exposed = metrics::Exposed { health: watched.clone(), service: service.clone() };
    servers::serve_metrics(config, options.strict, &board, exposed, &background).await?;
    servers::serve_media(config, options.strict, &board, &archive, &background).await?;
    let mut store_failed = tokio::spawn(health_loop::run(
        health,
        Arc::clone(&board),
        service.clone(),
        Arc::clone(&counters),
        Arc::clone(&archive),
        Arc::clone(&watchdog),
    ));

    let interface = mqtt_interface::MqttInterfaceParts {
        config: config.mqtt.clone(),
        identity: Identity { robot: identity_robot, instance, version: crate::build_info::VERSION.to_owned() },
        service: service.clone(),
        health: watched,
        recording: Arc::clone(&recording) as _,
        configuration: Arc::clone(&reloader) as _,
        clock: Arc::clone(&clock),
        zone,
        media: MediaLinks::new(recordings.clone(), &config.recording.server),
        homeassistant: reloader.home_assistant(),
        counters,
        backups: directories.backups.clone(),
        backup_limits: (&config.backup).into(),
        ceiling: ProgramCeiling::of_this_process(ceiling_mib),
        proofs: crate::operator::Proofs::in_directories(&directories),
        watchdog: Arc::clone(&watchdog),
    };
    servers::serve_mcp(config, options.strict, &board, &interface, &background).await?;
    let close_mqtt = CancellationToken::new();
    let (online, is_online) = watch::channel(false);
    let mut mqtt_serving = tokio::spawn(mqtt_interface::run(interface, close_mqtt.clone(), online, Arc::clone(&board)));
    if options.strict && config.mqtt.enabled {
        wait_online(is_online).await?;
    }
    systemd::ready();

    if config.sources.values().all(|source| !source.enabled) {
        tracing::info!("no source is configured: engram only remembers what it is told");
        board.degraded("sources", Some("none configured".to_owned()));
    }

    let parts = perceiving::Parts {
        service: service.clone(),
        recording: Arc::clone(&recording),
        board: Arc::clone(&board),
        clock: Arc::clone(&clock),
        archive: config.recording.enabled.then_some(archive),
        places: Arc::clone(&recordings.places),
        recordings,
        watchdog,
        pace,
        captioner: language_models.captioner.clone(),
        viewer: language_models.viewer.clone(),
        controller: language_models.controller.clone(),
    };
    let perceiving = Perceiving::start(config, parts)?;
    reloader.serve_sources(perceiving.clone());
    reloader.watch(hangups);
    let files_end = async {
        match options.exit_at_end {
            true => perceiving.ended().await,
            false => std::future::pending().await,
        }
    };

    let mut outcome = Ok(Exit::Ok);
    tokio::select! {
        () = stop.cancelled() => {}
        end = files_end => {
            tracing::info!("every file has been played");
            if let End::Failed(reason) = end {
                outcome = Err(Failure::new(Exit::Source, reason));
            }
        }
        broken = &mut store_failed => {
            outcome = Err(Failure::new(Exit::Store, broken.unwrap_or_else(|panic| panic.to_string())));
        }
        closed = &mut mqtt_serving => {
            if let Ok(Err(failure)) = closed {
                outcome = Err(failure);
            }
        }
    }

    systemd::stopping();
    language_models.stop();
    let drained = drain(perceiving, close_mqtt, mqtt_serving, &service).await;
    store_failed.abort();
    tokio::task::spawn_blocking(move || threads.drain(MEMORY_DRAIN_TIMEOUT)).await.or_exit(Exit::Internal)?;
    background.cancel();
    tracing::info!("stopped");
    outcome.and_then(|exit| drained.map(|()| exit))
}

/// Opens the memory, and forgets what language models said of events that are no more: a kill kept it from being
/// removed, or it was forgotten while no agent ran.
fn open_memory(config: &Config, clock: Arc<dyn Clock>) -> Result<Memory, Failure> {
    let memory = opening::memory(config, clock)?;
    let is_visible = |event| matches!(memory.event(EventId(event)), Ok(Some(_)));
    crate::llm::forget_known_facts(&Directories::from_config(config).data, is_visible);
    Ok(memory)
}

/// Watches the temperature, which sets the pace of the encoders.
fn watch_temperature(
    config: &ThermalConfig,
    board: &Arc<Board>,
    clock: &Arc<dyn Clock>,
    pace: &Pace,
) -> std::io::Result<thermal::Watch> {
    let machine = thermal::Machine::new(config.zones_dir.clone());
    let board = Arc::clone(board);
    let tell = Box::new(move |health| board.thermal(health));
    thermal::Watch::start(config.clone(), Box::new(machine), Arc::clone(clock), pace.clone(), tell)
}

fn service_options(config: &Config, pace: Pace) -> ServiceOptions {
    let compaction = &config.memory.compaction;
    ServiceOptions {
        compaction: AutomaticOptions {
            enabled: compaction.automatic,
            stale_percent: compaction.stale_percent,
            forgotten: Duration::from_secs(compaction.forgotten_h * 3600),
            max_bytes: config.memory.max_mib.map(|mib| mib << 20),
        },
        default_budget: Duration::from_millis(config.mqtt.limits.default_deadline_ms),
        pace,
        pose: config.pose.options(),
        ..ServiceOptions::default()
    }
}

/// Watches the threads of the service until the returned guards are dropped.
fn watch_threads(watchdog: &Arc<Watchdog>, service: &MemoryService) -> [Watched; 3] {
    let (writer, jobs, compaction) = (service.clone(), service.clone(), service.clone());
    [
        watchdog.watch("memory writer", Arc::new(move || Some(writer.writer_silence()))),
        watchdog.watch_behind("memory jobs", Arc::new(move || Some(jobs.jobs_silence()))),
        watchdog.watch_behind("compaction", Arc::new(move || Some(compaction.compaction_silence()))),
    ]
}

/// Removes the incomplete recordings of a killed run.
fn tidy(archive: &Archive) {
    match archive.tidy() {
        Ok(0) => {}
        Ok(files) => tracing::info!(files, "incomplete recordings of a killed run were removed"),
        Err(error) => tracing::warn!(%error, "cannot search for incomplete recordings of a killed run"),
    }
}

/// Deletes the recordings of what is forgotten: first what a kill kept from being deleted, then whatever is forgotten from
/// now on. `of_models` does the same for what language models said.
fn delete_recordings_of_forgotten(
    service: &MemoryService,
    recordings: &Recordings,
    of_models: impl Fn(&Memory) + Send + Sync + 'static,
    board: &Arc<Board>,
) {
    media::delete_forgotten(service.memory(), recordings);
    let (recordings, board) = (recordings.clone(), Arc::clone(board));
    service.after_forgetting(move |memory| {
        of_models(memory);
        let left = media::delete_forgotten(memory, &recordings);
        let said = format!("{left} of what was forgotten cannot be deleted; see the log");
        board.degraded("recordings", (left > 0).then_some(said));
    });
}

/// Stops the sources, then MQTT, and remembers the end of the visit to this place. Fails if MQTT did.
async fn drain(
    perceiving: Perceiving,
    close_mqtt: CancellationToken,
    mut mqtt_serving: JoinHandle<Result<(), Failure>>,
    service: &MemoryService,
) -> Result<(), Failure> {
    let sources = tokio::task::spawn_blocking(move || perceiving.stop());
    if tokio::time::timeout(SOURCES_DRAIN_TIMEOUT, sources).await.is_err() {
        tracing::error!("a source did not stop within {SOURCES_DRAIN_TIMEOUT:?}; its open segment is lost");
    }
    close_mqtt.cancel();
    let mut outcome = Ok(());
    if !mqtt_serving.is_finished() {
        match tokio::time::timeout(MQTT_DRAIN_TIMEOUT, &mut mqtt_serving).await {
            Ok(Ok(result)) => outcome = result,
            Ok(Err(_panic)) => {}
            Err(_elapsed) => tracing::warn!("the last messages were not delivered to the broker in time"),
        }
    }
    let visit = service.end_visit().into_iter().collect();
    if tokio::time::timeout(MQTT_DRAIN_TIMEOUT, service.remember_visits(visit)).await.is_err() {
        tracing::warn!("the end of the visit to this place was not remembered in time");
    }
    outcome
}

async fn wait_online(mut online: watch::Receiver<bool>) -> Result<(), Failure> {
    match tokio::time::timeout(STRICT_BROKER_TIMEOUT, online.wait_for(|online| *online)).await {
        Ok(Ok(_)) => Ok(()),
        _ => Err(Failure::new(
            Exit::Broker,
            format!(
                "not online within {STRICT_BROKER_TIMEOUT:?}, and --strict does not wait longer; see the warnings above"
            ),
        )),
    }
}
