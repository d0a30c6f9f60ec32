//! Live sources: cameras and microphones never wait, so newer data evicts what the consumer has not taken in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;
use memory_core::Timestamp;

use super::delivery::{Delivery, FrameGate};
use super::pipelines::{LivePipeline, build, described};
use super::slots::SlotQueue;
use super::spec::{SourceKind, SourceSpec};
use super::status::{Loss, SourceShared};
use crate::archive::Recorder;
use crate::pipeline::CaptureError;
use crate::pipeline::PictureConverter;
use crate::pipeline::Running;
use crate::pipeline::read_samples;
use crate::pipeline::{Holes, MIN_GAP};

/// Number of pictures that may wait: most of a second at the highest rate.
const MAX_PICTURES: usize = 8;
/// Number of sound blocks that may wait: several seconds at usual block lengths.
const MAX_SOUND_BLOCKS: usize = 128;
/// How long a picture waits for the sound of the same moment, and vice versa.
const MERGE_WAIT: Duration = Duration::from_millis(300);

/// How far the wall clock may deviate from a session before a new session begins with the right time. Regular clock adjustment
/// stays far below it.
const CLOCK_JUMP: Duration = Duration::from_secs(10);

/// Why a live session is over although nothing failed.
pub(super) enum Lived {
    Stopped,
    Paused,
}

#[derive(Default)]
struct LivePicture {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

/// The two queues of a live source. Their slots are kept from session to session.
pub(super) struct Queues {
    pictures: SlotQueue<LivePicture, MAX_PICTURES>,
    sounds: SlotQueue<Vec<f32>, MAX_SOUND_BLOCKS>,
    /// Nanoseconds between wanted pictures.
    interval: AtomicU64,
}

impl Queues {
    pub(super) fn new() -> Self {
        Self { pictures: SlotQueue::new(), sounds: SlotQueue::new(), interval: AtomicU64::new(0) }
    }

    fn clear(&self, interval: Duration) {
        while self.pictures.pop(|_, _| ()).is_some() {}
        while self.sounds.pop(|_, _| ()).is_some() {}
        self.want(interval);
    }

