//! A running pipeline, and branches that are added to it.

use std::sync::mpsc;
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;

use super::elements::chain;

/// The media type of a decoder's pad.
pub(crate) fn media_of(pad: &gst::Pad) -> String {
    let caps = pad.current_caps().unwrap_or_else(|| pad.query_caps(None));
    caps.structure(0).map(|structure| structure.name().to_string()).unwrap_or_default()
}

/// Adds a branch to a running bin and links `pad` to it.
pub(crate) fn attach(bin: &gst::Bin, pad: &gst::Pad, branch: &[gst::Element]) -> Result<(), String> {
    let elements: Vec<&gst::Element> = branch.iter().collect();
    chain(bin, &elements).map_err(|error| error.to_string())?;
    // From the end, so that no element receives before its successor is ready.
    for element in elements.iter().rev() {
        element.sync_state_with_parent().map_err(|error| error.to_string())?;
    }
    let first = elements.first().and_then(|element| element.static_pad("sink")).ok_or("the branch is empty")?;
    pad.link(&first).map(|_| ()).map_err(|error| error.to_string())
}

/// Maximum time to stop a pipeline. A camera driver that hangs must not take the thread of its source with it.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Stops a pipeline and frees its devices.
pub(crate) fn shut_down(pipeline: &gst::Pipeline) {
    let (done, stopped) = mpsc::sync_channel(1);
    let owned = pipeline.clone();
    let thread = std::thread::Builder::new().name("gst-stop".into()).spawn(move || {
        let result = owned.set_state(gst::State::Null);
        done.send(result.is_ok()).ok();
    });
    let finished = match thread {
        Ok(_) => stopped.recv_timeout(STOP_TIMEOUT).is_ok(),
        Err(_) => pipeline.set_state(gst::State::Null).is_ok(),
    };
    if finished {
        // Messages hold references to the elements that sent them.
        if let Some(bus) = pipeline.bus() {
            bus.set_flushing(true);
        }
    } else {
        tracing::error!(
            pipeline = %pipeline.name(),
            "a pipeline does not stop: its driver hangs; its memory and device stay taken until Engram restarts"
        );
    }
}

/// Keeps a pipeline for as long as it is needed and stops it on every way out.
pub(crate) struct Running(pub(crate) gst::Pipeline);

impl Drop for Running {
    fn drop(&mut self) {
        shut_down(&self.0);
    }
}
