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

/// Waits for an announcement after `mark` that this hour was summarised. It says nothing of what happened.
fn announced(stage: &Stage, mark: usize, topic: &str, hour: Timestamp) -> Result<()> {
    let begins = |body: &Value| {
        let start = body["start"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        body["level"] == "hour" && start == Some(hour)
    };
    let news =
        stage.client.message_after(mark, topic, SOON, |message| message.json().is_ok_and(|body| begins(&body)))?;
    let fields: Vec<String> = news.json()?.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    assert_eq!(fields, ["end", "level", "start"]);
    Ok(())
}

#[test]
fn an_hour_that_is_over_is_summarised_announced_and_listed() -> Result<()> {
    let mut stage = stage("chronicler")?;
    let topic = "engram/chronicler/event/gist";
    stage.client.subscribe(topic)?;
    let hour = hour_ago()?;
    let mark = stage.client.mark();
    caption(&stage, "c1", "Anna makes tea", hour.checked_add(5.minutes())?)?;
    caption(&stage, "c2", "Ben repairs the lamp", hour.checked_add(20.minutes())?)?;
    announced(&stage, mark, topic, hour)?;

    let list = stage.command("list", json!({"of": "gists", "level": "hour"}))?;
    let summary = list["gists"][0]["summary"].as_str();
    assert_eq!(summary, Some("Anna makes tea; Ben repairs the lamp."), "{list}");
    assert_eq!(list["gists"][0]["lines"].as_array().map(Vec::len), Some(2), "{list}");
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
    let mark = stage.client.mark();
    caption(&stage, "c1", "Anna makes tea", hour.checked_add(5.minutes())?)?;
    caption(&stage, "c2", "Ben repairs the lamp", hour.checked_add(20.minutes())?)?;
    announced(&stage, mark, topic, hour)?;

    let (since, until) = (hour.checked_add(19.minutes())?, hour.checked_add(25.minutes())?);
    let forgotten = stage.command("forget", json!({"since": since.to_string(), "until": until.to_string()}))?;
    assert_eq!(forgotten["events"], 1, "{forgotten}");
    for request in
        [json!({"of": "gists", "level": "minute"}), json!({"of": "gists"}), json!({"of": "gists", "level": "day"})]
    {
        let list = stage.command("list", request)?.to_string();
        assert!(!list.contains("lamp") && list.contains("Anna makes tea"), "{list}");
    }
    let mark = stage.client.mark();
    caption(&stage, "c3", "Carla plays the harp", hour.checked_add(40.minutes())?)?;
    let list = stage.command("list", json!({"of": "gists"}))?.to_string();
    assert!(list.contains("Carla plays the harp"), "{list}");
    announced(&stage, mark, topic, hour)?;
    Ok(())
}
