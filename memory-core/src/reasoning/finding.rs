//! What a tool named as events: derived, with the probability that it is there, and pointing to its second of the recording.

use std::collections::BTreeMap;

use crate::index::{Document, SearchQuery};
use crate::recall::Reader;
use crate::{Attributes, Event, EventId, Kind, Origin, ReadError, StreamSpan, Value};

use super::beside::FIRST;
use super::interval::Interval;
use super::tools::{Sighting, Tool};

/// Attribute of a derived event: the tool that found it.
pub(crate) const LOOKED: &str = "looked";
/// Attribute of a derived event: the question that it was found for.
pub(crate) const LOOKED_FOR: &str = "looked_for";
/// Less likely things are no events where the question names them, ...
const MIN_PROBABILITY: f32 = 0.1;
/// ... and where it does not.
const LEAST_OTHER: f32 = 0.5;
/// Events of an interval that are read.
const READ: usize = 200;

/// What memory holds of an interval.
pub(super) struct KnownEvents(Vec<Event>);

impl KnownEvents {
    /// # Errors
    /// If the store cannot be read.
    pub fn of(interval: &Interval, reader: &dyn Reader) -> Result<Self, ReadError> {
        let query = SearchQuery { span: Some(interval.span()), limit: READ, ..SearchQuery::default() };
        let mut events = Vec::new();
        for hit in reader.search().search(&query) {
            events.extend(reader.event(hit.id)?.filter(|event| event.media.as_ref() == Some(&interval.media)));
        }
        Ok(Self(events))
    }

    /// Whether memory has this already, at about this time.
    fn has(&self, sighting: &Sighting) -> bool {
        let words = |text: &str| {
            let word = |letter: char| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { ' ' };
            format!(" {} ", text.chars().map(word).collect::<String>().trim())
        };
        let name = words(sighting.label.split([',', '(']).next().unwrap_or_default());
        self.0.iter().filter(|event| event.kind == sighting.kind && overlap(event, sighting.stream)).any(|event| {
            let held = words(&Document::of(event).text).contains(&name);
            held && (sighting.colours.is_empty() || event.attributes.contains_key("colours"))
        })
    }

    /// The event beside which a finding belongs: of the episode that has most of it.
    fn beside(&self, stream: StreamSpan) -> Option<&Event> {
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

/// The event of a sighting; `None` if memory has it, if it is too unlikely, or if no episode is there to take it.
pub(super) fn event(
    sighting: &Sighting,
    probability: f32,
    wanted: bool,
    (tool, question, number): (Tool, &str, usize),
    interval: &Interval,
    known: &KnownEvents,
) -> Option<Event> {
    if probability < if wanted { MIN_PROBABILITY } else { LEAST_OTHER } || known.has(sighting) {
        return None;
    }
    let beside = known.beside(sighting.stream)?;
    let text = |text: &str| Value::Text(text.to_owned());
    let mut attributes = Attributes::new();
    let label = sighting.label.as_str();
    match sighting.kind {
        Kind::Object => {
            attributes.insert("objects".to_owned(), Value::List(vec![text(label)]));
            let count = BTreeMap::from([(label.to_owned(), Value::Integer(i64::from(sighting.count)))]);
            attributes.insert("counts".to_owned(), Value::Map(count));
        }
        Kind::Sound => {
            attributes.insert("sound".to_owned(), text(label));
        }
        _ => {
            attributes.insert("scene".to_owned(), text(label));
        }
    }
    if !sighting.colours.is_empty() {
        let colours = sighting.colours.iter().map(|colour| text(colour)).collect();
        attributes.insert("colours".to_owned(), Value::List(colours));
    }
    // No fact until somebody confirms it.
    attributes.insert("derived".to_owned(), Value::Bool(true));
    attributes.insert(LOOKED.to_owned(), text(tool.name()));
    attributes.insert(LOOKED_FOR.to_owned(), text(question));
    let stream = sighting.stream;
    Some(Event {
        id: EventId(FIRST + number as u64),
        episode: beside.episode,
        origin: Origin::Perceived,
        sender_id: None,
        kind: sighting.kind,
        modality: sighting.modality,
        text: sighting.text.clone(),
        span: crate::TimeSpan { start: interval.wall(stream.start), end: interval.wall(stream.end) },
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
