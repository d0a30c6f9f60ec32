//! Decodes pictures and sound of an interval of a recording, at any rate and size.
//!
//! A picture that is near the one before is decoded on the way to it; one that is farther is sought, which decodes from the key
//! picture before it. A recording that cannot be sought (a chunk that a kill cut short has no index) is decoded from its begin.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;
use parking_lot::Mutex;

use super::clip::ClipError;
use crate::encoders::Picture;
use crate::pipeline::{PictureConverter, demuxed, is_audio_or_video, read_samples};
use crate::pipeline::{Running, attach, media_of, sound_caps};
use crate::pipeline::{chain, init, make, set_if_present};

/// Maximum time to open a recording, and without output of a decoder.
const DECODE_TIMEOUT: Duration = Duration::from_secs(10);
/// Distance from which a picture is reached by a seek: about that of key frames.
const SEEK_DISTANCE: Duration = Duration::from_secs(3);
/// How much earlier than the requested time a picture may be.
const MAX_EARLY: Duration = Duration::from_millis(20);
/// Maximum number of decoded pictures in a queue.
const MAX_QUEUED: u32 = 3;

/// A part of a recording in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingPart {
    /// The file.
    pub path: PathBuf,
    /// Stream time of the begin of the file.
    pub begin: Duration,
    /// Begin of the part in stream time, ...
    pub from: Duration,
    /// ... to here.
    pub to: Duration,
}

/// How pictures are decoded.
#[derive(Clone, Copy)]
pub struct FrameOptions<'a> {
    /// Maximum length of the shorter edge in pixels; `None` keeps the size.
    pub short_edge: Option<u32>,
    /// Maximum number of bytes of decoded pictures at once; larger pictures are scaled down.
    pub ceiling_bytes: usize,
    /// Time at which to give up.
    pub deadline: Instant,
    /// Whether to give up now.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// Result of decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decoded {
    /// Pictures, or blocks of sound, that were handed on.
    pub count: usize,
    /// Most bytes that were in memory at once.
    pub bytes: usize,
}

