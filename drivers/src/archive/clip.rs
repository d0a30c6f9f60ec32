//! Cuts a span exactly out of recordings: decodes from the key frame before it, drops what lies outside, and encodes the rest.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::encode::{H264, picture_encoder, sound_encoder};
use crate::pipeline::CaptureError;
use crate::pipeline::{Running, attach, media_of};
use crate::pipeline::{chain, init, make, set_if_present};

/// Maximum time to open a recording, and to finish a clip.
const CLIP_TIMEOUT: gst::ClockTime = gst::ClockTime::from_seconds(30);
/// Maximum time without output of a decoder.
const DECODER_TIMEOUT: gst::ClockTime = gst::ClockTime::from_seconds(20);
/// Format of the sound of every clip.
const SOUND_CAPS: &str = "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2";

/// A stretch of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClipPart {
    /// The file.
    pub path: PathBuf,
    /// Begin of the part, ...
    pub from: Duration,
    /// ... to here.
    pub to: Duration,
}

/// Why there is no clip.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClipError {
    /// No recording has any of it.
    #[error("no recording has any of these seconds")]
    Nothing,
    /// Neither `.mkv` nor `.mp4`.
    #[error("{} is neither .mkv nor .mp4; choose a file name with one of these endings", .0.display())]
    Container(PathBuf),
    /// GStreamer lacks something.
    #[error(transparent)]
    Missing(#[from] CaptureError),
    /// A recording cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The recording.
        path: PathBuf,
        /// GStreamer's reason.
        reason: String,
    },
    /// The clip cannot be written.
    #[error("{}: {reason}", path.display())]
    Unwritable {
        /// The clip.
        path: PathBuf,
        /// GStreamer's reason.
        reason: String,
    },
}

/// Writes `parts`, one after the other, as one clip to `out`; its name says whether it is Matroska or MP4. Returns its length.
///
/// Pictures take the size of the first part. A clip has sound, and pictures, if every part has them.
///
/// # Errors
/// See [`ClipError`]; what was written of the clip is removed.
pub fn clip(parts: &[ClipPart], out: &Path) -> Result<Duration, ClipError> {
    init()?;
    let extension = out.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase();
    let mp4 = match extension.as_str() {
        "mkv" => false,
        "mp4" => true,
        _ => return Err(ClipError::Container(out.to_owned())),
    };
    let mut opened = Vec::with_capacity(parts.len());
    for part in parts.iter().filter(|part| part.to > part.from) {
        opened.push(Opened::open(part)?);
    }
    let pictures = opened.iter().all(|part| part.pictures.is_some());
    let sound = opened.iter().all(|part| part.sound.is_some());
    if opened.is_empty() || !(pictures || sound) {
        return Err(ClipError::Nothing);
    }
    let size = opened.first().and_then(Opened::picture_caps).filter(|_| pictures);
    let rate = opened.first().and_then(Opened::picture_rate);
    let written = write(&opened, out, mp4, size.zip(rate), sound);
    if written.is_err() {
        // Half a clip helps nobody; the error is what counts.
        drop(std::fs::remove_file(out));
    }
    written
}

fn write(
    parts: &[Opened],
    out: &Path,
    mp4: bool,
    pictures: Option<(gst::Caps, gst::Fraction)>,
    sound: bool,
) -> Result<Duration, ClipError> {
    let failed = |reason: String| ClipError::Unwritable { path: out.to_owned(), reason };
    // Without a rate, MP4 would show the last picture for no time at all.
    let rated = pictures.as_ref().map(|(size, rate)| {
        let mut caps = size.clone();
        caps.make_mut().set("framerate", *rate);
        caps
    });
    let output = Output::open(out, mp4, rated.as_ref(), sound)?;
    let mut base = Duration::ZERO;
    for part in parts {
        if let Some((size, _)) = &pictures {
            part.fit(size);
        }
        part.seek()?;
        part.pump(&output, base)?;
        if let Some(reason) = output.error() {
            return Err(failed(reason));
        }
        base += part.part.to - part.part.from;
    }
    output.finish().map_err(failed)?;
    Ok(base)
}

