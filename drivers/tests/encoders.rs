//! The encoders give the numbers that the same models give elsewhere. The references come from
//! `scripts/minilm_to_onnx.py` and `scripts/encoder_reference.py`.
//!
//! Models are looked for where the program looks for them, then in `../shared/models` beside the repository; a test whose
//! model is in neither says that it was skipped.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drivers::encoders::{
    Accelerator, CrossEncoder, Encoder, EncoderOptions, Encoders, FastestDet, OnnxRuntime, Picture, RoleState,
    SentenceEncoder, SileroVad, SpeechDetector, SpeechInterval, VoiceState, VoiceWindow,
};
use drivers::models::{Availability, Catalogue, InstalledModel, InstalledModels, Role};
use memory_core::ports::{AnswerExtractor, AnswerForm, Passage, TextEmbedder};

fn shared() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os("ENGRAM_SHARED").map_or_else(beside, PathBuf::from)
}

fn installed() -> InstalledModels {
    InstalledModels::new(Catalogue::load(None).unwrap(), None, None)
}

/// The model and what runs it, or the reason for which the test is skipped.
fn model(role: Role) -> Result<(InstalledModel, OnnxRuntime), String> {
    let beside = InstalledModels::new(Catalogue::load(None).unwrap(), Some(&shared().join("models")), None);
    let runtime = match installed().runtime_library() {
        Availability::Found(library) => OnnxRuntime::open(&library).unwrap(),
        Availability::Absent(reason) => return Err(reason),
        Availability::Damaged(reason) => panic!("{reason}"),
    };
    match (installed().model(role), beside.model(role)) {
        (Availability::Found(model), _) | (Availability::Absent(_), Availability::Found(model)) => Ok((model, runtime)),
        (Availability::Damaged(reason), _) | (_, Availability::Damaged(reason)) => panic!("{reason}"),
        (Availability::Absent(reason), _) => Err(reason),
    }
}

macro_rules! model_or_skip {
    ($role:expr) => {
        match model($role) {
            Ok(found) => found,
            Err(reason) => {
                println!("skipped: {reason}");
                return;
            }
        }
    };
}

