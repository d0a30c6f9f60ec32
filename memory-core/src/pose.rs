//! Poses: where something was, in the coordinates of a map.

use serde::{Deserialize, Serialize};

/// Longest name of a frame, bytes.
pub const MAX_FRAME_BYTES: usize = 128;
/// Farthest a coordinate may lie from the origin of its frame, metres. A map is local: what lies farther away is in another
/// unit, or in the coordinates of the globe.
pub const MAX_COORDINATE: f64 = 10_000.0;
/// Largest variance that is kept, square metres or square radians.
const MAX_VARIANCE: f64 = 1e9;

/// Owner of a pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoseOf {
    /// The thing that was observed.
    #[default]
    Thing,
    /// The robot when it observed the thing.
    Robot,
}

impl PoseOf {
    /// The name in the MQTT contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Thing => "thing",
            Self::Robot => "robot",
        }
    }
}

/// A position and a heading in a named frame: metres and radians, x forward, y left, z up, yaw counter-clockwise from the
/// x axis (ROS REP 103). The frame names the map (REP 105); poses of different frames are never compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// The map, for instance `map`.
    pub frame: String,
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Metres.
    pub z: f64,
    /// Radians, -π to π.
    pub yaw: f64,
    /// How certain it is.
    pub covariance: Option<Covariance>,
    /// Owner of the pose.
    pub of: PoseOf,
}

/// The covariance of x, y and yaw: the upper triangle of a symmetric matrix, row by row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Covariance(pub [f64; 6]);

/// Why a pose or an area is refused, and what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PoseError(String);

/// A pose that was read from another program, before it is checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawPose {
    /// The map.
    pub frame: String,
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Metres.
    pub z: f64,
    /// Radians.
    pub yaw: f64,
    /// 36 numbers (ROS, rows of x, y, z and the rotations about them), 9 (rows of x, y and yaw), 3 (variances of x, y and
    /// yaw), or none.
    pub covariance: Vec<f64>,
    /// Owner of the pose.
    pub of: PoseOf,
}

impl RawPose {
    /// The pose, with its yaw between -π and π.
    ///
    /// # Errors
    /// If the frame is empty or too long, a number is not finite, a position lies too far away, or the covariance is none.
    pub fn check(self) -> Result<Pose, PoseError> {
        let covariance = Covariance::read(&self.covariance)?;
        let pose = Pose { frame: self.frame, x: self.x, y: self.y, z: self.z, yaw: self.yaw, covariance, of: self.of };
        pose.check()?;
        Ok(Pose { frame: pose.frame.trim().to_owned(), yaw: wrapped(pose.yaw), ..pose })
    }
}

impl Pose {
    /// Checks the ranges of all parts.
    ///
    /// # Errors
    /// As [`RawPose::check`].
    pub fn check(&self) -> Result<(), PoseError> {
        check_frame("pose.frame", &self.frame)?;
        for (name, value) in [("x", self.x), ("y", self.y), ("z", self.z)] {
            check_coordinate("pose", name, value)?;
        }
        if !self.yaw.is_finite() || self.yaw.abs() > 1e6 {
            return Err(PoseError(format!("`pose.yaw` is {}; it takes radians", self.yaw)));
        }
        self.covariance.map_or(Ok(()), |covariance| covariance.check())
    }

    /// The distance on the floor, metres; `None` between two frames.
    pub fn distance(&self, other: &Self) -> Option<f64> {
        (self.frame == other.frame).then(|| (self.x - other.x).hypot(self.y - other.y))
    }

    /// The pose at a part of the way to `other`, 0 to 1; the heading turns the shorter way. It is as uncertain as the more
    /// uncertain of both. `None` between two frames.
    pub fn interpolated(&self, other: &Self, part: f64) -> Option<Self> {
        if self.frame != other.frame {
            return None;
        }
        let between = |from: f64, to: f64| from + (to - from) * part;
        let covariance = match (self.covariance, other.covariance) {
            (Some(one), Some(two)) => Some(if one.spread() >= two.spread() { one } else { two }),
            (one, two) => one.or(two),
        };
        Some(Self {
            frame: self.frame.clone(),
            x: between(self.x, other.x),
            y: between(self.y, other.y),
            z: between(self.z, other.z),
            yaw: wrapped(self.yaw + wrapped(other.yaw - self.yaw) * part),
            covariance,
            of: self.of,
        })
    }
}

