//! Poses and areas in requests and replies.

use memory_core::{Near, Pose, PoseError, PoseOf, RawPose, Timestamp};
use serde_json::{Value, json};

use super::fields::{Fields, kind, wrong};
use super::refusal::Refusal;

/// Maximum number of values of a covariance: six by six.
const MAX_COVARIANCE: usize = 36;

/// The field `pose` of an observation.
pub fn pose(fields: Fields<'_>) -> Result<Option<Pose>, Refusal> {
    fields.value("pose").map(read_pose).transpose()
}

/// The field `near` of a question or a list.
pub fn near(fields: Fields<'_>) -> Result<Option<Near>, Refusal> {
    let Some(value) = fields.value("near") else { return Ok(None) };
    let Value::Object(map) = value else { return Err(wrong("near", "an object", value)) };
    let fields = Fields(map);
    let near = Near {
        frame: fields.text("frame").map_err(within("near"))?.unwrap_or(DEFAULT_FRAME).trim().to_owned(),
        x: number(fields, "near", "x")?.ok_or_else(|| missing("near", "x"))?,
        y: number(fields, "near", "y")?.ok_or_else(|| missing("near", "y"))?,
        radius: number(fields, "near", "radius")?.ok_or_else(|| missing("near", "radius"))?,
    };
    near.check().map_err(refused)?;
    Ok(Some(near))
}

/// Default coordinate frame of an area in a request.
pub const DEFAULT_FRAME: &str = "map";

/// A pose as `…/observe` takes it.
pub fn read_pose(value: &Value) -> Result<Pose, Refusal> {
    let Value::Object(map) = value else { return Err(wrong("pose", "an object", value)) };
    let fields = Fields(map);
    let raw = RawPose {
        frame: fields.text("frame").map_err(within("pose"))?.ok_or_else(|| missing("pose", "frame"))?.to_owned(),
        x: number(fields, "pose", "x")?.ok_or_else(|| missing("pose", "x"))?,
        y: number(fields, "pose", "y")?.ok_or_else(|| missing("pose", "y"))?,
        z: number(fields, "pose", "z")?.unwrap_or(0.0),
        yaw: number(fields, "pose", "yaw")?.unwrap_or(0.0),
        covariance: covariance(fields)?,
        of: match fields.text("of").map_err(within("pose"))? {
            None | Some("thing") => PoseOf::Thing,
            Some("robot") => PoseOf::Robot,
            Some(_) => return Err(Refusal::bad("`pose.of` must be thing or robot")),
        },
    };
    raw.check().map_err(refused)
}

/// The robot's own pose as `…/pose` takes it, and when it was there; without a time it is now.
pub fn read_robot_pose(payload: &[u8], now: Timestamp) -> Result<(Pose, Timestamp), Refusal> {
    let value: Value =
        serde_json::from_slice(payload).map_err(|error| Refusal::bad(format!("the payload is not JSON: {error}")))?;
    let pose = Pose { of: PoseOf::Robot, ..read_pose(&value)? };
    let at = match value.get("at").filter(|at| !at.is_null()) {
        None => now,
        Some(Value::String(text)) => Timestamp::parse(text).map_err(|error| Refusal::bad(format!("`at`: {error}")))?,
        Some(at) => {
            let seconds = at.as_f64().filter(|seconds| seconds.abs() < 1e11);
            let seconds = seconds.ok_or_else(|| wrong("at", "a time, or seconds since 1970", at))?;
            Timestamp::from_micros((seconds * 1e6).round() as i64)
        }
    };
    Ok((pose, at))
}

fn covariance(fields: Fields<'_>) -> Result<Vec<f64>, Refusal> {
    let Some(value) = fields.value("covariance") else { return Ok(Vec::new()) };
    let wrong = || Refusal::bad("`pose.covariance` must be a list of 36, 9 or 3 numbers");
    let list = value.as_array().filter(|list| list.len() <= MAX_COVARIANCE).ok_or_else(wrong)?;
    list.iter().map(|number| number.as_f64().ok_or_else(wrong)).collect()
}

fn number(fields: Fields<'_>, of: &str, name: &str) -> Result<Option<f64>, Refusal> {
    fields
        .value(name)
        .map(|value| {
            value
                .as_f64()
                .ok_or_else(|| Refusal::bad(format!("`{of}.{name}` must be a number, and is {}", kind(value))))
        })
        .transpose()
}

