//! `engram models pull` over a network that is not kind, into an empty folder.
//!
//! The last test serves the catalogue's own addresses, with `../shared/models` as the server's storage and never as a
//! mirror. ENGRAM_TEST_ORIGINALS names one more folder that it may serve from.

#![allow(clippy::unwrap_used, clippy::panic)] // Tests fail by panicking.

mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use drivers::models::file_digest;
use engram_tests::skipped;
use serde_json::Value;

use server::{Manner, Server};

/// A models directory, a configuration and a manifest.
struct DownloadFolder {
    root: tempfile::TempDir,
}

impl DownloadFolder {
    /// One model, `body`, with these sources.
    fn new(body: &[u8], sources: &str) -> Self {
        let place = Self { root: tempfile::tempdir().unwrap() };
        fs::write(place.path("body"), body).unwrap();
        let (sha256, bytes) = file_digest(&place.path("body")).unwrap();
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
            inputs = []
            outputs = []
            labels = ["cone"]
            [[model.file]]
            part = "graph"
            file = "tiny.onnx"
            sha256 = "{sha256}"
            bytes = {bytes}
            sources = [{sources}]
            "#
        );
        place.configure(&manifest, None);
        place
    }

    fn configure(&self, manifest: &str, models: Option<&Path>) {
        fs::write(self.path("models.toml"), manifest).unwrap();
        let models = models.map_or_else(|| self.path("models"), Path::to_path_buf);
        let config = format!(
            "data_dir = {:?}\n[models]\ndir = {models:?}\nmanifest = {:?}\n",
            self.path("data"),
            self.path("models.toml")
        );
        fs::write(self.path("engram.toml"), config).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn engram(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
        command.arg("--config").arg(self.path("engram.toml")).args(["--json", "models"]).args(arguments);
        for name in ["ENGRAM_MODEL_MIRROR", "ENGRAM_MODELS_DIR", "http_proxy", "all_proxy", "ALL_PROXY"] {
            command.env_remove(name);
        }
        command.env("no_proxy", "127.0.0.1").envs(variables.iter().copied());
        command.stdin(std::process::Stdio::null()).output().unwrap()
    }

    /// State and detail of each file that is pulled, by its name.
    fn pull(&self, roles: &[&str], variables: &[(&str, &str)]) -> Vec<(String, String, String)> {
        let output = self.engram(&[&["pull", "--accept-licence"], roles].concat(), variables);
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        let rows = report["files"].as_array().unwrap();
        rows.iter().map(|row| (text(row, "file"), text(row, "state"), text(row, "detail"))).collect()
    }

    /// Pulls the one model and says how it went.
    fn pull_one(&self, variables: &[(&str, &str)]) -> (String, String) {
        let mut rows = self.pull(&["objects"], variables);
        let (_, state, detail) = rows.pop().unwrap();
        (state, detail)
    }

    /// What lies in the models directory, hidden or not, but for the lock.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("models")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.filter(|name| name != ".pull").collect()
    }

    fn assert_whole(&self, body: &[u8]) {
        assert!(fs::read(self.path("models/tiny.onnx")).unwrap() == body, "other bytes");
        assert_eq!(self.left(), ["tiny.onnx"], "nothing else stays");
    }
}

