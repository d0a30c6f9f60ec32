//! What the program takes while nothing happens: a picture of one colour, ten times a second, and silence.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use engram_tests::{Agent, Broker, until};

use super::bars::Bars;
use super::observer::fresh_health;
use super::{SoakArguments, as_service};

const ROBOT: &str = "idle";
/// The unit of Linux's own accounts, on every processor that is served.
const TICKS_PER_S: f64 = 100.0;
/// Part of one core.
const MOST: f64 = 0.08;
/// Encoders are loaded and the first segments are seen by then.
const SEGMENTS: u64 = 2;
const LOADING: Duration = Duration::from_secs(600);

/// Made in the program itself; what making it takes is counted, too.
const NOTHING: &str = "pipeline:\
    videotestsrc pattern=solid-color is-live=true ! video/x-raw,format=I420,width=640,height=360,framerate=10/1 ! \
    queue ! appsink name=video \
    audiotestsrc wave=silence is-live=true ! audio/x-raw,format=F32LE,rate=16000,channels=1 ! queue ! appsink name=audio";

/// Processor seconds of every thread by its name; those that begin and end in between are in none.
fn times(id: u32) -> Result<BTreeMap<String, f64>> {
    let mut found = BTreeMap::new();
    for task in fs::read_dir(format!("/proc/{id}/task")).context("engram is gone")? {
        let Ok(text) = fs::read_to_string(task?.path().join("stat")) else { continue };
        let (name, numbers) =
            text.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") ")).context("a line of stat")?;
        // After the name: state, then eleven numbers, then user and system time.
        let spent: f64 = numbers.split(' ').skip(11).take(2).filter_map(|number| number.parse::<f64>().ok()).sum();
        *found.entry(name.to_owned()).or_default() += spent / TICKS_PER_S;
    }
    Ok(found)
}

/// Looks for `idle_s` seconds.
///
/// # Errors
/// If the program, or the broker, does not work at all.
pub fn run(arguments: &SoakArguments, bars: &mut Bars) -> Result<()> {
    let broker = Broker::start()?;
    let client = broker.client()?;
    let mut agent = as_service(Agent::builder(&broker, ROBOT))?
        .source("eye", NOTHING)
        .set("mqtt.health_interval_s", 10)
        .start(&client)?;
    client.subscribe(&format!("engram/{ROBOT}/health"))?;
    let report = until("encoders and the first segments", LOADING, || {
        let report = fresh_health(&agent, &client, |_| true)?;
        let loaded =
            report["models"].as_object().is_some_and(|all| all.values().all(|model| model["state"] != "loading"));
        let seen = report["sources"]["eye"]["segments"].as_u64() >= Some(SEGMENTS);
        Ok((loaded && seen && report["memory"]["pending_embeddings"] == 0).then_some(report))
    })?;
    let models =
        report["models"].as_object().into_iter().flatten().filter(|(_, model)| model["state"] == "ready").count();
    let id = agent.process().id();
    let (before, begin) = (times(id)?, Instant::now());
    let end = begin + Duration::from_secs(arguments.idle_s);
    until("the end of idling", Duration::from_secs(arguments.idle_s + 60), || {
        Ok((Instant::now() >= end).then_some(()))
    })?;
    let (after, took) = (times(id)?, begin.elapsed().as_secs_f64());
    let mut spent: Vec<(String, f64)> = after
        .into_iter()
        .map(|(name, seconds)| {
            let part = (seconds - before.get(&name).copied().unwrap_or(0.0)) / took;
            (name, part)
        })
        .collect();
    spent.sort_by(|one, other| other.1.total_cmp(&one.1));
    let all: f64 = spent.iter().map(|(_, part)| part).sum();
    println!("idle: {took:.0} s with {models} models; by thread:");
    for (name, part) in spent.iter().filter(|(_, part)| *part >= 0.0005) {
        println!("        {name}: {:.2} %", part * 100.0);
    }
    bars.check("idle, of one core (at most 8 %)", &format!("{:.2} %", all * 100.0), all <= MOST);
    agent.stop()
}
