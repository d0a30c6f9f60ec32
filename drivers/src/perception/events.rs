//! The atomic events of a segment.

use std::collections::BTreeMap;
use std::time::Duration;

use memory_core::segment::Segment;
use memory_core::{Attributes, Kind, Modality, PerceivedEvent, Sensed, SensedEmbedding, StreamSpan, Timestamp, Value};

use super::scenes::Scene;
use super::sentence;
use super::signal::ConditionSpan;
use super::sounds::Heard;
use super::tracks::{FACE, InView, mean};
use super::voices::Voices;
use super::writing::Written;
use crate::capture::Subtitle;
use crate::encoders::SpeechInterval;

/// Pauses shorter than this do not divide speech into two events.
const MAX_SPEECH_PAUSE: Duration = Duration::from_secs(1);
/// Minimum length of what a boundary leaves of speech on one side.
const MIN_SPEECH: Duration = Duration::from_millis(250);
/// Share above which speech counts as covered by subtitles.
const SUBTITLED_SHARE: f64 = 0.5;
/// Text of an event of speech without its words.
pub(super) const SPEAKING: &str = "Someone is speaking.";
/// Confidence of a scene of which only the colours are known.
const UNNAMED_SCENE_CONFIDENCE: f32 = 0.5;

/// Stream time on the wall clock: one moment of which both are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct WallAnchor {
    pub(super) stream: Duration,
    pub(super) wall: Timestamp,
}

impl WallAnchor {
    pub(super) fn wall(&self, stream: Duration) -> Timestamp {
        if stream >= self.stream {
            self.wall.saturating_add(stream - self.stream)
        } else {
            self.wall.saturating_sub(self.stream - stream)
        }
    }

    fn event(&self, kind: Kind, modality: Modality, text: String, start: Duration, end: Duration) -> PerceivedEvent {
        let end = end.max(start);
        PerceivedEvent {
            kind,
            modality,
            text,
            start: self.wall(start),
            end: self.wall(end),
            stream: StreamSpan { start, end },
            entity: None,
            attributes: Attributes::new(),
            confidence: 1.0,
            pose: None,
            embeddings: Vec::new(),
        }
    }
}

/// What the senses gathered for one segment.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) objects: Vec<InView>,
    pub(super) scene: Option<Scene>,
    pub(super) writing: Vec<Written>,
    pub(super) sounds: Vec<(Heard, Option<SensedEmbedding>)>,
    pub(super) speech: Vec<SpeechInterval>,
    pub(super) subtitles: Vec<Subtitle>,
    pub(super) signal: Vec<ConditionSpan>,
    /// Names of the spaces of face and picture vectors, and of that which pictures and texts share.
    pub(super) face_space: Option<String>,
    pub(super) picture_space: Option<String>,
    pub(super) joint_space: Option<String>,
}

/// Everything of one segment, in order of time.
pub(super) fn events(
    anchor: WallAnchor,
    segment: &Segment,
    gathered: Gathered,
    shown: &[StreamSpan],
    voices: Option<&Voices>,
) -> Vec<PerceivedEvent> {
    let Gathered { objects, scene, writing, sounds, speech, subtitles, signal, .. } = gathered;
    let Gathered { face_space, picture_space, joint_space, .. } = gathered;
    let mut events: Vec<PerceivedEvent> =
        objects.into_iter().map(|view| object_event(anchor, view, face_space.as_deref())).collect();
    events.extend(scene.and_then(|scene| scene_event(anchor, segment, scene, picture_space, joint_space)));
    events.extend(writing.into_iter().map(|written| writing_event(anchor, written)));
    events.extend(sounds.into_iter().map(|(heard, embedding)| sound_event(anchor, heard, embedding)));
    events.extend(speech_events(anchor, segment, &speech, shown, voices));
    events.extend(subtitles.into_iter().map(|subtitle| subtitle_event(subtitle, voices)));
    events.extend(signal.into_iter().map(|stretch| signal_event(anchor, stretch)));
    // Stable: what begins at one moment stays in the order objects, scene, sounds, speech, subtitles, signal.
    events.sort_by_key(|event| event.stream.start);
    events
}

