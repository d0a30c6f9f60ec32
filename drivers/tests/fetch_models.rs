//! `scripts/fetch-models` fills a models directory with exactly the pinned bytes, and says what it cannot get.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use sha2::{Digest, Sha256};

const GRAPH: &[u8] = b"the bytes of a graph";

/// A mirror, an empty models directory and a catalogue that pins `content` for one model.
struct FetchFolder {
    root: tempfile::TempDir,
}

impl FetchFolder {
    fn new(content: &[u8]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let sha256: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        let catalogue = format!(
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
            [[model.file]]
            part = "graph"
            file = "tiny.onnx"
            sha256 = "{sha256}"
            bytes = {}
            sources = []
            "#,
            content.len()
        );
        fs::write(root.path().join("models.toml"), catalogue).unwrap();
        fs::create_dir(root.path().join("mirror")).unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join(name)
    }

    fn fetch(&self, more: &[&str]) -> Option<Output> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/fetch-models");
        let run = Command::new("python3")
            .arg(script)
            .arg("--catalogue")
            .arg(self.path("models.toml"))
            .arg("--mirror")
            .arg(self.path("mirror"))
            .arg("--dir")
            .arg(self.path("models"))
            .args(more)
            .output();
        run.inspect_err(|error| println!("skipped: python3: {error}")).ok()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_file_comes_from_the_mirror_by_its_bytes_whatever_its_name_there() {
    let place = FetchFolder::new(GRAPH);
    fs::create_dir(place.path("mirror/deep")).unwrap();
    fs::write(place.path("mirror/deep/another-name.bin"), GRAPH).unwrap();
    fs::write(place.path("mirror/same-length"), vec![b'x'; GRAPH.len()]).unwrap();
    let Some(output) = place.fetch(&["--strict"]) else { return };
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(fs::read(place.path("models/tiny.onnx")).unwrap(), GRAPH);
    assert!(said(&output).contains("objects: Tiny (CC0): tiny.onnx from mirror"), "{}", said(&output));
    assert_eq!(fs::read_dir(place.path("models")).unwrap().count(), 1, "no partial file stays");
}

#[test]
fn a_second_run_leaves_everything_as_it_is() {
    let place = FetchFolder::new(GRAPH);
    fs::write(place.path("mirror/tiny.onnx"), GRAPH).unwrap();
    if place.fetch(&[]).is_none() {
        return;
    }
    let made = fs::metadata(place.path("models/tiny.onnx")).unwrap().modified().unwrap();
    fs::remove_file(place.path("mirror/tiny.onnx")).unwrap();
    let output = place.fetch(&["--strict"]).unwrap();
    assert!(output.status.success() && said(&output).contains("is there"), "{}", said(&output));
    assert_eq!(fs::metadata(place.path("models/tiny.onnx")).unwrap().modified().unwrap(), made);
}

#[test]
fn what_cannot_be_had_is_said_in_one_line_and_is_an_error_only_if_asked() {
    let place = FetchFolder::new(GRAPH);
    fs::write(place.path("mirror/tiny.onnx"), b"other bytes under the right name").unwrap();
    let Some(output) = place.fetch(&[]) else { return };
    assert!(output.status.success(), "{}", said(&output));
    let lines: Vec<String> = said(&output).lines().map(str::to_owned).collect();
    assert_eq!(lines.iter().filter(|line| line.contains("Tiny")).count(), 1);
    assert!(lines.iter().any(|line| line.starts_with("objects: Tiny (CC0): not available")), "{lines:?}");
    assert!(!place.path("models/tiny.onnx").exists());
    assert_eq!(place.fetch(&["--strict"]).unwrap().status.code(), Some(1));
}

#[test]
fn a_file_of_other_bytes_is_replaced_whatever_its_size() {
    for other in [&GRAPH[..5], &vec![b'x'; GRAPH.len()]] {
        let place = FetchFolder::new(GRAPH);
        fs::create_dir(place.path("models")).unwrap();
        fs::write(place.path("models/tiny.onnx"), other).unwrap();
        fs::write(place.path("mirror/tiny.onnx"), GRAPH).unwrap();
        let Some(output) = place.fetch(&["--strict"]) else { return };
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(fs::read(place.path("models/tiny.onnx")).unwrap(), GRAPH);
    }
}

/// The same place with these sources.
fn with_sources(sources: &str) -> FetchFolder {
    let place = FetchFolder::new(GRAPH);
    let path = place.path("models.toml");
    let catalogue = fs::read_to_string(&path).unwrap();
    fs::write(&path, catalogue.replace("sources = []", &format!("sources = [{sources}]"))).unwrap();
    place
}

#[test]
fn the_last_line_says_which_sense_is_missing_because_which_host_was_not_reached() {
    let place = with_sources(r#"{ url = "http://127.0.0.1:1/tiny" }, { mirror = "made by hand" }"#);
    let Some(output) = place.fetch(&[]) else { return };
    let said = said(&output);
    if said.contains("curl is not installed") {
        return println!("skipped: curl");
    }
    assert_eq!(said.lines().last(), Some("missing: objects (127.0.0.1:1 was not reached)"), "{said}");
}

#[test]
fn another_build_that_the_catalogue_names_is_taken_from_the_mirror_and_stays() {
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let place = with_sources(&format!(r#"{{ mirror = "by hand", sha256 = "{hello}", bytes = 5 }}"#));
    fs::write(place.path("mirror/any"), "hello").unwrap();
    for last in ["from mirror", "is there"] {
        let Some(output) = place.fetch(&["--strict"]) else { return };
        assert!(output.status.success() && said(&output).contains(&format!("tiny.onnx {last}")), "{}", said(&output));
    }
    assert_eq!(fs::read(place.path("models/tiny.onnx")).unwrap(), b"hello");
}

#[test]
fn models_of_other_profiles_are_left_to_engram_models_pull() {
    let place = FetchFolder::new(GRAPH);
    fs::write(place.path("mirror/any"), GRAPH).unwrap();
    let catalogue = fs::read_to_string(place.path("models.toml")).unwrap();
    for (line, files) in
        [("profiles = [\"good\"]", "0 of 0 files"), ("profiles = [\"default\", \"good\"]", "1 of 1 files")]
    {
        fs::write(
            place.path("models.toml"),
            catalogue.replace("licence = \"CC0\"", &format!("licence = \"CC0\"\n{line}")),
        )
        .unwrap();
        let Some(output) = place.fetch(&["--strict"]) else { return };
        assert!(said(&output).contains(files), "{line}: {}", said(&output));
    }
}
