//! `engram models` as a person uses it: the built program, a mirror, a directory of its own.

#![allow(clippy::unwrap_used)] // Tests fail by panicking.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/// A models directory, a mirror and a manifest that pins "hello" as the object detector.
struct ModelMirror {
    root: tempfile::TempDir,
}

impl ModelMirror {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let place = Self { root };
        let manifest = format!(
            r#"
            version = 1
            [onnxruntime]
            version = "1.31.1"
            minimum = "1.17.0"
            licence = "MIT"
            library = []
            [[model]]
            role = "objects"
            name = "Tiny"
            licence = "CC0"
            runtime = "onnx"
            preprocessing = "none"
            inputs = [{{ name = "x", type = "f32", shape = [1, 3, 352, 352] }}]
            outputs = [{{ name = "y", type = "f32", shape = [1, 6, 22, 22] }}]
            labels = ["cone"]
            [[model.file]]
            part = "graph"
            file = "tiny.onnx"
            sha256 = "{HELLO}"
            bytes = 5
            sources = []
            "#
        );
        fs::write(place.path("models.toml"), manifest).unwrap();
        fs::create_dir(place.path("mirror")).unwrap();
        let config = format!(
            "data_dir = {:?}\n[models]\ndir = {:?}\nmanifest = {:?}\n",
            place.path("data"),
            place.path("models"),
            place.path("models.toml")
        );
        fs::write(place.path("engram.toml"), config).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn models(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_engram"))
            .arg("--config")
            .arg(self.path("engram.toml"))
            .arg("models")
            .args(arguments)
            .env_remove("ENGRAM_MODEL_MIRROR")
            .env_remove("ENGRAM_MODELS_DIR")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    }

    fn pull(&self) -> Output {
        let mirror = self.path("mirror");
        self.models(&["pull", "objects", "--accept-licence", "--strict", "--mirror", mirror.to_str().unwrap()])
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_licence_that_nobody_accepted_keeps_everything_away() {
    let place = ModelMirror::new();
    fs::write(place.path("mirror/any"), "hello").unwrap();
    let mirror = place.path("mirror");
    let output = place.models(&["pull", "objects", "--mirror", mirror.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(10), "{}", said(&output));
    assert!(
        said(&output).contains("Tiny under CC0") && said(&output).contains("--accept-licence"),
        "{}",
        said(&output)
    );
    assert!(!place.path("models/tiny.onnx").exists());
}

#[test]
fn a_model_is_pulled_from_a_mirror_verified_and_told_when_it_is_damaged() {
    let place = ModelMirror::new();
    fs::write(place.path("mirror/any"), "hello").unwrap();
    let output = place.pull();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("objects: Tiny (CC0): tiny.onnx pulled from mirror"), "{}", said(&output));
    assert!(place.pull().status.success(), "a second pull has nothing to do");

    let output = place.models(&["list", "--json"]);
    let rows = json(&output)["models"].as_array().unwrap().clone();
    let objects = rows.iter().find(|row| row["role"] == "objects").unwrap();
    assert_eq!((objects["state"].as_str(), objects["model"].as_str()), (Some("installed"), Some("Tiny")));
    assert_eq!(objects["sources"][0]["file"], "tiny.onnx");
    assert_eq!(objects["sources"][0]["from"], "nowhere but a mirror");
    let text = said(&place.models(&["list"]));
    assert!(text.contains("yamnet_spectra_in_emb.onnx from raw.githubusercontent.com, converted by"), "{text}");

    assert!(place.models(&["verify"]).status.success());
    fs::write(place.path("models/tiny.onnx"), "hellu").unwrap();
    let output = place.models(&["verify"]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(said(&output).contains("tiny.onnx"), "{}", said(&output));
}

#[test]
fn a_mirror_with_other_bytes_is_told_and_fails_where_everything_must_be_there() {
    let place = ModelMirror::new();
    fs::write(place.path("mirror/tiny.onnx"), "hellu").unwrap();
    let output = place.pull();
    assert_eq!(output.status.code(), Some(6), "{}", said(&output));
    assert!(said(&output).contains("other bytes than the pinned ones"), "{}", said(&output));
    assert!(!place.path("models/tiny.onnx").exists());
}

#[test]
fn a_role_that_is_none_is_told_what_it_may_have_meant() {
    let place = ModelMirror::new();
    let output = place.models(&["pull", "object"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("did you mean `objects`"), "{}", said(&output));
}

#[test]
fn a_file_that_is_no_model_is_not_added() {
    let place = ModelMirror::new();
    fs::write(place.path("own.onnx"), "no graph at all").unwrap();
    let own = place.path("own.onnx");
    let output = place.models(&["add", "objects", own.to_str().unwrap()]);
    assert!(!output.status.success(), "{}", said(&output));
    assert!(!place.path("models/models.lock").exists());
}

#[test]
fn a_model_of_whisper_cpp_is_known_by_its_first_bytes_and_asks_for_a_program_that_runs_it() {
    let place = ModelMirror::new();
    fs::write(place.path("ggml-base.en.bin"), b"lmgg and no weights").unwrap();
    let own = place.path("ggml-base.en.bin");
    let output = place.models(&["add", "speech recognition", own.to_str().unwrap()]);
    assert!(!output.status.success(), "{}", said(&output));
    let expected = if cfg!(feature = "whisper") { "no whole ggml model" } else { "--features whisper" };
    assert!(said(&output).contains(expected), "{}", said(&output));
    assert!(!place.path("models/models.lock").exists());
}
