//! Prints what Engram perceives in a file: `cargo run --release -p drivers --example perceive FILE [--json]`.
//!
//! Capture, segmenter and encoders run as in the program; only the memory is missing.

#![allow(clippy::print_stdout, clippy::print_stderr)] // A bench command talks to a person.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use drivers::capture::{SourceHandle, SourceSpec};
use drivers::encoders::{EncoderOptions, Encoders};
use drivers::models::{Catalogue, InstalledModels};
use drivers::perception::{Perceiver, PerceiverConfig};
use memory_core::ports::{PerceptionSink, PortError};
use memory_core::segment::SegmenterConfig;
use memory_core::{Perceived, SystemClock, Timestamp};

/// Prints segments instead of remembering them.
struct Printer {
    json: bool,
}

impl PerceptionSink for Printer {
    fn perceived(&self, segment: Perceived) -> Result<Timestamp, PortError> {
        let seconds = |span: memory_core::StreamSpan| (span.start.as_secs_f64(), span.end.as_secs_f64());
        let (start, end) = seconds(segment.stream);
        if !self.json {
            println!("{start:7.2} - {end:7.2} s  {:?}", segment.boundary);
        }
        for event in &segment.events {
            let (from, until) = seconds(event.stream);
            if self.json {
                let row = serde_json::json!({
                    "segment": [start, end], "kind": event.kind, "text": event.text, "start": from, "end": until,
                    "confidence": event.confidence, "attributes": event.attributes.iter().map(|(name, value)| {
                        (name.clone(), serde_json::Value::from(value))
                    }).collect::<serde_json::Map<_, _>>(),
                });
                println!("{row}");
            } else {
                println!("    {from:7.2} - {until:7.2} s  {:.2}  {}", event.confidence, event.text);
            }
        }
        Ok(segment.end)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let Some(file) = arguments.iter().find(|argument| !argument.starts_with("--")) else {
        eprintln!("perceive FILE [--json]");
        return ExitCode::from(2);
    };
    let Ok(catalogue) = Catalogue::load(None) else { return ExitCode::FAILURE };
    // As in the program, a model that was added fills its role.
    let models = match InstalledModels::with_added(catalogue, None, None, &[]) {
        Ok(models) => models,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let Ok(encoders) = Encoders::load(models, EncoderOptions::default()) else {
        return ExitCode::FAILURE;
    };
    encoders.wait_ready();
    let config = PerceiverConfig::new("file", SegmenterConfig::default());
    let perceiver = Perceiver::new(config, encoders, Arc::new(Printer { json }));
    let counters = perceiver.counters();
    let begin = Instant::now();
    let source = SourceSpec::file("file", file);
    let handle = match SourceHandle::start(source, Box::new(perceiver), Arc::new(SystemClock::new())) {
        Ok(handle) => handle,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    handle.wait_ended(None);
    let (status, took) = (handle.status(), begin.elapsed().as_secs_f64());
    let length = status.position.as_secs_f64();
    eprintln!("{length:.1} s in {took:.1} s: {:.1} x real time; {:?}", length / took, counters.read());
    eprintln!("{status:?}");
    ExitCode::SUCCESS
}
