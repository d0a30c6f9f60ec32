//! Converts sightings to derived events with a probability and a position in the recording.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::event::{LOOKED, LOOKED_FOR};
use crate::index::{Document, SearchQuery};
use crate::recall::Reader;
use crate::recall::looking::reports_speech;
use crate::{Attributes, Event, EventId, Kind, Origin, ReadError, StreamSpan, Value};

use super::beside::FIRST_FOUND_ID;
use super::interval::Interval;
use super::places;
use super::tools::{Sighting, SightingKind, Tool};

/// Minimum probability of a sighting that the question names, to become an event.
const MIN_NAMED_PROBABILITY: f32 = 0.1;
/// As [`MIN_NAMED_PROBABILITY`], for other sightings.
const MIN_OTHER_PROBABILITY: f32 = 0.5;
/// Share of speech without a transcript, if the memory has a transcript and no event reports other speech.
const WORDLESS_SHARE_KNOWN: f32 = 0.1;
/// As [`WORDLESS_SHARE_KNOWN`], if no event reports speech.
const WORDLESS_SHARE_UNKNOWN: f32 = 0.3;
/// Maximum number of events read from an interval.
const MAX_READ_EVENTS: usize = 200;

/// The stored events of an interval.
pub(super) struct KnownEvents(Vec<Event>);

/// Returns the id of the found event with a number.
pub(super) fn found_id(number: usize) -> EventId {
    EventId(FIRST_FOUND_ID + number as u64)
}

impl KnownEvents {
    /// # Errors
    /// If the store cannot be read.
    pub fn read(interval: &Interval, reader: &dyn Reader) -> Result<Self, ReadError> {
        let query = SearchQuery { span: Some(interval.span()), limit: MAX_READ_EVENTS, ..SearchQuery::default() };
        let mut events = Vec::new();
        for hit in reader.search().search(&query) {
            events.extend(reader.event(hit.id)?.filter(|event| event.media.as_ref() == Some(&interval.media)));
        }
        Ok(Self(events))
    }

    /// Returns the share of the interval's speech without a transcript in the memory, from 0 to 1.
    pub fn wordless_share(&self) -> f32 {
        let sum = |has: &dyn Fn(&Event) -> bool| -> f32 {
            let spans = self.0.iter().filter(|event| event.origin == Origin::Perceived && has(event));
            spans.filter_map(|event| event.stream).map(|own| own.end.saturating_sub(own.start).as_secs_f32()).sum()
        };
        let without = sum(&|event| event.kind == Kind::Sound && reports_speech(&event.text));
        let with = sum(&|event| event.kind == Kind::Text);
        match (without > 0.0, with > 0.0) {
            (true, _) => without / (without + with),
            (false, true) => WORDLESS_SHARE_KNOWN,
            // Nothing listened for speech, or nobody spoke.
            (false, false) => WORDLESS_SHARE_UNKNOWN,
        }
    }

    /// Returns the visible things.
    pub fn objects(&self) -> impl Iterator<Item = &Event> {
        self.0.iter().filter(|event| event.kind == Kind::Object)
    }

    /// Returns whether the memory has a transcript of most of a stretch of speech.
    fn has_transcript(&self, stream: StreamSpan) -> bool {
        let own = self.0.iter().filter(|event| event.kind == Kind::Text && event.origin == Origin::Perceived);
        let shared: Duration = own
            .filter_map(|event| event.stream)
            .map(|own| own.end.min(stream.end).saturating_sub(own.start.max(stream.start)))
            .sum();
        shared * 2 > stream.end.saturating_sub(stream.start)
    }

