//! Parses observations, and builds the replies to them.

use memory_core::{Attributes, Kind, ObserveOutcome, Told};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::addressed::{AddressedRequest, read_request};
use super::client::Message;
use super::fields::{Fields, kind, wrong};
use super::pose;
use super::reply::{Payload, Refusal, Route, Router};
use super::topics::check_name;
use crate::config::mqtt::MqttLimits;
use crate::service::Committed;

/// Maximum length of the text of an observation, in bytes.
const MAX_TEXT: usize = 32 << 10;

/// Maximum length of the sender's id, in bytes.
const MAX_ID: usize = 256;

/// Default source of an observation.
const DEFAULT_SOURCE: &str = "observe";

/// One item that was not accepted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rejected {
    /// Position in the message.
    pub index: usize,
    /// The sender's id, as it was sent.
    pub id: Option<Value>,
    pub error: Refusal,
}

/// The items of one message.
#[derive(Debug, Default)]
pub struct Items {
    /// Observations to commit.
    pub told: Vec<Told>,
    /// Position in the message and sender's id of each of `told`.
    origin: Vec<(usize, Option<String>)>,
    pub rejected: Vec<Rejected>,
}

/// Report for the sender.
#[derive(Debug, Default, PartialEq)]
pub struct ObserveReport {
    pub accepted: u64,
    pub duplicates: u64,
    pub rejected: Vec<Rejected>,
    pub seq: Option<u64>,
}

/// Reads the payload of `…/observe`: one object, a list of them, or an object with the list in `observations`.
pub fn read_observations(message: &Message, router: &Router<'_>, limits: &MqttLimits) -> AddressedRequest<Items> {
    read_request(message, router, limits.observe_bytes, |payload| {
        let (one, list);
        let values: &[Value] = match payload {
            Payload::Json(Value::Array(values)) => values,
            Payload::Json(Value::Object(map)) => match map.get("observations") {
                Some(Value::Array(values)) => values,
                Some(other) => return Err(wrong("observations", "a list", other)),
                None => {
                    one = Value::Object(map.clone());
                    list = std::slice::from_ref(&one);
                    list
                }
            },
            Payload::Json(_) | Payload::Text(_) => {
                return Err(Refusal::bad("expected one observation as a JSON object, or a list of them"));
            }
        };
        let mut items = Items::default();
        for (index, value) in values.iter().enumerate() {
            match read_told(value, message.redelivered) {
                Ok(told) => {
                    items.origin.push((index, told.id.clone()));
                    items.told.push(told);
                }
                Err(error) => {
                    items.rejected.push(Rejected { index, id: value.get("id").cloned(), error });
                }
            }
        }
        Ok(items)
    })
}

fn read_told(value: &Value, redelivered: bool) -> Result<Told, Refusal> {
    let Value::Object(map) = value else {
        return Err(Refusal::bad(["an observation must be an object, and this is ", kind(value)].concat()));
    };
    let fields = Fields(map);
    let kind = kind_of(fields)?;
    let entity = name(fields, "entity")?;
    let text = match fields.text("text")?.map(str::trim) {
        Some(text) if !text.is_empty() => text.to_owned(),
        // A recogniser that says whom it sees has said it all.
        _ if kind == Kind::Entity && entity.is_some() => entity.clone().unwrap_or_default(),
        Some(_) => return Err(Refusal::bad("`text` is empty")),
        None => return Err(Refusal::bad("`text` is missing")),
    };
    if text.len() > MAX_TEXT {
        return Err(Refusal::bad(format!("`text` has {} bytes, and {MAX_TEXT} is the most", text.len())));
    }
    let id = fields.text("id")?.map(str::to_owned);
    if let Some(id) = &id
        && (id.is_empty() || id.len() > MAX_ID || id.chars().any(char::is_control))
    {
        return Err(Refusal::bad(format!("`id` must have 1 to {MAX_ID} bytes and no control characters")));
    }
    let (at, until) = (fields.time("at")?, fields.time("until")?);
    if let (Some(at), Some(until)) = (at, until)
        && until < at
    {
        return Err(Refusal::bad("`until` is earlier than `at`"));
    }
    let confidence = fields.number("confidence")?;
    if confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
        return Err(Refusal::bad("`confidence` must lie between 0 and 1"));
    }
    Ok(Told {
        id,
        kind,
        text,
        at,
        until,
        source: name(fields, "source")?.unwrap_or_else(|| DEFAULT_SOURCE.to_owned()),
        entity,
        attributes: attributes(fields)?,
        confidence: confidence.map(|confidence| confidence as f32),
        pose: pose::pose(fields)?,
        robot_pose: None,
        redelivered,
    })
}

