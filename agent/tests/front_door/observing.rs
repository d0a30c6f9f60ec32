use std::sync::Arc;

use anyhow::Result;
use engram_tests::{Broker, eventually};
use memory_core::store::MemoryStorage;
use serde_json::json;

use crate::robot::{NAME, Robot, WAIT, config, topic};

#[test]
fn the_sender_hears_what_became_of_every_item() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    let reply = client.observe(
        NAME,
        json!([
            {"id": "a", "text": "long ago", "at": "1970-01-01T00:00:00Z", "source": "test"},
            {"id": "b", "text": "far ahead", "at": "2100-01-01T00:00:00Z", "source": "test"},
            {"id": "c", "text": 5, "source": "test"},
            {"id": "d", "text": "now", "source": "test"},
        ]),
    )?;
    assert_eq!((&reply["accepted"], &reply["duplicates"]), (&json!(2), &json!(0)), "{reply}");
    let rejected: Vec<_> =
        reply["rejected"].as_array().unwrap().iter().map(|item| (&item["index"], &item["id"])).collect();
    assert_eq!(rejected, [(&json!(1), &json!("b")), (&json!(2), &json!("c"))]);
    assert!(reply["rejected"][1]["error"]["message"].as_str().unwrap().contains("`text`"), "{reply}");
    assert!(reply["seq"].as_u64().is_some_and(|seq| seq > 0), "{reply}");
    assert_eq!(robot.counters.observations_rejected.get(), 2);
    Ok(())
}

#[test]
fn the_same_twice_is_a_duplicate_and_other_content_a_correction() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let client = broker.client()?;
    let observation = |text: &str| json!({"id": "x-1", "text": text, "at": "2026-11-20T08:00:00Z", "source": "test"});
    assert_eq!(client.observe(NAME, observation("the mug is red"))?["accepted"], 1);
    let again = client.observe(NAME, observation("the mug is red"))?;
    assert_eq!((&again["accepted"], &again["duplicates"]), (&json!(0), &json!(1)), "{again}");
    assert_eq!(client.observe(NAME, observation("the mug is blue"))?["accepted"], 1);
    let answer = client.ask(NAME, "which colour has the mug?")?;
    assert!(answer["evidence"][0]["text"].as_str().is_some_and(|text| text.contains("blue")), "{answer}");
    Ok(())
}

#[test]
fn what_nobody_waits_to_hear_is_announced() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.subscribe(&topic("event/rejected"))?;
    client.publish(&topic("observe"), json!([{"text": "good"}, {"id": "bad", "text": ""}]).to_string())?;
    let event = client.message(&topic("event/rejected"), WAIT, |_| true)?.json()?;
    assert_eq!((&event["rejected"][0]["index"], &event["rejected"][0]["id"]), (&json!(1), &json!("bad")), "{event}");
    client.publish(&topic("observe"), "[".repeat(10_000))?;
    client.message(&topic("event/rejected"), WAIT, |message| message.text().contains("JSON"))?;
    // Neither comes back: both are acknowledged, and what follows gets through.
    client.publish(&topic("observe"), json!({"text": "after"}).to_string())?;
    robot.wait_observations(2)
}

#[test]
fn episodes_are_announced() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.subscribe(&topic("event/episode"))?;
    client.observe(NAME, json!({"text": "one", "source": "test", "at": "2026-11-20T08:00:00Z"}))?;
    let new = client.message(&topic("event/episode"), WAIT, |message| message.text().contains("new"))?.json()?;
    client.observe(NAME, json!({"text": "two", "source": "test", "at": "2026-11-20T08:00:10Z"}))?;
    let update = client.message(&topic("event/episode"), WAIT, |message| message.text().contains("update"))?.json()?;
    assert_eq!(new["id"], update["id"]);
    client.observe(NAME, json!({"text": "three", "source": "test", "at": "2026-11-20T09:00:00Z"}))?;
    let end = client.message(&topic("event/episode"), WAIT, |message| message.text().contains("end"))?.json()?;
    assert_eq!(new["id"], end["id"]);
    Ok(())
}

#[test]
fn a_payload_above_the_ceiling_is_refused_and_does_not_come_back() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    let large = json!({"text": "x".repeat(2 << 20)}).to_string();
    assert_eq!(client.request(&topic("observe"), large)?["error"]["code"], "too_large");
    assert_eq!(client.observe(NAME, json!({"text": "small"}))?["accepted"], 1);
    assert_eq!(robot.counters.observe_messages.get(), 2);
    Ok(())
}

#[test]
fn what_comes_faster_than_allowed_waits_and_is_not_lost() -> Result<()> {
    let broker = Broker::start()?;
    let mut config = config(&broker);
    config.limits.observations_per_s = 400;
    let robot = Robot::start(config, Arc::new(MemoryStorage::new()))?;
    robot.wait_online()?;
    let client = broker.client()?;
    for batch in 0..12 {
        let items: Vec<_> =
            (0..100).map(|n| json!({"id": format!("{batch}-{n}"), "text": format!("thing {n}")})).collect();
        client.publish(&topic("observe"), json!(items).to_string())?;
    }
    let begin = std::time::Instant::now();
    robot.wait_observations(1200)?;
    // 400 at once, 800 more at 400 a second, less what the first messages took.
    assert!(begin.elapsed().as_millis() > 800, "{:?}", begin.elapsed());
    Ok(())
}

#[test]
fn when_the_store_is_full_nothing_is_acknowledged_and_the_broker_delivers_again() -> Result<()> {
    let broker = Broker::start()?;
    let storage = memory_core::store::fault::FaultStorage::default();
    let robot = Robot::start(config(&broker), Arc::new(storage.clone()))?;
    robot.wait_online()?;
    let client = broker.client()?;
    assert_eq!(client.observe(NAME, json!({"text": "before"}))?["accepted"], 1);
    storage.set_capacity(Some(0));
    let correlation =
        client.request_later(&topic("observe"), json!({"id": "kept", "text": "meanwhile"}).to_string())?;
    assert_eq!(client.reply(&correlation, WAIT)?["error"]["code"], "storage_full");
    // Nobody waits for this one.
    client.publish(&topic("observe"), json!({"id": "silent", "text": "in silence"}).to_string())?;
    let deferred = || robot.counters.observe_deferred.get() >= 3;
    eventually("the broker delivers again in vain", WAIT, || deferred().then_some(()))?;
    assert!(robot.counters.last_error().is_some_and(|error| error.contains("cannot write")));
    assert_eq!(robot.service.memory().stats().observations, 1);
    storage.set_capacity(None);
    robot.wait_observations(3)?;
    eventually("the problem is over", WAIT, || robot.counters.last_error().is_none().then_some(()))?;
    assert_eq!(robot.service.memory().stats().observations, 3);
    Ok(())
}
