//! Models beyond the default profile, with tiny networks of `drivers/scripts/tiny_models.py` in their places: pulled, accepted,
//! pinned, and seen to be in force.

#![allow(clippy::unwrap_used)] // Tests fail by panicking.

mod pulling;
mod seeing;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use drivers::models::{Availability, Catalogue, InstalledModels};
use engram_tests::skipped;
use serde_json::Value;

/// A place for one engram: configuration, manifest, models and a mirror with tiny networks.
struct GoodPlace {
    root: tempfile::TempDir,
}

impl GoodPlace {
    /// `None` where no ONNX Runtime is installed: nothing could be tried. `manifest` has the models of the test.
    fn new(manifest: &str) -> Option<Self> {
        let library = match InstalledModels::new(Catalogue::load(None).unwrap(), None, None).runtime_library() {
            Availability::Found(library) => library.path,
            Availability::Absent(reason) | Availability::Damaged(reason) => {
                skipped(&reason);
                return None;
            }
        };
        let place = Self { root: tempfile::tempdir().unwrap() };
        for folder in ["models", "mirror"] {
            fs::create_dir(place.path(folder)).unwrap();
        }
        std::os::unix::fs::symlink(&library, place.path("models").join(library.file_name().unwrap())).unwrap();
        fs::write(place.path("models.toml"), manifest).unwrap();
        let config = format!(
            "data_dir = {:?}\n[models]\ndir = {:?}\nmanifest = {:?}\n",
            place.path("data"),
            place.path("models"),
            place.path("models.toml")
        );
        fs::write(place.path("engram.toml"), config).unwrap();
        Some(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Lays a tiny network under a name of the mirror.
    fn offer(&self, tiny: &str, name: &str) {
        let made = Path::new(env!("CARGO_MANIFEST_DIR")).join("../drivers/tests/data/tiny").join(tiny);
        fs::copy(made, self.path("mirror").join(name)).unwrap();
    }

    fn engram(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_engram"))
            .arg("--config")
            .arg(self.path("engram.toml"))
            .args(arguments)
            .env_remove("ENGRAM_MODEL_MIRROR")
            .env_remove("ENGRAM_MODELS_DIR")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
    }

    /// Pulls from the mirror; the rows of its report.
    fn pull(&self, more: &[&str]) -> Vec<Value> {
        let mirror = self.path("mirror");
        let pull = ["--json", "models", "pull", "--accept-licence", "--mirror", mirror.to_str().unwrap()];
        let output = self.engram(&[&pull, more].concat());
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
        report["files"].as_array().unwrap().iter().filter(|row| row["role"] != "runtime").cloned().collect()
    }

    /// What `models list` says of a model.
    fn listed(&self, model: &str) -> Value {
        let output = self.engram(&["--json", "models", "list"]);
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
        let rows = report["models"].as_array().unwrap();
        rows.iter().find(|row| row["model"] == model).unwrap_or_else(|| panic!("{model}: {report}")).clone()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
