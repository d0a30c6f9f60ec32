//! Where the robot is: `…/pose`.

use anyhow::Result;
use engram_tests::{Broker, eventually};
use serde_json::{Value, json};

use crate::robot::{NAME, Robot, WAIT, topic};

fn pose(x: f64) -> Value {
    json!({"frame": "map", "x": x, "y": 3.0, "yaw": 0.5, "covariance": [0.01, 0.01, 0.01]})
}

#[test]
fn an_observation_without_a_pose_gets_the_one_of_the_robot() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.publish(&topic("pose"), pose(2.0).to_string())?;
    eventually("the pose", WAIT, || (robot.counters.poses.get() == 1).then_some(()))?;
    let near = json!({"frame": "map", "x": 9.0, "y": 3.0});
    let told = json!([
        {"text": "This is the kitchen."},
        {"kind": "object", "text": "a mug", "entity": "mug"},
        {"kind": "object", "text": "a lamp", "entity": "lamp", "pose": near},
    ]);
    assert_eq!(client.observe(NAME, told)?["accepted"], 3);
    let answer = client.ask(NAME, "Where is the mug?")?;
    assert_eq!(
        (&answer["answer"], &answer["pose"]["x"], &answer["pose"]["of"]),
        (&json!("In the kitchen"), &json!(2.0), &json!("robot"))
    );
    let lamp = client.ask(NAME, "Where is the lamp?")?;
    assert_eq!((&lamp["pose"]["x"], &lamp["pose"]["of"]), (&json!(9.0), &json!("thing")), "{lamp}");
    let listed = client.command(NAME, "list", json!({"near": {"x": 9, "y": 3, "radius": 1}}))?;
    assert_eq!(listed["episodes"].as_array().map(Vec::len), Some(1), "{listed}");
    let wrong = client.command(NAME, "list", json!({"near": {"x": 9, "y": 3}}))?;
    assert_eq!(wrong["error"]["code"], "bad_request", "{wrong}");
    Ok(())
}

#[test]
fn what_is_no_pose_and_a_flood_are_counted_and_nothing_else_suffers() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    let wrong = [
        "{}".to_owned(),
        "[1, 2]".to_owned(),
        r#"{"frame": "map", "x": NaN, "y": 1}"#.to_owned(),
        r#"{"frame": "map", "x": 1e999, "y": 1}"#.to_owned(),
        r#"{"frame": "map", "x": 1, "y": -Infinity}"#.to_owned(),
        json!({"frame": "", "x": 1, "y": 1}).to_string(),
        json!({"frame": "map", "x": 5e6, "y": 1}).to_string(),
    ];
    for payload in &wrong {
        client.publish(&topic("pose"), payload.clone())?;
    }
    client
        .publish(&topic("pose"), json!({"frame": "map", "x": 1, "y": 1, "at": "2100-01-01T00:00:00Z"}).to_string())?;
    client.publish(&topic("pose"), json!({"frame": "map", "x": 1, "y": 1, "covariance": [9, 9, 9]}).to_string())?;
    let counters = &robot.counters;
    eventually("the wrong poses", WAIT, || (counters.poses_rejected.get() == wrong.len() as u64).then_some(()))?;
    eventually("the others", WAIT, || {
        (counters.poses_future.get() == 1 && counters.poses_uncertain.get() == 1).then_some(())
    })?;
    assert!(counters.last_error().is_some_and(|error| error.contains("`pose")), "{:?}", counters.last_error());
    client.publish(&topic("pose"), pose(1.0).to_string())?;
    client.publish(&topic("pose"), json!({"frame": "odom", "x": 1, "y": 1}).to_string())?;
    eventually("the pose on another map", WAIT, || (counters.poses_other_frame.get() == 1).then_some(()))?;
    let told = json!([
        {"text": "The bell is far away.", "pose": {"frame": "map", "x": 5e6, "y": 1}},
        {"text": "The bell is nowhere.", "pose": {"frame": "", "x": 1, "y": 1}},
        {"text": "The bell is here.", "pose": {"frame": "map", "x": 1, "y": 1}},
    ]);
    let receipt = client.observe(NAME, told)?;
    assert_eq!((&receipt["accepted"], receipt["rejected"].as_array().map(Vec::len)), (&json!(1), Some(2)), "{receipt}");
    let codes: Vec<&Value> = receipt["rejected"].as_array().unwrap().iter().map(|one| &one["error"]["code"]).collect();
    assert_eq!(codes, ["bad_request", "bad_request"]);
    for number in 0..10_000 {
        client.publish(&topic("pose"), pose(f64::from(number) * 0.0001).to_string())?;
        if counters.poses_flood.get() >= 500 {
            break;
        }
    }
    assert!(counters.poses_flood.get() >= 500, "{:?}", counters.snapshot());
    assert_eq!(client.observe(NAME, json!({"text": "The bell rang."}))?["accepted"], 1);
    assert!(client.ask(NAME, "What rang?")?["answer"].is_string());
    assert_eq!(counters.last_error(), None);
    Ok(())
}

