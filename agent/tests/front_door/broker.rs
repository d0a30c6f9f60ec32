use std::sync::Arc;

use agent::config::mqtt::{MqttConfig, TlsConfig};
use anyhow::Result;
use engram_tests::{Broker, eventually};
use memory_core::store::MemoryStorage;
use serde_json::json;

use crate::robot::{NAME, Robot, WAIT, config, topic};

fn observation(n: usize) -> String {
    json!({"id": format!("o-{n}"), "text": format!("thing number {n}"), "source": "test", "at": "2026-11-20T08:00:00Z"})
        .to_string()
}

#[test]
fn a_broker_that_comes_later_is_found() -> Result<()> {
    let mut broker = Broker::start()?;
    broker.stop()?;
    let robot = Robot::start(config(&broker), Arc::new(MemoryStorage::new()))?;
    eventually("the problem is named", WAIT, || {
        robot.counters.last_error().filter(|error| error.contains("no broker answers")).map(drop)
    })?;
    broker.up()?;
    robot.wait_online()?;
    assert_eq!(robot.counters.last_error(), None);
    Ok(())
}

#[test]
fn a_broker_that_restarts_loses_nothing_that_it_acknowledged() -> Result<()> {
    let mut broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    let mut sent = 0;
    for _ in 0..3 {
        for _ in 0..300 {
            client.publish(&topic("observe"), observation(sent))?;
            sent += 1;
        }
        broker.stop()?;
        client.wait_disconnected()?;
        robot.wait_offline()?;
        broker.up()?;
        client.wait_connected()?;
    }
    robot.wait_observations(sent as u64)?;
    robot.wait_online()?;
    assert_eq!(robot.service.memory().stats().observations, sent as u64);
    assert_ne!(client.ask(NAME, "thing number 7")?["route"], "none");
    Ok(())
}

#[test]
fn what_arrives_while_engram_is_away_is_delivered_when_it_is_back() -> Result<()> {
    let broker = Broker::start()?;
    let storage = MemoryStorage::new();
    let robot = Robot::start(config(&broker), Arc::new(storage.clone()))?;
    robot.wait_online()?;
    let client = broker.client()?;
    client.publish(&topic("observe"), observation(0))?;
    robot.wait_observations(1)?;
    robot.stop()?;
    for n in 1..50 {
        client.publish(&topic("observe"), observation(n))?;
    }
    client.publish(&topic("ask"), json!({"question": "old?", "request_id": "old"}).to_string())?;
    client.subscribe(&topic("answer/old"))?;
    let robot = Robot::start(config(&broker), Arc::new(storage))?;
    robot.wait_online()?;
    robot.wait_observations(50)?;
    // Questions of that time are not answered any more.
    client.ask(NAME, "thing number 7")?;
    assert_eq!(client.messages(&topic("answer/old")).len(), 0);
    Ok(())
}

#[test]
fn a_crash_mid_stream_loses_nothing_and_doubles_nothing() -> Result<()> {
    let broker = Broker::start()?;
    let storage = MemoryStorage::new();
    let client = broker.client()?;
    let mut sent = 0;
    for _ in 0..3 {
        let robot = Robot::start(config(&broker), Arc::new(storage.clone()))?;
        robot.wait_online()?;
        for _ in 0..200 {
            client.publish(&topic("observe"), observation(sent))?;
            sent += 1;
        }
        robot.crash();
    }
    let robot = Robot::start(config(&broker), Arc::new(storage))?;
    robot.wait_observations(sent as u64)?;
    assert_eq!(robot.service.memory().stats().observations, sent as u64);
    Ok(())
}

#[test]
fn a_wrong_password_is_named_and_a_corrected_file_is_enough() -> Result<()> {
    let broker = Broker::builder().password("engram", "right").start()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("password");
    std::fs::write(&file, "wrong\n")?;
    let config =
        MqttConfig { username: Some("engram".to_owned()), password_file: Some(file.clone()), ..config(&broker) };
    let robot = Robot::start(config, Arc::new(MemoryStorage::new()))?;
    let error = eventually("the problem is named", WAIT, || robot.counters.last_error())?;
    assert!(error.contains("mqtt.password_file"), "{error}");
    assert!(!robot.is_online() && !robot.has_left());
    std::fs::write(&file, "right\n")?;
    robot.wait_online()
}

#[test]
fn an_encrypted_broker_is_served_and_a_wrong_authority_is_named() -> Result<()> {
    let broker = Broker::builder().tls().password("engram", "secret").start()?;
    let authority = broker.certificates().map(|made| made.authority.clone());
    let config = MqttConfig {
        host: "localhost".to_owned(),
        username: Some("engram".to_owned()),
        password: Some("secret".to_owned()),
        tls: TlsConfig { enabled: true, ca_file: authority, ..TlsConfig::default() },
        ..config(&broker)
    };
    let robot = Robot::start(config.clone(), Arc::new(MemoryStorage::new()))?;
    robot.wait_online()?;
    assert_eq!(broker.client()?.ask(NAME, "anything?")?["route"], "none");
    robot.stop()?;

    let other = Broker::builder().tls().start()?;
    let stranger = other.certificates().map(|made| made.authority.clone());
    let config = MqttConfig { tls: TlsConfig { ca_file: stranger, ..config.tls.clone() }, ..config };
    let robot = Robot::start(config, Arc::new(MemoryStorage::new()))?;
    let error = eventually("the problem is named", WAIT, || robot.counters.last_error())?;
    assert!(error.contains("mqtt.tls"), "{error}");
    Ok(())
}

#[test]
fn what_a_broker_has_stored_is_not_heard_again_with_every_connection() -> Result<()> {
    let broker = Broker::start()?;
    let client = broker.client()?;
    client.publish_retained(&topic("observe"), observation(0))?;
    client.publish_retained(&topic("ask"), json!({"question": "old?", "request_id": "old"}).to_string())?;
    client.subscribe(&topic("answer/old"))?;
    let robot = Robot::online(&broker)?;
    assert_eq!(client.observe(NAME, json!({"text": "new"}))?["accepted"], 1);
    client.ask(NAME, "anything new?")?;
    assert_eq!(robot.service.memory().stats().observations, 1);
    assert_eq!(client.messages(&topic("answer/old")).len(), 0);
    Ok(())
}
