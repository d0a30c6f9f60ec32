//! No room left: on the disk during a commit, or under the configured ceiling.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use engram_tests::{Agent, Broker, SOON, SmallDisk, Stage, evidence_ids};
use serde_json::{Value, json};

fn batch(number: u32) -> Value {
    // Words that differ, so that no store can make them small; nothing is learnt from so long a one, which takes time.
    let words = |i: u32| {
        (0..200)
            .map(|w| format!("w{}", (u64::from(number * 1000 + i * 31 + w)).wrapping_mul(2_654_435_761) % 10_000_019))
            .collect::<Vec<_>>()
            .join("q")
    };
    let item = |i: u32| json!({"id": format!("d{number}-{i}"), "text": format!("Crate {number} shelf {i}: {}", words(i)), "at": "2026-11-20T08:00:00Z"});
    (0..16).map(item).collect()
}

/// Tells until the store is full. Returns how many batches were accepted, and the request that was refused.
fn fill(stage: &Stage) -> Result<(u32, String)> {
    let topic = format!("engram/{}/observe", stage.agent.robot());
    for number in 0..4000 {
        let request = stage.client.request_later(&topic, batch(number).to_string())?;
        let reply = stage.client.reply(&request, SOON)?;
        if reply["error"]["code"] == "storage_full" || reply["rejected"][0]["error"]["code"] == "storage_full" {
            let text = reply.to_string();
            ensure!(text.contains("full") || text.contains("space") || text.contains("max_mib"), "no advice: {text}");
            return Ok((number, request));
        }
        ensure!(reply["accepted"] == 16, "neither accepted nor full: {reply}");
    }
    bail!("4000 batches fit: nothing was tested")
}

fn all_there(stage: &Stage, batches: u32) -> Result<()> {
    let found = stage.remembered_ids()?;
    for number in 0..batches {
        for i in 0..16 {
            ensure!(found.contains(&format!("d{number}-{i}")), "d{number}-{i} was accepted and is lost");
        }
    }
    Ok(())
}

fn on_disk(
    stage_name: &str,
    folder: PathBuf,
    configure: impl FnOnce(engram_tests::AgentBuilder) -> engram_tests::AgentBuilder,
) -> Result<Stage> {
    let broker = Broker::start()?;
    let client = broker.client()?;
    let data = folder.join("data").display().to_string();
    // Without models: what they compute takes the processor from the questions.
    let models = folder.join("models").display().to_string();
    let builder = Agent::builder(&broker, stage_name).set("data_dir", data.as_str()).set("models.dir", models);
    let agent = configure(builder).start(&client)?;
    Ok(Stage { agent, client, broker })
}

#[test]
fn a_full_disk_refuses_keeps_what_it_has_and_goes_on_when_there_is_room() -> Result<()> {
    let Some(disk) = SmallDisk::mount("size=12m")? else { return Ok(()) };
    let mut stage = on_disk("narrow", disk.path().to_owned(), |builder| builder.set("memory.cache_mib", 1))?;
    stage.tell("rake", "The rake is in the shed.")?;
    let (accepted, refused) = fill(&stage)?;
    ensure!(accepted > 0, "nothing fitted");
    stage.agent.health(&stage.client, SOON, |report| report["last_error"].is_string())?;
    let answer = stage.ask("Where is the rake?").context("a full disk stops no question")?;
    ensure!(evidence_ids(&answer).first().is_some_and(|id| id == "rake"), "{answer}");
    all_there(&stage, accepted)?;

    disk.remount("size=256m")?;
    // The refused batch was never acknowledged: the broker brings it again.
    stage
        .client
        .reply_that(&refused, Duration::from_secs(60), |reply| reply["accepted"] == 16)
        .context("the refused batch does not come back")?;
    ensure!(stage.observe(batch(9000))?["accepted"] == 16, "there is room again");
    stage.agent.stop()?;
    stage.check()?;
    stage.agent.restart(&stage.client)?;
    all_there(&stage, accepted)
}

#[test]
fn a_kill_on_a_full_disk_loses_nothing_that_was_accepted() -> Result<()> {
    let Some(disk) = SmallDisk::mount("size=12m")? else { return Ok(()) };
    let mut stage = on_disk("cramped", disk.path().to_owned(), |builder| builder.set("memory.cache_mib", 1))?;
    let (accepted, _) = fill(&stage)?;
    stage.agent.kill()?;
    disk.remount("size=256m")?;
    stage.check()?;
    stage.agent.restart(&stage.client)?;
    all_there(&stage, accepted)
}

#[test]
fn the_configured_ceiling_is_kept_and_said() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut stage = on_disk("thrifty", folder.path().to_owned(), |builder| {
        builder.set("memory.max_mib", 16).set("mqtt.allow.forget", true)
    })?;
    stage.tell("rake", "The rake is in the shed.")?;
    let (accepted, _) = fill(&stage)?;
    ensure!(accepted > 0, "nothing fitted under the ceiling");
    // Forgetting gets through behind what is refused: it makes room.
    let forgotten = stage.command("forget", json!({"entity": "rake"}))?;
    ensure!(forgotten["state"] == "succeeded" && forgotten["events"] == 1, "{forgotten}");
    ensure!(!stage.remembered_ids()?.contains("rake"), "it is hidden");
    all_there(&stage, accepted)?;
    stage.agent.stop()?;
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder.path().join("data/memory"))? {
        // What the disk gave, in blocks of 512 bytes: the store's file may have holes.
        bytes += entry?.metadata()?.blocks() * 512;
    }
    // The commit that reaches the ceiling is the last one.
    ensure!(bytes <= 18 << 20, "a ceiling of 16 MiB let the store grow to {bytes} bytes");
    stage.check()
}