fn body() -> Vec<u8> {
    (0_u32..300_000).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn address(server: &Server, path: &str) -> String {
    format!("{{ url = {:?} }}", server.url(path))
}

fn without_curl() -> bool {
    let missing = Command::new("curl").arg("--version").output().is_err();
    if missing {
        skipped("curl is not installed");
    }
    missing
}

#[test]
fn redirects_and_a_slow_server_are_followed_to_the_end() {
    if without_curl() {
        return;
    }
    let server = Server::start();
    server.put("there/tiny", &body(), Manner::Slowly);
    server.put("between/tiny", b"", Manner::Elsewhere(server.url("there/tiny")));
    server.put("here/tiny", b"", Manner::Elsewhere(server.url("between/tiny")));
    let place = DownloadFolder::new(&body(), &address(&server, "here/tiny"));
    let (state, detail) = place.pull_one(&[]);
    assert_eq!(state, "pulled", "{detail}");
    place.assert_whole(&body());
}

#[test]
fn redirects_without_an_end_end() {
    if without_curl() {
        return;
    }
    let server = Server::start();
    server.put("round/tiny", b"", Manner::Elsewhere(server.url("round/tiny")));
    let place = DownloadFolder::new(&body(), &address(&server, "round/tiny"));
    let (state, detail) = place.pull_one(&[]);
    assert!(state == "missing" && detail.contains("redirects"), "{detail}");
}

#[test]
fn a_transfer_that_is_cut_goes_on_where_it_was() {
    if without_curl() {
        return;
    }
    let server = Server::start();
    server.put("host/tiny", &body(), Manner::CutOnce(100_000));
    let place = DownloadFolder::new(&body(), &address(&server, "host/tiny"));
    let (state, detail) = place.pull_one(&[]);
    assert_eq!(state, "pulled", "{detail}");
    place.assert_whole(&body());
    let from: Vec<_> = server.requests().into_iter().map(|request| request.from).collect();
    assert_eq!(from, [None, Some(100_000)]);
}

#[test]
fn a_transfer_that_is_cut_begins_again_where_the_server_knows_no_ranges() {
    if without_curl() {
        return;
    }
    let server = Server::start();
    server.put("host/tiny", &body(), Manner::CutOnceAndWithoutRanges(100_000));
    let place = DownloadFolder::new(&body(), &address(&server, "host/tiny"));
    let (state, detail) = place.pull_one(&[]);
    assert_eq!(state, "pulled", "{detail}");
    place.assert_whole(&body());
}

#[test]
fn what_an_interrupted_pull_left_is_gone_on_with_and_wrong_leavings_do_no_harm() {
    if without_curl() {
        return;
    }
    let server = Server::start();
    server.put("host/tiny", &body(), Manner::Well);
    let place = DownloadFolder::new(&body(), &address(&server, "host/tiny"));
    let (sha256, _) = file_digest(&place.path("body")).unwrap();
    let part = place.path(&format!("models/.tiny.onnx.{}.part", &sha256[..8]));
    fs::create_dir(place.path("models")).unwrap();
    fs::write(&part, &body()[..200_000]).unwrap();
    assert_eq!(place.pull_one(&[]).0, "pulled");
    place.assert_whole(&body());
    assert_eq!(server.requests()[0].from, Some(200_000));

    for leavings in [vec![7; 200_000], body()] {
        fs::remove_file(place.path("models/tiny.onnx")).unwrap();
        fs::write(&part, leavings).unwrap();
        let (state, detail) = place.pull_one(&[]);
        assert_eq!(state, "pulled", "{detail}");
        place.assert_whole(&body());
    }
}

#[test]
fn wrong_bytes_are_never_installed() {
    if without_curl() {
        return;
    }
    let server = Server::start();
    server.put("host/tiny", &vec![7; 300_000], Manner::Well);
    let source = format!(
        r#"{{ original = {:?}, sha256 = "{}", bytes = 5, script = "tflite_to_onnx.py" }}"#,
        server.url("host/tiny"),
        "00".repeat(32)
    );
    for (source, said) in [
        (address(&server, "host/tiny"), "other bytes than the pinned ones"),
        (source, "other bytes than the pinned original's"),
    ] {
        let place = DownloadFolder::new(&body(), &source);
        let (state, detail) = place.pull_one(&[]);
        assert!(state == "missing" && detail.contains(said), "{detail}");
        assert!(place.left().is_empty(), "{:?}", place.left());
    }
}

#[test]
fn a_server_that_is_not_there_and_a_name_that_nobody_knows_are_named() {
    if without_curl() {
        return;
    }
    let sources = r#"{ url = "http://127.0.0.1:1/tiny" }, { url = "http://models.invalid/tiny" }"#;
    let place = DownloadFolder::new(&body(), sources);
    let (state, detail) = place.pull_one(&[]);
    assert_eq!(state, "missing");
    for host in ["127.0.0.1:1: curl failed", "models.invalid: curl failed"] {
        assert!(detail.contains(host), "{detail}");
    }
    assert!(place.left().is_empty());
}

#[test]
fn a_proxy_is_asked_where_the_environment_names_one() {
    if without_curl() {
        return;
    }
    let server = Server::start();
    server.put("models.invalid/tiny", &body(), Manner::Well);
    let place = DownloadFolder::new(&body(), r#"{ url = "http://models.invalid/tiny" }"#);
    let proxy = server.url("");
    let (state, detail) = place.pull_one(&[("http_proxy", &proxy)]);
    assert_eq!(state, "pulled", "{detail}");
    assert_eq!(server.requests()[0].target, "http://models.invalid/tiny");
}

#[test]
fn a_conversion_without_python_or_without_packages_says_what_to_install_and_keeps_the_original() {
    if without_curl() {
        return;
    }
    let server = Server::start();
    server.put("host/tiny.tflite", b"hello", Manner::Well);
    let source = format!(
        r#"{{ original = {:?}, sha256 = "{HELLO}", bytes = 5, script = "tflite_to_onnx.py" }}"#,
        server.url("host/tiny.tflite")
    );
    let place = DownloadFolder::new(&body(), &source);
    let output = Command::new("sh").args(["-c", "command -v curl"]).output().unwrap();
    fs::create_dir(place.path("bin")).unwrap();
    std::os::unix::fs::symlink(String::from_utf8(output.stdout).unwrap().trim(), place.path("bin/curl")).unwrap();
    let (state, detail) = place.pull_one(&[("PATH", place.path("bin").to_str().unwrap())]);
    assert_eq!(state, "missing");
    assert!(detail.contains("python3 is not installed (on Debian: apt-get install python3-venv)"), "{detail}");

    let nowhere = [("PIP_INDEX_URL", "http://127.0.0.1:1/"), ("PIP_RETRIES", "0"), ("PIP_NO_CACHE_DIR", "1")];
    let (state, detail) =
        place.pull_one(&[&nowhere[..], &[("PIP_EXTRA_INDEX_URL", ""), ("PIP_FIND_LINKS", "")]].concat());
    assert_eq!(state, "missing");
    assert!(detail.contains("PIP_INDEX_URL") || detail.contains("python3-venv"), "{detail}");
    assert_eq!(server.requests().len(), 1, "the original is not fetched twice");
    assert!(!place.path("models/tiny.onnx").exists());
}

const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

#[test]
fn another_build_and_an_original_of_a_mirror_serve_only_with_their_own_bytes() {
    let place = DownloadFolder::new(&body(), &format!(r#"{{ mirror = "by hand", sha256 = "{HELLO}", bytes = 5 }}"#));
    fs::create_dir(place.path("mirror")).unwrap();
    let mirror = place.path("mirror").to_str().unwrap().to_owned();
    fs::write(place.path("mirror/any"), "hellu").unwrap();
    let (state, _) = place.pull_one(&[("ENGRAM_MODEL_MIRROR", &mirror)]);
    assert_eq!(state, "missing");
    fs::write(place.path("mirror/any"), "hello").unwrap();
    let (state, detail) = place.pull_one(&[("ENGRAM_MODEL_MIRROR", &mirror)]);
    assert!(state == "pulled" && detail.contains("another build"), "{detail}");
    place.assert_whole(b"hello");
    assert!(place.engram(&["verify"], &[]).status.success());
}

/// A file system of its own, unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("--lazy").arg(self.0.path()).status().ok();
    }
}

#[test]
fn a_disk_that_fills_up_meanwhile_is_said_and_the_pull_succeeds_once_there_is_room() {
    if without_curl() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Above what a pull leaves free for the memory.
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=70m", "engram-test"]).arg(folder.path()).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        skipped("a full disk needs the right to mount a tmpfs");
        return;
    }
    let disk = SmallDisk(folder);
    let server = Server::start();
    let place = DownloadFolder::new(&body(), &address(&server, "host/tiny"));
    place.configure(&fs::read_to_string(place.path("models.toml")).unwrap(), Some(disk.0.path()));
    server.put("host/tiny", &body(), Manner::FillingTheDisk(disk.0.path().to_path_buf()));
    let (state, detail) = place.pull_one(&[]);
    assert!(state == "missing" && detail.contains("no room for it on the disk"), "{detail}");
    assert!(!disk.0.path().join("tiny.onnx").exists());

    let output = place.engram(&["pull", "objects", "--accept-licence"], &[]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("make room"), "said before anything is written");

    fs::remove_file(disk.0.path().join("filler")).unwrap();
    server.put("host/tiny", &body(), Manner::Well);
    assert_eq!(place.pull_one(&[]).0, "pulled");
    assert!(fs::read(disk.0.path().join("tiny.onnx")).unwrap() == body());
}

/// Every address of a model: the file that comes from it, the address, and the sha256 of what lies there.
fn addresses(model: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut found = Vec::new();
    for file in model["file"].as_array().into_iter().flatten() {
        for source in file["sources"].as_array().into_iter().flatten() {
            let plain = text(&source["url"]).zip(text(&file["sha256"]));
            let pair = plain.or_else(|| text(&source["original"]).zip(text(&source["sha256"])));
            found.extend(pair.map(|(address, sha256)| (text(&file["file"]).unwrap(), address, sha256)));
        }
    }
    found
}

/// Whether a conversion can have its packages here; asked only where one failed.
fn reaches_packages() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let download = ["-m", "pip", "download", "--quiet", "--no-deps", "--dest"];
    let done = Command::new("python3").args(download).arg(folder.path()).arg("tflite").output();
    done.is_ok_and(|output| output.status.success())
}

