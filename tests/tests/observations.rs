//! Telling: old and future dates, repetitions, corrections, and lists with a bad item.

use anyhow::Result;
use engram_tests::{SOON, Stage, evidence_ids};
use serde_json::json;

#[test]
fn an_observation_of_1970_is_accepted_and_found() -> Result<()> {
    let stage = Stage::start("told")?;
    let reply =
        stage.observe(json!({"id": "old", "text": "The moon rock was delivered.", "at": "1970-01-01T00:00:10Z"}))?;
    assert_eq!((&reply["accepted"], &reply["duplicates"]), (&json!(1), &json!(0)), "{reply}");
    assert!(reply["seq"].as_u64().is_some_and(|seq| seq > 0), "{reply}");
    let answer = stage.ask("When was the moon rock delivered?")?;
    assert_eq!(evidence_ids(&answer), ["old"], "{answer}");
    let start = answer["evidence"][0]["start"].as_str().unwrap_or_default().to_owned();
    assert!(start.starts_with("1970-01-01") || start.starts_with("1969-12-31"), "{start}");
    Ok(())
}

#[test]
fn an_observation_of_2100_is_rejected_with_a_reason() -> Result<()> {
    let stage = Stage::start("told")?;
    let reply = stage.observe(json!({"id": "future", "text": "The robot retired.", "at": "2100-01-01T00:00:00Z"}))?;
    assert_eq!(reply["accepted"], 0, "{reply}");
    assert_eq!((&reply["rejected"][0]["index"], &reply["rejected"][0]["id"]), (&json!(0), &json!("future")), "{reply}");
    assert_eq!(reply["rejected"][0]["error"]["code"], "bad_request", "{reply}");
    let message = reply["rejected"][0]["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("future") || message.contains("24"), "the message does not say why: {message}");
    assert_eq!(stage.ask("Did the robot retire?")?["route"], "none");
    Ok(())
}

#[test]
fn the_same_observation_twice_is_remembered_once() -> Result<()> {
    let stage = Stage::start("told")?;
    let body = json!({"id": "a-1", "source": "asr", "text": "Please bring the mug.", "at": "2026-11-20T08:00:00Z"});
    assert_eq!(stage.observe(body.clone())?["accepted"], 1);
    let again = stage.observe(body)?;
    assert_eq!((&again["accepted"], &again["duplicates"]), (&json!(0), &json!(1)), "{again}");
    assert_eq!(stage.remembered_ids()?.len(), 1);
    Ok(())
}

#[test]
fn a_correction_supersedes_what_was_said_before() -> Result<()> {
    let stage = Stage::start("told")?;
    let said = |text: &str| json!({"id": "a-1", "source": "asr", "text": text, "at": "2026-11-20T08:00:00Z"});
    assert_eq!(stage.observe(said("Anna asked for the teapot."))?["accepted"], 1);
    let corrected = stage.observe(said("Anna asked for the crowbar."))?;
    assert_eq!((&corrected["accepted"], &corrected["duplicates"]), (&json!(1), &json!(0)), "{corrected}");
    let answer = stage.ask("What did Anna ask for?")?;
    assert_eq!(evidence_ids(&answer), ["a-1"], "{answer}");
    assert!(answer["evidence"][0]["text"].as_str().is_some_and(|text| text.contains("crowbar")), "{answer}");
    assert!(!answer.to_string().contains("teapot"), "the old text came back: {answer}");
    Ok(())
}

#[test]
fn one_bad_item_of_a_list_does_not_take_the_others_with_it() -> Result<()> {
    let stage = Stage::start("told")?;
    let reply = stage.observe(json!([
        {"id": "one", "text": "The first door is open.", "at": "2026-11-20T08:00:00Z"},
        {"id": "two", "text": "The second door is open.", "at": "yesterday-ish"},
        {"id": "three", "text": "The third door is open.", "at": "2026-11-20T08:00:02Z"},
    ]))?;
    assert_eq!(reply["accepted"], 2, "{reply}");
    assert_eq!(reply["rejected"].as_array().map(Vec::len), Some(1), "{reply}");
    assert_eq!((&reply["rejected"][0]["index"], &reply["rejected"][0]["id"]), (&json!(1), &json!("two")), "{reply}");
    assert_eq!(stage.remembered_ids()?.into_iter().collect::<Vec<_>>(), ["one", "three"]);
    Ok(())
}

#[test]
fn what_is_no_observation_is_refused_whole() -> Result<()> {
    let stage = Stage::start("told")?;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for (payload, expected) in [
        (vec![b'['; 2 << 20], "too_large"),
        (vec![0xff, 0x00], "bad_request"),
        (Vec::new(), "bad_request"),
        (deep.into_bytes(), "bad_request"),
    ] {
        let reply = stage.client.request("engram/told/observe", payload)?;
        assert_eq!(reply["error"]["code"], expected, "{reply}");
    }
    stage.tell("after", "The memory still listens.")?;
    Ok(())
}

#[test]
fn without_a_reply_topic_a_rejection_is_published_and_counted() -> Result<()> {
    let stage = Stage::start("told")?;
    stage.client.subscribe("engram/told/event/rejected")?;
    stage.client.publish("engram/told/observe", json!({"id": "x", "text": ""}).to_string())?;
    let event = stage.client.message("engram/told/event/rejected", SOON, |_| true)?.json()?;
    assert!(event.to_string().contains("\"x\""), "{event}");
    stage.agent.health(&stage.client, SOON, |report| report["mqtt"]["observations_rejected"] == 1)?;
    Ok(())
}

#[test]
fn a_new_episode_is_announced() -> Result<()> {
    let stage = Stage::start("told")?;
    stage.client.subscribe("engram/told/event/episode")?;
    stage.tell("one", "The door is open.")?;
    let event = stage.client.message("engram/told/event/episode", SOON, |_| true)?.json()?;
    assert_eq!(event["type"], "new", "{event}");
    let id = event["id"].as_str().unwrap_or_default().to_owned();
    let whole = stage.command("get", json!({"episode": id}))?;
    assert_eq!(whole["episode"]["events"][0]["observation"], "one", "{whole}");
    Ok(())
}
