//! The branch of the capture pipeline that feeds a recording: a tee and a queue that drops instead of blocking.

use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::encode::{picture_encoder, sound_encoder};
use super::recorder::{Recorder, Sample, Track};
use crate::pipeline::CaptureError;
use crate::pipeline::attach;
use crate::pipeline::{make, set_if_present};

/// Maximum length that the branch holds before it drops, in nanoseconds.
const MAX_HELD_NS: &str = "3000000000";

/// Puts a tee in front of a sink that is linked already, and records what goes there.
pub(crate) fn tap_sink(bin: &gst::Bin, sink: &gst::Element, recorder: &Recorder) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let Some(pad) = sink.static_pad("sink") else { return Ok(()) };
    // Not linked yet: its stream is recorded before it is decoded.
    let Some(peer) = pad.peer() else { return Ok(()) };
    let tee = make("tee").map_err(|error| said(&error))?;
    bin.add(&tee).map_err(|error| said(&error))?;
    peer.unlink(&pad).map_err(|error| said(&error))?;
    let entrance = tee.static_pad("sink").ok_or("a tee has no sink pad")?;
    peer.link(&entrance).map_err(|error| said(&error))?;
    tee.link(sink).map_err(|error| said(&error))?;
    watch(bin, &tee, recorder);
    Ok(())
}

/// Records what goes through `tee`, from the moment when it is known what that is.
pub(crate) fn watch(bin: &gst::Bin, tee: &gst::Element, recorder: &Recorder) {
    tee.set_property("allow-not-linked", true);
    let Some(entrance) = tee.static_pad("sink") else { return };
    let (bin, weak, recorder) = (bin.downgrade(), tee.downgrade(), recorder.clone());
    entrance.add_probe(gst::PadProbeType::EVENT_DOWNSTREAM, move |_, info| {
        let Some(gst::PadProbeData::Event(event)) = &info.data else { return gst::PadProbeReturn::Ok };
        let gst::EventView::Caps(caps) = event.view() else { return gst::PadProbeReturn::Ok };
        if let (Some(bin), Some(tee), Some(structure)) = (bin.upgrade(), weak.upgrade(), caps.caps().structure(0)) {
            // Without its recording, the source still perceives.
            if let Err(reason) = join(&bin, &tee, structure, &recorder) {
                tracing::warn!(stream = %structure.name(), reason, "a stream is not recorded");
            }
        }
        gst::PadProbeReturn::Remove
    });
}

fn join(bin: &gst::Bin, tee: &gst::Element, caps: &gst::StructureRef, recorder: &Recorder) -> Result<(), String> {
    let (track, mut branch) = branch(caps)?;
    let queue = make("queue").map_err(|error| error.to_string())?;
    for (property, value) in [
        ("leaky", "downstream"),
        ("max-size-time", MAX_HELD_NS),
        ("max-size-buffers", "0"),
        ("max-size-bytes", "33554432"),
    ] {
        set_if_present(&queue, property, value);
    }
    branch.insert(0, queue);
    branch.push(sink(track, recorder).upcast());
    recorder.expect(track);
    let pad = tee.request_pad_simple("src_%u").ok_or("the tee has no more pads")?;
    attach(bin, &pad, &branch)
}

/// Returns the elements that make a stream fit for Matroska.
fn branch(caps: &gst::StructureRef) -> Result<(Track, Vec<gst::Element>), String> {
    let made = |names: &[&str]| -> Result<Vec<gst::Element>, String> {
        names.iter().map(|name| make(name).map_err(|error| error.to_string())).collect()
    };
    let encoded = |chain: Result<Vec<gst::Element>, CaptureError>| chain.map_err(|error| error.to_string());
    let text = |field: &str| caps.get::<&str>(field).unwrap_or_default().to_ascii_uppercase();
    Ok(match caps.name().as_str() {
        "video/x-raw" => (Track::Picture, encoded(picture_encoder(None))?),
        "audio/x-raw" => (Track::Sound, encoded(sound_encoder(None))?),
        "image/jpeg" => (Track::Picture, made(&["jpegparse"])?),
        "video/x-h264" => (Track::Picture, made(&["h264parse"])?),
        "video/x-h265" => (Track::Picture, made(&["h265parse"])?),
        "application/x-rtp" => match (text("media").as_str(), text("encoding-name").as_str()) {
            ("VIDEO", "H264") => (Track::Picture, made(&["rtph264depay", "h264parse"])?),
            ("VIDEO", "H265") => (Track::Picture, made(&["rtph265depay", "h265parse"])?),
            ("VIDEO", "VP8") => (Track::Picture, made(&["rtpvp8depay"])?),
            ("VIDEO", "JPEG") => (Track::Picture, made(&["rtpjpegdepay", "jpegparse"])?),
            ("AUDIO", "MPEG4-GENERIC") => (Track::Sound, made(&["rtpmp4gdepay", "aacparse"])?),
            ("AUDIO", "OPUS") => (Track::Sound, made(&["rtpopusdepay", "opusparse"])?),
            ("AUDIO", "PCMU") => (Track::Sound, made(&["rtppcmudepay"])?),
            ("AUDIO", "PCMA") => (Track::Sound, made(&["rtppcmadepay"])?),
            (media, encoding) => return Err(format!("{media} as {encoding} is not known to the archive")),
        },
        other => return Err(format!("{other} is not known to the archive")),
    })
}

fn sink(track: Track, recorder: &Recorder) -> gst_app::AppSink {
    // What Matroska stores of the formats that come in several packings.
    let caps = match track {
        Track::Picture => [
            "video/x-h264,stream-format=avc,alignment=au",
            "video/x-h265,stream-format=hvc1,alignment=au",
            "video/x-vp8",
            "image/jpeg",
        ]
        .as_slice(),
        Track::Sound => &[
            "audio/x-opus",
            "audio/mpeg,stream-format=raw",
            "audio/x-vorbis",
            "audio/x-flac",
            "audio/x-mulaw",
            "audio/x-alaw",
        ],
    };
    let sink = gst_app::AppSink::builder()
        .sync(false)
        .async_(false)
        .enable_last_sample(false)
        .caps(&caps.join("; ").parse().expect("the caps are written right"))
        .build();
    let recorder = recorder.clone();
    sink.set_callbacks(
        gst_app::AppSinkCallbacks::builder()
            .new_sample(move |sink| {
                let sample = sink.pull_sample().map_err(|_| gst::FlowError::Eos)?;
                if let Some(sample) = stamped(track, &sample) {
                    recorder.take(sample);
                }
                Ok(gst::FlowSuccess::Ok)
            })
            .build(),
    );
    sink
}

/// A sample with its stream time.
fn stamped(track: Track, sample: &gst::SampleRef) -> Option<Sample> {
    let buffer = sample.buffer_owned()?;
    let caps = sample.caps_owned()?;
    let segment = sample.segment()?.downcast_ref::<gst::ClockTime>()?;
    let time = |at: Option<gst::ClockTime>| segment.to_running_time(at?).map(|at| Duration::from_nanos(at.nseconds()));
    let decode = time(buffer.dts());
    let shown = time(buffer.pts()).or(decode)?;
    let keyframe = !buffer.flags().contains(gst::BufferFlags::DELTA_UNIT);
    Some(Sample { track, caps, buffer, shown, decode, keyframe })
}
