//! kill -9 at fifty moments (`ENGRAM_KILLS` for fewer) while observations pour in, each within a quarter of a second after the
//! agent is online (`ENGRAM_LIFE_MS` for longer lives: an emulated program has answered nothing by then).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use engram_tests::{Random, SOON, Stage, eventually};
use serde_json::{Value, json};

const ITEMS: u32 = 8;
/// How many batches are on their way at any time.
const WINDOW: usize = 6;

fn batch(number: u32) -> Value {
    let item = |i: u32| {
        json!({
            "id": format!("k{number}-{i}"), "source": "crash", "kind": "state",
            "text": format!("Shelf {number} holds {i} cans of paint."),
            "at": format!("2026-11-20T{:02}:{:02}:{:02}Z", number / 3600 % 24, number / 60 % 60, number % 60),
        })
    };
    (0..ITEMS).map(item).collect()
}

#[test]
fn kills_at_random_moments_lose_nothing_that_was_accepted() -> Result<()> {
    let kills = std::env::var("ENGRAM_KILLS").map_or(Ok(50), |kills| kills.parse())?;
    let longest = std::env::var("ENGRAM_LIFE_MS").map_or(Ok(250), |longest| longest.parse::<u64>())?;
    let mut random = Random::seeded(50);
    let mut stage = Stage::start("crash")?;
    let mut sent: BTreeMap<u32, String> = BTreeMap::new();
    let mut next = 0;
    for kill in 0..kills {
        if kill > 0 {
            stage.agent.restart(&stage.client)?;
        }
        let life = Duration::from_micros(2_000 + random.below(longest * 1_000));
        let begin = Instant::now();
        let open = |sent: &BTreeMap<u32, String>, stage: &Stage| {
            sent.values().rev().take(4 * WINDOW).filter(|id| stage.client.try_reply(id).is_none()).count()
        };
        while begin.elapsed() < life {
            if open(&sent, &stage) < WINDOW {
                let request = stage.client.request_later("engram/crash/observe", batch(next).to_string())?;
                sent.insert(next, request);
                next += 1;
            }
            std::thread::yield_now();
        }
        stage.agent.kill()?;
        stage.check().with_context(|| format!("after kill {kill}, {:?} into it", begin.elapsed()))?;
    }
    stage.client.flush()?;
    stage.agent.restart(&stage.client)?;

    // Accepted is what a reply says; the broker keeps the rest for engram, which takes it now.
    let mut replied = 0;
    for (number, request) in &sent {
        if let Some(message) = stage.client.try_reply(request) {
            let reply = message.json()?;
            let durable = reply["accepted"].as_u64().unwrap_or(0) + reply["duplicates"].as_u64().unwrap_or(0);
            ensure!(durable == u64::from(ITEMS), "batch {number} was refused: {reply}");
            replied += 1;
        }
    }
    ensure!(replied >= kills, "only {replied} of {} batches were ever answered: nothing was tested", sent.len());
    let wanted = sent.len() * ITEMS as usize;
    let found = eventually("everything that the broker had taken", Duration::from_secs(60), || {
        stage.remembered_ids().map(|ids| (ids.len() >= wanted).then_some(ids)).transpose()
    })??;
    for (number, request) in &sent {
        let accepted = stage.client.try_reply(request).is_some();
        let missing = (0..ITEMS).filter(|i| !found.contains(&format!("k{number}-{i}"))).count();
        ensure!(missing == 0, "batch {number} (accepted: {accepted}) lacks {missing} of {ITEMS}");
    }
    ensure!(found.len() == wanted, "{} remembered, {wanted} sent", found.len());
    stage.agent.stop()?;
    stage.client.message("engram/crash/status", SOON, |message| message.text() == "stopped")?;
    stage.check()
}
