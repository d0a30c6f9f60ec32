//! Records one source: splits its streams into chunks, on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use gstreamer as gst;
use memory_core::Timestamp;

use super::library::Archive;
use super::name::ChunkName;
use super::writer::ChunkWriter;
use crate::pipeline::Holes;

/// Number of samples that may wait for the disk, some seconds of them. More are dropped and counted.
const QUEUE_SAMPLES: usize = 512;
/// How long a chunk waits for an expected track that is silent.
const SILENT_TRACK_TIMEOUT: Duration = Duration::from_secs(2);
/// Pause after a failed write to the disk.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// Medium of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Track {
    /// Pictures.
    Picture,
    /// Sound.
    Sound,
}

impl Track {
    /// The muxer's pad for it.
    pub(super) const fn pad(self) -> &'static str {
        match self {
            Self::Picture => "video_%u",
            Self::Sound => "audio_%u",
        }
    }
}

/// A compressed picture or block of sound.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) track: Track,
    pub(crate) caps: gst::Caps,
    pub(crate) buffer: gst::Buffer,
    /// Stream time at which it is shown.
    pub(crate) shown: Duration,
    /// Stream time at which it is decoded, where that differs.
    pub(crate) decode: Option<Duration>,
    /// Whether it can be decoded alone.
    pub(crate) keyframe: bool,
}

enum Message {
    Expect(Track),
    Begin(Timestamp),
    Sample(Box<Sample>),
    End(SyncSender<()>),
}

/// Takes what a source shows and says. Clones share it; the thread ends with the last.
#[derive(Clone)]
pub struct Recorder {
    sender: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

impl Recorder {
    /// A recorder of `source`, which writes nothing before the source shows something.
    ///
    /// # Errors
    /// If no thread can be made.
    pub fn start(archive: Arc<Archive>, source: &str) -> std::io::Result<Self> {
        let (sender, messages) = sync_channel(QUEUE_SAMPLES);
        let source = source.to_owned();
        std::thread::Builder::new().name(format!("rec-{source}")).spawn(move || {
            RecorderState {
                archive,
                source,
                session: None,
                expected: Vec::new(),
                waiting: Vec::new(),
                open: None,
                holes: Holes::default(),
                rest: None,
            }
            .run(&messages);
        })?;
        Ok(Self { sender, dropped: Arc::default() })
    }

    /// Samples dropped because the disk was too slow.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// A session begins: the wall-clock time of stream time 0.
    pub(crate) fn begin(&self, start: Timestamp) {
        drop(self.sender.send(Message::Begin(start)));
    }

    /// A track will come.
    pub(crate) fn expect(&self, track: Track) {
        drop(self.sender.send(Message::Expect(track)));
    }

