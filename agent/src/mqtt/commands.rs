//! The MQTT commands: their names, permissions, requests and replies.

use jiff::tz::TimeZone;
use memory_core::{
    Episode, EpisodeFilter, EpisodeId, EpisodePage, EpisodeSummary, Event, EventId, EventPage, ForgetPreview,
    ForgetReply, ForgetRequest, Page, TimeSpan, Timestamp,
};
use serde_json::{Map, Value, json};

use super::ask::{rounded, seconds};
use super::fields::{Fields, Moment, wrong};
use super::pose;
use super::reply::{Code, Payload, Refusal};
use super::topics::check_name;
use crate::config::mqtt::MqttConfig;
use crate::media::MediaLinks;
use crate::operator::{self, Proofs};

/// All commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::enum_variant_names, reason = "`name_entity` is the contract's word")]
pub enum Name {
    Backup,
    Check,
    Compact,
    Export,
    Forget,
    ForgetPreview,
    Get,
    Instance,
    List,
    NameEntity,
    NamePlace,
    Pause,
    Picture,
    Procedure,
    Recording,
    Reload,
    Restore,
    Resume,
    Search,
    Snapshot,
}

/// Most episodes of one page.
const MAX_PAGE: u64 = 200;

impl Name {
    pub const ALL: [Self; 20] = [
        Self::Backup,
        Self::Check,
        Self::Compact,
        Self::Export,
        Self::Forget,
        Self::ForgetPreview,
        Self::Get,
        Self::Instance,
        Self::List,
        Self::NameEntity,
        Self::NamePlace,
        Self::Pause,
        Self::Picture,
        Self::Procedure,
        Self::Recording,
        Self::Reload,
        Self::Restore,
        Self::Resume,
        Self::Search,
        Self::Snapshot,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Backup => "backup",
            Self::Check => "check",
            Self::Compact => "compact",
            Self::Export => "export",
            Self::Forget => "forget",
            Self::ForgetPreview => "forget_preview",
            Self::Get => "get",
            Self::Instance => "instance",
            Self::List => "list",
            Self::NameEntity => "name_entity",
            Self::NamePlace => "name_place",
            Self::Pause => "pause",
            Self::Picture => "picture",
            Self::Procedure => "procedure",
            Self::Recording => "recording",
            Self::Reload => "reload",
            Self::Restore => "restore",
            Self::Resume => "resume",
            Self::Search => "search",
            Self::Snapshot => "snapshot",
        }
    }

    /// # Errors
    /// If there is no such command; the message names those that exist.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|known| known.as_str() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|known| known.as_str()).collect();
            let name: String = name.chars().take(64).collect();
            Refusal::bad(format!("there is no command `{name}`; the commands are {}", known.join(", ")))
        })
    }

    /// Whether the command first replies that it has begun.
    pub const fn is_long(self) -> bool {
        matches!(self, Self::Backup | Self::Check | Self::Compact | Self::Export | Self::Restore | Self::Snapshot)
    }

    /// Whether the command holds much in memory for a while: pages of events, pictures, an index beside the one in use.
    pub const fn takes_memory(self) -> bool {
        matches!(
            self,
            Self::Check
                | Self::Compact
                | Self::Export
                | Self::Get
                | Self::List
                | Self::Picture
                | Self::Search
                | Self::Snapshot
        )
    }

    /// Whether the command destroys, renames, pauses, fills the disk or shows what a camera saw, and so needs authentication.
    const fn is_guarded(self) -> bool {
        matches!(
            self,
            Self::Backup
                | Self::Export
                | Self::Forget
                | Self::NameEntity
                | Self::Pause
                | Self::Picture
                | Self::Recording
                | Self::Restore
                | Self::Resume
        )
    }

    /// As [`Name::check_allowed`], for a command that may come from the operator's own command line.
    ///
    /// # Errors
    /// `forbidden`, with the key that would allow it.
    pub fn check_allowed_to(
        self,
        config: &MqttConfig,
        proofs: &Proofs,
        fields: &Map<String, Value>,
    ) -> Result<(), Refusal> {
        self.check_allowed(config).or_else(|refusal| {
            let denied = config.allow.get(self.as_str()) == Some(&false);
            let proof = fields.get(operator::FIELD).and_then(Value::as_str).filter(|_| !denied);
            if proof.is_some_and(|proof| proofs.take(proof, self.as_str())) { Ok(()) } else { Err(refusal) }
        })
    }

    /// `recording` does what `pause` and `resume` do, so whoever denies one of those denies it here too.
    ///
    /// # Errors
    /// `forbidden`, with the key that would allow it.
    pub fn check_recording(pause: bool, config: &MqttConfig) -> Result<(), Refusal> {
        let same = if pause { Self::Pause } else { Self::Resume };
        match (config.allow.get(Self::Recording.as_str()), config.allow.get(same.as_str())) {
            (Some(false), _) => Self::Recording.check_allowed(config),
            (Some(true), None) => Ok(()),
            _ => same.check_allowed(config),
        }
    }

    /// # Errors
    /// `forbidden`, with the key that would allow it.
    pub fn check_allowed(self, config: &MqttConfig) -> Result<(), Refusal> {
        let name = self.as_str();
        self.check_not_denied(config)?;
        if !config.allow.contains_key(name) && self.is_guarded() && !config.authenticated() {
            return Err(Refusal::new(
                Code::Forbidden,
                format!(
                    "`{name}` is denied on a broker without authentication; give engram a user name with a password \
                     (mqtt.username, mqtt.password_file), or set mqtt.allow.{name} = true"
                ),
            ));
        }
        Ok(())
    }

    /// # Errors
    /// `forbidden` if the configuration denies it by name.
    pub fn check_not_denied(self, config: &MqttConfig) -> Result<(), Refusal> {
        let name = self.as_str();
        if config.allow.get(name) != Some(&false) {
            return Ok(());
        }
        let message = format!("`{name}` is denied by mqtt.allow.{name} in the configuration");
        Err(Refusal::new(Code::Forbidden, message))
    }
}