/// Hands on the picture of each of `times` (stream times in ascending order), with its own time. A moment that no stretch has is
/// left out, and so is one in a part of a file that cannot be decoded.
///
/// # Errors
/// [`ClipError::Nothing`] if there is no picture at all and nothing failed; otherwise the first failure if there is none.
pub fn pictures(
    stretches: &[RecordingPart],
    times: &[Duration],
    options: FrameOptions<'_>,
    mut each: impl FnMut(Duration, &Picture<'_>),
) -> Result<Decoded, ClipError> {
    let mut decoded = Decoded::default();
    let mut failure = None;
    for stretch in stretches {
        let own: Vec<Duration> = times.iter().copied().filter(|at| (stretch.from..stretch.to).contains(at)).collect();
        if own.is_empty() {
            continue;
        }
        if given_up(&options) {
            break;
        }
        if let Err(error) = of_file(stretch, &own, &options, &mut decoded, &mut each) {
            failure = failure.or(Some(error));
        }
    }
    match (decoded.count, failure) {
        (0, failure) => Err(failure.unwrap_or(ClipError::Nothing)),
        _ => Ok(decoded),
    }
}

fn given_up(options: &FrameOptions<'_>) -> bool {
    (options.cancelled)() || Instant::now() >= options.deadline
}

fn of_file(
    stretch: &RecordingPart,
    times: &[Duration],
    options: &FrameOptions<'_>,
    decoded: &mut Decoded,
    each: &mut impl FnMut(Duration, &Picture<'_>),
) -> Result<(), ClipError> {
    let reader = FileReader::open(&stretch.path, WantedStream::Pictures)?;
    let mut converter: Option<PictureConverter> = None;
    // A recording of a live source carries no time of the session: it begins with its first picture.
    let mut at: Option<Duration> = None;
    for time in times {
        if given_up(options) {
            return Ok(());
        }
        let wanted = time.saturating_sub(stretch.begin);
        if at.is_none_or(|at| wanted < at || wanted > at + SEEK_DISTANCE) && (at.is_some() || wanted > SEEK_DISTANCE) {
            // What cannot be sought is decoded on the way.
            drop(reader.seek(wanted));
        }
        let Some((found, sample)) = reader.until(wanted, options)? else { return Ok(()) };
        at = Some(found);
        let converter = converter.get_or_insert_with(|| PictureConverter::new(width_for(&sample, options)));
        let Some((width, height, rgb)) = converter.convert(&sample) else { continue };
        decoded.count += 1;
        let raw = sample.buffer().map_or(0, gst::BufferRef::size);
        decoded.bytes = decoded.bytes.max(raw * (MAX_QUEUED as usize + 1) + rgb.len());
        each(stretch.begin + found, &Picture { width, height, rgb });
    }
    Ok(())
}

/// The width at which a picture has the wanted short edge and stays below the ceiling.
fn width_for(sample: &gst::SampleRef, options: &FrameOptions<'_>) -> u32 {
    let side = |name: &str| {
        let caps = sample.caps().and_then(|caps| caps.structure(0));
        caps.and_then(|caps| caps.get::<i32>(name).ok()).and_then(|side| u32::try_from(side).ok()).unwrap_or(640).max(1)
    };
    let (width, height) = (side("width"), side("height"));
    let by_edge = options.short_edge.map_or(1.0, |edge| f64::from(edge) / f64::from(width.min(height)));
    // The picture, and as much again for a tile of it and its tensor.
    let bytes = f64::from(width) * f64::from(height) * 6.0;
    #[expect(clippy::cast_precision_loss, reason = "bytes of a picture")]
    let by_ceiling = (options.ceiling_bytes.max(1) as f64 / bytes).sqrt();
    (f64::from(width) * by_edge.min(by_ceiling).min(1.0)).round().max(2.0) as u32
}

/// Hands on the mono sound at 16 kHz of the stretches, block by block, each with its stream time.
///
/// # Errors
/// As [`pictures`]; a recording without sound has nothing.
pub fn sound(
    stretches: &[RecordingPart],
    options: FrameOptions<'_>,
    mut each: impl FnMut(Duration, &[f32]),
) -> Result<Decoded, ClipError> {
    let mut decoded = Decoded::default();
    let mut failure = None;
    for stretch in stretches {
        if given_up(&options) {
            break;
        }
        if let Err(error) = sound_of_file(stretch, &options, &mut decoded, &mut each) {
            failure = failure.or(Some(error));
        }
    }
    match (decoded.count, failure) {
        (0, failure) => Err(failure.unwrap_or(ClipError::Nothing)),
        _ => Ok(decoded),
    }
}

fn sound_of_file(
    stretch: &RecordingPart,
    options: &FrameOptions<'_>,
    decoded: &mut Decoded,
    each: &mut impl FnMut(Duration, &[f32]),
) -> Result<(), ClipError> {
    let reader = FileReader::open(&stretch.path, WantedStream::Sound)?;
    let from = stretch.from.saturating_sub(stretch.begin);
    if from > Duration::ZERO {
        drop(reader.seek(from));
    }
    let mut samples = Vec::new();
    let mut wanted = from;
    while !given_up(options) {
        let Some((at, sample)) = reader.until(wanted, options)? else { return Ok(()) };
        if at >= stretch.to.saturating_sub(stretch.begin) {
            return Ok(());
        }
        if read_samples(&sample, &mut samples) {
            decoded.count += 1;
            decoded.bytes = decoded.bytes.max(samples.len() * size_of::<f32>());
            each(stretch.begin + at, &samples);
        }
        wanted = at;
    }
    Ok(())
}

/// Which stream of a file is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WantedStream {
    Pictures,
    Sound,
}

/// One stream of one file.
struct FileReader {
    path: PathBuf,
    pipeline: Running,
    sink: gst_app::AppSink,
}

impl FileReader {
    fn open(path: &Path, wanted: WantedStream) -> Result<Self, ClipError> {
        init()?;
        let failed = |reason: String| ClipError::Unreadable { path: path.to_owned(), reason };
        if !path.is_file() {
            return Err(ClipError::Nothing);
        }
        let pipeline = Running(gst::Pipeline::new());
        let (source, decode) = (make("filesrc")?, make("decodebin")?);
        source.set_property("location", path);
        set_if_present(&decode, "max-size-bytes", &(16_u32 << 20).to_string());
        chain(pipeline.0.upcast_ref(), &[&source, &decode]).map_err(|error| failed(error.to_string()))?;
        // Of the other streams nothing is decoded.
        decode.connect("autoplug-continue", false, move |values| {
            let unwanted = demuxed(values).is_some_and(|media| {
                !is_audio_or_video(&media) || (wanted == WantedStream::Sound) != media.starts_with("audio/")
            });
            Some((!unwanted).to_value())
        });
        let branch = branch(wanted)?;
        let sink: gst_app::AppSink =
            branch.last().cloned().and_then(|sink| sink.downcast().ok()).expect("the branch ends in an appsink");
        let waiting = Arc::new(Mutex::new(Some(branch)));
        let weak = pipeline.0.downgrade();
        decode.connect_pad_added(move |_, pad| {
            let Some(pipeline) = weak.upgrade() else { return };
            let raw = if wanted == WantedStream::Pictures { "video/x-raw" } else { "audio/x-raw" };
            let branch = (media_of(pad) == raw).then(|| waiting.lock().take()).flatten();
            let branch = branch.map_or_else(
                || {
                    let sink = make("fakesink")?;
                    sink.set_property("async", false);
                    Ok(vec![sink])
                },
                Ok::<_, crate::pipeline::CaptureError>,
            );
            let linked = branch
                .map_err(|error| error.to_string())
                .and_then(|branch| attach(pipeline.upcast_ref(), pad, &branch));
            if let Err(reason) = linked {
                tracing::debug!(stream = media_of(pad), reason, "a stream is not looked at");
            }
        });
        let begun = pipeline.0.set_state(gst::State::Paused);
        let reader = Self { path: path.to_owned(), pipeline, sink };
        if begun.is_err() {
            return Err(reader.failed(reader.bus_error().unwrap_or_else(|| "it does not open".to_owned())));
        }
        reader.ready()?;
        if reader.sink.parent().is_none() {
            return Err(ClipError::Nothing);
        }
        reader.pipeline.0.set_state(gst::State::Playing).map_err(|error| reader.failed(error.to_string()))?;
        Ok(reader)
    }

    /// Goes to a moment of the file.
    fn seek(&self, at: Duration) -> Result<(), gst::glib::BoolError> {
        let time = gst::ClockTime::from_nseconds(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
        self.pipeline.0.seek_simple(gst::SeekFlags::FLUSH | gst::SeekFlags::ACCURATE, time)
    }

    /// The first sample at or after a moment of the file, with its time; `None` at the end.
    fn until(
        &self,
        wanted: Duration,
        options: &FrameOptions<'_>,
    ) -> Result<Option<(Duration, gst::Sample)>, ClipError> {
        let mut last = None;
        let begin = Instant::now();
        while !given_up(options) {
            let Some(sample) = self.sink.try_pull_sample(gst::ClockTime::from_mseconds(100)) else {
                if self.sink.is_eos() {
                    // The last picture lasts to the end.
                    return Ok(last);
                }
                if let Some(reason) = self.bus_error() {
                    return match last {
                        Some(last) => Ok(Some(last)),
                        None => Err(self.failed(reason)),
                    };
                }
                if begin.elapsed() > DECODE_TIMEOUT {
                    return Err(self.failed("it stands still".to_owned()));
                }
                continue;
            };
            let Some((at, length)) = place(&sample) else { continue };
            if at + length.max(MAX_EARLY) > wanted {
                return Ok(Some((at, sample)));
            }
            last = Some((at, sample));
        }
        Ok(None)
    }

    fn ready(&self) -> Result<(), ClipError> {
        let wait = gst::ClockTime::from_nseconds(u64::try_from(DECODE_TIMEOUT.as_nanos()).unwrap_or(u64::MAX));
        let bus = self.pipeline.0.bus();
        let said =
            bus.and_then(|bus| bus.timed_pop_filtered(wait, &[gst::MessageType::AsyncDone, gst::MessageType::Error]));
        match said.as_ref().map(|message| message.view()) {
            Some(gst::MessageView::AsyncDone(_)) => Ok(()),
            Some(gst::MessageView::Error(error)) => Err(self.failed(error.error().message().to_owned())),
            _ => Err(self.failed("it does not open in time".to_owned())),
        }
    }

    fn bus_error(&self) -> Option<String> {
        let message = self.pipeline.0.bus()?.pop_filtered(&[gst::MessageType::Error])?;
        let gst::MessageView::Error(error) = message.view() else { return None };
        Some(error.error().message().to_owned())
    }

    fn failed(&self, reason: String) -> ClipError {
        ClipError::Unreadable { path: self.path.clone(), reason }
    }
}

/// Returns when a sample is shown in its file, and for how long.
fn place(sample: &gst::SampleRef) -> Option<(Duration, Duration)> {
    let buffer = sample.buffer()?;
    let segment = sample.segment()?.downcast_ref::<gst::ClockTime>()?;
    let at = segment.to_stream_time(buffer.pts()?)?;
    let nanos = |time: gst::ClockTime| Duration::from_nanos(time.nseconds());
    Some((nanos(at), buffer.duration().map_or(Duration::ZERO, nanos)))
}

fn branch(wanted: WantedStream) -> Result<Vec<gst::Element>, ClipError> {
    let sink = gst_app::AppSink::builder().sync(false).max_buffers(MAX_QUEUED).enable_last_sample(false).build();
    let mut branch = Vec::new();
    match wanted {
        WantedStream::Pictures => {
            sink.set_caps(Some(&gst::Caps::builder("video/x-raw").build()));
            branch.push(make("videoconvert")?);
            // Phones store pictures as the sensor lies and say how to turn them.
            if let Ok(flip) = make("videoflip") {
                set_if_present(&flip, "method", "automatic");
                branch.push(flip);
            }
        }
        WantedStream::Sound => {
            sink.set_caps(Some(&sound_caps()));
            branch.extend([make("audioconvert")?, make("audioresample")?]);
        }
    }
    branch.push(sink.upcast());
    Ok(branch)
}
