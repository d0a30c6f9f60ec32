//! The pipelines of live sources.

use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::board_memory;
use super::spec::{CameraFormat, SourceKind, SourceSpec};
use crate::archive::{Recorder, tap_sink, watch};
use crate::pipeline::CaptureError;
use crate::pipeline::{attach, fitted, media_of, sound_caps};
use crate::pipeline::{chain, make, set_if_present};

/// Sinks of the pictures and the sound of a live pipeline.
pub(super) struct LivePipeline {
    pub(super) pipeline: gst::Pipeline,
    pub(super) video: Option<gst_app::AppSink>,
    pub(super) audio: Option<gst_app::AppSink>,
}

/// Returns the description of the source for messages, without passwords.
pub(super) fn described(spec: &SourceSpec) -> String {
    match &spec.kind {
        SourceKind::File(file) => file.path.display().to_string(),
        SourceKind::Rtsp { url, .. } => without_credentials(url),
        SourceKind::V4l2 { device, .. } => format!("camera {}", device.display()),
        SourceKind::Argus { sensor, .. } => format!("camera sensor {sensor}"),
        SourceKind::Alsa { device } => format!("microphone {device}"),
        SourceKind::Pulse { device: Some(device), .. } => format!("microphone {device}"),
        SourceKind::Pulse { device: None, .. } => "the default microphone".into(),
        SourceKind::Test => "the test source".into(),
        SourceKind::Shm { socket, .. } => format!("shared memory {}", socket.display()),
        SourceKind::Pipeline { .. } => format!("the pipeline of source `{}`", spec.name),
    }
}

fn without_credentials(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => url.to_owned(),
    }
}

/// Builds the pipeline of a live source; it is not started yet.
///
/// With a recorder, what the source delivers goes there, too: a compressed stream before it is decoded, a raw one as it is.
pub(super) fn build(spec: &SourceSpec, recorder: Option<&Recorder>) -> Result<LivePipeline, CaptureError> {
    let built = build_plain(spec, recorder)?;
    if let Some(recorder) = recorder {
        let sinks = [&built.video, &built.audio].into_iter().flatten();
        for sink in sinks {
            tap_sink(built.pipeline.upcast_ref(), sink.upcast_ref(), recorder)
                .map_err(|reason| CaptureError::Broke { what: described(spec), reason })?;
        }
    }
    Ok(built)
}

