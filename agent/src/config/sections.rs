//! The sections of the configuration. The comments here are the descriptions in `engram config schema`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use memory_core::learning::LearningOptions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ConsolidationConfig, IndexConfig, TensorRtConfig};

/// `[memory]`: the store.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Maximum size of the store on disk, MiB; at the limit nothing new is accepted. Default: the disk is the limit.
    #[schemars(range(min = 16, max = 1_048_576))]
    pub max_mib: Option<u64>,
    /// Page cache of the store, MiB. Default: computed from the machine's memory and zram.
    #[schemars(range(min = 1, max = 4096))]
    pub cache_mib: Option<u64>,
    /// Memory that the whole program may take, swapped or not, MiB. Above it health reports it, and lists, searches, pictures,
    /// exports and checks are refused as `busy`. Default: computed from the machine's memory and zram.
    #[schemars(range(min = 16, max = 1_048_576))]
    pub ceiling_mib: Option<u64>,
    /// Time zone for questions such as "this morning" and for written times, such as `Europe/Berlin`. Default: the
    /// system's.
    pub time_zone: Option<String>,
    /// The search index.
    pub index: IndexConfig,
    /// How segments become stays.
    pub consolidation: ConsolidationConfig,
    /// When forgotten and superseded data is removed from the file.
    pub compaction: CompactionConfig,
}

/// `[memory.compaction]`: copying the store without forgotten and superseded data, while the memory is idle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompactionConfig {
    /// Whether compaction runs by itself. `engram compact` and `cmd/compact` always work.
    pub automatic: bool,
    /// Share of the store that must be stale for it to run, percent.
    #[schemars(range(min = 1, max = 100))]
    pub stale_percent: u64,
    /// Hours after something was forgotten at which it runs at the latest; until then the words may be in freed pages of
    /// the file.
    #[schemars(range(min = 0, max = 8760))]
    pub forgotten_h: u64,
}

impl Default for CompactionConfig {
    fn default() -> Self {
        Self { automatic: true, stale_percent: 25, forgotten_h: 24 }
    }
}

/// `[backup]`: the files of `cmd/backup`, `cmd/restore` and `cmd/export`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BackupConfig {
    /// Directory of backups and exports; no command leaves it. Default: `backups` in the data directory.
    pub dir: Option<PathBuf>,
    /// How many backups and exports that engram named itself are kept; the oldest are deleted.
    #[schemars(range(min = 1, max = 10_000))]
    pub keep: usize,
    /// Free space that backups and exports leave on their disk, MiB.
    #[schemars(range(min = 0, max = 1_048_576))]
    pub keep_free_mib: u64,
}

impl Default for BackupConfig {
    fn default() -> Self {
        Self { dir: None, keep: 8, keep_free_mib: 512 }
    }
}

/// `[learning]`: persons and procedures. A change does not affect what was learned before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LearningConfig {
    /// Minutes of pause that end a sequence of actions that no `session` attribute groups.
    #[schemars(range(min = 1, max = 1440))]
    pub session_gap_min: u64,
    /// Minimum number of sessions for a procedure whose goal nobody named.
    #[schemars(range(min = 2, max = 1000))]
    pub min_sessions: usize,
    /// Mean cosine above which a face belongs to a known person. Default: `same` in the entry of the face embedding model,
    /// else 0.42.
    #[schemars(range(min = 0.05, max = 0.95))]
    pub same_face: Option<f64>,
    /// The same for voices. Default: `same` in the entry of the voice embedding model, else 0.48.
    #[schemars(range(min = 0.05, max = 0.95))]
    pub same_voice: Option<f64>,
}

impl LearningConfig {
    /// The options of the memory. `of_models`: `same` of the face and voice models in use.
    pub fn options(&self, of_models: (Option<f64>, Option<f64>)) -> LearningOptions {
        let usual = LearningOptions::default().same_person;
        LearningOptions {
            gap: Duration::from_secs(self.session_gap_min * 60),
            min_sessions: self.min_sessions,
            same_person: (
                self.same_face.or(of_models.0).unwrap_or(usual.0),
                self.same_voice.or(of_models.1).unwrap_or(usual.1),
            ),
        }
    }
}

impl Default for LearningConfig {
    fn default() -> Self {
        let LearningOptions { gap, min_sessions, .. } = LearningOptions::default();
        Self { session_gap_min: gap.as_secs() / 60, min_sessions, same_face: None, same_voice: None }
    }
}

