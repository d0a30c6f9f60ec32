//! A played memory in process that is asked in the contract's own JSON, and may look at its recordings again; `tests/score-offline` drives it
//! in the place of memory-core's example `answer`.
//!
//! `tests/score-offline av SESSION --memory STORE --answer target/release/examples/reason`, with `ENGRAM_EFFORT=thorough` or `fast` and
//! `ENGRAM_WRITE_BACK=1` to remember what was found, and `ENGRAM_STEPS=N` for another limit of steps. The recordings are the files that the memory names.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that answers on standard output"
)]

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::archive::Stretch;
use drivers::encoders::{EncoderOptions, Encoders};
use drivers::looking::{Labels, Looking, Recordings};
use drivers::models::{Catalogue, InstalledModels};
use drivers::perception::Pace;
use memory_core::reasoning::{Effort, ReasoningOptions, StepNews, Watch, is_worth_looking};
use memory_core::store::DirStorage;
use memory_core::{Answer, ManualClock, Memory, MemoryOptions, Observation, Query, StreamSpan, Timestamp};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

struct Files;

impl Recordings for Files {
    fn stretches(&self, media: &str, stream: StreamSpan) -> Vec<Stretch> {
        let path = PathBuf::from(media.strip_prefix("file://").unwrap_or(media));
        let stretch = Stretch { path, begin: Duration::ZERO, from: stream.start, to: stream.end };
        stretch.path.is_file().then_some(stretch).into_iter().collect()
    }
}

struct Quiet;

impl Watch for Quiet {
    fn step(&self, _: &StepNews) {}
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| arguments.iter().position(|one| one == name).and_then(|at| arguments.get(at + 1));
    let store = after("--memory").ok_or("reason --memory STORE [--trace]")?;
    let trace = arguments.iter().any(|one| one == "--trace");
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    let effort = match set("ENGRAM_EFFORT").as_str() {
        "thorough" => Effort::Thorough,
        "normal" => Effort::Normal,
        _ => Effort::Fast,
    };
    let write_back = !set("ENGRAM_WRITE_BACK").is_empty();
    let models = InstalledModels::new(Catalogue::load(None)?, None, None);
    let labels = Labels::of(&models);
    let places = models.catalogue().place_spaces();
    let encoders = Encoders::load(models, EncoderOptions::default())?;
    encoders.wait_ready();
    let wall = Arc::new(ManualClock::at(jiff::Timestamp::now().into()));
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 64 << 20,
        index: Default::default(),
    };
    let memory = Memory::open_in(Arc::new(DirStorage::new(Path::new(store))), options, Arc::clone(&wall) as _)?;
    memory.set_text_embedder(encoders.text_embedder());
    memory.set_picture_texts(encoders.picture_texts());
    memory.set_place_spaces(places);
    memory.set_absent_roles(encoders.absent_roles());
    if let Some(last) = memory.events(None, usize::MAX)?.iter().map(|event| event.span.end).max() {
        wall.set_wall(last);
    }
    let tools = Looking::new(encoders, labels, Arc::new(Files), Pace::default());
    let steps = set("ENGRAM_STEPS").parse().unwrap_or(ReasoningOptions::default().steps);
    let limits = ReasoningOptions { steps, deadline: Duration::from_secs(600), ..ReasoningOptions::default() };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let reply = match read(&request["ask"], trace) {
            Some(query) => {
                settle(&memory)?;
                let begin = Instant::now();
                let mut answer = memory.ask(&query)?;
                let mut steps = 0;
                if is_worth_looking(&answer, effort, limits.trigger) {
                    let reasoned = memory.reason(&query, &tools, &limits, &Quiet)?;
                    steps = reasoned.steps;
                    if write_back {
                        let findings = reasoned.findings();
                        memory.observe(findings.into_iter().map(Observation::Looked).collect())?;
                    }
                    answer = reasoned.answer;
                }
                rendered(&answer, begin.elapsed(), steps)
            }
            None => json!({"error": {"code": "bad_request", "message": "only `ask`"}}),
        };
        writeln!(out, "{reply}")?;
        out.flush()?;
    }
    Ok(())
}

fn settle(memory: &Memory) -> Result<(), Failure> {
    while memory.learn_pending(4096)?.has_lessons() {}
    let mut left = u64::MAX;
    loop {
        let now = memory.embed_pending(4096)?.embeddings;
        if now == 0 || now >= left {
            return Ok(());
        }
        left = now;
    }
}

fn read(ask: &Value, trace: bool) -> Option<Query> {
    let time = |name: &str| ask[name].as_str().and_then(|text| Timestamp::parse(text).ok());
    Some(Query {
        question: ask["question"].as_str()?.trim().to_owned(),
        options: ask["options"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        since: time("since"),
        until: time("until"),
        now: time("now"),
        top_k: ask["top_k"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(Query::USUAL_EVIDENCE),
        trace,
        ..Query::default()
    })
}

fn rendered(answer: &Answer, took: Duration, steps: usize) -> Value {
    let zone = jiff::tz::TimeZone::UTC;
    let evidence: Vec<Value> = answer
        .evidence
        .iter()
        .map(|one| {
            json!({
                "episode": one.episode.to_string(), "start": one.span.start.format(&zone), "end": one.span.end.format(&zone),
                "stream_start_s": one.stream.map(|stream| stream.start.as_secs_f64()),
                "stream_end_s": one.stream.map(|stream| stream.end.as_secs_f64()),
                "modality": one.modality, "text": one.text, "score": one.score, "observations": one.observations,
                "event": one.event.to_string(), "kind": one.kind.name(), "entity": one.entity,
            })
        })
        .collect();
    json!({
        "answer": answer.answer, "choice": answer.choice, "confidence": answer.confidence, "route": answer.route,
        "reason": answer.reason, "intent": answer.intent, "modality": answer.modality, "evidence": evidence,
        "degraded": answer.degraded, "trace": answer.trace, "steps": steps, "elapsed_ms": {"total": took.as_secs_f64() * 1e3},
    })
}
