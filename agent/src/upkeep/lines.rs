//! The lines of an export: what was told as `…/observe` takes it, and segments with everything in them.

use std::time::Duration;

use memory_core::{
    Attributes, Boundary, EventId, Exported, Kind, Modality, Observation, Perceived, PerceivedEvent, Pose, Sensed,
    SensedEmbedding, StreamSpan, Timestamp, Told,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::json::pose::{body, read_pose};

/// Version of the lines.
pub const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ExportLine {
    /// The first one.
    Export {
        version: u32,
        /// Id of the memory.
        instance: String,
        at: String,
    },
    Told(ToldLine),
    Segment(SegmentLine),
}

/// Something that was told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToldLine {
    /// `ev-12`: tells apart what came without an id.
    event: Option<String>,
    id: Option<String>,
    kind: String,
    text: String,
    at: String,
    until: Option<String>,
    source: String,
    entity: Option<String>,
    #[serde(default)]
    attributes: Map<String, Value>,
    confidence: Option<f32>,
    /// Pose given by its sender.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pose: Value,
    /// Pose of the robot.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    robot_pose: Value,
}

/// A segment that was perceived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentLine {
    source: String,
    session: String,
    start: String,
    end: String,
    stream_us: (u64, u64),
    boundary: Boundary,
    /// A path within the export, or what the archive calls a recording.
    pub media: Option<String>,
    /// Chunks of the archive, as paths within the export.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<String>,
    /// There was a recording, and it could not be copied.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub media_missing: bool,
    #[serde(default)]
    degraded: Vec<String>,
    events: Vec<EventLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct EventLine {
    kind: String,
    modality: Modality,
    text: String,
    start: String,
    end: String,
    stream_us: (u64, u64),
    entity: Option<String>,
    #[serde(default)]
    attributes: Map<String, Value>,
    confidence: f32,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pose: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    embeddings: Vec<EmbeddingLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct EmbeddingLine {
    sensed: Sensed,
    space: String,
    vector: Vec<f32>,
}

impl ExportLine {
    /// The line of something that is remembered.
    pub fn from_exported(exported: Exported) -> Self {
        match exported.observation {
            Observation::Told(told) => Self::Told(ToldLine {
                event: exported.events.first().map(EventId::to_string),
                id: told.id,
                kind: told.kind.name().to_owned(),
                text: told.text,
                at: time(told.at.unwrap_or(Timestamp::from_micros(0))),
                until: told.until.map(time),
                source: told.source,
                entity: told.entity,
                attributes: json_of(&told.attributes),
                confidence: told.confidence,
                pose: body(told.pose.as_ref()),
                robot_pose: body(told.robot_pose.as_ref()),
            }),
            Observation::Looked(_) => unreachable!("what was found is exported with the segment that shows it"),
            Observation::Perceived(segment) => Self::Segment(SegmentLine {
                source: segment.source,
                session: segment.session,
                start: time(segment.start),
                end: time(segment.end),
                stream_us: micros(segment.stream),
                boundary: segment.boundary,
                media: segment.media,
                chunks: Vec::new(),
                media_missing: false,
                degraded: segment.degraded,
                events: segment.events.into_iter().map(event_line).collect(),
            }),
        }
    }
}

impl ToldLine {
    /// The number of the event, where the line has one.
    pub fn event(&self) -> Option<EventId> {
        self.event.as_deref()?.strip_prefix("ev-")?.parse().ok().map(EventId)
    }

    /// Whether its sender gave it an id.
    pub fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// Its words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As it would be told. `instance` is the memory that it comes from; with it, what has no id gets one, so that it is not
    /// remembered twice.
    ///
    /// # Errors
    /// Says which field is wrong.
    pub fn into_told(self, instance: &str) -> Result<Told, String> {
        let own = || Some([instance, self.event.as_deref()?].join("-"));
        Ok(Told {
            id: self.id.clone().or_else(own),
            kind: kind(&self.kind)?,
            at: Some(parse("at", &self.at)?),
            until: self.until.as_deref().map(|until| parse("until", until)).transpose()?,
            text: self.text,
            source: self.source,
            entity: self.entity,
            attributes: attributes_of(self.attributes),
            confidence: self.confidence,
            pose: pose(&self.pose)?,
            robot_pose: pose(&self.robot_pose)?,
            redelivered: false,
        })
    }
}

impl SegmentLine {
    /// Returns the position in its recording.
    pub fn stream(&self) -> StreamSpan {
        stream(self.stream_us)
    }

    /// Converts to a perceived segment.
    ///
    /// # Errors
    /// Says which field is wrong.
    pub fn into_segment(self) -> Result<Perceived, String> {
        Ok(Perceived {
            start: parse("start", &self.start)?,
            end: parse("end", &self.end)?,
            source: self.source,
            session: self.session,
            stream: stream(self.stream_us),
            boundary: self.boundary,
            media: self.media,
            degraded: self.degraded,
            events: self.events.into_iter().map(into_event).collect::<Result<_, _>>()?,
        })
    }
}

fn event_line(event: PerceivedEvent) -> EventLine {
    EventLine {
        kind: event.kind.name().to_owned(),
        modality: event.modality,
        text: event.text,
        start: time(event.start),
        end: time(event.end),
        stream_us: micros(event.stream),
        entity: event.entity,
        attributes: json_of(&event.attributes),
        confidence: event.confidence,
        pose: body(event.pose.as_ref()),
        embeddings: event
            .embeddings
            .into_iter()
            .map(|SensedEmbedding { sensed, space, vector, .. }| EmbeddingLine { sensed, space, vector })
            .collect(),
    }
}

fn into_event(line: EventLine) -> Result<PerceivedEvent, String> {
    Ok(PerceivedEvent {
        kind: kind(&line.kind)?,
        start: parse("start", &line.start)?,
        end: parse("end", &line.end)?,
        modality: line.modality,
        text: line.text,
        stream: stream(line.stream_us),
        entity: line.entity,
        attributes: attributes_of(line.attributes),
        confidence: line.confidence,
        pose: pose(&line.pose)?,
        embeddings: line
            .embeddings
            .into_iter()
            .map(|EmbeddingLine { sensed, space, vector }| SensedEmbedding {
                sensed,
                space,
                vector,
                sequence: Vec::new(),
            })
            .collect(),
    })
}

fn pose(value: &Value) -> Result<Option<Pose>, String> {
    (!value.is_null()).then(|| read_pose(value)).transpose().map_err(|refusal| refusal.message)
}

/// Formats to the microsecond: the time is part of an observation's key.
fn time(at: Timestamp) -> String {
    at.to_jiff().to_string()
}

fn parse(field: &str, text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|error| format!("`{field}`: {error}"))
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| format!("`kind`: there is no `{name}`"))
}

