//! Chooses the encoder for recordings of raw media: the best one that is installed.

use gstreamer as gst;
use gstreamer::prelude::*;

use crate::pipeline::CaptureError;
use crate::pipeline::{make, set_if_present};

/// Number of pictures between two key frames. A chunk, and a seek, begins with one.
const KEYFRAME_INTERVAL: &str = "30";

type Properties = &'static [(&'static str, &'static str)];

/// Encoders of pictures, best first: factory, properties, what follows it.
const PICTURES: &[(&str, Properties, Option<&str>)] = &[
    ("nvv4l2h264enc", &[("iframeinterval", KEYFRAME_INTERVAL), ("insert-sps-pps", "true")], Some("h264parse")),
    (
        "x264enc",
        &[
            ("tune", "zerolatency"),
            ("speed-preset", "ultrafast"),
            ("key-int-max", KEYFRAME_INTERVAL),
            ("pass", "qual"),
            ("quantizer", "26"),
        ],
        Some("h264parse"),
    ),
    ("openh264enc", &[("gop-size", KEYFRAME_INTERVAL)], Some("h264parse")),
    (
        "vp8enc",
        &[
            ("deadline", "1"),
            ("cpu-used", "8"),
            ("keyframe-max-dist", KEYFRAME_INTERVAL),
            ("end-usage", "cq"),
            ("target-bitrate", "2000000"),
        ],
        None,
    ),
    ("jpegenc", &[("quality", "75")], None),
];

/// The encoders of pictures that make H.264.
pub(super) const H264: &[&str] = &["nvv4l2h264enc", "x264enc", "openh264enc"];

/// Encoders of sound, best first.
const SOUNDS: &[(&str, Properties)] = &[("opusenc", &[("bitrate", "32000")]), ("vorbisenc", &[]), ("flacenc", &[])];

/// Returns the elements that compress raw pictures, in order; `only` limits the choice to some encoders.
///
/// # Errors
/// If none of the encoders is installed; the message names what to install.
pub(super) fn picture_encoder(only: Option<&[&str]>) -> Result<Vec<gst::Element>, CaptureError> {
    let wanted = |name: &str| only.is_none_or(|only| only.contains(&name));
    for (factory, properties, parser) in PICTURES.iter().filter(|(factory, ..)| wanted(factory)) {
        let Ok(encoder) = make(factory) else { continue };
        for (property, value) in *properties {
            set_if_present(&encoder, property, value);
        }
        // The Jetson's encoder takes pictures of its own memory only.
        let convert = if factory.starts_with("nvv4l2") { "nvvidconv" } else { "videoconvert" };
        let mut chain = vec![make(convert)?];
        if convert == "videoconvert" && *factory != "jpegenc" {
            // Players and encoders agree on this format only.
            let format = make("capsfilter")?;
            format.set_property("caps", gst::Caps::builder("video/x-raw").field("format", "I420").build());
            chain.push(format);
        }
        chain.push(encoder);
        if let Some(parser) = parser {
            let parser = make(parser)?;
            set_if_present(&parser, "config-interval", "-1");
            chain.push(parser);
        }
        return Ok(chain);
    }
    Err(CaptureError::MissingElement { element: "x264enc".into() })
}

/// Returns the elements that compress raw sound.
///
/// # Errors
/// If no encoder is installed.
pub(super) fn sound_encoder(only: Option<&str>) -> Result<Vec<gst::Element>, CaptureError> {
    for (factory, properties) in SOUNDS.iter().filter(|(factory, _)| only.is_none_or(|only| only == *factory)) {
        let Ok(encoder) = make(factory) else { continue };
        for (property, value) in *properties {
            set_if_present(&encoder, property, value);
        }
        return Ok(vec![make("audioconvert")?, make("audioresample")?, encoder]);
    }
    Err(CaptureError::MissingElement { element: "opusenc".into() })
}
