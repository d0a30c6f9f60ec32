//! Writes one chunk: a pipeline of its own that muxes into Matroska.

use std::path::Path;
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;
use gstreamer_app as gst_app;

use super::recorder::{Sample, Track};
use crate::pipeline::Running;
use crate::pipeline::{chain, make, set_if_present};

/// Maximum time to finish a chunk. One that is cut short still plays.
const FINISH_TIMEOUT: gst::ClockTime = gst::ClockTime::from_seconds(5);

/// An open chunk.
pub(super) struct ChunkWriter {
    pipeline: Running,
    inputs: Vec<(Track, gst::Caps, gst_app::AppSrc)>,
    begin: Duration,
}

impl ChunkWriter {
    /// Opens a chunk that begins at `begin`, with one track per item of `tracks`.
    ///
    /// # Errors
    /// If an element is missing or the file cannot be made.
    pub(super) fn open(path: &Path, begin: Duration, tracks: &[(Track, gst::Caps)]) -> Result<Self, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let pipeline = Running(gst::Pipeline::new());
        let bin: &gst::Bin = pipeline.0.upcast_ref();
        let (mux, file) =
            (make("matroskamux").map_err(|error| said(&error))?, make("filesink").map_err(|error| said(&error))?);
        set_if_present(&mux, "writing-app", "engram");
        file.set_property("location", path);
        set_if_present(&file, "sync", "false");
        set_if_present(&file, "async", "false");
        chain(bin, &[&mux, &file]).map_err(|error| said(&error))?;
        let mut inputs = Vec::new();
        for (track, caps) in tracks {
            let input = gst_app::AppSrc::builder().caps(caps).format(gst::Format::Time).build();
            // A few seconds of a good camera: the muxer waits for the slower track.
            set_if_present(input.upcast_ref(), "max-bytes", "67108864");
            bin.add(&input).map_err(|error| said(&error))?;
            // An appsrc may be anything: by itself it would take the first pad there is.
            let pad = mux.request_pad_simple(track.pad()).ok_or("matroskamux takes no more tracks")?;
            let source = input.static_pad("src").ok_or("an appsrc has no pad")?;
            source.link(&pad).map_err(|error| said(&error))?;
            inputs.push((*track, caps.clone(), input));
        }
        if pipeline.0.set_state(gst::State::Playing).is_err() {
            let writer = Self { pipeline, inputs, begin };
            return Err(writer.error().unwrap_or_else(|| format!("{} cannot be written", path.display())));
        }
        Ok(Self { pipeline, inputs, begin })
    }

    /// Whether a sample fits its track.
    pub(super) fn fits(&self, sample: &Sample) -> bool {
        self.inputs.iter().any(|(track, caps, _)| *track == sample.track && *caps == sample.caps)
    }

    /// Whether it has the track.
    pub(super) fn has(&self, track: Track) -> bool {
        self.inputs.iter().any(|(own, ..)| *own == track)
    }

    /// Adds a sample; what lies before the chunk is left out.
    pub(super) fn push(&self, sample: Sample) {
        let Some((_, _, input)) = self.inputs.iter().find(|(track, ..)| *track == sample.track) else { return };
        let Some(shown) = sample.shown.checked_sub(self.begin) else { return };
        let time = |at: Duration| gst::ClockTime::from_nseconds(u64::try_from(at.as_nanos()).unwrap_or(u64::MAX));
        let mut buffer = sample.buffer;
        {
            let buffer = buffer.make_mut();
            buffer.set_pts(time(shown));
            buffer.set_dts(sample.decode.map(|decode| time(decode.saturating_sub(self.begin))));
        }
        if let Err(error) = input.push_buffer(buffer) {
            // Why it failed is on its bus, which is read after every sample.
            tracing::debug!(%error, "a chunk takes nothing more");
        }
    }

    /// Why it broke, if it did.
    pub(super) fn error(&self) -> Option<String> {
        let bus = self.pipeline.0.bus()?;
        let message = bus.pop_filtered(&[gst::MessageType::Error])?;
        let gst::MessageView::Error(error) = message.view() else { return None };
        Some(error.error().message().to_owned())
    }

    /// Writes the index and closes the file.
    ///
    /// # Errors
    /// If that fails or takes too long; what was written before is there and plays.
    pub(super) fn close(self) -> Result<(), String> {
        for (_, _, input) in &self.inputs {
            input.end_of_stream().map_err(|error| self.error().unwrap_or_else(|| error.to_string()))?;
        }
        let Some(bus) = self.pipeline.0.bus() else { return Ok(()) };
        let end = bus.timed_pop_filtered(FINISH_TIMEOUT, &[gst::MessageType::Eos, gst::MessageType::Error]);
        match end.as_ref().map(|message| message.view()) {
            Some(gst::MessageView::Error(error)) => Err(error.error().message().to_owned()),
            Some(_) => Ok(()),
            None => Err("the chunk was not finished in time".into()),
        }
    }
}
