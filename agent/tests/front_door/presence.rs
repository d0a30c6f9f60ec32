use std::sync::Arc;

use agent::health::HealthReport;
use agent::mqtt::MqttError;
use anyhow::Result;
use engram_tests::{Broker, Client, eventually};
use memory_core::store::MemoryStorage;

use crate::robot::{NAME, Robot, WAIT, config, topic};

fn wait_status(client: &Client, wanted: &str) -> Result<()> {
    eventually(wanted, WAIT, || {
        client.messages(&topic("status")).last().is_some_and(|message| message.text() == wanted).then_some(())
    })
}

#[test]
fn the_status_tells_a_clean_exit_from_a_crash() -> Result<()> {
    let broker = Broker::start()?;
    let client = broker.client()?;
    client.subscribe(&topic("status"))?;
    let robot = Robot::online(&broker)?;
    wait_status(&client, "online")?;
    robot.stop()?;
    wait_status(&client, "stopped")?;
    let robot = Robot::online(&broker)?;
    wait_status(&client, "online")?;
    robot.crash();
    wait_status(&client, "offline")
}

#[test]
fn what_is_retained_is_there_for_a_late_comer() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.subscribe("engram/+/+")?;
    let text =
        |leaf: &str| client.message(&topic(leaf), WAIT, |message| message.retained).map(|message| message.text());
    assert_eq!(text("status")?, "online");
    assert_eq!(text("instance")?, robot.service.memory().instance());
    assert_eq!(text("recording")?, "on");
    assert!(client.message(&topic("health"), WAIT, |_| true)?.json()?["memory"].is_object());
    Ok(())
}

#[test]
fn a_change_of_health_is_published_before_the_next_beat() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.subscribe(&topic("health"))?;
    let begin = std::time::Instant::now();
    robot
        .health
        .send_replace(HealthReport { last_error: Some("camera unplugged".to_owned()), ..HealthReport::default() });
    client.message(&topic("health"), WAIT, |message| message.text().contains("camera unplugged"))?;
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    Ok(())
}

#[test]
fn a_second_engram_with_the_same_name_stays_away() -> Result<()> {
    let broker = Broker::start()?;
    let first = Robot::online(&broker)?;
    let client = broker.client()?;
    client.subscribe(&topic("status"))?;
    let mut second = Robot::start(config(&broker), Arc::new(MemoryStorage::new()))?;
    let error = second.outcome()?.unwrap_err();
    assert!(matches!(error, MqttError::RobotNameTaken { .. }), "{error}");
    assert!(error.to_string().contains("`robot`"), "{error}");
    drop(second);
    assert!(first.is_online());
    assert_eq!(client.ask(NAME, "still there?")?["route"], "none");
    assert!(client.messages(&topic("status")).iter().all(|message| message.text() == "online"));
    Ok(())
}

#[test]
fn of_two_that_start_at_once_one_stays() -> Result<()> {
    let broker = Broker::start()?;
    let one = Robot::start(config(&broker), Arc::new(MemoryStorage::new()))?;
    let two = Robot::start(config(&broker), Arc::new(MemoryStorage::new()))?;
    // The one that was a moment later ends; where both were as early, one of them goes offline.
    let yields = |robot: &Robot| {
        robot.has_left() || robot.counters.last_error().is_some_and(|error| error.contains("another engram"))
    };
    eventually("one yields", WAIT, || (yields(&one) != yields(&two)).then_some(()))?;
    let mut robots = [one, two];
    robots.sort_by_key(|robot| yields(robot));
    let [mut stays, mut leaves] = robots;
    stays.wait_online()?;
    let client = broker.client()?;
    client.subscribe("engram/+/+")?;
    let instance = stays.service.memory().instance().to_owned();
    client.message(&topic("instance"), WAIT, |message| message.text() == instance)?;
    wait_status(&client, "online")?;
    assert_eq!(client.ask(NAME, "who is there?")?["route"], "none");
    assert!(!stays.has_left(), "{:?}", stays.outcome());
    assert!(!leaves.is_online());
    if leaves.has_left() {
        assert!(matches!(leaves.outcome()?, Err(MqttError::RobotNameTaken { .. })));
        return Ok(());
    }
    stays.stop()?;
    leaves.wait_online()
}

/// Whether the robot is online, says so, and answers.
fn serves(robot: &Robot, client: &Client) -> Result<()> {
    let instance = robot.service.memory().instance().to_owned();
    let last = |leaf: &str| client.messages(&topic(leaf)).last().map(engram_tests::Message::text);
    eventually("what it announces", WAIT, || {
        (last("instance").as_ref() == Some(&instance) && last("status").as_deref() == Some("online")).then_some(())
    })?;
    assert!(robot.is_online() && !robot.has_left());
    assert_eq!(client.ask(NAME, "still there?")?["route"], "none");
    assert_eq!(client.observe(NAME, serde_json::json!({"text": "It rains.", "source": "test"}))?["accepted"], 1);
    Ok(())
}

#[test]
fn what_a_stranger_writes_to_instance_and_status_ends_nothing_and_is_corrected() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.subscribe(&topic("instance"))?;
    client.subscribe(&topic("status"))?;
    // One byte, an id that goes before every other, and more than anybody should read.
    for text in ["!", "0", "\u{7f}\u{1b}[2J", &"0".repeat(100_000)] {
        client.publish_retained(&topic("instance"), text)?;
        client.message(&topic("instance"), WAIT, |message| message.text() == text)?;
        serves(&robot, &client)?;
    }
    for _ in 0..500 {
        client.publish_retained(&topic("instance"), "0")?;
        client.publish_retained(&topic("status"), "stopped")?;
    }
    let before = client.messages(&topic("instance")).len();
    serves(&robot, &client)?;
    assert!(before < 1500, "a thousand of its messages were not answered one by one: {before}");
    robot.stop()
}

#[test]
fn somebody_who_answers_as_another_engram_makes_it_go_offline_for_a_while_and_no_more() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.subscribe(&topic("instance"))?;
    client.subscribe(&topic("status"))?;
    client.subscribe(&topic("cmd/instance"))?;
    client.publish_retained(&topic("instance"), "0")?;
    let challenge = client.message(&topic("cmd/instance"), WAIT, |_| true)?;
    client.respond(&challenge, &serde_json::json!({"instance": "0"}))?;
    robot.wait_offline()?;
    assert!(!robot.has_left());
    let error = robot.counters.last_error().unwrap_or_default();
    assert!(error.contains("another engram") && error.contains("tries again"), "{error}");
    // Nobody answers the next challenge.
    robot.wait_online()?;
    serves(&robot, &client)?;
    robot.stop()
}

#[test]
fn an_instance_that_left_no_word_and_does_not_live_blocks_nobody() -> Result<()> {
    let broker = Broker::start()?;
    let client = broker.client()?;
    client.publish_retained(&topic("instance"), "another-memory")?;
    client.publish_retained(&topic("status"), "online")?;
    let robot = Robot::online(&broker)?;
    client.subscribe(&topic("instance"))?;
    let instance = robot.service.memory().instance().to_owned();
    client.message(&topic("instance"), WAIT, |message| message.text() == instance)?;
    Ok(())
}

#[test]
fn a_status_that_somebody_else_sets_is_corrected() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.subscribe(&topic("status"))?;
    client.publish_retained(&topic("status"), "offline")?;
    client.message(&topic("status"), WAIT, |message| message.text() == "offline")?;
    wait_status(&client, "online")
}
