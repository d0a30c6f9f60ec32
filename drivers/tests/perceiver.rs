//! What a source delivers becomes closed segments with their events.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

mod perception;

use std::sync::Arc;
use std::time::Duration;

use drivers::capture::{AudioBlock, Frame, MediaConsumer, Subtitle};
use drivers::encoders::{Detection, Encoder, EncoderError, Encoders, Filled, ObjectDetector, Picture};
use drivers::perception::{Perceiver, PerceiverConfig};
use memory_core::ports::PerceptionSink;
use memory_core::segment::SegmenterConfig;
use memory_core::{Boundary, Kind, Modality, Perceived, StreamSpan, Timestamp, Value};

use perception::{Loudness, SegmentSink};

const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
const W: u32 = 64;
const H: u32 = 36;
/// What a microphone makes of a quiet room.
const QUIET: f32 = 0.001;

/// Sees a dog in a bright picture, a person and a cup in a dark one, and fails on a black one.
struct Brightness;

impl ObjectDetector for Brightness {}

impl Encoder<Picture<'_>, Vec<Detection>> for Brightness {
    fn model(&self) -> &str {
        "brightness"
    }

    fn encode(&self, picture: &Picture<'_>) -> Result<Vec<Detection>, EncoderError> {
        let seen = |label: &str, score, left| Detection {
            label: Arc::from(label),
            score,
            bounds: [left, 0.0, left + 0.4, 1.0],
        };
        match picture.rgb[0] {
            0 => Err(EncoderError::Input { model: "brightness".to_owned(), message: "too dark".to_owned() }),
            1..128 => Ok(vec![seen("person", 0.7, 0.0), seen("cup", 0.66, 0.6)]),
            _ => Ok(vec![seen("dog", 0.9, 0.3)]),
        }
    }
}

fn encoders() -> Encoders {
    Encoders::ready(Filled {
        objects: Some(Arc::new(Brightness)),
        voice_activity: Some(Arc::new(Loudness)),
        ..Filled::default()
    })
}

fn perceiver(encoders: Encoders, sink: &Arc<SegmentSink>) -> Perceiver {
    let config = PerceiverConfig::new("kitchen", SegmenterConfig::default());
    Perceiver::new(config, encoders, Arc::clone(sink) as Arc<dyn PerceptionSink>)
}

fn seconds(at: f64) -> Duration {
    Duration::from_secs_f64(at)
}

/// A picture whose texture depends on its shade, so that another shade is another scene.
fn picture(shade: u8) -> Vec<u8> {
    let texture = |i: u32| if shade == 0 { 0 } else { shade ^ ((i * (1 + u32::from(shade) / 50)) % 31) as u8 };
    (0..W * H).flat_map(|i| [texture(i); 3]).collect()
}

/// Ten pictures and ten blocks of sound a second; `scene` gives shade and loudness.
fn play(perceiver: &mut Perceiver, length: f64, scene: impl Fn(f64) -> (u8, f32), subtitles: &[(f64, f64, &str)]) {
    perceiver.begin("session-1", START);
    let mut subtitles = subtitles.iter().peekable();
    for tenth in 0..(length * 10.0) as u32 {
        let stream = Duration::from_millis(u64::from(tenth) * 100);
        let wall = START.saturating_add(stream);
        while let Some((start, end, text)) = subtitles.next_if(|(start, ..)| seconds(*start) <= stream) {
            let wall = START.saturating_add(seconds(*start));
            perceiver.subtitle(Subtitle { start: seconds(*start), end: seconds(*end), wall, text: (*text).to_owned() });
        }
        let (shade, loudness) = scene(stream.as_secs_f64());
        perceiver.frame(Frame { stream, wall, width: W, height: H, rgb: &picture(shade) });
        perceiver.audio(AudioBlock { stream, wall, samples: &[loudness.max(QUIET); 1600] });
    }
    perceiver.end(seconds(length));
}

fn segments(sink: &SegmentSink) -> Vec<Perceived> {
    sink.segments.lock().unwrap().clone()
}

fn texts(segment: &Perceived) -> Vec<&str> {
    segment.events.iter().map(|event| event.text.as_str()).collect()
}

