//! What is not a fitting ONNX Runtime is refused with its reason, and never by a crash.
//!
//! Each library is opened by a process of its own with a deadline: this program, started again for the one ignored test.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // Tests fail by panicking and say what they skip.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use drivers::encoders::{Backend, OnnxRuntime};
use drivers::models::{Availability, Catalogue, InstalledModels, RuntimeLibrary};

const LIBRARY: &str = "ENGRAM_TEST_LIBRARY";
const DEADLINE: Duration = Duration::from_secs(30);

#[test]
#[ignore = "the other tests run it in a process of its own"]
fn open_the_library_that_the_environment_names() {
    let path = PathBuf::from(std::env::var_os(LIBRARY).expect("set by the other tests"));
    match OnnxRuntime::open(&RuntimeLibrary { path, minimum: "1.17.0".to_owned() }) {
        Ok(runtime) => println!("\noutcome: opened {}", runtime.name()),
        Err(error) => println!("\noutcome: {error}"),
    }
}

/// What a process that opens `path` says.
fn open(path: &Path) -> String {
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program)
        .args(["--ignored", "--exact", "open_the_library_that_the_environment_names", "--nocapture"])
        .env(LIBRARY, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = child.stdout.take().unwrap();
    let (sender, receiver) = sync_channel(1);
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        sender.send(text).unwrap();
    });
    let text = receiver.recv_timeout(DEADLINE);
    if text.is_err() {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    let text = text.unwrap_or_else(|_| panic!("{} was not opened within {DEADLINE:?}", path.display()));
    reader.join().unwrap();
    assert!(status.success(), "the process that opened {} ended with {status}: {text}", path.display());
    let outcome = text.lines().find_map(|line| line.strip_prefix("outcome: "));
    outcome.unwrap_or_else(|| panic!("no outcome in {text}")).to_owned()
}

fn written(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, bytes).unwrap();
    (directory, path)
}

/// A shared library that every process has and that is not ONNX Runtime.
fn libc() -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.ends_with("libc.so.6")).expect("tests run on glibc");
    PathBuf::from(line.split_whitespace().last().unwrap())
}

/// A library made of `source`, or nothing where there is no C compiler.
fn compiled(source: &str) -> Option<(tempfile::TempDir, PathBuf)> {
    let (directory, file) = written("fake.c", source.as_bytes());
    let library = directory.path().join("libfake.so");
    let compiler = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&file).status();
    match compiler {
        Ok(status) => {
            assert!(status.success());
            Some((directory, library))
        }
        Err(error) => {
            println!("skipped: cc: {error}");
            None
        }
    }
}

#[test]
fn a_missing_library_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("libonnxruntime.so");
    let outcome = open(&path);
    assert!(outcome.contains("libonnxruntime.so") && outcome.contains("No such file"), "{outcome}");
}

#[test]
fn a_text_file_an_empty_one_and_a_folder_are_no_libraries() {
    for content in ["this is not a library, but it is long enough to be one if nobody looks inside it", ""] {
        let (_directory, path) = written("libonnxruntime.so", content.as_bytes());
        let outcome = open(&path);
        assert!(outcome.contains("is not a shared library"), "{outcome}");
    }
    let directory = tempfile::tempdir().unwrap();
    assert!(open(directory.path()).contains("directory"));
}

#[test]
fn a_library_for_another_processor_is_named_as_such() {
    let mut bytes = fs::read(libc()).unwrap();
    let (code, name) = if cfg!(target_arch = "aarch64") { (62, "x86_64") } else { (183, "aarch64") };
    bytes[18] = code;
    let (_directory, path) = written("libonnxruntime.so", &bytes);
    let outcome = open(&path);
    assert!(outcome.contains(&format!("is built for {name}")), "{outcome}");
    assert!(outcome.contains(std::env::consts::ARCH), "{outcome}");
}

#[test]
fn a_library_that_is_cut_short_is_not_handed_to_the_loader() {
    let bytes = fs::read(libc()).unwrap();
    for part in [64, 4096, bytes.len() / 2] {
        let (_directory, path) = written("libonnxruntime.so", &bytes[..part]);
        let outcome = open(&path);
        assert!(outcome.contains("is cut short"), "{outcome}");
    }
}

#[test]
fn another_library_is_not_taken_for_onnx_runtime() {
    let outcome = open(&libc());
    assert!(outcome.contains("has no OrtGetApiBase"), "{outcome}");
}

const FAKE: &str = r#"
    #include <stddef.h>
    static const void* api(unsigned version) { return NULL; }
    static const char* version(void) { return VERSION; }
    static const struct { const void* (*api)(unsigned); const char* (*version)(void); } base = { api, version };
    const void* OrtGetApiBase(void) { return BASE; }
"#;

#[test]
fn a_library_that_is_too_old_is_refused_with_both_versions() {
    let source = FAKE.replace("VERSION", "\"1.9.1\"").replace("BASE", "&base");
    let Some((_directory, path)) = compiled(&source) else { return };
    let outcome = open(&path);
    assert!(outcome.contains("is ONNX Runtime 1.9.1, at least 1.17.0 is needed"), "{outcome}");
}

#[test]
fn a_library_that_claims_a_version_without_its_interface_is_refused() {
    let source = FAKE.replace("VERSION", "\"1.99.0\"").replace("BASE", "&base");
    let Some((_directory, path)) = compiled(&source) else { return };
    assert!(open(&path).contains("is ONNX Runtime 1.99.0"));
}

#[test]
fn a_library_without_a_version_is_refused() {
    for (version, base) in [("NULL", "&base"), ("\"soon\"", "&base"), ("\"1.31.1\"", "NULL")] {
        let source = FAKE.replace("VERSION", version).replace("BASE", base);
        let Some((_directory, path)) = compiled(&source) else { return };
        let outcome = open(&path);
        assert!(outcome.contains("does not tell its version"), "{outcome}");
    }
}

#[test]
fn the_pinned_library_opens_and_a_second_one_is_refused() {
    let models = InstalledModels::new(Catalogue::load(None).unwrap(), None, None);
    let Availability::Found(library) = models.runtime_library() else {
        println!("skipped: no ONNX Runtime library is installed");
        return;
    };
    let outcome = open(&library.path);
    assert!(outcome.starts_with("opened onnxruntime-cpu 1."), "{outcome}");

    OnnxRuntime::open(&library).unwrap();
    OnnxRuntime::open(&library).unwrap();
    let other = RuntimeLibrary { path: libc(), ..library };
    let error = OnnxRuntime::open(&other).unwrap_err().to_string();
    assert!(error.contains("this process runs on"), "{error}");
}
