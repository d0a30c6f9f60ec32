//! Handles another agent that announces itself under this robot name while this one serves.
//!
//! Anybody who may publish can write to `instance` and `status`, and the broker retains it. So neither message ends the
//! program. Another id is challenged, and only if an agent answers, the one with the larger id goes offline for a while.
//! Everything else is corrected, at most once a second, so that a flood of such messages costs almost nothing.

use std::time::Duration;

use tokio::time::Instant;

use super::client::{Gone, Reliability, Sender};
use super::context::Context;
use super::presence::{CHALLENGE_TIMEOUT, challenge, instance_in, is_id, nonce, yields_to};

/// Minimum time between two corrections.
const CORRECTION_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum time between two challenges.
const CHALLENGE_INTERVAL: Duration = Duration::from_secs(5);

/// The state of it, for one connection.
pub struct Dispute {
    answers: String,
    nonce: String,
    phase: Phase,
    /// Not before this, a correction is published.
    correct_after: Instant,
    correction: bool,
}

enum Phase {
    /// No other instance was seen, or the dispute is settled.
    Quiet,
    /// Another id was seen and is challenged then.
    Seen(Instant),
    /// Another engram was challenged and has until then to answer.
    Asked(Instant),
    /// A challenge was not answered; the next one waits until then.
    Unanswered(Instant),
}

/// Action to take when [`Dispute::due`] has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Announce the own id and status again.
    Correct,
    /// Ask who is there.
    Challenge,
    /// No instance answered: continue.
    Settled,
}

impl Dispute {
    pub fn new(context: &Context, now: Instant) -> Self {
        let nonce = [std::process::id().to_string(), nonce()].join("-");
        let answers = context.topics.answer(&nonce).expect("digits and a dash are a topic level");
        Self { answers, nonce, phase: Phase::Quiet, correct_after: now, correction: false }
    }

    /// Notes that another id was written to `instance`.
    pub fn instance(&mut self, own: &str, other: &str, now: Instant) {
        if !is_id(other) || !yields_to(own, other) {
            self.correction = true;
            return;
        }
        self.phase = match self.phase {
            Phase::Quiet => Phase::Seen(now),
            Phase::Unanswered(until) => Phase::Seen(until),
            Phase::Seen(at) => Phase::Seen(at),
            Phase::Asked(until) => Phase::Asked(until),
        };
    }

    /// Notes that something else than `online` was written to `status`.
    pub fn status(&mut self) {
        self.correction = true;
    }

    /// Notes an answer to the challenge. Returns the id of the instance that takes precedence, if it does.
    pub fn answer(&self, own: &str, text: &str) -> Option<String> {
        if !matches!(self.phase, Phase::Asked(_)) {
            return None;
        }
        instance_in(text).filter(|other| is_id(other) && yields_to(own, other))
    }

    /// Returns the time of the next action.
    pub fn due(&self) -> Option<Instant> {
        let correction = self.correction.then_some(self.correct_after);
        let phase = match self.phase {
            Phase::Seen(at) | Phase::Asked(at) => Some(at),
            Phase::Quiet | Phase::Unanswered(_) => None,
        };
        correction.into_iter().chain(phase).min()
    }

    /// Returns the action to take now.
    pub fn next(&mut self, now: Instant) -> Option<Due> {
        if self.correction && now >= self.correct_after {
            self.correction = false;
            self.correct_after = now + CORRECTION_INTERVAL;
            return Some(Due::Correct);
        }
        match self.phase {
            Phase::Seen(at) if now >= at => {
                self.phase = Phase::Asked(now + CHALLENGE_TIMEOUT);
                Some(Due::Challenge)
            }
            Phase::Asked(until) if now >= until => {
                self.phase = Phase::Unanswered(now + CHALLENGE_INTERVAL);
                // What was written instead of the own id is still retained.
                self.correction = true;
                Some(Due::Settled)
            }
            _ => None,
        }
    }

    /// Publishes the challenge.
    pub async fn challenge(&self, context: &Context, link: &Sender) -> Result<(), Gone> {
        link.subscribe(&[(self.answers.clone(), Reliability::AtMostOnce)]).await?;
        link.send(challenge(context, &self.nonce, self.answers.clone())).await
    }

    /// Listens for answers no more.
    pub async fn settle(&self, link: &Sender) -> Result<(), Gone> {
        link.unsubscribe(vec![self.answers.clone()]).await
    }
}

/// Waits until `due`; for ever if there is nothing to do.
pub async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(now: Instant) -> Dispute {
        Dispute {
            answers: "engram/kitchen/answer/1-2".to_owned(),
            nonce: "1-2".to_owned(),
            phase: Phase::Quiet,
            correct_after: now,
            correction: false,
        }
    }

    #[test]
    fn what_a_stranger_writes_is_corrected_at_most_once_a_second() {
        let now = Instant::now();
        let mut dispute = quiet(now);
        assert_eq!(dispute.due(), None);
        dispute.instance("b", "!", now);
        dispute.instance("b", "c", now);
        dispute.status();
        assert_eq!((dispute.next(now), dispute.next(now)), (Some(Due::Correct), None));
        dispute.status();
        assert_eq!(dispute.due(), Some(now + CORRECTION_INTERVAL));
        assert_eq!(dispute.next(now), None);
        assert_eq!(dispute.next(now + CORRECTION_INTERVAL), Some(Due::Correct));
    }

    #[test]
    fn an_id_that_goes_first_is_asked_and_without_an_answer_nothing_ends() {
        let now = Instant::now();
        let mut dispute = quiet(now);
        assert_eq!(dispute.answer("b", r#"{"instance": "a"}"#), None, "nobody was asked");
        dispute.instance("b", "a", now);
        assert_eq!((dispute.next(now), dispute.next(now)), (Some(Due::Challenge), None));
        dispute.instance("b", "a", now);
        for text in ["", "a", r#"{"instance": "b"}"#, r#"{"instance": "c"}"#, r#"{"instance": "!"}"#] {
            assert_eq!(dispute.answer("b", text), None, "{text}");
        }
        assert_eq!(dispute.answer("b", r#"{"instance": "a"}"#).as_deref(), Some("a"));
        let later = now + CHALLENGE_TIMEOUT;
        assert_eq!((dispute.next(later), dispute.next(later)), (Some(Due::Settled), Some(Due::Correct)));
        dispute.instance("b", "a", later);
        assert_eq!(dispute.due(), Some(later + CHALLENGE_INTERVAL), "the next challenge waits");
    }
}
