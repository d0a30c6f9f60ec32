//! Consolidation (HippoMM 4.2.3): perceived segments that show the same place without a break become one episode, and what goes
//! on from one into the next becomes one event.
//!
//! HippoMM keeps a segment only if it is less alike than γ to what is kept. Here nothing is dropped: the stay keeps the union of
//! the spans, every text, and the recording. Events of another text, those that somebody told, speech, and faces and voices,
//! which are tracks of persons, stay as they are. So a memory grows by what is new, and forgetting a minute of a stay can part
//! it again at the segments that it was made of.

use std::time::Duration;

use crate::centroid::{dot, follow};
use crate::pose::wrapped;
use crate::store::{EventBody, decode_attributes, encode_attributes};
use crate::{Kind, Origin, Pose, Value};

/// Maximum gap, in microseconds, between segments and events that belong together. Cuts and encoders leave small gaps.
const MAX_GAP_US: i64 = 2_000_000;
/// Maximum drift, in microseconds, between wall clock and stream within a stay: the wall time of a part follows from its stream
/// time.
const MAX_CLOCK_DRIFT_US: i64 = 100_000;
/// Maximum distance, in metres, from where a stay began. Localisation wanders that much.
const MAX_SHIFT_M: f64 = 0.5;
/// Maximum turn, in radians, from the heading at which a stay began.
const MAX_TURN_RAD: f64 = 0.35;
/// Longest stay, in microseconds. A stay ends with its hour, because gists summarise hours.
const HOUR_US: i64 = 3_600_000_000;

/// A space of pictures in which places can be told apart. The caller names it, because a memory knows no models.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceSpace {
    /// The name of the space.
    pub space: String,
    /// γ: the cosine from which two segments show one place, above 0 and at most 1.
    pub gamma: f32,
}

impl PlaceSpace {
    /// Whether γ is one.
    pub(crate) fn is_usable(&self) -> bool {
        self.gamma > 0.0 && self.gamma <= 1.0
    }
}

/// γ of a space of pictures; `None` where places cannot be told apart in it.
pub(crate) fn gamma(known: &[PlaceSpace], space: &str) -> Option<f32> {
    known.iter().find(|known| known.space == space).map(|known| known.gamma)
}

/// Features of a perceived segment, or of a stay that absorbed some, which consolidation compares.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sketch {
    pub episode: u64,
    pub start: i64,
    pub end: i64,
    pub stream: (u64, u64),
    pub source: String,
    pub session: String,
    pub media: Option<String>,
    /// Embedding of its picture, if an encoder made one: a unit vector, and γ of its space.
    pub picture: Option<(Vec<f32>, f32)>,
    /// The first picture, which bounds how far the average drifts.
    pub anchor: Option<Vec<f32>>,
    /// Position, if it is known: the pose of its first event.
    pub pose: Option<Pose>,
    /// Its events in words, sorted: what tells segments without pictures apart.
    pub texts: Vec<String>,
}

impl Sketch {
    /// Whether `next` is the same stay: the same recording goes on and shows the same.
    pub(crate) fn takes_in(&self, next: &Self) -> bool {
        let stream = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        let offset = |sketch: &Self| sketch.start.saturating_sub(stream(sketch.stream.0));
        (&self.source, &self.session, &self.media) == (&next.source, &next.session, &next.media)
            && self.start.div_euclid(HOUR_US) == next.start.div_euclid(HOUR_US)
            && next.start.saturating_sub(self.end).abs() <= MAX_GAP_US
            && offset(self).abs_diff(offset(next)) <= MAX_CLOCK_DRIFT_US.unsigned_abs()
            && self.stands_where(next)
            && self.shows_the_same(next)
    }

    /// A robot that moves stays nowhere, however alike the walls are that it passes.
    fn stands_where(&self, next: &Self) -> bool {
        match (&self.pose, &next.pose) {
            (Some(own), Some(other)) => {
                own.distance(other).is_some_and(|distance| distance <= MAX_SHIFT_M)
                    && wrapped(own.yaw - other.yaw).abs() <= MAX_TURN_RAD
            }
            (None, None) => true,
            _ => false,
        }
    }

    fn shows_the_same(&self, next: &Self) -> bool {
        match (&self.picture, &self.anchor, &next.picture) {
            (Some((own, gamma)), Some(anchor), Some((other, _))) => {
                own.len() == other.len() && dot(own, other) >= *gamma && dot(anchor, other) >= *gamma
            }
            (None, _, None) => self.texts == next.texts,
            _ => false,
        }
    }