/// A part that can be played.
struct Opened {
    part: ClipPart,
    pipeline: Running,
    pictures: Option<gst_app::AppSink>,
    sound: Option<gst_app::AppSink>,
}

impl Opened {
    fn open(part: &ClipPart) -> Result<Self, ClipError> {
        let failed = |reason: String| ClipError::Unreadable { path: part.path.clone(), reason };
        let pipeline = Running(gst::Pipeline::new());
        let (source, decode) = (make("filesrc")?, make("decodebin")?);
        source.set_property("location", &part.path);
        chain(pipeline.0.upcast_ref(), &[&source, &decode]).map_err(|error| failed(error.to_string()))?;
        let weak = pipeline.0.downgrade();
        decode.connect_pad_added(move |_, pad| {
            let Some(pipeline) = weak.upgrade() else { return };
            let media = media_of(pad);
            let named = if media.starts_with("video/") { "pictures" } else { "sound" };
            let wanted =
                (media.starts_with("video/") || media.starts_with("audio/")) && pipeline.by_name(named).is_none();
            let branch = if wanted { branch(named) } else { make("fakesink").map(|swallow| vec![swallow]) };
            let linked = branch
                .map_err(|error| error.to_string())
                .and_then(|branch| attach(pipeline.upcast_ref(), pad, &branch));
            if let Err(reason) = linked {
                tracing::warn!(stream = media, reason, "a stream is omitted from the clip");
            }
        });
        let begun = pipeline.0.set_state(gst::State::Paused);
        let opened = Self { part: part.clone(), pipeline, pictures: None, sound: None };
        if begun.is_err() {
            return Err(opened.failed(opened.bus_error().unwrap_or_else(|| "it does not open".into())));
        }
        opened.wait_ready()?;
        let sink = |name: &str| opened.pipeline.0.by_name(name).and_then(|sink| sink.downcast().ok());
        let (pictures, sound) = (sink("pictures"), sink("sound"));
        Ok(Self { pictures, sound, ..opened })
    }

    fn picture_caps(&self) -> Option<gst::Caps> {
        let caps = self.pictures.as_ref()?.static_pad("sink")?.current_caps()?;
        let structure = caps.structure(0)?;
        let (width, height) = (structure.get::<i32>("width").ok()?, structure.get::<i32>("height").ok()?);
        // Encoders of 4:2:0 want even sizes.
        let even = |side: i32| (side & !1).max(16);
        Some(
            gst::Caps::builder("video/x-raw")
                .field("format", "I420")
                .field("width", even(width))
                .field("height", even(height))
                .field("pixel-aspect-ratio", gst::Fraction::new(1, 1))
                .build(),
        )
    }

    /// Pictures a second; 25 where the recording does not say.
    fn picture_rate(&self) -> Option<gst::Fraction> {
        let caps = self.pictures.as_ref()?.static_pad("sink")?.current_caps()?;
        let rate = caps.structure(0)?.get::<gst::Fraction>("framerate").ok();
        Some(rate.filter(|rate| rate.numer() > 0).unwrap_or_else(|| gst::Fraction::new(25, 1)))
    }

    /// Sets the caps of pictures from now on.
    fn fit(&self, caps: &gst::Caps) {
        if let Some(pictures) = &self.pictures {
            pictures.set_caps(Some(caps));
        }
    }

