//! `cmd/list` and `cmd/get`: pages of episodes and events.

use jiff::tz::TimeZone;
use memory_core::{
    Episode, EpisodeFilter, EpisodeId, EpisodeListPage, EpisodePage, EpisodeSummary, Event, EventId, EventPage,
    TimeSpan, Timestamp,
};
use serde_json::{Map, Value, json};

use super::ask::{rounded, seconds};
use super::fields::{Fields, TimeBase, wrong};
use super::pose;
use super::reply::Refusal;
use crate::media::MediaLinks;

/// Maximum number of episodes on a page.
const MAX_PAGE: u64 = 200;

/// `cmd/list`
pub fn read_list(fields: Fields<'_>, moment: &TimeBase) -> Result<EpisodeFilter, Refusal> {
    let (since, until) = (fields.point("since", moment)?, fields.point("until", moment)?);
    let span = (since.is_some() || until.is_some()).then(|| {
        TimeSpan::new(
            since.unwrap_or(Timestamp::from_micros(i64::MIN)),
            until.unwrap_or(Timestamp::from_micros(i64::MAX)),
        )
    });
    let limit = fields.count("limit")?.filter(|limit| *limit > 0).map(|limit| limit.min(MAX_PAGE));
    Ok(EpisodeFilter {
        span,
        entity: fields.text("entity")?.map(str::to_owned),
        place: fields.text("place")?.map(str::to_owned),
        near: pose::near(fields)?,
        cursor: fields.value("cursor").map(|value| episode_id("cursor", value)).transpose()?,
        limit: limit.and_then(|limit| usize::try_from(limit).ok()),
        budget: None,
    })
}

/// The answer to `list`.
pub fn page(page: &EpisodeListPage, zone: &TimeZone, media: &MediaLinks) -> Value {
    let episodes: Vec<Value> = page
        .episodes
        .iter()
        .map(|EpisodeSummary { episode, summary, pose }| {
            let mut body = episode_body(episode, zone, media);
            body.insert("events".to_owned(), episode.events.len().into());
            body.insert("summary".to_owned(), summary.as_str().into());
            body.insert("pose".to_owned(), pose::body(pose.as_ref()));
            Value::Object(body)
        })
        .collect();
    json!({"episodes": episodes, "next": page.next.map(|id| id.to_string())})
}

/// A page of `cmd/list` of events, in order of commit.
#[derive(Debug, Clone, PartialEq)]
pub struct EventList {
    pub after: Option<EventId>,
    pub near: Option<memory_core::Near>,
    pub limit: usize,
}

impl EventList {
    /// `None` where something else is to be listed.
    pub fn read(fields: Fields<'_>) -> Result<Option<Self>, Refusal> {
        if fields.text("of")? != Some("events") {
            return Ok(None);
        }
        let limit = fields.count("limit")?.filter(|limit| *limit > 0).unwrap_or(MAX_PAGE).min(MAX_PAGE);
        let near = pose::near(fields)?;
        Ok(Some(Self { after: event_cursor(fields)?, near, limit: usize::try_from(limit).unwrap_or(1) }))
    }

    /// The events.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read_events(&self, memory: &memory_core::Memory) -> Result<Vec<Event>, memory_core::ReadError> {
        match &self.near {
            Some(near) => memory.events_near(near, self.after, self.limit),
            None => memory.events(self.after, self.limit),
        }
    }

    /// The page, cut at [`MAX_GET_BYTES`] like that of an episode.
    pub fn page(&self, events: &[Event], zone: &TimeZone, media: &MediaLinks) -> Value {
        let mut bytes = 0;
        let mut shown = Vec::new();
        for event in events {
            let body = event_body(event, zone, media);
            let size = body.to_string().len();
            if !shown.is_empty() && bytes + size > MAX_GET_BYTES {
                break;
            }
            bytes += size;
            shown.push(body);
        }
        let more = shown.len() < events.len() || events.len() == self.limit;
        let next = events[..shown.len()].last().filter(|_| more).map(|event| event.id.to_string());
        json!({ "events": shown, "next": next })
    }
}

/// Object that `cmd/get` opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Get {
    Episode(EpisodeId, EventPage),
    Event(EventId),
}

/// Maximum number of events in an answer to `get`.
const MAX_EVENTS: u64 = 4096;

/// Maximum number of bytes of texts and attributes in an answer to `get`. A client that needs more asks for pages.
const MAX_GET_BYTES: usize = 512 << 10;

/// `cmd/get`
pub fn read_get(fields: Fields<'_>) -> Result<Get, Refusal> {
    let episode = fields.value("episode").or_else(|| fields.value("id"));
    match (episode, fields.value("event")) {
        (Some(id), None) => Ok(Get::Episode(episode_id("episode", id)?, event_page(fields)?)),
        (None, Some(id)) => event_id(id).map(Get::Event),
        (Some(_), Some(_)) => Err(Refusal::bad("name `episode` or `event`, not both")),
        (None, None) => Err(Refusal::bad("`episode` or `event` is missing, for instance \"ep-42\" or \"ev-42\"")),
    }
}

pub(super) fn episode_id(field: &str, value: &Value) -> Result<EpisodeId, Refusal> {
    let id = match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64().map(EpisodeId),
        _ => None,
    };
    id.ok_or_else(|| wrong(field, "ids of episodes such as \"ep-42\"", value))
}

fn event_cursor(fields: Fields<'_>) -> Result<Option<EventId>, Refusal> {
    let after = fields.value("cursor").map(|value| {
        let number = value.as_str().and_then(|text| text.strip_prefix("ev-")).and_then(|number| number.parse().ok());
        number.map(EventId).ok_or_else(|| wrong("cursor", "the `next` of the page before, such as \"ev-42\"", value))
    });
    after.transpose()
}

