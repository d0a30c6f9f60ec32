//! The subtitle stream inside a file.
//!
//! Subtitles are sparse, so the pipeline that decodes the pictures would block if it waited for the next one. A second pipeline
//! reads them. It only demultiplexes the container, and runs a little ahead of the first. The packets of the other streams
//! show how far it has come, so it is certain that no subtitle is missing.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;
use parking_lot::{Condvar, Mutex};

use super::subtitles::{Cue, plain};
use crate::pipeline::CaptureError;
use crate::pipeline::{chain, make};

/// How far behind its pictures a container may store a subtitle.
const MAX_LAG: Duration = Duration::from_secs(5);
/// How far the reader may run ahead. This limits both memory and reading.
const MAX_AHEAD: Duration = Duration::from_secs(120);
/// Time without progress after which a track is given up.
const STALL_TIMEOUT: Duration = Duration::from_secs(10);
/// Length of a subtitle that has no duration.
const DEFAULT_LENGTH: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Progress {
    cues: Vec<Cue>,
    /// Stream time up to which the container was taken apart.
    reached: Duration,
    /// Stream time up to which the reader has come.
    consumed: Duration,
    finished: bool,
    stopping: bool,
}

#[derive(Default)]
struct TextStream {
    progress: Mutex<Progress>,
    changed: Condvar,
    has_text: AtomicBool,
}

/// Reads the first subtitle stream of a file.
pub(super) struct TextTrack {
    pipeline: gst::Pipeline,
    track: Arc<TextStream>,
}

impl TextTrack {
    pub(super) fn open(path: &Path) -> Result<Self, CaptureError> {
        let broke = |error: &dyn std::fmt::Display| CaptureError::Broke {
            what: format!("the subtitle stream of {}", path.display()),
            reason: error.to_string(),
        };
        let pipeline = gst::Pipeline::new();
        let (source, decode) = (make("filesrc")?, make("decodebin")?);
        source.set_property("location", path);
        chain(pipeline.upcast_ref(), &[&source, &decode]).map_err(|error| broke(&error))?;

        let track = Arc::new(TextStream::default());
        decode.connect("autoplug-continue", false, |values| {
            let left_packed =
                crate::pipeline::demuxed(values).is_some_and(|media| crate::pipeline::is_audio_or_video(&media));
            Some((!left_packed).to_value())
        });
        let (weak, sink_track) = (pipeline.downgrade(), Arc::clone(&track));
        decode.connect_pad_added(move |_, pad| {
            if let Some(pipeline) = weak.upgrade()
                && let Err(error) = attach(&pipeline, pad, &sink_track)
            {
                tracing::debug!(%error, "a stream beside the subtitles is left out");
            }
        });
        pipeline.set_state(gst::State::Playing).map_err(|error| broke(&error))?;
        Ok(Self { pipeline, track })
    }

    /// Takes every cue that begins at or before `stream`, in order; waits until none of them can be missing.
    pub(super) fn until(&self, stream: Duration, mut stop: impl FnMut() -> bool) -> Vec<Cue> {
        let mut last = (Duration::ZERO, Instant::now());
        loop {
            self.poll_bus();
            let mut progress = self.track.progress.lock();
            progress.consumed = progress.consumed.max(stream);
            self.track.changed.notify_all();
            if progress.finished || progress.reached >= stream + MAX_LAG || stop() {
                let split = progress.cues.partition_point(|cue| cue.start <= stream);
                return progress.cues.drain(..split).collect();
            }
            if progress.reached > last.0 {
                last = (progress.reached, Instant::now());
            } else if last.1.elapsed() > STALL_TIMEOUT {
                tracing::warn!("the subtitle stream makes no progress and is ignored");
                progress.finished = true;
                continue;
            }
            self.track.changed.wait_for(&mut progress, Duration::from_millis(50));
        }
    }