    /// Goes on with `next`, which it [takes in](Self::takes_in); `refined`: its picture follows.
    pub(crate) fn extend(&mut self, next: &Self, refined: bool) {
        self.end = self.end.max(next.end);
        self.stream.1 = self.stream.1.max(next.stream.1);
        if refined
            && let (Some((own, _)), Some(anchor), Some((other, _))) = (&mut self.picture, &self.anchor, &next.picture)
        {
            follow(own, anchor, other);
        }
    }
}

/// Events of a stay that are one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Joined {
    /// The events, in order of their begins.
    pub events: Vec<u64>,
    /// The merged segment.
    pub body: EventBody,
}

/// Whether an event may go on in the next segment: one that says what is in view or heard, not what somebody said or who it was.
/// `is_track`: whether it has a face or a voice.
pub(crate) fn may_go_on(body: &EventBody, is_track: bool) -> bool {
    let of_the_scene = matches!(body.kind, Kind::Object | Kind::Caption | Kind::Sound | Kind::State);
    // What was found by looking again is told with the question that it was looked for.
    let is_derived =
        || decode_attributes(body.attributes.as_deref()).is_ok_and(|attributes| attributes.contains_key("derived"));
    body.origin == Origin::Perceived && of_the_scene && body.entity.is_none() && !is_track && !is_derived()
}

/// Joins events that go on: the same words, and no break. Takes those that [may](may_go_on), in any order; those that stay alone are
/// left out.
pub(crate) fn joined(mut events: Vec<(u64, EventBody)>) -> Vec<Joined> {
    events.sort_by(|(a_id, a), (b_id, b)| {
        (&a.text, a.kind as u8, a.modality, a.start, a_id).cmp(&(&b.text, b.kind as u8, b.modality, b.start, b_id))
    });
    let mut groups: Vec<Joined> = Vec::new();
    for (id, body) in events {
        match groups.last_mut().filter(|group| goes_on(&group.body, &body)) {
            Some(group) => {
                join(&mut group.body, &body, group.events.len());
                group.events.push(id);
            }
            None => groups.push(Joined { events: vec![id], body }),
        }
    }
    groups.retain(|group| group.events.len() > 1);
    for group in &mut groups {
        set_duration(&mut group.body);
    }
    groups.sort_by_key(|group| group.events[0]);
    groups
}

fn goes_on(one: &EventBody, next: &EventBody) -> bool {
    (&one.text, one.kind, one.modality, &one.source) == (&next.text, next.kind, next.modality, &next.source)
        && next.start.saturating_sub(one.end) <= MAX_GAP_US
}

/// The confidence of the whole is the mean of the parts.
fn join(whole: &mut EventBody, next: &EventBody, parts: usize) {
    #[expect(clippy::cast_precision_loss, reason = "some hundreds of parts")]
    let parts = parts as f32;
    whole.confidence = ((whole.confidence * parts + next.confidence) / (parts + 1.0)).clamp(0.0, 1.0);
    whole.end = whole.end.max(next.end);
    whole.stream = match (whole.stream, next.stream) {
        (Some((start, end)), Some((_, next))) => Some((start, end.max(next))),
        (own, _) => own,
    };
}

/// An event that says how long it lasted says so of what it is now.
pub(crate) fn set_duration(body: &mut EventBody) {
    let Ok(mut attributes) = decode_attributes(body.attributes.as_deref()) else { return };
    if let Some(duration) = attributes.get_mut("duration_s") {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of an hour")]
        let seconds = (body.end.saturating_sub(body.start) / 1000) as f64 / 1000.0;
        *duration = Value::Number(seconds);
        body.attributes = encode_attributes(&attributes);
    }
}

/// The parts of a span before a stretch, inside it, and after it. What has no length is in one of them.
pub(crate) fn parts_of(start: i64, end: i64, inside: (i64, i64)) -> [Option<(i64, i64)>; 3] {
    if start == end {
        let place = if start < inside.0 { 0 } else { 1 + usize::from(start >= inside.1) };
        return std::array::from_fn(|part| (part == place).then_some((start, end)));
    }
    [
        (start < inside.0).then(|| (start, end.min(inside.0))),
        (start < inside.1 && end > inside.0).then(|| (start.max(inside.0), end.min(inside.1))),
        (end > inside.1).then(|| (start.max(inside.1), end)),
    ]
}

/// Options of consolidation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsolidationOptions {
    /// Whether it is done.
    pub enabled: bool,
    /// How old a segment must be, because what was just seen is answered as it was seen; and how long nothing may go on with a stay
    /// until it is over.
    pub after: Duration,
    /// Whether the vector of a stay and of a place follows what they take in (HippoMM's EMA). A measurement turns it off.
    pub refined: bool,
}

