//! A board that gets hot looks less often, says so, and goes back when it has cooled down.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use engram_tests::Stage;
use serde_json::Value;

const SOON: Duration = Duration::from_secs(60);

fn heat(zones: &Path, celsius: u32) -> Result<()> {
    let zone = zones.join("thermal_zone0");
    std::fs::create_dir_all(&zone)?;
    std::fs::write(zone.join("type"), "cpu-thermal\n")?;
    // Replaced whole, so that nobody reads half of it.
    std::fs::write(zone.join("new"), format!("{celsius}000\n"))?;
    Ok(std::fs::rename(zone.join("new"), zone.join("temp"))?)
}

/// The first report after `mark` with the state and about so many pictures a second that are looked at.
fn settled(stage: &Stage, mark: usize, state: &str, fps: std::ops::Range<f64>) -> Result<Value> {
    let topic = format!("engram/{}/health", stage.agent.robot());
    let wanted = |report: &Value| {
        report["thermal"]["state"] == state
            && report["sources"]["eye"]["sampled_fps"].as_f64().is_some_and(|sampled| fps.contains(&sampled))
    };
    let found =
        stage.client.message_after(mark, &topic, SOON, |message| message.json().is_ok_and(|report| wanted(&report)));
    found.with_context(|| format!("engram said:\n{}", stage.agent.output()))?.json()
}

#[test]
fn pictures_are_looked_at_less_often_while_the_board_is_hot() -> Result<()> {
    let zones = tempfile::tempdir()?;
    heat(zones.path(), 50)?;
    let stage = Stage::with("board", |builder| {
        builder
            .source("eye", "test")
            .set("segments.min_fps", 10.0)
            .set("segments.max_fps", 10.0)
            .set("thermal.zones_dir", zones.path().display().to_string())
            .set("thermal.interval_s", 0.2)
            .set("thermal.hold_s", 1.0)
            // However busy this machine is with other things.
            .set("thermal.warm_load", 1000.0)
            .set("thermal.hot_load", 1000.0)
    })?;
    stage.agent.health(&stage.client, SOON, |report| report["thermal"]["state"] == "normal")?;
    let report = settled(&stage, 0, "normal", 6.0..11.0)?;
    assert_eq!((&report["thermal"]["celsius"], &report["thermal"]["share"]), (&50.0.into(), &1.0.into()), "{report}");

    let mark = stage.client.mark();
    heat(zones.path(), 90)?;
    let report = settled(&stage, mark, "hot", 1.0..4.0)?;
    assert_eq!((&report["thermal"]["zone"], &report["thermal"]["share"]), (&"cpu-thermal".into(), &0.25.into()));
    assert!(report["degraded"].to_string().contains("pictures: the machine is hot"), "{report}");
    assert!(stage.agent.output().contains("too hot or too busy"), "{}", stage.agent.output());

    let mark = stage.client.mark();
    heat(zones.path(), 60)?;
    let report = settled(&stage, mark, "normal", 6.0..11.0)?;
    assert!(!report["degraded"].to_string().contains("pictures:"), "{report}");
    Ok(())
}

#[test]
fn where_there_is_no_zone_nothing_is_left_out_and_health_says_so() -> Result<()> {
    let nothing = tempfile::tempdir()?;
    let stage = Stage::with("mill", |builder| builder.set("thermal.zones_dir", nothing.path().display().to_string()))?;
    let report = stage.agent.health(&stage.client, SOON, |report| report["thermal"]["state"] == "off")?;
    assert_eq!(report["thermal"]["share"], 1.0, "{report}");
    assert!(report["thermal"]["reason"].to_string().contains("no thermal zone"), "{report}");
    assert!(!report["degraded"].to_string().contains("pictures:"), "{report}");
    Ok(())
}
