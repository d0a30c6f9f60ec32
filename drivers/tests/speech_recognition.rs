//! What is said becomes sentences with the times of their words, in place of "Someone is speaking.".

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

mod perception;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use drivers::capture::{AudioBlock, MediaConsumer};
use drivers::encoders::{Encoder, EncoderError, Encoders, Filled, SpeechRecogniser, SpokenWord};
use drivers::perception::{Perceiver, PerceiverConfig};
use memory_core::ports::PerceptionSink;
use memory_core::segment::SegmenterConfig;
use memory_core::{Kind, Modality, Perceived, Timestamp, Value};

use perception::{Loudness, SegmentSink};

const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

/// Hears two sentences in very loud speech, none in less loud, and fails on the loudest.
struct Dictation;

impl Encoder<[f32], Vec<SpokenWord>> for Dictation {
    fn model(&self) -> &str {
        "dictation"
    }

    fn encode(&self, samples: &[f32]) -> Result<Vec<SpokenWord>, EncoderError> {
        let loudest = samples.iter().copied().fold(0.0, f32::max);
        if loudest > 0.95 {
            return Err(EncoderError::Entry("too loud".to_owned()));
        }
        // The times count from where it is loud: a stretch has some sound around it.
        let begin = samples.iter().position(|sample| *sample > 0.5).unwrap_or(0) as u64 / 16;
        let word = |text: &str, start: u64, end: u64, confidence| SpokenWord {
            text: text.to_owned(),
            start: Duration::from_millis(begin + start),
            end: Duration::from_millis(begin + end),
            confidence,
        };
        Ok(if loudest > 0.8 {
            vec![
                word("The", 100, 300, 0.9),
                word("kettle", 300, 700, 0.7),
                word("boils.", 700, 1000, 0.8),
                word("Hurry", 1200, 1500, 0.6),
                word("up!", 1500, 9000, 0.6),
            ]
        } else {
            Vec::new()
        })
    }
}

impl SpeechRecogniser for Dictation {}

/// Plays ten blocks of sound a second of the loudness that `loudness` gives.
fn heard(length: f64, loudness: impl Fn(f64) -> f32) -> Vec<Perceived> {
    heard_by(Arc::new(Dictation), length, loudness)
}

fn heard_by(recogniser: Arc<dyn SpeechRecogniser>, length: f64, loudness: impl Fn(f64) -> f32) -> Vec<Perceived> {
    let sink = Arc::new(SegmentSink::default());
    let encoders = Encoders::ready(Filled {
        voice_activity: Some(Arc::new(Loudness)),
        speech_recognition: Some(recogniser),
        ..Filled::default()
    });
    let config = PerceiverConfig::new("kitchen", SegmenterConfig::default());
    let mut perceiver = Perceiver::new(config, encoders, Arc::clone(&sink) as Arc<dyn PerceptionSink>);
    perceiver.begin("session-1", START);
    for tenth in 0..(length * 10.0) as u32 {
        let stream = Duration::from_millis(u64::from(tenth) * 100);
        let samples = [loudness(stream.as_secs_f64()).max(0.001); 1600];
        perceiver.audio(AudioBlock { stream, wall: START.saturating_add(stream), samples: &samples });
    }
    perceiver.end(Duration::from_secs_f64(length));
    let mut segments = sink.segments.lock().unwrap();
    std::mem::take(&mut *segments)
}

#[test]
fn each_sentence_is_an_event_with_the_times_of_its_words() {
    let segments = heard(8.0, |at| if (2.0..4.0).contains(&at) { 0.9 } else { 0.0 });
    let told: Vec<_> = segments.iter().flat_map(|segment| &segment.events).collect();
    let rows: Vec<_> = told.iter().map(|event| (event.kind, event.modality, event.text.as_str())).collect();
    assert_eq!(
        rows,
        [(Kind::Text, Modality::Audio, "The kettle boils."), (Kind::Text, Modality::Audio, "Hurry up!")],
        "in place of somebody's speaking"
    );
    let times: Vec<_> =
        told.iter().map(|event| (event.stream.start.as_millis(), event.stream.end.as_millis())).collect();
    let near = |time: u128, expected: u128| time.abs_diff(expected) <= 50;
    assert!(near(times[0].0, 2100) && near(times[0].1, 3000) && near(times[1].0, 3200), "{times:?}");
    assert!(near(times[1].1, 4000), "a word ends with its stretch: {times:?}");
    assert_eq!(told[0].start, START.saturating_add(told[0].stream.start));
    assert_eq!(told[1].end, START.saturating_add(told[1].stream.end));
    assert!((told[0].confidence - 0.8).abs() < 1e-6);
    assert_eq!(told[0].attributes["recognised"], Value::Bool(true));
}

#[test]
fn speech_without_words_stays_speech() {
    let segments = heard(6.0, |at| if (2.0..4.0).contains(&at) { 0.7 } else { 0.0 });
    let told: Vec<_> = segments.iter().flat_map(|segment| &segment.events).collect();
    assert_eq!(
        told.iter().map(|event| (event.kind, event.text.as_str())).collect::<Vec<_>>(),
        [(Kind::Sound, "Someone is speaking.")]
    );
}

#[test]
fn a_recogniser_that_fails_is_named_and_the_speech_is_told_all_the_same() {
    let segments = heard(6.0, |at| if (2.0..4.0).contains(&at) { 0.99 } else { 0.0 });
    let degraded: Vec<_> = segments.iter().flat_map(|segment| &segment.degraded).collect();
    assert!(degraded.iter().any(|line| *line == "speech recognition: too loud"), "{degraded:?}");
    assert!(segments.iter().flat_map(|segment| &segment.events).any(|event| event.text == "Someone is speaking."));
}

