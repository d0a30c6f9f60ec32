//! An honest sender, an honest asker and a drawn camera beside a client that means harm. A minute by itself, longer with
//! `ENGRAM_HOSTILE_SECONDS=3600 cargo test --test hostile`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use engram_tests::{Broker, Client, SeededRandom, Stage, until};
use serde_json::json;

const ROBOT: &str = "besieged";
/// What the whole program may take.
const CEILING_MIB: u64 = 768;
/// 95 of 100 honest questions are answered within this. A program that is not optimised, on a machine that is busy with
/// other tests, shows nothing of that.
const BAR: Option<Duration> = if cfg!(debug_assertions) { None } else { Some(Duration::from_millis(100)) };

fn topic(leaf: &str) -> String {
    format!("engram/{ROBOT}/{leaf}")
}

fn seconds() -> u64 {
    std::env::var("ENGRAM_HOSTILE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

fn one_of<'a>(random: &mut SeededRandom, choices: &[&'a str]) -> &'a str {
    let place = usize::try_from(random.below(choices.len() as u64)).unwrap_or(0);
    choices[place]
}

/// One thing that somebody may do to a robot whose broker lets everybody in.
fn harm(client: &Client, random: &mut SeededRandom) -> Result<()> {
    let deep = || "[".repeat(50_000);
    let long = |length: usize| json!({"text": "x".repeat(length), "source": "hostile"}).to_string();
    match random.below(12) {
        0 => client.publish(&topic("ask"), deep()),
        1 => client.publish(&topic("observe"), deep()),
        2 => client.publish(&topic("observe"), long(3 << 20)),
        3 => {
            client.publish(&topic("ask"), json!({"question": "why ".repeat(10_000), "reply_to": "$SYS/x"}).to_string())
        }
        4 => client.publish(&topic("ask"), json!({"question": "why?", "reply_to": topic("observe")}).to_string()),
        5 => client.publish_retained(&topic("instance"), one_of(random, &["!", "0", "zzz"])),
        6 => client.publish_retained(&topic("status"), "stopped"),
        7 => client.publish_retained(&topic("cmd/pause"), "{}"),
        8 => {
            let command = one_of(random, &["backup", "export", "forget", "pause", "restore", "nonsense"]);
            client.request_later(&topic(&format!("cmd/{command}")), r#"{"file": "/etc/passwd"}"#).map(drop)?;
            client.flush()
        }
        9 => client.publish(&topic("observe"), vec![0xff; 4096]),
        10 => {
            for number in 0..20 {
                client.request_later(&topic("ask"), format!("What happened in hour {number}?"))?;
            }
            client.flush()
        }
        _ => client.publish(&topic("answer/x/y/z"), "nobody asked"),
    }
}

/// Does harm until it is over, coming back as somebody else now and then. Returns how often.
fn besiege(broker: &Broker, over: &AtomicBool, seed: u64) -> Result<u64> {
    let mut random = SeededRandom::seeded(seed);
    let mut done = 0;
    while !over.load(Ordering::Relaxed) {
        let client = broker.client()?;
        for _ in 0..200 {
            if over.load(Ordering::Relaxed) {
                break;
            }
            harm(&client, &mut random)?;
            done += 1;
        }
    }
    Ok(done)
}

#[test]
fn honest_clients_are_served_beside_a_hostile_one() -> Result<()> {
    let mut stage = Stage::with(ROBOT, |builder| {
        builder.source("eye", "test").set("memory.ceiling_mib", i64::try_from(CEILING_MIB).unwrap_or(i64::MAX))
    })?;
    let over = AtomicBool::new(false);
    let end = Instant::now() + Duration::from_secs(seconds());
    let (mut told, mut waited) = (0_u64, Vec::new());
    let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
    let harmed = std::thread::scope(|scope| -> Result<u64> {
        let hostile = scope.spawn(|| besiege(&stage.broker, &over, 16));
        let honest = (|| -> Result<()> {
            while Instant::now() < end {
                stage.tell(&format!("honest-{told}"), &format!("Anna put mug {told} on the shelf."))?;
                told += 1;
                let begin = Instant::now();
                match stage.ask("Where is the mug?") {
                    Ok(answer) if answer["evidence"].is_array() => waited.push(begin.elapsed()),
                    // `busy` or `deadline`: said, and to be asked again.
                    Ok(refusal) => *refusals.entry(refusal["error"].to_string()).or_default() += 1,
                    Err(failure) => *refusals.entry(failure.to_string()).or_default() += 1,
                }
            }
            Ok(())
        })();
        over.store(true, Ordering::Relaxed);
        let harmed = hostile.join().expect("the hostile client does not panic")?;
        honest.map(|()| harmed)
    })?;
    ensure!(harmed > 20 && waited.len() > 10, "too little happened: {harmed} hostile acts, {told} observations");
    waited.sort();
    let unanswered: usize = refusals.values().sum();
    let at = |percent: usize| waited[(waited.len() - 1) * percent / 100];
    let health = topic("health");
    stage.client.subscribe(&health)?;
    let report = stage.client.message_after(stage.client.mark(), &health, engram_tests::SOON, |_| true)?.json()?;
    println!(
        "{harmed} hostile acts, {told} honest observations, {unanswered} questions unanswered; p50 {:?} p95 {:?} max {:?}; {} MiB resident; {refusals:?}",
        at(50),
        at(95),
        at(100),
        report["process"]["resident_mib"]
    );
    ensure!(report["process"]["resident_mib"].as_u64() < Some(CEILING_MIB), "{}", report["process"]);
    // Questions of the hostile client still wait in the broker: until they are worked off, `busy` is the answer to everybody.
    until("what the hostile client left is worked off", engram_tests::SOON, || {
        let reply = stage.command("list", json!({"limit": 1}))?;
        Ok((reply["error"]["code"] != "busy").then_some(()))
    })?;
    let remembered = stage.remembered_ids()?;
    for number in 0..told {
        ensure!(remembered.contains(&format!("honest-{number}")), "honest-{number} was lost");
    }
    stage.agent.stop()?;
    stage.check()?;
    if let Some(bar) = BAR {
        ensure!(
            unanswered * 100 <= waited.len(),
            "{unanswered} questions beside {} answered ones: {refusals:?}",
            waited.len()
        );
        ensure!(at(95) <= bar, "95 of 100 questions took up to {:?}", at(95));
    }
    Ok(())
}