impl Covariance {
    fn read(numbers: &[f64]) -> Result<Option<Self>, PoseError> {
        let at = |places: [usize; 6]| Some(Self(places.map(|place| numbers[place])));
        let covariance = match numbers.len() {
            0 => None,
            // The rows and columns 0 (x), 1 (y) and 5 (rotation about z).
            36 => at([0, 1, 5, 7, 11, 35]),
            9 => at([0, 1, 2, 4, 5, 8]),
            3 => Some(Self([numbers[0], 0.0, 0.0, numbers[1], 0.0, numbers[2]])),
            other => {
                return Err(PoseError(format!(
                    "`pose.covariance` has {other} numbers; it takes the 36 of ROS, 9 (rows of x, y and yaw) or 3 (their \
                     variances)"
                )));
            }
        };
        if let Some(covariance) = &covariance {
            covariance.check()?;
        }
        // Some senders fill in zeros where they know nothing.
        Ok(covariance.filter(|covariance| covariance.0.iter().any(|number| *number != 0.0)))
    }

    fn check(self) -> Result<(), PoseError> {
        let [xx, xy, xt, yy, yt, tt] = self.0;
        if [xx, yy, tt].iter().any(|variance| !(0.0..=MAX_VARIANCE).contains(variance))
            || [xy, xt, yt].iter().any(|number| !number.is_finite() || number.abs() > MAX_VARIANCE)
        {
            let message = "`pose.covariance` has a variance that is negative, not a number or too large; leave it out if \
                           it is not known";
            return Err(PoseError(message.into()));
        }
        Ok(())
    }

    /// The largest standard deviation of the position in any direction, metres.
    pub fn spread(self) -> f64 {
        let [xx, xy, _, yy, _, _] = self.0;
        let (mean, half) = ((xx + yy) / 2.0, (xx - yy) / 2.0);
        (mean + half.hypot(xy)).max(0.0).sqrt()
    }

    /// The standard deviation of the heading, radians.
    pub fn heading(self) -> f64 {
        self.0[5].sqrt()
    }

    /// All nine numbers, row by row.
    pub fn rows(self) -> [f64; 9] {
        let [xx, xy, xt, yy, yt, tt] = self.0;
        [xx, xy, xt, xy, yy, yt, xt, yt, tt]
    }
}

/// A circle on a map: only what happened in it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// The map.
    pub frame: String,
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Metres, more than 0.
    pub radius: f64,
}

impl Near {
    /// Checks the ranges of all parts.
    ///
    /// # Errors
    /// If the frame is empty or too long, a number is not finite, or the circle lies too far away.
    pub fn check(&self) -> Result<(), PoseError> {
        check_frame("near.frame", &self.frame)?;
        check_coordinate("near", "x", self.x)?;
        check_coordinate("near", "y", self.y)?;
        if !(self.radius > 0.0 && self.radius <= 2.0 * MAX_COORDINATE) {
            let most = 2.0 * MAX_COORDINATE;
            return Err(PoseError(format!(
                "`near.radius` is {}; it takes more than 0 and at most {most} m",
                self.radius
            )));
        }
        Ok(())
    }

    /// Whether a position of the same frame lies in it, its edge included.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        (x - self.x).hypot(y - self.y) <= self.radius
    }
}

fn check_frame(what: &str, frame: &str) -> Result<(), PoseError> {
    if frame.trim().is_empty() {
        return Err(PoseError(format!("`{what}` is empty; it names the map, for instance \"map\"")));
    }
    if frame.len() > MAX_FRAME_BYTES || frame.chars().any(char::is_control) {
        let message = format!("`{what}` has more than {MAX_FRAME_BYTES} bytes or control characters");
        return Err(PoseError(message));
    }
    Ok(())
}

