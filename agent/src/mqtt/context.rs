//! The state that all parts of the MQTT interface share.

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::Clock;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::{Broker, ConnectionEnd, EndKind};
use super::commands::CommandName;
use super::conversations::Conversations;
use super::fields::TimeBase;
use super::forgetting::Forgetting;
use super::homeassistant::HomeAssistant;
use super::limits::TokenBucket;
use super::outbox::Outbox;
use super::reply::{Code, Refusal, Route, Router};
use super::shares::Shares;
use super::topics::{ReplyPolicy, Topics};
use super::{ConfigurationControl, Identity, MqttCounters, MqttError, MqttInterface, RecordingControl};
use crate::ceilings::ProgramCeiling;
use crate::config::mqtt::MqttConfig;
use crate::media::{MediaLinks, Pictures};
use crate::operator::Proofs;
use crate::service::MemoryService;
use crate::upkeep::BackupLimits;
use crate::watchdog::Watchdog;

/// Parts of the MQTT interface that can fail.
pub const CONNECTION_IN: &str = "connection in";
pub const CONNECTION_ASK: &str = "connection ask";
pub const RIGHTS_IN: &str = "rights in";
pub const RIGHTS_ASK: &str = "rights ask";
pub const STORAGE: &str = "storage";
pub const POSE: &str = "pose";
pub const HOME_ASSISTANT: &str = "home assistant";

/// Maximum number of questions and commands in progress.
const MAX_REQUESTS: usize = 512;
/// Maximum number of questions in progress whose answers go to one topic: half the queue of the recall pool.
const MAX_QUESTIONS_PER_TOPIC: usize = 32;

pub struct Context {
    pub config: MqttConfig,
    pub broker: Broker,
    pub topics: Topics,
    pub policy: ReplyPolicy,
    pub identity: Identity,
    pub service: MemoryService,
    pub recording: Arc<dyn RecordingControl>,
    pub configuration: Arc<dyn ConfigurationControl>,
    /// Recording was paused or resumed.
    pub recording_changed: Notify,
    pub clock: Arc<dyn Clock>,
    pub zone: TimeZone,
    pub media: MediaLinks,
    pub pictures: Pictures,
    pub homeassistant: HomeAssistant,
    pub counters: Arc<MqttCounters>,
    pub backups: std::path::PathBuf,
    pub backup_limits: BackupLimits,
    /// Limits of the program.
    pub ceiling: ProgramCeiling,
    pub proofs: Proofs,
    pub watchdog: Arc<Watchdog>,
    pub outbox: Outbox,
    /// Questions and commands under way.
    pub requests: TaskTracker,
    pub slots: Arc<Semaphore>,
    /// Questions under way, by their askers.
    pub shares: Arc<Shares>,
    /// The last questions, for those that go on from them.
    pub conversations: Conversations,
    /// Cancelled when nothing new is taken.
    pub leaving: CancellationToken,
    /// Requests to forget, and which connection answers them.
    pub forgetting: Forgetting,
    /// Held while the store is checked: one reading of everything at a time.
    pub checking: tokio::sync::Mutex<()>,
    asks: Mutex<TokenBucket>,
    observations: Mutex<TokenBucket>,
    poses: Mutex<TokenBucket>,
}

impl Context {
    pub fn new(
        interface: MqttInterface,
    ) -> Result<(Self, tokio::sync::watch::Receiver<crate::health::HealthReport>), MqttError> {
        let MqttInterface {
            config,
            identity,
            service,
            health,
            recording,
            configuration,
            clock,
            zone,
            media,
            homeassistant,
            counters,
            backups,
            backup_limits,
            ceiling,
            proofs,
            watchdog,
        } = interface;
        let topics = Topics::new(&config.root, &identity.robot)
            .map_err(|error| MqttError::RobotName { robot: identity.robot.clone(), error })?;
        let now = clock.monotonic();
        let limits = &config.limits;
        let poses_per_s = service.robot_path().options().max_per_s;
        let context = Self {
            broker: Broker::new(&config)?,
            topics,
            policy: ReplyPolicy::new(&config.root, config.reply_prefixes.as_deref()),
            recording_changed: Notify::new(),
            outbox: Outbox::new(Arc::clone(&counters)),
            requests: TaskTracker::new(),
            slots: Arc::new(Semaphore::new(MAX_REQUESTS)),
            shares: Arc::new(Shares::new(MAX_QUESTIONS_PER_TOPIC)),
            conversations: Conversations::default(),
            leaving: CancellationToken::new(),
            forgetting: Forgetting::default(),
            homeassistant: HomeAssistant::new(homeassistant),
            checking: tokio::sync::Mutex::default(),
            asks: Mutex::new(TokenBucket::new(limits.asks_per_s, limits.ask_burst, now)),
            observations: Mutex::new(TokenBucket::new(limits.observations_per_s, limits.observations_per_s, now)),
            poses: Mutex::new(TokenBucket::new(poses_per_s, poses_per_s, now)),
            config,
            identity,
            service,
            recording,
            configuration,
            clock,
            zone,
            pictures: Pictures::new(media.clone()),
            media,
            counters,
            backups,
            backup_limits,
            ceiling,
            proofs,
            watchdog,
        };
        Ok((context, health))
    }

    pub fn router(&self) -> Router<'_> {
        Router { topics: &self.topics, policy: &self.policy }
    }

    /// Sends an answer to its destination; without one there is nothing to do.
    pub fn answer(&self, route: &Route, body: &Value, patience: Duration) {
        if let Some(address) = &route.address {
            self.outbox.reply(address.clone(), body, patience);
        }
    }

    /// Returns the reference time for a request that arrives now.
    pub fn moment(&self) -> TimeBase {
        TimeBase { now: self.clock.now(), zone: self.zone.clone() }
    }

    /// Whether one more question or command may come now.
    pub fn admit(&self) -> bool {
        self.asks.lock().try_take(self.clock.monotonic())
    }

    /// Whether a command may be done now.
    ///
    /// # Errors
    /// `busy`: too many requests a second, or the program takes more memory than it may and the command would take more.
    pub fn admit_command(&self, name: CommandName) -> Result<(), Refusal> {
        if !self.admit() {
            return Err(Refusal::new(
                Code::Busy,
                "more requests a second than mqtt.limits.asks_per_s; try again in a moment",
            ));
        }
        if !name.takes_memory() {
            return Ok(());
        }
        self.ceiling.check().map_err(|above| Refusal::new(Code::Busy, above))
    }

    /// Whether one more pose of the robot may come now.
    pub fn admit_pose(&self) -> bool {
        self.poses.lock().try_take(self.clock.monotonic())
    }

    /// Counts `n` observations and says how long to take no more of them.
    pub fn pace(&self, n: usize) -> Duration {
        self.observations.lock().take_and_wait(n, self.clock.monotonic())
    }

    /// Makes the end of a connection known: counted, shown in `health`, and logged when it is news.
    pub fn report(&self, part: &'static str, end: &ConnectionEnd) {
        self.counters.connection_failures.increment();
        let message = match end.kind {
            EndKind::TakenOver => format!(
                "{}; another program has the same client id: does a second engram run on a copy of this memory?",
                end.message
            ),
            _ => end.message.clone(),
        };
        self.problem(part, Some(&message));
    }

    /// Sets or clears what is wrong with a part; news are logged.
    pub fn problem(&self, part: &'static str, problem: Option<&str>) {
        if self.counters.set_problem(part, problem) {
            match problem {
                Some(message) => tracing::warn!(part, "{message}"),
                None => tracing::info!(part, "recovered"),
            }
        }
    }
}
