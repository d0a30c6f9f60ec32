//! File sources: pulled as fast as the consumer accepts them, without drops.
//!
//! The pipeline decodes into two short queues (those of the appsinks) and blocks when they are full. The worker reads them in
//! order of stream time. At `real` speed it waits for the clock before each delivery. So at either speed the consumer gets
//! the same calls with the same arguments.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;
use memory_core::Timestamp;
use parking_lot::Mutex;

use super::board_memory;
use super::delivery::{Delivery, FrameGate};
use super::elements::{chain, make, set_if_present};
use super::error::CaptureError;
use super::picture::PictureConverter;
use super::pipelines::{Running, attach, audio_sink, media_of, video_sink};
use super::spec::{FileSource, SourceSpec, Speed, Subtitles};
use super::status::{Loss, SourceShared, SourceState};
use super::subtitles::{self, Cue};
use super::text_track::TextTrack;

/// How one playing of a file ended.
pub(super) enum Played {
    /// A stop was asked for.
    Stopped,
    /// To its end: when it began, and how long it was.
    Finished { start: Timestamp, length: Duration },
}

/// A file whose decoder brings nothing for so long hangs (a network drive may take its time).
const STALL: Duration = Duration::from_secs(30);
/// A demuxer that stopped although its streams are not known yet is waited for so long: they may be on their way.
const GAVE_UP: Duration = Duration::from_secs(3);
/// With one stream waiting for the other for so long, the other is taken to have a hole.
const STARVED: Duration = Duration::from_secs(3);
/// How long one look into a queue lasts.
const GLANCE: gst::ClockTime = gst::ClockTime::from_mseconds(20);

/// Whether packets of this kind are sound or pictures.
pub(crate) fn is_audio_or_video(media: &str) -> bool {
    ["video/", "audio/", "image/"].iter().any(|prefix| media.starts_with(prefix))
}

/// Whether a pad that `decodebin` asks about comes straight from a demuxer, and what it carries.
pub(crate) fn demuxed(values: &[gst::glib::Value]) -> Option<String> {
    let pad = values.get(1)?.get::<gst::Pad>().ok()?;
    let caps = values.get(2)?.get::<gst::Caps>().ok()?;
    let inner = pad.downcast_ref::<gst::GhostPad>().and_then(|ghost| ghost.target()).unwrap_or(pad);
    let class = inner.parent_element()?.factory()?.metadata("klass")?.to_owned();
    if !class.contains("Demux") {
        return None;
    }
    caps.structure(0).map(|structure| structure.name().to_string())
}

/// What the pipeline turned out to hold.
#[derive(Default)]
struct Found {
    video: Option<gst_app::AppSink>,
    audio: Option<gst_app::AppSink>,
    text: bool,
    complete: bool,
    /// Per stream, video first: a gap that the container announced ends here.
    gap_until: [Duration; 2],
}

/// The next thing that a stream has.
struct Head {
    stream: Duration,
    length: Duration,
    sample: gst::Sample,
}

/// One stream of the file.
struct Stream {
    sink: gst_app::AppSink,
    head: Option<Head>,
    finished: bool,
    waiting_since: Option<Instant>,
    /// Where the next sample begins if it does not say so.
    expected: Duration,
}

enum CueSource {
    List(VecDeque<Cue>),
    Track(TextTrack),
}

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
    let found = Arc::new(Mutex::new(Found::default()));
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
        } else if stopped.get_or_insert_with(Instant::now).elapsed() > GAVE_UP {
            return Err(CaptureError::NotMedia {
                path: file.path.clone(),
                reason: "its container is damaged or incomplete".into(),
            });
        }
        if began.elapsed() > STALL {
            return Err(hung(file, "picture or sound", STALL));
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
        sink.map(|sink| Stream { sink, head: None, finished: false, waiting_since: None, expected: Duration::ZERO })
    });
    let mut player =
        Player { spec, file, shared, delivery, bus, found, streams, cues, started: start, origin: Duration::ZERO };
    player.run(&pipeline.0)
}