#[test]
fn a_place_is_named_where_the_robot_stands_and_its_visits_are_listed() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    let unnamed = client.command(NAME, "name_place", json!({"name": " "}))?;
    assert_eq!(unnamed["error"]["code"], "bad_request", "{unnamed}");
    let elsewhere = json!({"name": "hall", "pose": {"frame": "map", "x": 20, "y": 3}});
    let named = client.command(NAME, "name_place", elsewhere)?;
    assert_eq!((&named["state"], &named["pose"]["x"]), (&json!("succeeded"), &json!(20.0)), "{named}");
    client.publish(&topic("pose"), pose(2.0).to_string())?;
    eventually("the pose", WAIT, || (robot.counters.poses.get() == 1).then_some(()))?;
    let named = client.command(NAME, "name_place", json!({"name": "kitchen"}))?;
    assert_eq!((&named["name"], &named["pose"]["x"]), (&json!("kitchen"), &json!(2.0)), "{named}");

    // The robot stands there until it counts as having arrived.
    let visits = || -> Option<Value> {
        client.publish(&topic("pose"), pose(2.0).to_string()).ok()?;
        let found = client.command(NAME, "search", json!({"query": "robot"})).ok()?;
        (found["count"] != 0).then_some(found)
    };
    let found = eventually("the visit", WAIT, visits)?;
    assert_eq!(found["found"][0]["source"], "places", "{found}");
    let listed = client.command(NAME, "list", json!({"of": "places"}))?;
    let names: Vec<&str> = listed["places"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["kitchen", "hall"], "{listed}");
    assert_eq!(listed["places"][1]["visits"], 0, "it was named from afar: {listed}");
    let kitchen = &listed["places"][0];
    assert_eq!((&kitchen["visits"], &kitchen["pose"]["x"]), (&json!(1), &json!(2.0)), "{listed}");
    assert!(kitchen["first"].is_string() && kitchen["last"].is_string(), "{listed}");
    assert_eq!(client.ask(NAME, "Where are you?")?["answer"], "In the kitchen");

    let here = json!({"frame": "map", "x": 2, "y": 3, "radius": 1});
    let events = client.command(NAME, "list", json!({"of": "events", "near": here}))?;
    assert_eq!(events["events"].as_array().map(Vec::len), Some(2), "{events}");
    let there = json!({"query": "this is", "near": {"x": 20, "y": 3, "radius": 1}});
    let ignored = client.command(NAME, "search", there)?;
    assert_eq!(ignored["error"]["code"], "bad_request", "small words alone: {ignored}");
    let word = |x: i32| json!({"query": "hall", "near": {"x": x, "y": 3, "radius": 1}});
    assert_eq!(client.command(NAME, "search", word(20))?["count"], 1);
    assert_eq!(client.command(NAME, "search", word(2))?["count"], 0);
    Ok(())
}

#[test]
fn a_place_gets_a_new_name_and_the_old_one_still_finds_it() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    for (name, x) in [("workshop", 2), ("hall", 20)] {
        client.command(NAME, "name_place", json!({"name": name, "pose": {"frame": "map", "x": x, "y": 3}}))?;
    }
    let unknown = client.command(NAME, "name_place", json!({"name": "lab", "renames": "attic"}))?;
    assert_eq!(unknown["error"]["code"], "bad_request", "{unknown}");
    let taken = client.command(NAME, "name_place", json!({"name": "Hall", "renames": "workshop"}))?;
    assert_eq!(taken["error"]["code"], "bad_request", "{taken}");
    // From somewhere else.
    client.publish(&topic("pose"), pose(20.0).to_string())?;
    eventually("the pose", WAIT, || (robot.counters.poses.get() == 1).then_some(()))?;
    let renamed = client.command(NAME, "name_place", json!({"name": "lab", "renames": "Workshop"}))?;
    assert_eq!((&renamed["state"], &renamed["renames"]), (&json!("succeeded"), &json!("workshop")), "{renamed}");
    assert_eq!(client.observe(NAME, json!({"text": "The rake is in the garage."}))?["accepted"], 1);

    let listed = || client.command(NAME, "list", json!({"of": "places"}));
    let shown = |listed: &Value| -> Vec<(String, String, f64)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let x = |place: &Value| place["pose"]["x"].as_f64().unwrap_or(-1.0);
        let places = listed["places"].as_array().unwrap();
        places.iter().map(|place| (text(&place["name"]), text(&place["known_by"]), x(place))).collect()
    };
    let wanted = [("hall", "pose", 20.0), ("lab", "pose", 2.0), ("garage", "words", -1.0)]
        .map(|(name, known, x)| (name.to_owned(), known.to_owned(), x));
    eventually("the places", WAIT, || listed().ok().filter(|listed| shown(listed) == wanted))?;
    for name in ["lab", "workshop"] {
        let answer = client.ask(NAME, &format!("Where is the {name}?"))?;
        assert_eq!(answer["pose"]["x"], 2.0, "{name}: {answer}");
    }
    Ok(())
}

#[test]
fn while_recording_is_paused_no_visit_is_remembered() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.command(NAME, "name_place", json!({"name": "kitchen", "pose": {"frame": "map", "x": 2, "y": 3}}))?;
    agent::mqtt::RecordingControl::pause(robot.recording.as_ref()).map_err(anyhow::Error::msg)?;
    let begun = std::time::Instant::now();
    eventually("five seconds of poses", WAIT, || {
        client.publish(&topic("pose"), pose(2.0).to_string()).ok()?;
        (begun.elapsed().as_secs() >= 5).then_some(())
    })?;
    assert!(robot.counters.poses.get() > 5, "{:?}", robot.counters.snapshot());
    assert_eq!(client.command(NAME, "search", json!({"query": "robot"}))?["count"], 0);
    Ok(())
}
