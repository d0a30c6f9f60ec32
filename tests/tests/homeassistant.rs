//! Discovery by Home Assistant: announced, announced again, followed by its states, and taken back.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, Broker, Client, SOON, Stage, until};
use rustix::process::Signal;
use serde_json::{Value, json};

const CONFIG: &str = "homeassistant/device/engram-home/config";
const STATES: &str = "engram/home/homeassistant";

fn stage() -> Result<Stage> {
    Stage::with("home", |builder| {
        let allowed = ["backup", "pause", "resume", "forget"];
        let builder =
            allowed.into_iter().fold(builder, |builder, name| builder.set(&format!("mqtt.allow.{name}"), true));
        builder.set("homeassistant.discovery", true).source("door", "test").source("yard", "test")
    })
}

/// What the broker keeps on a topic for whoever comes now; `None` if nothing.
fn kept(broker: &Broker, topic: &str) -> Result<Option<Value>> {
    let client = broker.client()?;
    client.subscribe(topic)?;
    // What is retained comes before what is published after the subscription.
    client.subscribe("test/mark")?;
    client.publish("test/mark", "now")?;
    client.message("test/mark", SOON, |_| true)?;
    let found = client.message(topic, Duration::ZERO, |message| message.retained);
    found.ok().map(|message| message.json()).transpose()
}

fn wait_kept(broker: &Broker, topic: &str, what: &str, wanted: impl Fn(Option<&Value>) -> bool) -> Result<()> {
    until(what, SOON, || Ok(wanted(kept(broker, topic)?.as_ref()).then_some(())))
}

fn announcements(client: &Client, mark: usize) -> Result<Value> {
    client.message_after(mark, CONFIG, SOON, |message| !message.retained && !message.payload.is_empty())?.json()
}

fn reconfigure(stage: &mut Stage, change: impl FnOnce(&mut toml::Table) -> Result<()>) -> Result<()> {
    let file = stage.agent.config_file().to_owned();
    let mut table: toml::Table = std::fs::read_to_string(&file)?.parse()?;
    change(&mut table)?;
    std::fs::write(&file, toml::to_string(&table)?)?;
    Ok(())
}

fn set_discovery(stage: &mut Stage, on: bool) -> Result<()> {
    reconfigure(stage, |table| {
        table.insert("homeassistant".to_owned(), toml::Value::Table(format!("discovery = {on}").parse()?));
        Ok(())
    })
}

#[test]
fn nothing_is_announced_unless_it_is_wanted() -> Result<()> {
    let broker = Broker::start()?;
    let client = broker.client()?;
    client.subscribe("homeassistant/#")?;
    client.subscribe(STATES)?;
    let mut agent = Agent::builder(&broker, "home").start(&client)?;
    client.publish("homeassistant/status", "online")?;
    client.observe("home", json!({"text": "The lamp is on."}))?;
    agent.health(&client, SOON, |report| report["memory"]["events"] == 1)?;
    agent.stop()?;
    ensure!(client.message(CONFIG, Duration::ZERO, |_| true).is_err(), "something was announced");
    ensure!(client.message(STATES, Duration::ZERO, |_| true).is_err(), "states were published");
    Ok(())
}

#[test]
fn the_device_is_kept_on_the_broker_and_announced_again_when_home_assistant_starts() -> Result<()> {
    let stage = stage()?;
    wait_kept(&stage.broker, CONFIG, "the announcement", |found| found.is_some())?;
    let payload = kept(&stage.broker, CONFIG)?.context("the announcement")?;
    let components = payload["cmps"].as_object().context("components")?;
    for (key, platform) in [
        ("episodes", "sensor"),
        ("last_event", "sensor"),
        ("last_person", "sensor"),
        ("place", "sensor"),
        ("disk_free", "sensor"),
        ("temperature", "sensor"),
        ("degraded", "binary_sensor"),
        ("source-door", "binary_sensor"),
        ("source-yard", "binary_sensor"),
        ("episode", "event"),
        ("entity", "event"),
        ("procedure", "event"),
        ("snapshot", "button"),
        ("backup", "button"),
        ("recording", "switch"),
    ] {
        assert_eq!(components[key]["p"], platform, "{key}");
    }
    assert_eq!(payload["availability"][0]["topic"], "engram/home/status");

    stage.client.subscribe(CONFIG)?;
    let mark = stage.client.mark();
    stage.client.publish("homeassistant/status", "offline")?;
    stage.client.publish("homeassistant/status", "online")?;
    assert_eq!(announcements(&stage.client, mark)?, payload);
    Ok(())
}

