//! Checks of new observations: limits, names, times.

use super::sequences::{self, Look, Sequence};
use super::vectors::{quantize, sensed_space};
use super::wall::CommitTime;
use crate::index::signature::quantise;
use crate::limits::{
    MAX_ATTRIBUTE_BYTES, MAX_ATTRIBUTE_DEPTH, MAX_DIMENSIONS, MAX_NAME_BYTES, MAX_SEGMENT_EVENTS, MAX_TEXT_BYTES,
};
use crate::store::records::{EventBody, Space, encode_attributes, stream_micros};
use crate::{MomentVector, Origin, Perceived, PerceivedEvent, SensedEmbedding, Timestamp, Told, Value};

/// Why an observation is refused, and what to change.
type Refusal = String;

/// What an encoder of the senses made of an event.
#[derive(Debug)]
pub(crate) struct SpaceVector {
    pub space: Space,
    /// A quantised unit vector.
    pub vector: Vec<i16>,
    /// The looks that it is the mean of.
    pub sequence: Sequence,
}

/// A told observation as an event without an episode.
pub(crate) fn admit_told(told: Told, moment: CommitTime) -> Result<EventBody, Refusal> {
    let CommitTime { now, latest, .. } = moment;
    check_text("text", &told.text)?;
    check_name("source", &told.source)?;
    let entity = told.entity.filter(|entity| !entity.trim().is_empty());
    if let Some(entity) = &entity {
        check_name("entity", entity)?;
    }
    if let Some(id) = &told.id {
        check_length("id", id, MAX_NAME_BYTES)?;
    }
    let session = told.attributes.get("session").and_then(Value::as_text);
    check_length("attributes.session", session.unwrap_or_default(), MAX_NAME_BYTES)?;
    let place = told.attributes.get("place").and_then(Value::as_text);
    check_length("attributes.place", place.unwrap_or_default(), MAX_NAME_BYTES)?;
    let attributes = check_attributes(&told.attributes)?;
    let confidence = check_confidence(told.confidence.unwrap_or(1.0))?;

    let start = told.at.unwrap_or(now);
    if start > latest {
        return Err(format!(
            "`at` is {start}, more than 24 h after now ({now}); check the sender's clock, and the time zone of `at`"
        ));
    }
    let end = told.until.unwrap_or(start);
    if end < start {
        return Err(format!("`until` ({end}) is before `at` ({start}); leave it out if the end is not known"));
    }
    Ok(EventBody {
        episode: 0,
        origin: Origin::Told,
        kind: told.kind,
        modality: told.kind.modality(),
        timed: told.at.is_some(),
        start: start.as_micros(),
        end: end.as_micros(),
        stream: None,
        received: now.as_micros(),
        confidence,
        source: told.source,
        sender_id: told.id,
        entity,
        text: told.text,
        attributes,
        supersedes: None,
    })
}

/// Checks a segment as a whole.
pub(crate) fn segment(segment: &Perceived) -> Result<(), Refusal> {
    check_name("source", &segment.source)?;
    check_length("session", &segment.session, MAX_NAME_BYTES)?;
    check_length("media", segment.media.as_deref().unwrap_or_default(), MAX_TEXT_BYTES)?;
    if segment.end < segment.start {
        return Err(format!("the segment ends ({}) before it starts ({})", segment.end, segment.start));
    }
    if segment.events.len() > MAX_SEGMENT_EVENTS {
        return Err(format!("{} events in one segment; at most {MAX_SEGMENT_EVENTS}", segment.events.len()));
    }
    let degraded: usize = segment.degraded.iter().map(String::len).sum();
    if degraded > MAX_TEXT_BYTES {
        return Err(format!("`degraded` has {degraded} bytes; at most {MAX_TEXT_BYTES}"));
    }
    Ok(())
}

/// An event of a segment as an event without an episode, and its vectors.
pub(crate) fn perceived(
    event: PerceivedEvent,
    source: &str,
    now: Timestamp,
) -> Result<(EventBody, Vec<SpaceVector>), Refusal> {
    check_text("text", &event.text)?;
    let vectors = check_embeddings(event.embeddings)?;
    let entity = event.entity.filter(|entity| !entity.trim().is_empty());
    if let Some(entity) = &entity {
        check_name("entity", entity)?;
    }
    let attributes = check_attributes(&event.attributes)?;
    let body = EventBody {
        episode: 0,
        origin: Origin::Perceived,
        kind: event.kind,
        modality: event.modality,
        timed: true,
        start: event.start.as_micros(),
        end: event.end.max(event.start).as_micros(),
        stream: Some(stream_micros(event.stream)),
        received: now.as_micros(),
        confidence: check_confidence(event.confidence)?,
        source: source.to_owned(),
        sender_id: None,
        entity,
        text: event.text,
        attributes,
        supersedes: None,
    };
    Ok((body, vectors))
}