fn missing(of: &str, name: &str) -> Refusal {
    Refusal::bad(format!("`{of}.{name}` is missing"))
}

fn within(of: &'static str) -> impl Fn(Refusal) -> Refusal {
    move |refusal| Refusal::bad(format!("`{of}`: {}", refusal.message))
}

fn refused(error: PoseError) -> Refusal {
    Refusal::bad(error.to_string())
}

/// A pose as replies and exports show it; null where there is none.
pub fn body(pose: Option<&Pose>) -> Value {
    let Some(pose) = pose else { return Value::Null };
    json!({
        "frame": pose.frame,
        "x": pose.x,
        "y": pose.y,
        "z": pose.z,
        "yaw": pose.yaw,
        "covariance": pose.covariance.map(|covariance| covariance.rows()),
        "of": pose.of.name(),
    })
}

/// An area as a request shows it.
pub fn near_body(near: Option<&Near>) -> Value {
    near.map_or(Value::Null, |near| json!({"frame": near.frame, "x": near.x, "y": near.y, "radius": near.radius}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_back() {
        let value = json!({"frame": "map", "x": 1.25, "y": -2, "z": 0.5, "yaw": 1.5, "covariance": [0.1, 0.2, 0.3]});
        let pose = read_pose(&value).unwrap();
        assert_eq!(read_pose(&body(Some(&pose))).unwrap(), pose);
        assert_eq!(body(None), Value::Null);
    }

    #[test]
    fn a_wrong_pose_says_which_part_is_wrong() {
        for (value, says) in [
            (json!(3), "`pose` must be an object"),
            (json!({"x": 1, "y": 2}), "`pose.frame` is missing"),
            (json!({"frame": "", "x": 1, "y": 2}), "`pose.frame` is empty"),
            (json!({"frame": 7, "x": 1, "y": 2}), "frame"),
            (json!({"frame": "map", "y": 2}), "`pose.x` is missing"),
            (json!({"frame": "map", "x": "1", "y": 2}), "`pose.x` must be a number, and is a text"),
            (json!({"frame": "map", "x": 1e6, "y": 2}), "more than 10000 m"),
            (json!({"frame": "map", "x": 1, "y": 2, "covariance": [1, 2]}), "2 numbers"),
            (json!({"frame": "map", "x": 1, "y": 2, "covariance": 1}), "must be a list"),
            (json!({"frame": "map", "x": 1, "y": 2, "of": "cat"}), "`pose.of`"),
        ] {
            let message = read_pose(&value).unwrap_err().message;
            assert!(message.contains(says), "{value}: {message}");
        }
    }

    #[test]
    fn an_area_needs_a_centre_and_a_radius() {
        let read = |value: Value| near(Fields(json!({ "near": value }).as_object().unwrap()));
        let area = read(json!({"x": 1, "y": 2, "radius": 3})).unwrap().unwrap();
        assert_eq!(area, Near { frame: "map".into(), x: 1.0, y: 2.0, radius: 3.0 });
        for (value, says) in [
            (json!([1, 2]), "`near` must be an object"),
            (json!({"x": 1, "y": 2}), "`near.radius` is missing"),
            (json!({"x": 1, "y": 2, "radius": 0}), "`near.radius` is 0"),
            (json!({"x": 1, "y": 2, "radius": "2 m"}), "must be a number"),
            (json!({"frame": " ", "x": 1, "y": 2, "radius": 1}), "`near.frame` is empty"),
        ] {
            let message = read(value.clone()).unwrap_err().message;
            assert!(message.contains(says), "{value}: {message}");
        }
    }

    #[test]
    fn the_robots_pose_has_its_time_in_either_form() {
        let now = Timestamp::from_micros(5);
        let read = |at: Value| {
            let payload = json!({"frame": "map", "x": 1, "y": 2, "at": at}).to_string();
            read_robot_pose(payload.as_bytes(), now).map(|(_, at)| at)
        };
        assert_eq!(read(Value::Null).unwrap(), now);
        assert_eq!(read(json!(1_795_161_600.5)).unwrap(), read(json!("2026-11-20T08:00:00.5Z")).unwrap());
        for wrong in [json!("today"), json!(1e300), json!([1])] {
            assert!(read(wrong).unwrap_err().message.contains("`at`"));
        }
    }
}