#[test]
fn the_last_event_is_cut_for_home_assistant_and_disappears_when_it_is_forgotten() -> Result<()> {
    let stage = stage()?;
    let long = format!("{} end", "word ".repeat(200));
    stage.observe(json!({"text": "I am in the garden.", "entity": "Anna", "at": "2026-11-20T08:00:00Z"}))?;
    stage.observe(json!({"text": long, "at": "2026-11-20T08:00:10Z"}))?;
    wait_kept(&stage.broker, STATES, "the states", |found| {
        found.is_some_and(|states| {
            states["last_person"]["state"] == "Anna" && states["last_event"]["text"] == long.trim()
        })
    })?;
    let states = kept(&stage.broker, STATES)?.context("states")?;
    let shown = states["last_event"]["state"].as_str().context("a state")?;
    assert_eq!(shown.chars().count(), 255);
    let forgotten =
        stage.command("forget", json!({"since": "2026-11-20T07:00:00Z", "until": "2026-11-20T09:00:00Z"}))?;
    assert_eq!(forgotten["events"], 2, "{forgotten}");
    wait_kept(&stage.broker, STATES, "that nothing is shown any more", |found| {
        found.is_some_and(|states| states["last_event"].is_null() && states["last_person"].is_null())
    })
}

#[test]
fn the_place_is_where_the_robot_is_now() -> Result<()> {
    let stage = stage()?;
    let at = |x: i32| json!({"frame": "map", "x": x, "y": 3});
    for (name, x) in [("boathouse", 2), ("jetty", 20)] {
        let named = stage.command("name_place", json!({"name": name, "pose": at(x)}))?;
        ensure!(named["state"] == "succeeded", "{named}");
    }
    let shows = |x: i32, wanted: &Value| {
        wait_kept(&stage.broker, STATES, "the place", |states| {
            let sent = stage.client.publish("engram/home/pose", at(x).to_string());
            sent.is_ok() && states.is_some_and(|states| states["place"]["state"] == *wanted)
        })
    };
    shows(2, &json!("boathouse"))?;
    shows(20, &json!("jetty"))?;
    // No place has a name there.
    shows(90, &Value::Null)?;
    shows(2, &json!("boathouse"))?;
    stage.command("name_place", json!({"name": "shed", "renames": "boathouse"}))?;
    shows(2, &json!("shed"))?;
    // While recording is paused nobody is told where it is.
    stage.command("recording", json!({"state": "paused"}))?;
    shows(2, &Value::Null)
}

/// As Home Assistant would: with the topics and payloads of the announcement alone.
#[test]
fn the_switch_and_the_buttons_do_what_they_say() -> Result<()> {
    let stage = stage()?;
    wait_kept(&stage.broker, CONFIG, "the announcement", |found| found.is_some())?;
    let payload = kept(&stage.broker, CONFIG)?.context("the announcement")?;
    let switch = &payload["cmps"]["recording"];
    let text = |value: &Value| value.as_str().map(str::to_owned).context("a text");
    let (command, state) = (text(&switch["command_topic"])?, text(&switch["state_topic"])?);
    stage.client.subscribe(&state)?;
    for (press, shown) in [("payload_off", "state_off"), ("payload_on", "state_on")] {
        let mark = stage.client.mark();
        stage.client.publish(&command, text(&switch[press])?)?;
        let wanted = text(&switch[shown])?;
        stage.client.message_after(mark, &state, SOON, |message| message.text() == wanted)?;
        let paused = shown == "state_off";
        stage.agent.health(&stage.client, SOON, |report| report["paused"] == paused)?;
    }
    let refused = stage.command("recording", json!({"state": "off"}))?;
    assert_eq!(refused["error"]["code"], "bad_request", "{refused}");

    let backup = &payload["cmps"]["backup"];
    stage.client.publish(&text(&backup["command_topic"])?, text(&backup["payload_press"])?)?;
    let backups = stage.agent.data_dir().join("backups");
    until("a backup", SOON, || Ok(backups.read_dir().is_ok_and(|mut files| files.next().is_some()).then_some(())))?;
    Ok(())
}

