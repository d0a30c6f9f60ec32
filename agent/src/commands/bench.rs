//! `engram bench`.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::capture::{AudioBlock, Frame, MediaConsumer, SourceHandle, SourceSpec, SourceState, Subtitle};
use memory_core::segment::{BoundaryScore, Luma, Segment, Segmenter, SegmenterConfig, boundary_f1};
use memory_core::{Boundary, SystemClock, Timestamp};
use parking_lot::Mutex;
use serde_json::{Value as Json, json};

use crate::cli::{BenchCommand, GlobalArgs};
use crate::exit::{Exit, Failure};
use crate::output::{Output, progress};

/// Measures what was asked for.
///
/// # Errors
/// [`Exit::Source`] if the recording or its truth cannot be read.
pub fn run(command: &BenchCommand, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    match command {
        BenchCommand::Index(args) => super::bench_index::run(args, &loaded.config.models, output),
        BenchCommand::Poses(args) => super::bench_poses::run(args, output),
        BenchCommand::Procedures(args) => super::bench_procedures::run(args, &loaded.config.models, output),
        BenchCommand::Segments { dir, tolerance } => segments(dir, Duration::from_secs_f64(*tolerance), output),
    }
}

fn segments(dir: &Path, tolerance: Duration, output: Output) -> Result<Exit, Failure> {
    let truth_file = dir.join("segments.json");
    let unreadable = |message: String| Failure::new(Exit::Source, format!("{}: {message}", truth_file.display()));
    let text = std::fs::read_to_string(&truth_file).map_err(|error| unreadable(error.to_string()))?;
    let truth: Json = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    let video = truth["video"].as_str().ok_or_else(|| unreadable("names no `video`".into()))?;
    let known = known_boundaries(&truth).ok_or_else(|| unreadable("has no `segments` with `start`".into()))?;
    let recording = dir.join(video);

    let mut scores = Vec::new();
    for (mode, config) in [("file", SegmenterConfig::default()), ("live", SegmenterConfig::live())] {
        let begin = Instant::now();
        let found = segment(&recording, config, output)?;
        let elapsed = begin.elapsed();
        let inner = &found[..found.len().saturating_sub(1)];
        let all: Vec<Duration> = inner.iter().map(|segment| segment.end).collect();
        let cuts = inner.iter().filter(|segment| segment.boundary == Boundary::Visual);
        let cuts: Vec<Duration> = cuts.map(|segment| segment.end).collect();
        let played = found.last().map_or(Duration::ZERO, |segment| segment.end);
        scores.push((
            mode,
            boundary_f1(&all, &known, tolerance),
            boundary_f1(&cuts, &known, tolerance),
            played,
            elapsed,
        ));
    }
    if output.json {
        let modes: Vec<Json> = scores
            .iter()
            .map(|(mode, all, cuts, played, elapsed)| {
                json!({
                    "mode": mode, "all": figures(all), "visual": figures(cuts),
                    "seconds": played.as_secs_f64(), "times_real_time": played.as_secs_f64() / elapsed.as_secs_f64(),
                })
            })
            .collect();
        output.json(&json!({
            "recording": recording, "tolerance_s": tolerance.as_secs_f64(), "known": known.len(), "modes": modes,
        }));
        return Ok(Exit::Ok);
    }
    output.text(format!(
        "{}: {} known boundaries, tolerance {:.2} s",
        recording.display(),
        known.len(),
        tolerance.as_secs_f64()
    ));
    for (mode, all, cuts, played, elapsed) in scores {
        let speed = played.as_secs_f64() / elapsed.as_secs_f64();
        output.text(format!("  {mode}: {}  ({speed:.1} times real time)", words("all boundaries", &all)));
        output.text(format!("        {}", words("visual ones", &cuts)));
    }
    Ok(Exit::Ok)
}

fn known_boundaries(truth: &Json) -> Option<Vec<Duration>> {
    let starts = truth["segments"].as_array()?.iter().skip(1).map(|segment| segment["start"].as_f64());
    let jumps = truth["unlisted_jumps"].as_array().into_iter().flatten().map(Json::as_f64);
    let mut known: Vec<Duration> =
        starts.chain(jumps).map(|at| Duration::try_from_secs_f64(at?).ok()).collect::<Option<_>>()?;
    known.sort_unstable();
    Some(known)
}

fn figures(score: &BoundaryScore) -> Json {
    json!({
        "hits": score.hits, "predicted": score.predicted, "known": score.known,
        "precision": score.precision(), "recall": score.recall(), "f1": score.f1(),
    })
}

fn words(what: &str, score: &BoundaryScore) -> String {
    format!(
        "{what}: F1 {:.3}, precision {:.3}, recall {:.3} ({} of {} predicted meet {} known)",
        score.f1(),
        score.precision(),
        score.recall(),
        score.hits,
        score.predicted,
        score.known,
    )
}

/// The segments of a recording, found as fast as it decodes.
fn segment(recording: &Path, config: SegmenterConfig, output: Output) -> Result<Vec<Segment>, Failure> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let consumer =
        Segmenting { segmenter: Segmenter::new(config.clone()), config, luma: None, found: Arc::clone(&found) };
    let failed = |message: String| Failure::new(Exit::Source, message);
    let source =
        SourceHandle::start(SourceSpec::file("bench", recording), Box::new(consumer), Arc::new(SystemClock::new()))
            .map_err(|error| failed(error.to_string()))?;
    let bar = if output.json { indicatif::ProgressBar::hidden() } else { progress(None, "{spinner} {msg} {elapsed}") };
    while !source.wait_ended(Some(Duration::from_millis(200))) {
        bar.set_message(crate::when::stream(source.status().position));
        bar.tick();
    }
    bar.finish_and_clear();
    let status = source.status();
    source.stop();
    if status.state == SourceState::Failed {
        return Err(failed(status.error.unwrap_or_else(|| format!("{} cannot be played", recording.display()))));
    }
    let found = std::mem::take(&mut *found.lock());
    Ok(found)
}

struct Segmenting {
    config: SegmenterConfig,
    segmenter: Segmenter,
    luma: Option<Luma>,
    found: Arc<Mutex<Vec<Segment>>>,
}

impl Segmenting {
    fn collect(&mut self) {
        let mut found = self.found.lock();
        found.extend(std::iter::from_fn(|| self.segmenter.poll()));
    }
}

impl MediaConsumer for Segmenting {
    fn begin(&mut self, _session: &str, _start: Timestamp) {
        self.segmenter = Segmenter::new(self.config.clone());
    }

    fn frame(&mut self, frame: Frame<'_>) {
        let fits = match &mut self.luma {
            Some(luma) => luma.assign_rgb(frame.width, frame.height, frame.rgb),
            empty => {
                *empty = Luma::from_rgb(frame.width, frame.height, frame.rgb);
                empty.is_some()
            }
        };
        if let Some(luma) = self.luma.as_ref().filter(|_| fits) {
            self.segmenter.push_luma(frame.stream, luma);
        }
        self.collect();
    }

    fn audio(&mut self, block: AudioBlock<'_>) {
        self.segmenter.push_audio(block.stream, block.samples);
        self.collect();
    }

    fn subtitle(&mut self, _subtitle: Subtitle) {}

    fn end(&mut self, stream: Duration) {
        self.segmenter.finish(stream);
        self.collect();
    }

    fn frame_interval(&self) -> Duration {
        self.segmenter.frame_interval()
    }
}
