//! Size and speed of the index, without building the program: what `engram bench index` measures.
//!
//! `cargo run --release -p memory-core --example index_speed -- [--vectors FILE] [--entries N[,N…]] [--queries N] [--no-scan]
//! [--picture FILE] [--processor-time]`
//!
//! With `--processor-time` the times are the thread's processor time: what a machine at rest would take, also where others work.

#![allow(missing_docs, clippy::print_stdout, clippy::print_stderr, reason = "a program that prints figures")]

#[allow(dead_code, reason = "only the file of vectors is used")]
mod offline;

use std::path::Path;

use std::time::Duration;

use memory_core::index::measure::{IndexPlan, IndexWorkload, SourceText, measure, picture};
use memory_core::ports::TextEmbedder;
use memory_core::{Clock, SystemClock, Timestamp};
use offline::{VectorFile, shared};

type Failure = Box<dyn std::error::Error>;

/// Texts and questions of the conversations, with vectors where the file has them.
fn workload(vectors: Option<&VectorFile>) -> Result<IndexWorkload, Failure> {
    let vector = |text: &str| -> Result<Option<Vec<f32>>, Failure> {
        let Some(vectors) = vectors else { return Ok(None) };
        let found = vectors.embed(&[text])?.pop();
        Ok(found.filter(|vector| vector.iter().any(|component| *component != 0.0)))
    };
    let (mut told, mut questions) = (Vec::new(), Vec::new());
    let mut folders: Vec<_> = std::fs::read_dir(shared().join("bench/locomo/dev"))?.collect::<Result<Vec<_>, _>>()?;
    folders.sort_by_key(std::fs::DirEntry::path);
    for folder in folders {
        for line in std::fs::read_to_string(folder.path().join("observations.jsonl"))?.lines() {
            let said: serde_json::Value = serde_json::from_str(line)?;
            let text = said["text"].as_str().unwrap_or_default().to_owned();
            let entity = said["entity"].as_str().map(str::to_owned);
            let passage = entity.as_ref().map_or_else(|| text.clone(), |entity| format!("{entity}: {text}"));
            told.push(SourceText { vector: vector(&passage)?, text, entity });
        }
        let asked: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(folder.path().join("questions.json"))?)?;
        for question in asked["questions"].as_array().into_iter().flatten() {
            let text = question["question"].as_str().unwrap_or_default().to_owned();
            questions.push(SourceText { vector: vector(&text)?, text, entity: None });
        }
    }
    if vectors.is_some() {
        // Texts with a picture are embedded together with its caption, which these are not.
        told.retain(|told| told.vector.is_some());
        questions.retain(|question| question.vector.is_some());
    }
    IndexWorkload::new(told, questions).ok_or_else(|| "no texts with vectors".into())
}

/// Processor time of this thread.
struct ProcessorClock;

impl Clock for ProcessorClock {
    fn now(&self) -> Timestamp {
        SystemClock::new().now()
    }

    fn monotonic(&self) -> Duration {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(spent.tv_sec.unsigned_abs(), u32::try_from(spent.tv_nsec).unwrap_or(0))
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let vectors = value("--vectors").map(|path| VectorFile::read(Path::new(path))).transpose()?;
    let workload = workload(vectors.as_ref())?;
    let queries = value("--queries").map_or(Ok(200), |count| count.parse())?;
    let scan = !arguments.iter().any(|argument| argument == "--no-scan");
    let processor = arguments.iter().any(|argument| argument == "--processor-time");
    let clock: Box<dyn Clock> = if processor { Box::new(ProcessorClock) } else { Box::new(SystemClock::new()) };
    let mut all = Vec::new();
    for entries in value("--entries").map_or("100000", String::as_str).split(',') {
        let plan = IndexPlan { entries: entries.parse()?, queries, scan };
        let figures = measure(&workload, plan, &*clock, &mut |step| eprintln!("{entries} entries: {step}"));
        println!("{}", figures.table());
        all.push(figures);
    }
    if let Some(path) = value("--picture") {
        std::fs::write(path, picture(&all))?;
    }
    Ok(())
}
