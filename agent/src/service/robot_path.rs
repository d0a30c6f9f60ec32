//! Where the robot was in the last minutes: a bounded ring of its poses, and the pose at a moment.
//!
//! Poses come at up to 50 Hz and are never stored. What is stored is one interpolated pose with an observation or an event
//! that has none of its own.

use std::collections::VecDeque;
use std::time::Duration;

pub use crate::config::PoseOptions;
use memory_core::{Observation, Pose, Timestamp};
use parking_lot::Mutex;

/// How long poses are kept. An encoder that lags delivers its segments late.
const RETENTION: Duration = Duration::from_secs(300);
/// Minimum time between two poses: 5 cm at 1 m/s.
const MIN_SPACING: Duration = Duration::from_millis(48);
/// Maximum number of poses; more than come in [`RETENTION`] at [`MIN_SPACING`].
const MAX_POSES: usize = 8_000;
/// How far the time stamp of a pose may be ahead of the clock.
const MAX_AHEAD: Duration = Duration::from_millis(500);
/// Maximum delay of a pose.
const MAX_DELAY: Duration = Duration::from_secs(2);
/// Silence of a map after which another one takes over.
const MAP_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a pose was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// Its covariance is too large.
    Uncertain,
    /// The pose came too late, or not in order.
    Late,
    /// Its stamp is ahead of the clock.
    Future,
    /// The pose is on another map than the one in use.
    OtherFrame,
}

/// The way of the robot. Shared by reference.
#[derive(Debug, Default)]
pub struct RobotPath {
    options: PoseOptions,
    poses: Mutex<VecDeque<(Timestamp, Pose)>>,
}

impl RobotPath {
    /// A way that is not begun.
    pub fn new(options: PoseOptions) -> Self {
        Self { options, poses: Mutex::default() }
    }

    /// Which poses are used.
    pub fn options(&self) -> &PoseOptions {
        &self.options
    }

    /// The newest pose, and when the robot was there.
    pub fn newest(&self) -> Option<(Timestamp, Pose)> {
        self.poses.lock().back().cloned()
    }

    /// Takes a pose in. `now` is the wall clock.
    ///
    /// # Errors
    /// Why it was dropped.
    pub fn push(&self, pose: Pose, at: Timestamp, now: Timestamp) -> Result<(), Dropped> {
        let PoseOptions { frame, max_spread, max_heading, .. } = &self.options;
        if frame.as_ref().is_some_and(|frame| *frame != pose.frame) {
            return Err(Dropped::OtherFrame);
        }
        let uncertain = |covariance: memory_core::Covariance| {
            covariance.spread() > *max_spread || covariance.heading() > *max_heading
        };
        if pose.covariance.is_some_and(uncertain) {
            return Err(Dropped::Uncertain);
        }
        if at > now.saturating_add(MAX_AHEAD) {
            return Err(Dropped::Future);
        }
        if at < now.saturating_sub(MAX_DELAY) {
            return Err(Dropped::Late);
        }
        let mut poses = self.poses.lock();
        // The clock was set back: what is stamped ahead of it is of no use any more.
        while poses.back().is_some_and(|(last, _)| *last > now.saturating_add(MAX_AHEAD)) {
            poses.pop_back();
        }
        if let Some((last, known)) = poses.back() {
            if *last > at {
                return Err(Dropped::Late);
            }
            // One map at a time; a new one takes over when the old one falls silent.
            if known.frame != pose.frame && at.since(*last) < MAP_TIMEOUT {
                return Err(Dropped::OtherFrame);
            }
            let before = poses.len().checked_sub(2).and_then(|place| poses.get(place)).map(|(before, _)| *before);
            // The newest one always stays; the one before it goes if it is close to the one before that.
            if before.is_some_and(|before| at.since(before) < MIN_SPACING && known.frame == pose.frame) {
                poses.pop_back();
            }
        }
        poses.push_back((at, pose));
        while poses.len() > MAX_POSES || poses.front().is_some_and(|(first, _)| at.since(*first) > RETENTION) {
            poses.pop_front();
        }
        Ok(())
    }