fn kind_of(fields: Fields<'_>) -> Result<Kind, Refusal> {
    let Some(name) = fields.text("kind")? else { return Ok(Kind::default()) };
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let found: String = name.chars().take(64).collect();
        Refusal::bad(format!("`kind` must be one of {}, and is `{found}`", known.join(", ")))
    })
}

fn name(fields: Fields<'_>, field: &str) -> Result<Option<String>, Refusal> {
    let Some(name) = fields.text(field)? else { return Ok(None) };
    check_name(name).map_err(|error| Refusal::bad(format!("`{field}` {error}")))?;
    Ok(Some(name.trim().to_owned()))
}

fn attributes(fields: Fields<'_>) -> Result<Attributes, Refusal> {
    match fields.value("attributes") {
        None => Ok(Attributes::new()),
        Some(Value::Object(map)) => Ok(map.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect()),
        Some(other) => Err(wrong("attributes", "an object", other)),
    }
}

impl Items {
    /// Returns the report for the sender after the commit of `told`.
    pub fn report(mut self, committed: &Committed) -> ObserveReport {
        let mut report = ObserveReport { seq: Some(committed.seq), ..ObserveReport::default() };
        for ((index, id), outcome) in self.origin.into_iter().zip(&committed.outcomes) {
            match outcome {
                ObserveOutcome::Accepted { .. } | ObserveOutcome::Corrected { .. } => report.accepted += 1,
                ObserveOutcome::Duplicate { .. } => report.duplicates += 1,
                ObserveOutcome::Rejected { message } => self.rejected.push(Rejected {
                    index,
                    id: id.map(Value::String),
                    error: Refusal::bad(message.clone()),
                }),
            }
        }
        self.rejected.sort_by_key(|rejected| rejected.index);
        report.rejected = self.rejected;
        report
    }
}

