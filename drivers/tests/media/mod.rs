//! Clips made on the spot, and a consumer that writes down what it is given.
#![allow(clippy::print_stdout, reason = "what is skipped is said where the person runs it")]
#![allow(dead_code, unused_imports, reason = "each test binary uses its own part")]

mod peers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use drivers::capture::{AudioBlock, Frame, MediaConsumer, SourceHandle, SourceSpec, SourceStatus, Subtitle};
use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;
use memory_core::{Clock, SystemClock, Timestamp};
use parking_lot::{Condvar, Mutex};

pub use peers::{Microphone, NetworkCamera, Peer};

/// Longer than anything here takes on a loaded machine; only a failure waits so long.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Whether GStreamer has an element.
pub fn has_element(name: &str) -> bool {
    gst::init().expect("GStreamer starts");
    gst::ElementFactory::find(name).is_some()
}

/// Runs a pipeline that writes a file, to its end.
pub fn make(description: &str) {
    gst::init().expect("GStreamer starts");
    let pipeline = gst::parse::launch(description).unwrap_or_else(|error| panic!("{error}: {description}"));
    pipeline.set_state(gst::State::Playing).expect("the clip's pipeline starts");
    let bus = pipeline.bus().expect("a pipeline has a bus");
    let end = bus.timed_pop_filtered(
        gst::ClockTime::from_seconds(DEADLINE.as_secs()),
        &[gst::MessageType::Eos, gst::MessageType::Error],
    );
    pipeline.set_state(gst::State::Null).expect("the clip's pipeline stops");
    match end.as_ref().map(|message| message.view()) {
        Some(gst::MessageView::Eos(_)) => {}
        Some(gst::MessageView::Error(error)) => panic!("{}: {description}", error.error()),
        _ => panic!("no end: {description}"),
    }
}

pub const VIDEO: &str = "video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! x264enc speed-preset=ultrafast key-int-max=25 ! h264parse";
pub const AUDIO: &str = "audio/x-raw,format=S16LE,rate=16000,channels=1 ! audioconvert ! avenc_aac ! aacparse";

/// A clip of so many seconds with the parts that are wanted.
pub fn clip(folder: &Path, name: &str, seconds: u32, video: bool, audio: bool) -> PathBuf {
    let path = folder.join(name);
    let muxer = muxer(name);
    let mut description = format!("{muxer} name=mux ! filesink location={} ", path.display());
    if video {
        description += &format!("videotestsrc pattern=ball num-buffers={} ! {VIDEO} ! queue ! mux. ", 25 * seconds);
    }
    if audio {
        description +=
            &format!("audiotestsrc samplesperbuffer=1600 num-buffers={} ! {AUDIO} ! queue ! mux. ", 10 * seconds);
    }
    make(&description);
    path
}

pub fn muxer(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("mkv") => "matroskamux",
        Some("mov") => "qtmux",
        _ => "mp4mux faststart=true",
    }
}

/// The grey of each picture of a file with its time, and whether it has sound.
pub fn played(path: &Path) -> (Vec<(Duration, u8)>, bool) {
    gst::init().expect("a recording");
    let description = format!(
        "filesrc location={} ! decodebin name=d \
         d. ! queue ! videoconvert ! videoscale ! video/x-raw,format=GRAY8,width=16,height=16 ! appsink name=v sync=false \
         d. ! queue ! audioconvert ! fakesink name=a sync=false async=false",
        path.display()
    );
    let pipeline =
        gst::parse::launch(&description).expect("a recording").downcast::<gst::Pipeline>().expect("a recording");
    let sink = pipeline.by_name("v").expect("a recording").downcast::<gst_app::AppSink>().expect("a recording");
    pipeline.set_state(gst::State::Playing).expect("a recording");
    let mut pictures = Vec::new();
    while let Some(sample) = sink.try_pull_sample(gst::ClockTime::from_seconds(20)) {
        let buffer = sample.buffer().expect("a recording");
        let at = Duration::from_nanos(buffer.pts().expect("a recording").nseconds());
        pictures.push((at, buffer.map_readable().expect("a recording")[136]));
    }
    assert!(sink.is_eos(), "{} plays to its end", path.display());
    let sound =
        pipeline.by_name("a").expect("a recording").static_pad("sink").expect("a recording").current_caps().is_some();
    pipeline.set_state(gst::State::Null).expect("a recording");
    (pictures, sound)
}

/// The chunks in the order of time: the milliseconds at the end of a name have no leading zeros.
pub fn chunks(folder: &Path, source: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder.join(source))
        .map(|entries| entries.map(|entry| entry.expect("a recording").path()).collect())
        .unwrap_or_default();
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    found
}

