//! Starting, pausing, ending in order, ending without warning.

use std::time::{Duration, Instant};

use anyhow::Result;
use engram_tests::{Agent, Broker, SOON, Stage, media};
use rustix::process::Signal;
use serde_json::{Value, json};

fn state<'a>(report: &'a Value, source: &str) -> &'a str {
    report["sources"][source]["state"].as_str().unwrap_or("absent")
}

#[test]
fn sigterm_drains_what_was_taken_and_says_stopped() -> Result<()> {
    let mut stage = Stage::start("tidy")?;
    let batch = |n: u32| -> Value {
        (0..64).map(|i| json!({"id": format!("b{n}-{i}"), "text": format!("Box {n} of pallet {i} was counted."), "at": "2026-11-20T08:00:00Z"})).collect()
    };
    let requests: Vec<_> = (0..20)
        .map(|n| stage.client.request_later("engram/tidy/observe", batch(n).to_string()))
        .collect::<Result<_>>()?;
    stage.client.reply(&requests[0], SOON)?;
    stage.agent.stop()?;
    stage.client.message("engram/tidy/status", SOON, |message| message.text() == "stopped")?;
    let answered = requests.iter().filter(|id| stage.client.try_reply(id).is_some()).count();
    stage.check()?;
    stage.agent.restart(&stage.client)?;
    for request in &requests {
        stage.client.reply(request, SOON)?;
    }
    assert_eq!(stage.remembered_ids()?.len(), 20 * 64, "{answered} batches were answered before the end");
    Ok(())
}

#[test]
fn kill_minus_nine_leaves_offline_on_the_broker_and_the_memory_whole() -> Result<()> {
    let mut stage = Stage::start("mortal")?;
    stage.tell("one", "The kettle is on.")?;
    stage.agent.kill()?;
    stage.client.message("engram/mortal/status", SOON, |message| message.text() == "offline")?;
    stage.check()?;
    stage.agent.restart(&stage.client)?;
    assert!(stage.remembered_ids()?.contains("one"));
    Ok(())
}

#[test]
fn a_second_signal_forces_the_end() -> Result<()> {
    let clip = media::talk()?;
    let mut stage = Stage::with("hurried", |builder| builder.file("film", &clip).set("sources.film.speed", "real"))?;
    stage.agent.health(&stage.client, SOON, |report| state(report, "film") == "running")?;
    let begin = Instant::now();
    stage.agent.process().signal(Signal::TERM)?;
    stage.agent.process().signal(Signal::TERM)?;
    let status = stage.agent.process().wait(Duration::from_secs(10))?;
    assert!(matches!(status.code(), Some(0 | 130)), "{status} after {:?}", begin.elapsed());
    stage.check()
}

#[test]
fn the_store_belongs_to_one_program_at_a_time() -> Result<()> {
    let stage = Stage::start("owner")?;
    let other = Broker::start()?;
    let data = stage.agent.data_dir().display().to_string();
    let mut second = Agent::builder(&other, "thief").set("data_dir", data.as_str()).spawn()?;
    let status = second.process().wait(SOON)?;
    assert_eq!(status.code(), Some(4), "{}", second.output());
    assert!(second.output().contains(&data), "the folder is not named: {}", second.output());
    Ok(())
}

#[test]
fn pausing_stops_the_senses_until_resumed_also_over_a_restart() -> Result<()> {
    let mut stage = Stage::with("private", |builder| {
        builder.source("eye", "test").set("mqtt.allow.pause", true).set("mqtt.allow.resume", true)
    })?;
    stage.client.subscribe("engram/private/recording")?;
    stage.agent.health(&stage.client, SOON, |report| state(report, "eye") == "running")?;
    let reply = stage.command("pause", json!({}))?;
    assert!(reply["error"].is_null(), "{reply}");
    stage.client.message("engram/private/recording", SOON, |message| message.text() == "paused")?;
    let paused = |report: &Value| report["paused"] == true && state(report, "eye") == "paused";
    stage.agent.health(&stage.client, SOON, paused)?;
    // What is told is no recording and is still remembered.
    stage.tell("told", "The door was locked.")?;
    stage.agent.stop()?;
    let mark = stage.client.mark();
    stage.agent.restart(&stage.client)?;
    stage.client.message_after(mark, "engram/private/health", SOON, |message| {
        message.json().is_ok_and(|report| paused(&report))
    })?;
    let mark = stage.client.mark();
    stage.command("resume", json!({}))?;
    stage.client.message_after(mark, "engram/private/health", SOON, |message| {
        message.json().is_ok_and(|report| report["paused"] == false && state(&report, "eye") == "running")
    })?;
    Ok(())
}

#[test]
fn forgetting_needs_permission_hides_at_once_and_stays_hidden() -> Result<()> {
    let mut stage = Stage::start("discreet")?;
    let refused = stage.command("forget", json!({"entity": "Anna"}))?;
    assert_eq!(refused["error"]["code"], "forbidden", "{refused}");
    stage.agent.stop()?;

    let mut stage = Stage::with("discreet", |builder| builder.set("mqtt.allow.forget", true))?;
    let told = json!([
        {"id": "secret", "text": "Anna hid the present in the wardrobe.", "entity": "Anna", "at": "2026-11-20T08:00:00Z"},
        {"id": "plain", "text": "Ben parked the bicycle in the shed.", "entity": "Ben", "at": "2026-11-20T09:00:00Z"},
    ]);
    assert_eq!(stage.observe(told)?["accepted"], 2);
    assert!(stage.ask("Where is the present?")?.to_string().contains("wardrobe"));
    let reply = stage.command("forget", json!({"entity": "Anna"}))?;
    assert_eq!((&reply["state"], &reply["events"]), (&json!("succeeded"), &json!(1)), "{reply}");
    let hidden = |stage: &Stage| -> Result<()> {
        let answer = stage.ask("Where is the present that Anna hid?")?;
        assert!(!answer.to_string().contains("wardrobe"), "forgotten and found: {answer}");
        assert_eq!(stage.remembered_ids()?.into_iter().collect::<Vec<_>>(), ["plain"]);
        Ok(())
    };
    hidden(&stage)?;
    stage.agent.stop()?;
    stage.check()?;
    stage.agent.restart(&stage.client)?;
    hidden(&stage)
}
