//! The access rules that ship with the package, with a broker that keeps them.

use std::sync::Arc;

use agent::config::mqtt::MqttConfig;
use anyhow::Result;
use engram_tests::{Broker, Client, evidence_ids};
use memory_core::store::MemoryStorage;
use serde_json::json;

use crate::robot::{NAME, Robot, WAIT, config, topic};

const RULES: &str = include_str!("../../../config/mosquitto-acl.example");

struct House {
    robot: Robot,
    phone: Client,
    sender: Client,
    owner: Client,
    _broker: Broker,
}

fn house() -> Result<House> {
    let users = ["engram", "phone", "robot", "owner"];
    let broker = users.iter().fold(Broker::builder(), |builder, user| builder.password(user, user));
    let broker = broker.acl(&RULES.replace("kitchen", NAME)).start()?;
    let config =
        MqttConfig { username: Some("engram".to_owned()), password: Some("engram".to_owned()), ..config(&broker) };
    let robot = Robot::start(config, Arc::new(MemoryStorage::new()))?;
    robot.wait_online()?;
    let connect = |user| Client::connect_as(&broker, Some((user, user)));
    let (phone, sender, owner) = (connect("phone")?, connect("robot")?, connect("owner")?);
    Ok(House { robot, phone, sender, owner, _broker: broker })
}

#[test]
fn everybody_may_do_what_is_his() -> Result<()> {
    let House { robot, phone, sender, owner, _broker } = house()?;
    let told = sender.observe(NAME, json!({"id": "mug", "text": "The mug is on the shelf.", "source": "asr"}))?;
    assert_eq!(told["accepted"], 1, "{told}");
    assert_eq!(evidence_ids(&phone.ask(NAME, "Where is the mug?")?), ["mug"]);
    assert!(owner.command(NAME, "list", json!({}))?["episodes"].is_array());
    assert_eq!(owner.command(NAME, "pause", json!({}))?["paused"], true);
    robot.stop()
}

#[test]
fn a_sender_cannot_ask_an_asker_cannot_tell_and_neither_commands() -> Result<()> {
    let House { robot, phone, sender, owner, _broker } = house()?;
    let asked = robot.counters.asks.get();
    let lie = r#"{"id": "lie", "text": "The mug is gone.", "source": "phone"}"#;
    let everybody =
        [("cmd/pause", "{}"), ("cmd/forget", r#"{"entity": "Anna"}"#), ("instance", "0"), ("status", "stopped")];
    for (user, own) in [("robot", ("ask", "Where is the mug?")), ("phone", ("observe", lie))] {
        for (leaf, payload) in everybody.into_iter().chain([own]) {
            let client = Client::connect_as(&_broker, Some((user, user)))?;
            client.attempt(&topic(leaf), payload, ["instance", "status"].contains(&leaf))?;
        }
    }
    // What is answered afterwards came afterwards.
    let told = sender.observe(NAME, json!({"id": "mug", "text": "The mug is on the shelf.", "source": "asr"}))?;
    assert_eq!(told["accepted"], 1, "{told}");
    assert_eq!(evidence_ids(&phone.ask(NAME, "Where is the mug?")?), ["mug"]);
    owner.command(NAME, "list", json!({}))?;
    let counters = &robot.counters;
    assert_eq!((counters.asks.get() - asked, counters.commands.get()), (1, 1), "{:?}", counters.snapshot());
    assert_eq!(counters.observe_messages.get(), 1);
    assert!(robot.is_online() && !agent::mqtt::RecordingControl::paused(&*robot.recording));
    owner.subscribe(&topic("instance"))?;
    let instance = owner.message(&topic("instance"), WAIT, |_| true)?;
    assert_eq!(instance.text(), robot.service.memory().instance());
    robot.stop()
}

#[test]
fn nobody_reads_the_answers_of_another() -> Result<()> {
    let House { robot, phone, sender, owner, _broker } = house()?;
    for listener in [&sender, &owner] {
        for filter in
            ["#", "reply/#", "engram/#", &topic("answer/#"), phone.reply_topic(), &topic("ask"), &topic("observe")]
        {
            listener.subscribe(filter)?;
        }
    }
    sender.observe(NAME, json!({"id": "mug", "text": "The mug is on the shelf.", "source": "asr"}))?;
    assert_eq!(evidence_ids(&phone.ask(NAME, "Where is the mug?")?), ["mug"]);
    // An answer of their own, after which the other's would have come.
    sender.observe(NAME, json!({"text": "It rains.", "source": "asr"}))?;
    owner.command(NAME, "list", json!({}))?;
    for (listener, own) in [(&sender, "reply/robot/"), (&owner, "reply/owner/")] {
        for answers in [phone.reply_topic().to_owned(), topic("ask"), topic("observe")] {
            assert!(listener.messages(&answers).is_empty(), "{own} heard {answers}");
        }
        assert!(!listener.messages(listener.reply_topic()).is_empty(), "{own} hears its own");
    }
    robot.stop()
}
