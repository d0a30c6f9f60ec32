//! Whether the robot says where it is: on which map, how often, and how late.

use std::time::Duration;

use memory_core::Timestamp;
use parking_lot::Mutex;

use super::Finding;
use crate::json::pose::read_robot_pose;
use crate::service::{Dropped, PoseOptions, RobotPath};

/// How long the check listens for poses.
pub const LISTEN_TIME: Duration = Duration::from_millis(1_500);
/// Maximum number of messages that are kept.
const MAX_MESSAGES: usize = 2_000;
/// Delay of a pose above which two clocks differ, or the network is slow.
const MAX_DELAY: Duration = Duration::from_millis(500);

/// Messages on the topic while the doctor listened.
#[derive(Default)]
pub struct HeardPoses(Mutex<Vec<(Timestamp, Vec<u8>)>>);

impl HeardPoses {
    /// Keeps a message.
    pub fn push(&self, at: Timestamp, payload: &[u8]) {
        let mut heard = self.0.lock();
        if heard.len() < MAX_MESSAGES {
            heard.push((at, payload.to_vec()));
        }
    }

    /// Judges the messages.
    pub fn finding(&self, topic: &str, options: &PoseOptions) -> Finding {
        judge(&self.0.lock(), topic, options)
    }
}

fn judge(messages: &[(Timestamp, Vec<u8>)], topic: &str, options: &PoseOptions) -> Finding {
    if messages.is_empty() {
        let found = format!("none came on {topic} in {:.1} s: answers name no positions", LISTEN_TIME.as_secs_f64());
        return Finding::ok("poses", found);
    }
    let path = RobotPath::new(options.clone());
    let (mut used, mut ages) = (0_u32, Vec::new());
    let (mut wrong, mut dropped): (Option<String>, Option<Dropped>) = (None, None);
    for (received, payload) in messages {
        match read_robot_pose(payload, *received) {
            Err(refusal) => wrong = wrong.or(Some(refusal.message)),
            Ok((pose, at)) => {
                ages.push(received.since(at));
                match path.push(pose, at, *received) {
                    Ok(()) => used += 1,
                    Err(reason) => dropped = dropped.or(Some(reason)),
                }
            }
        }
    }
    ages.sort();
    let age = ages.get(ages.len() / 2).copied().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "at most 2,000 messages")]
    let rate = messages.len() as f64 / LISTEN_TIME.as_secs_f64();
    let frame = path.newest().map(|(_, pose)| pose.frame);
    let on = frame.as_deref().map_or_else(String::new, |frame| format!(" on the map `{frame}`"));
    let found = format!("{rate:.0} a second{on}, {} ms old", age.as_millis());
    let unused = messages.len() - used as usize;
    match (wrong, dropped) {
        (Some(message), _) => Finding::warning(
            "poses",
            format!("{found}; {unused} are refused: {message}"),
            "correct the program that sends them",
        ),
        (None, Some(reason)) if used == 0 || unused > messages.len() / 10 => {
            Finding::warning("poses", format!("{found}; {unused} are not used: {}", why(reason)), remedy(reason))
        }
        _ if frame.as_deref() == Some("odom") => {
            Finding::warning("poses", found, "send poses on a map (`map`): `odom` drifts, so places seem to wander")
        }
        _ if age > MAX_DELAY => Finding::warning(
            "poses",
            found,
            "synchronise the clocks (timedatectl), or leave `at` out: then receipt counts",
        ),
        _ if rate < 1.0 / options.max_age.as_secs_f64() => Finding::warning(
            "poses",
            found,
            "send them more often than once in pose.max_age_s, or raise it: a pose that is older is not attached",
        ),
        _ => Finding::ok("poses", found),
    }
}

fn why(reason: Dropped) -> &'static str {
    match reason {
        Dropped::Uncertain => "their covariance is too large",
        Dropped::Late => "they come too late or out of order",
        Dropped::Future => "they are stamped ahead of this machine's clock",
        Dropped::OtherFrame => "they are on another map than the one in use",
    }
}

fn remedy(reason: Dropped) -> &'static str {
    match reason {
        Dropped::Uncertain => "help the robot to locate itself, or raise pose.max_spread_m and pose.max_heading_rad",
        Dropped::Late | Dropped::Future => {
            "synchronise the clocks (timedatectl), or leave `at` out: then receipt counts"
        }
        Dropped::OtherFrame => "send the poses of one map only, and correct pose.frame",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Severity;
    use super::*;

    const T0: i64 = 1_795_161_600_000_000;

    /// What is found of poses 100 ms apart: their frame, covariance and age in milliseconds.
    fn found(count: i64, frame: &str, variance: f64, age: i64) -> Finding {
        let message = |number: i64| {
            let received = Timestamp::from_micros(T0 + number * 100_000);
            let at = Timestamp::from_micros(T0 + number * 100_000 - age * 1_000).format(&jiff::tz::TimeZone::UTC);
            let body = json!({"frame": frame, "x": 1, "y": 2, "covariance": [variance, variance, 0.01], "at": at});
            (received, body.to_string().into_bytes())
        };
        let messages: Vec<_> = (0..count).map(message).collect();
        judge(&messages, "engram/r/pose", &PoseOptions::default())
    }

    #[test]
    fn poses_that_come_are_told_with_map_rate_and_age() {
        let good = found(15, "map", 0.01, 20);
        assert_eq!((good.severity, good.found.as_str()), (Severity::Ok, "10 a second on the map `map`, 20 ms old"));
        let none = found(0, "map", 0.01, 20);
        assert!(none.severity == Severity::Ok && none.found.contains("none came on engram/r/pose"), "{none:?}");
    }

    #[test]
    fn what_keeps_poses_from_being_used_is_told_with_what_to_do() {
        for (finding, says, next) in [
            (found(15, "map", 9.0, 0), "covariance", "pose.max_spread_m"),
            (found(15, "map", 0.01, 5_000), "too late", "clocks"),
            (found(15, "map", 0.01, -5_000), "ahead", "clocks"),
            (found(15, "odom", 0.01, 0), "odom", "drifts"),
            (found(15, "map", 0.01, 900), "900 ms", "clocks"),
            (found(1, "map", 0.01, 0), "1 a second", "more often"),
            (found(15, "", 0.01, 0), "pose.frame", "correct the program"),
        ] {
            let step = finding.next_step.clone().unwrap_or_default();
            assert!(finding.found.contains(says) && step.contains(next), "{finding:?}");
            assert_eq!(finding.severity, Severity::Warning);
        }
    }
}