fn object_event(anchor: WallAnchor, view: InView, face_space: Option<&str>) -> PerceivedEvent {
    let kind = if &*view.label == FACE { Kind::Entity } else { Kind::Object };
    let mut event = anchor.event(kind, Modality::Visual, sentence::in_view(&view), view.start, view.end);
    let attributes = &mut event.attributes;
    // The name of the class as a value: a sentence says "people", a question may say "person".
    attributes.insert("objects".to_owned(), Value::List(vec![Value::Text((*view.label).to_owned())]));
    let count = Value::Integer(i64::try_from(view.count).unwrap_or(i64::MAX));
    attributes.insert("counts".to_owned(), Value::Map(BTreeMap::from([((*view.label).to_owned(), count)])));
    let mut colours: Vec<Value> = Vec::new();
    for colour in view.colours.iter().flatten() {
        let colour = Value::Text((*colour).to_owned());
        if !colours.contains(&colour) {
            colours.push(colour);
        }
    }
    if !colours.is_empty() {
        attributes.insert("colours".to_owned(), Value::List(colours));
    }
    event.confidence = view.confidence.clamp(0.0, 1.0);
    if let (Some(vector), Some(space)) = (view.face_vector, face_space) {
        event.embeddings.push(SensedEmbedding {
            sensed: Sensed::Face,
            space: space.to_owned(),
            vector,
            sequence: Vec::new(),
        });
    }
    event
}

fn scene_event(
    anchor: WallAnchor,
    segment: &Segment,
    scene: Scene,
    space: Option<String>,
    joint_space: Option<String>,
) -> Option<PerceivedEvent> {
    let text = sentence::scene(&scene)?;
    let mut event = anchor.event(Kind::Caption, Modality::Visual, text, segment.start, segment.end);
    let texts = |words: Vec<&str>| Value::List(words.into_iter().map(|word| Value::Text(word.to_owned())).collect());
    if !scene.colours.is_empty() {
        event.attributes.insert("colours".to_owned(), texts(scene.colours.clone()));
    }
    // What the model is less sure of is no text to be found by.
    event.confidence =
        scene.looks_like.as_ref().map_or(UNNAMED_SCENE_CONFIDENCE, |(_, likely)| *likely).clamp(0.0, 1.0);
    if let Some((name, _)) = &scene.looks_like {
        event.attributes.insert("scene".to_owned(), Value::Text((**name).to_owned()));
    }
    for (sequence, space) in [(scene.vectors, space), (scene.joint, joint_space)] {
        let vectors: Vec<&[f32]> = sequence.iter().map(|moment| moment.vector.as_slice()).collect();
        if let (Some(vector), Some(space)) = (mean(&vectors), space) {
            event.embeddings.push(SensedEmbedding { sensed: Sensed::Picture, space, vector, sequence });
        }
    }
    Some(event)
}

fn writing_event(anchor: WallAnchor, written: Written) -> PerceivedEvent {
    let text = super::writing::in_view(&written.text);
    let mut event = anchor.event(Kind::Caption, Modality::Visual, text, written.start, written.end);
    event.attributes.insert("writing".to_owned(), Value::Text(written.text));
    event.confidence = written.confidence.clamp(0.0, 1.0);
    event
}

fn sound_event(anchor: WallAnchor, heard: Heard, embedding: Option<SensedEmbedding>) -> PerceivedEvent {
    let mut event = anchor.event(Kind::Sound, Modality::Audio, heard.text, heard.start, heard.end);
    let names = heard.names.iter().map(|name| Value::Text((**name).to_owned())).collect();
    event.attributes.insert("sounds".to_owned(), Value::List(names));
    event.attributes.insert("duration_s".to_owned(), seconds(heard.start, heard.end));
    event.confidence = heard.confidence.clamp(0.0, 1.0);
    event.embeddings.extend(embedding);
    event
}

fn seconds(start: Duration, end: Duration) -> Value {
    Value::Number(end.saturating_sub(start).as_millis() as f64 / 1000.0)
}

