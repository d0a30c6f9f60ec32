use std::sync::Arc;

use anyhow::Result;
use engram_tests::{Broker, Client};
use memory_core::store::MemoryStorage;
use serde_json::{Value, json};

use crate::robot::{NAME, Robot, WAIT, config, topic};

fn tell(client: &Client, text: &str) -> Result<()> {
    let reply = client.observe(NAME, json!({"text": text, "source": "test"}))?;
    assert_eq!(reply["accepted"], 1, "{reply}");
    Ok(())
}

#[test]
fn a_question_is_answered_with_its_evidence() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let client = broker.client()?;
    let told =
        json!({"id": "asr-1", "text": "the blue mug is on the piano", "source": "asr", "at": "2026-11-20T08:00:00Z"});
    assert_eq!(client.observe(NAME, told)?["accepted"], 1);
    let answer = client.ask_with(NAME, json!({"question": "Where is the blue mug?", "request_id": "q-17"}))?;
    assert_eq!(answer["request_id"], "q-17");
    assert_eq!(answer["question"], "Where is the blue mug?");
    assert_eq!(answer["evidence"][0]["observations"], json!(["asr-1"]));
    assert_eq!(answer["evidence"][0]["start"], "2026-11-20T08:00:00+00:00");
    assert_eq!(answer["evidence"][0]["media"], Value::Null);
    assert!(answer["elapsed_ms"]["total"].as_f64().is_some_and(|total| total > 0.0), "{answer}");
    Ok(())
}

#[test]
fn an_empty_memory_says_so() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let answer = broker.client()?.ask(NAME, "Where is the blue mug?")?;
    assert_eq!((&answer["route"], &answer["answer"]), (&json!("none"), &Value::Null), "{answer}");
    Ok(())
}

#[test]
fn a_client_of_mqtt_3_names_its_way_back_in_the_payload() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let client = broker.client()?;
    tell(&client, "the blue mug is on the piano")?;
    client.subscribe("engram/+/answer/+")?;
    client.subscribe("reply/phone")?;
    let ask = topic("ask");
    client.publish(&ask, json!({"question": "where is the mug?", "request_id": "q-1"}).to_string())?;
    let answer = client.message(&topic("answer/q-1"), WAIT, |_| true)?;
    assert!(!answer.retained);
    assert_eq!(answer.json()?["request_id"], "q-1");
    let body = json!({"question": "where is the mug?", "request_id": "q-2", "reply_to": "reply/phone"});
    client.publish(&ask, body.to_string())?;
    assert_eq!(client.message("reply/phone", WAIT, |_| true)?.json()?["request_id"], "q-2");
    Ok(())
}

#[test]
fn a_payload_that_is_no_json_is_the_question() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let answer = broker.client()?.request(&topic("ask"), "where is the mug?")?;
    assert_eq!(answer["question"], "where is the mug?");
    Ok(())
}

#[test]
fn payloads_that_can_not_be_served_get_a_clear_error() -> Result<()> {
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let client = broker.client()?;
    let deep = ["{\"a\":".repeat(10_000), "1".to_owned(), "}".repeat(10_000)].concat();
    for (what, payload, code) in [
        ("2 MB", json!({"question": "x".repeat(2 << 20)}).to_string().into_bytes(), "too_large"),
        ("not UTF-8", vec![0xff, 0xfe, 0x41], "bad_request"),
        ("empty", Vec::new(), "bad_request"),
        ("an empty question", json!({"question": " "}).to_string().into_bytes(), "bad_request"),
        ("10,000 deep", deep.into_bytes(), "bad_request"),
        ("a wrong type", json!({"question": "x", "top_k": "five"}).to_string().into_bytes(), "bad_request"),
    ] {
        let reply = client.request(&topic("ask"), payload)?;
        assert_eq!(reply["error"]["code"], code, "{what}: {reply}");
        assert!(reply["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{what}: {reply}");
    }
    // And it serves on.
    assert_eq!(client.ask(NAME, "where is the mug?")?["route"], "none");
    Ok(())
}

#[test]
fn an_answer_goes_only_where_it_may() -> Result<()> {
    let broker = Broker::start()?;
    let robot = Robot::online(&broker)?;
    let client = broker.client()?;
    client.subscribe("engram/+/answer/+")?;
    client.subscribe("home/#")?;
    for (id, forbidden) in [("q-1", "home/light"), ("q-2", &topic("cmd/pause")), ("q-3", &topic("observe"))] {
        let body = json!({"question": "x", "request_id": id, "reply_to": forbidden});
        client.publish(&topic("ask"), body.to_string())?;
        let reply = client.message(&topic(&format!("answer/{id}")), WAIT, |_| true)?.json()?;
        assert_eq!(reply["error"]["code"], "forbidden", "{reply}");
    }
    assert_eq!(client.messages("home/light").len(), 0);
    assert_eq!(robot.counters.forbidden_replies.get(), 3);
    Ok(())
}

#[test]
fn more_questions_than_allowed_are_busy() -> Result<()> {
    let broker = Broker::start()?;
    let mut config = config(&broker);
    config.limits.asks_per_s = 1;
    config.limits.ask_burst = 3;
    let robot = Robot::start(config, Arc::new(MemoryStorage::new()))?;
    robot.wait_online()?;
    let client = broker.client()?;
    let asked: Result<Vec<String>> = (0..10).map(|_| client.request_later(&topic("ask"), "where?")).collect();
    let mut busy = 0;
    for correlation in asked? {
        let reply = client.reply(&correlation, WAIT)?;
        busy += usize::from(reply["error"]["code"] == "busy");
    }
    assert!((5..=7).contains(&busy), "{busy} of 10 were busy");
    Ok(())
}

#[test]
fn the_client_for_the_command_line_asks_and_tells() -> Result<()> {
    use agent::mqtt::request::{Client, RequestError};
    let broker = Broker::start()?;
    let _robot = Robot::online(&broker)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let client = Client::connect(&config(&broker), NAME).await?;
        let reply = client.observe(json!([{"text": "the mug is blue"}, {"text": 3}]), WAIT).await?;
        assert_eq!((&reply["accepted"], &reply["rejected"][0]["index"]), (&json!(1), &json!(1)), "{reply}");
        let answer = client.ask(json!({"question": "which colour has the mug?"}), WAIT).await?;
        assert_ne!(answer["route"], "none", "{answer}");
        client.close().await;
        let nobody = Client::connect(&config(&broker), "attic").await?;
        let error = nobody.ask(json!({"question": "who?"}), WAIT).await.unwrap_err();
        assert!(matches!(error, RequestError::NobodyThere(_)), "{error}");
        anyhow::Ok(())
    })
}
