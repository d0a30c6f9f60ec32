//! Decodes a recording at full speed, prints its segments and, where the known cuts are given, how well they are met.
//!
//! ```text
//! cargo run --release -p drivers --example segments -- RECORDING [segments.json]
//! ```
//!
//! `segments.json` is that of the av benchmark: `segments[].start` are the known changes of place and
//! `segments[].in_clip_cuts` further cuts inside a place.
#![allow(clippy::print_stdout, reason = "a command line program")]

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use drivers::capture::{AudioBlock, Frame, MediaConsumer, SourceHandle, SourceSpec, Subtitle};
use memory_core::segment::{Luma, Segment, Segmenter, SegmenterConfig, boundary_f1};
use memory_core::{Boundary, SystemClock, Timestamp};

struct Cutter {
    segmenter: Segmenter,
    luma: Luma,
    segments: Arc<Mutex<Vec<Segment>>>,
}

impl MediaConsumer for Cutter {
    fn begin(&mut self, _: &str, _: Timestamp) {}

    fn frame(&mut self, frame: Frame<'_>) {
        if self.luma.assign_rgb(frame.width, frame.height, frame.rgb) {
            self.segmenter.push_luma(frame.stream, &self.luma);
        }
    }

    fn audio(&mut self, block: AudioBlock<'_>) {
        self.segmenter.push_audio(block.stream, block.samples);
    }

    fn subtitle(&mut self, _: Subtitle) {}

    fn end(&mut self, stream: Duration) {
        self.segmenter.finish(stream);
        self.segments.lock().expect("nobody panicked").extend(std::iter::from_fn(|| self.segmenter.poll()));
    }

    fn frame_interval(&self) -> Duration {
        self.segmenter.frame_interval()
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(recording) = arguments.next() else {
        println!("usage: segments RECORDING [segments.json]");
        return ExitCode::from(2);
    };
    let known = match arguments.next().map(|path| known_cuts(&path)).transpose() {
        Ok(known) => known,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    };
    for (name, config) in [
        ("default", SegmenterConfig::default()),
        ("live", SegmenterConfig::live()),
        ("paper", SegmenterConfig::paper()),
    ] {
        let segments = Arc::new(Mutex::new(Vec::new()));
        let cutter =
            Cutter { segmenter: Segmenter::new(config), luma: Luma::default(), segments: Arc::clone(&segments) };
        let began = Instant::now();
        let source = match SourceHandle::start(
            SourceSpec::file("recording", &recording),
            Box::new(cutter),
            Arc::new(SystemClock::new()),
        ) {
            Ok(source) => source,
            Err(error) => {
                println!("{error}");
                return ExitCode::FAILURE;
            }
        };
        source.wait_ended(None);
        let elapsed = began.elapsed();
        let status = source.status();
        source.stop();
        if let Some(error) = &status.error {
            println!("{error}");
        }
        let segments = segments.lock().expect("nobody panicked");
        println!(
            "{name}: {} segments of {:.1} s in {:.2} s ({:.1} x real time), {} pictures looked at, {} skipped",
            segments.len(),
            status.position.as_secs_f64(),
            elapsed.as_secs_f64(),
            status.position.as_secs_f64() / elapsed.as_secs_f64(),
            status.frames,
            status.frames_skipped,
        );
        match &known {
            Some(known) => report(&segments, known),
            None => {
                for Segment { start, end, boundary } in &*segments {
                    println!("  {:8.2} .. {:8.2}  {boundary:?}", start.as_secs_f64(), end.as_secs_f64());
                }
            }
        }
    }
    ExitCode::SUCCESS
}

/// Known cuts: changes of place, and those with the cuts inside a place.
struct Known {
    places: Vec<Duration>,
    cuts: Vec<Duration>,
}

fn known_cuts(path: &str) -> Result<Known, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    let segments = json["segments"].as_array().ok_or_else(|| format!("{path}: no `segments` in it"))?;
    let places: Vec<Duration> =
        segments.iter().skip(1).filter_map(|s| s["start"].as_f64()).map(Duration::from_secs_f64).collect();
    let inside = segments.iter().filter_map(|s| s["in_clip_cuts"].as_array()).flatten();
    let cuts = places.iter().copied().chain(inside.filter_map(|c| c.as_f64()).map(Duration::from_secs_f64)).collect();
    Ok(Known { places, cuts })
}

fn report(segments: &[Segment], known: &Known) {
    let ends = |changes_only: bool| -> Vec<Duration> {
        segments
            .iter()
            .filter(|s| s.boundary != Boundary::End && !(changes_only && s.boundary == Boundary::Length))
            .map(|s| s.end)
            .collect()
    };
    println!("  {:34} {:>6} {:>9} {:>9} {:>7}", "boundaries against", "within", "precision", "recall", "F1");
    for (predicted, changes_only) in [("changes", true), ("all", false)] {
        for (truth, cuts) in [("places", &known.places), ("places and cuts", &known.cuts)] {
            for tolerance in [0.5, 1.0] {
                let score = boundary_f1(&ends(changes_only), cuts, Duration::from_secs_f64(tolerance));
                println!(
                    "  {:34} {:>5}s {:>9.3} {:>9.3} {:>7.3}",
                    format!("{predicted} ({}) / {truth} ({})", score.predicted, score.known),
                    tolerance,
                    score.precision(),
                    score.recall(),
                    score.f1(),
                );
            }
        }
    }
}
