//! Makes sure that only one agent serves a robot name.
//!
//! Robots often share a host name, and two programs must not share one memory's topics. The retained `instance` names the
//! memory that serves the name, and `status` says whether it is online. Either may be stale, because a broker that was killed
//! publishes no will. So an instance that seems to be online is challenged with `cmd/instance`, and counts only if it answers
//! with its own id.
//!
//! Two agents that start at the same moment both find nobody. Each then sees the other's announcement, and the one with the
//! smaller id stays (see [`super::dispute`]).

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::client::{Delivery, Gone, Publication, Reliability, Sender};
use super::commands::CommandName;
use super::context::Context;
use super::requests::Sign;
use super::topics::Outbound;

/// Maximum time for another instance to answer a challenge.
pub const CHALLENGE_TIMEOUT: Duration = Duration::from_secs(3);

/// `online`, retained.
pub const ONLINE: &str = "online";
/// The will, retained.
pub const OFFLINE: &str = "offline";
/// Status after a clean exit, retained.
pub const STOPPED: &str = "stopped";

/// Whether this engram may serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionClaim {
    /// No other instance serves the robot name.
    Free,
    /// The memory with this id does, and lives.
    Taken(String),
}

/// Finds out whether another engram serves this robot name. Stays subscribed to `instance` and `status`.
pub async fn claim(context: &Context, link: &Sender, signs: &mut mpsc::Receiver<Sign>) -> Result<SessionClaim, Gone> {
    let topics = &context.topics;
    // Known to nobody else, so that every answer there is meant for this attempt.
    let nonce = [std::process::id().to_string(), nonce()].join("-");
    let answers = topics.answer(&nonce).expect("digits and a dash are a topic level");
    let health = topics.outbound(Outbound::Health);
    let filters =
        [topics.outbound(Outbound::Instance), topics.outbound(Outbound::Status), health.clone(), answers.clone()];
    link.subscribe(&filters.map(|filter| (filter, Reliability::AtMostOnce))).await?;

    // A letter to oneself comes after everything that the broker had stored.
    let letter = Publication { topic: answers.clone(), payload: nonce.clone().into(), ..Publication::default() };
    link.publish(Publication { fire_and_forget: true, plain_text: true, ..letter }).await?;
    let mut instance = None;
    let mut status = None;
    let stored = tokio::time::timeout(CHALLENGE_TIMEOUT, async {
        while let Some(sign) = signs.recv().await {
            match sign {
                Sign::Instance(id) => instance = Some(id),
                Sign::Status(text) => status = Some(text),
                Sign::Answer(text) if text == nonce => return,
                Sign::Answer(_) | Sign::Alive(_) => {}
            }
        }
    });
    if stored.await.is_err() {
        tracing::warn!(
            topic = answers,
            "the broker does not deliver what engram publishes there; check its access rules"
        );
    }
    let other = instance.filter(|id| !id.is_empty() && *id != context.identity.instance);
    let claim = match other {
        Some(other) if status.as_deref() == Some(ONLINE) => {
            match find_live_instance(context, link, signs, &nonce, answers.clone()).await? {
                Some(alive) => SessionClaim::Taken(alive),
                None => {
                    tracing::warn!(
                        other = shown(&other),
                        "the agent that served this robot name before did not shut down cleanly and does not answer; this one takes over"
                    );
                    SessionClaim::Free
                }
            }
        }
        _ => SessionClaim::Free,
    };
    link.unsubscribe(vec![health, answers]).await?;
    Ok(claim)
}

/// The id of another engram that shows a sign of life.
async fn find_live_instance(
    context: &Context,
    link: &Sender,
    signs: &mut mpsc::Receiver<Sign>,
    nonce: &str,
    answers: String,
) -> Result<Option<String>, Gone> {
    let patience = match link.publish(challenge(context, nonce, answers)).await? {
        // The other would be subscribed.
        Delivery::NobodyListens => return Ok(None),
        Delivery::Taken => CHALLENGE_TIMEOUT,
        // Not allowed to ask: the next report of its health will tell.
        Delivery::Refused => Duration::from_secs(context.config.health_interval_s) + CHALLENGE_TIMEOUT,
    };
    let own = context.identity.instance.as_str();
    let sign = async {
        while let Some(sign) = signs.recv().await {
            let found = match sign {
                Sign::Answer(text) => instance_in(&text),
                Sign::Alive(instance) => Some(instance),
                Sign::Instance(_) | Sign::Status(_) => None,
            };
            if let Some(other) = found.filter(|other| is_id(other) && other != own) {
                return Some(other);
            }
        }
        None
    };
    Ok(tokio::time::timeout(patience, sign).await.unwrap_or_default())
}

/// The request that every engram of this robot name answers with its id.
pub fn challenge(context: &Context, nonce: &str, answers: String) -> Publication {
    Publication {
        topic: context.topics.command(CommandName::Instance.as_str()).expect("names of commands are topic levels"),
        payload: json!({"request_id": nonce}).to_string().into(),
        response_topic: Some(answers),
        expiry: Some(CHALLENGE_TIMEOUT),
        ..Publication::default()
    }
}

/// The id in the answer to a challenge, or in a health report.
pub fn instance_in(text: &str) -> Option<String> {
    let body: Value = serde_json::from_str(text).ok()?;
    Some(body.get("instance")?.as_str()?.to_owned())
}

/// Whether a text can be the id of a memory. What cannot was said by a stranger.
pub fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The begin of an id that somebody else chose, for the log.
pub fn shown(id: &str) -> String {
    id.chars().take(64).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

pub fn nonce() -> String {
    // Only has to differ between two that start at the same moment with the same process id.
    getrandom::u64().map_or_else(|_| String::new(), |random| random.to_string())
}

/// Decides what to do about another instance that announces itself while this one serves.
pub fn yields_to(own: &str, other: &str) -> bool {
    other < own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_that_start_at_once_exactly_one_yields() {
        assert_ne!(yields_to("a", "b"), yields_to("b", "a"));
    }

    #[test]
    fn what_cannot_be_an_id_is_none() {
        assert!(is_id("another-memory") && is_id("0f3a"));
        for text in ["", "!", "a b", "a\n", "ü", &"x".repeat(65)] {
            assert!(!is_id(text), "{text:?}");
        }
        assert_eq!(instance_in(r#"{"instance": "abc", "robot": "kitchen"}"#).as_deref(), Some("abc"));
        for text in ["", "abc", "[]", "{}", r#"{"instance": 1}"#] {
            assert_eq!(instance_in(text), None, "{text:?}");
        }
    }
}
