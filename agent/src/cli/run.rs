//! `engram run`, `engram replay` and `engram mcp`.

use std::path::PathBuf;

use clap::Args;

use crate::config::{SourceConfig, Speed};

/// How files are played; shared by `run` and `replay`.
#[derive(Debug, Clone, Default, Args)]
pub struct PlaybackArgs {
    /// Wall-clock time at which the recording begins, RFC 3339. Default: the creation time in the file, else now.
    #[arg(long, value_name = "TIME")]
    pub start_at: Option<String>,
    /// Subtitles: `auto` (in the file, else beside it), `off`, or a file.
    #[arg(long, value_name = "auto|off|FILE")]
    pub subtitles: Option<String>,
}

/// `engram run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// A camera, microphone, stream or file; replaces the configured ones, may be repeated: file:PATH, test,
    /// v4l2:/dev/video0, argus:0, rtsp://…, alsa:…, pulse, shm:PATH, pipeline:"…".
    #[arg(long = "source", value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// Speed of files: as recorded, or as fast as the encoders can.
    #[arg(long, value_enum)]
    pub speed: Option<Speed>,
    /// How files are played.
    #[command(flatten)]
    pub playback: PlaybackArgs,
    /// Exit when every file has been played and embedded.
    #[arg(long)]
    pub exit_at_end: bool,
    /// Refuse to start if the metrics port is taken or the broker cannot be used, instead of reporting it in health.
    #[arg(long)]
    pub strict: bool,
}

/// `engram replay`.
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// Recordings; they are played one after the other.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How files are played.
    #[command(flatten)]
    pub playback: PlaybackArgs,
    /// Speed: as recorded, or as fast as the encoders can.
    #[arg(long, value_enum, default_value = "max")]
    pub speed: Speed,
    /// Then answer this question; repeat it for each question.
    #[arg(long = "ask", value_name = "QUESTION")]
    pub questions: Vec<String>,
    /// Maximum number of events to show.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub show: usize,
}

/// `engram mcp`.
#[derive(Debug, Clone, Args)]
pub struct McpArgs {
    /// Also offer the tool `forget`.
    #[arg(long)]
    pub allow_forget: bool,
}

/// A source of the configuration, as `--source` names it.
pub fn source_of_flag(uri: &str, speed: Option<Speed>, playback: &PlaybackArgs) -> SourceConfig {
    let defaults = SourceConfig::default();
    SourceConfig {
        uri: uri.to_owned(),
        speed: speed.unwrap_or_default(),
        start_at: playback.start_at.clone(),
        subtitles: playback.subtitles.clone().unwrap_or(defaults.subtitles.clone()),
        ..defaults
    }
}