    fn want(&self, interval: Duration) {
        self.interval.store(u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Picture,
    Sound,
    Wait(Duration),
}

/// Runs one session: from opening the source until it ends, fails, hangs, or a stop or pause is asked for.
pub(super) fn record(
    spec: &SourceSpec,
    shared: &Arc<SourceShared>,
    queues: &Arc<Queues>,
    delivery: &mut Delivery<'_>,
    recorder: Option<&Recorder>,
) -> Result<Lived, CaptureError> {
    queues.clear(delivery.frame_interval());
    let LivePipeline { pipeline, video, audio } = build(spec, recorder)?;
    let pipeline = Running(pipeline);
    shared.expect(video.is_some());
    if let Some(sink) = &video {
        take_pictures(sink, spec.max_width, shared, queues);
    }
    if let Some(sink) = &audio {
        take_sound(sink, shared, queues);
    }
    let mut session = LiveSession {
        spec,
        shared,
        queues,
        delivery,
        video: video.is_some(),
        audio: audio.is_some(),
        recorder,
        start: None,
        missing: None,
        connecting: Connecting::NotYet,
    };
    let result = session.run(&pipeline.0);
    drop(pipeline);
    // What came before the end is not lost with it.
    while session.hand_over(Duration::ZERO) {}
    if let Some(recorder) = recorder {
        recorder.end();
    }
    if session.connecting == Connecting::Done {
        return result;
    }
    result.map_err(|error| explained(spec, error))
}

/// How far a network camera was reached, as far as the pipeline says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connecting {
    NotYet,
    Trying,
    /// It answers: what is wrong then is something else, and another connection would only disturb it.
    Done,
}

/// The error of a session that was never connected. Of a network camera, GStreamer does not say why.
fn explained(spec: &SourceSpec, error: CaptureError) -> CaptureError {
    match (&spec.kind, &error) {
        (SourceKind::Rtsp { url, .. }, CaptureError::Broke { what, .. } | CaptureError::Hung { what, .. }) => {
            match super::reach::why_not(url) {
                Some(reason) => CaptureError::Broke { what: what.clone(), reason },
                None => error,
            }
        }
        _ => error,
    }
}

fn take_pictures(sink: &gst_app::AppSink, max_width: u32, shared: &Arc<SourceShared>, queues: &Arc<Queues>) {
    let (shared, queues) = (Arc::clone(shared), Arc::clone(queues));
    let mut converter = PictureConverter::new(max_width);
    let (mut gate, mut holes, mut hole) = (FrameGate::default(), Holes::default(), None);
    sink.set_callbacks(
        gst_app::AppSinkCallbacks::builder()
            .new_sample(move |sink| {
                let sample = sink.pull_sample().map_err(|_| gst::FlowError::Eos)?;
                shared.video_arrived();
                let Some(stream) = running_time(sink, &sample) else {
                    shared.count(Loss::DecodeError);
                    return Ok(gst::FlowSuccess::Ok);
                };
                hole = hole.or(holes.arrived(stream, Duration::ZERO));
                // The first picture after a hole says where the stream goes on, so it is always wanted.
                if hole.is_none() && !gate.wants(stream) {
                    shared.skipped.fetch_add(1, Ordering::Relaxed);
                    return Ok(gst::FlowSuccess::Ok);
                }
                let Some((width, height, rgb)) = converter.convert(&sample) else {
                    shared.count(Loss::DecodeError);
                    return Ok(gst::FlowSuccess::Ok);
                };
                let evicted = queues.pictures.push(stream, shared.clock().monotonic(), hole.take(), |slot| {
                    (slot.width, slot.height) = (width, height);
                    slot.rgb.clear();
                    slot.rgb.extend_from_slice(rgb);
                });
                gate.handed(stream, Duration::from_nanos(queues.interval.load(Ordering::Relaxed)));
                if evicted {
                    shared.count(Loss::QueueFull);
                }
                shared.notify();
                Ok(gst::FlowSuccess::Ok)
            })
            .build(),
    );
}

fn take_sound(sink: &gst_app::AppSink, shared: &Arc<SourceShared>, queues: &Arc<Queues>) {
    let (shared, queues) = (Arc::clone(shared), Arc::clone(queues));
    let mut holes = Holes::default();
    sink.set_callbacks(
        gst_app::AppSinkCallbacks::builder()
            .new_sample(move |sink| {
                let sample = sink.pull_sample().map_err(|_| gst::FlowError::Eos)?;
                shared.audio_arrived();
                let Some(stream) = running_time(sink, &sample) else {
                    shared.count(Loss::DecodeError);
                    return Ok(gst::FlowSuccess::Ok);
                };
                let mut readable = true;
                let hole = holes.arrived(stream, sample.buffer().map_or(Duration::ZERO, length));
                let evicted = queues.sounds.push(stream, shared.clock().monotonic(), hole, |slot| {
                    readable = read_samples(&sample, slot);
                });
                if !readable {
                    shared.count(Loss::DecodeError);
                }
                if evicted {
                    shared.count(Loss::AudioQueueFull);
                }
                shared.notify();
                Ok(gst::FlowSuccess::Ok)
            })
            .build(),
    );
}

/// Stream time of a sample; the time at which it came, where the source gives none.
fn running_time(sink: &gst_app::AppSink, sample: &gst::SampleRef) -> Option<Duration> {
    let stamped = sample.buffer().and_then(|buffer| buffer.pts()).and_then(|pts| {
        sample.segment().and_then(|segment| segment.downcast_ref::<gst::ClockTime>()?.to_running_time(pts))
    });
    let at = stamped.or_else(|| now(sink.upcast_ref()))?;
    Some(Duration::from_nanos(at.nseconds()))
}

/// How long a buffer of mono sound at 16 kHz lasts.
fn length(buffer: &gst::BufferRef) -> Duration {
    Duration::from_secs(buffer.size() as u64) / (4 * 16_000)
}

/// The running time of this moment.
fn now(element: &gst::Element) -> Option<gst::ClockTime> {
    element.clock()?.time().checked_sub(element.base_time()?)
}

struct LiveSession<'a, 'b> {
    spec: &'a SourceSpec,
    shared: &'a Arc<SourceShared>,
    queues: &'a Queues,
    delivery: &'a mut Delivery<'b>,
    video: bool,
    audio: bool,
    recorder: Option<&'a Recorder>,
    /// Wall-clock time of stream time 0, from the moment when something came.
    start: Option<Timestamp>,
    missing: Option<String>,
    connecting: Connecting,
}

impl LiveSession<'_, '_> {
    fn run(&mut self, pipeline: &gst::Pipeline) -> Result<Lived, CaptureError> {
        let bus = pipeline.bus();
        // Not the clock of a sound card: that one stands still with its device, and runs away from the wall clock by seconds
        // a day.
        pipeline.use_clock(Some(&gst::SystemClock::obtain()));
        let clock = self.shared.clock();
        let opened = clock.monotonic();
        if let Err(error) = pipeline.set_state(gst::State::Playing) {
            let said = bus.as_ref().and_then(|bus| self.verdict(bus));
            return Err(said.unwrap_or_else(|| self.broke(error.to_string())));
        }
        loop {
            self.shared.measure();
            if let Some(error) = bus.as_ref().and_then(|bus| self.verdict(bus)) {
                return Err(error);
            }
            if self.shared.stop_wanted() {
                return Ok(Lived::Stopped);
            }
            if self.shared.pause_wanted() {
                return Ok(Lived::Paused);
            }
            let last = self.shared.last_arrival(self.video).unwrap_or_default().max(opened);
            let silent = clock.monotonic().saturating_sub(last);
            if silent > self.spec.watchdog {
                let media = if self.video { "picture" } else { "sound" };
                return Err(CaptureError::Hung { what: described(self.spec), media, seconds: silent.into() });
            }
            self.follow_wall_clock(pipeline);
            if !self.hand_over(MERGE_WAIT)
                && let Turn::Wait(time) = self.turn(MERGE_WAIT)
            {
                let until_hung = self.spec.watchdog.saturating_sub(silent) + Duration::from_millis(1);
                self.shared.wait(time.min(until_hung), || !matches!(self.turn(MERGE_WAIT), Turn::Wait(_)));
            }
        }
    }

