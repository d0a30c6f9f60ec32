//! An engram that serves: memory, worker threads and front door in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::ceilings::ProgramCeiling;
use agent::config::mqtt::MqttConfig;
use agent::health::HealthReport;
use agent::mqtt::{
    ConfigurationControl, Identity, MqttCounters, MqttError, MqttInterface, RecordingControl, Reloaded, serve,
};
use agent::service::{MemoryService, ServiceOptions, ServiceThreads};
use anyhow::{Context, Result, bail};
use engram_tests::{Broker, eventually};
use memory_core::store::{MemoryStorage, Storage};
use memory_core::{Clock, Memory, MemoryOptions, SystemClock};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Long enough for a loaded machine, short enough to end a hanging test.
pub const WAIT: Duration = Duration::from_secs(20);

/// Name of the robot in these tests.
pub const NAME: &str = "kitchen";

/// `engram/kitchen/<leaf>`
pub fn topic(leaf: &str) -> String {
    format!("engram/{NAME}/{leaf}")
}

#[derive(Default)]
pub struct Switch {
    paused: AtomicBool,
}

/// A configuration that never changes.
struct Unchanged;

impl ConfigurationControl for Unchanged {
    fn reload(&self) -> std::result::Result<Reloaded, String> {
        Ok(Reloaded::default())
    }
}

impl RecordingControl for Switch {
    fn pause(&self) -> Result<(), String> {
        self.paused.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn resume(&self) -> Result<(), String> {
        self.paused.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn paused(&self) -> bool {
        self.paused.load(Ordering::SeqCst)
    }
}

/// The section of the configuration for `broker`.
pub fn config(broker: &Broker) -> MqttConfig {
    MqttConfig { host: "127.0.0.1".to_owned(), port: Some(broker.port()), reconnect_max_s: 1, ..MqttConfig::default() }
}

pub struct Robot {
    // Before the runtime, so that threads end while it still runs.
    threads: Option<ServiceThreads>,
    serving: Option<JoinHandle<Result<(), MqttError>>>,
    shutdown: CancellationToken,
    online: watch::Receiver<bool>,
    pub health: watch::Sender<HealthReport>,
    pub counters: Arc<MqttCounters>,
    pub recording: Arc<Switch>,
    pub service: MemoryService,
    runtime: Runtime,
}

impl Robot {
    /// Serves on `broker` with an empty memory, and is online.
    pub fn online(broker: &Broker) -> Result<Self> {
        let robot = Self::start(config(broker), Arc::new(MemoryStorage::new()))?;
        robot.wait_online()?;
        Ok(robot)
    }

    /// Begins to serve with the memory in `storage`.
    pub fn start(config: MqttConfig, storage: Arc<dyn Storage>) -> Result<Self> {
        Self::start_below(0, config, storage)
    }

    /// The same with a ceiling for the whole program, MiB; 0: none.
    pub fn start_below(ceiling_mib: u64, config: MqttConfig, storage: Arc<dyn Storage>) -> Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let options = MemoryOptions {
            zone: jiff::tz::TimeZone::UTC,
            max_bytes: None,
            cache_bytes: 8 << 20,
            index: Default::default(),
        };
        // The memory of a robot that just crashed closes when its last question is answered.
        let memory = eventually("the memory opens", WAIT, || {
            Memory::open_in(Arc::clone(&storage), options.clone(), Arc::clone(&clock)).ok()
        })?;
        Self::with_memory(config, memory, clock, ceiling_mib)
    }

    fn with_memory(config: MqttConfig, memory: Memory, clock: Arc<dyn Clock>, ceiling_mib: u64) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let identity = Identity {
            robot: NAME.to_owned(),
            instance: memory.instance().to_owned(),
            version: "0.0.0-test".to_owned(),
        };
        let (service, threads) = MemoryService::start(memory, ServiceOptions::default(), Arc::clone(&clock))?;
        let (health, reports) = watch::channel(HealthReport::default());
        let (online_sender, online) = watch::channel(false);
        let shutdown = CancellationToken::new();
        let counters = Arc::new(MqttCounters::default());
        let recording = Arc::new(Switch::default());
        let watchdog = agent::watchdog::Watchdog::new(Arc::clone(&clock));
        let door = MqttInterface {
            config,
            identity,
            service: service.clone(),
            health: reports,
            recording: Arc::clone(&recording) as Arc<dyn RecordingControl>,
            configuration: Arc::new(Unchanged),
            homeassistant: watch::channel(Default::default()).1,
            clock,
            zone: jiff::tz::TimeZone::UTC,
            media: agent::media::MediaLinks::default(),
            counters: Arc::clone(&counters),
            backups: std::env::temp_dir(),
            backup_limits: agent::upkeep::BackupLimits::default(),
            ceiling: ProgramCeiling::of_this_process(ceiling_mib),
            proofs: agent::operator::Proofs::at(&std::env::temp_dir()),
            watchdog,
        };
        let serving = runtime.spawn(serve(door, shutdown.clone(), online_sender));
        Ok(Self {
            threads: Some(threads),
            serving: Some(serving),
            shutdown,
            online,
            health,
            counters,
            recording,
            service,
            runtime,
        })
    }

    pub fn is_online(&self) -> bool {
        *self.online.borrow()
    }

    pub fn wait_online(&self) -> Result<()> {
        eventually("online", WAIT, || self.is_online().then_some(()))
            .with_context(|| format!("last error: {:?}", self.counters.last_error()))
    }

    pub fn wait_offline(&self) -> Result<()> {
        eventually("not online", WAIT, || (!self.is_online()).then_some(()))
    }

    /// Waits until the memory has accepted `count` observations.
    pub fn wait_observations(&self, count: u64) -> Result<()> {
        let memory = self.service.memory();
        eventually("observations", WAIT, || (memory.stats().observations >= count).then_some(()))
            .with_context(|| format!("{:?}; {:?}", memory.stats(), self.counters.snapshot()))
    }

    /// Waits until the front door closes by itself.
    pub fn outcome(&mut self) -> Result<Result<(), MqttError>> {
        let serving = self.serving.take().context("it serves")?;
        let ended = self.runtime.block_on(async { tokio::time::timeout(WAIT, serving).await });
        match ended {
            Ok(outcome) => Ok(outcome?),
            Err(_) => bail!("it serves on"),
        }
    }

    /// Whether the front door has closed by itself.
    pub fn has_left(&self) -> bool {
        self.serving.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// A clean exit.
    pub fn stop(mut self) -> Result<()> {
        self.shutdown.cancel();
        if self.serving.is_some() {
            self.outcome()??;
        }
        if let Some(threads) = self.threads.take() {
            threads.drain(WAIT);
        }
        Ok(())
    }

    /// The connections break off without a word, as when the process is killed.
    pub fn crash(mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
        }
    }
}

impl Drop for Robot {
    fn drop(&mut self) {
        if let Some(serving) = self.serving.take() {
            serving.abort();
        }
        if let Some(threads) = self.threads.take() {
            threads.drain(WAIT);
        }
    }
}