impl ObserveReport {
    /// The payload of the reply.
    pub fn body(&self, route: &Route) -> Value {
        let mut body = Map::new();
        body.insert("accepted".to_owned(), self.accepted.into());
        body.insert("duplicates".to_owned(), self.duplicates.into());
        body.insert("rejected".to_owned(), json!(self.rejected));
        body.insert("seq".to_owned(), json!(self.seq));
        route.seal(Value::Object(body))
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{EpisodeId, EventId};

    use super::super::reply::Code;
    use super::super::reply::tests::message;
    use super::super::topics::{ReplyPolicy, Topics};
    use super::*;

    fn read(payload: &Value) -> AddressedRequest<Items> {
        read_message(&message(payload.to_string()))
    }

    fn read_message(message: &Message) -> AddressedRequest<Items> {
        let topics = Topics::new("engram", "kitchen").unwrap();
        let policy = ReplyPolicy::new("engram", None);
        read_observations(message, &Router { topics: &topics, policy: &policy }, &MqttLimits::default())
    }

    #[test]
    fn every_field_of_an_observation_is_read() {
        let items = read(&json!({"id": "asr-00042", "kind": "sound", "text": " a bell ", "at": "2026-11-20T08:00:00+01:00",
            "until": "2026-11-20T08:00:02+01:00", "source": "asr", "entity": "Anna", "attributes": {"place": "kitchen", "n": 2},
            "confidence": 0.9, "colour": "ignored"}))
        .body
        .unwrap();
        let told = &items.told[0];
        assert_eq!((told.id.as_deref(), told.kind, told.text.as_str()), (Some("asr-00042"), Kind::Sound, "a bell"));
        assert_eq!(told.at.unwrap().to_string(), "2026-11-20T07:00:00+00:00");
        assert_eq!((told.source.as_str(), told.entity.as_deref()), ("asr", Some("Anna")));
        assert_eq!(told.attributes["place"].as_text(), Some("kitchen"));
        assert_eq!(told.confidence, Some(0.9));
        assert!(!told.redelivered);
    }

    #[test]
    fn one_bad_item_does_not_spoil_the_list() {
        let items = read(&json!([{"text": "a"}, {"id": "b", "text": 3}, "c", {"text": "d"}])).body.unwrap();
        assert_eq!(items.told.len(), 2);
        let rejected: Vec<_> = items.rejected.iter().map(|item| (item.index, item.error.message.as_str())).collect();
        assert_eq!(
            rejected,
            [
                (1, "`text` must be a text, and is a number"),
                (2, "an observation must be an object, and this is a text")
            ]
        );
        assert_eq!(items.rejected[0].id, Some(json!("b")));
    }

    #[test]
    fn what_the_memory_rejects_keeps_its_place_in_the_list() {
        let items =
            read(&json!([{"text": ""}, {"id": "late", "text": "b"}, {"text": "c"}, {"text": "d"}])).body.unwrap();
        let committed = Committed {
            outcomes: vec![
                ObserveOutcome::Rejected { message: "`at` lies more than 24 h in the future".to_owned() },
                ObserveOutcome::Accepted { episode: EpisodeId(1), opened: true, events: vec![EventId(1)] },
                ObserveOutcome::Duplicate { of: Some(EventId(1)) },
            ],
            seq: 12,
        };
        let report = items.report(&committed);
        assert_eq!((report.accepted, report.duplicates, report.seq), (1, 1, Some(12)));
        let rejected: Vec<_> = report.rejected.iter().map(|item| (item.index, item.id.clone())).collect();
        assert_eq!(rejected, [(0, None), (1, Some(json!("late")))]);
    }

    #[test]
    fn a_list_may_travel_with_its_way_back() {
        let request = read(&json!({"observations": [{"text": "a"}], "request_id": "o-1"}));
        assert_eq!(request.body.unwrap().told.len(), 1);
        assert_eq!(request.route.address.unwrap().topic, "engram/kitchen/answer/o-1");
    }

    #[test]
    fn faults_of_an_item_are_named() {
        for (item, field) in [
            (json!({}), "`text`"),
            (json!({"text": " "}), "`text`"),
            (json!({"text": "x".repeat(40_000)}), "`text`"),
            (json!({"text": "x", "kind": "smell"}), "`kind`"),
            (json!({"text": "x", "source": "a/b"}), "`source`"),
            (json!({"text": "x", "entity": "#"}), "`entity`"),
            (json!({"text": "x", "at": "2026-11-20"}), "`at`"),
            (json!({"text": "x", "at": "2026-11-20T08:00:00Z", "until": "2026-11-20T07:00:00Z"}), "`until`"),
            (json!({"text": "x", "confidence": 1.5}), "`confidence`"),
            (json!({"text": "x", "attributes": []}), "`attributes`"),
            (json!({"text": "x", "id": 7}), "`id`"),
            (json!({"text": "x", "pose": {"frame": "", "x": 1, "y": 2}}), "`pose.frame`"),
            (json!({"text": "x", "pose": {"frame": "map", "x": 1, "y": 2e9}}), "`pose.y`"),
        ] {
            let items = read(&item).body.unwrap();
            assert!(items.told.is_empty(), "{item}");
            assert!(items.rejected[0].error.message.contains(field), "{item}: {}", items.rejected[0].error.message);
        }
    }

    #[test]
    fn a_recognised_person_needs_no_text() {
        assert_eq!(read(&json!({"kind": "entity", "entity": "Anna"})).body.unwrap().told[0].text, "Anna");
    }

    #[test]
    fn payloads_that_hold_no_observation_are_refused() {
        for (payload, code) in [
            ("please remember this".to_owned(), Code::BadRequest),
            ("3".to_owned(), Code::BadRequest),
            ("[".repeat(10_000), Code::BadRequest),
            (json!({"text": "x".repeat(1 << 20)}).to_string(), Code::TooLarge),
        ] {
            assert_eq!(read_message(&message(payload)).body.unwrap_err().code, code);
        }
    }

    #[test]
    fn a_redelivery_is_marked() {
        let mut message = message(r#"{"text": "a"}"#);
        message.redelivered = true;
        assert!(read_message(&message).body.unwrap().told[0].redelivered);
    }
}
