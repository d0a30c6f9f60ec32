//! NVIDIA's own parser and builder, where somebody has put TensorRT for RTX on the machine: it has the interface of
//! TensorRT 11 and builds on the processor alone. Runs need a GPU, so none is made.
//!
//! ```sh
//! pip download --no-deps tensorrt-rtx-cu13-libs && unzip tensorrt_rtx_cu13_libs-*.whl
//! ENGRAM_TENSORRT_RTX=tensorrt_rtx_libs cargo test -p drivers --test tensorrt -- --ignored rtx --nocapture
//! ```

#![allow(clippy::print_stdout)] // A measurement, which is read.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use drivers::models::{Availability, Catalogue, InstalledModels, Part, Role, ShapeRange};
use serde_json::{Value, json};

/// What the builder says at its end.
fn build(library: &Path, graph: &Path, shapes: &[ShapeRange], folder: &Path) -> Value {
    let request = json!({
        "library": library, "parser": null, "driver": folder.join("no-driver"), "allow_rtx": true, "device": 0,
        "task": { "Build": {
            "graph": graph, "profiles": shapes, "precision": "fp32", "dla": null, "workspace_mib": 512,
            "timing": folder.join("timing.cache"), "plan": folder.join("plan"),
        } },
    });
    let mut builder = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "the_builder", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    builder.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
    let output = builder.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}: {text}", output.status);
    let mut said = text.lines().filter_map(|line| line.split_once("engram-engine ")).map(|(_, json)| json);
    serde_json::from_str(said.next_back().unwrap_or_else(|| panic!("no word in {text}"))).unwrap()
}

#[test]
#[ignore = "needs TensorRT for RTX, 95 MB that are NVIDIA's: see above"]
fn rtx_parses_and_builds_the_models_of_the_default_profile() {
    let folder = PathBuf::from(std::env::var_os("ENGRAM_TENSORRT_RTX").expect("ENGRAM_TENSORRT_RTX names its folder"));
    let library = fs::canonicalize(folder.join("libtensorrt_rtx.so.1")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let models = InstalledModels::new(Catalogue::load(None).unwrap(), None, None);
    let mut built = 0;
    for role in Role::ALL {
        let Some(entry) = models.catalogue().model(role) else { continue };
        let Availability::Found(model) = models.model(role) else { continue };
        let Some(graph) = model.files.get(&Part::Graph) else { continue };
        let begin = Instant::now();
        let outcome = build(&library, graph, &entry.shapes, place.path());
        let took = begin.elapsed();
        if outcome == "Done" {
            let bytes = fs::metadata(place.path().join("plan")).unwrap().len();
            println!("{role}: {}: {bytes} bytes in {took:.1?}", entry.name);
            built += 1;
        } else {
            println!("{role}: {}: {outcome} after {took:.1?}", entry.name);
            assert!(!entry.tensorrt, "the catalogue says that TensorRT can build it: {outcome}");
        }
    }
    assert!(built > 0, "no model that TensorRT can build is installed");
    let nonsense = place.path().join("nonsense.onnx");
    fs::write(&nonsense, b"no graph").unwrap();
    let refused = build(&library, &nonsense, &[], place.path());
    assert_eq!(refused["Failed"]["stage"], "parse-failed", "{refused}");
}