/// Whether the element that takes the container apart has stopped reading the file.
fn demuxer_stopped(pipeline: &gst::Pipeline) -> bool {
    pipeline.iterate_recurse().into_iter().flatten().any(|element| {
        element.factory().and_then(|factory| factory.metadata("klass").map(|class| class.contains("Demux")))
            == Some(true)
            && element
                .static_pad("sink")
                .is_some_and(|pad| pad.mode() == gst::PadMode::Pull && pad.task_state() != gst::TaskState::Started)
    })
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

fn hung(file: &FileSource, media: &'static str, time: Duration) -> CaptureError {
    CaptureError::Hung { what: file.path.display().to_string(), media, seconds: time.into() }
}

fn build(
    spec: &SourceSpec,
    file: &FileSource,
    found: &Arc<Mutex<Found>>,
    shared: &Arc<SourceShared>,
) -> Result<gst::Pipeline, CaptureError> {
    let pipeline = gst::Pipeline::new();
    let (source, decode) = (make("filesrc")?, make("decodebin")?);
    for element in ["videoconvert", "audioconvert", "audioresample", "fakesink"] {
        make(element)?;
    }
    source.set_property("location", &file.path);
    // Room for streams that lie far apart in the container; the default would stand still.
    set_if_present(&decode, "max-size-bytes", &(64_u32 << 20).to_string());
    chain(pipeline.upcast_ref(), &[&source, &decode])
        .map_err(|error| CaptureError::Broke { what: file.path.display().to_string(), reason: error.to_string() })?;

    // What nobody wants is not decoded.
    let (video, audio, max_width) = (spec.video, spec.audio, spec.max_width);
    decode.connect("autoplug-continue", false, move |values| {
        let unwanted = demuxed(values).is_some_and(|media| {
            !is_audio_or_video(&media)
                || (media.starts_with("audio/") && !audio)
                || (!media.starts_with("audio/") && !video)
        });
        Some((!unwanted).to_value())
    });
    let (weak, pads, waker) = (pipeline.downgrade(), Arc::clone(found), Arc::clone(shared));
    decode.connect_pad_added(move |_, pad| {
        let Some(pipeline) = weak.upgrade() else { return };
        if let Err(error) = add_stream(&pipeline, pad, &pads, (video, audio), max_width, &waker) {
            tracing::warn!(%error, "a stream of the file cannot be played and is omitted");
        }
    });
    let (pads, waker) = (Arc::clone(found), Arc::clone(shared));
    decode.connect_no_more_pads(move |_| {
        pads.lock().complete = true;
        waker.notify();
    });
    Ok(pipeline)
}

/// Gives a decoded stream its queue; the second of a kind, and what is not wanted, is swallowed.
fn add_stream(
    pipeline: &gst::Pipeline,
    pad: &gst::Pad,
    found: &Arc<Mutex<Found>>,
    (video, audio): (bool, bool),
    max_width: u32,
    shared: &Arc<SourceShared>,
) -> Result<(), String> {
    let media = media_of(pad);
    let mut state = found.lock();
    let made = |element: &str| make(element).map_err(|error| error.to_string());
    let (branch, kind) = if media == "video/x-raw" && video && state.video.is_none() {
        let sink = video_sink();
        state.video = Some(sink.clone());
        let mut branch = board_memory::to_plain(pad, max_width).map_err(|error| error.to_string())?;
        branch.push(made("videoconvert")?);
        // Phones store pictures as the sensor lies and say how to turn them.
        if let Ok(flip) = make("videoflip") {
            set_if_present(&flip, "method", "automatic");
            branch.push(flip);
        }
        branch.push(sink.upcast());
        (branch, Some(0))
    } else if media == "audio/x-raw" && audio && state.audio.is_none() {
        let sink = audio_sink();
        state.audio = Some(sink.clone());
        (vec![made("audioconvert")?, made("audioresample")?, sink.upcast()], Some(1))
    } else {
        state.text |= media == "text/x-raw"
            || media.starts_with("application/x-ss")
            || media == "application/x-ass"
            || media.starts_with("application/x-subtitle");
        let sink = made("fakesink")?;
        sink.set_property("async", false);
        (vec![sink], None)
    };
    drop(state);
    if let (Some(kind), Some(end)) = (kind, branch.last().and_then(|sink| sink.static_pad("sink"))) {
        let (found, shared) = (Arc::clone(found), Arc::clone(shared));
        let segment = Mutex::new(None::<gst::FormattedSegment<gst::ClockTime>>);
        end.add_probe(gst::PadProbeType::EVENT_DOWNSTREAM, move |_, info| {
            if let Some(gst::PadProbeData::Event(event)) = &info.data {
                match event.view() {
                    gst::EventView::Segment(event) => *segment.lock() = event.segment().downcast_ref().cloned(),
                    gst::EventView::Gap(gap) => {
                        let (at, length) = gap.get();
                        let end = segment
                            .lock()
                            .as_ref()
                            .and_then(|s| s.to_running_time(at))
                            .map(|at| at + length.unwrap_or_default());
                        if let Some(end) = end {
                            found.lock().gap_until[kind] = Duration::from_nanos(end.nseconds());
                            shared.notify();
                        }
                    }
                    _ => {}
                }
            }
            gst::PadProbeReturn::Ok
        });
    }
    attach(pipeline.upcast_ref(), pad, &branch)
}

/// What the pipeline says on its bus.
struct BusReader<'a> {
    bus: Option<gst::Bus>,
    path: &'a Path,
    error: Option<CaptureError>,
    missing: Option<String>,
    created: Option<Timestamp>,
    duration: Option<Duration>,
}

