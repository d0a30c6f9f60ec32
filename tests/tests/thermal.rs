//! A board that gets hot looks less often, says so, and goes back when it has cooled down.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use engram_tests::Stage;
use rustix::process::Signal;
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(60);

fn heat(zones: &Path, celsius: u32) -> Result<()> {
    let zone = zones.join("thermal_zone0");
    std::fs::create_dir_all(&zone)?;
    std::fs::write(zone.join("type"), "cpu-thermal\n")?;
    // Replaced whole, so that nobody reads half of it.
    std::fs::write(zone.join("new"), format!("{celsius}000\n"))?;
    Ok(std::fs::rename(zone.join("new"), zone.join("temp"))?)
}

/// The first report after `mark` that satisfies `wanted`.
fn reported(stage: &Stage, mark: usize, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
    let topic = format!("engram/{}/health", stage.agent.robot());
    let found =
        stage.client.message_after(mark, &topic, SOON, |message| message.json().is_ok_and(|report| wanted(&report)));
    found.with_context(|| format!("engram said:\n{}", stage.agent.output()))?.json()
}

/// The first report after `mark` with the state and about so many pictures a second that are looked at.
fn settled(stage: &Stage, mark: usize, state: &str, fps: std::ops::Range<f64>) -> Result<Value> {
    reported(stage, mark, |report| {
        report["thermal"]["state"] == state
            && report["sources"]["eye"]["sampled_fps"].as_f64().is_some_and(|sampled| fps.contains(&sampled))
    })
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

#[test]
fn other_thresholds_are_named_at_a_hangup_and_taken_into_use_by_a_restart() -> Result<()> {
    let zones = tempfile::tempdir()?;
    heat(zones.path(), 50)?;
    let mut stage = Stage::with("range", |builder| {
        builder
            .set("thermal.zones_dir", zones.path().display().to_string())
            .set("thermal.interval_s", 0.2)
            .set("thermal.warm_load", 1000.0)
            .set("thermal.hot_load", 1000.0)
    })?;
    stage.agent.health(&stage.client, SOON, |report| report["thermal"]["state"] == "normal")?;

    let file = stage.agent.config_file().to_owned();
    let mut wanted: toml::Table = std::fs::read_to_string(&file)?.parse()?;
    let thermal = wanted["thermal"].as_table_mut().context("thermal")?;
    thermal.insert("warm_c".to_owned(), 55.0.into());
    thermal.insert("warm_share".to_owned(), 0.4.into());
    thermal.insert("hold_s".to_owned(), 1.0.into());
    wanted.insert("log".to_owned(), toml::Value::Table("level = \"debug\"".parse()?));
    std::fs::write(&file, toml::to_string(&wanted)?)?;
    let mark = stage.client.mark();
    stage.agent.process().signal(Signal::HUP)?;
    let waiting = "needs a restart: thermal.hold_s, thermal.warm_c, thermal.warm_share";
    reported(&stage, mark, |report| report["degraded"].to_string().contains(waiting))?;
    assert!(stage.agent.output().contains("log.level"), "the level needs none: {}", stage.agent.output());
    let reply = stage.command("reload", json!({}))?;
    let keys = json!(["thermal.hold_s", "thermal.warm_c", "thermal.warm_share"]);
    assert_eq!((&reply["applied"], &reply["restart"]), (&json!([]), &keys), "{reply}");

    // The old threshold holds until then.
    let mark = stage.client.mark();
    heat(zones.path(), 60)?;
    let report = reported(&stage, mark, |report| report["thermal"]["celsius"] == 60.0)?;
    assert_eq!((&report["thermal"]["state"], &report["thermal"]["share"]), (&json!("normal"), &json!(1.0)), "{report}");

    // Thresholds that contradict each other change nothing, and say what to do.
    let thermal = wanted["thermal"].as_table_mut().context("thermal")?;
    thermal.insert("hot_c".to_owned(), 50.0.into());
    std::fs::write(&file, toml::to_string(&wanted)?)?;
    let refused = stage.command("reload", json!({}))?;
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("`thermal.hot_c` must not be below `thermal.warm_c`"), "{refused}");

    let thermal = wanted["thermal"].as_table_mut().context("thermal")?;
    thermal.remove("hot_c");
    std::fs::write(&file, toml::to_string(&wanted)?)?;
    stage.agent.stop()?;
    let mark = stage.client.mark();
    stage.agent.restart(&stage.client)?;
    let report = reported(&stage, mark, |report| report["thermal"]["state"] == "warm")?;
    assert_eq!(report["thermal"]["share"], 0.4, "{report}");
    assert!(!report["degraded"].to_string().contains("needs a restart"), "{report}");
    stage.agent.stop()?;
    Ok(())
}
