//! What hours and days were about: announced when they are over, listed, asked for, and changed by what is told and forgotten later.

use anyhow::Result;
use engram_tests::{SOON, Stage};
use jiff::{Timestamp, ToSpan, Unit};
use serde_json::{Value, json};

fn stage(robot: &str) -> Result<Stage> {
    Stage::with(robot, |builder| builder.set("mqtt.allow.forget", true))
}

/// The begin of an hour that has been over for a while and of which the memory still tells.
fn hour_ago() -> Result<Timestamp> {
    Ok(Timestamp::now()
        .checked_sub(3.hours())?
        .round(jiff::TimestampRound::new().smallest(Unit::Hour).mode(jiff::RoundMode::Trunc))?)
}

fn caption(stage: &Stage, id: &str, text: &str, at: Timestamp) -> Result<()> {
    let until = at.checked_add(2.minutes())?;
    let body = json!({"id": id, "kind": "caption", "text": text, "at": at.to_string(), "until": until.to_string()});
    assert_eq!(stage.observe(body)?["accepted"], 1);
    Ok(())
}

/// The first announcement that an hour was summarised with these words.
fn announced(stage: &Stage, topic: &str, words: &str) -> Result<Value> {
    let says =
        |body: &Value| body["level"] == "hour" && body["summary"].as_str().is_some_and(|text| text.contains(words));
    stage.client.message(topic, SOON, |message| message.json().is_ok_and(|body| says(&body)))?.json()
}

#[test]
fn an_hour_that_is_over_is_summarised_announced_and_listed() -> Result<()> {
    let mut stage = stage("chronicler")?;
    let topic = "engram/chronicler/event/gist";
    stage.client.subscribe(topic)?;
    let hour = hour_ago()?;
    caption(&stage, "c1", "Anna makes tea", hour.checked_add(5.minutes())?)?;
    caption(&stage, "c2", "Ben repairs the lamp", hour.checked_add(20.minutes())?)?;
    let gist = announced(&stage, topic, "Ben repairs the lamp")?;
    assert_eq!(gist["start"].as_str().map(|text| text.parse::<Timestamp>()).transpose()?, Some(hour), "{gist}");

    let list = stage.command("list", json!({"of": "gists", "level": "hour"}))?;
    let lines = list["gists"][0]["lines"].as_array().map(Vec::len);
    assert_eq!((list["gists"][0]["summary"].as_str(), lines), (gist["summary"].as_str(), Some(2)), "{list}");
    assert_eq!(list["gists"][0]["lines"][0]["evidence"].as_array().map(Vec::len), Some(1), "{list}");
    let refused = stage.command("list", json!({"of": "gists", "level": "year"}))?;
    assert_eq!(refused["error"]["code"], "bad_request", "{refused}");

    let answer = stage.ask("What happened in the last 5 hours?")?;
    assert_eq!(answer["route"], "gist", "{answer}");
    let text = answer["answer"].as_str().unwrap_or_default();
    assert!(text.contains("Anna makes tea") && text.contains("repairs the lamp"), "{answer}");

    let shown = stage.agent.engram(&["inspect", "gists", "--since", "6h"])?;
    assert!(shown.stdout.contains("Ben repairs the lamp"), "{} {}", shown.stdout, shown.stderr);
    stage.agent.stop()?;
    stage.check()?;
    let stopped = stage.agent.engram(&["inspect", "gists", "--level", "hour"])?;
    assert!(stopped.stdout.contains("Ben repairs the lamp"), "{} {}", stopped.stdout, stopped.stderr);
    Ok(())
}

#[test]
fn what_is_forgotten_is_in_no_summary_and_what_is_told_late_is() -> Result<()> {
    let stage = stage("forgetter")?;
    let topic = "engram/forgetter/event/gist";
    stage.client.subscribe(topic)?;
    let hour = hour_ago()?;
    caption(&stage, "c1", "Anna makes tea", hour.checked_add(5.minutes())?)?;
    caption(&stage, "c2", "Ben repairs the lamp", hour.checked_add(20.minutes())?)?;
    announced(&stage, topic, "Ben repairs the lamp")?;

    let (since, until) = (hour.checked_add(19.minutes())?, hour.checked_add(25.minutes())?);
    let forgotten = stage.command("forget", json!({"since": since.to_string(), "until": until.to_string()}))?;
    assert_eq!(forgotten["events"], 1, "{forgotten}");
    for request in
        [json!({"of": "gists", "level": "minute"}), json!({"of": "gists"}), json!({"of": "gists", "level": "day"})]
    {
        let list = stage.command("list", request)?.to_string();
        assert!(!list.contains("lamp") && list.contains("Anna makes tea"), "{list}");
    }
    caption(&stage, "c3", "Carla plays the cello", hour.checked_add(40.minutes())?)?;
    let list = stage.command("list", json!({"of": "gists"}))?.to_string();
    assert!(list.contains("Carla plays the cello"), "{list}");
    announced(&stage, topic, "cello")?;
    Ok(())
}
