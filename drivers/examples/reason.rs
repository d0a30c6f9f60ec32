//! A played memory in process that is asked in the contract's own JSON, and may look at its recordings again; `tests/score-looking` and
//! `tests/score-offline` drive it in the place of memory-core's example `answer`.
//!
//! A request has `ask`, and may have `looking`: `{"steps": N, "deadline_s": S, "without": [tools, "focus", "results"], "pictures": N,
//! "controller": "policy" | "in turn" | "windows", "windows": [[from, to], …], "write_back": true}`. Without it the memory alone answers.
//! "in turn" takes one tool after the other from the begin of the recording to its end; "windows" knows where the answer is, and so shows what tools
//! can add at most. The recordings are the files that the memory names.
//!
//! Looks are kept, with the time they took, so that one process compares many ways of choosing them: `elapsed_ms` counts a kept look as
//! what it took at first.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that answers on standard output"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use drivers::archive::RecordingPart;
use drivers::encoders::{EncoderOptions, Encoders};
use drivers::looking::{Labels, Looking, Recordings};
use drivers::models::{Catalogue, InstalledModels};
use drivers::perception::Pace;
use memory_core::reasoning::{
    Controller, Decision, Effort, Look, LookError, LookOrder, LoopAblation, Reach, ReasoningOptions, Situation,
    StepNews, Tool, Tools, Watch, is_worth_looking,
};
use memory_core::store::DirStorage;
use memory_core::{Answer, ManualClock, Memory, MemoryOptions, Observation, Query, StreamSpan, Timestamp};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

struct Files;

impl Recordings for Files {
    fn stretches(&self, media: &str, stream: StreamSpan) -> Vec<RecordingPart> {
        let path = PathBuf::from(media.strip_prefix("file://").unwrap_or(media));
        let stretch = RecordingPart { path, begin: Duration::ZERO, from: stream.start, to: stream.end };
        stretch.path.is_file().then_some(stretch).into_iter().collect()
    }
}

struct Quiet;

impl Watch for Quiet {
    fn step(&self, _: &StepNews) {}
}

/// A kept look and what it took.
type KeptLook = (Result<Look, LookError>, Duration);

/// Tools whose looks are kept by everything that they depend on.
struct Keeping {
    tools: Looking,
    kept: Mutex<BTreeMap<String, KeptLook>>,
    /// What kept looks of the present question took at first.
    saved: Mutex<Duration>,
    /// Time in tools for the present question, by tool.
    spent: Mutex<BTreeMap<&'static str, Duration>>,
}

impl Tools for Keeping {
    fn reach(&self, tool: Tool) -> Reach {
        self.tools.reach(tool)
    }