    fn seek(&self) -> Result<(), ClipError> {
        let time = |at: Duration| gst::ClockTime::from_nseconds(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
        let sought = self.pipeline.0.seek(
            1.0,
            gst::SeekFlags::FLUSH | gst::SeekFlags::ACCURATE,
            gst::SeekType::Set,
            time(self.part.from),
            gst::SeekType::Set,
            time(self.part.to),
        );
        if let Err(error) = sought {
            return Err(self.failed(format!("seconds cannot be found in it: {error}")));
        }
        self.wait_ready()?;
        self.pipeline.0.set_state(gst::State::Playing).map(|_| ()).map_err(|error| self.failed(error.to_string()))
    }

    fn wait_ready(&self) -> Result<(), ClipError> {
        let bus = self.pipeline.0.bus();
        let said = bus.and_then(|bus| {
            bus.timed_pop_filtered(CLIP_TIMEOUT, &[gst::MessageType::AsyncDone, gst::MessageType::Error])
        });
        match said.as_ref().map(|message| message.view()) {
            Some(gst::MessageView::AsyncDone(_)) => Ok(()),
            Some(gst::MessageView::Error(error)) => Err(self.failed(error.error().message().to_owned())),
            _ => Err(self.failed("it does not open".into())),
        }
    }

    fn failed(&self, reason: String) -> ClipError {
        ClipError::Unreadable { path: self.part.path.clone(), reason }
    }

    /// Moves everything of the part to the output, in order of time: the muxer waits for the slower track.
    fn pump(&self, output: &Output, base: Duration) -> Result<(), ClipError> {
        let mut tracks: Vec<(&gst_app::AppSink, &gst_app::AppSrc, Option<Stamped>)> = Vec::new();
        for (sink, source) in [(&self.pictures, &output.pictures), (&self.sound, &output.sound)] {
            match (sink, source) {
                (Some(sink), Some(source)) => tracks.push((sink, source, None)),
                // Not in the clip: it must not hold up the other.
                (Some(sink), None) => sink.set_property("drop", true),
                (None, _) => {}
            }
        }
        let length = self.part.to - self.part.from;
        loop {
            for (sink, _, head) in &mut tracks {
                while head.is_none() && !sink.is_eos() {
                    match sink.try_pull_sample(DECODER_TIMEOUT) {
                        Some(sample) => *head = Stamped::within(&sample, length),
                        None if sink.is_eos() => break,
                        None => return Err(self.failed(self.bus_error().unwrap_or_else(|| "it stands still".into()))),
                    }
                }
            }
            let next = tracks
                .iter_mut()
                .filter(|(_, _, head)| head.is_some())
                .min_by_key(|(_, _, head)| head.as_ref().map_or(Duration::MAX, |head| head.at));
            let Some((_, source, head)) = next else { break };
            if let Some(head) = head.take() {
                // A clip that cannot be written says so on its bus.
                if source.push_buffer(head.shifted(base)).is_err() {
                    break;
                }
            }
        }
        self.bus_error().map_or(Ok(()), |reason| Err(self.failed(reason)))
    }

    fn bus_error(&self) -> Option<String> {
        let message = self.pipeline.0.bus()?.pop_filtered(&[gst::MessageType::Error])?;
        let gst::MessageView::Error(error) = message.view() else { return None };
        Some(error.error().message().to_owned())
    }
}

/// A decoded buffer and when it is shown, counted from the begin of its part.
struct Stamped {
    at: Duration,
    buffer: gst::Buffer,
}

impl Stamped {
    /// `None` for what lies outside the part.
    fn within(sample: &gst::SampleRef, length: Duration) -> Option<Self> {
        let buffer = sample.buffer_owned()?;
        let segment = sample.segment()?.downcast_ref::<gst::ClockTime>()?;
        let at = segment.to_running_time(buffer.pts()?)?;
        let at = Duration::from_nanos(at.nseconds());
        (at < length).then_some(Self { at, buffer })
    }