/// How fast a file is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Speed {
    /// As it was recorded.
    #[default]
    Real,
    /// As fast as the encoders can, without dropping anything.
    Max,
}

/// `[sources.NAME]`: a camera, a microphone, a stream or a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SourceConfig {
    /// Address of the source: `v4l2:/dev/video0`, `argus:0`, `rtsp://host/path`, `alsa:hw:1`, `pulse`, `file:/path`,
    /// `shm:/path`, `test`, or `pipeline:` with a GStreamer description.
    pub uri: String,
    /// Whether the source runs.
    pub enabled: bool,
    /// Speed of a file.
    pub speed: Speed,
    /// Wall-clock time at which a file begins, RFC 3339. Default: the creation time in the file, else now.
    pub start_at: Option<String>,
    /// Subtitles of a file: `auto` (in the file, else a file beside it), `off`, or the path of a subtitle file.
    pub subtitles: String,
    /// Whether a file starts again at its end.
    pub repeat: bool,
    /// Whether the picture is used.
    pub video: bool,
    /// Whether the sound is used.
    pub audio: bool,
    /// Width requested from a camera (`v4l2`, `argus`), pixels.
    #[schemars(range(min = 16, max = 8192))]
    pub width: Option<u32>,
    /// Height requested from a camera, pixels.
    #[schemars(range(min = 16, max = 8192))]
    pub height: Option<u32>,
    /// Pictures a second requested from a camera.
    #[schemars(range(min = 1, max = 240))]
    pub fps: Option<u32>,
    /// Wider pictures are scaled down before anything else.
    #[schemars(range(min = 64, max = 4096))]
    pub max_width: u32,
    /// Jitter buffer of `rtsp`, milliseconds.
    #[schemars(range(min = 0, max = 60_000))]
    pub latency_ms: u64,
    /// Format that a `shm` peer sends, as GStreamer caps.
    pub caps: Option<String>,
    /// Address of the sound server of `pulse`, such as `unix:/run/user/1000/pulse/native`. Default: the user's own.
    pub server: Option<String>,
    /// Seconds without data after which a live source is restarted.
    #[schemars(range(min = 0.5, max = 600.0))]
    pub watchdog_s: f64,
}

impl Default for SourceConfig {
    fn default() -> Self {
        Self {
            uri: String::new(),
            enabled: true,
            speed: Speed::Real,
            start_at: None,
            subtitles: "auto".to_owned(),
            repeat: false,
            video: true,
            audio: true,
            width: None,
            height: None,
            fps: None,
            max_width: 640,
            latency_ms: 200,
            caps: None,
            server: None,
            watchdog_s: 5.0,
        }
    }
}

/// `[segments]`: where one segment ends and the next begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SegmentsConfig {
    /// Shortest segment, seconds.
    #[schemars(range(min = 1.0, max = 60.0))]
    pub min_s: f64,
    /// Longest segment, seconds; at least twice the shortest.
    #[schemars(range(min = 2.0, max = 300.0))]
    pub max_s: f64,
    /// Pictures a second that are analysed while nothing moves.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub min_fps: f64,
    /// Pictures a second that are analysed while things change.
    #[schemars(range(min = 0.1, max = 60.0))]
    pub max_fps: f64,
    /// A change of the picture (1 - SSIM) above this is always a cut.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub visual_threshold: f64,
    /// Sound this many dB below full scale counts as silence.
    #[schemars(range(min = 1.0, max = 120.0))]
    pub silence_db: f64,
}

impl Default for SegmentsConfig {
    fn default() -> Self {
        Self { min_s: 5.0, max_s: 10.0, min_fps: 1.0, max_fps: 10.0, visual_threshold: 0.65, silence_db: 40.0 }
    }
}

/// The backend of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Accelerator {
    /// The best one available; health says which.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA GPU through ONNX Runtime's CUDA provider.
    Cuda,
    /// An NVIDIA GPU or DLA through TensorRT.
    TensorRt,
}

/// `[models]`: which encoders run, and on what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelsConfig {
    /// Directory of the model files. Default: `$ENGRAM_MODELS_DIR`, else /var/lib/engram/models and the user's
    /// ~/.local/share/engram/models.
    pub dir: Option<PathBuf>,
    /// Catalogue of the models: which file fills which role. Default: the one built into engram.
    pub manifest: Option<PathBuf>,
    /// The ONNX Runtime library. Default: the pinned one in the directory of the models.
    pub onnxruntime: Option<PathBuf>,
    /// Backend of the encoders. A backend that is named and cannot be used is an error.
    pub backend: Accelerator,
    /// Exceptions to `backend`, by role.
    pub backends: std::collections::BTreeMap<String, Accelerator>,
    /// Threads that one run of an encoder may use.
    #[schemars(range(min = 1, max = 16))]
    pub threads: usize,
    /// Roles that stay empty even if a model is installed, such as `objects`.
    pub disabled: Vec<String>,
    /// How TensorRT is found and what it builds.
    pub tensorrt: TensorRtConfig,
}