    /// Returns the pose at a moment: between two poses of one map, or the last one before, if that is fresh.
    pub fn at(&self, at: Timestamp) -> Option<Pose> {
        let PoseOptions { max_age, max_speed, .. } = self.options;
        let poses = self.poses.lock();
        let after = poses.partition_point(|(known, _)| *known <= at);
        let before = after.checked_sub(1).and_then(|place| poses.get(place));
        let (before, after) = (before.filter(|(known, _)| at.since(*known) <= max_age), poses.get(after));
        match (before, after.filter(|(known, _)| known.since(at) <= max_age)) {
            (Some((first, one)), Some((second, other))) => {
                let passed = second.since(*first).as_secs_f64();
                // Between two maps, and where it was located anew, it is not known where it was.
                if one.distance(other)? > max_speed * passed.max(0.02) {
                    return None;
                }
                one.interpolated(other, at.since(*first).as_secs_f64() / passed.max(1e-6))
            }
            (Some((_, pose)), None) => Some(pose.clone()),
            _ => None,
        }
    }

    /// Gives an observation without a pose the one of the robot: at the begin of what was told, in the middle of each event
    /// of a segment.
    pub fn attach(&self, observation: &mut Observation, now: Timestamp) {
        if self.poses.lock().is_empty() {
            return;
        }
        match observation {
            Observation::Told(told) => {
                if told.pose.is_none() && told.robot_pose.is_none() {
                    told.robot_pose = self.at(told.at.unwrap_or(now));
                }
            }
            Observation::Perceived(segment) => {
                for event in &mut segment.events {
                    let middle = event.start.saturating_add(event.end.since(event.start) / 2);
                    event.pose = event.pose.take().or_else(|| self.at(middle));
                }
            }
            // It has the pose of what it was found beside.
            Observation::Looked(_) => {}
        }
    }

    /// How many poses are held.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.poses.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{PoseOf, RawPose, Told};

    use super::*;