    /// Takes a sample and waits for nothing.
    pub(crate) fn take(&self, sample: Sample) {
        if let Err(TrySendError::Full(_)) = self.sender.try_send(Message::Sample(Box::new(sample))) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The session ended: waits until the open chunk is complete.
    pub(crate) fn end(&self) {
        let (done, wait) = sync_channel(1);
        if self.sender.send(Message::End(done)).is_err() || wait.recv().is_err() {
            tracing::error!("the thread that records has died; nothing more is recorded of this source");
        }
    }
}

/// The recorder's state, on its thread.
struct RecorderState {
    archive: Arc<Archive>,
    source: String,
    /// Wall-clock time of stream time 0.
    session: Option<Timestamp>,
    /// Tracks of this session.
    expected: Vec<Track>,
    /// Samples before the first chunk, or the next after a failure, can begin.
    waiting: Vec<Sample>,
    open: Option<OpenFile>,
    /// Samples of both tracks together.
    holes: Holes,
    /// Time before which nothing is written.
    rest: Option<std::time::Instant>,
}

struct OpenFile {
    name: ChunkName,
    writer: ChunkWriter,
    /// Latest moment of each track.
    reached: [Duration; 2],
}

impl OpenFile {
    fn latest(&self) -> Duration {
        self.reached[0].max(self.reached[1])
    }
}

impl RecorderState {
    fn run(mut self, messages: &Receiver<Message>) {
        loop {
            match messages.recv_timeout(Duration::from_secs(1)) {
                Ok(Message::Expect(track)) => {
                    if !self.expected.contains(&track) {
                        self.expected.push(track);
                    }
                }
                Ok(Message::Begin(start)) => {
                    // A clock that jumped: stream time goes on, and the wall-clock time is another.
                    if self.session.is_some_and(|session| session != start) {
                        self.close();
                    }
                    self.session = Some(start);
                }
                Ok(Message::Sample(sample)) => self.take(*sample),
                Ok(Message::End(done)) => {
                    self.end();
                    if done.send(()).is_err() {
                        tracing::debug!("nobody waited for the end of a recording");
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break self.end(),
            }
        }
    }

    fn end(&mut self) {
        self.close();
        self.session = None;
        self.holes = Holes::default();
        self.expected.clear();
        self.waiting.clear();
    }

    fn take(&mut self, sample: Sample) {
        // A chunk shows what lies between its ends: no player could tell a hole from a still picture.
        let broken_off = self.holes.arrived(sample.shown, Duration::ZERO);
        if broken_off.is_some() {
            self.close();
            self.waiting.clear();
        }
        if let Some(open) = &self.open {
            if self.parts_before(open, &sample) {
                self.close();
                self.waiting.push(sample);
                return self.begin();
            }
            return self.write(sample);
        }
        if self.rest.is_some_and(|rest| std::time::Instant::now() < rest) {
            return;
        }
        self.waiting.push(sample);
        self.begin();
    }

    /// Whether a new chunk begins before `sample`.
    fn parts_before(&self, open: &OpenFile, sample: &Sample) -> bool {
        if !open.writer.fits(sample) {
            // A new track joins with the next chunk; one that changed its format needs one now.
            return open.writer.has(sample.track) && sample.keyframe;
        }
        let chunk = self.archive.limits().chunk;
        let age = sample.shown.saturating_sub(open.name.begin);
        let leads = sample.track == Track::Picture || !open.writer.has(Track::Picture);
        let one_fell_silent = self.expected.len() > 1
            && open.writer.has(Track::Picture)
            && open.writer.has(Track::Sound)
            && open.reached[0].abs_diff(open.reached[1]) > 2 * SILENT_TRACK_TIMEOUT;
        sample.keyframe && (leads && age >= chunk || age >= 2 * chunk || one_fell_silent)
    }

    /// Opens a chunk with the pending samples, once its tracks are known.
    fn begin(&mut self) {
        let (Some(session), Some(first), Some(last)) = (self.session, self.waiting.first(), self.waiting.last()) else {
            // The session's clock is not known yet; it is in a moment.
            if self.waiting.len() > QUEUE_SAMPLES {
                self.waiting.clear();
            }
            return;
        };
        let of = |track: Track| self.waiting.iter().filter(move |sample| sample.track == track);
        let waited = last.shown.abs_diff(first.shown) > SILENT_TRACK_TIMEOUT;
        let missing = self.expected.iter().any(|track| of(*track).next().is_none());
        if missing && !waited {
            return;
        }
        let pictures = of(Track::Picture).next().is_some();
        let leading = if pictures { Track::Picture } else { Track::Sound };
        let Some(start) = of(leading).find(|sample| sample.keyframe).map(|sample| sample.shown) else {
            if self.waiting.len() > QUEUE_SAMPLES {
                self.waiting.clear();
            }
            return;
        };
        let begin = Duration::from_millis(u64::try_from(start.as_millis()).unwrap_or(u64::MAX));
        let tracks: Vec<(Track, gst::Caps)> = [Track::Picture, Track::Sound]
            .into_iter()
            .filter_map(|track| Some((track, of(track).next_back()?.caps.clone())))
            .collect();
        let name = ChunkName { session, begin };
        let opened = self.archive.begin_chunk(&self.source, name).and_then(|path| {
            ChunkWriter::open(&path, begin, &tracks).inspect_err(|reason| {
                self.archive.end_chunk(&self.source, name);
                self.archive.disk_full(reason);
            })
        });
        match opened {
            Ok(writer) => {
                self.open = Some(OpenFile { name, writer, reached: [begin; 2] });
                for sample in std::mem::take(&mut self.waiting) {
                    self.write(sample);
                }
            }
            Err(reason) => self.fail(&reason),
        }
    }

    fn write(&mut self, sample: Sample) {
        let Some(open) = &mut self.open else { return };
        if !open.writer.fits(&sample) {
            return;
        }
        let reached = &mut open.reached[usize::from(sample.track == Track::Sound)];
        *reached = (*reached).max(sample.shown);
        open.writer.push(sample);
        let (name, latest) = (open.name, open.latest());
        if let Some(reason) = open.writer.error() {
            self.open = None;
            self.archive.end_chunk(&self.source, name);
            self.archive.disk_full(&reason);
            self.fail(&reason);
        } else if !self.archive.reached(&self.source, name, latest) {
            // Forgotten while it was shown.
            self.close();
        }
    }

    fn fail(&mut self, reason: &str) {
        tracing::warn!(source = self.source, reason, "recording failed; the memory continues");
        self.waiting.clear();
        self.rest = Some(std::time::Instant::now() + RETRY_PAUSE);
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if let Err(reason) = open.writer.close() {
            tracing::warn!(source = self.source, chunk = %open.name, reason, "a chunk was cut short");
        }
        self.archive.end_chunk(&self.source, open.name);
    }
}
