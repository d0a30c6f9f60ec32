//! The records in the tables. Golden fixtures in `tests/` fix their format: a change needs a new version.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::envelope::RecordType;
use super::failure::Failure;
use crate::words::fold_name;
use crate::{
    Attributes, Boundary, Episode, EpisodeId, Event, EventId, Kind, Modality, Origin, Pose, StreamSpan, TimeSpan,
    Timestamp, Value,
};

pub(crate) const EVENT: RecordType = RecordType { table: "events", tag: 1, version: 1 };
pub(crate) const EPISODE: RecordType = RecordType { table: "episodes", tag: 2, version: 1 };
pub(crate) const HEAD: RecordType = RecordType { table: "meta", tag: 3, version: 2 };
pub(crate) const HEAD_1: RecordType = RecordType { version: 1, ..HEAD };
pub(crate) const SPACE: RecordType = RecordType { table: "spaces", tag: 4, version: 1 };
pub(crate) const VECTOR: RecordType = RecordType { table: "vectors", tag: 5, version: 1 };
pub(crate) const TEXT: RecordType = RecordType { table: "settings", tag: 6, version: 1 };

pub(crate) const PURGE: RecordType = RecordType { table: "purges", tag: 7, version: 1 };

pub(crate) const CHANGE: RecordType = RecordType { table: "changes", tag: 8, version: 1 };

pub(crate) const FORGOTTEN_SPANS: RecordType = RecordType { table: "meta", tag: 9, version: 1 };

/// Begins and ends of spans that were forgotten lately, by their ends.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ForgottenSpans(pub Vec<(i64, i64)>);

pub(crate) const BEHIND: RecordType = RecordType { table: "meta", tag: 10, version: 1 };

/// The last events that were told while the clock was behind: how long ago that was, no clock can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Behind {
    pub first: u64,
    pub last: u64,
}

impl Behind {
    /// Most events that count.
    const MOST: u64 = 1024;

    /// Takes in events up to `last`, from `first` on.
    pub(crate) fn extend(&mut self, first: u64, last: u64) {
        if self.last + 1 != first {
            self.first = first;
        }
        self.last = last;
        self.first = self.first.max(last.saturating_sub(Self::MOST));
    }

    pub(crate) fn has(self, event: u64) -> bool {
        event > 0 && (self.first..=self.last).contains(&event)
    }
}

/// The first 16 bytes of the SHA-256 of a told content.
pub(crate) type Digest = [u8; 16];

/// Digest of an event that continues in another one: perceived events are known by their segment.
pub(crate) const CONTINUED: Digest = [0; 16];

/// Counters that every commit writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Head {
    /// Number of the last commit.
    pub seq: u64,
    /// Id of the last event; the first one is 1.
    pub last_event: u64,
    /// Id of the last episode; the first one is 1.
    pub last_episode: u64,
    /// Told observations and segments accepted.
    pub observations: u64,
    /// Visible events.
    pub events: u64,
    /// Visible episodes.
    pub episodes: u64,
    /// Superseded and forgotten events whose rows are still there.
    pub hidden: u64,
    /// The longest segment, microseconds: how far back one can begin that contains a moment.
    pub longest_segment: u64,
    /// Bytes of rows that were hidden or removed in this generation, which a compaction gives back.
    pub stale_bytes: u64,
    /// Wall-clock time when the first event was forgotten in this generation: its words may still be in freed pages.
    pub forgotten_since: Option<i64>,
}

/// A row of `changes`: what an index that was saved before must learn of events that it holds. New events and new vectors
/// are found by their numbers and are not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Change {
    /// An index was saved that knows of everything before.
    Saved {
        /// The same as in its file: no other index has it.
        token: u64,
    },
    /// Events were hidden, with the hash of their entity's folded name (0: none), or moved to another episode.
    Events {
        /// Event and hash.
        hidden: Vec<(u64, u64)>,
        /// Event and episode, in order of the moves.
        moved: Vec<(u64, u64)>,
    },
    /// The vectors of these spaces were dropped.
    Dropped {
        /// Numbers of the spaces.
        spaces: Vec<u32>,
    },
}

/// Predecessor of [`Head`] in format 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeadOfFormat1 {
    seq: u64,
    last_event: u64,
    last_episode: u64,
    observations: u64,
    events: u64,
    episodes: u64,
    hidden: u64,
    longest_segment: u64,
}

impl From<HeadOfFormat1> for Head {
    fn from(old: HeadOfFormat1) -> Self {
        Self {
            seq: old.seq,
            last_event: old.last_event,
            last_episode: old.last_episode,
            observations: old.observations,
            events: old.events,
            episodes: old.episodes,
            hidden: old.hidden,
            longest_segment: old.longest_segment,
            stale_bytes: 0,
            // What was forgotten before is in freed pages, and when is not known.
            forgotten_since: (old.hidden > 0).then_some(i64::MIN),
        }
    }
}