#[test]
fn two_scenes_become_two_segments_with_what_was_seen_in_each() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(encoders(), &sink);
    play(&mut perceiver, 14.0, |at| (if at < 7.0 { 60 } else { 220 }, 0.0), &[]);
    let segments = segments(&sink);
    assert_eq!(segments.len(), 2);
    let seen = ["A black cup is in view on the right.", "A person in black clothes is in view on the left."];
    assert_eq!(texts(&segments[0]), seen);
    assert_eq!(texts(&segments[1]), ["A white dog is in view in the middle."]);
    assert_eq!((segments[0].boundary, segments[1].boundary), (Boundary::Visual, Boundary::End));
    // The cut lies between the last picture of one scene and the first of the next.
    let cut = segments[0].stream.end;
    assert!((seconds(6.9)..=seconds(7.0)).contains(&cut), "{cut:?}");
    assert_eq!(segments[0].stream.start, Duration::ZERO);
    assert_eq!(segments[1].stream, StreamSpan { start: cut, end: seconds(14.0) });
    assert_eq!((segments[0].source.as_str(), segments[0].session.as_str()), ("kitchen", "session-1"));

    let event = &segments[0].events[1];
    assert_eq!((event.kind, event.modality), (Kind::Object, Modality::Visual));
    assert_eq!(event.stream, segments[0].stream);
    assert_eq!((event.start, event.end), (START, START.saturating_add(cut)));
    assert!((event.confidence - 0.7).abs() < 1e-6);
    assert_eq!(event.attributes["objects"], Value::List(vec![Value::Text("person".to_owned())]));
    assert_eq!(event.attributes["colours"], Value::List(vec![Value::Text("black".to_owned())]));
    let counts = perceiver.counters().read();
    assert_eq!((counts.segments, counts.events), (2, 3));
    assert!((14..=28).contains(&counts.pictures), "one or two pictures a second: {counts:?}");
}

#[test]
fn speech_is_told_where_no_subtitle_tells_it() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(encoders(), &sink);
    let loud = |at: f64| (60, if (1.0..3.0).contains(&at) || (5.0..7.0).contains(&at) { 0.9 } else { 0.0 });
    play(&mut perceiver, 9.0, loud, &[(1.0, 3.2, "  Put the cup\n on the table. ")]);
    let segments = segments(&sink);
    let events: Vec<_> = segments.iter().flat_map(|segment| &segment.events).collect();
    let subtitles: Vec<_> = events.iter().filter(|event| event.kind == Kind::Text).collect();
    assert_eq!(subtitles.len(), 1);
    assert_eq!(subtitles[0].text, "Put the cup on the table.");
    assert_eq!(subtitles[0].stream, StreamSpan { start: seconds(1.0), end: seconds(3.2) });
    assert_eq!(subtitles[0].start, START.saturating_add(seconds(1.0)));
    let speech: Vec<_> = events.iter().filter(|event| event.kind == Kind::Sound).collect();
    assert_eq!(speech.len(), 1, "the stretch under the subtitle is not told twice");
    assert_eq!(speech[0].text, "Someone is speaking.");
    let from = speech[0].stream.start.as_secs_f64();
    assert!((from - 5.0).abs() < 0.05, "{from}");
    assert!((speech[0].stream.end.as_secs_f64() - 7.0).abs() < 0.05);
}

#[test]
fn a_subtitle_belongs_to_the_segment_in_which_it_starts() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(encoders(), &sink);
    let scene = |at: f64| (if at < 7.0 { 60 } else { 220 }, 0.0);
    play(&mut perceiver, 14.0, scene, &[(6.5, 8.5, "over the cut"), (9.0, 10.0, "behind it")]);
    let segments = segments(&sink);
    assert!(texts(&segments[0]).contains(&"over the cut"));
    assert!(texts(&segments[1]).contains(&"behind it"));
    let over = segments[0].events.iter().find(|event| event.text == "over the cut").unwrap();
    assert_eq!(over.stream.end, seconds(8.5), "its own times stay");
}

