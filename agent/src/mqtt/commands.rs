//! The commands: what they are called, who may give them, what they want and what they answer.

use jiff::tz::TimeZone;
use memory_core::{
    Episode, EpisodeFilter, EpisodeId, EpisodePage, EpisodeSummary, Event, EventId, EventPage, ForgetPreview,
    ForgetReply, ForgetRequest, Page, TimeSpan, Timestamp,
};
use serde_json::{Map, Value, json};

use super::ask::{rounded, seconds};
use super::fields::{Fields, wrong};
use super::reply::{Code, Payload, Refusal};
use super::topics::check_name;
use crate::config::mqtt::MqttConfig;
use crate::media::MediaLinks;

/// The commands there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "`name_entity` is the contract's word")]
pub enum Name {
    Backup,
    Compact,
    Export,
    Forget,
    ForgetPreview,
    Get,
    Instance,
    List,
    NameEntity,
    Pause,
    Procedure,
    Reload,
    Restore,
    Resume,
    Snapshot,
}

/// Most episodes of one page.
const MAX_PAGE: u64 = 200;

impl Name {
    pub const ALL: [Self; 15] = [
        Self::Backup,
        Self::Compact,
        Self::Export,
        Self::Forget,
        Self::ForgetPreview,
        Self::Get,
        Self::Instance,
        Self::List,
        Self::NameEntity,
        Self::Pause,
        Self::Procedure,
        Self::Reload,
        Self::Restore,
        Self::Resume,
        Self::Snapshot,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Backup => "backup",
            Self::Compact => "compact",
            Self::Export => "export",
            Self::Forget => "forget",
            Self::ForgetPreview => "forget_preview",
            Self::Get => "get",
            Self::Instance => "instance",
            Self::List => "list",
            Self::NameEntity => "name_entity",
            Self::Pause => "pause",
            Self::Procedure => "procedure",
            Self::Reload => "reload",
            Self::Restore => "restore",
            Self::Resume => "resume",
            Self::Snapshot => "snapshot",
        }
    }

    /// # Errors
    /// Names the commands there are.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|known| known.as_str() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|known| known.as_str()).collect();
            let name: String = name.chars().take(64).collect();
            Refusal::bad(format!("there is no command `{name}`; the commands are {}", known.join(", ")))
        })
    }

    /// Whether it takes long enough to say first that it has begun.
    pub const fn is_long(self) -> bool {
        matches!(self, Self::Backup | Self::Compact | Self::Export | Self::Restore | Self::Snapshot)
    }

    /// # Errors
    /// `forbidden`, with the key that would allow it.
    pub fn check_allowed(self, config: &MqttConfig) -> Result<(), Refusal> {
        let name = self.as_str();
        let destroys = matches!(self, Self::Forget | Self::NameEntity | Self::Restore);
        match config.allow.get(name) {
            Some(true) => Ok(()),
            Some(false) => Err(Refusal::new(
                Code::Forbidden,
                format!("`{name}` is denied by mqtt.allow.{name} in the configuration"),
            )),
            None if destroys && !config.authenticated() => Err(Refusal::new(
                Code::Forbidden,
                format!(
                    "`{name}` is denied on a broker without authentication; give engram a user name (mqtt.username), or set \
                     mqtt.allow.{name} = true"
                ),
            )),
            None => Ok(()),
        }
    }
}

/// The fields of a command; an empty payload has none.
pub fn fields(payload: &Payload) -> Result<&Map<String, Value>, Refusal> {
    match payload {
        Payload::Json(Value::Object(map)) => Ok(map),
        Payload::Json(_) | Payload::Text(_) => Err(Refusal::bad("expected a JSON object")),
    }
}

