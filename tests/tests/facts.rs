//! What is learnt: facts that answer, persons that are named, and what forgetting and restarting do to both.

use anyhow::{Context, Result};
use engram_tests::{SOON, Stage, evidence_ids};
use serde_json::{Value, json};

/// A stage on which `forget` and `name_entity` are allowed.
fn stage(robot: &str) -> Result<Stage> {
    Stage::with(robot, |builder| builder.set("mqtt.allow.forget", true).set("mqtt.allow.name_entity", true))
}

fn say(stage: &Stage, id: &str, who: &str, text: &str, at: &str) -> Result<u64> {
    let body = json!({"id": id, "kind": "text", "text": text, "entity": who, "source": "asr", "at": at});
    let reply = stage.observe(body)?;
    assert_eq!(reply["accepted"], 1, "{reply}");
    reply["seq"].as_u64().context("the reply has the number of its commit")
}

/// Waits until everything up to a commit is learnt.
fn learnt(stage: &Stage, seq: u64) -> Result<Value> {
    stage.agent.health(&stage.client, SOON, |report| learnt_up_to(report, seq))
}

fn learnt_up_to(report: &Value, seq: u64) -> bool {
    report["memory"]["pending_lessons"] == 0 && report["memory"]["seq"].as_u64() >= Some(seq)
}

/// Starts the agent again and waits until everything up to a commit is learnt: what was learnt last is written without waiting for
/// the disk, and learnt once more if it did not get there. A report from before says nothing of that.
fn restarted_and_learnt(stage: &mut Stage, seq: u64) -> Result<()> {
    let mark = stage.client.mark();
    stage.agent.restart(&stage.client)?;
    let topic = format!("engram/{}/health", stage.agent.robot());
    let is_learnt = |report: &Value| learnt_up_to(report, seq);
    stage.client.message_after(mark, &topic, SOON, |message| message.json().is_ok_and(|report| is_learnt(&report)))?;
    Ok(())
}

fn household(stage: &Stage) -> Result<u64> {
    say(stage, "m1", "Anna", "I put the blue mug in the dishwasher.", "2026-11-20T08:00:00Z")?;
    say(stage, "m2", "Tom", "The blue mug is on the shelf.", "2026-11-20T09:00:00Z")?;
    let last = say(stage, "p1", "Tom", "Anna watered the plants.", "2026-11-20T10:00:00Z")?;
    learnt(stage, last)?;
    Ok(last)
}

#[test]
fn facts_answer_with_their_evidence_and_survive_a_restart() -> Result<()> {
    let mut stage = stage("learner")?;
    let last = household(&stage)?;
    for round in 0..2 {
        let mug = stage.ask("Where is the blue mug?")?;
        assert!(mug["answer"].as_str().is_some_and(|text| text.starts_with("On the shelf")), "{mug}");
        assert_eq!(evidence_ids(&mug).first().map(String::as_str), Some("m2"), "{mug}");
        let before = stage.ask("Where was the blue mug before?")?;
        assert!(before["answer"].as_str().is_some_and(|text| text.starts_with("In the dishwasher")), "{before}");
        let plants = stage.ask("Who watered the plants last?")?;
        assert!(plants["answer"].as_str().is_some_and(|text| text.starts_with("Anna")), "{plants}");
        let facts = stage.command("list", json!({"of": "facts", "subject": "blue mug"}))?;
        assert_eq!(facts["facts"][0]["value"], "on the shelf", "{facts}");
        if round == 0 {
            stage.agent.stop()?;
            stage.check()?;
            restarted_and_learnt(&mut stage, last)?;
        }
    }
    let told = stage.agent.engram(&["inspect", "facts", "mug", "--past"])?;
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert!(told.stdout.contains("in the dishwasher") && told.stdout.contains("on the shelf"), "{}", told.stdout);
    Ok(())
}

#[test]
fn what_is_forgotten_or_corrected_is_no_fact_any_more() -> Result<()> {
    let stage = stage("forgetful")?;
    household(&stage)?;
    let last = say(&stage, "m2", "Tom", "The blue mug is in the cellar.", "2026-11-20T09:00:00Z")?;
    learnt(&stage, last)?;
    let mug = stage.ask("Where is the blue mug?")?;
    assert!(mug["answer"].as_str().is_some_and(|text| text.starts_with("In the cellar")), "{mug}");
    let reply = stage.command("forget", json!({"entity": "Tom"}))?;
    assert_eq!(reply["events"], 2, "{reply}");
    let mug = stage.ask("Where is the blue mug?")?;
    assert!(mug["answer"].as_str().is_some_and(|text| text.starts_with("In the dishwasher")), "{mug}");
    let facts = stage.command("list", json!({"of": "facts", "past": true}))?;
    assert!(!facts.to_string().contains("shelf") && !facts.to_string().contains("cellar"), "{facts}");
    Ok(())
}

#[test]
fn names_can_mean_the_same_and_are_kept() -> Result<()> {
    let mut stage = stage("namer")?;
    let last = say(&stage, "a1", "Tom", "Mum is in the garden.", "2026-11-20T08:00:00Z")?;
    learnt(&stage, last)?;
    assert_eq!(stage.ask("Where is Anna?")?["route"], "none");
    let reply = stage.command("name_entity", json!({"entity": "Mum", "name": "Anna"}))?;
    assert_eq!(reply["state"], "succeeded", "{reply}");
    stage.agent.kill()?;
    restarted_and_learnt(&mut stage, last)?;
    let anna = stage.ask("Where is Anna?")?;
    assert!(anna["answer"].as_str().is_some_and(|text| text.starts_with("In the garden")), "{anna}");
    for wrong in [
        json!({"entity": "e-12", "name": "Anna"}),
        json!({"entity": "Anna"}),
        json!({"entity": "Anna", "name": "a/b"}),
        json!({"entity": "Anna", "split": ["ev-1"]}),
        json!({"entity": "Anna", "merge": []}),
    ] {
        let reply = stage.command("name_entity", wrong.clone())?;
        assert_eq!(reply["error"]["code"], "bad_request", "{wrong}: {reply}");
    }
    let listed = stage.agent.engram(&["entity", "list"])?;
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert!(listed.stdout.contains("Tom"), "{}", listed.stdout);
    Ok(())
}

#[test]
fn naming_is_denied_on_a_broker_that_takes_anybody() -> Result<()> {
    let stage = Stage::start("guarded")?;
    let reply = stage.command("name_entity", json!({"entity": "Mum", "name": "Anna"}))?;
    assert_eq!(reply["error"]["code"], "forbidden", "{reply}");
    Ok(())
}