    fn look(&self, order: &LookOrder<'_>) -> Result<Look, LookError> {
        let of_question = (order.asked, order.things, order.places);
        let key = format!("{:?} {} {:?} {} {of_question:?}", order.tool, order.media, order.stream, order.pictures);
        let known = locked(&self.kept).get(&key).cloned();
        let (look, took) = match known {
            Some((look, took)) => {
                *locked(&self.saved) += took;
                (look, took)
            }
            None => {
                let begin = Instant::now();
                let look = self.tools.look(order);
                let took = begin.elapsed();
                locked(&self.kept).insert(key, (look.clone(), took));
                (look, took)
            }
        };
        *locked(&self.spent).entry(order.tool.name()).or_default() += took;
        look
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Among the looks that are worth it the cheapest tool first, from the begin of the recording to its end.
struct InTurn;

impl Controller for InTurn {
    fn choose(&self, situation: &Situation<'_>) -> Result<Decision, String> {
        let first = situation.looks.iter().enumerate().min_by_key(|(_, look)| (look.tool, look.span.start));
        first
            .map(|(place, _)| Decision::Look { place, aim: "its turn".to_owned() })
            .ok_or("nothing to look at".to_owned())
    }
}

/// Looks where the answer is known to be, as long as a look is left there.
struct Windows {
    windows: Vec<(f64, f64)>,
    /// When the recording began.
    begin: Timestamp,
}

impl Controller for Windows {
    fn choose(&self, situation: &Situation<'_>) -> Result<Decision, String> {
        let second = |at: Timestamp| at.since(self.begin).as_secs_f64();
        let inside = |look: &memory_core::reasoning::PossibleLook| {
            self.windows.iter().any(|(from, to)| second(look.span.start) < *to && *from < second(look.span.end))
        };
        match situation.looks.iter().position(inside) {
            Some(place) => Ok(Decision::Look { place, aim: "it is there".to_owned() }),
            None if situation.past.is_empty() => Ok(Decision::Look { place: 0, aim: "nothing is there".to_owned() }),
            None => Ok(Decision::Stop),
        }
    }
}

/// How a question is looked for.
struct How {
    options: ReasoningOptions,
    controller: Option<Box<dyn Controller>>,
    write_back: bool,
}

fn how(looking: &Value, begin: Timestamp) -> How {
    let usual = ReasoningOptions::default();
    let names: Vec<&str> = looking["without"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let count = |name: &str| looking[name].as_u64().and_then(|count| usize::try_from(count).ok());
    let ablation = LoopAblation {
        without_tools: Tool::ALL.into_iter().filter(|tool| names.contains(&tool.name())).collect(),
        without_focus: names.contains(&"focus"),
        without_results: names.contains(&"results"),
        localiser_pictures: count("pictures"),
    };
    let deadline = Duration::from_secs_f64(looking["deadline_s"].as_f64().unwrap_or(600.0));
    let pair = |pair: &Value| Some((pair[0].as_f64()?, pair[1].as_f64()?));
    let windows = looking["windows"].as_array().into_iter().flatten().filter_map(pair).collect();
    let controller: Option<Box<dyn Controller>> = match looking["controller"].as_str() {
        Some("in turn") => Some(Box::new(InTurn)),
        Some("windows") => Some(Box::new(Windows { windows, begin })),
        _ => None,
    };
    let options = ReasoningOptions { steps: count("steps").unwrap_or(usual.steps), deadline, ablation, ..usual };
    How { options, controller, write_back: looking["write_back"] == true }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| arguments.iter().position(|one| one == name).and_then(|at| arguments.get(at + 1));
    let store = after("--memory").ok_or("reason --memory STORE [--trace]")?;
    let trace = arguments.iter().any(|one| one == "--trace");
    let models = InstalledModels::new(Catalogue::load(None)?, None, None);
    let labels = Labels::from_models(&models);
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
    let events = memory.events(None, usize::MAX)?;
    let begin = events.iter().filter_map(|event| Some(event.span.start.saturating_sub(event.stream?.start))).min();
    let begin = begin.unwrap_or_else(|| jiff::Timestamp::now().into());
    if let Some(last) = events.iter().map(|event| event.span.end).max() {
        wall.set_wall(last);
    }
    let tools = Keeping {
        tools: Looking::new(encoders, labels, Arc::new(Files), Pace::default()),
        kept: Mutex::default(),
        saved: Mutex::default(),
        spent: Mutex::default(),
    };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let reply = match read(&request["ask"], trace) {
            Some(query) => {
                settle(&memory)?;
                asked(&memory, &query, &request["looking"], begin, &tools)?
            }
            None => json!({"error": {"code": "bad_request", "message": "only `ask`"}}),
        };
        writeln!(out, "{reply}")?;
        out.flush()?;
    }
    Ok(())
}

fn asked(memory: &Memory, query: &Query, looking: &Value, begin: Timestamp, tools: &Keeping) -> Result<Value, Failure> {
    *locked(&tools.saved) = Duration::ZERO;
    locked(&tools.spent).clear();
    let started = Instant::now();
    let mut answer = memory.ask(query)?;
    let (mut steps, mut stopped) = (0, "");
    if looking.is_object() && is_worth_looking(&answer, Effort::Thorough, 0.0) {
        let how = how(looking, begin);
        let reasoned = memory.reason(query, tools, &how.options, how.controller.as_deref(), &Quiet)?;
        (steps, stopped) = (reasoned.steps, reasoned.stopped.name());
        if how.write_back {
            let findings = reasoned.findings();
            memory.observe(findings.into_iter().map(Observation::Looked).collect())?;
        }
        answer = reasoned.answer;
    }
    let took = started.elapsed() + *locked(&tools.saved);
    let spent: BTreeMap<&str, f64> =
        locked(&tools.spent).iter().map(|(tool, spent)| (*tool, spent.as_secs_f64() * 1e3)).collect();
    Ok(rendered(&answer, took, json!({"steps": steps, "stopped": stopped, "tools_ms": spent})))
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

fn rendered(answer: &Answer, took: Duration, looked: Value) -> Value {
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
        "degraded": answer.degraded, "trace": answer.trace, "looked": looked,
        "elapsed_ms": {"total": took.as_secs_f64() * 1e3},
    })
}