fn micros(span: StreamSpan) -> (u64, u64) {
    let micros = |at: Duration| u64::try_from(at.as_micros()).unwrap_or(u64::MAX);
    (micros(span.start), micros(span.end))
}

fn stream((start, end): (u64, u64)) -> StreamSpan {
    StreamSpan { start: Duration::from_micros(start), end: Duration::from_micros(end) }
}

fn json_of(attributes: &Attributes) -> Map<String, Value> {
    attributes.iter().map(|(name, value)| (name.clone(), value.into())).collect()
}

fn attributes_of(map: Map<String, Value>) -> Attributes {
    map.into_iter().map(|(name, value)| (name, value.into())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_segment_comes_back_as_it_was() {
        let segment = Perceived {
            source: "camera".into(),
            session: "s1".into(),
            start: Timestamp::from_micros(1_795_161_600_000_001),
            end: Timestamp::from_micros(1_795_161_608_123_456),
            stream: stream((7, 8_123_462)),
            boundary: Boundary::Visual,
            media: Some("media/0.mkv".into()),
            degraded: vec!["asr: model not installed".into()],
            events: vec![PerceivedEvent {
                kind: Kind::Object,
                modality: Modality::Visual,
                text: "a cup".into(),
                start: Timestamp::from_micros(-1),
                end: Timestamp::from_micros(5),
                stream: stream((7, 8)),
                entity: Some("cup".into()),
                attributes: attributes_of(serde_json::from_str(r#"{"n": [1, 0.5, null], "b": true}"#).unwrap()),
                confidence: 0.1,
                pose: read_pose(&serde_json::json!({"frame": "map", "x": 1.5, "y": -2, "of": "robot"})).ok(),
                embeddings: vec![SensedEmbedding {
                    sensed: Sensed::Face,
                    space: "f".into(),
                    vector: vec![3.0, -4.0],
                    sequence: Vec::new(),
                }],
            }],
        };
        let exported = Exported { observation: Observation::Perceived(segment.clone()), events: vec![EventId(3)] };
        let written = serde_json::to_string(&ExportLine::from_exported(exported)).unwrap();
        let ExportLine::Segment(read) = serde_json::from_str(&written).unwrap() else { panic!("{written}") };
        assert_eq!(read.into_segment(), Ok(segment));
    }

    #[test]
    fn what_was_told_without_an_id_gets_one_that_says_where_it_comes_from() {
        let told =
            Told { text: "hello".into(), source: "asr".into(), at: Some(Timestamp::from_micros(9)), ..Told::default() };
        let exported = Exported { observation: Observation::Told(told), events: vec![EventId(12)] };
        let ExportLine::Told(line) = ExportLine::from_exported(exported) else { panic!("told") };
        assert_eq!(line.event(), Some(EventId(12)));
        assert_eq!(line.into_told("abc").unwrap().id.as_deref(), Some("abc-ev-12"));
    }

    #[test]
    fn fuzz_lines_of_an_export() {
        let valid = [
            r#"{"type":"export","version":1,"instance":"abc","at":"2026-11-20T08:00:00Z"}"#,
            r#"{"type":"told","event":"ev-12","kind":"text","text":"hello","at":"2026-11-20T08:00:00Z","until":"2026-11-20T08:00:01Z","source":"asr","entity":"Olga","confidence":0.5,"attributes":{"n":[1,0.5,null]},"pose":{"frame":"map","x":1.5,"y":-2}}"#,
            r#"{"type":"segment","source":"camera","session":"s1","start":"2026-11-20T08:00:00Z","end":"2026-11-20T08:00:08Z","stream":[7,8],"boundary":"visual","media":"media/0.mkv","degraded":[],"events":[{"kind":"object","modality":"visual","text":"a cup","start":"2026-11-20T08:00:00Z","end":"2026-11-20T08:00:08Z","stream":[7,8],"confidence":0.1,"embeddings":[{"of":"face","space":"f","vector":[3.0,-4.0]}]}]}"#,
        ];
        let told =
            Told { text: "hello".into(), source: "asr".into(), at: Some(Timestamp::from_micros(9)), ..Told::default() };
        let exported = Exported { observation: Observation::Told(told), events: vec![EventId(12)] };
        let own = serde_json::to_string(&ExportLine::from_exported(exported)).unwrap();
        let valid: Vec<&[u8]> = valid.iter().map(|text| text.as_bytes()).chain([own.as_bytes()]).collect();
        fuzzing::fuzz("export lines", 40_000, |random| {
            match serde_json::from_slice::<ExportLine>(&random.mutated(&valid)) {
                Ok(ExportLine::Told(line)) => drop(line.into_told("i")),
                Ok(ExportLine::Segment(line)) => drop(line.into_segment()),
                Ok(_) | Err(_) => {}
            }
        });
    }

    proptest! {
        #[test]
        fn arbitrary_lines_are_refused_or_read_but_never_panic(line in "\\PC{0,200}", text in "\\PC{0,20}", at in "\\PC{0,20}") {
            drop(serde_json::from_str::<ExportLine>(&line));
            let nearly = serde_json::json!({"type": "told", "kind": "text", "text": text, "at": at, "source": text});
            if let Ok(ExportLine::Told(line)) = serde_json::from_value(nearly) {
                drop(line.into_told("i"));
            }
        }
    }
}
