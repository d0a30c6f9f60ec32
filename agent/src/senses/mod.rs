//! The robot's senses: the configured sources, each with its perceiver.

pub mod encoders;

use std::sync::Arc;

use drivers::archive::{Archive, Recorder};
use drivers::capture::{SourceHandle, SourceKind, SourceSpec, SourceState, SourceStatus};
use drivers::encoders::Encoders;
use drivers::perception::{Media, Pace, Perceiver, PerceiverConfig, PerceptionCounters};
use memory_core::Clock;
use memory_core::ports::PerceptionSink;
use memory_core::segment::SegmenterConfig;

pub use crate::config::source_spec;

use crate::config::{SegmentsConfig, SourceConfig, Speed};
use crate::health::SourceHealth;
use crate::media::Places;

/// One running source.
#[derive(Clone)]
pub struct Source {
    name: String,
    is_file: bool,
    handle: Arc<SourceHandle>,
    counters: Arc<PerceptionCounters>,
    recorder: Option<Recorder>,
}

impl Source {
    /// Starts a source that feeds `sink`; with `paused`, nothing is opened before it is resumed. With an archive, a live
    /// source is recorded there. A live source follows `pace`; of a file nothing is left out.
    ///
    /// # Errors
    /// If its uri cannot be read or no thread can be made. A device that is away is no error: it is waited for.
    #[expect(clippy::too_many_arguments, reason = "everything that one source needs, and nothing to group it by")]
    pub fn start(
        name: &str,
        source: &SourceConfig,
        segments: &SegmentsConfig,
        encoders: Encoders,
        sink: Arc<dyn PerceptionSink>,
        clock: Arc<dyn Clock>,
        paused: bool,
        archive: Option<Arc<Archive>>,
        pace: Pace,
    ) -> Result<Self, String> {
        let spec = source_spec(name, source)?;
        let is_file = !spec.is_live();
        let mut config = PerceiverConfig::new(name, segmenter(segments, is_file && source.speed == Speed::Max));
        config.media = media(&spec, archive.is_some());
        if !is_file {
            config.pace = pace;
        }
        let recorder = archive.filter(|_| !is_file).map(|archive| Recorder::start(archive, name)).transpose();
        let recorder = recorder.map_err(|error| format!("the thread that records does not start: {error}"))?;
        let perceiver = Perceiver::new(config, encoders, sink);
        let counters = perceiver.counters();
        let handle = SourceHandle::start_with(spec, Box::new(perceiver), clock, paused, recorder.clone())
            .map_err(|error| error.to_string())?;
        Ok(Self { name: name.to_owned(), is_file, handle: Arc::new(handle), counters, recorder })
    }

    /// Its name in the configuration.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a file, which ends.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    /// Returns the status reported by capture.
    pub fn status(&self) -> SourceStatus {
        self.handle.status()
    }

    /// How long ago its thread ticked; `None` once it has nothing to do any more.
    pub fn silence(&self) -> Option<std::time::Duration> {
        self.status().silence
    }

    /// Whether a fault of the program ended it, so that starting it again may help.
    pub fn has_panicked(&self) -> bool {
        self.handle.has_panicked()
    }

    /// Whether nothing will come any more.
    pub fn is_over(&self) -> bool {
        matches!(self.status().state, SourceState::Ended | SourceState::Failed)
    }

    /// Waits until nothing will come any more; `false` if `patience` ends first.
    pub fn wait_over(&self, patience: std::time::Duration) -> bool {
        self.handle.wait_ended(Some(patience))
    }

    /// Pauses or resumes it; returns at once.
    pub fn pause(&self, paused: bool) {
        if paused {
            self.handle.pause();
        } else {
            self.handle.resume();
        }
    }

    /// Stops it and waits until its open segment was handed on.
    pub fn stop(&self) {
        self.handle.stop();
    }

    /// Returns the health of the source.
    pub fn health(&self) -> SourceHealth {
        let status = self.status();
        let counts = self.counters.read();
        let mut dropped: std::collections::BTreeMap<String, u64> =
            status.dropped.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
        for (reason, count) in &counts.lost {
            *dropped.entry(reason.replace(' ', "_")).or_default() += count;
        }
        let unrecorded = self.recorder.as_ref().map_or(0, Recorder::dropped);
        if unrecorded > 0 {
            dropped.insert("recording".to_owned(), unrecorded);
        }
        SourceHealth {
            state: status.state.name().to_owned(),
            // Nothing is late where nothing is awaited.
            frame_age_s: (status.state != SourceState::Ended)
                .then_some(status.age)
                .flatten()
                .map(|age| (age.as_secs_f64() * 1e3).round() / 1e3),
            fps: (status.fps * 10.0).round() / 10.0,
            sampled_fps: (status.sampled_fps * 10.0).round() / 10.0,
            restarts: status.restarts,
            gaps: status.gaps,
            dropped,
            segments: counts.segments,
            error: status.error.or(counts.last_error),
        }
    }
}

/// A file played as fast as it goes can look ahead for the best boundaries; a live source cannot, because its segments are
/// needed at once.
fn segmenter(segments: &SegmentsConfig, can_wait: bool) -> SegmenterConfig {
    let seconds = std::time::Duration::from_secs_f64;
    let base = if can_wait { SegmenterConfig::default() } else { SegmenterConfig::live() };
    SegmenterConfig {
        min_length: seconds(segments.min_s),
        max_length: seconds(segments.max_s),
        min_fps: segments.min_fps,
        max_fps: segments.max_fps,
        visual_threshold: segments.visual_threshold,
        silence_db: segments.silence_db,
        ..base
    }
}

/// Keeps in mind that the file of a source, if it is one, is a recording of this memory.
pub fn note_played(name: &str, source: &SourceConfig, places: &Places) {
    let Ok(SourceKind::File(file)) = source_spec(name, source).map(|spec| spec.kind) else { return };
    if let Err(error) = places.note_played(&file.path) {
        tracing::warn!(source = name, %error, "cannot record that this file is played; its events will have no link");
    }
}

fn media(spec: &SourceSpec, recorded: bool) -> Media {
    match &spec.kind {
        SourceKind::File(file) => {
            let path = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone());
            Media::Itself(format!("file://{}", path.display()))
        }
        _ if recorded => Media::Archive,
        _ => Media::None,
    }
}