    /// Hands over what is next in order of stream time, if that is settled; says whether it did.
    fn hand_over(&mut self, wait: Duration) -> bool {
        let turn = self.turn(wait);
        if matches!(turn, Turn::Wait(_)) {
            return false;
        }
        if !self.delivery.is_open() {
            let Some(start) = self.start else { return false };
            self.begin(start, Duration::ZERO);
        }
        self.part_at_hole(turn);
        match turn {
            Turn::Picture => {
                let Self { queues, delivery, .. } = self;
                queues.pictures.pop(|entry, picture| {
                    if let Some(interval) = delivery.frame(entry.stream, picture.width, picture.height, &picture.rgb) {
                        queues.want(interval);
                    }
                });
            }
            Turn::Sound => {
                let Self { queues, delivery, .. } = self;
                queues.sounds.pop(|entry, samples| delivery.audio(entry.stream, samples));
            }
            Turn::Wait(_) => {}
        }
        true
    }

    fn begin(&mut self, start: Timestamp, from: Duration) {
        self.delivery.begin(&format!("{}-{start}", self.spec.name), start, from);
    }

    /// Where the source stood still, what came before ends: nothing that lasts is remembered across a hole.
    fn part_at_hole(&mut self, turn: Turn) {
        let head = if turn == Turn::Picture { self.queues.pictures.head() } else { self.queues.sounds.head() };
        let (Some(start), Some(head)) = (self.start, head) else { return };
        let Some(broken_off) = head.hole else { return };
        // While the other stream goes on there is something to perceive, and no hole.
        let end = self.delivery.position().max(broken_off);
        let hole = head.stream.saturating_sub(end);
        if hole > MIN_GAP {
            tracing::warn!(source = %self.spec.name, seconds = hole.as_secs_f64(), "a source stopped for a while and continues");
            self.shared.stood_still();
            self.delivery.lasts_until(end);
            self.begin(start, head.stream);
        }
    }