fn check_embeddings(embeddings: Vec<SensedEmbedding>) -> Result<Vec<SpaceVector>, Refusal> {
    let mut vectors: Vec<SpaceVector> = Vec::with_capacity(embeddings.len());
    for SensedEmbedding { sensed, space, vector, sequence } in embeddings {
        let what = sensed.name();
        check_length("embeddings.space", &space, MAX_NAME_BYTES)?;
        let norm = vector.iter().map(|component| f64::from(*component).powi(2)).sum::<f64>().sqrt();
        if vector.len() > MAX_DIMENSIONS || !norm.is_finite() || norm == 0.0 {
            return Err(format!(
                "the {what} embedding in {space} has {} components and the norm {norm}; it takes 1 to {MAX_DIMENSIONS} \
                 finite ones that are not all 0",
                vector.len()
            ));
        }
        let dimensions = u32::try_from(vector.len()).expect("at most `MAX_DIMENSIONS`");
        let space = Space { name: sensed_space(sensed, &space), dimensions };
        if vectors.iter().any(|known| known.space.name == space.name) {
            return Err(format!("two {what} embeddings of one event in {}; at most one", space.name));
        }
        // Components of a unit vector, so nothing is lost by going to 32 bits.
        #[allow(clippy::cast_possible_truncation)]
        let unit: Vec<f32> = vector.iter().map(|component| (f64::from(*component) / norm) as f32).collect();
        let sequence = looks(sequence, vector.len());
        vectors.push(SpaceVector { space, vector: quantize(&unit), sequence });
    }
    Ok(vectors)
}

/// The looks of single pictures. A picture that cannot be compared is left out: the mean stands for it.
fn looks(mut moments: Vec<MomentVector>, dimensions: usize) -> Sequence {
    let mut sequence = Sequence::default();
    if moments.len() < 2 {
        return sequence;
    }
    let planes = sequences::planes(dimensions);
    moments.sort_by_key(|moment| moment.at);
    for MomentVector { at, vector } in moments {
        let signature = quantise(&vector).and_then(|vector| planes.signature(&vector));
        let from = u64::try_from(at.as_micros()).unwrap_or(u64::MAX);
        signature.into_iter().for_each(|signature| sequence.push(Look { from, signature }));
    }
    sequence
}

/// Names travel in topics and on command lines.
fn check_name(what: &str, name: &str) -> Result<(), Refusal> {
    check_length(what, name, MAX_NAME_BYTES)?;
    match name.chars().find(|&c| matches!(c, '+' | '#' | '/') || c.is_control()) {
        Some(c) => {
            Err(format!("`{what}` has the character {c:?}; names are without `+`, `#`, `/` and control characters"))
        }
        None => Ok(()),
    }
}

fn check_length(what: &str, text: &str, most: usize) -> Result<(), Refusal> {
    if text.len() > most {
        return Err(format!("`{what}` has {} bytes; at most {most}", text.len()));
    }
    Ok(())
}

fn check_text(what: &str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(format!("`{what}` is empty; say in words what was observed"));
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(format!("`{what}` has {} bytes; at most {MAX_TEXT_BYTES}, split it", text.len()));
    }
    Ok(())
}

fn check_confidence(confidence: f32) -> Result<f32, Refusal> {
    if (0.0..=1.0).contains(&confidence) {
        Ok(confidence)
    } else {
        Err(format!("`confidence` is {confidence}; it goes from 0 to 1"))
    }
}

fn check_attributes(attributes: &crate::Attributes) -> Result<Option<String>, Refusal> {
    for value in attributes.values() {
        check_value(value, 1)?;
    }
    let json = encode_attributes(attributes);
    check_length("attributes", json.as_deref().unwrap_or_default(), MAX_ATTRIBUTE_BYTES)?;
    Ok(json)
}

fn check_value(value: &Value, depth: usize) -> Result<(), Refusal> {
    if depth > MAX_ATTRIBUTE_DEPTH {
        return Err(format!("`attributes` are nested deeper than {MAX_ATTRIBUTE_DEPTH}"));
    }
    match value {
        Value::Number(number) if !number.is_finite() => Err("`attributes` have a number that is not finite".into()),
        Value::List(items) => items.iter().try_for_each(|item| check_value(item, depth + 1)),
        Value::Map(items) => items.values().try_for_each(|item| check_value(item, depth + 1)),
        _ => Ok(()),
    }
}
