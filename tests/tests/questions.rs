//! Asking, by clients of MQTT 5 and 3.1.1, and everything that is no proper question.

use std::process::Command;

use anyhow::{Context, Result};
use engram_tests::{Process, SOON, Stage, evidence_ids, run_to_end};
use serde_json::{Value, json};

fn stage_with_three_memories() -> Result<Stage> {
    let stage = Stage::start("asked")?;
    stage.tell("mug", "The blue mug stands on the kitchen table.")?;
    stage.tell("parcel", "A parcel for Anna lies in the hallway.")?;
    stage.tell("plants", "The plants by the window were watered.")?;
    Ok(stage)
}

fn code(reply: &Value) -> &str {
    reply["error"]["code"].as_str().unwrap_or("no error")
}

#[test]
fn an_mqtt_5_client_gets_an_answer_with_its_evidence() -> Result<()> {
    let stage = stage_with_three_memories()?;
    let body = json!({"question": "Where is the blue mug?", "request_id": "q-17", "top_k": 3});
    let answer = stage.client.ask_with("asked", body)?;
    assert_eq!(answer["request_id"], "q-17");
    assert_eq!(answer["question"], "Where is the blue mug?");
    assert!(answer["answer"].as_str().is_some_and(|text| text.contains("kitchen table")), "{answer}");
    assert_eq!(evidence_ids(&answer).first().map(String::as_str), Some("mug"), "{answer}");
    let confidence = answer["confidence"].as_f64().context("confidence is a number")?;
    assert!((0.0..=1.0).contains(&confidence), "{answer}");
    assert!(answer["reason"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    let best = &answer["evidence"][0];
    assert_eq!(
        (&best["kind"], &best["entity"], &best["place"]),
        (&json!("text"), &Value::Null, &Value::Null),
        "{best}"
    );
    assert_eq!(best["start"].as_str().map(|at| at.contains("2026-11-20T")), Some(true), "{best}");
    assert!(best["stream_start_s"].is_null() && best["media"].is_null(), "no recording covers it: {best}");
    assert!(answer["elapsed_ms"]["total"].as_f64().is_some_and(|millis| millis > 0.0), "{answer}");
    Ok(())
}

#[test]
fn a_question_goes_on_from_the_one_before_it_in_its_conversation() -> Result<()> {
    let stage = stage_with_three_memories()?;
    let ask = |question: &str, conversation: &str| {
        stage.client.ask_with("asked", json!({"question": question, "conversation": conversation}))
    };
    let first = ask("Where is the blue mug?", "a")?;
    assert_eq!(first["understood"], Value::Null, "{first}");
    let next = ask("And the parcel for Anna?", "a")?;
    assert_eq!(next["question"], "And the parcel for Anna?");
    assert_eq!(next["understood"], "Where is the parcel for Anna?", "{next}");
    assert!(next["answer"].as_str().is_some_and(|text| text.contains("hallway")), "{next}");
    let elsewhere = ask("And the parcel for Anna?", "b")?;
    assert_eq!(elsewhere["understood"], Value::Null, "another conversation: {elsewhere}");
    Ok(())
}

#[test]
fn the_event_of_an_answer_can_be_opened() -> Result<()> {
    let stage = stage_with_three_memories()?;
    let answer = stage.ask("Where is the blue mug?")?;
    let id = &answer["evidence"][0]["event"];
    assert!(id.as_str().is_some_and(|id| id.starts_with("ev-")), "{answer}");
    let opened = stage.command("get", json!({"event": id}))?;
    assert_eq!((&opened["event"]["id"], &opened["event"]["observation"]), (id, &json!("mug")), "{opened}");
    assert_eq!(opened["event"]["episode"], answer["evidence"][0]["episode"], "{opened}");
    let missing = stage.command("get", json!({"event": "ev-4096"}))?;
    assert_eq!(code(&missing), "bad_request", "{missing}");
    Ok(())
}

#[test]
fn an_mqtt_3_client_gets_its_answer_on_the_default_topic() -> Result<()> {
    let stage = stage_with_three_memories()?;
    let port = stage.broker.port().to_string();
    let old = |program: &str| {
        // Line by line, though nobody watches a terminal.
        let mut command = Command::new("stdbuf");
        command.args(["-oL", program, "-V", "311", "-h", "localhost", "-p", &port, "-q", "1"]);
        command
    };
    let mut listener = Process::start(
        "mosquitto_sub",
        old("mosquitto_sub").args(["-d", "-C", "1", "-W", "20", "-t", "engram/asked/answer/q-3"]),
    )?;
    listener.wait_for_line("SUBACK", SOON)?;
    let question = r#"{"question": "Who is the parcel for?", "request_id": "q-3"}"#;
    let sent = run_to_end(old("mosquitto_pub").args(["-t", "engram/asked/ask", "-m", question]), SOON)?;
    assert_eq!(sent.code, Some(0), "{}", sent.stderr);
    let line = listener.wait_for_line("{\"", SOON)?;
    let answer: Value = serde_json::from_str(&line).with_context(|| format!("not JSON: {line}"))?;
    assert_eq!(evidence_ids(&answer).first().map(String::as_str), Some("parcel"), "{answer}");
    listener.wait(SOON)?;
    Ok(())
}

#[test]
fn a_payload_that_is_not_json_is_the_question_itself() -> Result<()> {
    let stage = stage_with_three_memories()?;
    let answer = stage.client.request("engram/asked/ask", "Which plants were watered?")?;
    assert_eq!(evidence_ids(&answer).first().map(String::as_str), Some("plants"), "{answer}");
    Ok(())
}

#[test]
fn options_are_chosen_from() -> Result<()> {
    let stage = stage_with_three_memories()?;
    let options = json!(["a bicycle", "on the kitchen table", "in the garden", "under the bed"]);
    let answer = stage.client.ask_with("asked", json!({"question": "Where is the blue mug?", "options": options}))?;
    assert_eq!(answer["choice"], 1, "{answer}");
    Ok(())
}

#[test]
fn an_empty_memory_says_that_it_holds_nothing() -> Result<()> {
    let stage = Stage::start("empty")?;
    let answer = stage.ask("Where is the blue mug?")?;
    assert_eq!(answer["route"], "none", "{answer}");
    assert!(answer["answer"].is_null() && answer["evidence"] == json!([]), "{answer}");
    Ok(())
}

#[test]
fn what_is_no_question_gets_an_error_and_the_next_question_an_answer() -> Result<()> {
    let stage = stage_with_three_memories()?;
    let deep = format!("{{\"question\": {}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let cases: [(&str, Vec<u8>, &str); 7] = [
        ("2 MB", vec![b'a'; 2 << 20], "too_large"),
        ("2 MB of JSON", json!({"question": "a".repeat(2 << 20)}).to_string().into_bytes(), "too_large"),
        ("not UTF-8", vec![0x77, 0x68, 0xff, 0xfe, 0x3f], "bad_request"),
        ("empty", Vec::new(), "bad_request"),
        ("an empty question", br#"{"question": "  "}"#.to_vec(), "bad_request"),
        ("nested 10,000 deep", deep.into_bytes(), "bad_request"),
        ("a wrong type", br#"{"question": 7}"#.to_vec(), "bad_request"),
    ];
    for (what, payload, expected) in cases {
        let reply = stage.client.request("engram/asked/ask", payload).with_context(|| what.to_owned())?;
        assert_eq!(code(&reply), expected, "{what}: {reply}");
        let message = reply["error"]["message"].as_str().unwrap_or_default();
        assert!(message.len() > 10, "{what}: the message explains nothing: {message:?}");
    }
    let answer = stage.ask("Where is the blue mug?")?;
    assert_eq!(evidence_ids(&answer).first().map(String::as_str), Some("mug"), "{answer}");
    Ok(())
}

#[test]
fn answers_go_to_no_topic_outside_the_allow_list() -> Result<()> {
    let stage = stage_with_three_memories()?;
    stage.client.subscribe("homeassistant/#")?;
    stage.client.subscribe("engram/asked/answer/q-9")?;
    let body = json!({"question": "Where is the mug?", "request_id": "q-9", "reply_to": "homeassistant/light/set"});
    stage.client.publish("engram/asked/ask", body.to_string())?;
    let refused = stage.client.message("engram/asked/answer/q-9", SOON, |_| true)?.json()?;
    assert_eq!(code(&refused), "forbidden", "{refused}");
    assert_eq!(stage.client.messages("homeassistant/light/set").len(), 0);
    Ok(())
}