/// `cmd/forget`
pub fn read_forget(fields: Fields<'_>) -> Result<ForgetRequest, Refusal> {
    let episodes = fields.value("episodes").map(episode_ids).transpose()?;
    let entity = fields.text("entity")?;
    let (since, until) = (fields.time("since")?, fields.time("until")?);
    let ways = "name exactly one of `episodes`, `entity`, or `since` with `until`";
    match (episodes, entity, since, until) {
        (Some(episodes), None, None, None) => {
            if episodes.is_empty() {
                return Err(Refusal::bad("`episodes` is empty"));
            }
            Ok(ForgetRequest::Episodes(episodes))
        }
        (None, Some(entity), None, None) => {
            check_name(entity).map_err(|error| Refusal::bad(format!("`entity` {error}")))?;
            Ok(ForgetRequest::Entity(entity.to_owned()))
        }
        (None, None, Some(since), Some(until)) if since <= until => {
            Ok(ForgetRequest::Span(TimeSpan::new(since, until)))
        }
        (None, None, Some(_), Some(_)) => Err(Refusal::bad("`since` is later than `until`")),
        // Half a span would forget everything before or after: nobody should do that by leaving out a field.
        (None, None, Some(_), None) => Err(Refusal::bad("`until` is missing beside `since`")),
        (None, None, None, Some(_)) => Err(Refusal::bad("`since` is missing beside `until`")),
        (None, None, None, None) => Err(Refusal::bad(ways)),
        _ => Err(Refusal::bad(format!("too many: {ways}"))),
    }
}

fn episode_ids(value: &Value) -> Result<Vec<EpisodeId>, Refusal> {
    let list = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    list.iter().map(|item| episode_id("episodes", item)).collect()
}

fn episode_id(field: &str, value: &Value) -> Result<EpisodeId, Refusal> {
    let id = match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64().map(EpisodeId),
        _ => None,
    };
    id.ok_or_else(|| wrong(field, "ids of episodes such as \"ep-42\"", value))
}

/// The answer to `forget`.
pub fn forgotten(reply: &ForgetReply) -> Value {
    let mut body = json!({"state": "succeeded", "episodes": reply.episodes, "events": reply.events});
    if reply.doubtful > 0 {
        body["doubtful"] = reply.doubtful.into();
        body["in_doubt"] = reply.in_doubt.iter().map(ToString::to_string).collect();
    }
    body
}

/// The answer to `forget_preview`.
pub fn preview(preview: &ForgetPreview, zone: &TimeZone, media: &MediaLinks) -> Value {
    let mut body = forgotten(&preview.reply);
    body["shown"] = preview.events.iter().map(|event| event_body(event, zone, media)).collect();
    body
}

/// `cmd/list`
pub fn read_list(fields: Fields<'_>) -> Result<EpisodeFilter, Refusal> {
    let (since, until) = (fields.time("since")?, fields.time("until")?);
    let span = (since.is_some() || until.is_some()).then(|| {
        TimeSpan::new(
            since.unwrap_or(Timestamp::from_micros(i64::MIN)),
            until.unwrap_or(Timestamp::from_micros(i64::MAX)),
        )
    });
    let limit = fields.count("limit")?.unwrap_or(0).min(MAX_PAGE);
    Ok(EpisodeFilter {
        span,
        entity: fields.text("entity")?.map(str::to_owned),
        place: fields.text("place")?.map(str::to_owned),
        cursor: fields.value("cursor").map(|value| episode_id("cursor", value)).transpose()?,
        limit: usize::try_from(limit).unwrap_or(0),
        budget: None,
    })
}

/// The answer to `list`.
pub fn page(page: &Page, zone: &TimeZone, media: &MediaLinks) -> Value {
    let episodes: Vec<Value> = page
        .episodes
        .iter()
        .map(|EpisodeSummary { episode, summary }| {
            let mut body = episode_body(episode, zone, media);
            body.insert("events".to_owned(), episode.events.len().into());
            body.insert("summary".to_owned(), summary.as_str().into());
            Value::Object(body)
        })
        .collect();
    json!({"episodes": episodes, "next": page.next.map(|id| id.to_string())})
}

/// Most events of one answer to `get`.
const MAX_EVENTS: u64 = 4096;

/// Bytes of texts and attributes in one answer to `get`: a client that asks many times at once gets many small ones.
const GET_BYTES: usize = 512 << 10;

/// `cmd/get`
pub fn read_get(fields: Fields<'_>) -> Result<(EpisodeId, EventPage), Refusal> {
    let id = fields.value("episode").or_else(|| fields.value("id"));
    let id = episode_id("episode", id.ok_or_else(|| Refusal::bad("`episode` is missing, for instance \"ep-42\""))?)?;
    let after = fields.value("cursor").map(|value| {
        let number = value.as_str().and_then(|text| text.strip_prefix("ev-")).and_then(|number| number.parse().ok());
        number.map(EventId).ok_or_else(|| wrong("cursor", "the `next` of the page before, such as \"ev-42\"", value))
    });
    let limit = fields.count("limit")?.filter(|limit| *limit > 0).unwrap_or(MAX_EVENTS).min(MAX_EVENTS);
    let limit = usize::try_from(limit).unwrap_or(1);
    Ok((id, EventPage { after: after.transpose()?, limit, bytes: GET_BYTES }))
}

