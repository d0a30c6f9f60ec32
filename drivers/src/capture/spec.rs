//! The description of a source.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_core::Timestamp;
use serde::Deserialize;

/// A camera, a microphone, a file: anything that one pipeline reads.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceSpec {
    /// Name in the configuration; sessions are named after it.
    pub name: String,
    /// Kind and address of the source.
    pub kind: SourceKind,
    /// Whether pictures are wanted.
    pub video: bool,
    /// Whether sound is wanted.
    pub audio: bool,
    /// Pictures wider than this are scaled down, with their aspect. 640.
    pub max_width: u32,
    /// Without a picture (without sound, where there is no picture) for so long, a live source counts as hung and is
    /// restarted. 5 s.
    pub watchdog: Duration,
    /// Wait before the first restart; doubled with every failure that follows. 0.5 s.
    pub backoff_min: Duration,
    /// Longest wait between restarts. 2 s: a device that returns is to be seen again within five, and an attempt that finds
    /// nothing costs some milliseconds.
    pub backoff_max: Duration,
}

impl SourceSpec {
    /// A source with the default limits.
    pub fn new(name: impl Into<String>, kind: SourceKind) -> Self {
        Self {
            name: name.into(),
            kind,
            video: true,
            audio: true,
            max_width: 640,
            watchdog: Duration::from_secs(5),
            backoff_min: Duration::from_millis(500),
            backoff_max: Duration::from_secs(2),
        }
    }

    /// A file, played as fast as the consumer takes it.
    pub fn file(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self::new(name, SourceKind::File(FileSource::new(path)))
    }

    /// Whether this is a live source, which is restarted when it ends and drops what its consumer cannot take.
    pub fn is_live(&self) -> bool {
        !matches!(self.kind, SourceKind::File(_))
    }
}

/// The kinds of source and what each needs to know.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SourceKind {
    /// Any container that GStreamer decodes: sound, pictures and subtitles together.
    File(FileSource),
    /// A network camera.
    Rtsp {
        /// `rtsp://` or `rtsps://`; user and password may be part of it and are never shown.
        url: String,
        /// Jitter buffer.
        latency: Duration,
    },
    /// A camera of the kernel.
    V4l2 {
        /// Device, for instance `/dev/video0`.
        device: PathBuf,
        /// Wanted format; the camera's own where absent.
        format: CameraFormat,
    },
    /// A camera behind the Jetson's image processor (`nvarguscamerasrc`).
    Argus {
        /// Number of the sensor.
        sensor: u32,
        /// Wanted format; 1280x720 at 30 where absent.
        format: CameraFormat,
    },
    /// A microphone by ALSA.
    Alsa {
        /// Device, for instance `default` or `hw:1,0`.
        device: String,
    },
    /// A microphone by PulseAudio or PipeWire.
    Pulse {
        /// The server's default where absent.
        device: Option<String>,
        /// Its address, for instance `unix:/run/user/1000/pulse/native`; the user's own server where absent.
        server: Option<String>,
    },
    /// A drawn picture and a ticking sound, to try things without a camera.
    Test,
    /// Raw media from another program on this machine (`shmsink`).
    Shm {
        /// The socket that the other program made.
        socket: PathBuf,
        /// Format that it sends, as GStreamer caps: `video/x-raw,format=I420,width=640,height=480,framerate=30/1`.
        caps: String,
    },
    /// A pipeline in the syntax of `gst-launch-1.0`.
    ///
    /// The element named `video` gives the pictures and the one named `audio` the sound; at least one must be there.
    /// Each is either an `appsink` (then the pipeline must bring it `video/x-raw,format=RGB`, or `audio/x-raw,format=F32LE,rate=16000,channels=1`)
    /// or any element with a free source pad, to which scaling and conversion are added.
    Pipeline {
        /// The description.
        description: String,
    },
}

impl SourceKind {
    /// The name in the configuration.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Rtsp { .. } => "rtsp",
            Self::V4l2 { .. } => "v4l2",
            Self::Argus { .. } => "argus",
            Self::Alsa { .. } => "alsa",
            Self::Pulse { .. } => "pulse",
            Self::Test => "test",
            Self::Shm { .. } => "shm",
            Self::Pipeline { .. } => "pipeline",
        }
    }
}

/// Settings requested from a camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CameraFormat {
    /// Pixels per row.
    pub width: Option<u32>,
    /// Rows.
    pub height: Option<u32>,
    /// Pictures a second.
    pub fps: Option<u32>,
}

/// A recording and how to play it.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSource {
    /// The file.
    pub path: PathBuf,
    /// How fast.
    pub speed: Speed,
    /// Source of its subtitles.
    pub subtitles: Subtitles,
    /// The wall-clock time of its first moment; else the container's creation time, else now.
    pub start_at: Option<Timestamp>,
    /// Begin again at the end, as a new session that follows the one before.
    pub repeat: bool,
}

impl FileSource {
    /// A file played once, as fast as the consumer takes it, with the subtitles that are there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), speed: Speed::Max, subtitles: Subtitles::Auto, start_at: None, repeat: false }
    }
}

/// How fast a file is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speed {
    /// At the speed of the clock.
    Real,
    /// As fast as its consumer takes it. Nothing is dropped, and the result does not depend on the machine.
    #[default]
    Max,
}

/// Source of a file's subtitles.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Subtitles {
    /// `NAME.vtt` or `NAME.srt` beside the file, else the first subtitle stream inside.
    #[default]
    Auto,
    /// None.
    Off,
    /// This file.
    Path(PathBuf),
}

impl From<&str> for Subtitles {
    /// `auto`, `off` or a path.
    fn from(text: &str) -> Self {
        match text {
            "" | "auto" => Self::Auto,
            "off" => Self::Off,
            path => Self::Path(Path::new(path).to_path_buf()),
        }
    }
}
