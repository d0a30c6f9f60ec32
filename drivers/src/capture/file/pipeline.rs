//! Builds the pipeline of a file: a decoder, and a queue for each stream that is wanted.

use std::sync::Arc;
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;
use parking_lot::Mutex;

use super::super::board_memory;
use super::super::pipelines::{audio_sink, video_sink};
use super::super::spec::{FileSource, SourceSpec};
use super::super::status::SourceShared;
use crate::pipeline::CaptureError;
use crate::pipeline::{attach, media_of};
use crate::pipeline::{chain, make, set_if_present};
use crate::pipeline::{demuxed, is_audio_or_video};

/// Streams that the pipeline found.
#[derive(Default)]
pub(super) struct FoundStreams {
    pub(super) video: Option<gst_app::AppSink>,
    pub(super) audio: Option<gst_app::AppSink>,
    pub(super) text: bool,
    pub(super) complete: bool,
    /// Per stream, video first: a gap that the container announced ends here.
    pub(super) gap_until: [Duration; 2],
}

pub(super) fn build(
    spec: &SourceSpec,
    file: &FileSource,
    found: &Arc<Mutex<FoundStreams>>,
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
    found: &Arc<Mutex<FoundStreams>>,
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

/// Whether the element that takes the container apart has stopped reading the file.
pub(super) fn demuxer_stopped(pipeline: &gst::Pipeline) -> bool {
    pipeline.iterate_recurse().into_iter().flatten().any(|element| {
        element.factory().and_then(|factory| factory.metadata("klass").map(|class| class.contains("Demux")))
            == Some(true)
            && element
                .static_pad("sink")
                .is_some_and(|pad| pad.mode() == gst::PadMode::Pull && pad.task_state() != gst::TaskState::Started)
    })
}