impl<'a> BusReader<'a> {
    fn new(pipeline: &gst::Pipeline, path: &'a Path) -> Self {
        Self { bus: pipeline.bus(), path, error: None, missing: None, created: None, duration: None }
    }

    fn drain(&mut self, shared: &SourceShared) {
        while let Some(message) = self.bus.as_ref().and_then(gst::Bus::pop) {
            match message.view() {
                gst::MessageView::Tag(tags) => {
                    if let Some(at) = tags.tags().get::<gst::tags::DateTime>().and_then(|tag| timestamp(&tag.get())) {
                        self.created.get_or_insert(at);
                    }
                }
                gst::MessageView::Warning(warning) => {
                    let error = warning.error();
                    tracing::debug!(path = %self.path.display(), %error, "GStreamer warns");
                    if error.matches(gst::StreamError::Decode) {
                        shared.count(Loss::DecodeError);
                    }
                }
                gst::MessageView::Element(element) => {
                    if let Some(structure) = element.structure()
                        && structure.name() == "missing-plugin"
                    {
                        self.missing = structure.get::<String>("name").ok().or(self.missing.take());
                    }
                }
                gst::MessageView::Error(error) => {
                    let reason = self.reason(&error.error());
                    self.error.get_or_insert(reason);
                }
                _ => {}
            }
        }
    }

    fn reason(&self, error: &gst::glib::Error) -> CaptureError {
        let path = self.path.to_path_buf();
        if let Some(detail) = &self.missing {
            return CaptureError::MissingDecoder { what: path.display().to_string(), detail: detail.clone() };
        }
        if error.matches(gst::StreamError::TypeNotFound)
            || error.matches(gst::StreamError::WrongType)
            || error.matches(gst::StreamError::Demux)
            || error.matches(gst::StreamError::Decode)
            || error.matches(gst::StreamError::Failed)
            || error.matches(gst::StreamError::CodecNotFound)
        {
            return CaptureError::NotMedia { path, reason: error.message().trim_end_matches('.').to_owned() };
        }
        CaptureError::Broke { what: path.display().to_string(), reason: error.message().to_owned() }
    }
}

/// A creation time that names the second and is no default of some writer.
fn timestamp(at: &gst::DateTime) -> Option<Timestamp> {
    at.second()?;
    let utc = at.to_utc().ok()?;
    let two = |value: Option<i32>| value.unwrap_or_default();
    let micros = utc.microsecond().unwrap_or_default();
    let text = format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
        utc.year(),
        two(utc.month()),
        two(utc.day()),
        two(utc.hour()),
        two(utc.minute()),
        two(utc.second()),
        micros
    );
    let at = Timestamp::parse(&text).ok()?;
    // mp4 counts from 1904 and Matroska from 2001; writers that know no time leave the zero.
    (at > Timestamp::from_micros(978_393_600_000_000)).then_some(at)
}

