//! TensorRT as a person meets it: the built program, and stand-ins for NVIDIA's libraries.

#![cfg(feature = "tensorrt")]
#![allow(clippy::unwrap_used)] // Tests fail by panicking.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use drivers::models::file_digest;
use fakes::built;
use fakes::onnx::Model;
use serde_json::Value;

/// A machine with a GPU that is not there, one small model, and a configuration that names both.
struct GpuStage {
    root: tempfile::TempDir,
}

impl GpuStage {
    fn new() -> Self {
        let place = Self { root: tempfile::tempdir().unwrap() };
        fs::copy(built("fake_nvinfer_10"), place.path("libnvinfer.so.10")).unwrap();
        fs::hard_link(place.path("libnvinfer.so.10"), place.path("libnvonnxparser.so.10")).unwrap();
        fs::copy(built("fake_cuda"), place.path("libcuda.so.1")).unwrap();
        fs::create_dir(place.path("models")).unwrap();
        fs::write(place.path("models/tiny.onnx"), Model::detector().write()).unwrap();
        let (sha256, bytes) = file_digest(&place.path("models/tiny.onnx")).unwrap();
        let manifest = format!(
            r#"
            version = 1
            [[model]]
            role = "objects"
            name = "Tiny"
            licence = "CC0"
            runtime = "onnx"
            tensorrt = true
            preprocessing = "none"
            inputs = [{{ name = "x", type = "f32", shape = [1, 3, 8, 8] }}]
            outputs = [{{ name = "y", type = "f32", shape = [1, 6, 8, 8] }}]
            parameters = {{ score = 0.5, nms = 0.5 }}
            labels = ["thing"]
            [[model.file]]
            part = "graph"
            file = "tiny.onnx"
            sha256 = "{sha256}"
            bytes = {bytes}
            sources = []
            "#
        );
        fs::write(place.path("models.toml"), manifest).unwrap();
        let config = format!(
            "data_dir = {:?}\n[models]\ndir = {:?}\nmanifest = {:?}\n[models.tensorrt]\nlibrary = {:?}\ndriver = {:?}\n",
            place.path("data"),
            place.path("models"),
            place.path("models.toml"),
            place.path("libnvinfer.so.10"),
            place.path("libcuda.so.1"),
        );
        fs::write(place.path("engram.toml"), config).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn engram(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_engram"))
            .arg("--config")
            .arg(self.path("engram.toml"))
            .args(arguments)
            .env_remove("ENGRAM_MODELS_DIR")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    }

    fn builds(&self) -> usize {
        fs::read_to_string(self.path("builds")).unwrap_or_default().lines().count()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(output)))
}

#[test]
fn engines_are_built_ahead_of_time_and_only_once() {
    let place = GpuStage::new();
    let output = place.engram(&["models", "build"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("TensorRT 10.3.0.26") && said(&output).contains("Imagined GPU"),
        "{}",
        said(&output)
    );
    // The self-check's, and the one model that TensorRT can build and that is installed.
    assert_eq!(place.builds(), 2);
    assert!(place.path("data/engines").is_dir(), "beside the memory");

    let output = place.engram(&["models", "build", "objects", "--json"]);
    let answer = json(&output);
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["engines"][0]["state"], "ready");
    assert_eq!(place.builds(), 2);
    assert!(place.engram(&["models", "build", "objects", "--fresh"]).status.success());
    assert_eq!(place.builds(), 3);
}

#[test]
fn a_builder_that_crashes_is_an_answer_and_no_crash() {
    let place = GpuStage::new();
    assert!(place.engram(&["models", "build", "objects"]).status.success());
    fs::write(place.path("switches"), "build=crash").unwrap();
    let output = place.engram(&["models", "build", "objects", "--fresh", "--json"]);
    assert_eq!(output.status.code(), Some(8), "{}", said(&output));
    let engine = &json(&output)["engines"][0];
    assert_eq!(engine["state"], "failed");
    assert!(engine["detail"].as_str().unwrap().contains("while building"), "{engine}");
}

#[test]
fn without_a_gpu_the_command_says_so_and_the_doctor_is_content() {
    let place = GpuStage::new();
    fs::write(place.path("switches"), "devices=0").unwrap();
    let output = place.engram(&["models", "build"]);
    assert_eq!(output.status.code(), Some(8), "{}", said(&output));
    assert!(said(&output).contains("no NVIDIA GPU"), "{}", said(&output));

    let finding = |place: &GpuStage, backend: &str| {
        let set = format!("models.backend={backend}");
        let output = place.engram(&["--set", &set, "doctor", "--no-broker", "--json"]);
        let findings = json(&output)["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["check"] == "TensorRT").unwrap()
    };
    assert_eq!(finding(&place, "auto")["severity"], "ok");
    let named = finding(&place, "tensorrt");
    assert_eq!(named["severity"], "error");
    assert!(named["next_step"].as_str().unwrap().contains("nvidia-smi"));
    fs::write(place.path("switches"), "").unwrap();
    let there = finding(&place, "auto");
    assert!(there["found"].as_str().unwrap().contains("its self-check passed"), "{there}");
    fs::write(place.path("switches"), "version=90300").unwrap();
    assert_eq!(finding(&place, "auto")["severity"], "warning", "it is there and cannot be used");
}