/// A row of `events`. A hidden event keeps its number and nothing of its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum EventRow {
    /// Visible.
    Live(EventBody),
    /// Corrected by its sender, or perceived and a part of another one now ([`CONTINUED`]).
    Superseded {
        /// The event that took its place.
        by: u64,
        /// The event whose place it had taken.
        supersedes: Option<u64>,
        /// Digest of its content, by which a late redelivery is recognised.
        digest: Digest,
    },
    /// Forgotten on request.
    Forgotten {
        /// When, wall clock.
        at: i64,
    },
}

/// A visible event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventBody {
    pub episode: u64,
    pub origin: Origin,
    pub kind: Kind,
    pub modality: Modality,
    /// Whether the sender said when; otherwise `start` is the time of receipt.
    pub timed: bool,
    pub start: i64,
    pub end: i64,
    /// Microseconds; of perceived events. A told one has its episode's.
    pub stream: Option<(u64, u64)>,
    pub received: i64,
    pub confidence: f32,
    pub source: String,
    pub sender_id: Option<String>,
    pub entity: Option<String>,
    pub text: String,
    /// JSON: a reader of it bounds the depth, which a binary form would leave to the stack.
    pub attributes: Option<String>,
    pub supersedes: Option<u64>,
}

/// A row of `episodes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum EpisodeRow {
    /// Visible.
    Live(EpisodeBody),
    /// All its events are in another one now.
    Merged {
        /// The other one.
        into: u64,
    },
    /// Nothing of it is left.
    Forgotten {
        /// When, wall clock.
        at: i64,
    },
}

/// A visible episode. Its events are the rows of `members`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EpisodeBody {
    pub origin: Origin,
    pub start: i64,
    pub end: i64,
    pub stream: Option<(u64, u64)>,
    pub source: String,
    pub session: Option<String>,
    pub boundary: Option<Boundary>,
    pub media: Option<String>,
    pub degraded: Vec<String>,
    /// How many visible events it has.
    pub events: u32,
}

/// A row of `spaces`: one embedding space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Space {
    pub name: String,
    pub dimensions: u32,
}

/// A row of `purges`: a stretch of recording that shows what was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Purge {
    /// Source of the recording; every source if absent.
    pub source: Option<String>,
    pub start: i64,
    pub end: i64,
    pub media: Option<String>,
}

/// Digest that is equal for equal told observations of one key.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct ToldContent<'a> {
    kind: Kind,
    until: Option<i64>,
    entity: Option<&'a str>,
    confidence: u32,
    text: &'a str,
    attributes: Option<&'a str>,
}

impl EventBody {
    pub(crate) fn content(&self) -> ToldContent<'_> {
        ToldContent {
            kind: self.kind,
            until: (self.end != self.start).then_some(self.end),
            entity: self.entity.as_deref(),
            confidence: self.confidence.to_bits(),
            text: &self.text,
            attributes: self.attributes.as_deref(),
        }
    }

    /// Returns the digest of everything that its sender said, with the pose that the sender gave.
    pub(crate) fn digest(&self, pose: Option<&Pose>) -> Digest {
        let at = self.timed.then_some(self.start);
        let said = (&self.source, &self.sender_id, at, self.content());
        let mut bytes = postcard::to_stdvec(&said).expect("contents serialise to memory");
        if let Some(pose) = pose {
            bytes.extend(postcard::to_stdvec(pose).expect("poses serialise to memory"));
        }
        let hash = Sha256::digest(bytes);
        hash[..16].try_into().expect("SHA-256 has 32 bytes")
    }

    /// Whether a repetition of it can be recognised by its key; otherwise only by its content.
    pub(crate) fn has_key(&self) -> bool {
        self.sender_id.is_some() && self.timed
    }

    /// The key (`source`, `id`, `at`), if the sender gave an id.
    pub(crate) fn identity(&self) -> Option<Vec<u8>> {
        let id = self.sender_id.as_ref()?;
        Some(joined(&[self.source.as_bytes(), id.as_bytes()], &[self.start]))
    }

    pub(crate) fn span(&self) -> TimeSpan {
        TimeSpan::new(Timestamp::from_micros(self.start), Timestamp::from_micros(self.end))
    }

    pub(crate) fn place(&self) -> Option<String> {
        let attributes = decode_attributes(self.attributes.as_deref()).ok()?;
        attributes.get("place").and_then(Value::as_text).map(fold_name)
    }

    /// The public form without its pose; a told event has the stream time and the recording of the segment that it joined.
    pub(crate) fn into_event(self, id: u64, episode: Option<&EpisodeBody>) -> Result<Event, Failure> {
        let attributes = decode_attributes(self.attributes.as_deref())
            .map_err(|detail| Failure::damaged(EVENT.table, id, detail))?;
        let own_stream = self.stream.map(stream_span);
        let stream = own_stream.or_else(|| {
            let episode = episode?;
            let begin = episode.stream?.0;
            let offset = |at: i64| begin.saturating_add(u64::try_from(at.saturating_sub(episode.start)).unwrap_or(0));
            Some(stream_span((offset(self.start), offset(self.end))))
        });
        Ok(Event {
            id: EventId(id),
            episode: EpisodeId(self.episode),
            origin: self.origin,
            span: self.span(),
            stream,
            attributes,
            media: episode.and_then(|episode| episode.media.clone()),
            received: Timestamp::from_micros(self.received),
            sender_id: self.sender_id,
            kind: self.kind,
            modality: self.modality,
            text: self.text,
            source: self.source,
            entity: self.entity,
            confidence: self.confidence,
            pose: None,
        })
    }
}