fn reference(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn number(value: &serde_json::Value) -> f32 {
    value.as_f64().unwrap() as f32
}

fn sentence_encoder() -> Result<SentenceEncoder, String> {
    let (model, runtime) = model(Role::TextEmbedding)?;
    Ok(SentenceEncoder::load(&model, &runtime, 1).unwrap())
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A passage that began a minute ago.
const fn passage<'a>(text: &'a str, before: &'a str) -> Passage<'a> {
    Passage { text, before, age: Duration::from_secs(60) }
}

#[test]
fn the_reader_finds_a_text_more_relevant_if_it_is_the_newest_about_a_thing() {
    let (model, runtime) = model_or_skip!(Role::AnswerExtraction);
    let reader = CrossEncoder::load(&model, &runtime, 1).unwrap();
    let at = |text, hours: u64| Passage { text, before: "", age: Duration::from_secs(3600 * hours) };
    let [shed, car] = ["Ilse: I've hung the secateurs in the shed.", "Ilse: The secateurs are in the boot of the car."];
    let read = |of_shed, of_car| {
        let passages = [at(shed, of_shed), at("Piotr: Fourteen.", 20), at(car, of_car)];
        let found = reader.extract("Where are the secateurs?", &passages).unwrap();
        found[0].relevance - found[2].relevance
    };
    let (shed_is_newer, car_is_newer) = (read(2, 40), read(40, 2));
    assert!(shed_is_newer > car_is_newer + 1.0, "{shed_is_newer} {car_is_newer}");
}

#[test]
fn the_reader_marks_the_words_that_answer_and_finds_the_other_texts_less_relevant() {
    let (model, runtime) = model_or_skip!(Role::AnswerExtraction);
    let reader = CrossEncoder::load(&model, &runtime, 1).unwrap();
    let read = |question: &str, text: &str, before: &str| {
        let other = passage("A tractor passes behind the greenhouse.", "");
        let extractions = reader.extract(question, &[passage(text, before), other]).unwrap();
        assert!(extractions[0].relevance > extractions[1].relevance + 2.0, "{question} {extractions:?}");
        (text[extractions[0].span.clone()].to_owned(), extractions[0].form())
    };
    let (words, form) =
        read("Where does she keep the secateurs?", "Ilse: The secateurs hang on the nail by the water butt.", "");
    assert!(words.contains("on the nail") && form == AnswerForm::Words, "{words} {form:?}");
    let (words, _) = read("How many trays were sown?", "Piotr: Fourteen.", "Ilse: How many trays did you sow?");
    assert!(words.contains("Fourteen"), "{words}");
    // What is read beside a text only moves the rounding of its integers.
    let text = passage("Ilse: The secateurs hang on the nail by the water butt.", "");
    let question = "Where does she keep the secateurs?";
    let alone = reader.extract(question, &[text]).unwrap()[0].relevance_alone;
    let many = [text, passage("Piotr: Right you are.", ""), passage("", "")];
    let beside = reader.extract(question, &many).unwrap();
    assert!((alone - beside[0].relevance_alone).abs() < 1.0, "{alone} {beside:?}");
    assert!(beside[2].span.is_empty());
}

#[test]
fn texts_have_the_vectors_of_the_reference_alone_and_in_a_batch() {
    let encoder = match sentence_encoder() {
        Ok(encoder) => encoder,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let rows = reference(include_str!("data/text.json"));
    let rows = rows.as_array().unwrap();
    let texts: Vec<&str> = rows.iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert!(rows.iter().any(|row| row["tokens"] == 256), "one text is longer than the model reads");
    let batch = encoder.embed(&texts).unwrap();
    for ((row, text), together) in rows.iter().zip(&texts).zip(&batch) {
        let alone = encoder.embed(&[text]).unwrap().remove(0);
        let expected: Vec<f32> = row["embedding"].as_array().unwrap().iter().map(number).collect();
        for vector in [&alone, together] {
            assert_eq!(vector.len(), encoder.dimensions());
            let worst = vector.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-4, "{text:.40}: {worst}");
            assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
        }
    }
    assert!(encoder.embed(&[]).unwrap().is_empty());
}

#[test]
fn a_question_passes_between_the_runs_of_a_long_batch() {
    let encoder = match sentence_encoder() {
        Ok(encoder) => Arc::new(encoder),
        Err(reason) => return println!("skipped: {reason}"),
    };
    let done = Arc::new(std::sync::Mutex::new(Vec::new()));
    let batch = {
        let (encoder, done) = (Arc::clone(&encoder), Arc::clone(&done));
        std::thread::spawn(move || {
            let texts: Vec<String> = (0..400).map(|n| format!("the robot put box {n} on shelf {}", n % 7)).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let vectors = encoder.embed(&texts).unwrap();
            done.lock().unwrap().push("batch");
            vectors
        })
    };
    encoder.embed(&["Where is box 12?"]).unwrap();
    done.lock().unwrap().push("question");
    assert_eq!(batch.join().unwrap().len(), 400);
    assert_eq!(*done.lock().unwrap(), ["question", "batch"]);
}

/// The picture of `scripts/encoder_reference.py`.
fn drawn_picture() -> (u32, u32, Vec<u8>) {
    let (width, height) = (640_i32, 360_i32);
    let mut rgb = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let mut pixel = [90 + x / 16, 110 + y / 12, 130 + (x + y) / 40];
            let (dx, dy) = (x - 320, y - 180);
            let distance = dx * dx + dy * dy;
            if distance <= 130 * 130 {
                pixel = [40, 40, 45];
            }
            if distance <= 115 * 115 {
                pixel = [245, 245, 240];
            }
            let ring = (95 * 95..=108 * 108).contains(&distance);
            let marks = ring && (dx.abs() <= 5 || dy.abs() <= 5);
            let hour = dx.abs() <= 5 && (-85..=0).contains(&dy);
            let minute = dy.abs() <= 6 && (0..=60).contains(&dx);
            if marks || hour || minute {
                pixel = [20, 20, 20];
            }
            rgb.extend(pixel.map(|value| u8::try_from(value).unwrap()));
        }
    }
    (width as u32, height as u32, rgb)
}

#[test]
fn the_detector_finds_the_boxes_of_the_reference() {
    let (mut model, runtime) = model_or_skip!(Role::Objects);
    let expected = reference(include_str!("data/objects.json"));
    let labels = model.entry.labels.clone();
    model.entry.parameters.insert("score".to_owned(), number(&expected["score"]));
    model.entry.parameters.insert("nms".to_owned(), number(&expected["nms"]));
    let detector = FastestDet::load(&model, &runtime, 1).unwrap();
    let (width, height, rgb) = drawn_picture();
    let found = detector.encode(&Picture { width, height, rgb: &rgb }).unwrap();
    let expected = expected["boxes"].as_array().unwrap();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(*found.label, labels[expected["class"].as_u64().unwrap() as usize]);
        assert!((found.score - number(&expected["score"])).abs() < 0.02, "{found:?} {expected}");
        for (edge, wanted) in found.bounds.iter().zip(expected["bounds"].as_array().unwrap()) {
            assert!((edge - number(wanted)).abs() < 0.01, "{found:?} {expected}");
        }
    }
}

/// A recording of the shared folder, 16 kHz mono 16 bit, or nothing where there is no such folder.
fn recording(name: &str) -> Option<Vec<f32>> {
    let path = shared().join("data/audio/speechbrain/VAD").join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    let data = bytes.windows(4).position(|window| window == b"data").unwrap() + 8;
    let samples = bytes[data..].chunks_exact(2);
    Some(samples.map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0).collect())
}

#[test]
fn speech_has_the_probabilities_of_the_reference() {
    let (model, runtime) = model_or_skip!(Role::VoiceActivity);
    let Some(samples) = recording("train.wav") else { return };
    let vad = SileroVad::load(&model, &runtime, 1).unwrap();
    let expected = reference(include_str!("data/voice.json"));
    let expected = expected.as_array().unwrap();
    let mut window = VoiceWindow { samples: [0.0; 576], state: VoiceState::default() };
    assert_eq!(samples.chunks_exact(512).len(), expected.len());
    for (chunk, expected) in samples.chunks_exact(512).zip(expected) {
        window.samples[64..].copy_from_slice(chunk);
        let step = vad.encode(&window).unwrap();
        assert!((step.probability - number(expected)).abs() < 1e-3, "{} {expected}", step.probability);
        window.state = step.state;
        window.samples.copy_within(512.., 0);
    }
}

