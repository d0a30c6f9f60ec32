//! A network camera that dies and returns, as the owner of the robot sees it: in health, in the episodes, in a clip.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engram_tests::{NetworkCamera, Stage};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// A segment of a live camera takes seconds; on a busy machine more.
const FILMING: Duration = Duration::from_secs(60);

/// Waits for a report that was made after `mark`.
fn health_after(stage: &Stage, mark: usize, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
    let topic = format!("engram/{}/health", stage.agent.robot());
    let wanted = |report: &Value| wanted(report);
    let found =
        stage.client.message_after(mark, &topic, FILMING, |message| message.json().is_ok_and(|report| wanted(&report)));
    found.with_context(|| format!("engram said:\n{}", stage.agent.output()))?.json()
}

fn segments(report: &Value) -> u64 {
    report["sources"]["gate"]["segments"].as_u64().unwrap_or(0)
}

fn is_degraded(report: &Value) -> bool {
    report["degraded"].as_array().into_iter().flatten().any(|line| line.to_string().contains("source gate"))
}

#[test]
fn a_camera_that_dies_is_named_and_its_absence_is_neither_remembered_nor_recorded() -> Result<()> {
    let Some(camera) = NetworkCamera::start(0)? else { return Ok(()) };
    let stage = Stage::with("live", |builder| {
        builder
            .source("gate", &camera.url())
            .set("segments.min_s", 1.0)
            .set("segments.max_s", 2.0)
            .set("recording.enabled", true)
            .set("recording.keep_free_mib", 0)
            .set("recording.chunk_s", 2.0)
    })?;
    let report = stage.agent.health(&stage.client, FILMING, |report| segments(report) >= 2)?;
    assert!(!is_degraded(&report), "{report}");

    let (mark, port) = (stage.client.mark(), camera.port());
    drop(camera);
    let gone = Timestamp::now();
    let report = health_after(&stage, mark, |report| {
        is_degraded(report) && report["sources"]["gate"]["restarts"].as_u64() >= Some(3)
    })?;
    assert_eq!(report["sources"]["gate"]["state"], "backoff", "{report}");
    let remembered = segments(&report);
    stage.tell("meanwhile", "The memory goes on without its camera.")?;

    let mark = stage.client.mark();
    let camera = NetworkCamera::start(port)?.context("it started before")?;
    let back = Timestamp::now();
    let report = health_after(&stage, mark, |report| !is_degraded(report) && segments(report) >= remembered + 2)?;
    assert_eq!(
        (&report["sources"]["gate"]["state"], &report["sources"]["gate"]["error"]),
        (&json!("running"), &json!(null))
    );

    let page = stage.command("list", json!({"limit": 100}))?;
    let episodes = page["episodes"].as_array().context("list replies with episodes")?;
    let mut after = Vec::new();
    for episode in episodes.iter().filter(|episode| episode["media"].is_string()) {
        let time = |name: &str| -> Result<Timestamp> { Ok(episode[name].as_str().context("a time")?.parse()?) };
        let (start, end) = (time("start")?, time("end")?);
        ensure!(end <= gone + SignedDuration::from_secs(1) || start >= back, "{episode} spans {gone} to {back}");
        if start >= back {
            after.push(start);
        }
    }
    let first = after.into_iter().min().context("nothing is remembered since its return")?;
    assert!(first.duration_since(back) < SignedDuration::from_secs(5), "seen at {first}, back at {back}");

    let clip = stage.agent.data_dir().join("gap.mkv").display().to_string();
    let (since, until) = ((gone + SignedDuration::from_secs(1)).to_string(), back.to_string());
    let ended = stage.agent.engram(&["clip", "--since", &since, "--until", &until, "--output", &clip])?;
    assert_ne!(ended.code, Some(0), "a clip of seconds that nobody filmed: {}{}", ended.stdout, ended.stderr);
    drop(camera);
    Ok(())
}