#[test]
fn a_source_that_is_taken_away_is_removed_and_discovery_switched_off_removes_the_device() -> Result<()> {
    let mut stage = stage()?;
    wait_kept(&stage.broker, CONFIG, "the announcement", |found| found.is_some())?;
    wait_kept(&stage.broker, STATES, "the states", |found| found.is_some())?;
    stage.client.subscribe(CONFIG)?;
    let mark = stage.client.mark();
    reconfigure(&mut stage, |table| {
        table["sources"].as_table_mut().context("sources")?.remove("yard").context("yard")?;
        Ok(())
    })?;
    stage.agent.process().signal(Signal::HUP)?;
    // First with nothing but its platform, which removes it; then without it, for whoever comes later.
    let removal = |message: &engram_tests::Message| {
        message.json().is_ok_and(|payload| payload["cmps"]["source-yard"] == json!({"p": "binary_sensor"}))
    };
    stage.client.message_after(mark, CONFIG, SOON, removal)?;
    wait_kept(&stage.broker, CONFIG, "the announcement without it", |found| {
        found.is_some_and(|payload| {
            payload["cmps"]["source-yard"].is_null() && !payload["cmps"]["source-door"].is_null()
        })
    })?;

    set_discovery(&mut stage, false)?;
    let reply = stage.command("reload", json!({}))?;
    assert_eq!((&reply["applied"], &reply["restart"]), (&json!(["homeassistant.discovery"]), &json!([])), "{reply}");
    wait_kept(&stage.broker, CONFIG, "the removal", |found| found.is_none())?;
    wait_kept(&stage.broker, STATES, "the removal of the states", |found| found.is_none())?;
    set_discovery(&mut stage, true)?;
    stage.command("reload", json!({}))?;
    wait_kept(&stage.broker, CONFIG, "the announcement", |found| found.is_some())
}

#[test]
fn discovery_switched_off_before_a_restart_removes_the_device_too() -> Result<()> {
    let mut stage = stage()?;
    wait_kept(&stage.broker, CONFIG, "the announcement", |found| found.is_some())?;
    stage.agent.kill()?;
    set_discovery(&mut stage, false)?;
    stage.agent.restart(&stage.client)?;
    wait_kept(&stage.broker, CONFIG, "the removal", |found| found.is_none())?;
    // Another prefix takes the device with it.
    stage.agent.stop()?;
    set_discovery(&mut stage, true)?;
    stage.agent.restart(&stage.client)?;
    wait_kept(&stage.broker, CONFIG, "the announcement", |found| found.is_some())?;
    stage.agent.stop()?;
    reconfigure(&mut stage, |table| {
        let section = table["homeassistant"].as_table_mut().context("the section")?;
        section.insert("prefix".to_owned(), "home/ha".into());
        Ok(())
    })?;
    stage.agent.restart(&stage.client)?;
    wait_kept(&stage.broker, "home/ha/device/engram-home/config", "the new one", |found| found.is_some())?;
    wait_kept(&stage.broker, CONFIG, "the removal of the old one", |found| found.is_none())
}

#[test]
fn a_broker_that_denies_the_discovery_topics_is_named() -> Result<()> {
    let acl = "user engram\ntopic readwrite engram/#\ntopic readwrite reply/#\n";
    let broker = Broker::builder().password("engram", "secret").acl(acl).start()?;
    let client = broker.client()?;
    let agent = Agent::builder(&broker, "home").set("homeassistant.discovery", true).start(&client)?;
    agent.health(&client, SOON, |report| {
        let degraded = report["degraded"].to_string();
        degraded.contains("access rules for `homeassistant/device/+/config`")
    })?;
    // Mosquitto closes the connection that published it. The answers use it too: that must not happen again and again.
    let told = until("a reply", SOON, || Ok(client.observe("home", json!({"text": "The lamp is on."})).ok()))?;
    assert_eq!(told["accepted"], 1, "{told}");
    let report = agent.health(&client, SOON, |report| report["memory"]["observations"] == 1)?;
    let failures = report["mqtt"]["connection_failures"].as_u64().context("a count")?;
    assert!(failures <= 2, "the connection was lost {failures} times");
    Ok(())
}