#[test]
fn the_default_profile_comes_from_the_addresses_that_the_catalogue_names() {
    if without_curl() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let more = std::env::var_os("ENGRAM_TEST_ORIGINALS").map(PathBuf::from);
    let folders = [Some(root.join("../shared/models")), more];
    let entries = folders.iter().flatten().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let stored = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let stored: BTreeMap<String, PathBuf> = stored.map(|path| (file_digest(&path).unwrap().0, path)).collect();
    if stored.is_empty() {
        skipped("no folder of models to serve from");
        return;
    }
    let catalogue = fs::read_to_string(root.join("config/models.toml")).unwrap();
    let parsed: Value = toml::from_str(&catalogue).unwrap();
    let server = Server::start();
    let (mut roles, mut unserved) = (Vec::new(), BTreeSet::new());
    for model in parsed["model"].as_array().unwrap() {
        let addresses = addresses(model);
        // What comes as a package comes through pip, which has a network of its own.
        let of_another =
            model["profiles"].as_array().is_some_and(|profiles| !profiles.contains(&Value::from("default")));
        if addresses.is_empty() || of_another {
            continue;
        }
        roles.push(model["role"].as_str().unwrap());
        for (file, address, sha256) in addresses {
            match stored.get(&sha256) {
                Some(path) => {
                    let path_there = address.strip_prefix("https://").unwrap();
                    server.put(path_there, &fs::read(path).unwrap(), Manner::Well);
                }
                None => drop(unserved.insert(file)),
            }
        }
    }
    let place = DownloadFolder { root: tempfile::tempdir().unwrap() };
    // Only the base of the addresses is another, and the library that runs the networks is left out.
    let library = r#"{ version = "1.31.1", minimum = "1.17.0", licence = "MIT", library = [] }"#;
    let (_, models) = catalogue.split_once("[[model]]").unwrap();
    let manifest = format!("version = 1\nonnxruntime = {library}\n[[model]]{models}");
    place.configure(&manifest.replace("https://", &server.url("")), None);

    let rows = place.pull(&roles, &[]);
    let mut pulled = 0;
    for (file, state, detail) in &rows {
        if state == "pulled" {
            assert!(detail.contains("127.0.0.1"), "{file} {detail}: no mirror was named");
            pulled += 1;
        } else if unserved.contains(file) {
            assert!(detail.contains("404"), "{file}: {detail}");
            skipped(&format!("{file}: what it is made from is not in the server's storage"));
        } else {
            let converted = detail.contains("pip install") || detail.contains("python3");
            assert!(converted && !reaches_packages(), "{file} is {state}: {detail}");
            skipped(&format!("{file}: no packages for the conversion: {detail}"));
        }
    }
    println!("{pulled} of {} files pulled from {} roles' own addresses", rows.len(), roles.len());
    assert!(roles.len() >= 6 && pulled > 0);
    assert!(place.engram(&["verify"], &[]).status.success(), "every byte is the pinned one");
}