fn build_plain(spec: &SourceSpec, recorder: Option<&Recorder>) -> Result<LivePipeline, CaptureError> {
    let pipeline = gst::Pipeline::new();
    let broken =
        |reason: &dyn std::fmt::Display| CaptureError::Broke { what: described(spec), reason: reason.to_string() };
    let (mut video, mut audio) = (None, None);
    match &spec.kind {
        SourceKind::File(_) => return Err(broken(&"a file is not live")),
        SourceKind::Pipeline { description } => return parse(spec, description),
        SourceKind::Rtsp { url, latency } => {
            if let Some(recorder) = recorder {
                (video, audio) = (spec.video.then(video_sink), spec.audio.then(audio_sink));
                recorded_rtsp(spec, &pipeline, (url, *latency), (video.clone(), audio.clone()), recorder)?;
                return Ok(LivePipeline { pipeline, video, audio });
            }
            let source = make("uridecodebin")?;
            // Found here, not when the source is set up, so that a missing plugin is said by name.
            make("rtspsrc")?;
            source.set_property("uri", url);
            let latency = latency.as_millis().to_string();
            source.connect("source-setup", false, move |values| {
                if let Some(inner) = values.get(1).and_then(|value| value.get::<gst::Element>().ok()) {
                    set_if_present(&inner, "latency", &latency);
                    set_if_present(&inner, "drop-on-latency", "true");
                }
                None
            });
            pipeline.add(&source).map_err(|error| broken(&error))?;
            (video, audio) = (spec.video.then(video_sink), spec.audio.then(audio_sink));
            link_when_known(&pipeline, &source, spec.max_width, video.clone(), audio.clone())?;
        }
        SourceKind::V4l2 { device, format } => {
            let (source, filter, decode) = (make("v4l2src")?, make("capsfilter")?, make("decodebin")?);
            source.set_property("device", device.to_string_lossy().as_ref());
            filter.set_property("caps", camera_caps(*format));
            match recorder {
                Some(recorder) => {
                    let tee = make("tee")?;
                    chain(pipeline.upcast_ref(), &[&source, &filter, &tee, &decode]).map_err(|error| broken(&error))?;
                    watch(pipeline.upcast_ref(), &tee, recorder);
                }
                None => {
                    chain(pipeline.upcast_ref(), &[&source, &filter, &decode]).map_err(|error| broken(&error))?;
                }
            }
            video = Some(video_sink());
            link_when_known(&pipeline, &decode, spec.max_width, video.clone(), None)?;
        }
        SourceKind::Argus { sensor, format } => {
            let (source, filter, scale, out) =
                (make("nvarguscamerasrc")?, make("capsfilter")?, make("nvvidconv")?, make("capsfilter")?);
            let (width, height, fps) =
                (format.width.unwrap_or(1280), format.height.unwrap_or(720), format.fps.unwrap_or(30));
            set_if_present(&source, "sensor-id", &sensor.to_string());
            let nvmm = format!("video/x-raw(memory:NVMM),width={width},height={height},framerate={fps}/1");
            let (to_width, to_height) = fitted(width, height, gst::Fraction::new(1, 1), spec.max_width);
            // Scaled by the image processor: only the small picture ever crosses into the CPU's memory.
            let plain = format!("video/x-raw,format=I420,width={to_width},height={to_height}");
            filter.set_property("caps", caps(spec, &nvmm)?);
            out.set_property("caps", caps(spec, &plain)?);
            let sink = video_sink();
            chain(pipeline.upcast_ref(), &[&source, &filter, &scale, &out, sink.upcast_ref()])
                .map_err(|error| broken(&error))?;
            video = Some(sink);
        }
        SourceKind::Alsa { device } => {
            let source = make("alsasrc")?;
            source.set_property("device", device);
            // ALSA's plugins (a sound server behind `default`) stamp by the wall clock what is read as the monotonic one.
            set_if_present(&source, "use-driver-timestamps", "false");
            audio = Some(microphone(&pipeline, &source).map_err(|error| broken(&error))??);
        }
        SourceKind::Pulse { device, server } => {
            let source = make("pulsesrc")?;
            source.set_property("client-name", "engram");
            for (property, value) in [("device", device), ("server", server)] {
                if let Some(value) = value {
                    source.set_property(property, value);
                }
            }
            audio = Some(microphone(&pipeline, &source).map_err(|error| broken(&error))??);
        }
        SourceKind::Test => {
            if spec.video {
                let (source, filter, sink) = (make("videotestsrc")?, make("capsfilter")?, video_sink());
                source.set_property("is-live", true);
                set_if_present(&source, "pattern", "ball");
                filter.set_property("caps", caps(spec, "video/x-raw,format=I420,width=640,height=360,framerate=25/1")?);
                chain(pipeline.upcast_ref(), &[&source, &filter, sink.upcast_ref()]).map_err(|error| broken(&error))?;
                video = Some(sink);
            }
            if spec.audio {
                let source = make("audiotestsrc")?;
                source.set_property("is-live", true);
                set_if_present(&source, "wave", "ticks");
                audio = Some(microphone(&pipeline, &source).map_err(|error| broken(&error))??);
            }
        }
        SourceKind::Shm { socket, caps: description } => {
            let (source, filter) = (make("shmsrc")?, make("capsfilter")?);
            source.set_property("socket-path", socket.to_string_lossy().as_ref());
            source.set_property("is-live", true);
            source.set_property("do-timestamp", true);
            let caps = caps(spec, description)?;
            let name = caps.structure(0).map(|structure| structure.name().to_string()).unwrap_or_default();
            filter.set_property("caps", &caps);
            match name.as_str() {
                "video/x-raw" => {
                    let sink = video_sink();
                    chain(pipeline.upcast_ref(), &[&source, &filter, sink.upcast_ref()])
                        .map_err(|error| broken(&error))?;
                    video = Some(sink);
                }
                "audio/x-raw" => {
                    let (convert, resample, sink) = (make("audioconvert")?, make("audioresample")?, audio_sink());
                    chain(pipeline.upcast_ref(), &[&source, &filter, &convert, &resample, sink.upcast_ref()])
                        .map_err(|error| broken(&error))?;
                    audio = Some(sink);
                }
                other => {
                    return Err(CaptureError::Pipeline {
                        source_name: spec.name.clone(),
                        reason: format!(
                            "caps of `{other}` cannot be read from shared memory; give video/x-raw or audio/x-raw"
                        ),
                    });
                }
            }
        }
    }
    Ok(LivePipeline { pipeline, video, audio })
}

fn caps(spec: &SourceSpec, text: &str) -> Result<gst::Caps, CaptureError> {
    text.parse().map_err(|_| CaptureError::Pipeline {
        source_name: spec.name.clone(),
        reason: format!(
            "`{text}` are no GStreamer caps; they look like video/x-raw,format=I420,width=640,height=480,framerate=30/1"
        ),
    })
}

