//! The built program on its own: no broker, no camera, no model.

use std::io::Write;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value as Json;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn engram(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engram"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ENGRAM_")) {
        command.env_remove(name);
    }
    command.env_remove("JOURNAL_STREAM").env_remove("NOTIFY_SOCKET").env_remove("CREDENTIALS_DIRECTORY");
    let models = directory.join("no-models");
    command
        .args(["--config", "/dev/null", "--robot", "alone", "--set", "metrics.enabled=false"])
        .args(["--set", "mqtt.enabled=false", "--set"])
        .arg(format!("models.dir={}", models.display()))
        .arg("--data-dir")
        .arg(directory.join("data"));
    command
}

fn finish(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).output().expect("the built program starts")
}

fn json(output: &Output) -> Json {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    })
}

#[test]
fn what_is_told_offline_is_found_offline() {
    let directory = tempfile::tempdir().unwrap();
    let words = ["observe", "--offline", "The blue mug is on the shelf.", "--entity", "Anna", "--at", "10m", "--json"];
    let told = finish(engram(directory.path()).args(words));
    assert_eq!((told.status.code(), &json(&told)["accepted"]), (Some(0), &Json::from(1)));
    let asked = finish(engram(directory.path()).args(["ask", "--offline", "Where is the blue mug?", "--json"]));
    assert_eq!(asked.status.code(), Some(0), "{}", String::from_utf8_lossy(&asked.stderr));
    let answer = json(&asked);
    assert!(answer["answer"].as_str().unwrap().contains("shelf"), "{answer}");
    let for_people = finish(engram(directory.path()).args(["ask", "--offline", "Where is the blue mug?"]));
    let text = String::from_utf8_lossy(&for_people.stdout).into_owned();
    assert!(text.contains("shelf") && text.contains("evidence") && text.contains("% sure"), "{text}");
    let checked = finish(engram(directory.path()).arg("check"));
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn a_file_of_observations_is_told_at_once_and_its_faults_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("day.jsonl");
    std::fs::write(&file, "{\"text\": \"a door\"}\n{\"kind\": \"smell\", \"text\": \"b\"}\n{\"text\": \"a window\"}\n")
        .unwrap();
    let told = finish(engram(directory.path()).args(["observe", "--offline", "--json", "--file"]).arg(&file));
    let report = json(&told);
    assert_eq!(told.status.code(), Some(10), "{report}");
    assert_eq!((&report["accepted"], &report["rejected"][0]["index"]), (&Json::from(2), &Json::from(1)), "{report}");
}

#[test]
fn the_honest_none_has_its_own_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    finish(engram(directory.path()).args(["observe", "--offline", "The kettle is on."]));
    let asked = finish(engram(directory.path()).args(["ask", "--offline", "Who won the chess tournament?", "--json"]));
    let answer = json(&asked);
    assert_eq!((asked.status.code(), &answer["route"]), (Some(7), &Json::from("none")), "{answer}");
    assert!(answer["answer"].is_null());
    assert!(answer["reason"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    let for_people = finish(engram(directory.path()).args(["ask", "--offline", "Who won the chess tournament?"]));
    let text = String::from_utf8_lossy(&for_people.stdout).into_owned();
    assert!(text.starts_with("I remember nothing about that: "), "{text}");
}

#[test]
fn asking_makes_no_memory_where_there_is_none() {
    let directory = tempfile::tempdir().unwrap();
    for words in [&["ask", "--offline", "Where?"][..], &["check"], &["inspect", "stats"]] {
        let output = finish(engram(directory.path()).args(words));
        assert_eq!(output.status.code(), Some(4), "{words:?}");
    }
    assert!(!directory.path().join("data").exists());
}

#[test]
fn a_file_that_is_no_store_is_reported_by_check_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    finish(engram(directory.path()).args(["observe", "--offline", "The kettle is on."]));
    let store = directory.path().join("data/memory/memory.redb");
    let rubbish = vec![0x5a_u8; 1 << 16];
    std::fs::write(&store, &rubbish).unwrap();
    let checked = finish(engram(directory.path()).args(["check", "--json"]));
    let report = json(&checked);
    assert_eq!((checked.status.code(), &report["ok"]), (Some(4), &Json::from(false)), "{report}");
    assert!(report["problems"][0].as_str().is_some_and(|problem| !problem.is_empty()), "{report}");
    assert_eq!(std::fs::read(&store).unwrap(), rubbish);
}

#[test]
fn systemd_hears_ready_a_status_and_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("notify");
    let heard = UnixDatagram::bind(&socket).unwrap();
    heard.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut daemon = engram(directory.path())
        .arg("run")
        .env("NOTIFY_SOCKET", &socket)
        .env("WATCHDOG_USEC", "10000000")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut wait_for = |wanted: &str| {
        let mut datagram = [0; 4096];
        while !said.contains(wanted) {
            let length = heard.recv(&mut datagram).unwrap_or_else(|error| panic!("{wanted}: {error}; heard: {said}"));
            said.push_str(&String::from_utf8_lossy(&datagram[..length]));
        }
    };
    wait_for("READY=1");
    wait_for("WATCHDOG=1");
    wait_for("STATUS=0 episodes");
    let pid = rustix::process::Pid::from_child(&daemon);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    wait_for("STOPPING=1");
    assert_eq!(daemon.wait().unwrap().code(), Some(0));
}

#[test]
fn exit_at_end_without_a_file_is_a_wrong_command_line() {
    let directory = tempfile::tempdir().unwrap();
    for words in [&["run", "--exit-at-end"][..], &["run", "--exit-at-end", "--source", "test"]] {
        let output = finish(engram(directory.path()).args(words));
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn answers_go_to_stdout_and_reasons_to_stderr() {
    let directory = tempfile::tempdir().unwrap();
    let output = finish(engram(directory.path()).args(["ask", "Where is the mug?"]));
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--offline"));
    let output = finish(engram(directory.path()).args(["ask", "Where is the mug?", "--json"]));
    assert_eq!(json(&output)["error"]["exit"], 3);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = engram(directory.path())
        .args(["config", "schema"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn observations_are_read_from_a_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = engram(directory.path())
        .args(["observe", "--offline", "--file", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"[{\"text\": \"a\"}, {\"text\": \"b\"}]").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(json(&output)["accepted"], 2);
}

#[test]
fn completions_and_the_schema_are_printed() {
    let directory = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = finish(engram(directory.path()).args(["completions", shell]));
        assert!(String::from_utf8_lossy(&output.stdout).contains("engram"), "{shell}");
    }
    let schema = json(&finish(engram(directory.path()).args(["config", "schema"])));
    assert!(schema["properties"]["mqtt"].is_object(), "{schema}");
}
