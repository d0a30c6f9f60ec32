//! Announces the robot to Home Assistant by MQTT discovery, and takes the announcement back.
//!
//! One retained payload on `<prefix>/device/<id>/config` describes the device. Home Assistant reads most states from the topics
//! of the contract. What they do not have, the last event, the last person and the place, is retained on `…/homeassistant` and follows
//! the memory: what is forgotten there disappears here.
//!
//! What was announced is noted in the memory before it is published. So an agent that starts with discovery switched off, or
//! under another name or prefix, still knows what to take back.
//!
//! A broker that denies a publication may close the connection, which carries the answers too (Mosquitto does). So an
//! announcement that was refused, or whose connection ended before the broker's answer, is not tried again for a while.

mod announced;
mod payload;
mod states;

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::client::{Delivery, Gone, Message, Publication, Reliability, Sender};
use super::context::{Context, HOME_ASSISTANT};
use super::topics::Outbound;
use crate::config::{Config, HomeAssistantConfig};
use crate::health::HealthReport;
use announced::Announced;
use payload::Device;

/// Minimum time between two readings of the states.
const STATES_INTERVAL: Duration = Duration::from_secs(1);
/// Pause after an announcement that the broker refused.
const REFUSED_PAUSE: Duration = Duration::from_secs(600);
/// Pause after an announcement whose connection ended before the broker's answer.
const UNANSWERED_PAUSE: Duration = Duration::from_secs(60);
/// Payload that Home Assistant publishes on its status topic when it starts.
const BIRTH_MESSAGE: &[u8] = b"online";

/// How Home Assistant shall find this robot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscoverySettings {
    /// The section of the configuration.
    pub config: HomeAssistantConfig,
    /// Names of the sources that run.
    pub sources: Vec<String>,
}

impl DiscoverySettings {
    /// Reads the settings from a configuration.
    pub fn from_config(config: &Config) -> Self {
        let running = config.sources.iter().filter(|(_, source)| source.enabled);
        Self { config: config.homeassistant.clone(), sources: running.map(|(name, _)| name.clone()).collect() }
    }

    /// The device topics, as access rules name them.
    fn topics(&self) -> String {
        [self.config.prefix.as_str(), "device/+/config"].join("/")
    }

    /// Returns the topic on which Home Assistant says that it has started.
    fn status_topic(&self) -> Option<String> {
        self.config.discovery.then(|| [self.config.prefix.as_str(), "status"].join("/"))
    }
}

/// The state that the connection and its receiver share.
pub(crate) struct HomeAssistant {
    wanted: watch::Receiver<DiscoverySettings>,
    born: Notify,
    held: Mutex<Option<Held>>,
}

/// Devices that are not announced again before their time.
#[derive(Clone)]
struct Held {
    wanted: DiscoverySettings,
    until: Instant,
    /// Payload for the device.
    problem: String,
}

impl HomeAssistant {
    pub(super) fn new(wanted: watch::Receiver<DiscoverySettings>) -> Self {
        Self { wanted, born: Notify::new(), held: Mutex::new(None) }
    }

    fn hold(&self, wanted: &DiscoverySettings, pause: Duration, what: &str) {
        let problem = format!(
            "{what}; check the broker's access rules for `{}` (tried again in {} s)",
            wanted.topics(),
            pause.as_secs()
        );
        *self.held.lock() = Some(Held { wanted: wanted.clone(), until: Instant::now() + pause, problem });
    }

    fn release(&self) {
        *self.held.lock() = None;
    }

    /// Why this is not announced now; `None` if it may be.
    fn held(&self, wanted: &DiscoverySettings) -> Option<Held> {
        let held = self.held.lock();
        held.as_ref().filter(|held| held.wanted == *wanted && held.until > Instant::now()).cloned()
    }

    /// Looks whether a message says that Home Assistant has started just now.
    pub(super) fn hear(&self, message: &Message) {
        let fresh = !message.retained && message.payload.as_ref() == BIRTH_MESSAGE;
        if fresh && self.wanted.borrow().status_topic().as_ref() == Some(&message.topic) {
            self.born.notify_one();
        }
    }
}

/// Keeps the announcement and the states current on one connection, until that ends.
pub(super) async fn run(context: &Context, link: &Sender, mut health: watch::Receiver<HealthReport>) -> Gone {
    match keep(context, link, &mut health).await {
        Ok(never) => match never {},
        Err(gone) => gone,
    }
}

async fn keep(
    context: &Context,
    link: &Sender,
    health: &mut watch::Receiver<HealthReport>,
) -> Result<std::convert::Infallible, Gone> {
    let mut wanted = context.homeassistant.wanted.clone();
    let mut listening = None;
    loop {
        let now = wanted.borrow_and_update().clone();
        let status = now.status_topic();
        if listening != status {
            listen(link, listening.as_deref(), status.as_deref()).await?;
            listening = status;
        }
        if context.homeassistant.held(&now).is_none() {
            try_announcing(context, link, &now).await?;
        }
        if let Some(held) = context.homeassistant.held(&now) {
            context.problem(HOME_ASSISTANT, Some(&held.problem));
            tokio::select! {
                () = tokio::time::sleep_until(held.until) => {}
                () = changes(&mut wanted) => {}
            }
        } else if now.config.discovery {
            follow(context, link, health, &mut wanted, &now).await?;
        } else {
            changes(&mut wanted).await;
        }
    }
}