/// The times of the blocks of sound in a file without pictures.
pub fn heard(path: &Path) -> Vec<Duration> {
    gst::init().expect("GStreamer starts");
    let description =
        format!("filesrc location={} ! decodebin ! appsink name=a sync=false caps=audio/x-raw", path.display());
    let pipeline = gst::parse::launch(&description).expect("valid").downcast::<gst::Pipeline>().expect("a pipeline");
    let sink = pipeline.by_name("a").expect("named").downcast::<gst_app::AppSink>().expect("an appsink");
    pipeline.set_state(gst::State::Playing).expect("it plays");
    let samples = std::iter::from_fn(|| sink.try_pull_sample(gst::ClockTime::from_seconds(20)));
    let times = samples.map(|sample| {
        let at = sample.buffer().and_then(|buffer| buffer.pts()).expect("sound has a time");
        Duration::from_nanos(at.nseconds())
    });
    let times = times.collect();
    assert!(sink.is_eos(), "{} plays to its end", path.display());
    pipeline.set_state(gst::State::Null).expect("it stops");
    times
}

/// Width and height of a file's pictures.
pub fn size_of(path: &Path) -> (i32, i32) {
    gst::init().expect("GStreamer starts");
    let description =
        format!("filesrc location={} ! decodebin ! appsink name=v sync=false caps=video/x-raw", path.display());
    let pipeline = gst::parse::launch(&description).expect("valid").downcast::<gst::Pipeline>().expect("a pipeline");
    let sink = pipeline.by_name("v").expect("named").downcast::<gst_app::AppSink>().expect("an appsink");
    pipeline.set_state(gst::State::Playing).expect("it plays");
    let sample = sink.try_pull_sample(gst::ClockTime::from_seconds(20)).expect("a picture");
    pipeline.set_state(gst::State::Null).expect("it stops");
    let caps = sample.caps().and_then(|caps| caps.structure(0)).expect("a picture has caps");
    (caps.get("width").expect("a width"), caps.get("height").expect("a height"))
}

/// One call of the consumer.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    Begin { session: String, start: Timestamp },
    Frame { stream: Duration, wall: Timestamp, size: (u32, u32), mean: u8, hash: u64 },
    Audio { stream: Duration, wall: Timestamp, samples: Vec<f32> },
    Subtitle(Subtitle),
    End(Duration),
}

impl Call {
    /// Where in the stream it belongs; the begin of a session has no place.
    pub fn stream(&self) -> Option<Duration> {
        match self {
            Self::Begin { .. } => None,
            Self::Frame { stream, .. } | Self::Audio { stream, .. } | Self::End(stream) => Some(*stream),
            Self::Subtitle(subtitle) => Some(subtitle.start),
        }
    }
}

#[derive(Default)]
struct Log {
    calls: Vec<Call>,
    /// While set, a picture is not returned from.
    closed: bool,
}

/// What a [`CallRecorder`] wrote.
#[derive(Clone, Default)]
pub struct Record(Arc<(Mutex<Log>, Condvar)>);

impl Record {
    pub fn calls(&self) -> Vec<Call> {
        self.0.0.lock().calls.clone()
    }

    /// Makes the consumer stand still at its next picture, or lets it go on.
    pub fn gate(&self, closed: bool) {
        self.0.0.lock().closed = closed;
        self.0.1.notify_all();
    }

    /// Waits until `holds`; panics with what was seen if it never does.
    pub fn wait(&self, what: &str, mut holds: impl FnMut(&[Call]) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        let mut log = self.0.0.lock();
        while !holds(&log.calls) {
            let timed_out = self.0.1.wait_until(&mut log, deadline).timed_out();
            assert!(!timed_out, "never: {what}; {} calls", log.calls.len());
        }
    }

    fn push(&self, call: Call) {
        self.0.0.lock().calls.push(call);
        self.0.1.notify_all();
    }

    pub fn frames(&self) -> Vec<(Duration, u8)> {
        let frame = |call: Call| if let Call::Frame { stream, mean, .. } = call { Some((stream, mean)) } else { None };
        self.calls().into_iter().filter_map(frame).collect()
    }

    pub fn subtitles(&self) -> Vec<Subtitle> {
        let subtitle = |call: Call| if let Call::Subtitle(subtitle) = call { Some(subtitle) } else { None };
        self.calls().into_iter().filter_map(subtitle).collect()
    }

    pub fn samples(&self) -> usize {
        self.calls().iter().map(|call| if let Call::Audio { samples, .. } = call { samples.len() } else { 0 }).sum()
    }

    pub fn begins(&self) -> Vec<(String, Timestamp)> {
        let begin = |call: Call| if let Call::Begin { session, start } = call { Some((session, start)) } else { None };
        self.calls().into_iter().filter_map(begin).collect()
    }

    pub fn ends(&self) -> Vec<Duration> {
        let end = |call: Call| if let Call::End(stream) = call { Some(stream) } else { None };
        self.calls().into_iter().filter_map(end).collect()
    }
}