    fn poll_bus(&self) {
        let Some(bus) = self.pipeline.bus() else { return };
        while let Some(message) = bus.pop() {
            match message.view() {
                gst::MessageView::Eos(_) => self.track.progress.lock().finished = true,
                gst::MessageView::Error(error) => {
                    // What is wrong with the file itself, the main pipeline says.
                    tracing::debug!(error = %error.error(), "the subtitle stream ends early");
                    self.track.progress.lock().finished = true;
                }
                _ => {}
            }
        }
    }
}

impl Drop for TextTrack {
    fn drop(&mut self) {
        self.track.progress.lock().stopping = true;
        self.track.changed.notify_all();
        crate::pipeline::shut_down(&self.pipeline);
    }
}

fn attach(pipeline: &gst::Pipeline, pad: &gst::Pad, track: &Arc<TextStream>) -> Result<(), Box<dyn std::error::Error>> {
    let caps = pad.current_caps().unwrap_or_else(|| pad.query_caps(None));
    let is_text = caps.structure(0).is_some_and(|structure| structure.name() == "text/x-raw");
    let sink = if is_text && !track.has_text.swap(true, Ordering::SeqCst) {
        let track = Arc::clone(track);
        gst_app::AppSink::builder()
            .sync(false)
            .async_(false)
            .enable_last_sample(false)
            .callbacks(
                gst_app::AppSinkCallbacks::builder()
                    .new_sample(move |sink| {
                        let sample = sink.pull_sample().map_err(|_| gst::FlowError::Eos)?;
                        if let Some(cue) = cue(&sample) {
                            let mut progress = track.progress.lock();
                            let place = progress.cues.partition_point(|other| other.start <= cue.start);
                            progress.cues.insert(place, cue);
                        }
                        Ok(gst::FlowSuccess::Ok)
                    })
                    .build(),
            )
            .build()
            .upcast::<gst::Element>()
    } else {
        let sink = make("fakesink")?;
        sink.set_property("sync", false);
        sink.set_property("async", false);
        sink
    };
    pipeline.add(&sink)?;
    sink.sync_state_with_parent()?;
    if !is_text {
        let track = Arc::clone(track);
        let segment = Mutex::new(None::<gst::FormattedSegment<gst::ClockTime>>);
        let mask = gst::PadProbeType::BUFFER | gst::PadProbeType::EVENT_DOWNSTREAM;
        pad.add_probe(mask, move |_, info| {
            match &info.data {
                Some(gst::PadProbeData::Event(event)) => {
                    if let gst::EventView::Segment(event) = event.view() {
                        *segment.lock() = event.segment().downcast_ref().cloned();
                    }
                }
                Some(gst::PadProbeData::Buffer(buffer)) => {
                    // The decoding time grows with the place in the file; the presentation time jumps back and forth.
                    let at = segment.lock().as_ref().and_then(|segment| segment.to_running_time(buffer.dts_or_pts()));
                    if let Some(at) = at {
                        track.reached(Duration::from_nanos(at.nseconds()));
                    }
                }
                _ => {}
            }
            gst::PadProbeReturn::Ok
        });
    }
    pad.link(&sink.static_pad("sink").ok_or("a sink has a sink pad")?)?;
    Ok(())
}

impl TextStream {
    fn reached(&self, at: Duration) {
        let mut progress = self.progress.lock();
        if at > progress.reached {
            progress.reached = at;
            self.changed.notify_all();
        }
        while at > progress.consumed + MAX_AHEAD && !progress.stopping {
            self.changed.wait(&mut progress);
        }
    }
}

fn cue(sample: &gst::Sample) -> Option<Cue> {
    let buffer = sample.buffer()?;
    let segment = sample.segment()?.downcast_ref::<gst::ClockTime>()?;
    let start = Duration::from_nanos(segment.to_running_time(buffer.pts())?.nseconds());
    let length = buffer.duration().map_or(DEFAULT_LENGTH, |length| Duration::from_nanos(length.nseconds()));
    let map = buffer.map_readable().ok()?;
    let text = plain(String::from_utf8_lossy(&map).trim_end_matches('\0'));
    (!text.is_empty()).then_some(Cue { start, end: start + length, text })
}
