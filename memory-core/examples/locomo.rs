//! Evidence recall on the LoCoMo conversations, in process: what `tests/score locomo` measures over MQTT, in seconds.
//!
//! `cargo run --release -p memory-core --example locomo -- [--vectors FILE] [--rows]
//! [--fusion OWN,CONTEXT,DENSE,ENTITY,NEAR]`

#![allow(missing_docs, clippy::print_stdout, reason = "a program that prints a table")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "counts of questions, unit vectors")]

mod offline;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use memory_core::index::{Fusion, IndexOptions};
use memory_core::{
    Attributes, EpisodeId, Event, EventId, Kind, Modality, Origin, Query, Route, TimeSpan, Timestamp, Value, recall,
};
use offline::{Offline, VectorFile, shared};

const DEPTHS: [usize; 5] = [1, 5, 10, 20, 50];

#[derive(serde::Deserialize)]
struct Observation {
    id: String,
    text: String,
    at: String,
    until: String,
    source: String,
    entity: String,
    attributes: serde_json::Map<String, serde_json::Value>,
}

#[derive(serde::Deserialize)]
struct Asked {
    id: String,
    category_name: Option<String>,
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
}

#[derive(serde::Deserialize)]
struct Questions {
    questions: Vec<Asked>,
    adversarial: Vec<Asked>,
}

fn event(place: usize, observation: Observation) -> Result<Event, Box<dyn std::error::Error>> {
    let attributes: Attributes =
        observation.attributes.into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    let start = Timestamp::parse(&observation.at)?;
    Ok(Event {
        id: EventId(place as u64),
        episode: EpisodeId(0),
        origin: Origin::Told,
        sender_id: Some(observation.id),
        kind: Kind::Text,
        modality: Modality::Audio,
        text: observation.text,
        span: TimeSpan::new(start, Timestamp::parse(&observation.until)?),
        stream: None,
        source: observation.source,
        entity: Some(observation.entity),
        attributes,
        confidence: 1.0,
        media: None,
        received: start,
    })
}

#[derive(Default)]
struct Tally {
    count: usize,
    recalled: [f64; DEPTHS.len()],
    declined: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rows = arguments.iter().any(|argument| argument == "--rows");
    let value =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let mut options = IndexOptions::default();
    if let Some(weights) = value("--fusion") {
        let weights: Vec<f32> = weights.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let [own, context, dense, entity, near] = weights[..] else { return Err("--fusion takes five numbers".into()) };
        options.fusion = Fusion { own, context, dense, entity, near };
    }
    let embedder = value("--vectors").map(|path| VectorFile::read(&PathBuf::from(path))).transpose()?.map(Arc::new);

    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let (mut times, mut adversarial, mut declined) = (Vec::new(), 0, 0);
    let mut folders: Vec<PathBuf> = std::fs::read_dir(shared().join("bench/locomo/dev"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    folders.sort();
    for folder in folders {
        let lines = std::fs::read_to_string(folder.join("observations.jsonl"))?;
        let events = lines.lines().enumerate().map(|(place, line)| event(place, serde_json::from_str(line)?));
        let memory = Offline::new(events.collect::<Result<_, _>>()?, embedder.clone(), options);
        let asked: Questions = serde_json::from_str(&std::fs::read_to_string(folder.join("questions.json"))?)?;
        for one in &asked.questions {
            let query = Query { question: one.question.clone(), top_k: 50, trace: rows, ..Query::default() };
            let started = Instant::now();
            let answer = recall::answer(&query, &memory)?;
            times.push(started.elapsed());
            let ids: Vec<&String> = answer.evidence.iter().flat_map(|item| &item.observations).collect();
            let recalled = DEPTHS.map(|depth| {
                let held = one.evidence.iter().filter(|gold| ids.iter().take(depth).any(|id| id == gold)).count();
                held as f64 / one.evidence.len() as f64
            });
            for name in [one.category_name.as_deref().unwrap_or("other"), "~all"] {
                let tally = tallies.entry(name.to_string()).or_default();
                tally.count += 1;
                tally.declined += usize::from(answer.route == Route::None);
                for (sum, recalled) in tally.recalled.iter_mut().zip(recalled) {
                    *sum += recalled;
                }
            }
            if rows {
                println!(
                    "{}\t{:.3}\t{}\t{:?}\t{}\t{:?}\t{:?}",
                    one.id, answer.confidence, recalled[0], answer.route, one.question, answer.answer, answer.trace
                );
            }
        }
        for one in &asked.adversarial {
            let answer = recall::answer(&Query { question: one.question.clone(), ..Query::default() }, &memory)?;
            adversarial += 1;
            declined += usize::from(answer.route == Route::None);
            if rows {
                println!("{}\t{:.3}\tADV\t{:?}\t{}", one.id, answer.confidence, answer.route, one.question);
            }
        }
        println!("{}: {} of {} events embedded", folder.display(), memory.embedded(), lines.lines().count());
    }
    println!("{:12} {:>5} {}  declined", "", "n", DEPTHS.map(|depth| format!("{:>6}", format!("R@{depth}"))).join(" "));
    for (name, tally) in &tallies {
        let shares = tally.recalled.map(|sum| format!("{:6.3}", sum / tally.count as f64)).join(" ");
        println!("{name:12} {:5} {shares}  {:.3}", tally.count, tally.declined as f64 / tally.count as f64);
    }
    times.sort();
    println!("adversarial: {declined} of {adversarial} declined");
    println!("p50 {:?}  p95 {:?}", times[times.len() / 2], times[times.len() * 95 / 100]);
    Ok(())
}
