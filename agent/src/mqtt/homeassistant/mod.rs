//! Announces the robot to Home Assistant by MQTT discovery, and takes the announcement back.
//!
//! One retained payload on `<prefix>/device/<id>/config` describes the device. Home Assistant reads most states from the topics
//! of the contract. What they do not have, the last event and the last person, is retained on `…/homeassistant` and follows
//! the memory: what is forgotten there disappears here.
//!
//! What was announced is noted in the memory before it is published. So an agent that starts with discovery switched off, or
//! under another name or prefix, still knows what to take back.

mod announced;
mod payload;
mod states;

use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::client::{Delivery, Gone, Message, Publication, Reliability, Sender};
use super::context::{Context, HOME_ASSISTANT};
use super::topics::Outbound;
use crate::config::{Config, HomeAssistantConfig};
use crate::health::HealthReport;
use announced::Announced;
use payload::Device;

/// Shortest time between two readings of the states.
const STATES: Duration = Duration::from_secs(1);
/// What Home Assistant says on its status topic when it starts.
const BORN: &[u8] = b"online";

/// How Home Assistant shall find this robot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// The section of the configuration.
    pub config: HomeAssistantConfig,
    /// Names of the sources that run.
    pub sources: Vec<String>,
}

impl Wanted {
    /// As a configuration says it.
    pub fn of(config: &Config) -> Self {
        let running = config.sources.iter().filter(|(_, source)| source.enabled);
        Self { config: config.homeassistant.clone(), sources: running.map(|(name, _)| name.clone()).collect() }
    }

    /// Where Home Assistant says that it has started.
    fn status_topic(&self) -> Option<String> {
        self.config.discovery.then(|| [self.config.prefix.as_str(), "status"].join("/"))
    }
}

/// The state that the connection and its receiver share.
pub(crate) struct HomeAssistant {
    wanted: watch::Receiver<Wanted>,
    born: Notify,
}

impl HomeAssistant {
    pub(super) fn new(wanted: watch::Receiver<Wanted>) -> Self {
        Self { wanted, born: Notify::new() }
    }

    /// Looks whether a message says that Home Assistant has started just now.
    pub(super) fn hear(&self, message: &Message) {
        let fresh = !message.retained && message.payload.as_ref() == BORN;
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
        announce(context, link, &now).await?;
        if now.config.discovery {
            follow(context, link, health, &mut wanted, &now).await?;
        } else if wanted.changed().await.is_err() {
            // The configuration is final.
            std::future::pending::<()>().await;
        }
    }
}

/// Publishes the states as they change, and the announcement whenever Home Assistant starts, until something else is wanted.
async fn follow(
    context: &Context,
    link: &Sender,
    health: &mut watch::Receiver<HealthReport>,
    wanted: &mut watch::Receiver<Wanted>,
    now: &Wanted,
) -> Result<(), Gone> {
    let mut published = None;
    let mut known = None;
    let mut due = Some(Instant::now());
    loop {
        tokio::select! {
            changed = wanted.changed(), if wanted.has_changed().is_ok() => if changed.is_ok() { return Ok(()) },
            () = context.homeassistant.born.notified() => {
                tracing::info!("Home Assistant has started; the robot is announced again");
                announce(context, link, now).await?;
            }
            changed = health.changed(), if health.has_changed().is_ok() => if changed.is_ok() {
                let memory = health.borrow_and_update().memory.clone();
                if known.as_ref() != Some(&memory) {
                    known = Some(memory);
                    due.get_or_insert(Instant::now() + STATES);
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
                        due = Some(Instant::now() + STATES);
                    }
                }
            }
        }
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Publishes what is wanted and takes back what was announced before and is not wanted any more.
async fn announce(context: &Context, link: &Sender, wanted: &Wanted) -> Result<(), Gone> {
    let before = Announced::read(context).await;
    if !wanted.config.discovery {
        let Some(before) = before else { return Ok(()) };
        for topic in before.topics() {
            link.publish(retained(topic.to_owned(), String::new())).await?;
        }
        tracing::info!(topic = before.topic, "the robot is removed from Home Assistant");
        context.problem(HOME_ASSISTANT, None);
        Announced::forget(context).await;
        return Ok(());
    }
    let device = Device::of(context, wanted);
    let now = device.announced();
    if let Some(before) = &before {
        for topic in before.topics().into_iter().filter(|topic| !now.topics().contains(topic)) {
            link.publish(retained(topic.to_owned(), String::new())).await?;
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
    let problem = (delivery == Delivery::Refused)
        .then(|| format!("the broker does not let engram publish to {}; check its access rules and limits", now.topic));
    context.problem(HOME_ASSISTANT, problem.as_deref());
    Ok(())
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