struct Player<'a, 'b> {
    spec: &'a SourceSpec,
    file: &'a FileSource,
    shared: &'a Arc<SourceShared>,
    delivery: &'a mut Delivery<'b>,
    bus: BusReader<'a>,
    found: Arc<Mutex<Found>>,
    /// Video, then audio.
    streams: [Option<Stream>; 2],
    cues: CueSource,
    started: Option<Timestamp>,
    /// At `real` speed: the monotonic time of stream time 0.
    origin: Duration,
}

impl Player<'_, '_> {
    fn run(&mut self, pipeline: &gst::Pipeline) -> Result<Played, CaptureError> {
        let mut pictures = PictureConverter::new(self.spec.max_width);
        let mut gate = FrameGate::default();
        let mut samples = Vec::new();
        let mut session = None;
        let mut last_progress = Instant::now();
        let mut frame_interval = None;
        loop {
            self.bus.drain(self.shared);
            self.shared.measure();
            if self.shared.stop_wanted() {
                return Ok(Played::Stopped);
            }
            if self.shared.pause_wanted() {
                self.pause(session.as_ref());
                last_progress = Instant::now();
                continue;
            }
            let Some(turn) = self.next() else {
                if self.streams.iter().flatten().all(|stream| stream.finished) {
                    break;
                }
                if last_progress.elapsed() > STALL {
                    return Err(hung(self.file, "picture or sound", STALL));
                }
                continue;
            };
            last_progress = Instant::now();
            let stream = self.streams[turn]
                .as_ref()
                .and_then(|stream| stream.head.as_ref())
                .map_or(Duration::ZERO, |head| head.stream);
            if session.is_none() {
                session = Some(self.begin(pipeline));
            }
            if !self.pace(stream) {
                continue;
            }
            self.subtitles_until(stream);
            let Some(head) = self.streams[turn].as_mut().and_then(|stream| stream.head.take()) else { continue };
            self.delivery.lasts_until(stream + head.length);
            if turn == 0 {
                if !gate.wants(stream) {
                    self.shared.skipped.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                } else if let Some((width, height, rgb)) = pictures.convert(&head.sample) {
                    frame_interval = self.delivery.frame(stream, width, height, rgb).or(frame_interval);
                    gate.handed(stream, frame_interval.unwrap_or_default());
                } else {
                    self.shared.count(Loss::DecodeError);
                }
            } else if read_samples(&head.sample, &mut samples) {
                self.delivery.audio(stream, &samples);
            } else {
                self.shared.count(Loss::DecodeError);
            }
        }
        self.finish(session)
    }

    /// The stream whose head comes next, once both heads, or the absence of one, are known.
    fn next(&mut self) -> Option<usize> {
        let gaps = self.found.lock().gap_until;
        let broken = self.bus.error.is_some();
        for (kind, stream) in self.streams.iter_mut().enumerate() {
            let Some(stream) = stream else { continue };
            if stream.head.is_some() || stream.finished {
                continue;
            }
            // After an error nothing new comes, but what was decoded before is still there.
            let glance = if broken { gst::ClockTime::ZERO } else { GLANCE };
            match stream.sink.try_pull_sample(glance) {
                Some(sample) => {
                    if kind == 0 {
                        self.shared.video_arrived()
                    } else {
                        self.shared.audio_arrived()
                    }
                    stream.head = stream.locate(sample);
                    stream.waiting_since = None;
                }
                None if broken || stream.sink.is_eos() => stream.finished = true,
                None => {
                    stream.waiting_since.get_or_insert_with(Instant::now);
                }
            }
        }
        let heads =
            [0, 1].map(|kind| self.streams[kind].as_ref().and_then(|s| s.head.as_ref()).map(|head| head.stream));
        let turn = match heads {
            [Some(video), Some(audio)] => usize::from(audio <= video),
            [Some(_), None] => 0,
            [None, Some(_)] => 1,
            [None, None] => return None,
        };
        let (other, at) = (1 - turn, heads[turn]?);
        let settled = self.streams[other].as_ref().is_none_or(|stream| {
            stream.head.is_some()
                || stream.finished
                || gaps[other] > at
                || stream.waiting_since.is_some_and(|since| since.elapsed() > STARVED)
        });
        settled.then_some(turn)
    }

