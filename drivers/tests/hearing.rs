//! What the default profile's speech recogniser hears: real sentences, and nothing where nobody speaks.
//!
//! A test whose model or recordings are not there says that it was skipped.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use drivers::encoders::{Encoder, OnnxRuntime, OnnxWhisper, SpokenWord};
use drivers::models::{Availability, Catalogue, InstalledModel, InstalledModels, Part, Role};

const RATE: usize = 16_000;

const OTHERS: [&str; 2] = ["spk2_snt3", "spk2_snt5"];

fn installed() -> Option<(InstalledModel, OnnxRuntime)> {
    let models = InstalledModels::new(Catalogue::load(None).unwrap(), None, None);
    match (models.model(Role::SpeechRecognition), models.runtime_library()) {
        (Availability::Found(model), Availability::Found(library)) => {
            Some((model, OnnxRuntime::open(&library).unwrap()))
        }
        (Availability::Damaged(reason), _) | (_, Availability::Damaged(reason)) => panic!("{reason}"),
        (Availability::Absent(reason), _) | (_, Availability::Absent(reason)) => {
            println!("skipped: {reason}");
            None
        }
    }
}

fn recogniser() -> Option<OnnxWhisper> {
    installed().map(|(model, runtime)| OnnxWhisper::load(&model, &runtime, 1).unwrap())
}

fn samples(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    let data = bytes.windows(4).position(|four| four == b"data").unwrap() + 8;
    bytes[data..].chunks_exact(2).map(|two| f32::from(i16::from_le_bytes([two[0], two[1]])) / 32_768.0).collect()
}

fn recordings() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("ENGRAM_SHARED").map_or_else(beside, PathBuf::from);
    let folder = shared.join("data/audio/speechbrain");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

/// Clean sentences and what is said in them.
fn sentences(folder: &Path) -> Vec<(Vec<f32>, String)> {
    let mut found = Vec::new();
    for table in ["ASR_train.json", "ASR_dev.json"] {
        let text = std::fs::read_to_string(folder.join("annotation").join(table)).unwrap();
        let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
        // Of two recordings the tables tell another sentence than the one that is read.
        for (name, row) in rows.as_object().unwrap().iter().filter(|(name, _)| !OTHERS.contains(&name.as_str())) {
            let said = row["words"].as_str().unwrap().to_owned();
            found.push((samples(&folder.join("ASR").join(format!("{name}.wav"))), said));
        }
    }
    found
}

