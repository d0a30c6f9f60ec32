//! Resources: the clock, the health report, an episode, a picture.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Value, json};

use super::access::{AccessError, MemoryAccess};
use super::calls::picture_of;
use super::digest;

const CLOCK: &str = "engram://clock";
const HEALTH: &str = "engram://health";
const EPISODE: &str = "engram://episode/";
const PICTURE: &str = "engram://picture/";
const JSON: &str = "application/json";
/// Maximum number of events of an episode.
const MAX_EVENTS: u64 = 100;
const PICTURE_WIDTH: u64 = 640;

/// Resources with an address of their own.
pub fn fixed() -> Vec<Resource> {
    vec![
        Resource::new(CLOCK, "clock").with_description("The time now.").with_mime_type(JSON),
        Resource::new(HEALTH, "health").with_description("The whole state of the robot's memory.").with_mime_type(JSON),
    ]
}

/// Resources by id.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("engram://episode/{id}", "episode")
            .with_description("An episode with its events, by an id such as ep-12.")
            .with_mime_type(JSON),
        ResourceTemplate::new("engram://picture/{id}", "picture")
            .with_description("What the camera saw at an event (ev-42) or at the begin of an episode (ep-12).")
            .with_mime_type("image/jpeg"),
    ]
}

/// Reads one.
///
/// # Errors
/// If there is none at this address, or the agent is away.
pub async fn read(access: &MemoryAccess, uri: &str, now: &str) -> Result<ReadResourceResult, AccessError> {
    let content = if uri == CLOCK {
        text(&json!({ "now": now }), uri)
    } else if uri == HEALTH {
        let vitals = access.vitals().await?;
        text(&json!({ "now": now, "robot": access.robot(), "status": vitals.status, "health": vitals.health }), uri)
    } else if let Some(id) = uri.strip_prefix(EPISODE) {
        let mut episode = digest::episode(&access.command("get", json!({ "episode": id, "limit": MAX_EVENTS })).await?);
        episode["now"] = now.into();
        text(&episode, uri)
    } else if let Some(id) = uri.strip_prefix(PICTURE) {
        let mut picture = picture_of(access, id, PICTURE_WIDTH).await?;
        let media_type = picture["media_type"].as_str().unwrap_or("image/jpeg").to_owned();
        let Value::String(data) = picture["data"].take() else {
            return Err(AccessError::new("internal", "the agent returned no picture"));
        };
        ResourceContents::blob(data, uri).with_mime_type(media_type)
    } else {
        let known = [CLOCK, HEALTH, "engram://episode/{id}", "engram://picture/{id}"].join(", ");
        let uri: String = uri.chars().take(200).collect();
        return Err(AccessError::bad(format!("there is no resource `{uri}`; there are {known}")));
    };
    // A clock that a client keeps is wrong.
    Ok(ReadResourceResult::new(vec![content]).with_ttl_ms(0))
}

fn text(body: &Value, uri: &str) -> ResourceContents {
    ResourceContents::text(body.to_string(), uri).with_mime_type(JSON)
}
