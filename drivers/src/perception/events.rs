//! The atomic events of a segment.

use std::collections::BTreeMap;
use std::time::Duration;

use memory_core::segment::Segment;
use memory_core::{Attributes, Kind, Modality, PerceivedEvent, StreamSpan, Timestamp, Value};

use super::objects::InView;
use super::sentence;
use super::signal::Stretch;
use crate::capture::Subtitle;
use crate::encoders::SpeechInterval;

/// Pauses shorter than this do not divide what is told of speech.
const SPEECH_PAUSE: Duration = Duration::from_secs(1);
/// What a boundary leaves of speech on one side is not told if it is shorter than this.
const SHORTEST_SPEECH: Duration = Duration::from_millis(250);
/// Speech of which subtitles cover more than this part is told by them.
const COVERED: f64 = 0.5;

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
        }
    }
}

/// Everything of one segment, in order of time.
pub(super) fn events(
    anchor: WallAnchor,
    segment: &Segment,
    objects: Vec<InView>,
    speech: &[SpeechInterval],
    subtitles: Vec<Subtitle>,
    shown: &[StreamSpan],
    signal: Vec<Stretch>,
) -> Vec<PerceivedEvent> {
    let mut events: Vec<PerceivedEvent> = objects.into_iter().map(|view| object_event(anchor, &view)).collect();
    events.extend(speech_events(anchor, segment, speech, shown));
    events.extend(subtitles.into_iter().map(subtitle_event));
    events.extend(signal.into_iter().map(|stretch| signal_event(anchor, stretch)));
    // Stable: what begins at one moment stays in the order objects, speech, subtitles, signal.
    events.sort_by_key(|event| event.stream.start);
    events
}

fn object_event(anchor: WallAnchor, view: &InView) -> PerceivedEvent {
    let things: Vec<(&str, usize)> = view.things.iter().map(|(label, count)| (&**label, *count)).collect();
    let text = sentence::in_view(&things);
    let mut event = anchor.event(Kind::Object, Modality::Visual, text, view.start, view.end);
    // The names of the classes as values: a sentence says "people", a question may say "person".
    let names = things.iter().map(|(label, _)| Value::Text((*label).to_owned())).collect();
    let counts: BTreeMap<String, Value> = things
        .iter()
        .map(|(label, count)| ((*label).to_owned(), Value::Integer(i64::try_from(*count).unwrap_or(i64::MAX))))
        .collect();
    event.attributes.insert("objects".to_owned(), Value::List(names));
    event.attributes.insert("counts".to_owned(), Value::Map(counts));
    event.confidence = view.confidence.clamp(0.0, 1.0);
    event
}

fn speech_events(
    anchor: WallAnchor,
    segment: &Segment,
    speech: &[SpeechInterval],
    shown: &[StreamSpan],
) -> Vec<PerceivedEvent> {
    let mut stretches: Vec<SpeechInterval> = Vec::new();
    for interval in speech {
        let (start, end) = (interval.start.max(segment.start), interval.end.min(segment.end));
        if end <= start || covered(start, end, shown) > COVERED {
            continue;
        }
        match stretches.last_mut() {
            Some(last) if start.saturating_sub(last.end) < SPEECH_PAUSE => {
                let (before, now) = ((last.end - last.start).as_secs_f32(), (end - start).as_secs_f32());
                let sum = last.probability * before + interval.probability * now;
                *last = SpeechInterval { start: last.start, end, probability: sum / (before + now) };
            }
            _ => stretches.push(SpeechInterval { start, end, probability: interval.probability }),
        }
    }
    let event = |stretch: SpeechInterval| {
        let text = "Someone is speaking.".to_owned();
        let mut event = anchor.event(Kind::Sound, Modality::Audio, text, stretch.start, stretch.end);
        let seconds = (stretch.end - stretch.start).as_millis() as f64 / 1000.0;
        event.attributes.insert("duration_s".to_owned(), Value::Number(seconds));
        event.confidence = stretch.probability.clamp(0.0, 1.0);
        event
    };
    stretches.into_iter().filter(|stretch| stretch.end - stretch.start >= SHORTEST_SPEECH).map(event).collect()
}

fn signal_event(anchor: WallAnchor, Stretch { condition, start, end }: Stretch) -> PerceivedEvent {
    let (kind, modality) = condition.kind();
    let mut event = anchor.event(kind, modality, condition.text().to_owned(), start, end);
    event.attributes.insert("signal".to_owned(), Value::Text(condition.name().to_owned()));
    let seconds = end.saturating_sub(start).as_millis() as f64 / 1000.0;
    event.attributes.insert("duration_s".to_owned(), Value::Number(seconds));
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
fn subtitle_event(subtitle: Subtitle) -> PerceivedEvent {
    let Subtitle { start, end, wall, text } = subtitle;
    WallAnchor { stream: start, wall }.event(Kind::Text, Modality::Audio, text, start, end)
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
        let events = speech_events(anchor, &segment, &speech, &shown);
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
