//! Who speaks in a recording of two people, from its sound to the persons that the memory tells apart.
//!
//! The recordings lie in `../shared/data/audio` beside the repository (or in `ENGRAM_SHARED`); without them or without the
//! model of voice activity a test says that it was skipped.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

mod perception;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drivers::capture::{AudioBlock, MediaConsumer};
use drivers::encoders::{Encoders, Filled, OnnxRuntime, SileroVad, SpectralVoice};
use drivers::models::{Availability, Catalogue, InstalledModels, Role};
use drivers::perception::{Perceiver, PerceiverConfig};
use memory_core::learning::LearningOptions;
use memory_core::ports::PerceptionSink;
use memory_core::segment::SegmenterConfig;
use memory_core::store::MemoryStorage;
use memory_core::{ManualClock, Memory, MemoryOptions, Observation, Perceived, Person, Sensed, Timestamp};

use perception::SegmentSink;

const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
const RATE: usize = 16_000;

fn shared() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os("ENGRAM_SHARED").map_or_else(beside, PathBuf::from)
}

/// A recording, 16 kHz mono 16 bit.
fn recording(name: &str) -> Result<Vec<f32>, String> {
    let path = shared().join("data/audio").join(name);
    let bytes = std::fs::read(&path).map_err(|_| format!("{} is not there", path.display()))?;
    let data = bytes.windows(4).position(|window| window == b"data").unwrap() + 8;
    let samples = bytes[data..].chunks_exact(2);
    Ok(samples.map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0).collect())
}

fn encoders() -> Result<Encoders, String> {
    let catalogue = Catalogue::load(None).unwrap();
    let installed = InstalledModels::new(catalogue.clone(), None, None);
    let beside = InstalledModels::new(catalogue.clone(), Some(&shared().join("models")), None);
    let runtime = match installed.runtime_library() {
        Availability::Found(library) => OnnxRuntime::open(&library).unwrap(),
        Availability::Absent(reason) => return Err(reason),
        Availability::Damaged(reason) => panic!("{reason}"),
    };
    let found = [installed.model(Role::VoiceActivity), beside.model(Role::VoiceActivity)];
    let found = found.into_iter().find_map(|model| match model {
        Availability::Found(model) => Some(model),
        _ => None,
    });
    let activity = SileroVad::load(&found.ok_or("voice activity: model not installed")?, &runtime, 1).unwrap();
    let voice = SpectralVoice::new(catalogue.model(Role::VoiceEmbedding).unwrap()).unwrap();
    Ok(Encoders::ready(Filled {
        voice_activity: Some(Arc::new(activity)),
        voice_embedding: Some(Arc::new(voice)),
        ..Filled::default()
    }))
}

/// The persons that a memory tells apart in recordings, heard one after the other.
fn persons(encoders: &Encoders, recordings: &[&[f32]]) -> Vec<Person> {
    let sink = Arc::new(SegmentSink::default());
    let mut at = START;
    for (number, samples) in recordings.iter().enumerate() {
        let config = PerceiverConfig::new("microphone", SegmenterConfig::default());
        let mut perceiver = Perceiver::new(config, encoders.clone(), Arc::clone(&sink) as Arc<dyn PerceptionSink>);
        perceiver.begin(&format!("session-{number}"), at);
        for (block, samples) in samples.chunks(RATE / 10).enumerate() {
            let stream = Duration::from_millis(100 * block as u64);
            perceiver.audio(AudioBlock { stream, wall: at.saturating_add(stream), samples });
        }
        let length = Duration::from_secs_f64(samples.len() as f64 / RATE as f64);
        perceiver.end(length);
        at = at.saturating_add(length + Duration::from_secs(3600));
    }
    let segments = std::mem::take(&mut *sink.segments.lock().unwrap());
    let voiced = |segment: &Perceived| {
        let vectors = segment.events.iter().flat_map(|event| &event.embeddings);
        vectors.filter(|vector| vector.sensed == Sensed::Voice).count()
    };
    assert!(segments.iter().map(voiced).sum::<usize>() >= 2, "no voice was heard");

    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 1 << 20,
        index: Default::default(),
    };
    let memory = Memory::open_in(Arc::new(MemoryStorage::new()), options, Arc::new(ManualClock::at(at))).unwrap();
    let catalogue = Catalogue::load(None).unwrap();
    let same = f64::from(catalogue.model(Role::VoiceEmbedding).unwrap().parameter("same").unwrap());
    let usual = LearningOptions::default();
    memory.set_learning_options(LearningOptions { same_person: (usual.same_person.0, same), ..usual });
    memory.observe(segments.into_iter().map(Observation::Perceived).collect()).unwrap();
    while memory.learn_pending(1000).unwrap().has_lessons() {}
    memory.persons().unwrap()
}

/// The persons in these recordings, or the reason for which the test is skipped.
fn heard(names: &[&str]) -> Option<Vec<Person>> {
    let found = encoders().and_then(|encoders| {
        let recordings = names.iter().map(|name| recording(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(persons(&encoders, &recordings.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    });
    found.map_err(|reason| println!("skipped: {reason}")).ok()
}

#[test]
fn two_speakers_of_a_conversation_are_two_persons() {
    let Some(persons) = heard(&["azure/katiesteve.wav"]) else { return };
    assert_eq!(persons.len(), 2, "{persons:?}");
}

#[test]
fn one_speaker_is_one_person_and_another_is_another() {
    for name in ["azure/enrollment_audio_katie.wav", "azure/enrollment_audio_steve.wav"] {
        let Some(persons) = heard(&[name]) else { return };
        assert_eq!(persons.len(), 1, "{name}: {persons:?}");
    }
    let both = ["azure/enrollment_audio_katie.wav", "azure/enrollment_audio_steve.wav"];
    let Some(persons) = heard(&both) else { return };
    assert_eq!(persons.len(), 2, "{persons:?}");
}