    /// Returns whether the memory already has this sighting, at about this time.
    fn has_sighting(&self, sighting: &Sighting) -> bool {
        match sighting.kind {
            SightingKind::Speech => return self.has_transcript(sighting.stream),
            // It answers this question, whatever the memory has. For places, see `Places::has_place`.
            SightingKind::Description | SightingKind::Place => return false,
            // Only the vector identifies a face.
            SightingKind::Face => {
                let faces = self.0.iter().filter(|event| event.kind == Kind::Entity && overlap(event, sighting.stream));
                return faces.count() >= usize::try_from(sighting.count).unwrap_or(usize::MAX);
            }
            _ => {}
        }
        let words = |text: &str| {
            let word = |letter: char| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { ' ' };
            format!(" {} ", text.chars().map(word).collect::<String>().trim())
        };
        let name = match sighting.kind {
            SightingKind::Writing => words(&sighting.label),
            _ => words(sighting.label.split([',', '(']).next().unwrap_or_default()),
        };
        let kind = sighting.kind.event_kind();
        self.0.iter().filter(|event| event.kind == kind && overlap(event, sighting.stream)).any(|event| {
            let held = words(&Document::of(event).text).contains(&name);
            held && (sighting.colours.is_empty() || event.attributes.contains_key("colours"))
        })
    }

    /// Returns the event whose episode a finding belongs to: the one with the greatest overlap.
    fn enclosing_event(&self, stream: StreamSpan) -> Option<&Event> {
        let distance = |event: &Event| {
            let own = event.stream.unwrap_or(stream);
            let middle = |span: StreamSpan| (span.start + span.end) / 2;
            middle(own).abs_diff(middle(stream))
        };
        let perceived = self.0.iter().filter(|event| event.origin == Origin::Perceived);
        perceived.min_by_key(|event| (distance(event), event.id))
    }
}

fn overlap(event: &Event, stream: StreamSpan) -> bool {
    event.stream.is_some_and(|own| own.start <= stream.end && stream.start <= own.end)
}

/// Returns the event of a sighting. `None` if the memory has it, if it is too unlikely, or if no episode can contain
/// it.
pub(super) fn derive_event(
    sighting: &Sighting,
    probability: f32,
    wanted: bool,
    (tool, question, number): (Tool, &str, usize),
    interval: &Interval,
    known: &KnownEvents,
) -> Option<Event> {
    if probability < if wanted { MIN_NAMED_PROBABILITY } else { MIN_OTHER_PROBABILITY } || known.has_sighting(sighting)
    {
        return None;
    }
    let beside = known.enclosing_event(sighting.stream)?;
    let text = |text: &str| Value::Text(text.to_owned());
    let mut attributes = Attributes::new();
    let label = sighting.label.as_str();
    match sighting.kind {
        SightingKind::Object | SightingKind::Face => {
            attributes.insert("objects".to_owned(), Value::List(vec![text(label)]));
            let count = BTreeMap::from([(label.to_owned(), Value::Integer(i64::from(sighting.count)))]);
            attributes.insert("counts".to_owned(), Value::Map(count));
        }
        SightingKind::Sound => {
            attributes.insert("sound".to_owned(), text(label));
        }
        SightingKind::Scene => {
            attributes.insert("scene".to_owned(), text(label));
        }
        SightingKind::Writing => {
            attributes.insert("writing".to_owned(), text(label));
        }
        SightingKind::Place => {
            attributes.insert("place".to_owned(), text(label));
        }
        SightingKind::Likeness | SightingKind::Description => {}
        SightingKind::Speech => {
            attributes.insert("recognised".to_owned(), Value::Bool(true));
        }
    }
    if !sighting.colours.is_empty() {
        let colours = sighting.colours.iter().map(|colour| text(colour)).collect();
        attributes.insert("colours".to_owned(), Value::List(colours));
    }
    // Not a fact until a person confirms it.
    attributes.insert("derived".to_owned(), Value::Bool(true));
    attributes.insert(LOOKED.to_owned(), text(tool.name()));
    attributes.insert(LOOKED_FOR.to_owned(), text(question));
    let stream = sighting.stream;
    Some(Event {
        id: found_id(number),
        episode: beside.episode,
        origin: Origin::Perceived,
        sender_id: None,
        kind: sighting.kind.event_kind(),
        modality: sighting.kind.modality(),
        text: match sighting.kind {
            SightingKind::Place => places::sentence("robot", label),
            _ => sighting.text.clone(),
        },
        span: crate::TimeSpan { start: interval.wall_clock_at(stream.start), end: interval.wall_clock_at(stream.end) },
        stream: Some(stream),
        source: beside.source.clone(),
        entity: None,
        attributes,
        confidence: probability,
        media: Some(interval.media.clone()),
        received: beside.received,
        pose: beside.pose.clone(),
    })
}