impl Default for ModelsConfig {
    fn default() -> Self {
        Self {
            dir: None,
            manifest: None,
            onnxruntime: None,
            backend: Accelerator::Auto,
            backends: std::collections::BTreeMap::new(),
            threads: 2,
            disabled: Vec::new(),
            tensorrt: TensorRtConfig::default(),
        }
    }
}

/// `[recording]`: the media archive of live sources. Files are their own recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecordingConfig {
    /// Whether live sources are recorded.
    pub enabled: bool,
    /// Maximum size of all recordings together, MiB; the oldest are deleted first.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub budget_mib: u64,
    /// Free disk space that recordings leave for the memory, MiB.
    #[schemars(range(min = 0, max = 1_048_576))]
    pub keep_free_mib: u64,
    /// Length of a chunk, seconds. Forgetting deletes whole chunks.
    #[schemars(range(min = 2.0, max = 600.0))]
    pub chunk_s: f64,
    /// Recordings over HTTP.
    pub server: MediaServerConfig,
}

impl Default for RecordingConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            budget_mib: 4096,
            keep_free_mib: 1024,
            chunk_s: 10.0,
            server: MediaServerConfig::default(),
        }
    }
}

/// `[recording.server]`: recordings over HTTP, so that a phone can open evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MediaServerConfig {
    /// Whether recordings are served. They need a token.
    pub enabled: bool,
    /// Address and port; `0.0.0.0:9465` for every network.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// Address under which others reach the server; links in evidence begin with it. Default: the host name and the port.
    pub url: Option<String>,
    /// Secret needed to open a recording, at least 16 characters. Prefer `token_file`.
    pub token: Option<String>,
    /// File with the token; a line break at its end is ignored.
    pub token_file: Option<PathBuf>,
    /// Whether the links in answers contain the token, so that a tap opens them. Then whoever can read answers can open
    /// every recording.
    pub token_in_links: bool,
}

impl Default for MediaServerConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            listen: SocketAddr::from(([127, 0, 0, 1], 9465)),
            url: None,
            token: None,
            token_file: None,
            token_in_links: false,
        }
    }
}

impl MediaServerConfig {
    /// What is wrong beyond types and ranges: the key below `recording.server`, and what to do.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if self.token.is_some() && self.token_file.is_some() {
            problems.push(("token", "is set beside `token_file`; keep one of them".to_owned()));
        }
        if self.enabled && self.token.is_none() && self.token_file.is_none() {
            problems.push(("token_file", "is missing: recordings are served only to whoever knows a token".to_owned()));
        }
        if self.token.as_ref().is_some_and(|token| token.len() < MIN_TOKEN_CHARS) {
            problems.push(("token", format!("is shorter than {MIN_TOKEN_CHARS} characters, and could be guessed")));
        }
        if self.url.as_ref().is_some_and(|url| !url.starts_with("http://") && !url.starts_with("https://")) {
            problems
                .push(("url", "begins with http:// or https://, for instance \"http://robot.local:9465\"".to_owned()));
        }
        problems
    }
}

/// Minimum number of characters of a token.
pub const MIN_TOKEN_CHARS: usize = 16;

/// `[metrics]`: Prometheus and health over HTTP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MetricsConfig {
    /// Whether `/metrics` and `/health` are served.
    pub enabled: bool,
    /// Address and port. Keep it on loopback: there is no authentication.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
}

impl Default for MetricsConfig {
    fn default() -> Self {
        Self { enabled: true, listen: SocketAddr::from(([127, 0, 0, 1], 9464)) }
    }
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// The journal's own fields under systemd, else text.
    #[default]
    Auto,
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
    /// The journal's own fields.
    Journald,
}

/// `[log]`: the log on stderr or in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug` or `trace`, or a filter per module such as `info,drivers=debug`.
    pub level: String,
    /// How lines are written.
    pub format: LogFormat,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { level: "info".to_owned(), format: LogFormat::Auto }
    }
}
