//! File sources: pulled as fast as the consumer accepts them, without drops.
//!
//! The pipeline decodes into two short queues (those of the appsinks) and blocks when they are full. The worker reads them in
//! order of stream time. At `real` speed it waits for the clock before each delivery. So at either speed the consumer gets
//! the same calls with the same arguments.

mod bus;
mod pipeline;
mod player;

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;
use memory_core::Timestamp;
use parking_lot::Mutex;

use super::delivery::Delivery;
use super::spec::{FileSource, SourceSpec, Subtitles};
use super::status::SourceShared;
use super::subtitles::{self, Cue};
use super::text_track::TextTrack;
use crate::pipeline::CaptureError;
use crate::pipeline::Running;
use bus::BusReader;
use pipeline::{FoundStreams, build, demuxer_stopped};
use player::{CueSource, FileStream, Player};

/// How one playing of a file ended.
pub(super) enum Played {
    /// A stop was asked for.
    Stopped,
    /// The file was played to its end: its begin, and its length.
    Finished { start: Timestamp, length: Duration },
}

/// Time without output after which the decoder of a file counts as stuck. A network drive may be slow.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a demuxer that stopped before its streams were known is waited for. They may be on their way.
const UNKNOWN_STREAMS_TIMEOUT: Duration = Duration::from_secs(3);

/// Plays a file once. `start` is the wall-clock time of its first moment, if that is known already.
pub(super) fn play(
    spec: &SourceSpec,
    file: &FileSource,
    start: Option<Timestamp>,
    shared: &Arc<SourceShared>,
    delivery: &mut Delivery<'_>,
) -> Result<Played, CaptureError> {
    readable(&file.path)?;
    let sidecar = cues_beside(file)?;
    let found = Arc::new(Mutex::new(FoundStreams::default()));
    let pipeline = Running(build(spec, file, &found, shared)?);
    let mut bus = BusReader::new(&pipeline.0, &file.path);
    let failed = |reason: &dyn std::fmt::Display| CaptureError::Broke {
        what: file.path.display().to_string(),
        reason: reason.to_string(),
    };
    if let Err(error) = pipeline.0.set_state(gst::State::Playing) {
        bus.drain(shared);
        return Err(bus.error.take().unwrap_or_else(|| failed(&error)));
    }

    let began = Instant::now();
    let mut stopped: Option<Instant> = None;
    loop {
        bus.drain(shared);
        if shared.stop_wanted() {
            return Ok(Played::Stopped);
        }
        if found.lock().complete {
            break;
        }
        if let Some(error) = bus.error.take() {
            return Err(error);
        }
        // `decodebin` loses the error of a demuxer that fails just while it is being plugged, and would wait for ever.
        if !demuxer_stopped(&pipeline.0) {
            stopped = None;
        } else if stopped.get_or_insert_with(Instant::now).elapsed() > UNKNOWN_STREAMS_TIMEOUT {
            return Err(CaptureError::NotMedia {
                path: file.path.clone(),
                reason: "its container is damaged or incomplete".into(),
            });
        }
        if began.elapsed() > STALL_TIMEOUT {
            return Err(stuck_error(file, "picture or sound", STALL_TIMEOUT));
        }
        shared.wait(Duration::from_millis(20), || false);
    }
    let (video, audio, text) = {
        let found = found.lock();
        (found.video.clone(), found.audio.clone(), found.text)
    };
    if video.is_none() && audio.is_none() {
        return Err(bus.error.take().unwrap_or_else(|| CaptureError::NotMedia {
            path: file.path.clone(),
            reason: "it has neither a video nor an audio stream".into(),
        }));
    }
    shared.expect(video.is_some());
    let cues = match sidecar {
        Some(list) => CueSource::List(list.into()),
        None if text && file.subtitles == Subtitles::Auto => CueSource::Track(TextTrack::open(&file.path)?),
        None => CueSource::List(VecDeque::new()),
    };
    let streams = [video, audio].map(|sink| {
        sink.map(|sink| FileStream { sink, head: None, finished: false, waiting_since: None, expected: Duration::ZERO })
    });
    let mut player =
        Player { spec, file, shared, delivery, bus, found, streams, cues, started: start, origin: Duration::ZERO };
    player.run(&pipeline.0)
}

fn readable(path: &Path) -> Result<(), CaptureError> {
    let fail = |reason: String| CaptureError::Unreadable { path: path.to_path_buf(), reason };
    let file = std::fs::File::open(path).map_err(|error| fail(error.to_string()))?;
    let metadata = file.metadata().map_err(|error| fail(error.to_string()))?;
    if metadata.is_dir() {
        return Err(fail("it is a folder".into()));
    }
    if metadata.len() == 0 {
        return Err(CaptureError::NotMedia { path: path.to_path_buf(), reason: "it is empty".into() });
    }
    Ok(())
}

/// Subtitles from a file of their own. One that is named must be usable; one that merely lies there need not.
fn cues_beside(file: &FileSource) -> Result<Option<Vec<Cue>>, CaptureError> {
    let Some(path) = subtitles::sidecar(&file.path, &file.subtitles) else { return Ok(None) };
    match subtitles::read(&path) {
        Ok(cues) => Ok(Some(cues)),
        Err(error) if matches!(file.subtitles, Subtitles::Path(_)) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "the subtitles beside the recording are not used");
            Ok(None)
        }
    }
}

fn stuck_error(file: &FileSource, media: &'static str, time: Duration) -> CaptureError {
    CaptureError::Hung { what: file.path.display().to_string(), media, seconds: time.into() }
}