/// Returns the caps that the camera is asked for, uncompressed or as JPEG; anything if nothing is requested.
fn camera_caps(format: CameraFormat) -> gst::Caps {
    let mut caps = gst::Caps::new_empty();
    for name in ["video/x-raw", "image/jpeg", "video/x-h264"] {
        let mut structure = gst::Structure::new_empty(name);
        for (field, value) in [("width", format.width), ("height", format.height)] {
            if let Some(value) = value.and_then(|value| i32::try_from(value).ok()) {
                structure.set(field, value);
            }
        }
        if let Some(fps) = format.fps.and_then(|fps| i32::try_from(fps).ok()) {
            structure.set("framerate", gst::Fraction::new(fps, 1));
        }
        caps.get_mut().expect("nobody else has it yet").append_structure(structure);
    }
    caps
}

/// Takes pictures of any format in plain memory; conversion is done when a picture is wanted.
pub(super) fn video_sink() -> gst_app::AppSink {
    gst_app::AppSink::builder()
        .name("video")
        .caps(&gst::Caps::builder("video/x-raw").build())
        .sync(false)
        // Without this, sound would wait for the first picture of a camera that hangs.
        .async_(false)
        .enable_last_sample(false)
        .max_buffers(4)
        .build()
}

/// Takes mono sound at 16 kHz.
pub(super) fn audio_sink() -> gst_app::AppSink {
    gst_app::AppSink::builder()
        .name("audio")
        .caps(&sound_caps())
        .sync(false)
        .async_(false)
        .enable_last_sample(false)
        .max_buffers(16)
        .build()
}

type Linked<T> = Result<Result<T, CaptureError>, gst::glib::BoolError>;

