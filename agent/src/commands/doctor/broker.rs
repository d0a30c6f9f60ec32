//! The broker: reachable, allowed, quick, and who serves the robot.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use memory_core::{Clock, SystemClock};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{Finding, Report, poses};
use crate::config::Config;
use crate::mqtt::client::{Broker, Delivery, EndKind, Link, LinkOptions, Publication, Reliability};
use crate::opening;
use crate::topics::{Outbound, Topics};

/// Maximum time for the broker to return a message.
const ROUND_TRIP_TIMEOUT: Duration = Duration::from_secs(5);
/// Delayed acknowledgements cost 40 ms and more; without them a local broker takes less than one.
const SLOW_ROUND_TRIP: Duration = Duration::from_millis(30);

pub async fn examine(config: &Config, report: &mut Report) {
    if !config.mqtt.enabled {
        let step = "set mqtt.enabled = true, or ask with --offline";
        report.say(Finding::warning("broker", "mqtt.enabled is false: only `--offline` commands can ask", step));
        return;
    }
    let place = format!("{}:{}", config.mqtt.host, config.mqtt.port());
    let topics = match opening::robot(config).and_then(|robot| {
        Topics::new(&config.mqtt.root, &robot)
            .map_err(|fault| crate::exit::Failure::new(crate::exit::Exit::Config, fault))
    }) {
        Ok(topics) => topics,
        Err(failure) => {
            let step = "set `robot` to a name without + # /";
            report.say(Finding::error("robot name", format!("{:#}", failure.error), step));
            return;
        }
    };
    let broker = match Broker::new(&config.mqtt) {
        Ok(broker) => broker,
        Err(error) => {
            report.say(Finding::error("broker", error.to_string(), "correct the named key"));
            return;
        }
    };
    let heard = Arc::new(HeardMessages::default());
    let own = format!("engram-doctor-{}", std::process::id());
    let Ok(echo) = topics.answer(&own) else { return };
    let status_topic = topics.outbound(Outbound::Status);
    let on_message = {
        let (heard, status_topic, echo) = (Arc::clone(&heard), status_topic.clone(), echo.clone());
        let (pose_topic, clock) = (topics.pose(), SystemClock::new());
        move |message: crate::mqtt::client::Message| {
            if message.topic == pose_topic && !message.retained {
                heard.poses.push(clock.now(), &message.payload);
            } else if message.topic == status_topic {
                *heard.status.lock() = Some(String::from_utf8_lossy(&message.payload).into_owned());
            } else if message.topic == echo {
                heard.echo.notify_one();
            }
        }
    };
    let options = LinkOptions { client_id: own, ..LinkOptions::default() };
    let mut link = match broker.connect(options, on_message).await {
        Ok(link) => link,
        Err(end) => {
            let step = match end.kind {
                EndKind::Refused => "correct mqtt.username and mqtt.password_file, or the broker's access rules",
                EndKind::Untrusted => "the broker is there: correct its certificate, mqtt.tls or mqtt.host",
                EndKind::NoSuchHost => "correct mqtt.host, or write the broker's address",
                _ => "start the broker (sudo systemctl start mosquitto), or set mqtt.host and mqtt.port",
            };
            report.say(Finding::error("broker", end.message, step));
            return;
        }
    };
    let outcome = rights_and_speed(&mut link, &topics, &echo, &status_topic, &heard).await;
    match outcome {
        Ok(BrokerRights { denied, round_trip }) => {
            if !denied.is_empty() {
                report.say(Finding::error(
                    "broker rights",
                    format!("{place} denies: {}", denied.join(", ")),
                    "allow this user to read and write below the robot's topics",
                ));
            }
            match round_trip {
                Some(time) if time > SLOW_ROUND_TRIP => report.say(Finding::warning(
                    "broker",
                    format!("{place} answers in {:.2} ms", time.as_secs_f64() * 1e3),
                    "set `set_tcp_nodelay true` in mosquitto.conf: delayed acknowledgements cost this, not work",
                )),
                Some(time) => {
                    report.say(Finding::ok("broker", format!("{place} answers in {:.2} ms", time.as_secs_f64() * 1e3)));
                }
                None => report.say(Finding::error(
                    "broker",
                    format!("{place} takes a message and does not bring it back"),
                    "look at the broker's log and its access rules",
                )),
            }
        }
        Err(message) => report.say(Finding::error("broker", message, "look at the broker's log")),
    }
    let robot = topics.robot();
    let status = heard.status.lock().clone();
    match status.as_deref() {
        Some("online") => report.say(Finding::ok("agent", format!("`{robot}` is online"))),
        Some(other) => report.say(Finding::ok("agent", format!("`{robot}` is {other}"))),
        None => {
            report.say(Finding::ok("agent", format!("no agent has served `{robot}` yet; start one with `engram run`")))
        }
    }
    // Poses are optional. If a robot sends them, it matters whether they arrive.
    if link.during(tokio::time::sleep(poses::LISTEN_TIME)).await.is_ok() {
        report.say(heard.poses.finding(&topics.pose(), &config.pose.options()));
    }
    link.close(Duration::from_secs(1)).await;
}

#[derive(Default)]
struct HeardMessages {
    echo: Notify,
    status: Mutex<Option<String>>,
    poses: poses::HeardPoses,
}

struct BrokerRights {
    denied: Vec<String>,
    round_trip: Option<Duration>,
}

async fn rights_and_speed(
    link: &mut Link,
    topics: &Topics,
    echo: &str,
    status: &str,
    heard: &HeardMessages,
) -> Result<BrokerRights, String> {
    let sender = link.sender().clone();
    let wanted = [echo.to_owned(), status.to_owned(), topics.commands(), topics.pose()];
    let filters = wanted.clone().map(|filter| (filter, Reliability::AtMostOnce));
    let granted =
        link.during(sender.subscribe(&filters)).await.map_err(|end| end.message)?.map_err(|gone| gone.to_string())?;
    let mut denied: Vec<String> = wanted
        .iter()
        .zip(granted)
        .filter(|(_, granted)| !granted)
        .map(|(filter, _)| format!("reading {filter}"))
        .collect();
    let mut times = Vec::new();
    for _ in 0..5 {
        let begin = Instant::now();
        let publication =
            Publication { topic: echo.to_owned(), payload: Bytes::from_static(b"{}"), ..Publication::default() };
        let delivery = link
            .during(sender.publish(publication))
            .await
            .map_err(|end| end.message)?
            .map_err(|gone| gone.to_string())?;
        if delivery == Delivery::Refused {
            denied.push(format!("writing {echo}"));
            break;
        }
        if tokio::time::timeout(ROUND_TRIP_TIMEOUT, heard.echo.notified()).await.is_err() {
            break;
        }
        times.push(begin.elapsed());
    }
    times.sort();
    Ok(BrokerRights { denied, round_trip: times.get(times.len() / 2).copied() })
}
