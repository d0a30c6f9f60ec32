//! A broker that is away, comes, goes and returns; one that asks who is there; two agents that say the same name.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use engram_tests::{Agent, Broker, SOON, Stage, evidence_ids};
use serde_json::{Value, json};

fn numbered(range: std::ops::Range<u32>) -> Value {
    let one = |n: u32| json!({"id": format!("n-{n:04}"), "text": format!("Crate {n} was moved."), "at": format!("2026-11-20T08:{:02}:{:02}Z", n / 60 % 60, n % 60)});
    range.map(one).collect()
}

#[test]
fn a_broker_that_is_down_at_the_start_is_waited_for() -> Result<()> {
    let mut broker = Broker::builder().down()?;
    let mut agent = Agent::builder(&broker, "early").spawn()?;
    agent.process().wait_for_line("broker", SOON)?;
    broker.up()?;
    let client = broker.client()?;
    client.subscribe("engram/early/status")?;
    client.message("engram/early/status", SOON, |message| message.text() == "online")?;
    assert_eq!(client.observe("early", numbered(0..3))?["accepted"], 3);
    agent.stop()?;
    Ok(())
}

#[test]
fn a_restarted_broker_loses_nothing_that_was_accepted() -> Result<()> {
    let mut stage = Stage::start("steady")?;
    let mut accepted = BTreeSet::new();
    let mut mark = 0;
    for round in 0..3 {
        let batch = numbered(round * 50..round * 50 + 50);
        let reply = stage.observe(batch.clone())?;
        assert_eq!(reply["accepted"], 50, "{reply}");
        accepted
            .extend(batch.as_array().into_iter().flatten().filter_map(|item| item["id"].as_str().map(str::to_owned)));
        // Something is on its way when the broker goes.
        stage
            .client
            .request_later("engram/steady/observe", numbered(1000 + round * 50..1050 + round * 50).to_string())?;
        stage.client.flush()?;
        stage.broker.stop()?;
        stage.client.wait_disconnected()?;
        stage.broker.up()?;
        stage.client.wait_connected()?;
        mark = stage.client.mark().max(mark);
        stage.agent.process().ended()?.map_or(Ok(()), |status| anyhow::bail!("engram ended with {status}"))?;
        stage.agent.wait_online(&stage.client, 0)?;
        let answer = eventually_answers(&stage)?;
        assert!(!evidence_ids(&answer).is_empty(), "{answer}");
    }
    let remembered = stage.remembered_ids()?;
    let lost: Vec<_> = accepted.difference(&remembered).collect();
    assert!(lost.is_empty(), "accepted and lost: {lost:?}");
    // The broker had acknowledged these before it went, and keeps the session of engram on disk.
    let on_their_way: Vec<_> = remembered.iter().filter(|id| id.as_str() >= "n-1000").collect();
    assert_eq!(on_their_way.len(), 150, "what the broker had taken for engram came after its restart");
    stage.agent.stop()?;
    stage.check()
}

/// The broker is back before engram is; the first answer shows that it has reconnected and subscribed again.
fn eventually_answers(stage: &Stage) -> Result<Value> {
    engram_tests::until("an answer after the restart", Duration::from_secs(30), || {
        let id = stage.client.request_later("engram/steady/ask", "Which crate was moved?")?;
        Ok(stage.client.reply(&id, Duration::from_secs(1)).ok())
    })
}

#[test]
fn what_is_told_while_the_agent_is_away_is_there_when_it_returns() -> Result<()> {
    let mut stage = Stage::start("away")?;
    stage.tell("before", "The lamp is on.")?;
    stage.agent.stop()?;
    stage
        .client
        .publish("engram/away/observe", json!({"id": "meanwhile", "text": "The lamp was switched off."}).to_string())?;
    stage.agent.restart(&stage.client)?;
    let found = engram_tests::until("the observation of the meantime", SOON, || {
        Ok(Some(stage.remembered_ids()?).filter(|ids| ids.len() == 2))
    })?;
    assert!(found.contains("meanwhile"), "{found:?}");
    Ok(())
}

#[test]
fn a_wrong_password_is_said_and_does_not_stop_the_memory() -> Result<()> {
    let broker = Broker::builder().password("robot", "correct").start()?;
    let mut agent = Agent::builder(&broker, "locked").set("mqtt.password", "wrong").spawn()?;
    let line = agent.process().wait_for_line("refuse", SOON)?;
    assert!(line.contains("user name") || line.contains("password"), "the line does not say what to do: {line}");
    assert!(!agent.output().contains("wrong"), "a password must not be in the log");
    assert!(agent.process().ended()?.is_none(), "a refused password is tried again: it may be set any moment");
    agent.stop()?;
    let strict = Agent::builder(&broker, "locked").set("mqtt.password", "wrong").argument("--strict").spawn();
    let status = strict?.process().wait(SOON)?;
    assert_eq!(status.code(), Some(5));
    Ok(())
}

#[test]
fn tls_and_password_come_from_the_configuration() -> Result<()> {
    let broker = Broker::builder().tls().password("robot", "correct horse").start()?;
    let client = broker.client()?;
    let mut agent = Agent::builder(&broker, "sealed").start(&client)?;
    assert_eq!(client.observe("sealed", numbered(0..2))?["accepted"], 2);
    assert_eq!(evidence_ids(&client.ask("sealed", "Which crate was moved first?")?).len(), 2);
    agent.stop()?;
    Ok(())
}

#[test]
fn a_broker_whose_certificate_nobody_vouches_for_is_refused() -> Result<()> {
    let broker = Broker::builder().tls().start()?;
    let other = tempfile::tempdir()?;
    let stranger = engram_tests::Certificates::make(other.path())?;
    let mut agent =
        Agent::builder(&broker, "wary").set("mqtt.tls.ca_file", stranger.authority.display().to_string()).spawn()?;
    agent.process().wait_for_line("ertificate", SOON)?;
    agent.stop()?;
    Ok(())
}

#[test]
fn a_second_agent_with_the_same_name_refuses_and_says_what_to_set() -> Result<()> {
    let stage = Stage::start("twin")?;
    let mut second = Agent::builder(&stage.broker, "twin").spawn()?;
    let status = second.process().wait(SOON)?;
    assert_eq!(status.code(), Some(11), "{}", second.output());
    let said = second.output();
    assert!(said.contains("twin") && said.contains("`robot`"), "it does not say what to do:\n{said}");
    stage.tell("still", "The first one still serves.")?;
    Ok(())
}
