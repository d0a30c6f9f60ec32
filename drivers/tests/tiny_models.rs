//! Roles whose weights are too large to keep here run their real code on tiny graphs with the real tensors, which
//! `scripts/tiny_models.py` makes: what must come out is known by arithmetic.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use drivers::encoders::{
    CrossEncoder, CtcTextReader, DbTextDetector, Encoder, ImageEncoder, JointEncoder, OnnxRuntime, Picture,
    SentenceEncoder, SpeakerEncoder, VectorEncoder, YoloX, load_detector, try_model,
};
use drivers::models::{
    Availability, Catalogue, ElementType, InstalledModel, InstalledModels, ModelEntry, Part, Profile, Role, TensorSpec,
};
use memory_core::ports::{AnswerExtractor, Passage, TextEmbedder};

fn tiny(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny").join(name)
}

fn runtime() -> Option<OnnxRuntime> {
    match InstalledModels::new(Catalogue::load(None).unwrap(), None, None).runtime_library() {
        Availability::Found(library) => Some(OnnxRuntime::open(&library).unwrap()),
        Availability::Absent(reason) | Availability::Damaged(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}

/// The catalogue's entry of a role with the tiny files in place of its own.
fn model(role: Role, files: &[(Part, &str)]) -> InstalledModel {
    let entry = Catalogue::load(None).unwrap().model(role).unwrap().clone();
    InstalledModel { entry, files: files.iter().map(|(part, name)| (*part, tiny(name))).collect() }
}

/// The same of the profile `good`.
fn good(role: Role, files: &[(Part, &str)]) -> InstalledModel {
    let catalogue = Catalogue::load(None).unwrap();
    let entry = (*catalogue.of_profile(Profile::Good).iter().find(|model| model.role == role).unwrap()).clone();
    InstalledModel { entry, files: files.iter().map(|(part, name)| (*part, tiny(name))).collect() }
}

fn numbers(name: &str, shape: &[i64]) -> TensorSpec {
    TensorSpec { name: name.to_owned(), element: ElementType::F32, shape: shape.to_vec() }
}

fn tokens(name: &str) -> TensorSpec {
    TensorSpec { name: name.to_owned(), element: ElementType::I64, shape: vec![-1, -1] }
}

/// As a user would describe a pair of networks for pictures and texts.
fn joint() -> InstalledModel {
    let entry = ModelEntry {
        role: Role::JointImageText,
        name: "tiny pair".to_owned(),
        space: Some("tiny/joint".to_owned()),
        dimensions: Some(3),
        inputs: vec![numbers("pixel_values", &[1, 3, 224, 224])],
        outputs: vec![numbers("image_embeds", &[1, 3])],
        text_inputs: vec![tokens("input_ids"), tokens("attention_mask")],
        text_outputs: vec![numbers("text_embeds", &[-1, 3])],
        parameters: BTreeMap::from([("max_tokens".to_owned(), 77.0)]),
        ..Catalogue::load(None).unwrap().model(Role::ImageEmbedding).unwrap().clone()
    };
    let files = [
        (Part::Graph, "joint_image.onnx"),
        (Part::TextGraph, "joint_text.onnx"),
        (Part::Tokenizer, "joint_tokenizer.json"),
    ];
    InstalledModel { entry, files: files.iter().map(|(part, name)| (*part, tiny(name))).collect() }
}

fn filled(colour: [u8; 3], width: u32, height: u32) -> Vec<u8> {
    colour.repeat((width * height) as usize)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn a_face_is_a_unit_vector_of_what_the_network_gave() {
    let Some(runtime) = runtime() else { return };
    let installed = model(Role::FaceEmbedding, &[(Part::Graph, "face_embedding.onnx")]);
    let encoder = ImageEncoder::load(&installed, &runtime, 1).unwrap();
    // Red alone: the first plane is full, the next is empty, and the third is beyond the 128 numbers.
    let rgb = filled([255, 0, 0], 112, 112);
    let vector = encoder.encode(&Picture { width: 112, height: 112, rgb: &rgb }).unwrap();
    assert_eq!(vector.len(), 128);
    assert!(vector[..64].iter().all(|number| (number - 0.125).abs() < 1e-4));
    assert!(vector[64..].iter().all(|number| number.abs() < 1e-6));
    assert_eq!(try_model(&installed, Some(&runtime)).unwrap().len(), 1);
}

#[test]
fn a_voice_goes_through_kaldis_filter_bank() {
    let Some(runtime) = runtime() else { return };
    let template = model(Role::VoiceEmbedding, &[(Part::Graph, "speaker.onnx")]);
    let entry = ModelEntry {
        runtime: "onnx".to_owned(),
        space: Some("tiny/speaker".to_owned()),
        dimensions: Some(80),
        inputs: vec![numbers("feature", &[1, -1, 80])],
        outputs: vec![numbers("embedding", &[1, 80])],
        files: model(Role::FaceEmbedding, &[]).entry.files,
        ..template.entry
    };
    let installed = InstalledModel { entry, ..template };
    let encoder = SpeakerEncoder::load(&installed, &runtime, 1).unwrap();
    let sound: Vec<f32> = (0..32_000_u32).map(|at| ((at * at % 997) as f32 / 997.0 - 0.5) * 0.2).collect();
    let vector = encoder.encode(&sound).unwrap();
    assert_eq!((vector.len(), encoder.dimensions(), encoder.space()), (80, 80, "tiny/speaker"));
    assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-5);
    assert!(encoder.encode(&[0.0; 100]).unwrap_err().to_string().contains("less sound than one frame"));
}

#[test]
fn a_word_and_a_picture_of_it_lie_together() {
    let Some(runtime) = runtime() else { return };
    let encoder = JointEncoder::load(&joint(), &runtime, 1).unwrap();
    let words = encoder.text().embed(&["red", "something blue"]).unwrap();
    let seen = |colour| {
        let rgb = filled(colour, 64, 36);
        encoder.encode(&Picture { width: 64, height: 36, rgb: &rgb }).unwrap()
    };
    let (red, blue) = (seen([200, 0, 0]), seen([0, 0, 90]));
    assert!(cosine(&words[0], &red) > 0.99 && cosine(&words[0], &blue) < 0.01);
    assert!(cosine(&words[1], &blue) > cosine(&words[1], &red) + 0.5);
    assert_eq!(encoder.text().space(), encoder.space(), "one space");
    assert!(try_model(&joint(), Some(&runtime)).is_ok());
}

#[test]
fn clips_words_are_byte_pairs_and_its_pictures_the_middle_square() {
    let Some(runtime) = runtime() else { return };
    let files = [
        (Part::Graph, "clip_image.onnx"),
        (Part::TextGraph, "clip_text.onnx"),
        (Part::Tokenizer, "clip_tokenizer.json"),
    ];
    let installed = good(Role::JointImageText, &files);
    let encoder = JointEncoder::load(&installed, &runtime, 1).unwrap();
    // A short and a long text in one batch: the padding of the short one says nothing.
    let long = format!("a picture of nothing but {} and a Kingfisher!", "more ".repeat(100));
    let words = encoder.text().embed(&["  RED  ", "kingfisher", &long]).unwrap();
    assert!(words[0][0] > 0.999 && words[1][2] > 0.999, "{:?} {:?}", &words[0][..3], &words[1][..3]);
    assert!(words[2][2] < 0.9, "what lies beyond 77 tokens is not read");
    // Green in the middle of red: only the middle is seen.
    let rgb: Vec<u8> = (0..640 * 360)
        .flat_map(|at| if (150..490).contains(&(at % 640)) { [0, 200, 0] } else { [200, 0, 0] })
        .collect();
    let seen = encoder.encode(&Picture { width: 640, height: 360, rgb: &rgb }).unwrap();
    assert!(seen[1] > 0.98, "{:?}", &seen[..3]);
    assert_eq!((encoder.dimensions(), encoder.text().dimensions()), (512, 512));
    assert!(try_model(&installed, Some(&runtime)).unwrap()[0].contains("512 numbers"));
}

#[test]
fn a_sentence_is_the_vector_of_its_first_token() {
    let Some(runtime) = runtime() else { return };
    let files = [(Part::Graph, "sentence.onnx"), (Part::Tokenizer, "sentence_tokenizer.json")];
    let installed = good(Role::TextEmbedding, &files);
    let encoder = SentenceEncoder::load(&installed, &runtime, 1).unwrap();
    let vectors = encoder.embed(&["A dog barks.", "Shares fell on Monday."]).unwrap();
    assert!(vectors[0][0] > 0.9 && vectors[1][1] > 0.9, "{:?} {:?}", &vectors[0][..3], &vectors[1][..3]);
    assert!(vectors.iter().all(|vector| (cosine(vector, vector) - 1.0).abs() < 1e-5));
    assert_eq!(try_model(&installed, Some(&runtime)).unwrap().len(), 1);
    // Without the word on how tokens become one text, it is not run.
    let mut wordless = installed.clone();
    wordless.entry.pooling = None;
    assert!(try_model(&wordless, Some(&runtime)).unwrap_err().contains("`pooling`"));
}

#[test]
fn texts_are_compared_by_what_was_read_in_them_their_rank_and_their_place_in_time() {
    let Some(runtime) = runtime() else { return };
    let files = [
        (Part::Graph, "reader.onnx"),
        (Part::TextGraph, "reader_comparison.onnx"),
        (Part::Tokenizer, "reader_tokenizer.json"),
    ];
    let installed = model(Role::AnswerExtraction, &files);
    let passage = |text, hours: u64| Passage { text, before: "", age: Duration::from_secs(3600 * hours) };
    // In order of length, they are read in another order than they come in.
    let passages = [passage("The dog sleeps under the long table.", 5), passage("Dog, dog!", 30), passage("Rain.", 1)];
    let read = |installed: &InstalledModel| {
        let reader = CrossEncoder::load(installed, &runtime, 1).unwrap();
        reader.extract("Where?", &passages).unwrap()
    };
    let found = read(&installed);
    let alone: Vec<f32> = found.iter().map(|one| one.relevance_alone).collect();
    assert_eq!(alone, [1.0, 2.0, 0.0]);
    // Twice what was read, less 3 for each newer text, and a third of the logarithm of one and the rank.
    let expected = [2.0 - 3.0, 4.0 - 6.0 + 2.0_f32.ln() / 3.0, 3.0_f32.ln() / 3.0];
    for (one, expected) in found.iter().zip(expected) {
        assert!((one.relevance - expected).abs() < 1e-5, "{found:?}");
    }
    assert_eq!(&passages[0].text[found[0].span.clone()], "dog");
    // A reader without the second network knows nothing of the others.
    let mut single = installed.clone();
    single.files.remove(&Part::TextGraph);
    assert!(read(&single).iter().all(|one| one.relevance.to_bits() == one.relevance_alone.to_bits()));
    // Networks that are not those of the entry are refused, with what they lack.
    for (part, other) in [(Part::Graph, "reader_comparison.onnx"), (Part::TextGraph, "reader.onnx")] {
        let mut swapped = installed.clone();
        swapped.files.insert(part, tiny(other));
        let error = CrossEncoder::load(&swapped, &runtime, 1).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("pair"), "{error}");
    }
}

#[test]
fn a_detector_with_rows_of_boxes_is_read_as_yolox() {
    let Some(runtime) = runtime() else { return };
    let installed = good(Role::Objects, &[(Part::Graph, "yolox.onnx")]);
    // Half as high as wide; a red and a blue square of one cell each.
    let mut rgb = filled([0, 0, 0], 416, 208);
    for (left, top, colour) in [(64, 32, [255, 0, 0]), (320, 128, [0, 0, 255])] {
        for y in top..top + 32 {
            (left..left + 32).for_each(|x| rgb[(y * 416 + x) * 3..][..3].copy_from_slice(&colour));
        }
    }
    let detector = load_detector(&installed, &runtime, 1).unwrap();
    let found = detector.encode(&Picture { width: 416, height: 208, rgb: &rgb }).unwrap();
    assert_eq!(found.iter().map(|one| &*one.label).collect::<Vec<_>>(), ["person", "car"]);
    for (one, [left, top]) in found.iter().zip([[64.0, 32.0], [320.0, 128.0]]) {
        let place = [left / 416.0, top / 208.0, (left + 32.0) / 416.0, (top + 32.0) / 208.0];
        assert!(one.bounds.iter().zip(place).all(|(edge, wanted)| (edge - wanted).abs() < 1e-5), "{one:?}");
    }
    assert!(detector.certainty().steady("kite") > detector.certainty().steady("person"));
    assert_eq!(try_model(&installed, Some(&runtime)).unwrap().len(), 1);
    // Another network does not take its place.
    let wrong = good(Role::Objects, &[(Part::Graph, "joint_image.onnx")]);
    assert!(YoloX::load(&wrong, &runtime, 1).err().unwrap().to_string().contains("pixel_values"));
}

#[test]
fn writing_is_found_and_read() {
    let Some(runtime) = runtime() else { return };
    let detector = model(Role::TextDetection, &[(Part::Graph, "text_detection.onnx")]);
    let detector = DbTextDetector::load(&detector, &runtime, 1).unwrap();
    let mut rgb = filled([0, 0, 0], 640, 360);
    for y in 100..140 {
        for x in 200..400 {
            rgb[(y * 640 + x) * 3..][..3].fill(255);
        }
    }
    let lines = detector.encode(&Picture { width: 640, height: 360, rgb: &rgb }).unwrap();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let [left, top, right, bottom] = lines[0].bounds;
    assert!(left < 200.0 / 640.0 && right > 400.0 / 640.0 && top < 100.0 / 360.0 && bottom > 140.0 / 360.0);

    let mut reader = model(Role::TextRecognition, &[(Part::Graph, "text_recognition.onnx")]);
    reader.entry.labels = ["a", "b", "c"].map(str::to_owned).to_vec();
    reader.entry.outputs[0].shape = vec![25, 1, 4];
    let reader = CtcTextReader::load(&reader, &runtime, 1).unwrap();
    // Columns of four pixels: c, nothing, a, b, nothing …
    let levels = [255_u8, 0, 85, 170, 0];
    let line: Vec<u8> = (0..32 * 100).flat_map(|at| [levels.get(at % 100 / 4).copied().unwrap_or(0); 3]).collect();
    let read = reader.encode(&Picture { width: 100, height: 32, rgb: &line }).unwrap();
    assert_eq!(read.text, "cab");
    assert!(read.confidence > 0.9, "{read:?}");
}

#[test]
fn a_network_of_another_shape_does_not_take_the_role() {
    let Some(runtime) = runtime() else { return };
    let wrong = model(Role::FaceEmbedding, &[(Part::Graph, "joint_image.onnx")]);
    let error = try_model(&wrong, Some(&runtime)).unwrap_err();
    assert!(error.contains("pixel_values"), "it says what the file has: {error}");
    let directory = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(tiny("face_embedding.onnx")).unwrap();
    std::fs::write(directory.path().join("cut.onnx"), &bytes[..bytes.len() / 2]).unwrap();
    let mut cut = model(Role::FaceEmbedding, &[]);
    cut.files.insert(Part::Graph, directory.path().join("cut.onnx"));
    assert!(try_model(&cut, Some(&runtime)).unwrap_err().contains("cannot be loaded"));
}