/// The answer to `get`: a page of the events.
pub fn episode_page(page: &EpisodePage, zone: &TimeZone, media: &MediaLinks) -> Value {
    let mut body = episode(&page.episode, &page.events, zone, media);
    body["next"] = json!(page.next.map(|event| event.to_string()));
    body
}

/// An episode with its events.
pub fn episode(episode: &Episode, events: &[Event], zone: &TimeZone, media: &MediaLinks) -> Value {
    let mut body = episode_body(episode, zone, media);
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forget(body: Value) -> Result<ForgetRequest, Refusal> {
        let Value::Object(map) = body else { panic!("not an object") };
        read_forget(Fields(&map))
    }

    #[test]
    fn forgetting_takes_exactly_one_way() {
        assert_eq!(
            forget(json!({"episodes": ["ep-1", 2]})),
            Ok(ForgetRequest::Episodes(vec![EpisodeId(1), EpisodeId(2)]))
        );
        assert_eq!(forget(json!({"entity": "Anna"})), Ok(ForgetRequest::Entity("Anna".to_owned())));
        assert!(matches!(
            forget(json!({"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"})),
            Ok(ForgetRequest::Span(_))
        ));
        for body in [
            json!({}),
            json!({"episodes": []}),
            json!({"episodes": ["gist-1"]}),
            json!({"entity": "Anna", "episodes": ["ep-1"]}),
            json!({"since": "2026-01-01T00:00:00Z"}),
            json!({"until": "2026-01-01T00:00:00Z"}),
            json!({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}),
        ] {
            assert_eq!(forget(body.clone()).unwrap_err().code, Code::BadRequest, "{body}");
        }
    }

    #[test]
    fn forgetting_needs_authentication_or_a_word_in_the_configuration() {
        let open = MqttConfig::default();
        assert_eq!(Name::Forget.check_allowed(&open).unwrap_err().code, Code::Forbidden);
        assert_eq!(Name::NameEntity.check_allowed(&open).unwrap_err().code, Code::Forbidden);
        assert_eq!(Name::List.check_allowed(&open), Ok(()));
        let known = MqttConfig { username: Some("engram".to_owned()), ..MqttConfig::default() };
        assert_eq!(Name::Forget.check_allowed(&known), Ok(()));
        let mut denied = known;
        denied.allow.insert("list".to_owned(), false);
        assert!(Name::List.check_allowed(&denied).unwrap_err().message.contains("mqtt.allow.list"));
        let mut allowed = MqttConfig::default();
        allowed.allow.insert("forget".to_owned(), true);
        assert_eq!(Name::Forget.check_allowed(&allowed), Ok(()));
    }

    #[test]
    fn get_reads_a_page() {
        let get = |body: Value| read_get(Fields(body.as_object().unwrap()));
        let (id, page) = get(json!({"episode": "ep-3", "cursor": "ev-9", "limit": 5})).unwrap();
        assert_eq!((id, page.after, page.limit), (EpisodeId(3), Some(EventId(9)), 5));
        assert_eq!(get(json!({"episode": 3})).unwrap().1.limit, 4096);
        assert_eq!(get(json!({"episode": 3, "cursor": "ep-9"})).unwrap_err().code, Code::BadRequest);
    }

    #[test]
    fn what_is_left_in_doubt_is_in_the_answer_and_nothing_else_is_new() {
        let clear = ForgetReply { episodes: 1, events: 2, ..ForgetReply::default() };
        assert_eq!(forgotten(&clear), json!({"state": "succeeded", "episodes": 1, "events": 2}));
        let doubtful = ForgetReply { doubtful: 200, in_doubt: vec![EventId(7)], ..clear };
        assert_eq!(forgotten(&doubtful)["in_doubt"], json!(["ev-7"]));
    }

    #[test]
    fn an_unknown_command_names_the_known_ones() {
        let message = Name::parse("dance").unwrap_err().message;
        assert!(
            message.contains("`dance`")
                && message
                    .contains("export, forget, forget_preview, get, instance, list, name_entity, pause, procedure, re"),
            "{message}"
        );
    }
}