#[test]
fn subtitles_alone_are_remembered_too() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(encoders(), &sink);
    perceiver.begin("session-1", START);
    for at in [2_u64, 4] {
        let (start, wall) = (Duration::from_secs(at), START.saturating_add(Duration::from_secs(at)));
        perceiver.subtitle(Subtitle { start, end: start + seconds(1.0), wall, text: format!("line {at}") });
    }
    perceiver.end(seconds(6.0));
    let segments = segments(&sink);
    assert_eq!(segments.iter().flat_map(texts).collect::<Vec<_>>(), ["line 2", "line 4"]);
}

#[test]
fn a_role_that_is_absent_is_named_in_every_segment_that_it_would_have_served() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(Encoders::ready(Filled::default()), &sink);
    perceiver.begin("pictures only", START);
    for second in 0..6_u64 {
        let stream = Duration::from_secs(second);
        let wall = START.saturating_add(stream);
        perceiver.frame(Frame { stream, wall, width: W, height: H, rgb: &picture(60) });
    }
    perceiver.end(seconds(6.0));
    let segments = segments(&sink);
    assert_eq!(segments.len(), 1);
    assert!(segments[0].events.is_empty());
    let degraded = &segments[0].degraded;
    assert!(degraded.iter().any(|line| line.starts_with("objects: ")), "{degraded:?}");
    assert!(
        !degraded.iter().any(|line| line.starts_with("voice activity: ")),
        "nothing was there to hear: {degraded:?}"
    );
}

#[test]
fn an_encoder_that_fails_is_counted_and_named_and_the_rest_goes_on() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(encoders(), &sink);
    play(&mut perceiver, 8.0, |at| (0, if at < 4.0 { 0.9 } else { 0.0 }), &[]);
    let segments = segments(&sink);
    assert!(segments[0].degraded.iter().any(|line| line.starts_with("objects: ") && line.contains("too dark")));
    assert!(texts(&segments[0]).contains(&"Someone is speaking."));
    let counts = perceiver.counters().read();
    assert!(counts.lost["picture not encoded"] >= 8, "{counts:?}");
    assert_eq!(counts.pictures, 0);
    assert!(counts.last_error.unwrap().contains("too dark"));
}

#[test]
fn a_segment_that_the_memory_refuses_is_counted_as_lost() {
    let sink = Arc::new(SegmentSink { full: true, ..SegmentSink::default() });
    let mut perceiver = perceiver(encoders(), &sink);
    play(&mut perceiver, 14.0, |at| (if at < 7.0 { 60 } else { 220 }, 0.0), &[]);
    let counts = perceiver.counters().read();
    assert_eq!((counts.segments, counts.lost["segment not taken"]), (0, 2));
    assert!(counts.last_error.unwrap().contains("the disk is full"));
}

#[test]
fn a_session_that_breaks_off_is_handed_on_by_the_next_one() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(encoders(), &sink);
    perceiver.begin("broken", START);
    for tenth in 0..30_u64 {
        let stream = Duration::from_millis(100 * tenth);
        let wall = START.saturating_add(stream);
        perceiver.frame(Frame { stream, wall, width: W, height: H, rgb: &picture(220) });
    }
    perceiver.begin("next", START.saturating_add(seconds(60.0)));
    let segments = segments(&sink);
    assert_eq!(segments.len(), 1);
    assert_eq!(segments[0].session, "broken");
    assert_eq!(texts(&segments[0]), ["A white dog is in view in the middle."]);
}

#[test]
fn the_wall_clock_of_the_pictures_counts_not_that_of_the_begin() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(encoders(), &sink);
    perceiver.begin("session-1", START);
    let set_forward = seconds(3600.0);
    for tenth in 0..60_u64 {
        let stream = Duration::from_millis(100 * tenth);
        let wall = START.saturating_add(stream + set_forward);
        perceiver.frame(Frame { stream, wall, width: W, height: H, rgb: &picture(220) });
    }
    perceiver.end(seconds(6.0));
    assert_eq!(segments(&sink)[0].start, START.saturating_add(set_forward));
}

