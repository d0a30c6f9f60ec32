//! One picture out of a recording, as JPEG.

use std::path::Path;
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::clip::ClipError;
use crate::pipeline::{Running, attach, media_of};
use crate::pipeline::{chain, init, make, set_if_present};

/// Maximum time to open a recording and to show the requested moment.
pub(super) const STILL_TIMEOUT: gst::ClockTime = gst::ClockTime::from_seconds(5);

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Still {
    /// The JPEG file.
    pub jpeg: Vec<u8>,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

/// The picture that `path` shows at `at`, at most `max_width` pixels across.
///
/// # Errors
/// See [`ClipError`]; [`ClipError::Nothing`] if there is no picture at this second.
pub fn still(path: &Path, at: Duration, max_width: u32) -> Result<Still, ClipError> {
    init()?;
    let failed = |reason: String| ClipError::Unreadable { path: path.to_owned(), reason };
    let pipeline = Running(gst::Pipeline::new());
    let (source, decode) = (make("filesrc")?, make("decodebin")?);
    source.set_property("location", path);
    chain(pipeline.0.upcast_ref(), &[&source, &decode]).map_err(|error| failed(error.to_string()))?;
    // Made here, where a missing element can be said.
    let branch = branch(max_width)?;
    let sink: gst_app::AppSink =
        branch.last().cloned().and_then(|sink| sink.downcast().ok()).expect("the branch ends in an appsink");
    let waiting = parking_lot::Mutex::new(Some(branch));
    let weak = pipeline.0.downgrade();
    decode.connect_pad_added(move |_, pad| {
        let Some(pipeline) = weak.upgrade() else { return };
        let pictures = media_of(pad).starts_with("video/").then(|| waiting.lock().take()).flatten();
        let branch = pictures.map_or_else(|| make("fakesink").map(|swallow| vec![swallow]), Ok);
        let linked =
            branch.map_err(|error| error.to_string()).and_then(|branch| attach(pipeline.upcast_ref(), pad, &branch));
        if let Err(reason) = linked {
            tracing::warn!(stream = media_of(pad), reason, "a stream is not looked at");
        }
    });
    if pipeline.0.set_state(gst::State::Paused).is_err() {
        return Err(failed(bus_error(&pipeline).unwrap_or_else(|| "it does not open".to_owned())));
    }
    ready(&pipeline).map_err(failed)?;
    if sink.parent().is_none() {
        return Err(ClipError::Nothing);
    }
    let time = gst::ClockTime::from_nseconds(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
    let sought = pipeline.0.seek_simple(gst::SeekFlags::FLUSH | gst::SeekFlags::ACCURATE, time);
    sought.map_err(|error| failed(format!("the second cannot be found in it: {error}")))?;
    ready(&pipeline).map_err(failed)?;
    let sample = sink.try_pull_preroll(STILL_TIMEOUT).ok_or(ClipError::Nothing)?;
    let size = |name: &str| {
        let side = sample.caps().and_then(|caps| caps.structure(0)).and_then(|caps| caps.get::<i32>(name).ok());
        side.and_then(|side| u32::try_from(side).ok()).unwrap_or(0)
    };
    let jpeg = sample.buffer().and_then(|buffer| buffer.map_readable().ok()).map(|map| map.to_vec());
    Ok(Still { jpeg: jpeg.ok_or(ClipError::Nothing)?, width: size("width"), height: size("height") })
}

/// Builds the chain from a decoder to a sink of JPEG files. The height follows the width, so that nothing is stretched.
pub(super) fn branch(max_width: u32) -> Result<Vec<gst::Element>, ClipError> {
    let caps = gst::Caps::builder("video/x-raw")
        .field("width", gst::IntRange::new(16, i32::try_from(max_width).unwrap_or(i32::MAX).max(17)))
        .field("height", gst::IntRange::new(16, i32::MAX))
        .field("pixel-aspect-ratio", gst::Fraction::new(1, 1))
        .build();
    let filter = make("capsfilter")?;
    filter.set_property("caps", &caps);
    let encode = make("jpegenc")?;
    set_if_present(&encode, "quality", "80");
    let sink = gst_app::AppSink::builder().sync(false).max_buffers(1).build();
    Ok(vec![make("queue")?, make("videoconvert")?, make("videoscale")?, filter, encode, sink.upcast()])
}

fn ready(pipeline: &Running) -> Result<(), String> {
    let bus = pipeline.0.bus().ok_or("it has no bus")?;
    let message = bus.timed_pop_filtered(STILL_TIMEOUT, &[gst::MessageType::AsyncDone, gst::MessageType::Error]);
    match message.as_ref().map(|message| message.view()) {
        Some(gst::MessageView::AsyncDone(_)) => Ok(()),
        Some(gst::MessageView::Error(error)) => Err(error.error().message().to_owned()),
        _ => Err("it does not open in time".to_owned()),
    }
}

fn bus_error(pipeline: &Running) -> Option<String> {
    let message = pipeline.0.bus()?.pop_filtered(&[gst::MessageType::Error])?;
    let gst::MessageView::Error(error) = message.view() else { return None };
    Some(error.error().message().to_owned())
}
