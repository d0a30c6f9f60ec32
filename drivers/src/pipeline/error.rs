//! Errors of sources.

use std::path::PathBuf;

use super::elements::package_of;

/// Why a source could not be opened or broke off. The message says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// GStreamer itself does not start.
    #[error("GStreamer does not start: {0}; install gstreamer1.0-plugins-base")]
    Init(String),
    /// An element is not installed.
    #[error("GStreamer's `{element}` is missing: {}", advice(element))]
    MissingElement {
        /// Its factory name.
        element: String,
    },
    /// A decoder or demuxer is not installed.
    #[error(
        "{what} needs a GStreamer plugin that is missing ({detail}); install gstreamer1.0-libav and gstreamer1.0-plugins-good, -bad and -ugly"
    )]
    MissingDecoder {
        /// The file or device.
        what: String,
        /// Message of GStreamer about what is missing.
        detail: String,
    },
    /// The file cannot be opened.
    #[error("{path} cannot be read: {reason}; check the path and its permissions")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The file is no recording.
    #[error(
        "{path} holds no sound or pictures that can be decoded ({reason}); give a video or sound file such as mp4, mkv or wav"
    )]
    NotMedia {
        /// The file.
        path: PathBuf,
        /// GStreamer's reason.
        reason: String,
    },
    /// The file ends before it should, or is damaged inside.
    #[error(
        "{path} breaks off after {seconds:.1} s ({reason}); what came before was kept; copy or record it again for the rest"
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// How much of it could be read.
        seconds: Seconds,
        /// How that was noticed.
        reason: String,
    },
    /// The subtitle file cannot be used.
    #[error("subtitles {path}: {reason}; give a UTF-8 .vtt or .srt file, or set subtitles to \"off\"")]
    Subtitles {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The raw pipeline or the caps are wrong.
    #[error("the pipeline of source `{source_name}` is not usable: {reason}")]
    Pipeline {
        /// The source.
        source_name: String,
        /// What is wrong and what to write instead.
        reason: String,
    },
    /// The device, peer or file failed.
    #[error("{what}: {reason}")]
    Broke {
        /// The device, address or file.
        what: String,
        /// GStreamer's reason.
        reason: String,
    },
    /// The stream ended although the source is live.
    #[error("{what} ended")]
    Ended {
        /// The device or address.
        what: String,
    },
    /// Nothing arrived for too long.
    #[error("{what} delivered no {media} for {seconds:.1} s; is it connected, and not used by another program?")]
    Hung {
        /// The device, address or file.
        what: String,
        /// `picture` or `sound`.
        media: &'static str,
        /// Duration of the silence.
        seconds: Seconds,
    },
    /// A thread could not be started, or died.
    #[error("the thread of source `{source_name}` {reason}")]
    Thread {
        /// The source.
        source_name: String,
        /// What happened.
        reason: String,
    },
}

/// A number of seconds in an error; compared to the millisecond.
#[derive(Debug, Clone, Copy)]
pub struct Seconds(pub f64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Seconds {
    fn eq(&self, other: &Self) -> bool {
        (self.0 - other.0).abs() < 1e-3
    }
}

impl Eq for Seconds {}

impl From<std::time::Duration> for Seconds {
    fn from(duration: std::time::Duration) -> Self {
        Self(duration.as_secs_f64())
    }
}

impl CaptureError {
    /// Whether trying again is of no use until somebody changes something.
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Init(_)
            | Self::MissingElement { .. }
            | Self::MissingDecoder { .. }
            | Self::Unreadable { .. }
            | Self::NotMedia { .. }
            | Self::Truncated { .. }
            | Self::Subtitles { .. }
            | Self::Pipeline { .. }
            | Self::Thread { .. } => true,
            Self::Broke { .. } | Self::Ended { .. } | Self::Hung { .. } => false,
        }
    }
}

fn advice(element: &str) -> String {
    match package_of(element) {
        Some("nvidia-l4t-gstreamer") => {
            "it comes with JetPack (package nvidia-l4t-gstreamer) and exists only on a Jetson; use kind `v4l2` elsewhere"
                .into()
        }
        Some(package) => format!("install {package}"),
        None => "install the package that carries it, or correct its name".into(),
    }
}