#[test]
fn a_picture_whose_bytes_do_not_fit_its_size_is_counted() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(encoders(), &sink);
    perceiver.begin("session-1", START);
    perceiver.frame(Frame { stream: Duration::ZERO, wall: START, width: W, height: H, rgb: &[1, 2, 3] });
    assert_eq!(perceiver.counters().read().lost["picture of a wrong size"], 1);
}

#[test]
fn the_same_input_gives_the_same_memory() {
    let run = || {
        let sink = Arc::new(SegmentSink::default());
        let mut perceiver = perceiver(encoders(), &sink);
        let scene = |at: f64| {
            let shade = [60, 220, 90, 170][(at / 4.5) as usize % 4];
            (shade, if at % 3.0 < 1.5 { 0.8 } else { 0.1 })
        };
        play(&mut perceiver, 40.0, scene, &[(3.0, 4.0, "one"), (17.0, 19.0, "two")]);
        segments(&sink)
    };
    let first = run();
    assert!(first.len() > 3);
    assert_eq!(first, run());
}

#[test]
fn a_signal_that_fails_is_an_event_and_a_good_one_is_not() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = Perceiver::new(
        PerceiverConfig::new("kitchen", SegmenterConfig::default()),
        Encoders::ready(Filled::default()),
        Arc::clone(&sink) as Arc<dyn PerceptionSink>,
    );
    perceiver.begin("session-1", START);
    for tenth in 0..120_u64 {
        let stream = Duration::from_millis(100 * tenth);
        let wall = START.saturating_add(stream);
        let failed = (60..80).contains(&tenth);
        perceiver.frame(Frame { stream, wall, width: W, height: H, rgb: &picture(if failed { 0 } else { 150 }) });
        perceiver.audio(AudioBlock { stream, wall, samples: &[if failed { 0.0 } else { QUIET }; 1600] });
    }
    perceiver.end(seconds(12.0));
    let segments = segments(&sink);
    let mut told: Vec<_> = segments.iter().flat_map(|segment| &segment.events).collect();
    told.sort_by_key(|event| event.modality);
    let rows: Vec<_> = told.iter().map(|event| (event.kind, event.modality, &event.attributes["signal"])).collect();
    let (black, silent) = (Value::Text("black".to_owned()), Value::Text("silent".to_owned()));
    assert_eq!(rows, [(Kind::State, Modality::Visual, &black), (Kind::Sound, Modality::Audio, &silent)]);
    assert_eq!(told[0].stream, StreamSpan { start: seconds(5.95), end: seconds(7.95) });
    assert_eq!(told[0].start, START.saturating_add(seconds(5.95)));
    assert_eq!(told[1].stream, StreamSpan { start: seconds(6.0), end: seconds(8.0) });
    assert!(told[0].text.starts_with("The picture is black") && told[1].text.starts_with("There is no sound"));
}

#[test]
fn an_hour_of_silence_before_a_black_camera_is_told_and_nothing_of_it_is_lost() {
    let sink = Arc::new(SegmentSink::default());
    let mut perceiver = perceiver(Encoders::ready(Filled::default()), &sink);
    perceiver.begin("night", START);
    let (black, silence) = (picture(0), vec![0.0; 16_000]);
    for second in 0..3600_u64 {
        let stream = Duration::from_secs(second);
        let wall = START.saturating_add(stream);
        perceiver.frame(Frame { stream, wall, width: W, height: H, rgb: &black });
        perceiver.audio(AudioBlock { stream, wall, samples: &silence });
    }
    perceiver.end(seconds(3600.0));
    let segments = segments(&sink);
    assert_eq!((segments[0].stream.start, segments[segments.len() - 1].stream.end), (Duration::ZERO, seconds(3600.0)));
    assert!(segments.windows(2).all(|pair| pair[0].stream.end == pair[1].stream.start));
    for segment in &segments {
        let told = texts(segment);
        assert!(told.iter().any(|text| text.starts_with("The picture is black")), "{told:?}");
        assert!(told.iter().any(|text| text.starts_with("There is no sound")), "{told:?}");
    }
    assert_eq!(perceiver.counters().read().lost, std::collections::BTreeMap::new());
}