#[test]
fn segments_that_waited_for_their_words_come_in_order_and_none_is_missing() {
    // Far more than may wait at once, half of them with words.
    let segments = heard(120.0, |at| if at % 20.0 < 3.0 { 0.9 } else { 0.0 });
    assert!(segments.len() > 8);
    assert!(segments.windows(2).all(|pair| pair[0].stream.end == pair[1].stream.start));
    let said = segments.iter().flat_map(|segment| &segment.events).filter(|event| event.kind == Kind::Text);
    assert_eq!(said.filter(|event| event.text == "The kettle boils.").count(), 6);
}

/// Writes down of every stretch how long it is and how long its loud part.
#[derive(Default)]
struct Ruler(Mutex<Vec<(usize, usize)>>);

impl Encoder<[f32], Vec<SpokenWord>> for Ruler {
    fn model(&self) -> &str {
        "ruler"
    }

    fn encode(&self, samples: &[f32]) -> Result<Vec<SpokenWord>, EncoderError> {
        let loud = samples.iter().filter(|sample| **sample > 0.8).count();
        self.0.lock().unwrap().push((samples.len() / 16, loud / 16));
        Ok(Vec::new())
    }
}

impl SpeechRecogniser for Ruler {}

#[test]
fn speech_has_some_sound_around_it_and_is_cut_in_a_pause_where_a_segment_ends_within() {
    let ruler = Arc::new(Ruler::default());
    let recogniser = Arc::clone(&ruler) as Arc<dyn SpeechRecogniser>;
    // Two words of one tenth of a second each, then a pause; speech goes on beyond the longest segment.
    let loudness = |at: f64| match at {
        at if !(2.0..14.0).contains(&at) => 0.0,
        at if (at * 10.0).round() as u32 % 3 == 2 => 0.6,
        _ => 0.9,
    };
    let segments = heard_by(recogniser, 20.0, loudness);
    assert!(segments.iter().all(|segment| segment.degraded.iter().all(|line| !line.contains("recogn"))));
    let stretches = ruler.0.lock().unwrap();
    assert!(stretches.len() > 1, "{stretches:?}");
    let spoken: usize = stretches.iter().map(|(_, loud)| loud).sum();
    assert_eq!(spoken, 8000, "every word once: {stretches:?}");
    assert!(stretches.iter().all(|(_, loud)| loud % 200 == 0), "no word is halved: {stretches:?}");
    let whole: usize = stretches.iter().map(|(length, _)| length).sum();
    assert!((12_200..=12_800).contains(&whole), "{stretches:?}");
}

#[cfg(not(feature = "whisper"))]
#[test]
fn a_program_without_whisper_cpp_says_how_its_models_can_be_run() {
    use drivers::encoders::{EncoderOptions, RoleState};
    use drivers::models::{Catalogue, InstalledModels, Role};
    let empty = tempfile::tempdir().unwrap();
    let mut catalogue = Catalogue::load(None).unwrap();
    let ggml = catalogue.model(Role::SpeechRecognition).unwrap().clone().of_ggml();
    catalogue.replace(vec![ggml]);
    let models = InstalledModels::new(catalogue, Some(empty.path()), None);
    let encoders = Encoders::load(models, EncoderOptions::default()).unwrap();
    encoders.wait_ready();
    let status = encoders.status()[&Role::SpeechRecognition].clone();
    assert_eq!(status.state, RoleState::Absent);
    let reason = status.reason.unwrap();
    assert!(reason.contains("--features whisper") && reason.contains("models remove"), "{reason}");
}

#[cfg(feature = "whisper")]
mod whisper {
    use std::path::{Path, PathBuf};

    use drivers::encoders::{Whisper, try_model};
    use drivers::models::{Catalogue, InstalledModel, Part, Role};

    /// whisper.cpp's own test file: a whole model but for its weights.
    fn tiny() -> Option<PathBuf> {
        let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
        let shared = std::env::var_os("ENGRAM_SHARED").map_or_else(beside, PathBuf::from);
        let path = shared.join("models/for-tests-ggml-tiny.en.bin");
        if !path.exists() {
            println!("skipped: {} is not there", path.display());
            return None;
        }
        Some(path)
    }

    fn model(path: &Path) -> InstalledModel {
        let entry = Catalogue::load(None).unwrap().model(Role::SpeechRecognition).unwrap().clone().of_ggml();
        InstalledModel { entry, files: [(Part::Graph, path.to_path_buf())].into() }
    }

    #[test]
    fn a_model_of_whisper_cpp_is_loaded() {
        let Some(path) = tiny() else { return };
        assert!(Whisper::load(&model(&path), 1).is_ok());
    }

    #[test]
    fn what_is_no_whole_model_is_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let refused = |bytes: &[u8]| {
            let path = directory.path().join("cut.bin");
            std::fs::write(&path, bytes).unwrap();
            let error = try_model(&model(&path), None).unwrap_err();
            assert!(error.contains("cut.bin is no whole ggml model"), "{error}");
        };
        refused(b"");
        refused(b"no model at all, but longer than its head would be");
        if let Some(path) = tiny() {
            let whole = std::fs::read(path).unwrap();
            refused(&whole[..whole.len() / 2]);
        }
    }
}
