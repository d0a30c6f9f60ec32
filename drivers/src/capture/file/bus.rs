//! Reads the messages of a file's pipeline: errors, tags, missing decoders.

use std::path::Path;
use std::time::Duration;

use gstreamer as gst;
use gstreamer::prelude::*;
use memory_core::Timestamp;

use super::super::status::{Loss, SourceShared};
use crate::pipeline::CaptureError;

/// State that the pipeline reports on its bus.
pub(super) struct BusReader<'a> {
    bus: Option<gst::Bus>,
    path: &'a Path,
    pub(super) error: Option<CaptureError>,
    missing: Option<String>,
    pub(super) created: Option<Timestamp>,
    pub(super) duration: Option<Duration>,
}

impl<'a> BusReader<'a> {
    pub(super) fn new(pipeline: &gst::Pipeline, path: &'a Path) -> Self {
        Self { bus: pipeline.bus(), path, error: None, missing: None, created: None, duration: None }
    }

    pub(super) fn drain(&mut self, shared: &SourceShared) {
        while let Some(message) = self.bus.as_ref().and_then(gst::Bus::pop) {
            match message.view() {
                gst::MessageView::Tag(tags) => {
                    if let Some(at) = tags.tags().get::<gst::tags::DateTime>().and_then(|tag| timestamp(&tag.get())) {
                        self.created.get_or_insert(at);
                    }
                }
                gst::MessageView::Warning(warning) => {
                    let error = warning.error();
                    tracing::debug!(path = %self.path.display(), %error, "GStreamer warns");
                    if error.matches(gst::StreamError::Decode) {
                        shared.count(Loss::DecodeError);
                    }
                }
                gst::MessageView::Element(element) => {
                    if let Some(structure) = element.structure()
                        && structure.name() == "missing-plugin"
                    {
                        self.missing = structure.get::<String>("name").ok().or(self.missing.take());
                    }
                }
                gst::MessageView::Error(error) => {
                    let reason = self.reason(&error.error());
                    self.error.get_or_insert(reason);
                }
                _ => {}
            }
        }
    }

    fn reason(&self, error: &gst::glib::Error) -> CaptureError {
        let path = self.path.to_path_buf();
        if let Some(detail) = &self.missing {
            return CaptureError::MissingDecoder { what: path.display().to_string(), detail: detail.clone() };
        }
        if error.matches(gst::StreamError::TypeNotFound)
            || error.matches(gst::StreamError::WrongType)
            || error.matches(gst::StreamError::Demux)
            || error.matches(gst::StreamError::Decode)
            || error.matches(gst::StreamError::Failed)
            || error.matches(gst::StreamError::CodecNotFound)
        {
            return CaptureError::NotMedia { path, reason: error.message().trim_end_matches('.').to_owned() };
        }
        CaptureError::Broke { what: path.display().to_string(), reason: error.message().to_owned() }
    }
}

/// A creation time that names the second and is no default of some writer.
fn timestamp(at: &gst::DateTime) -> Option<Timestamp> {
    at.second()?;
    let utc = at.to_utc().ok()?;
    let two = |value: Option<i32>| value.unwrap_or_default();
    let micros = utc.microsecond().unwrap_or_default();
    let text = format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
        utc.year(),
        two(utc.month()),
        two(utc.day()),
        two(utc.hour()),
        two(utc.minute()),
        two(utc.second()),
        micros
    );
    let at = Timestamp::parse(&text).ok()?;
    // mp4 counts from 1904 and Matroska from 2001; writers that know no time leave the zero.
    (at > Timestamp::from_micros(978_393_600_000_000)).then_some(at)
}