fn microphone(pipeline: &gst::Pipeline, source: &gst::Element) -> Linked<gst_app::AppSink> {
    let (convert, resample) = match (make("audioconvert"), make("audioresample")) {
        (Ok(convert), Ok(resample)) => (convert, resample),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    let sink = audio_sink();
    chain(pipeline.upcast_ref(), &[source, &convert, &resample, sink.upcast_ref()])?;
    Ok(Ok(sink))
}

/// Links the first stream of pictures and the first of sound that `decode` brings, and swallows the others.
fn link_when_known(
    pipeline: &gst::Pipeline,
    decode: &gst::Element,
    max_width: u32,
    video: Option<gst_app::AppSink>,
    audio: Option<gst_app::AppSink>,
) -> Result<(), CaptureError> {
    // Made now, so that a missing plugin is an error of the start.
    let sound = match &audio {
        Some(_) => Some((make("audioconvert")?, make("audioresample")?)),
        None => None,
    };
    make("fakesink")?;
    let weak = pipeline.downgrade();
    let waiting = parking_lot::Mutex::new((video, audio.zip(sound)));
    decode.connect_pad_added(move |_, pad| {
        let Some(pipeline) = weak.upgrade() else { return };
        let name = media_of(pad);
        let branch: Vec<gst::Element> = {
            let mut waiting = waiting.lock();
            if name.starts_with("video/")
                && let Some(sink) = waiting.0.take()
            {
                // A hardware decoder's pictures cannot be linked to a sink in plain memory.
                let mut branch = board_memory::to_plain(pad, max_width).unwrap_or_else(|error| {
                    tracing::error!(%error, "the pictures of a hardware decoder cannot be read");
                    Vec::new()
                });
                branch.push(sink.upcast());
                branch
            } else if name.starts_with("audio/")
                && let Some((sink, (convert, resample))) = waiting.1.take()
            {
                vec![convert, resample, sink.upcast()]
            } else {
                make("fakesink").into_iter().collect()
            }
        };
        if let Err(error) = attach(pipeline.upcast_ref(), pad, &branch) {
            tracing::warn!(stream = name, %error, "a stream cannot be linked and is omitted");
        }
    });
    Ok(())
}

/// A network camera whose streams are recorded as they come: each is parted before it is decoded.
fn recorded_rtsp(
    spec: &SourceSpec,
    pipeline: &gst::Pipeline,
    (url, latency): (&str, Duration),
    (video, audio): (Option<gst_app::AppSink>, Option<gst_app::AppSink>),
    recorder: &Recorder,
) -> Result<(), CaptureError> {
    let broken =
        |reason: &dyn std::fmt::Display| CaptureError::Broke { what: described(spec), reason: reason.to_string() };
    let source = make("rtspsrc")?;
    // Made now, so that a missing plugin is an error of the start.
    for element in ["tee", "queue", "decodebin", "fakesink"] {
        make(element)?;
    }
    source.set_property("location", url);
    set_if_present(&source, "latency", &latency.as_millis().to_string());
    set_if_present(&source, "drop-on-latency", "true");
    pipeline.add(&source).map_err(|error| broken(&error))?;
    let (weak, recorder, max_width) = (pipeline.downgrade(), recorder.clone(), spec.max_width);
    let waiting = parking_lot::Mutex::new((video, audio));
    source.connect_pad_added(move |_, pad| {
        let Some(pipeline) = weak.upgrade() else { return };
        let caps = pad.current_caps().unwrap_or_else(|| pad.query_caps(None));
        let media = caps.structure(0).and_then(|structure| structure.get::<String>("media").ok()).unwrap_or_default();
        let (video, audio) = {
            let mut waiting = waiting.lock();
            match media.as_str() {
                "video" => (waiting.0.take(), None),
                "audio" => (None, waiting.1.take()),
                _ => (None, None),
            }
        };
        let linked = if video.is_none() && audio.is_none() {
            let swallow: Vec<gst::Element> = make("fakesink").into_iter().collect();
            attach(pipeline.upcast_ref(), pad, &swallow)
        } else {
            parted(&pipeline, pad, max_width, (video, audio), &recorder)
        };
        if let Err(error) = linked {
            tracing::warn!(stream = media, %error, "a stream cannot be linked and is omitted");
        }
    });
    Ok(())
}

/// Links a stream to its decoder and to the recording.
fn parted(
    pipeline: &gst::Pipeline,
    pad: &gst::Pad,
    max_width: u32,
    (video, audio): (Option<gst_app::AppSink>, Option<gst_app::AppSink>),
    recorder: &Recorder,
) -> Result<(), String> {
    let made = |name: &str| make(name).map_err(|error| error.to_string());
    let (tee, queue, decode) = (made("tee")?, made("queue")?, made("decodebin")?);
    link_when_known(pipeline, &decode, max_width, video, audio).map_err(|error| error.to_string())?;
    watch(pipeline.upcast_ref(), &tee, recorder);
    attach(pipeline.upcast_ref(), pad, &[tee, queue, decode])
}

fn parse(spec: &SourceSpec, description: &str) -> Result<LivePipeline, CaptureError> {
    let wrong = |reason: String| CaptureError::Pipeline { source_name: spec.name.clone(), reason };
    let parsed = gst::parse::launch(description)
        .map_err(|error| wrong(format!("{}; try it with gst-launch-1.0", error.message())))?;
    let pipeline = match parsed.downcast::<gst::Pipeline>() {
        Ok(pipeline) => pipeline,
        Err(element) => {
            let pipeline = gst::Pipeline::new();
            pipeline.add(&element).map_err(|error| wrong(error.to_string()))?;
            pipeline
        }
    };
    let video = if spec.video { named(spec, &pipeline, "video")? } else { None };
    let audio = if spec.audio { named(spec, &pipeline, "audio")? } else { None };
    if video.is_none() && audio.is_none() {
        return Err(wrong(
            "no element is named `video` or `audio`; end it for instance in `! appsink name=video`".into(),
        ));
    }
    Ok(LivePipeline { pipeline, video, audio })
}

/// The sink of the element that the description calls `name`.
fn named(spec: &SourceSpec, pipeline: &gst::Pipeline, name: &str) -> Result<Option<gst_app::AppSink>, CaptureError> {
    let wrong = |reason: String| CaptureError::Pipeline { source_name: spec.name.clone(), reason };
    let Some(element) = pipeline.by_name(name) else { return Ok(None) };
    let element = match element.downcast::<gst_app::AppSink>() {
        Ok(sink) => {
            sink.set_property("sync", false);
            sink.set_property("async", false);
            sink.set_property("enable-last-sample", false);
            sink.set_caps(Some(&if name == "video" {
                gst::Caps::builder("video/x-raw").build()
            } else {
                sound_caps()
            }));
            return Ok(Some(sink));
        }
        Err(element) => element,
    };
    let free = element.iterate_src_pads().into_iter().flatten().find(|pad| !pad.is_linked());
    let pad = free.ok_or_else(|| {
        wrong(format!("the element named `{name}` is neither an appsink nor has it a free source pad"))
    })?;
    let (branch, sink) = if name == "video" {
        let sink = video_sink();
        (vec![sink.clone().upcast()], sink)
    } else {
        let sink = audio_sink();
        (vec![make("audioconvert")?, make("audioresample")?, sink.clone().upcast()], sink)
    };
    // The name is taken, and inside one bin names are unique.
    sink.set_property("name", format!("engram-{name}"));
    attach(pipeline.upcast_ref(), &pad, &branch).map_err(wrong)?;
    Ok(Some(sink))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_a_camera_are_not_shown() {
        assert_eq!(without_credentials("rtsp://admin:s3cr@t@cam.local:554/a@b"), "rtsp://cam.local:554/a@b");
        assert_eq!(without_credentials("rtsp://cam.local/1"), "rtsp://cam.local/1");
    }
}
