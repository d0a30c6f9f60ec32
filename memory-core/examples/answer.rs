//! A whole memory in process that is told and asked in the contract's own JSON, one line each way: what the benchmarks' scorers
//! measure over MQTT, without a broker, a daemon or a wait. `tests/score-offline` drives it.
//!
//! `cargo run --profile quick -p memory-core --example answer -- [--memory DIR] [--consolidate] [--vectors FILE [--embed COMMAND]] [--read COMMAND] [--without PART] [--trace]`
//!
//! A line of standard input is `{"observe": [OBSERVATION, …]}` or `{"ask": QUESTION}` (docs/mqtt.md), or `{"dump": {}}` for all
//! events; the reply is one line. Before a question is answered everything pending is learnt and embedded. Deadlines are not
//! kept and the clock stands still, so that the answers are the same on a busy machine.
//!
//! - `--consolidate`: consolidate what was perceived before the first question.
//! - `--without PART`: answer without `gist`, `detailed` or `decision` (`Ablation`), or consolidate without `ema`, to measure what
//!   that part gains (`tests/score-ablations`).
//! - `--memory DIR`: the store of an agent, to ask and to be changed: give a copy. Without it the memory is empty and not kept.
//! - `--vectors FILE`: φ of every text seen before. What it lacks is embedded by `COMMAND` (`embed serve FILE` of `drivers`), which
//!   adds it to the file; without a command it gets the zero vector, which is compared with nothing. Without a file: words only.
//! - `--read COMMAND`: the reader that extracts answers (`embed read` of `drivers`). Without it, only the rules answer.

#![allow(missing_docs, clippy::print_stdout, reason = "a program that answers on standard output")]

mod reading;
mod vectors;

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_core::store::{DirStorage, MemoryStorage, Storage};
use memory_core::{
    Ablation, Answer, Clock, ConsolidationOptions, Evidence, Kind, ManualClock, Memory, MemoryOptions, Observation,
    PlaceSpace, Query, Timestamp, Told,
};
use reading::ReadingProcess;
use serde_json::{Value, json};
use vectors::Vectors;

type Failure = Box<dyn std::error::Error>;

/// Events that one slice of a job takes.
const SLICE: usize = 4096;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let trace = arguments.iter().any(|argument| argument == "--trace");
    let clock = Arc::new(ManualClock::at(jiff::Timestamp::now().into()));
    let storage: Arc<dyn Storage> = match after("--memory") {
        Some(folder) => Arc::new(DirStorage::new(Path::new(folder))),
        None => Arc::new(MemoryStorage::new()),
    };
    let options = MemoryOptions {
        zone: jiff::tz::TimeZone::UTC,
        max_bytes: None,
        cache_bytes: 64 << 20,
        index: Default::default(),
    };
    let memory = Memory::open_in(storage, options, Arc::clone(&clock) as _)?;
    let enabled = arguments.iter().any(|argument| argument == "--consolidate");
    let without = after("--without");
    let refined = without != Some(&"ema".to_owned());
    memory.set_place_spaces(vec![PlaceSpace { space: "mobilenet-v1/avgpool/l2".into(), gamma: 0.82 }]);
    memory.set_consolidation(ConsolidationOptions { enabled, after: Duration::ZERO, refined });
    let ablation = ablation(without.map(String::as_str))?;
    if let Some(file) = after("--vectors") {
        let vectors = Vectors::open(&PathBuf::from(file), after("--embed").map(String::as_str))?;
        memory.set_text_embedder(Some(Arc::new(vectors)));
    }
    if let Some(command) = after("--read") {
        memory.set_answer_extractor(Some(Arc::new(ReadingProcess::start(command)?)));
    }
    // "Now" is when it last saw something: a recording may be years old.
    if let Some(last) = memory.events(None, usize::MAX)?.iter().map(|event| event.span.end).max() {
        clock.set_wall(last);
    }
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let reply = match (&request["observe"], &request["ask"], &request["dump"]) {
            (Value::Array(told), ..) => observe(&memory, &clock, told)?,
            (_, Value::Object(_), _) => {
                settle(&memory)?;
                // As the agent does: a question that fails is not the end of it.
                match catch_unwind(AssertUnwindSafe(|| ask(&memory, &request["ask"], ablation, trace))) {
                    Ok(Ok(reply)) => reply,
                    Ok(Err(error)) => json!({"error": {"code": "bad_request", "message": error.to_string()}}),
                    Err(_) => json!({"error": {"code": "internal", "message": "it panicked"}}),
                }
            }
            (.., Value::Object(_)) => dump(&memory)?,
            _ => return Err(format!("neither `observe` nor `ask` nor `dump`: {request}").into()),
        };
        writeln!(out, "{reply}")?;
        out.flush()?;
    }
    Ok(())
}

/// What recall is to do without.
fn ablation(without: Option<&str>) -> Result<Ablation, Failure> {
    let whole = Ablation::default();
    match without {
        None | Some("ema") => Ok(whole),
        Some("gist") => Ok(Ablation { without_gists: true, ..whole }),
        Some("detailed") => Ok(Ablation { without_details: true, ..whole }),
        Some("decision") => Ok(Ablation { without_reconciling: true, ..whole }),
        Some(other) => Err(format!("--without {other}: it is gist, detailed, decision or ema").into()),
    }
}