    const T0: i64 = 1_795_161_600_000_000;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_micros(T0 + milliseconds * 1_000)
    }

    fn pose(x: f64, yaw: f64) -> Pose {
        let pose = RawPose { frame: "map".into(), x, yaw, ..RawPose::default() }.check().unwrap();
        Pose { of: PoseOf::Robot, ..pose }
    }

    fn push(path: &RobotPath, x: f64, milliseconds: i64) -> Result<(), Dropped> {
        path.push(pose(x, 0.0), at(milliseconds), at(milliseconds))
    }

    #[test]
    fn the_pose_of_a_moment_lies_between_its_neighbours() {
        let path = RobotPath::default();
        path.push(pose(1.0, 3.1), at(0), at(0)).unwrap();
        path.push(pose(2.0, -3.1), at(500), at(500)).unwrap();
        let between = path.at(at(250)).unwrap();
        assert!((between.x - 1.5).abs() < 1e-9);
        assert!(between.yaw.abs() > 3.1, "it turns the shorter way: {}", between.yaw);
        assert_eq!(path.at(at(1_400)).map(|pose| pose.x), Some(2.0), "the last one is fresh for a second");
        assert_eq!(path.at(at(1_600)), None);
        assert_eq!(path.at(at(-10)), None, "nothing is known of before");
    }

    #[test]
    fn the_gates_are_those_of_the_configuration() {
        let options = PoseOptions {
            frame: Some("map".into()),
            max_spread: 0.1,
            max_age: Duration::from_millis(200),
            ..PoseOptions::default()
        };
        let path = RobotPath::new(options);
        let other = Pose { frame: "odom".into(), ..pose(0.0, 0.0) };
        assert_eq!(path.push(other, at(0), at(0)), Err(Dropped::OtherFrame));
        let spread = RawPose { frame: "map".into(), covariance: vec![0.02, 0.02, 0.01], ..RawPose::default() };
        assert_eq!(path.push(spread.check().unwrap(), at(0), at(0)), Err(Dropped::Uncertain));
        push(&path, 1.0, 0).unwrap();
        assert_eq!((path.at(at(150)).map(|pose| pose.x), path.at(at(300))), (Some(1.0), None));
        assert_eq!(path.newest().map(|(at, pose)| (at, pose.x)), Some((at(0), 1.0)));
    }

    #[test]
    fn what_must_not_be_used_is_dropped_with_its_reason() {
        let path = RobotPath::default();
        push(&path, 0.0, 0).unwrap();
        let lost = RawPose { frame: "map".into(), covariance: vec![4.0, 4.0, 0.1], ..RawPose::default() };
        assert_eq!(path.push(lost.check().unwrap(), at(20), at(20)), Err(Dropped::Uncertain));
        let spun = RawPose { frame: "map".into(), covariance: vec![0.01, 0.01, 3.0], ..RawPose::default() };
        assert_eq!(path.push(spun.check().unwrap(), at(20), at(20)), Err(Dropped::Uncertain));
        assert_eq!(path.push(pose(0.0, 0.0), at(2_000), at(20)), Err(Dropped::Future));
        assert_eq!(path.push(pose(0.0, 0.0), at(-9_000), at(20)), Err(Dropped::Late));
        assert_eq!(path.push(pose(0.0, 0.0), at(-10), at(20)), Err(Dropped::Late), "out of order");
        let odometry = Pose { frame: "odom".into(), ..pose(0.0, 0.0) };
        assert_eq!(path.push(odometry.clone(), at(40), at(40)), Err(Dropped::OtherFrame));
        assert_eq!(path.push(odometry, at(1_500), at(1_500)), Ok(()), "the old map fell silent");
        assert_eq!(path.at(at(1_200)), None, "nothing lies between two maps");
    }

    #[test]
    fn across_a_jump_nothing_is_known() {
        let path = RobotPath::default();
        push(&path, 0.0, 0).unwrap();
        push(&path, 20.0, 200).unwrap();
        assert_eq!(path.at(at(100)), None);
        assert_eq!(path.at(at(300)).map(|pose| pose.x), Some(20.0));
    }

    #[test]
    fn an_hour_of_poses_stays_small_and_goes_back_some_minutes() {
        let path = RobotPath::default();
        for tick in 0..50 * 3_600 {
            push(&path, f64::from(tick) * 0.02 % 50.0, i64::from(tick) * 20).unwrap();
        }
        assert!(path.len() <= MAX_POSES);
        let last = 50 * 3_600 * 20;
        assert!(path.at(at(last - 240_000)).is_some());
        assert_eq!(path.at(at(last - 400_000)), None);
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_silence_the_robot() {
        let path = RobotPath::default();
        push(&path, 0.0, 3_600_000).unwrap();
        push(&path, 1.0, 0).unwrap();
        assert_eq!(path.at(at(10)).map(|pose| pose.x), Some(1.0));
    }

    #[test]
    fn an_observation_with_a_pose_keeps_it() {
        let path = RobotPath::default();
        push(&path, 4.0, 0).unwrap();
        let mut own = Observation::Told(Told { pose: Some(pose(9.0, 0.0)), at: Some(at(10)), ..Told::default() });
        let mut none = Observation::Told(Told { at: Some(at(10)), ..Told::default() });
        path.attach(&mut own, at(10));
        path.attach(&mut none, at(10));
        let poses = |observation: &Observation| match observation {
            Observation::Told(told) => (told.pose.clone(), told.robot_pose.clone()),
            Observation::Perceived(_) | Observation::Looked(_) => (None, None),
        };
        assert_eq!(poses(&own), (Some(pose(9.0, 0.0)), None));
        assert_eq!(poses(&none), (None, Some(pose(4.0, 0.0))));
    }
}