    fn begin(&mut self, pipeline: &gst::Pipeline) -> (String, Timestamp) {
        // Tags travel with the data: by the time something is decoded, they are on the bus.
        self.bus.drain(self.shared);
        self.bus.duration =
            pipeline.query_duration::<gst::ClockTime>().map(|duration| Duration::from_nanos(duration.nseconds()));
        let start =
            self.started.or(self.file.start_at).or(self.bus.created).unwrap_or_else(|| self.shared.clock().now());
        let session = format!("{}-{start}", self.spec.name);
        self.origin = self.shared.clock().monotonic();
        self.delivery.begin(&session, start, Duration::ZERO);
        (session, start)
    }

    /// Closes the session for the pause and opens it again after it, at the same place of the file.
    fn pause(&mut self, session: Option<&(String, Timestamp)>) {
        let clock = self.shared.clock();
        let paused_at = clock.monotonic();
        self.delivery.end();
        self.shared.enter(SourceState::Paused, None);
        self.shared.wait_resumed();
        self.origin += clock.monotonic().saturating_sub(paused_at);
        self.shared.enter(SourceState::Starting, None);
        if let Some((name, start)) = session
            && !self.shared.stop_wanted()
        {
            self.delivery.begin(name, *start, self.delivery.reached());
        }
    }

    /// At `real` speed waits until it is time for `stream`; `false` if something else is to be done first.
    fn pace(&self, stream: Duration) -> bool {
        if self.file.speed == Speed::Max {
            return true;
        }
        let early = (self.origin + stream).saturating_sub(self.shared.clock().monotonic());
        if early.is_zero() {
            return true;
        }
        self.shared.wait(early.min(Duration::from_millis(50)), || false);
        false
    }

    fn subtitles_until(&mut self, stream: Duration) {
        let due: Vec<Cue> = match &mut self.cues {
            CueSource::List(list) => {
                let count = list.iter().take_while(|cue| cue.start <= stream).count();
                list.drain(..count).collect()
            }
            CueSource::Track(track) => track.until(stream, || self.shared.stop_wanted()),
        };
        for cue in due {
            self.delivery.subtitle(cue.start.max(self.delivery.reached()), cue.end, cue.text);
        }
    }

    fn finish(&mut self, session: Option<(String, Timestamp)>) -> Result<Played, CaptureError> {
        let Some((_, start)) = session else {
            return Err(self.bus.error.take().unwrap_or_else(|| CaptureError::NotMedia {
                path: self.file.path.clone(),
                reason: "nothing in it could be decoded".into(),
            }));
        };
        let length = self.delivery.position();
        self.subtitles_until(length);
        if let CueSource::List(rest) = &self.cues {
            for _ in rest {
                self.shared.count(Loss::SubtitleBeyondEnd);
            }
        }
        let truncated =
            |reason: String| CaptureError::Truncated { path: self.file.path.clone(), seconds: length.into(), reason };
        if let Some(error) = self.bus.error.take() {
            return Err(truncated(error.to_string()));
        }
        match self.bus.duration {
            Some(duration) if duration > length + Duration::from_secs(2) => {
                Err(truncated(format!("its header promises {:.1} s", duration.as_secs_f64())))
            }
            _ => Ok(Played::Finished { start, length }),
        }
    }
}

impl Stream {
    fn locate(&mut self, sample: gst::Sample) -> Option<Head> {
        let buffer = sample.buffer()?;
        let segment = sample.segment()?.downcast_ref::<gst::ClockTime>()?;
        let stream =
            segment.to_running_time(buffer.pts()).map_or(self.expected, |at| Duration::from_nanos(at.nseconds()));
        let length = buffer.duration().map_or(Duration::from_millis(40), |d| Duration::from_nanos(d.nseconds()));
        self.expected = stream + length;
        Some(Head { stream, length, sample })
    }
}

/// Copies the samples out; `false` if the buffer cannot be read.
pub(crate) fn read_samples(sample: &gst::SampleRef, samples: &mut Vec<f32>) -> bool {
    let Some(map) = sample.buffer().and_then(|buffer| buffer.map_readable().ok()) else { return false };
    samples.clear();
    samples.extend(map.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])));
    true
}