/// Writes down every call.
pub struct CallRecorder {
    pub record: Record,
    pub interval: Duration,
}

impl MediaConsumer for CallRecorder {
    fn begin(&mut self, session: &str, start: Timestamp) {
        self.record.push(Call::Begin { session: session.into(), start });
    }

    fn frame(&mut self, frame: Frame<'_>) {
        assert_eq!(frame.rgb.len(), (frame.width * frame.height * 3) as usize, "packed RGB");
        let sum: u64 = frame.rgb.iter().map(|&byte| u64::from(byte)).sum();
        let hash = frame
            .rgb
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        self.record.push(Call::Frame {
            stream: frame.stream,
            wall: frame.wall,
            size: (frame.width, frame.height),
            mean: u8::try_from(sum / frame.rgb.len() as u64).unwrap_or(u8::MAX),
            hash,
        });
        let mut log = self.record.0.0.lock();
        while log.closed {
            self.record.0.1.wait(&mut log);
        }
    }

    fn audio(&mut self, block: AudioBlock<'_>) {
        self.record.push(Call::Audio { stream: block.stream, wall: block.wall, samples: block.samples.to_vec() });
    }

    fn subtitle(&mut self, subtitle: Subtitle) {
        self.record.push(Call::Subtitle(subtitle));
    }

    fn end(&mut self, stream: Duration) {
        self.record.push(Call::End(stream));
    }

    fn frame_interval(&self) -> Duration {
        self.interval
    }
}

/// Starts a source whose every picture is written down.
pub fn start(spec: SourceSpec) -> (SourceHandle, Record) {
    start_with(spec, Duration::ZERO, Arc::new(SystemClock::new()))
}

pub fn start_with(spec: SourceSpec, interval: Duration, clock: Arc<dyn Clock>) -> (SourceHandle, Record) {
    let record = Record::default();
    let recorder = CallRecorder { record: record.clone(), interval };
    (SourceHandle::start(spec, Box::new(recorder), clock).expect("the source's thread starts"), record)
}

/// Plays a file to its end.
pub fn play(spec: SourceSpec) -> (SourceStatus, Record) {
    let (source, record) = start(spec);
    assert!(source.wait_ended(Some(DEADLINE)), "it never ends: {:?}", source.status());
    let status = source.status();
    source.stop();
    check_contract(&record.calls());
    (status, record)
}

/// Waits for a status.
pub fn await_status(source: &SourceHandle, what: &str, holds: impl Fn(&SourceStatus) -> bool) -> SourceStatus {
    let deadline = Instant::now() + DEADLINE;
    let (_quiet, never) = std::sync::mpsc::sync_channel::<()>(0);
    loop {
        let status = source.status();
        if holds(&status) {
            return status;
        }
        assert!(Instant::now() < deadline, "never {what}: {status:?}");
        // Nothing announces a status; it is looked at again shortly.
        let _timeout = never.recv_timeout(Duration::from_millis(10));
    }
}

/// Waits until something is so that nobody announces.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    let (_quiet, never) = std::sync::mpsc::sync_channel::<()>(0);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        let _timeout = never.recv_timeout(Duration::from_millis(50));
    }
}

/// What [`MediaConsumer`] promises: sessions begin and end in turn, and inside one, stream time never goes back.
pub fn check_contract(calls: &[Call]) {
    let mut open: Option<(Timestamp, Duration)> = None;
    for call in calls {
        match call {
            Call::Begin { start, .. } => {
                assert!(open.is_none(), "a session begins inside another");
                open = Some((*start, Duration::ZERO));
            }
            call => {
                let (start, reached) = open.expect("nothing comes outside a session");
                let stream = call.stream().expect("it is no begin");
                assert!(stream >= reached, "{call:?} comes after {reached:?}");
                if let Call::Frame { wall, .. } | Call::Audio { wall, .. } = call {
                    assert_eq!(
                        *wall,
                        start.saturating_add(stream),
                        "wall time is the session's start plus stream time"
                    );
                }
                open = (!matches!(call, Call::End(_))).then_some((start, stream));
            }
        }
    }
    assert!(open.is_none(), "the last session has its end");
}

/// The machine's clock with a wall clock that can be set.
pub struct JumpingClock {
    inner: SystemClock,
    offset_micros: AtomicI64,
}

impl JumpingClock {
    pub fn new() -> Self {
        Self { inner: SystemClock::new(), offset_micros: AtomicI64::new(0) }
    }

    pub fn set_back(&self, by: Duration) {
        self.offset_micros.fetch_sub(i64::try_from(by.as_micros()).expect("a short time"), Ordering::SeqCst);
    }
}

impl Clock for JumpingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.inner.now().as_micros() + self.offset_micros.load(Ordering::SeqCst))
    }

    fn monotonic(&self) -> Duration {
        self.inner.monotonic()
    }
}
