//! Prints what looking again sees in a file: `cargo run --release -p drivers --example look FILE SECONDS [WINDOW]`.
//!
//! Every tool looks at every window (10 s unless said otherwise). One JSON line per window and tool. `tests/calibrate-looking` fits from
//! this how likely a thing is there that a tool names.

#![allow(clippy::print_stdout, clippy::print_stderr)] // A bench command talks to a person.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::archive::RecordingPart;
use drivers::encoders::{EncoderOptions, Encoders};
use drivers::looking::{Labels, Looking, Recordings};
use drivers::models::{Catalogue, InstalledModels};
use drivers::perception::Pace;
use memory_core::StreamSpan;
use memory_core::reasoning::{LookOrder, SightingKind, Tool, Tools};

struct File(PathBuf);

impl Recordings for File {
    fn stretches(&self, _: &str, stream: StreamSpan) -> Vec<RecordingPart> {
        vec![RecordingPart { path: self.0.clone(), begin: Duration::ZERO, from: stream.start, to: stream.end }]
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(seconds)) = (arguments.next(), arguments.next().and_then(|text| text.parse::<f64>().ok()))
    else {
        eprintln!("look FILE SECONDS [WINDOW]");
        return ExitCode::from(2);
    };
    let window = arguments.next().and_then(|text| text.parse::<f64>().ok()).unwrap_or(10.0);
    let Ok(catalogue) = Catalogue::load(None) else { return ExitCode::FAILURE };
    let models = InstalledModels::new(catalogue, None, None);
    let labels = Labels::from_models(&models);
    let Ok(encoders) = Encoders::load(models, EncoderOptions::default()) else { return ExitCode::FAILURE };
    encoders.wait_ready();
    let looking = Looking::new(encoders, labels, Arc::new(File(PathBuf::from(file))), Pace::default());
    let mut from = 0.0;
    while from < seconds {
        let to = (from + window).min(seconds);
        let stream = StreamSpan { start: Duration::from_secs_f64(from), end: Duration::from_secs_f64(to) };
        for tool in Tool::ALL {
            let order = LookOrder {
                tool,
                question: "",
                media: "",
                stream,
                pictures: tool.pictures(stream.end - stream.start),
                asked: &[SightingKind::Face, SightingKind::Writing],
                things: &[],
                places: &[],
                ceiling_bytes: 64 << 20,
                budget: Duration::from_secs(600),
                cancelled: &|| false,
            };
            let begin = Instant::now();
            let look = match looking.look(&order) {
                Ok(look) => look,
                Err(error) => {
                    eprintln!("{from:.1} s, {}: {error}", tool.name());
                    continue;
                }
            };
            let sightings: Vec<serde_json::Value> = look
                .sightings
                .iter()
                .map(|seen| {
                    serde_json::json!({
                        "kind": seen.kind, "label": seen.label, "score": seen.score, "share": seen.share, "text": seen.text,
                        "from": seen.stream.start.as_secs_f64(), "to": seen.stream.end.as_secs_f64(),
                    })
                })
                .collect();
            println!(
                "{}",
                serde_json::json!({
                    "tool": tool, "from": from, "to": to, "took_s": begin.elapsed().as_secs_f64(), "pictures": look.pictures,
                    "bytes": look.bytes, "sightings": sightings,
                })
            );
        }
        from = to;
    }
    ExitCode::SUCCESS
}