    /// Whose turn it is. A head waits for the other queue's, unless that is known to come later or takes too long.
    fn turn(&self, wait: Duration) -> Turn {
        let (picture, sound) = (self.queues.pictures.head(), self.queues.sounds.head());
        let settled = |arrived: Duration, other: bool, turn: Turn| {
            let waited = self.shared.clock().monotonic().saturating_sub(arrived);
            if !other || waited >= wait { turn } else { Turn::Wait(wait - waited) }
        };
        match (picture, sound) {
            (Some(picture), Some(sound)) if picture.stream < sound.stream => Turn::Picture,
            (Some(_), Some(_)) => Turn::Sound,
            // Sound has no holes: the next block begins where the last one ended.
            (Some(picture), None) => {
                let heard = self.delivery.is_open() && self.delivery.heard() >= picture.stream;
                settled(picture.arrived, self.audio && !heard, Turn::Picture)
            }
            (None, Some(sound)) => settled(sound.arrived, self.video, Turn::Sound),
            (None, None) => Turn::Wait(Duration::from_millis(100)),
        }
    }

    /// Reads the wall clock when the first thing has come. From then on only the pipeline's clock counts, so that a jump of
    /// the wall clock shifts nothing inside a session. But the session ends there: what follows belongs to a new one, whose
    /// wall-clock time is right again (a board without a battery boots in the past and is set right a minute later).
    /// Stream time goes on.
    fn follow_wall_clock(&mut self, pipeline: &gst::Pipeline) {
        if self.start.is_none() && self.queues.pictures.head().is_none() && self.queues.sounds.head().is_none() {
            return;
        }
        let running = now(pipeline.upcast_ref()).map_or(Duration::ZERO, |at| Duration::from_nanos(at.nseconds()));
        let start = self.shared.clock().now().saturating_sub(running);
        let Some(believed) = self.start else {
            self.start = Some(start);
            self.record_from(start);
            return;
        };
        if start.since(believed).max(believed.since(start)) > CLOCK_JUMP {
            tracing::warn!(source = %self.spec.name, from = %believed, to = %start, "the wall clock jumped; a new session begins");
            self.start = Some(start);
            self.record_from(start);
            let from = self.delivery.reached();
            if self.delivery.is_open() {
                self.begin(start, from);
            }
        }
    }

    fn record_from(&self, start: Timestamp) {
        if let Some(recorder) = self.recorder {
            recorder.begin(start);
        }
    }

    /// Returns what the bus says about the end of the pipeline, if anything.
    fn verdict(&mut self, bus: &gst::Bus) -> Option<CaptureError> {
        while let Some(message) = bus.pop() {
            match message.view() {
                gst::MessageView::Error(error) => {
                    return Some(match self.missing.take() {
                        Some(detail) => CaptureError::MissingDecoder { what: described(self.spec), detail },
                        None => self.broke(error.error().message().trim_end_matches('.').to_owned()),
                    });
                }
                gst::MessageView::Eos(_) => return Some(CaptureError::Ended { what: described(self.spec) }),
                gst::MessageView::Element(element) => {
                    if let Some(structure) = element.structure()
                        && structure.name() == "missing-plugin"
                    {
                        self.missing = structure.get::<String>("name").ok();
                    }
                }
                gst::MessageView::Progress(progress) => {
                    // `connect` says that it tries; what comes next, that it has answered.
                    let (kind, code, _) = progress.get();
                    self.connecting = match (self.connecting, code) {
                        (Connecting::NotYet, "connect") => Connecting::Trying,
                        (Connecting::Trying, "open" | "request")
                            if matches!(kind, gst::ProgressType::Continue | gst::ProgressType::Complete) =>
                        {
                            Connecting::Done
                        }
                        (before, _) => before,
                    };
                }
                gst::MessageView::Warning(warning) => {
                    tracing::debug!(source = %self.shared.name, error = %warning.error(), "GStreamer warns");
                    if warning.error().matches(gst::StreamError::Decode) {
                        self.shared.count(Loss::DecodeError);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn broke(&self, reason: String) -> CaptureError {
        CaptureError::Broke { what: described(self.spec), reason }
    }
}
