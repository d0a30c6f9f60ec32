//! Pictures and texts in one space, from the pull to the answer.

use std::path::PathBuf;

use engram_tests::{SOON, Stage, media, skipped};
use serde_json::{Value, json};

use drivers::models::file_digest;

use super::{GoodPlace, said};

/// A pair of networks for pictures and texts as CLIP's, with known directions: red, green and blue, and a kingfisher is blue.
/// Every other sense is left out.
const PAIR: &str = r#"
    version = 1
    [[model]]
    role = "joint image and text"
    name = "tiny CLIP"
    licence = "CC0"
    runtime = "onnx"
    space = "tiny-clip"
    dimensions = 512
    preprocessing = "as CLIP"
    fit = "crop"
    inputs = [{ name = "pixel_values", type = "f32", shape = [1, 3, 224, 224] }]
    outputs = [{ name = "image_embeds", type = "f32", shape = [1, 512] }]
    text_inputs = [{ name = "input_ids", type = "i64", shape = [-1, -1] }]
    text_outputs = [{ name = "text_embeds", type = "f32", shape = [-1, 512] }]
    parameters = { max_tokens = 77, mean_0 = 0.48145466, mean_1 = 0.4578275, mean_2 = 0.40821073, deviation_0 = 0.26862954, deviation_1 = 0.26130258, deviation_2 = 0.27577711, shows_slope = 40.0, shows_offset = -30.0 }
    [[model.file]]
    part = "graph"
    file = "clip_image.onnx"
    sources = []
    [[model.file]]
    part = "text-graph"
    file = "clip_text.onnx"
    sources = []
    [[model.file]]
    part = "tokenizer"
    file = "clip_tokenizer.json"
    sources = []
"#;

/// Scenes of the film, which of them is blue, and how long each is: as long as a segment at most.
const SCENES: u32 = 12;
const BLUE: u32 = 7;
const SECONDS: u32 = 10;

/// The film; `None` where it cannot be made.
fn film() -> Option<PathBuf> {
    let colour = |scene: u32| match scene {
        BLUE => 0x50_50_ff,
        even if even % 2 == 0 => 0xb4_14_14,
        _ => 0x14_b4_14,
    };
    let film = media::colours("twelve-scenes", &(0..SCENES).map(colour).collect::<Vec<u32>>(), SECONDS);
    film.inspect_err(|error| skipped(&format!("{error:#}"))).ok()
}

/// Pulls and pins the networks.
fn pull_pair(place: &GoodPlace) {
    let mut accept = vec!["joint image and text".to_owned()];
    for name in ["clip_image.onnx", "clip_text.onnx", "clip_tokenizer.json"] {
        place.offer(name, name);
        accept.extend(["--accept".to_owned(), file_digest(&place.path("mirror").join(name)).unwrap().0]);
    }
    let rows = place.pull(&accept.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(rows.last().unwrap()["state"], "pinned", "{rows:?}");
}

#[test]
fn a_thorough_question_sees_what_no_detector_has_a_word_for_and_remembers_it() {
    let Some(place) = GoodPlace::new(PAIR) else { return };
    let Some(film) = film() else { return };
    pull_pair(&place);
    let path = |name: &str| place.path(name).display().to_string();
    let stage = Stage::with("heron", |builder| {
        let models = builder.set("models.dir", path("models")).set("models.manifest", path("models.toml"));
        // The program under test resizes pictures without vector instructions.
        models.file("film", &film).set("reasoning.deadline_s", 50.0)
    });
    let mut stage = stage.unwrap();
    let ended = |report: &Value| report["sources"]["film"]["state"] == "ended";
    stage.agent.health(&stage.client, 5 * SOON, ended).unwrap();
    let ask = |effort: &str| {
        let body = json!({"question": "When was the kingfisher seen?", "effort": effort, "trace": true});
        stage.client.ask_with(stage.agent.robot(), body).unwrap()
    };
    let looks = |answer: &Value| answer["trace"].as_array().unwrap().iter().filter(|one| one["step"] == "aim").count();
    let found = |answer: &Value| {
        let evidence = answer["evidence"].as_array().unwrap();
        evidence.iter().find(|one| one["text"] == "A kingfisher is in view.").cloned()
    };
    assert_eq!(found(&ask("fast")), None, "nobody put it into words");
    let first = ask("thorough");
    let seen = found(&first).unwrap_or_else(|| panic!("{first}"));
    let begin = seen["stream_start_s"].as_f64().unwrap();
    assert!((f64::from(BLUE * SECONDS) - 1.0..f64::from((BLUE + 1) * SECONDS)).contains(&begin), "{seen}");
    assert_eq!((&first["route"], &seen["attributes"]["derived"]), (&json!("agentic"), &json!(true)), "{first}");
    assert!(looks(&first) > 0, "{first}");
    let second = ask("thorough");
    assert_eq!((looks(&second), &second["answer"]), (0, &first["answer"]), "{second}");
    assert!(found(&second).is_some(), "{second}");
    stage.agent.stop().unwrap();
}

#[test]
fn a_question_finds_what_no_detector_has_a_word_for() {
    let Some(place) = GoodPlace::new(PAIR) else { return };
    let Some(film) = film() else { return };
    let question = "When was the kingfisher seen?";
    let film = film.to_str().unwrap();
    let replay = [
        "--json",
        "replay",
        film,
        "--speed",
        "max",
        "--start-at",
        "2026-11-20T08:00:00Z",
        "--show",
        "0",
        "--ask",
        question,
    ];
    let asked = |answers: &Value| answers["answers"][0].clone();
    let first = |answer: &Value| answer["evidence"][0]["stream_start_s"].as_f64();

    // Without the networks there is no word to find it by.
    let output = place.engram(&replay);
    assert!(output.status.success(), "{}", said(&output));
    let blind = asked(&serde_json::from_slice(&output.stdout).unwrap());
    std::fs::remove_dir_all(place.path("data")).unwrap();

    pull_pair(&place);
    let output = place.engram(&replay);
    assert!(output.status.success(), "{}", said(&output));
    let seeing = asked(&serde_json::from_slice(&output.stdout).unwrap());
    let (begin, end) = (f64::from(BLUE * SECONDS), f64::from((BLUE + 1) * SECONDS));
    let found = first(&seeing).unwrap_or_else(|| panic!("{seeing}"));
    assert!((begin - 1.0..end).contains(&found), "{found} s: {seeing}");
    assert_ne!(first(&blind), first(&seeing), "by words there is nothing to find it by: {blind}");
}
