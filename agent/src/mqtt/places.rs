//! `cmd/name_place`, and the places of `cmd/list`.

use jiff::tz::TimeZone;
use memory_core::{Kind, Memory, Observation, Outcome, Place, Pose, PoseOf, ReadError, Told, Value as Attribute};
use serde_json::{Value, json};

use super::context::Context;
use super::fields::Fields;
use super::pose;
use super::reply::{Code, Refusal};
use crate::service::ObserveFailure;

/// The source of names that come by the command.
const SOURCE: &str = "name_place";
/// Longest name, bytes.
const LONGEST: usize = 128;

/// The places, the most visited first.
///
/// # Errors
/// If the store cannot be read.
pub fn list(memory: &Memory, limit: usize, zone: &TimeZone) -> Result<Value, ReadError> {
    let places: Vec<Value> = memory.places()?.iter().take(limit).map(|place| body(place, zone)).collect();
    Ok(json!({ "places": places }))
}

fn body(place: &Place, zone: &TimeZone) -> Value {
    json!({
        "name": place.name,
        "pose": pose::body(place.pose.as_ref()),
        "radius": (place.radius * 100.0).round() / 100.0,
        "named": place.named,
        "visits": place.visits,
        "lasted_s": place.lasted.as_secs(),
        "first": place.span.map(|span| span.start.format(zone)),
        "last": place.span.map(|span| span.end.format(zone)),
    })
}

/// `cmd/name_place`: a name and where that is; without a pose it is where the robot is now.
pub fn read(fields: Fields<'_>) -> Result<(String, Option<Pose>), Refusal> {
    let name = fields.text("name")?.map(str::trim).unwrap_or_default();
    if name.is_empty() || name.len() > LONGEST || name.chars().any(char::is_control) {
        return Err(Refusal::bad(format!(
            "`name` is missing, empty, longer than {LONGEST} bytes or has control characters; it is the name of a place, \
             for instance \"kitchen\""
        )));
    }
    // The robot gets there; it is no thing that stands there.
    let pose = pose::pose(fields)?.map(|pose| Pose { of: PoseOf::Robot, ..pose });
    Ok((name.to_owned(), pose))
}

/// Remembers the name as if somebody had said it there.
pub async fn run(context: &Context, fields: Fields<'_>) -> Result<Value, Refusal> {
    let (name, pose) = read(fields)?;
    let now = context.clock.now();
    let pose = pose.or_else(|| context.service.robot_path().at(now));
    let article = if name.starts_with(char::is_uppercase) { "" } else { "the " };
    let told = Told {
        kind: Kind::Text,
        text: format!("This is {article}{name}."),
        at: Some(now),
        source: SOURCE.into(),
        attributes: [("place".to_owned(), Attribute::Text(name.clone()))].into(),
        pose: pose.clone(),
        ..Told::default()
    };
    let committed = context.service.observe(vec![Observation::Told(told)]).await.map_err(|failure| match failure {
        ObserveFailure::StorageFull(message) => Refusal::new(Code::StorageFull, message),
        other => Refusal::new(Code::Internal, other.to_string()),
    })?;
    match committed.outcomes.into_iter().next() {
        Some(Outcome::Accepted { events, .. }) => Ok(json!({
            "state": "succeeded",
            "name": name,
            "pose": pose::body(pose.as_ref()),
            "event": events.first().map(ToString::to_string),
        })),
        Some(Outcome::Rejected { message }) => Err(Refusal::bad(message)),
        _ => Err(Refusal::new(Code::Internal, "the name was not committed; try again")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_with_the_pose_of_a_place() {
        let read = |body: Value| read(Fields(body.as_object().unwrap()));
        let (name, pose) = read(json!({"name": " kitchen ", "pose": {"frame": "map", "x": 1, "y": 2}})).unwrap();
        assert_eq!((name.as_str(), pose.map(|pose| pose.of)), ("kitchen", Some(PoseOf::Robot)));
        for wrong in [json!({}), json!({"name": "  "}), json!({"name": "x".repeat(200)}), json!({"name": "a\nb"})] {
            assert!(read(wrong.clone()).unwrap_err().message.contains("`name`"), "{wrong}");
        }
        let far = read(json!({"name": "moon", "pose": {"frame": "map", "x": 4e8, "y": 2}})).unwrap_err().message;
        assert!(far.contains("`pose.x`"), "{far}");
    }
}