impl Default for ConsolidationOptions {
    fn default() -> Self {
        Self { enabled: true, after: Duration::from_secs(120), refined: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Modality;

    const SECOND_US: i64 = 1_000_000;

    fn sketch(episode: u64, start: i64, picture: &[f32]) -> Sketch {
        let micros = |at: i64| u64::try_from(at * SECOND_US).unwrap();
        Sketch {
            episode,
            start: start * SECOND_US,
            end: (start + 10) * SECOND_US,
            stream: (micros(start), micros(start + 10)),
            source: "eye".into(),
            session: "s".into(),
            media: None,
            picture: Some((picture.to_vec(), 0.8)),
            anchor: Some(picture.to_vec()),
            pose: None,
            texts: Vec::new(),
        }
    }

    fn event(text: &str, start: i64, end: i64) -> EventBody {
        EventBody {
            episode: 1,
            origin: Origin::Perceived,
            kind: Kind::Object,
            modality: Modality::Visual,
            timed: true,
            start: start * SECOND_US,
            end: end * SECOND_US,
            stream: Some((u64::try_from(start * SECOND_US).unwrap(), u64::try_from(end * SECOND_US).unwrap())),
            received: 0,
            confidence: 0.5,
            source: "eye".into(),
            sender_id: None,
            entity: None,
            text: text.into(),
            attributes: None,
            supersedes: None,
        }
    }

    #[test]
    fn a_stay_ends_with_the_place_the_hour_a_break_or_a_clock_that_jumps() {
        let (here, there) = ([1.0, 0.0], [0.0, 1.0]);
        let stay = sketch(1, 0, &here);
        assert!(stay.takes_in(&sketch(2, 10, &here)));
        assert!(!stay.takes_in(&sketch(2, 10, &there)));
        assert!(!stay.takes_in(&sketch(2, 30, &here)), "a break");
        assert!(!sketch(1, 3590, &here).takes_in(&sketch(2, 3600, &here)), "the next hour");
        let mut jumped = sketch(2, 10, &here);
        (jumped.stream.0, jumped.stream.1) = (11_000_000, 21_000_000);
        assert!(!stay.takes_in(&jumped), "the wall clock was set");
    }

    #[test]
    fn the_average_follows_a_slow_change_no_farther_than_the_first_picture_allows() {
        let turned = |degrees: f32| [degrees.to_radians().cos(), degrees.to_radians().sin()];
        let mut stay = sketch(1, 0, &turned(0.0));
        let mut took = 0;
        for (number, degrees) in (1..).zip([8.0, 16.0, 24.0, 32.0, 40.0, 48.0_f32]) {
            let next = sketch(number + 1, 10 * i64::try_from(number).unwrap(), &turned(degrees));
            if !stay.takes_in(&next) {
                break;
            }
            stay.extend(&next, true);
            took += 1;
        }
        assert_eq!(took, 4, "0.8 is the cosine of 37 degrees");
        let norm: f32 = stay.picture.unwrap().0.iter().map(|component| component * component).sum();
        assert!((norm - 1.0).abs() < 1e-5);
    }

    #[test]
    fn the_same_words_without_a_break_are_one_event_and_others_stay() {
        let events = vec![
            (1, event("A cup is in view.", 0, 10)),
            (2, event("A dog is in view.", 0, 4)),
            (3, event("A cup is in view.", 10, 20)),
            (4, event("A dog is in view.", 12, 20)),
            (5, event("A cup is in view.", 20, 30)),
        ];
        let groups = joined(events);
        assert_eq!(groups.len(), 1, "the dog was away for eight seconds");
        assert_eq!(groups[0].events, [1, 3, 5]);
        let body = &groups[0].body;
        assert_eq!((body.start, body.end), (0, 30 * SECOND_US));
        assert_eq!(body.stream, Some((0, 30_000_000)));
    }

    #[test]
    fn what_overlaps_a_stretch_is_parted_and_nothing_is_lost_or_doubled() {
        assert_eq!(parts_of(0, 30, (10, 20)), [Some((0, 10)), Some((10, 20)), Some((20, 30))]);
        assert_eq!(parts_of(0, 10, (10, 20)), [Some((0, 10)), None, None]);
        assert_eq!(parts_of(12, 14, (10, 20)), [None, Some((12, 14)), None]);
        assert_eq!(parts_of(15, 30, (10, 20)), [None, Some((15, 20)), Some((20, 30))]);
        assert_eq!(parts_of(20, 20, (10, 20)), [None, None, Some((20, 20))]);
        assert_eq!(parts_of(10, 10, (10, 20)), [None, Some((10, 10)), None]);
    }
}