/// The fields of a command; an empty payload has none. Only `recording` takes a word.
pub fn fields(name: &str, payload: &Payload) -> Result<Map<String, Value>, Refusal> {
    match payload {
        Payload::Json(Value::Object(map)) => Ok(map.clone()),
        Payload::Text(word) if name == Name::Recording.as_str() => {
            Ok(Map::from_iter([("state".to_owned(), word.as_str().into())]))
        }
        Payload::Json(_) | Payload::Text(_) => Err(Refusal::bad("expected a JSON object")),
    }
}

/// `cmd/forget`
pub fn read_forget(fields: Fields<'_>, moment: &Moment) -> Result<ForgetRequest, Refusal> {
    let episodes = fields.value("episodes").map(episode_ids).transpose()?;
    let entity = fields.text("entity")?;
    let (since, until) = (fields.point("since", moment)?, fields.point("until", moment)?);
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

/// `cmd/recording`: whether to pause.
pub fn read_recording(fields: Fields<'_>) -> Result<bool, Refusal> {
    match fields.text("state")? {
        Some("on") => Ok(false),
        Some("paused") => Ok(true),
        _ => Err(Refusal::bad("`state` must be \"on\" or \"paused\"")),
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
pub fn read_list(fields: Fields<'_>, moment: &Moment) -> Result<EpisodeFilter, Refusal> {
    let (since, until) = (fields.point("since", moment)?, fields.point("until", moment)?);
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
        near: pose::near(fields)?,
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

    /// The page, cut at [`GET_BYTES`] like that of an episode.
    pub fn page(&self, events: &[Event], zone: &TimeZone, media: &MediaLinks) -> Value {
        let mut bytes = 0;
        let mut shown = Vec::new();
        for event in events {
            let body = event_body(event, zone, media);
            let size = body.to_string().len();
            if !shown.is_empty() && bytes + size > GET_BYTES {
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

/// What `cmd/get` opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Get {
    Episode(EpisodeId, EventPage),
    Event(EventId),
}

/// Most events of one answer to `get`.
const MAX_EVENTS: u64 = 4096;

/// Bytes of texts and attributes in one answer to `get`: a client that asks many times at once gets many small ones.
const GET_BYTES: usize = 512 << 10;

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
    Ok(EventPage { after: event_cursor(fields)?, limit, bytes: GET_BYTES })
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
    use super::*;

    fn forget(body: Value) -> Result<ForgetRequest, Refusal> {
        let Value::Object(map) = body else { panic!("not an object") };
        let now = Timestamp::parse("2026-11-22T12:00:00Z").unwrap();
        read_forget(Fields(&map), &Moment { now, zone: TimeZone::UTC })
    }

    #[test]
    fn forgetting_takes_exactly_one_way() {
        assert_eq!(
            forget(json!({"episodes": ["ep-1", 2]})),
            Ok(ForgetRequest::Episodes(vec![EpisodeId(1), EpisodeId(2)]))
        );
        assert_eq!(forget(json!({"entity": "Anna"})), Ok(ForgetRequest::Entity("Anna".to_owned())));
        let hours =
            |from: &str, to: &str| TimeSpan::new(Timestamp::parse(from).unwrap(), Timestamp::parse(to).unwrap());
        assert_eq!(
            forget(json!({"since": "2h", "until": "1h ago"})),
            Ok(ForgetRequest::Span(hours("2026-11-22T10:00:00Z", "2026-11-22T11:00:00Z")))
        );
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
            json!({"since": "soon", "until": "2026-01-01T00:00:00Z"}),
            json!({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}),
        ] {
            assert_eq!(forget(body.clone()).unwrap_err().code, Code::BadRequest, "{body}");
        }
    }

    #[test]
    fn one_episode_or_one_event_is_opened() {
        let get = |body: Value| match body {
            Value::Object(map) => read_get(Fields(&map)),
            _ => panic!("not an object"),
        };
        let whole = EventPage { after: None, limit: 4096, bytes: GET_BYTES };
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
    fn forgetting_needs_authentication_or_a_word_in_the_configuration() {
        let open = MqttConfig::default();
        assert_eq!(Name::Forget.check_allowed(&open).unwrap_err().code, Code::Forbidden);
        assert_eq!(Name::NameEntity.check_allowed(&open).unwrap_err().code, Code::Forbidden);
        assert_eq!(Name::List.check_allowed(&open), Ok(()));
        for name in ["backup", "export", "pause", "resume", "restore"] {
            assert_eq!(Name::parse(name).unwrap().check_allowed(&open).unwrap_err().code, Code::Forbidden, "{name}");
        }
        let mut known = MqttConfig { username: Some("engram".to_owned()), ..MqttConfig::default() };
        assert_eq!(
            Name::Forget.check_allowed(&known).unwrap_err().code,
            Code::Forbidden,
            "a name alone proves nothing"
        );
        known.password = Some(String::new());
        assert_eq!(Name::Forget.check_allowed(&known).unwrap_err().code, Code::Forbidden);
        known.password = Some("s3cret".to_owned());
        assert_eq!(Name::Forget.check_allowed(&known), Ok(()));
        let mut denied = known;
        denied.allow.insert("list".to_owned(), false);
        assert!(Name::List.check_allowed(&denied).unwrap_err().message.contains("mqtt.allow.list"));
        let mut allowed = MqttConfig::default();
        allowed.allow.insert("forget".to_owned(), true);
        assert_eq!(Name::Forget.check_allowed(&allowed), Ok(()));
    }

    #[test]
    fn recording_is_allowed_where_what_it_does_is_allowed() {
        let check = |allow: &[(&str, bool)], pause| {
            let mut config = MqttConfig::default();
            config.allow.extend(allow.iter().map(|(name, allowed)| ((*name).to_owned(), *allowed)));
            Name::check_recording(pause, &config).is_ok()
        };
        assert!(!check(&[], true), "an open broker");
        assert!(check(&[("recording", true)], true) && check(&[("recording", true)], false));
        assert!(check(&[("pause", true)], true) && !check(&[("pause", true)], false));
        assert!(!check(&[("recording", true), ("resume", false)], false), "denied under its other name");
        assert!(!check(&[("recording", false), ("pause", true)], true));
        let body = |word: &str| read_recording(Fields(&fields("recording", &Payload::Text(word.to_owned())).unwrap()));
        assert_eq!((body("on"), body("paused")), (Ok(false), Ok(true)));
        assert_eq!(body("ON").unwrap_err().code, Code::BadRequest);
        assert!(fields("pause", &Payload::Text("on".to_owned())).is_err());
    }

    #[test]
    fn the_operator_of_the_machine_is_obeyed_on_an_open_broker_unless_the_configuration_denies_it() {
        let folder = tempfile::tempdir().unwrap();
        let config = crate::config::Config { data_dir: Some(folder.path().to_owned()), ..Default::default() };
        let directories = crate::config::Directories::of(&config);
        let proofs = Proofs::of(&directories);
        let mut open = MqttConfig::default();
        let proof = operator::Proof::leave(&directories, "pause").unwrap();
        let fields = Map::from_iter([(operator::FIELD.to_owned(), proof.name().into())]);
        assert!(Name::Resume.check_allowed_to(&open, &proofs, &fields).is_err());
        assert_eq!(Name::Pause.check_allowed_to(&open, &proofs, &fields), Ok(()));
        assert!(Name::Pause.check_allowed_to(&open, &proofs, &fields).is_err(), "once");
        open.allow.insert("pause".to_owned(), false);
        let proof = operator::Proof::leave(&directories, "pause").unwrap();
        let fields = Map::from_iter([(operator::FIELD.to_owned(), proof.name().into())]);
        assert!(Name::Pause.check_allowed_to(&open, &proofs, &fields).is_err());
    }

    #[test]
    fn get_reads_a_page() {
        let get = |body: Value| read_get(Fields(body.as_object().unwrap()));
        let page = |limit, after| EventPage { after, limit, bytes: GET_BYTES };
        let asked = get(json!({"episode": "ep-3", "cursor": "ev-9", "limit": 5})).unwrap();
        assert_eq!(asked, Get::Episode(EpisodeId(3), page(5, Some(EventId(9)))));
        assert_eq!(get(json!({"episode": 3})).unwrap(), Get::Episode(EpisodeId(3), page(4096, None)));
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
                && message.contains(
                    "export, forget, forget_preview, get, instance, list, name_entity, name_place, pause, picture, procedure, re"
                ),
            "{message}"
        );
    }
}
