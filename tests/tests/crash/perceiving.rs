//! A film that is played again and again, and the program killed while it watches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, AgentBuilder, Broker, Client, SeededRandom, media};
use serde_json::{Value, json};

use crate::campaign::{Estimate, KillMoment, Tally, kill_after};

const PLAYING: Duration = Duration::from_secs(90);
const EPISODES: &str = "engram/watcher/event/episode";

/// Segments of a session, in the order of its time, without what the wall clock says.
type Segments = Vec<Value>;

/// Kills a new memory while it perceives, at each of the moments.
///
/// # Errors
/// What was lost, is there twice or is damaged.
pub fn run(seed: u64, moments: &[KillMoment], tally: &mut Tally) -> Result<()> {
    let clip = media::talk()?;
    let (broker, folder) = (Broker::start()?, tempfile::tempdir()?);
    let client = broker.client()?;
    client.subscribe(EPISODES)?;
    let mut random = SeededRandom::seeded(seed);
    let mut playing = Estimate(Duration::from_secs(4));
    let mut day = 1;
    for (number, moment) in moments.iter().enumerate() {
        let watcher = watcher(&broker, folder.path(), &clip, day).argument("--exit-at-end");
        let mut agent = watcher.start(&client)?;
        let killed = kill_after(agent.process(), playing.moment(&mut random), || Ok(true))?;
        agent.kill()?;
        tally.killed(*moment, killed.is_some());
        look(&client, &agent, &folder.path().join(format!("export-{number}")))
            .with_context(|| format!("after kill {number}, while {moment}"))?;
        // Half the times the film that was interrupted is played again.
        if killed.is_none() || random.below(2) == 0 {
            day += 1;
        }
        // The first seconds are for the start.
        playing.learn(if killed.is_none() { Some(playing.0 * 4 / 5) } else { None });
    }
    end(&broker, &client, folder.path(), &clip, day)
}

fn watcher(broker: &Broker, folder: &Path, clip: &Path, day: u32) -> AgentBuilder {
    Agent::builder(broker, "watcher")
        .folder(folder)
        .file("film", clip)
        .set("sources.film.start_at", format!("2026-{:02}-{:02}T08:00:00Z", 1 + day / 28 % 11, 1 + day % 28))
        .set("models.dir", folder.join("models").display().to_string())
        // Segments are compared one by one.
        .set("memory.consolidation.enabled", false)
}

fn announced(client: &Client) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::new();
    for message in client.messages(EPISODES) {
        let body = message.json()?;
        if body["type"] == "new" {
            ids.insert(body["id"].as_str().with_context(|| format!("an announcement without id: {body}"))?.to_owned());
        }
    }
    Ok(ids)
}

/// Checks the store and compares it with what was announced.
fn look(client: &Client, agent: &Agent, export: &Path) -> Result<()> {
    let checked = agent.engram(&["check"])?;
    ensure!(checked.code == Some(0), "check: {}{}", checked.stdout, checked.stderr);
    let (announced, found) = (announced(client)?.len(), remembered(agent, export)?);
    let segments: usize = found.values().map(Vec::len).sum();
    ensure!(segments >= announced, "{announced} episodes were announced, and {segments} are there");
    Ok(())
}

/// All segments, by their session.
fn remembered(agent: &Agent, export: &Path) -> Result<BTreeMap<String, Segments>> {
    let ended = agent.engram(&["export", &export.display().to_string()])?;
    ensure!(ended.code == Some(0), "export: {}{}", ended.stdout, ended.stderr);
    let mut found: BTreeMap<String, Segments> = BTreeMap::new();
    for line in std::fs::read_to_string(export.join("memory.jsonl"))?.lines() {
        let line: Value = serde_json::from_str(line)?;
        if line["type"] != "segment" {
            continue;
        }
        let events = line["events"].as_array().cloned().unwrap_or_default();
        let events: Vec<Value> =
            events.iter().map(|event| json!([event["kind"], event["text"], event["stream_us"]])).collect();
        let session = line["session"].as_str().unwrap_or_default().to_owned();
        found.entry(session).or_default().push(json!([line["stream_us"], line["boundary"], events]));
    }
    for segments in found.values_mut() {
        segments.sort_by_key(|segment| segment[0][0].as_u64());
        ensure!(segments.windows(2).all(|two| two[0][0] != two[1][0]), "a segment is there twice: {segments:?}");
    }
    std::fs::remove_dir_all(export)?;
    Ok(found)
}

/// Plays the last film to its end: all others are the begin of it.
fn end(broker: &Broker, client: &Client, folder: &Path, clip: &Path, day: u32) -> Result<()> {
    let mut agent = watcher(broker, folder, clip, day).start(client)?;
    agent.health(client, PLAYING, |report| report["sources"]["film"]["state"] == "ended")?;
    for id in announced(client)? {
        let reply = client.command("watcher", "get", json!({"episode": id}))?;
        ensure!(reply["episode"]["id"] == id.as_str(), "{id} was announced and is lost: {reply}");
    }
    agent.stop()?;
    let found = remembered(&agent, &folder.join("export-end"))?;
    let whole = found.values().next_back().context("nothing was perceived")?;
    ensure!(whole.len() >= 2, "the film has {} segments", whole.len());
    for (session, segments) in &found {
        ensure!(whole.starts_with(segments), "{session}: {segments:#?}\nis not how it begins: {whole:#?}");
    }
    Ok(())
}