fn plain(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric() && sign != '\'').filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn text(words: &[SpokenWord]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The share of words that were heard, in any order.
fn heard(expected: &[String], words: &[SpokenWord]) -> f64 {
    let mut counts = HashMap::<String, usize>::new();
    plain(&text(words)).into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
    let found = expected.iter().filter(|word| {
        let count = counts.get_mut(*word).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    });
    found.count() as f64 / expected.len() as f64
}

fn assert_in_order(words: &[SpokenWord], length: usize) {
    let end = Duration::from_secs_f64(length as f64 / RATE as f64);
    assert!(words.iter().all(|word| word.start <= word.end && word.end <= end), "{words:?}");
    assert!(words.windows(2).all(|pair| pair[0].start <= pair[1].start), "{words:?}");
    assert!(words.iter().all(|word| (0.0..=1.0).contains(&word.confidence)));
}

#[test]
fn clean_sentences_are_heard_word_by_word() {
    let (Some(recogniser), Some(folder)) = (recogniser(), recordings()) else { return };
    let sentences = sentences(&folder);
    assert!(sentences.len() >= 8, "the tables of sentences are others");
    let mut expected = Vec::new();
    let mut words = Vec::new();
    for (samples, said) in sentences {
        let found = recogniser.encode(&samples).unwrap();
        println!("{said} | {}", text(&found));
        assert_in_order(&found, samples.len());
        expected.extend(plain(&said));
        words.extend(found);
    }
    let share = heard(&expected, &words);
    assert!(share >= 0.95, "{share:.3} of the words");
}

#[test]
fn a_sound_that_is_longer_than_the_models_window_is_heard_to_its_end() {
    let (Some(recogniser), Some(folder)) = (recogniser(), recordings()) else { return };
    let sentences = sentences(&folder);
    let (mut long, mut expected) = (Vec::new(), Vec::new());
    for (samples, said) in sentences.iter().cycle() {
        if long.len() > 45 * RATE {
            break;
        }
        long.extend(samples);
        long.extend(vec![0.0; RATE / 2]);
        expected.extend(plain(said));
    }
    let words = recogniser.encode(&long).unwrap();
    assert_in_order(&words, long.len());
    let share = heard(&expected, &words);
    println!("{share:.3} of {} words in {} s", expected.len(), long.len() / RATE);
    assert!(share >= 0.8, "{share:.3} of the words: {}", text(&words));
    assert!(words.last().unwrap().end > Duration::from_secs(42));
}

#[test]
fn nothing_is_heard_in_silence_noise_and_tones() {
    let Some(recogniser) = recogniser() else { return };
    let mut state = 7_u32;
    let mut noise = |loudness: f32| -> Vec<f32> {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (f64::from(state >> 8) / f64::from(1_u32 << 24) - 0.5) as f32
        };
        (0..5 * RATE).map(|_| next() * loudness).collect()
    };
    let tone = |hertz: f32| -> Vec<f32> {
        let turn = std::f32::consts::TAU * hertz / RATE as f32;
        (0..5 * RATE).map(|at| 0.3 * (turn * at as f32).sin()).collect()
    };
    let noises = recordings().into_iter().flat_map(|folder| {
        (1..=5).map(move |number| (format!("noise{number}"), samples(&folder.join(format!("noise/noise{number}.wav")))))
    });
    let made = [
        ("no samples", Vec::new()),
        ("one sample", vec![0.5]),
        ("silence", vec![0.0; 5 * RATE]),
        ("faint noise", noise(0.01)),
        ("loud noise", noise(0.8)),
        ("a hum", tone(50.0)),
        ("a tone", tone(1000.0)),
        ("no numbers", vec![f32::NAN; RATE]),
    ];
    for (name, sound) in made.into_iter().map(|(name, sound)| (name.to_owned(), sound)).chain(noises) {
        let words = recogniser.encode(&sound).unwrap();
        assert!(words.is_empty(), "{name}: {}", text(&words));
    }
}

#[test]
fn what_is_damaged_or_of_another_model_is_refused_by_name() {
    let Some((model, runtime)) = installed() else { return };
    let folder = tempfile::tempdir().unwrap();
    let refused = |part: Part, bytes: &[u8]| {
        let path = folder.path().join("other");
        std::fs::write(&path, bytes).unwrap();
        let mut other = model.clone();
        other.files.insert(part, path);
        match OnnxWhisper::load(&other, &runtime, 1) {
            Ok(_) => panic!("{part:?} was taken"),
            Err(error) => error.to_string(),
        }
    };
    let encoder = std::fs::read(&model.files[&Part::Graph]).unwrap();
    let cut = refused(Part::Graph, &encoder[..encoder.len() / 2]);
    assert!(cut.contains("Whisper tiny.en") && cut.contains("other"), "{cut}");
    let swapped = refused(Part::TextGraph, &encoder);
    assert!(swapped.contains("is not what the catalogue describes") && swapped.contains("token"), "{swapped}");
    let tokenizer = refused(Part::Tokenizer, b"{}");
    assert!(tokenizer.contains("other"), "{tokenizer}");
    let plain = br#"{"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}"#;
    let tokenizer = refused(Part::Tokenizer, plain);
    assert!(tokenizer.contains("not a tokenizer of Whisper"), "{tokenizer}");
    let mut without = model.clone();
    without.files.remove(&Part::TextGraph);
    let error = OnnxWhisper::load(&without, &runtime, 1).err().unwrap().to_string();
    assert!(error.contains("text-graph"), "{error}");
}