/// The annotated speech of a recording whose examples of two seconds follow each other.
fn annotated(name: &str) -> Vec<(f64, f64)> {
    let path = shared().join("data/audio/speechbrain/annotation").join(name);
    let examples = reference(&std::fs::read_to_string(path).unwrap());
    let mut spans = Vec::new();
    for (at, example) in (0_u32..).zip(examples.as_object().unwrap().values()) {
        for span in example["speech"].as_array().unwrap() {
            let offset = f64::from(at) * 2.0;
            spans.push((offset + span[0].as_f64().unwrap(), offset + span[1].as_f64().unwrap()));
        }
    }
    spans
}

#[test]
fn speech_is_found_where_people_say_it_is() {
    let (model, runtime) = model_or_skip!(Role::VoiceActivity);
    let vad = Arc::new(SileroVad::load(&model, &runtime, 1).unwrap());
    for (sound, annotation, seconds) in
        [("train.wav", "VAD_train_root.json", 4.0), ("valid.wav", "VAD_dev_root.json", 8.0)]
    {
        let Some(samples) = recording(sound) else { return };
        let mut detector = SpeechDetector::new(vad.clone());
        for (at, block) in (0_u32..).zip(samples.chunks(160)) {
            detector.push(Duration::from_millis(10) * at, block).unwrap();
        }
        detector.finish();
        let found = detector.take_until(Duration::from_secs_f64(seconds));
        let expected = annotated(annotation);
        let speaks = |at: f64| expected.iter().any(|(start, end)| (*start..*end).contains(&at));
        let heard = |at: f64| {
            let inside = |span: &SpeechInterval| (span.start.as_secs_f64()..span.end.as_secs_f64()).contains(&at);
            found.iter().any(inside)
        };
        let steps = (seconds * 100.0) as u32;
        let agree = (0..steps).map(|step| f64::from(step) / 100.0).filter(|at| speaks(*at) == heard(*at)).count();
        let agreement = agree as f64 / f64::from(steps);
        assert!(agreement > 0.93, "{sound}: {agreement}: {found:?} instead of {expected:?}");
    }
}

#[test]
fn every_role_whose_files_are_there_becomes_ready_and_says_what_runs_it() {
    let models = installed();
    if let Availability::Absent(reason) = models.runtime_library() {
        return println!("skipped: {reason}");
    }
    let there = |role| matches!(models.model(role), Availability::Found(_));
    let encoders = Encoders::load(models.clone(), EncoderOptions::default()).unwrap();
    encoders.wait_ready();
    for (role, status) in encoders.status() {
        let expected = if there(role) { RoleState::Ready } else { RoleState::Absent };
        assert_eq!(status.state, expected, "{role}: {status:?}");
        let backend = status.backend.unwrap_or_default();
        let runs = backend.starts_with("onnxruntime-cpu 1.") || backend == "built in";
        assert_eq!(runs, expected == RoleState::Ready, "{role}: {backend}");
    }
    assert_eq!(encoders.text_embedder().is_some(), there(Role::TextEmbedding));
}

#[test]
fn an_accelerator_that_is_not_there_fails_its_role_and_no_other() {
    let models = installed();
    let there = |role| matches!(models.model(role), Availability::Found(_));
    if !there(Role::Objects) || matches!(models.runtime_library(), Availability::Absent(_)) {
        return println!("skipped: the object detector or ONNX Runtime is not installed");
    }
    let voice = if there(Role::VoiceActivity) { RoleState::Ready } else { RoleState::Absent };
    let roles = [(Role::Objects, Accelerator::TensorRt)].into();
    let encoders = Encoders::load(models, EncoderOptions { roles, ..EncoderOptions::default() }).unwrap();
    encoders.wait_ready();
    let status = encoders.status();
    assert_eq!(status[&Role::Objects].state, RoleState::Failed);
    assert!(status[&Role::Objects].reason.as_ref().unwrap().contains("tensorrt"));
    assert!(encoders.filled().objects.is_none());
    assert_eq!(status[&Role::VoiceActivity].state, voice);
}

#[test]
fn a_graph_with_other_tensors_than_the_catalogue_says_is_refused() {
    let (mut model, runtime) = model_or_skip!(Role::Objects);
    model.entry.outputs[0].name = "boxes".to_owned();
    let error = FastestDet::load(&model, &runtime, 1).err().unwrap().to_string();
    assert!(error.contains("no output `boxes`, but 758"), "{error}");
    model.entry.outputs[0].name = "758".to_owned();
    model.entry.outputs[0].shape = vec![1, 85, 20, 20];
    let error = FastestDet::load(&model, &runtime, 1).err().unwrap().to_string();
    assert!(error.contains("output `758` has shape"), "{error}");
}
