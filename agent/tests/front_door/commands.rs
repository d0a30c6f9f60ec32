use std::sync::Arc;

use agent::config::mqtt::MqttConfig;
use agent::mqtt::RecordingControl;
use anyhow::Result;
use engram_tests::Broker;
use memory_core::store::MemoryStorage;
use serde_json::{Value, json};

use crate::robot::{NAME, Robot, WAIT, config, topic};

#[test]
fn episodes_are_listed_and_read_whole() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let client = broker.client()?;
    for (hour, text) in [(8, "breakfast"), (12, "lunch"), (19, "dinner")] {
        let at = format!("2026-11-20T{hour:02}:00:00Z");
        client.observe(NAME, json!({"text": text, "source": "test", "at": at, "entity": "Anna"}))?;
    }
    let first = client.command(NAME, "list", json!({"limit": 2}))?;
    assert_eq!(first["episodes"].as_array().map(Vec::len), Some(2), "{first}");
    let second = client.command(NAME, "list", json!({"limit": 2, "cursor": first["next"]}))?;
    assert_eq!(second["episodes"].as_array().map(Vec::len), Some(1), "{second}");
    assert_eq!(second["next"], Value::Null);
    let noon =
        client.command(NAME, "list", json!({"since": "2026-11-20T11:00:00Z", "until": "2026-11-20T13:00:00Z"}))?;
    let id = &noon["episodes"][0]["id"];
    let episode = client.command(NAME, "get", json!({"episode": id}))?;
    assert_eq!(episode["episode"]["events"][0]["text"], "lunch", "{episode}");
    assert_eq!(client.command(NAME, "get", json!({"episode": "ep-999999"}))?["error"]["code"], "bad_request");
    Ok(())
}

#[test]
fn forgetting_is_denied_on_an_open_broker() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.observe(NAME, json!({"text": "a secret", "source": "test"}))?;
    let reply = client.command(NAME, "forget", json!({"entity": "Anna"}))?;
    assert_eq!(reply["error"]["code"], "forbidden", "{reply}");
    assert_eq!(robot.service.memory().stats().events, 1);
    Ok(())
}

#[test]
fn what_is_forgotten_is_hidden_at_once_and_in_order() -> Result<()> {
    let broker = Broker::start()?;
    let mut config = config(&broker);
    config.allow.insert("forget".to_owned(), true);
    let robot = Robot::start(config, Arc::new(MemoryStorage::new()))?;
    robot.wait_online()?;
    let client = broker.client()?;
    let told = |n: u32| json!({"text": format!("Anna said secret {n}"), "entity": "Anna", "source": "asr"}).to_string();
    // Not waiting in between: what was told before is forgotten, what is told after stays.
    client.request_later(&topic("observe"), told(1))?;
    let forget = client.request_later(&topic("cmd/forget"), json!({"entity": "Anna"}).to_string())?;
    let after = client.request_later(&topic("observe"), told(2))?;
    let reply = client.reply(&forget, WAIT)?;
    assert_eq!((&reply["state"], &reply["events"]), (&json!("succeeded"), &json!(1)), "{reply}");
    assert_eq!(client.reply(&after, WAIT)?["accepted"], 1);
    let answer = client.ask(NAME, "what did Anna say?")?;
    let evidence = answer["evidence"].to_string();
    assert!(evidence.contains("secret 2") && !evidence.contains("secret 1"), "{answer}");
    Ok(())
}

#[test]
fn recording_is_paused_and_resumed_and_everybody_can_see_it() -> Result<()> {
    let broker = Broker::start()?;
    let allow = ["pause", "resume"].map(|name| (name.to_owned(), true)).into();
    let robot = Robot::start(MqttConfig { allow, ..config(&broker) }, Arc::new(MemoryStorage::new()))?;
    robot.wait_online()?;
    let client = broker.client()?;
    client.subscribe(&topic("recording"))?;
    assert_eq!(client.command(NAME, "pause", json!({}))?["paused"], true);
    assert!(robot.recording.paused());
    client.message(&topic("recording"), WAIT, |message| message.text() == "paused")?;
    // A button of a dashboard sends nothing and waits for nothing.
    let mark = client.mark();
    client.publish(&topic("cmd/resume"), "")?;
    client.message_after(mark, &topic("recording"), WAIT, |message| message.text() == "on")?;
    assert!(!robot.recording.paused());
    Ok(())
}

#[test]
fn a_command_that_is_not_there_names_those_that_are() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let reply = broker.client()?.command(NAME, "dance", json!({}))?;
    assert_eq!(reply["error"]["code"], "bad_request");
    assert!(
        reply["error"]["message"].as_str().is_some_and(|text| text.contains("forget, forget_preview, get")),
        "{reply}"
    );
    Ok(())
}

#[test]
fn a_command_can_be_denied_in_the_configuration() -> Result<()> {
    let broker = Broker::start()?;
    let mut config = config(&broker);
    config.allow.insert("list".to_owned(), false);
    let robot = Robot::start(config, Arc::new(MemoryStorage::new()))?;
    robot.wait_online()?;
    let reply = broker.client()?.command(NAME, "list", json!({}))?;
    assert_eq!(reply["error"]["code"], "forbidden", "{reply}");
    Ok(())
}

#[test]
fn above_its_ceiling_the_program_answers_and_remembers_and_lists_nothing() -> Result<()> {
    let broker = Broker::start()?;
    // Any program takes more than 1 MiB.
    let robot = Robot::start_below(1, config(&broker), Arc::new(MemoryStorage::new()))?;
    robot.wait_online()?;
    let client = broker.client()?;
    let reply = client.observe(NAME, json!({"text": "Anna put the mug on the shelf.", "source": "test"}))?;
    assert_eq!(reply["accepted"], 1, "{reply}");
    for (name, body) in [("list", json!({})), ("search", json!({"query": "mug"})), ("get", json!({"episode": "ep-1"}))]
    {
        let reply = client.command(NAME, name, body)?;
        assert_eq!(reply["error"]["code"], "busy", "{name}: {reply}");
        assert!(reply["error"]["message"].as_str().is_some_and(|text| text.contains("memory.ceiling_mib")), "{reply}");
    }
    let answer = client.ask(NAME, "Where is the mug?")?;
    assert_eq!(answer["evidence"][0]["text"], "Anna put the mug on the shelf.", "{answer}");
    let instance = client.command(NAME, "instance", json!({}))?;
    assert_ne!(instance["error"]["code"], "busy", "{instance}");
    Ok(())
}
