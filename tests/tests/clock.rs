//! The wall clock is set back an hour while engram runs, as a person or NTP does.

use std::path::PathBuf;

use anyhow::{Context, Result};
use engram_tests::{SOON, Stage, evidence_ids};
use serde_json::json;

/// Debian keeps one per processor.
fn libfaketime() -> Result<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib")?.filter_map(|entry| Some(entry.ok()?.path()));
    let found = folders.map(|folder| folder.join("faketime/libfaketime.so.1")).find(|path| path.is_file());
    found.context("libfaketime is missing: install the package faketime (tests/setup test)")
}

#[test]
fn a_clock_set_back_an_hour_loses_nothing_and_stops_nothing() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let offset = folder.path().join("offset");
    // Renamed into place, so that nobody reads half a number.
    let set = |text: &str| -> Result<()> {
        let draft = folder.path().join("draft");
        std::fs::write(&draft, text)?;
        Ok(std::fs::rename(&draft, &offset)?)
    };
    set("+0")?;
    let library = libfaketime()?.display().to_string();
    let mut stage = Stage::with("timeless", |builder| {
        builder
            .environment("LD_PRELOAD", &library)
            .environment("FAKETIME_TIMESTAMP_FILE", &offset.display().to_string())
            .environment("FAKETIME_NO_CACHE", "1")
            .environment("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .environment("DONT_FAKE_MONOTONIC", "1")
    })?;
    let before = stage.observe(json!({"id": "before", "text": "The gate was painted green."}))?;
    assert_eq!(before["accepted"], 1, "{before}");
    set("-3600")?;
    let after = stage.observe(json!({"id": "after", "text": "The gate was painted red."}))?;
    assert_eq!(after["accepted"], 1, "{after}");
    assert!(after["seq"].as_u64() > before["seq"].as_u64(), "order is by commit: {before} {after}");

    let answer = stage.ask("Which colour was the gate painted?")?;
    let mut ids = evidence_ids(&answer);
    ids.sort();
    assert_eq!(ids, ["after", "before"], "{answer}");
    let at = |id: &str| {
        let items = answer["evidence"].as_array().into_iter().flatten();
        items.filter(|item| item["observations"][0] == id).find_map(|item| item["start"].as_str().map(str::to_owned))
    };
    assert!(at("after") < at("before"), "the clock went back, and the test saw nothing of it: {answer}");
    // Health goes on by monotonic time.
    let mark = stage.client.mark();
    stage.agent.health(&stage.client, SOON, |_| true)?;
    stage.client.message_after(mark, "engram/timeless/health", SOON, |_| true)?;
    stage.agent.stop()?;
    stage.check()?;
    stage.agent.restart(&stage.client)?;
    assert_eq!(stage.remembered_ids()?.len(), 2);
    Ok(())
}