impl EpisodeBody {
    pub(crate) fn span(&self) -> TimeSpan {
        TimeSpan::new(Timestamp::from_micros(self.start), Timestamp::from_micros(self.end))
    }

    /// The key of a segment.
    pub(crate) fn segment_key(&self) -> Option<Vec<u8>> {
        let (session, (begin, end)) = (self.session.as_ref()?, self.stream?);
        let numbers = [begin.cast_signed(), end.cast_signed()];
        (self.origin == Origin::Perceived).then(|| joined(&[self.source.as_bytes(), session.as_bytes()], &numbers))
    }

    /// The key under which a told episode is gone on with.
    pub(crate) fn stream_key(&self) -> Option<Vec<u8>> {
        (self.origin == Origin::Told).then(|| match &self.session {
            Some(name) => joined(&[b"session", name.as_bytes()], &[]),
            None => joined(&[b"source", self.source.as_bytes()], &[]),
        })
    }

    pub(crate) fn to_episode(&self, id: u64, events: Vec<EventId>) -> Episode {
        Episode {
            id: EpisodeId(id),
            span: self.span(),
            stream: self.stream.map(stream_span),
            source: self.source.clone(),
            session: self.session.clone(),
            events,
            media: self.media.clone(),
            degraded: self.degraded.clone(),
        }
    }
}

/// Texts and numbers as one key. Every text is preceded by its length, so no two lists of parts have one key.
pub(crate) fn joined(texts: &[&[u8]], numbers: &[i64]) -> Vec<u8> {
    let mut key = Vec::with_capacity(texts.iter().map(|text| text.len() + 2).sum::<usize>() + numbers.len() * 8);
    for text in texts {
        let length = u16::try_from(text.len()).expect("admission bounds names to 1 KiB");
        key.extend_from_slice(&length.to_be_bytes());
        key.extend_from_slice(text);
    }
    for number in numbers {
        // The sign bit turned, so that times before 1970 sort before those after.
        key.extend_from_slice(&(number.cast_unsigned() ^ (1 << 63)).to_be_bytes());
    }
    key
}

pub(crate) fn encode_attributes(attributes: &Attributes) -> Option<String> {
    if attributes.is_empty() {
        return None;
    }
    let object: serde_json::Map<String, serde_json::Value> =
        attributes.iter().map(|(name, value)| (name.clone(), value.into())).collect();
    Some(serde_json::Value::Object(object).to_string())
}

pub(crate) fn decode_attributes(json: Option<&str>) -> Result<Attributes, String> {
    let Some(json) = json else { return Ok(Attributes::new()) };
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(json).map_err(|error| format!("attributes do not decode: {error}"))?;
    Ok(object.into_iter().map(|(name, value)| (name, Value::from(value))).collect())
}

fn stream_span((start, end): (u64, u64)) -> StreamSpan {
    StreamSpan { start: Duration::from_micros(start), end: Duration::from_micros(end.max(start)) }
}

/// The key under which it is remembered that a key was forgotten: nothing can be read from it. No plain key is like it, for
/// those begin with the length of a name.
pub(crate) fn forgotten_key(key: &[u8]) -> [u8; 17] {
    let mut hashed = [FORGOTTEN_KEY; 17];
    hashed[1..].copy_from_slice(&Sha256::digest([b"engram forgotten ", key].concat())[..16]);
    hashed
}

/// First byte of the keys of `identity` and `segments` that were forgotten.
pub(crate) const FORGOTTEN_KEY: u8 = 0xFF;

/// Stream times as they are stored.
pub(crate) fn stream_micros(span: StreamSpan) -> (u64, u64) {
    let micros = |at: Duration| u64::try_from(at.as_micros()).unwrap_or(u64::MAX);
    (micros(span.start), micros(span.end))
}