/// Publishes the states as they change, and the announcement whenever Home Assistant starts, until something else is wanted.
async fn follow(
    context: &Context,
    link: &Sender,
    health: &mut watch::Receiver<HealthReport>,
    wanted: &mut watch::Receiver<DiscoverySettings>,
    now: &DiscoverySettings,
) -> Result<(), Gone> {
    let mut published = None;
    let mut known = None;
    let mut here = None;
    let mut due = Some(Instant::now());
    loop {
        tokio::select! {
            changed = wanted.changed(), if wanted.has_changed().is_ok() => if changed.is_ok() { return Ok(()) },
            () = context.homeassistant.born.notified() => {
                tracing::info!("Home Assistant has started; the robot is announced again");
                if !try_announcing(context, link, now).await? {
                    return Ok(());
                }
            }
            changed = health.changed(), if health.has_changed().is_ok() => if changed.is_ok() {
                let memory = health.borrow_and_update().memory.clone();
                let place = states::place(context);
                if known.as_ref() != Some(&memory) || here != place {
                    (known, here) = (Some(memory), place);
                    due.get_or_insert(Instant::now() + STATES_INTERVAL);
                }
            },
            () = until(due) => {
                due = None;
                match states::read(context).await {
                    Ok(states) if published.as_ref() != Some(&states) => {
                        link.send(retained(context.topics.outbound(Outbound::HomeAssistant), states.to_string())).await?;
                        published = Some(states);
                    }
                    Ok(_) => {}
                    Err(failure) => {
                        tracing::debug!(%failure, "the states for Home Assistant could not be read; trying again");
                        due = Some(Instant::now() + STATES_INTERVAL);
                    }
                }
            }
        }
    }
}

/// Waits until something else is wanted; for ever where the configuration is final.
async fn changes(wanted: &mut watch::Receiver<DiscoverySettings>) {
    if wanted.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Announces, and remembers where that was refused or went unanswered. Returns whether the broker took it.
async fn try_announcing(context: &Context, link: &Sender, wanted: &DiscoverySettings) -> Result<bool, Gone> {
    let unanswered = "the connection to the broker ended while the robot was announced to Home Assistant";
    context.homeassistant.hold(wanted, UNANSWERED_PAUSE, unanswered);
    match announce(context, link, wanted).await? {
        None => {
            context.problem(HOME_ASSISTANT, None);
            context.homeassistant.release();
            Ok(true)
        }
        Some(topic) => {
            let refused = format!("the broker does not let engram publish to {topic}");
            context.homeassistant.hold(wanted, REFUSED_PAUSE, &refused);
            Ok(false)
        }
    }
}

/// Publishes what is wanted and takes back what was announced before and is not wanted any more. Returns the topic that the
/// broker refused, if it did.
async fn announce(context: &Context, link: &Sender, wanted: &DiscoverySettings) -> Result<Option<String>, Gone> {
    let before = Announced::read(context).await;
    if !wanted.config.discovery {
        let Some(before) = before else { return Ok(None) };
        for topic in before.topics() {
            if link.publish(retained(topic.to_owned(), String::new())).await? == Delivery::Refused {
                return Ok(Some(topic.to_owned()));
            }
        }
        tracing::info!(topic = before.topic, "the robot is removed from Home Assistant");
        Announced::forget(context).await;
        return Ok(None);
    }
    let device = Device::for_robot(context, wanted);
    let now = device.announced();
    if let Some(before) = &before {
        for topic in before.topics().into_iter().filter(|topic| !now.topics().contains(topic)) {
            if link.publish(retained(topic.to_owned(), String::new())).await? == Delivery::Refused {
                return Ok(Some(topic.to_owned()));
            }
        }
    }
    if before.as_ref() != Some(&now) {
        now.note(context).await;
    }
    // Home Assistant removes a component that is left with nothing but its platform.
    let gone = before.map(|before| before.without(&now)).unwrap_or_default();
    if !gone.is_empty() {
        link.publish(retained(now.topic.clone(), device.payload(&gone))).await?;
    }
    let delivery = link.publish(retained(now.topic.clone(), device.payload(&[]))).await?;
    Ok((delivery == Delivery::Refused).then_some(now.topic))
}

async fn listen(link: &Sender, before: Option<&str>, now: Option<&str>) -> Result<(), Gone> {
    if let Some(before) = before {
        link.unsubscribe(vec![before.to_owned()]).await?;
    }
    let Some(now) = now else { return Ok(()) };
    let granted = link.subscribe(&[(now.to_owned(), Reliability::AtLeastOnce)]).await?;
    if granted.iter().any(|granted| !granted) {
        // The announcement is retained: Home Assistant finds it without being told again.
        tracing::warn!(topic = now, "the broker does not let engram subscribe to it; check its access rules");
    }
    Ok(())
}

fn retained(topic: String, payload: String) -> Publication {
    Publication { topic, payload: payload.into(), retain: true, ..Publication::default() }
}