    fn shifted(self, base: Duration) -> gst::Buffer {
        let mut buffer = self.buffer;
        let at = u64::try_from((base + self.at).as_nanos()).unwrap_or(u64::MAX);
        let inner = buffer.make_mut();
        inner.set_pts(gst::ClockTime::from_nseconds(at));
        inner.set_dts(None::<gst::ClockTime>);
        buffer
    }
}

/// Builds the chain from a decoder to a sink of raw media in the clip's format.
fn branch(name: &str) -> Result<Vec<gst::Element>, CaptureError> {
    let sink = gst_app::AppSink::builder().name(name).sync(false).max_buffers(8).enable_last_sample(false).build();
    let (names, caps): (&[&str], &str) = match name {
        "pictures" => (&["queue", "videoconvert", "videoscale"], "video/x-raw,format=I420"),
        _ => (&["queue", "audioconvert", "audioresample"], SOUND_CAPS),
    };
    sink.set_caps(Some(&caps.parse().expect("the caps are written right")));
    let mut branch: Vec<gst::Element> = names.iter().map(|name| make(name)).collect::<Result<_, _>>()?;
    branch.push(sink.upcast());
    Ok(branch)
}

/// The clip that is written.
struct Output {
    pipeline: Running,
    pictures: Option<gst_app::AppSrc>,
    sound: Option<gst_app::AppSrc>,
}

impl Output {
    fn open(path: &Path, mp4: bool, pictures: Option<&gst::Caps>, sound: bool) -> Result<Self, ClipError> {
        let failed = |reason: &dyn std::fmt::Display| ClipError::Unwritable {
            path: path.to_owned(),
            reason: reason.to_string(),
        };
        let pipeline = Running(gst::Pipeline::new());
        let bin: &gst::Bin = pipeline.0.upcast_ref();
        let (mux, file) = (make(if mp4 { "mp4mux" } else { "matroskamux" })?, make("filesink")?);
        set_if_present(&mux, "faststart", "true");
        file.set_property("location", path);
        chain(bin, &[&mux, &file]).map_err(|error| failed(&error))?;
        let input = |caps: &gst::Caps, encoder: Vec<gst::Element>| -> Result<gst_app::AppSrc, ClipError> {
            let source = gst_app::AppSrc::builder().caps(caps).format(gst::Format::Time).build();
            set_if_present(source.upcast_ref(), "max-bytes", "67108864");
            set_if_present(source.upcast_ref(), "block", "true");
            let mut elements: Vec<gst::Element> = vec![source.clone().upcast()];
            elements.extend(encoder);
            elements.push(make("queue")?);
            let borrowed: Vec<&gst::Element> = elements.iter().collect();
            chain(bin, &borrowed).map_err(|error| failed(&error))?;
            borrowed.last().map_or(Ok(()), |last| last.link(&mux)).map_err(|error| failed(&error))?;
            Ok(source)
        };
        let pictures = pictures.map(|caps| input(caps, picture_encoder(mp4.then_some(H264))?)).transpose()?;
        let sound_caps: gst::Caps = SOUND_CAPS.parse().expect("the caps are written right");
        // MP4 players know AAC; what is recorded knows Opus.
        let sound = match (sound, mp4) {
            (false, _) => None,
            (true, false) => Some(input(&sound_caps, sound_encoder(None)?)?),
            (true, true) => {
                let encoder = make("avenc_aac").or_else(|_| make("voaacenc"))?;
                Some(input(&sound_caps, vec![make("audioconvert")?, encoder, make("aacparse")?])?)
            }
        };
        if pipeline.0.set_state(gst::State::Playing).is_err() {
            let output = Self { pipeline, pictures, sound };
            return Err(failed(&output.error().unwrap_or_else(|| "cannot be written".into())));
        }
        Ok(Self { pipeline, pictures, sound })
    }

    fn error(&self) -> Option<String> {
        let message = self.pipeline.0.bus()?.pop_filtered(&[gst::MessageType::Error])?;
        let gst::MessageView::Error(error) = message.view() else { return None };
        Some(error.error().message().to_owned())
    }

    fn finish(self) -> Result<(), String> {
        for input in [&self.pictures, &self.sound].into_iter().flatten() {
            if input.end_of_stream().is_err() {
                return Err(self.error().unwrap_or_else(|| "the clip broke off".into()));
            }
        }
        let Some(bus) = self.pipeline.0.bus() else { return Ok(()) };
        let end = bus.timed_pop_filtered(CLIP_TIMEOUT, &[gst::MessageType::Eos, gst::MessageType::Error]);
        match end.as_ref().map(|message| message.view()) {
            Some(gst::MessageView::Eos(_)) => Ok(()),
            Some(gst::MessageView::Error(error)) => Err(error.error().message().to_owned()),
            _ => Err("the clip was not finished in time".into()),
        }
    }
}