/// Does what the jobs of the agent do, to its end.
fn settle(memory: &Memory) -> Result<(), Failure> {
    while memory.consolidate_pending(SLICE)? > 0 {}
    while memory.learn_pending(SLICE)?.has_lessons() {}
    while memory.gists_pending(SLICE)? > 0 {}
    let mut left = u64::MAX;
    loop {
        let now = memory.embed_pending(SLICE)?.embeddings;
        if now == 0 || now >= left {
            // Without an embedder nothing becomes less.
            return Ok(());
        }
        left = now;
    }
}

fn observe(memory: &Memory, clock: &ManualClock, told: &[Value]) -> Result<Value, Failure> {
    let batch = told.iter().map(observation).collect::<Result<Vec<_>, Failure>>()?;
    // Nothing can be told of the future, and invented memories may lie there.
    let times = told.iter().filter_map(|one| time(one, "at").transpose());
    if let Some(last) = times.collect::<Result<Vec<_>, Failure>>()?.into_iter().max().filter(|last| *last > clock.now())
    {
        clock.set_wall(last);
    }
    let outcomes = memory.observe(batch)?;
    let count = |name: &str| outcomes.iter().filter(|outcome| format!("{outcome:?}").starts_with(name)).count();
    let rejected: Vec<String> =
        outcomes.iter().map(|outcome| format!("{outcome:?}")).filter(|said| said.starts_with("Rejected")).collect();
    Ok(
        json!({"accepted": count("Accepted") + count("Corrected"), "duplicates": count("Duplicate"), "rejected": rejected}),
    )
}

fn observation(value: &Value) -> Result<Observation, Failure> {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let kind = match value["kind"].as_str() {
        None => Kind::default(),
        Some(name) => Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| format!("kind {name}?"))?,
    };
    let attributes = value["attributes"].as_object().cloned().unwrap_or_default();
    #[allow(clippy::cast_possible_truncation, reason = "as the agent reads it")]
    Ok(Observation::Told(Told {
        id: text("id"),
        kind,
        text: text("text").or_else(|| text("entity")).ok_or("an observation without a text")?,
        at: time(value, "at")?,
        until: time(value, "until")?,
        source: text("source").unwrap_or_else(|| "observe".to_owned()),
        entity: text("entity"),
        attributes: attributes.into_iter().map(|(name, value)| (name, value.into())).collect(),
        confidence: value["confidence"].as_f64().map(|confidence| confidence as f32),
        redelivered: false,
        ..Told::default()
    }))
}

fn time(value: &Value, name: &str) -> Result<Option<Timestamp>, Failure> {
    Ok(value[name].as_str().map(Timestamp::parse).transpose()?)
}

fn ask(memory: &Memory, question: &Value, ablation: Ablation, trace: bool) -> Result<Value, Failure> {
    let options = question["options"].as_array().into_iter().flatten();
    let query = Query {
        question: question["question"].as_str().ok_or("a question without words")?.trim().to_owned(),
        options: options.filter_map(Value::as_str).map(str::to_owned).collect(),
        since: time(question, "since")?,
        until: time(question, "until")?,
        now: time(question, "now")?,
        top_k: question["top_k"].as_u64().map(usize::try_from).transpose()?.unwrap_or(Query::USUAL_EVIDENCE),
        budget: None,
        trace,
        ablation,
        ..Query::default()
    };
    let begin = Instant::now();
    if question["passages"] == true {
        let deliberation = memory.deliberate(&query)?;
        let mut reply = rendered(&deliberation.answer, begin.elapsed());
        reply["proposals"] = deliberation.proposals.iter().map(|one| one.text.as_str()).collect();
        reply["passages"] = deliberation.passages.iter().map(evidence).collect();
        return Ok(reply);
    }
    let answer = memory.ask(&query)?;
    Ok(rendered(&answer, begin.elapsed()))
}

/// The answer as the agent writes it. A field that `Answer` gains goes here too.
fn rendered(answer: &Answer, took: Duration) -> Value {
    json!({
        "answer": answer.answer, "choice": answer.choice, "confidence": rounded(answer.confidence), "route": answer.route, "reason": answer.reason,
        "intent": answer.intent, "modality": answer.modality,
        "evidence": answer.evidence.iter().map(evidence).collect::<Vec<_>>(),
        "degraded": answer.degraded, "trace": answer.trace, "elapsed_ms": {"total": took.as_secs_f64() * 1e3},
    })
}

fn evidence(one: &Evidence) -> Value {
    let zone = jiff::tz::TimeZone::UTC;
    json!({
        "episode": one.episode.to_string(), "start": one.span.start.format(&zone), "end": one.span.end.format(&zone),
        "stream_start_s": one.stream.map(|stream| stream.start.as_secs_f64()),
        "stream_end_s": one.stream.map(|stream| stream.end.as_secs_f64()),
        "modality": one.modality, "text": one.text, "score": rounded(one.score), "observations": one.observations,
        "event": one.event.to_string(), "kind": one.kind.name(), "entity": one.entity,
    })
}

fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1e4).round() / 1e4
}

/// What the memory holds, for a look at why an answer is as it is.
fn dump(memory: &Memory) -> Result<Value, Failure> {
    let zone = jiff::tz::TimeZone::UTC;
    let events = memory.events(None, usize::MAX)?;
    let events = events.iter().map(|event| {
        json!({
            "id": event.id.to_string(), "told": event.sender_id, "kind": event.kind.name(), "modality": event.modality,
            "text": event.text, "entity": event.entity, "start": event.span.start.format(&zone),
            "end": event.span.end.format(&zone), "confidence": event.confidence, "source": event.source,
        })
    });
    Ok(json!({"events": events.collect::<Vec<_>>()}))
}