fn check_coordinate(what: &str, name: &str, value: f64) -> Result<(), PoseError> {
    if !value.is_finite() {
        return Err(PoseError(format!("`{what}.{name}` is {value}; it takes a finite number of metres")));
    }
    if value.abs() > MAX_COORDINATE {
        return Err(PoseError(format!(
            "`{what}.{name}` is {value} m, more than {MAX_COORDINATE} m from the origin of the map; check its unit, and \
             that the frame is a local map and not the globe"
        )));
    }
    Ok(())
}

/// An angle between -π and π.
pub fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    if (-PI..=PI).contains(&angle) {
        return angle;
    }
    let angle = angle.rem_euclid(TAU);
    if angle > PI { angle - TAU } else { angle }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn raw(x: f64, y: f64, yaw: f64) -> RawPose {
        RawPose { frame: "map".into(), x, y, yaw, ..RawPose::default() }
    }

    #[test]
    fn what_is_no_place_on_a_map_is_refused_with_its_reason() {
        for (pose, says) in [
            (raw(f64::NAN, 0.0, 0.0), "finite"),
            (raw(0.0, f64::INFINITY, 0.0), "finite"),
            (raw(0.0, 0.0, f64::NAN), "radians"),
            (raw(500_000.0, 0.0, 0.0), "10000 m"),
            (RawPose { frame: " ".into(), ..raw(0.0, 0.0, 0.0) }, "pose.frame"),
            (RawPose { frame: "m".repeat(500), ..raw(0.0, 0.0, 0.0) }, "pose.frame"),
            (RawPose { covariance: vec![1.0; 5], ..raw(0.0, 0.0, 0.0) }, "5 numbers"),
            (RawPose { covariance: vec![-1.0, 1.0, 1.0], ..raw(0.0, 0.0, 0.0) }, "negative"),
            (RawPose { covariance: vec![f64::NAN; 36], ..raw(0.0, 0.0, 0.0) }, "not a number"),
        ] {
            let error = pose.clone().check().unwrap_err().to_string();
            assert!(error.contains(says), "{pose:?}: {error}");
        }
    }

    #[test]
    fn the_heading_turns_the_shorter_way() {
        let (from, to) = (raw(0.0, 0.0, 170.0_f64.to_radians()), raw(2.0, 4.0, -170.0_f64.to_radians()));
        let half = from.check().unwrap().interpolated(&to.check().unwrap(), 0.5).unwrap();
        assert_eq!((half.x, half.y), (1.0, 2.0));
        assert!((half.yaw.abs() - PI).abs() < 1e-9, "{}", half.yaw);
    }

    #[test]
    fn a_yaw_of_several_turns_is_the_same_heading() {
        assert!((raw(0.0, 0.0, 5.0 * PI).check().unwrap().yaw.abs() - PI).abs() < 1e-9);
        assert_eq!(wrapped(-PI / 2.0), -PI / 2.0);
        assert!((wrapped(1.5 * PI) + PI / 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_covariance_of_ros_and_its_short_forms_are_the_same() {
        let mut ros = vec![0.0; 36];
        (ros[0], ros[7], ros[35]) = (0.25, 1.0, 0.01);
        let long = RawPose { covariance: ros, ..raw(0.0, 0.0, 0.0) }.check().unwrap();
        let short = RawPose { covariance: vec![0.25, 1.0, 0.01], ..raw(0.0, 0.0, 0.0) }.check().unwrap();
        assert_eq!(long, short);
        let covariance = long.covariance.unwrap();
        assert_eq!((covariance.spread(), covariance.heading()), (1.0, 0.1));
        let rows = RawPose { covariance: covariance.rows().into(), ..raw(0.0, 0.0, 0.0) }.check().unwrap();
        assert_eq!(rows.covariance, Some(covariance));
    }

    #[test]
    fn frames_are_never_mixed() {
        let (map, other) =
            (raw(0.0, 0.0, 0.0).check().unwrap(), RawPose { frame: "odom".into(), ..raw(1.0, 0.0, 0.0) });
        let other = other.check().unwrap();
        assert_eq!(map.distance(&other), None);
        assert_eq!(map.interpolated(&other, 0.5), None);
    }
}