fn event_page(fields: Fields<'_>) -> Result<EventPage, Refusal> {
    let limit = fields.count("limit")?.filter(|limit| *limit > 0).unwrap_or(MAX_EVENTS).min(MAX_EVENTS);
    let limit = usize::try_from(limit).unwrap_or(1);
    Ok(EventPage { after: event_cursor(fields)?, limit, bytes: MAX_GET_BYTES })
}

fn event_id(value: &Value) -> Result<EventId, Refusal> {
    let id = match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64().map(EventId),
        _ => None,
    };
    id.ok_or_else(|| wrong("event", "the id of an event such as \"ev-42\"", value))
}

/// The answer to `get` for an event.
pub fn event(event: &Event, zone: &TimeZone, media: &MediaLinks) -> Value {
    let mut body = event_body(event, zone, media);
    body["episode"] = event.episode.to_string().into();
    json!({ "event": body })
}

/// The answer to `get` for an episode: a page of its events.
pub fn episode_page(page: &EpisodePage, zone: &TimeZone, media: &MediaLinks) -> Value {
    let mut body = episode(&page.episode, &page.events, zone, media);
    body["next"] = json!(page.next.map(|event| event.to_string()));
    body
}

/// An episode with its events.
pub fn episode(episode: &Episode, events: &[Event], zone: &TimeZone, media: &MediaLinks) -> Value {
    let mut body = episode_body(episode, zone, media);
    body.insert("pose".to_owned(), pose::body(events.iter().find_map(|event| event.pose.as_ref())));
    let events: Vec<Value> = events.iter().map(|event| event_body(event, zone, media)).collect();
    body.insert("events".to_owned(), events.into());
    json!({ "episode": body })
}

fn episode_body(episode: &Episode, zone: &TimeZone, media: &MediaLinks) -> Map<String, Value> {
    let link = media.link(episode.media.as_deref(), episode.stream);
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("id", episode.id.to_string().into());
    put("start", episode.span.start.format(zone).into());
    put("end", episode.span.end.format(zone).into());
    put("stream_start_s", json!(episode.stream.map(|stream| seconds(stream.start))));
    put("stream_end_s", json!(episode.stream.map(|stream| seconds(stream.end))));
    put("source", episode.source.as_str().into());
    put("session", json!(episode.session));
    put("media", json!(link.as_ref().map(|link| &link.uri)));
    put("media_start_s", json!(link.as_ref().map(|link| link.start_s)));
    put("degraded", json!(episode.degraded));
    body
}

pub fn event_body(event: &Event, zone: &TimeZone, media: &MediaLinks) -> Value {
    let link = media.link(event.media.as_deref(), event.stream);
    let attributes: Map<String, Value> =
        event.attributes.iter().map(|(name, value)| (name.clone(), value.into())).collect();
    let origin = match event.origin {
        memory_core::Origin::Told => "told",
        memory_core::Origin::Perceived => "perceived",
    };
    json!({
        "id": event.id.to_string(),
        "observation": event.sender_id,
        "origin": origin,
        "kind": event.kind.name(),
        "modality": event.modality,
        "text": event.text,
        "start": event.span.start.format(zone),
        "end": event.span.end.format(zone),
        "stream_start_s": event.stream.map(|stream| seconds(stream.start)),
        "stream_end_s": event.stream.map(|stream| seconds(stream.end)),
        "source": event.source,
        "entity": event.entity,
        "attributes": attributes,
        "confidence": rounded(event.confidence),
        "media": link.as_ref().map(|link| &link.uri),
        "media_start_s": link.as_ref().map(|link| link.start_s),
        "received": event.received.format(zone),
        "pose": pose::body(event.pose.as_ref()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::reply::Code;
    use super::*;

    #[test]
    fn one_episode_or_one_event_is_opened() {
        let get = |body: Value| match body {
            Value::Object(map) => read_get(Fields(&map)),
            _ => panic!("not an object"),
        };
        let whole = EventPage { after: None, limit: 4096, bytes: MAX_GET_BYTES };
        assert_eq!(get(json!({"episode": "ep-4"})), Ok(Get::Episode(EpisodeId(4), whole)));
        assert_eq!(get(json!({"id": 4})), Ok(Get::Episode(EpisodeId(4), whole)));
        assert_eq!(get(json!({"event": "ev-42"})), Ok(Get::Event(EventId(42))));
        for body in [
            json!({}),
            json!({"event": "ep-42"}),
            json!({"event": ["ev-42"]}),
            json!({"episode": "ev-4"}),
            json!({"episode": "ep-4", "event": "ev-42"}),
        ] {
            assert_eq!(get(body.clone()).unwrap_err().code, Code::BadRequest, "{body}");
        }
    }

    #[test]
    fn get_reads_a_page() {
        let get = |body: Value| read_get(Fields(body.as_object().unwrap()));
        let page = |limit, after| EventPage { after, limit, bytes: MAX_GET_BYTES };
        let asked = get(json!({"episode": "ep-3", "cursor": "ev-9", "limit": 5})).unwrap();
        assert_eq!(asked, Get::Episode(EpisodeId(3), page(5, Some(EventId(9)))));
        assert_eq!(get(json!({"episode": 3})).unwrap(), Get::Episode(EpisodeId(3), page(4096, None)));
        assert_eq!(get(json!({"episode": 3, "cursor": "ep-9"})).unwrap_err().code, Code::BadRequest);
    }
}
