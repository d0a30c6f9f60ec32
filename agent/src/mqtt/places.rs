//! `cmd/name_place`, and the places of `cmd/list`.

use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::{
    Kind, Memory, Observation, ObserveOutcome, Place, Pose, PoseOf, ReadError, Told, Value as Attribute,
};
use serde_json::{Value, json};

use super::context::Context;
use super::fields::Fields;
use super::pose;
use super::reply::{Code, Refusal};
use crate::service::ObserveFailure;

/// Source of names given by the command.
const SOURCE: &str = "name_place";
/// Maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 128;
/// Maximum time to search for a place.
const SEARCH_BUDGET: Duration = Duration::from_secs(10);

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
        "known_by": place.known_by.name(),
        "pose": pose::body(place.pose.as_ref()),
        "radius": (place.radius * 100.0).round() / 100.0,
        "named": place.named,
        "visits": place.visits,
        "lasted_s": place.lasted.as_secs(),
        "first": place.span.map(|span| span.start.format(zone)),
        "last": place.span.map(|span| span.end.format(zone)),
    })
}

/// Request of `cmd/name_place`.
#[derive(Debug, Clone, PartialEq)]
pub enum Naming {
    /// A name for where the robot is now, or for a pose.
    Here { name: String, pose: Option<Pose> },
    /// A new name for a place that has one.
    Rename { old: String, name: String },
}

/// `cmd/name_place`: a name and where that is, without a pose where the robot is now; or a new name and the old one.
pub fn read(fields: Fields<'_>) -> Result<Naming, Refusal> {
    let text = |field: &str| -> Result<String, Refusal> {
        let name = fields.text(field)?.map(str::trim).unwrap_or_default();
        if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
            return Err(Refusal::bad(format!(
                "`{field}` is missing, empty, longer than {MAX_NAME_BYTES} bytes or has control characters; it is the name of a \
                 place, for instance \"kitchen\""
            )));
        }
        Ok(name.to_owned())
    };
    let name = text("name")?;
    // The robot gets there; it is no thing that stands there.
    let pose = pose::pose(fields)?.map(|pose| Pose { of: PoseOf::Robot, ..pose });
    if fields.value("renames").is_none() {
        return Ok(Naming::Here { name, pose });
    }
    if pose.is_some() {
        return Err(Refusal::bad("`pose` and `renames` exclude each other: a place that is renamed stays where it is"));
    }
    Ok(Naming::Rename { old: text("renames")?, name })
}

/// The name of a place as a sentence says it.
fn with_article(name: &str) -> String {
    format!("{}{name}", if name.starts_with(char::is_uppercase) { "" } else { "the " })
}

/// Remembers the name as if somebody had said it there.
pub async fn run(context: &Context, fields: Fields<'_>) -> Result<Value, Refusal> {
    let now = context.clock.now();
    let text = |name: &str| Attribute::Text(name.to_owned());
    let (told, name, old) = match read(fields)? {
        Naming::Here { name, pose } => {
            let mut attributes = memory_core::Attributes::from([("place".to_owned(), text(&name))]);
            if pose.is_some() {
                attributes.insert("robot_there".to_owned(), Attribute::Bool(false));
            }
            let pose = pose.or_else(|| context.service.robot_path().at(now));
            let told = Told { text: format!("This is {}.", with_article(&name)), attributes, pose, ..Told::default() };
            (told, name, None)
        }
        Naming::Rename { old, name } => {
            let old = known(context, &old, &name).await?;
            let words = format!("{} is called {} now.", with_article(&old), with_article(&name));
            let capital = words[..1].to_uppercase() + &words[1..];
            let attributes = [("place".to_owned(), text(&name)), ("renames".to_owned(), text(&old))].into();
            (Told { text: capital, attributes, ..Told::default() }, name, Some(old))
        }
    };
    let told = Told { kind: Kind::Text, at: Some(now), source: SOURCE.into(), ..told };
    let pose = told.pose.clone();
    let committed = context.service.observe(vec![Observation::Told(told)]).await.map_err(|failure| match failure {
        ObserveFailure::StorageFull(message) => Refusal::new(Code::StorageFull, message),
        other => Refusal::new(Code::Internal, other.to_string()),
    })?;
    match committed.outcomes.into_iter().next() {
        Some(ObserveOutcome::Accepted { events, .. }) => Ok(json!({
            "state": "succeeded",
            "name": name,
            "renames": old,
            "pose": pose::body(pose.as_ref()),
            "event": events.first().map(ToString::to_string),
        })),
        Some(ObserveOutcome::Rejected { message }) => Err(Refusal::bad(message)),
        _ => Err(Refusal::new(Code::Internal, "the name was not committed; try again")),
    }
}

/// The place to be renamed, as it is called now.
async fn known(context: &Context, old: &str, name: &str) -> Result<String, Refusal> {
    let places = context.service.list(SEARCH_BUDGET, |memory, _| memory.places()).await;
    let places = places.map_err(|failure| Refusal::new(Code::Internal, failure.to_string()))?;
    let find = |name: &str| places.iter().find(|place| place.name.to_lowercase() == name.to_lowercase());
    let Some(found) = find(old) else {
        let message = format!("no place is called `{old}`; `engram inspect places` lists those that there are");
        return Err(Refusal::bad(message));
    };
    // Capitals may be corrected.
    if old.to_lowercase() != name.to_lowercase() && find(name).is_some() {
        return Err(Refusal::bad(format!("another place is called `{name}` already")));
    }
    Ok(found.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_with_the_pose_of_a_place() {
        let read = |body: Value| read(Fields(body.as_object().unwrap()));
        let named = read(json!({"name": " kitchen ", "pose": {"frame": "map", "x": 1, "y": 2}})).unwrap();
        let Naming::Here { name, pose } = named else { panic!("{named:?}") };
        assert_eq!((name.as_str(), pose.map(|pose| pose.of)), ("kitchen", Some(PoseOf::Robot)));
        for wrong in [json!({}), json!({"name": "  "}), json!({"name": "x".repeat(200)}), json!({"name": "a\nb"})] {
            assert!(read(wrong.clone()).unwrap_err().message.contains("`name`"), "{wrong}");
        }
        let far = read(json!({"name": "moon", "pose": {"frame": "map", "x": 4e8, "y": 2}})).unwrap_err().message;
        assert!(far.contains("`pose.x`"), "{far}");
    }

    #[test]
    fn a_new_name_is_read_with_the_old_one_and_without_a_pose() {
        let read = |body: Value| read(Fields(body.as_object().unwrap()));
        let renamed = read(json!({"name": "canteen", "renames": "kitchen "})).unwrap();
        assert_eq!(renamed, Naming::Rename { old: "kitchen".into(), name: "canteen".into() });
        for (wrong, says) in [
            (json!({"name": "canteen", "renames": " "}), "`renames` is missing"),
            (json!({"name": "canteen", "renames": 3}), "`renames`"),
            (json!({"name": "canteen", "renames": "kitchen", "pose": {"frame": "map", "x": 1, "y": 2}}), "exclude"),
        ] {
            let message = read(wrong.clone()).unwrap_err().message;
            assert!(message.contains(says), "{wrong}: {message}");
        }
    }
}