fn speech_events(
    anchor: WallAnchor,
    segment: &Segment,
    speech: &[SpeechInterval],
    shown: &[StreamSpan],
    voices: Option<&Voices>,
) -> Vec<PerceivedEvent> {
    // A pause divides what is told where another voice goes on behind it.
    let goes_on = |last: &SpeechInterval, start: Duration, end: Duration| {
        start.saturating_sub(last.end) < MAX_SPEECH_PAUSE
            && voices.is_none_or(|voices| voices.may_be_one((last.start, last.end), (start, end)))
    };
    let mut stretches: Vec<SpeechInterval> = Vec::new();
    for interval in speech {
        let (start, end) = (interval.start.max(segment.start), interval.end.min(segment.end));
        if end <= start || covered(start, end, shown) > SUBTITLED_SHARE {
            continue;
        }
        match stretches.last_mut() {
            Some(last) if goes_on(last, start, end) => {
                let (before, now) = ((last.end - last.start).as_secs_f32(), (end - start).as_secs_f32());
                let sum = last.probability * before + interval.probability * now;
                *last = SpeechInterval { start: last.start, end, probability: sum / (before + now) };
            }
            _ => stretches.push(SpeechInterval { start, end, probability: interval.probability }),
        }
    }
    let event = |stretch: SpeechInterval| {
        let text = SPEAKING.to_owned();
        let mut event = anchor.event(Kind::Sound, Modality::Audio, text, stretch.start, stretch.end);
        event.attributes.insert("duration_s".to_owned(), seconds(stretch.start, stretch.end));
        event.confidence = stretch.probability.clamp(0.0, 1.0);
        event.embeddings.extend(voices.and_then(|voices| voices.between(stretch.start, stretch.end)));
        event
    };
    stretches.into_iter().filter(|stretch| stretch.end - stretch.start >= MIN_SPEECH).map(event).collect()
}

fn signal_event(anchor: WallAnchor, ConditionSpan { condition, start, end }: ConditionSpan) -> PerceivedEvent {
    let (kind, modality) = condition.kind();
    let mut event = anchor.event(kind, modality, condition.text().to_owned(), start, end);
    event.attributes.insert("signal".to_owned(), Value::Text(condition.name().to_owned()));
    event.attributes.insert("duration_s".to_owned(), seconds(start, end));
    event
}

/// The part of a stretch during which a subtitle is shown.
fn covered(start: Duration, end: Duration, shown: &[StreamSpan]) -> f64 {
    let mut sum = Duration::ZERO;
    let mut until = start;
    for span in shown {
        let (from, to) = (span.start.max(until), span.end.min(end));
        if to > from {
            sum += to - from;
            until = to;
        }
    }
    sum.as_secs_f64() / (end - start).as_secs_f64()
}

/// With its own times: it may end in the next segment.
fn subtitle_event(subtitle: Subtitle, voices: Option<&Voices>) -> PerceivedEvent {
    let Subtitle { start, end, wall, text } = subtitle;
    let mut event = WallAnchor { stream: start, wall }.event(Kind::Text, Modality::Audio, text, start, end);
    event.embeddings.extend(voices.and_then(|voices| voices.between(start, end)));
    event
}

#[cfg(test)]
mod tests {
    use memory_core::Boundary;

    use super::*;

    fn millis(at: u64) -> Duration {
        Duration::from_millis(at)
    }

    fn told(speech: &[(u64, u64)], shown: &[(u64, u64)]) -> Vec<(u128, u128)> {
        let anchor = WallAnchor { stream: Duration::ZERO, wall: Timestamp::from_micros(0) };
        let segment = Segment { start: millis(1000), end: millis(9000), boundary: Boundary::Length };
        let interval =
            |(start, end): &(u64, u64)| SpeechInterval { start: millis(*start), end: millis(*end), probability: 0.9 };
        let speech: Vec<_> = speech.iter().map(interval).collect();
        let shown: Vec<_> =
            shown.iter().map(|(start, end)| StreamSpan { start: millis(*start), end: millis(*end) }).collect();
        let events = speech_events(anchor, &segment, &speech, &shown, None);
        events.iter().map(|event| (event.stream.start.as_millis(), event.stream.end.as_millis())).collect()
    }

    #[test]
    fn short_pauses_do_not_divide_what_is_told() {
        assert_eq!(told(&[(2000, 3000), (3900, 5000), (6000, 7000)], &[]), [(2000, 5000), (6000, 7000)]);
    }

    #[test]
    fn speech_is_cut_at_the_segment_and_what_little_is_left_is_not_told() {
        assert_eq!(told(&[(500, 1100), (8000, 9500)], &[]), [(8000, 9000)]);
    }

    #[test]
    fn half_of_a_stretch_under_subtitles_is_enough() {
        assert_eq!(told(&[(2000, 4000)], &[(1500, 3100)]), []);
        assert_eq!(told(&[(2000, 4000)], &[(1500, 2500), (2000, 2900)]), [(2000, 4000)]);
    }

    #[test]
    fn wall_times_before_and_after_the_anchor_are_known() {
        let anchor = WallAnchor { stream: millis(5000), wall: Timestamp::from_micros(1_000_000) };
        assert_eq!(anchor.wall(millis(6000)).as_micros(), 2_000_000);
        assert_eq!(anchor.wall(millis(3000)).as_micros(), -1_000_000);
    }
}
