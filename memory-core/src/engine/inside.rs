//! Search inside an event: which of its pictures is most like a vector.

use super::sequences;
use super::vectors;
use super::view::View;
use crate::index::signature::{Estimator, quantise};
use crate::recall::{LookInside, cosine};
use crate::store::failure::{Result, if_sound};
use crate::store::records::EventBody;
use crate::{EventId, Sensed, StreamSpan, TimeSpan};
use std::time::Duration;

impl View {
    /// The looks of the pictures of an event in a space, in order of time, each with its cosine to a vector; none where the event
    /// shows one look, which its own vector tells.
    ///
    /// A cosine is that of the event's vector, which is known exactly, and the difference that the signatures of both tell. The
    /// pictures of one event are alike, so most of the bits of their signatures are the same and err in the same way: with 512 bits
    /// the difference errs by 0.034 to 0.038 where picture and event have a cosine of 0.95 to 0.9, and one signature by 0.044.
    pub(super) fn looks_inside(&self, id: EventId, space: &str, wanted: &[f32]) -> Result<Vec<LookInside>> {
        let Some(table) = &self.tables.sequences else { return Ok(Vec::new()) };
        let Some((number, dimensions)) = vectors::find_sensed(&self.tables.spaces, Sensed::Picture, space)? else {
            return Ok(Vec::new());
        };
        let (Some(sequence), Some(body)) = (sequences::row(table, number, id.0)?, self.tables.live_event(id.0)?) else {
            return Ok(Vec::new());
        };
        let planes = sequences::planes(usize::try_from(dimensions).unwrap_or(usize::MAX));
        let Some(estimator) = quantise(wanted).and_then(|wanted| Estimator::for_question(&planes, &wanted)) else {
            return Ok(Vec::new());
        };
        let estimated = |signature: &[u64]| estimator.cosine(estimator.sum(signature));
        let vector = self.sensed_vector(id, number, dimensions)?;
        let known = vector.and_then(|vector| Some((planes.signature(&vector)?, cosine(wanted, &vector)?)));
        let correction = known.map_or(0.0, |(signature, exact)| exact - estimated(&signature));
        let looks = sequence.looks();
        let ends = looks.iter().skip(1).map(|look| Some(look.from)).chain([None]);
        let inside = looks.iter().zip(ends).map(|(look, end)| {
            let (span, stream) = part_of(&body, look.from, end);
            LookInside { span, stream, cosine: (estimated(&look.signature) + correction).clamp(-1.0, 1.0) }
        });
        Ok(inside.collect())
    }

    /// A vector of the senses; `None` where it is damaged, or was forgotten.
    pub(super) fn sensed_vector(&self, id: EventId, number: u32, dimensions: u32) -> Result<Option<Vec<i16>>> {
        let Some(row) = self.tables.vectors.get((number, id.0))? else { return Ok(None) };
        let opened = super::shared::open(&self.tables.vectors, number, id.0, dimensions, row.value());
        Ok(if_sound(opened)?.flatten())
    }
}

/// The part of an event from one moment of its stream to another, or to its end. Inside an event, wall clock and stream run together.
fn part_of(body: &EventBody, from: u64, end: Option<u64>) -> (TimeSpan, StreamSpan) {
    let (begin, last) = body.stream.unwrap_or((from, end.unwrap_or(from)));
    let (from, end) = (from.clamp(begin, last), end.unwrap_or(last).clamp(begin, last));
    let wall = |at: u64| crate::Timestamp::from_micros(body.start).saturating_add(Duration::from_micros(at - begin));
    let stream = StreamSpan { start: Duration::from_micros(from), end: Duration::from_micros(end.max(from)) };
    (TimeSpan::new(wall(from), wall(end.max(from))), stream)
}
