//! The health report (`…/health`), which every part of the program keeps current.

use std::collections::BTreeMap;

use serde::Serialize;

/// The payload of `…/health` (docs/mqtt.md, Listening). Fields are only ever added.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct HealthReport {
    /// Version of the program.
    pub version: String,
    /// SeededRandom id of the memory.
    pub instance: String,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Recording is paused by `cmd/pause`.
    pub paused: bool,
    /// Counts of the memory.
    pub memory: MemoryHealth,
    /// Sources by name.
    pub sources: BTreeMap<String, SourceHealth>,
    /// Models by role.
    pub models: BTreeMap<String, ModelHealth>,
    /// Language models by endpoint; absent without one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub language_models: BTreeMap<String, LanguageModelHealth>,
    /// Depth and drops by name of the queue.
    pub queues: BTreeMap<String, QueueHealth>,
    /// Free and used bytes.
    pub disk: DiskHealth,
    /// Temperature and load, and how much work is omitted because of them.
    pub thermal: ThermalHealth,
    /// Memory of the program.
    pub process: ProcessHealth,
    /// Counters of the MQTT interface: rejected, duplicates, limited and so on.
    pub mqtt: BTreeMap<String, u64>,
    /// Missing parts, as `role: reason`.
    pub degraded: Vec<String>,
    /// The last thing that went wrong.
    pub last_error: Option<String>,
}

/// Counts of the memory.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct MemoryHealth {
    /// Accepted observations.
    pub observations: u64,
    /// Visible events.
    pub events: u64,
    /// Visible episodes.
    pub episodes: u64,
    /// Last commit.
    pub seq: u64,
    /// Events without an embedding.
    pub pending_embeddings: u64,
    /// Events that learning has not read yet.
    pub pending_lessons: u64,
    /// Number of topics with facts: attributes of persons and things.
    pub facts: u64,
}

/// One source.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct SourceHealth {
    /// `starting`, `running`, `paused`, `backoff`, `ended` or `failed`.
    pub state: String,
    /// Time since the last frame or block; null before the first.
    pub frame_age_s: Option<f64>,
    /// Frames a second that were delivered lately.
    pub fps: f64,
    /// Frames a second that were analysed lately.
    pub sampled_fps: f64,
    /// How often it was restarted.
    pub restarts: u64,
    /// How often a live source stopped and continued by itself.
    pub gaps: u64,
    /// Dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Segments handed to the memory.
    pub segments: u64,
    /// Why it is in `backoff` or `failed`.
    pub error: Option<String>,
}

/// One encoder role.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct ModelHealth {
    /// `ready`, `loading`, `absent` or `failed`.
    pub state: String,
    /// Which model fills it.
    pub model: Option<String>,
    /// The backend that runs it, for instance `onnxruntime-cpu 1.31.1`.
    pub backend: Option<String>,
    /// Why it is absent or failed. If it is ready: why it does not run on the wanted backend, or not yet.
    pub reason: Option<String>,
}

impl LanguageModelHealth {
    /// Why it is not used now, if it is not.
    pub fn problem(&self) -> Option<String> {
        match (self.state.as_str(), self.monthly_tokens) {
            ("ceiling", Some(ceiling)) => Some(format!("the monthly ceiling of {ceiling} tokens is reached")),
            ("open", _) => Some(format!("left alone after failures: {}", self.reason.as_deref().unwrap_or("unknown"))),
            _ => None,
        }
    }
}

/// Temperature and load.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct ThermalHealth {
    /// `normal`, `warm`, `hot`, or `off`.
    pub state: String,
    /// The hottest zone.
    pub zone: Option<String>,
    /// Its temperature, °C.
    pub celsius: Option<f64>,
    /// Programs that want a processor, per processor, in the last minute.
    pub load: Option<f64>,
    /// Share of the configured pictures and of background work that is done.
    pub share: f64,
    /// Why it is not `normal`.
    pub reason: Option<String>,
}

/// Memory of the program, MiB.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct ProcessHealth {
    /// In memory.
    pub resident_mib: u64,
    /// Swapped out.
    pub swapped_mib: u64,
    /// Limit for both together.
    pub ceiling_mib: u64,
}

/// One queue.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct QueueHealth {
    /// Items waiting.
    pub depth: u64,
    /// Ceiling.
    pub capacity: u64,
    /// Refused or evicted.
    pub dropped: u64,
}

/// The disk of the memory.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct DiskHealth {
    /// Bytes of the store.
    pub store_bytes: u64,
    /// Bytes free on its file system.
    pub free_bytes: u64,
    /// Bytes of the recordings.
    pub media_bytes: u64,
}

/// One endpoint of a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct LanguageModelHealth {
    /// `closed` (in use), `open` (left alone after failures), `trial` or `ceiling`.
    pub state: String,
    /// The model.
    pub model: String,
    /// Destination of words and pictures: host and port, or `transcript`.
    pub host: String,
    /// Whether that is another machine.
    pub leaves_the_machine: bool,
    /// Whether the way there is encrypted.
    pub encrypted: bool,
    /// Purposes of the endpoint.
    pub purposes: Vec<String>,
    /// Whether replies kept to the schema since the start: `unknown`, `kept`, `not kept`, or `refused` where the server takes
    /// none.
    pub schemas: String,
    /// Requests since the start.
    pub requests: u64,
    /// Tasks since the start that ended without a usable reply.
    pub failures: u64,
    /// Requests of today.
    pub requests_today: u64,
    /// Tokens of today.
    pub tokens_today: u64,
    /// Seconds of today in which the endpoint worked.
    pub seconds_today: f64,
    /// Tokens of this calendar month.
    pub tokens_month: u64,
    /// Their ceiling.
    pub monthly_tokens: Option<u64>,
    /// Why the last task ended without a usable reply, until one succeeds.
    pub reason: Option<String>,
}
