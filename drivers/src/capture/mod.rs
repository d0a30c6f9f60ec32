//! One GStreamer pipeline per source, its queues, its watchdog and its restarts.
//!
//! A source runs on threads of its own and feeds one [`MediaConsumer`] from one worker thread, in order of stream time.
//!
//! There are two kinds of source. A *live* source (camera, microphone, network, shared memory) never waits. Each wanted picture
//! and each block of sound is copied into a slot of a preallocated pool; when the consumer is slow, the oldest one is evicted
//! and counted. A *file* is pulled. Its decoder blocks until the consumer has taken the previous data, so nothing is lost, and
//! with the same file and start the consumer gets the same calls on any machine.
//!
//! Stream time is the pipeline's running time. The wall clock is read once, when a session begins; the wall-clock time of
//! everything in the session is that reading plus stream time, whatever the wall clock does meanwhile. If it jumps under a
//! live source, the session ends and the next one, on the same stream time, begins with the new wall clock. If a live source
//! stops for a while and continues, its consumer gets an end at the point where it stopped, and then the same session again.

mod board_memory;
mod delivery;
mod file;
mod live;
mod pipelines;
mod probe;
mod reach;
mod slots;
mod source;
mod spec;
mod status;
mod subtitles;
mod text_track;

use std::time::Duration;

use memory_core::Timestamp;

pub use crate::pipeline::{CaptureError, ElementReport, Seconds, plugins_report};
pub use probe::{ProbeReport, probe};
pub use source::SourceHandle;
pub use spec::{CameraFormat, FileSource, SourceKind, SourceSpec, Speed, Subtitles};
pub use status::{SourceState, SourceStatus};

/// A picture, packed RGB (3 bytes a pixel, no padding between rows). Valid only during the call.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Time since the capture session began.
    pub stream: Duration,
    /// Wall-clock time of the same moment.
    pub wall: Timestamp,
    /// Pixels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width * height * 3` bytes.
    pub rgb: &'a [u8],
}

/// Mono sound at 16 kHz.
#[derive(Debug, Clone, Copy)]
pub struct AudioBlock<'a> {
    /// Time of the first sample since the capture session began.
    pub stream: Duration,
    /// Wall-clock time of the first sample.
    pub wall: Timestamp,
    /// -1 to 1.
    pub samples: &'a [f32],
}

/// A subtitle of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtitle {
    /// Shown from, since the capture session began.
    pub start: Duration,
    /// Shown until.
    pub end: Duration,
    /// Wall-clock time of `start`.
    pub wall: Timestamp,
    /// Markup removed.
    pub text: String,
}

/// Takes what a source delivers. All calls of one source come from one thread, in order of stream time.
pub trait MediaConsumer: Send {
    /// A new capture session begins. `start` is the wall-clock time of stream time zero. The first media may come later than
    /// zero: after a pause a file goes on where it stood, and after a hole in its stream a live source, with the session it
    /// had.
    fn begin(&mut self, session: &str, start: Timestamp);
    /// A picture.
    fn frame(&mut self, frame: Frame<'_>);
    /// A block of sound.
    fn audio(&mut self, block: AudioBlock<'_>);
    /// A subtitle.
    fn subtitle(&mut self, subtitle: Subtitle);
    /// The session ended at `stream`, was paused or broke off; whatever is open must be closed and handed on.
    fn end(&mut self, stream: Duration);
    /// How often a picture is wanted now (1-10 a second); asked after every frame.
    fn frame_interval(&self) -> Duration;
}
