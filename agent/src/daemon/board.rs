//! What the parts say about themselves, and the health report made of it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use memory_core::Clock;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::ceilings::used;
use crate::health::{
    DiskHealth, HealthReport, MemoryHealth, ModelHealth, ProcessHealth, QueueHealth, SourceHealth, ThermalHealth,
};
use crate::llm::LanguageModels;
use crate::logging::LastError;

/// Tells the state of one source.
pub type SourceProbe = Arc<dyn Fn() -> SourceHealth + Send + Sync>;

/// Free space on the store's file system below which health warns.
const LOW_DISK_BYTES: u64 = 512 << 20;

/// Parts write here, health reads. Locks are held for the time of a copy.
pub struct Board {
    clock: Arc<dyn Clock>,
    started: Duration,
    instance: String,
    data_dir: PathBuf,
    last_error: LastError,
    state: Mutex<BoardState>,
    changed: Notify,
}

#[derive(Default)]
struct BoardState {
    paused: bool,
    sources: BTreeMap<String, SourceProbe>,
    models: BTreeMap<String, ModelHealth>,
    degraded: BTreeMap<String, String>,
    thermal: ThermalHealth,
    ceiling_mib: u64,
    language_models: LanguageModels,
}

impl Board {
    /// An empty board for a daemon that starts now.
    pub fn new(clock: Arc<dyn Clock>, instance: String, data_dir: PathBuf, last_error: LastError) -> Self {
        let started = clock.monotonic();
        Self {
            clock,
            started,
            instance,
            data_dir,
            last_error,
            state: Mutex::new(BoardState::default()),
            changed: Notify::new(),
        }
    }

    /// Adds or replaces a source.
    pub fn source(&self, name: &str, probe: SourceProbe) {
        self.state.lock().sources.insert(name.to_owned(), probe);
        self.changed.notify_one();
    }

    /// Takes a source away.
    pub fn without_source(&self, name: &str) {
        self.state.lock().sources.remove(name);
        self.changed.notify_one();
    }

    /// The state of every source.
    pub fn sources(&self) -> BTreeMap<String, SourceHealth> {
        let probes = self.state.lock().sources.clone();
        probes.into_iter().map(|(name, probe)| (name, probe())).collect()
    }

    /// Replaces what is known of the models.
    pub fn models(&self, models: BTreeMap<String, ModelHealth>) {
        self.state.lock().models = models;
        self.changed.notify_one();
    }

    /// The language models, whose state every report asks for.
    pub fn language_models(&self, models: LanguageModels) {
        for (name, reason) in &models.unusable {
            self.note(name, Some(reason.clone()));
        }
        self.state.lock().language_models = models;
        self.changed.notify_one();
    }

    /// Sets the ceiling of the program, MiB.
    pub fn ceiling(&self, mib: u64) {
        self.state.lock().ceiling_mib = mib;
    }

    /// How hot and how busy the machine is. Only another state is news.
    pub fn thermal(&self, thermal: ThermalHealth) {
        let off = thermal.state == "off";
        self.note("pictures", thermal.reason.clone().filter(|_| !off));
        let before = std::mem::replace(&mut self.state.lock().thermal, thermal.clone());
        if before.state != thermal.state {
            self.changed.notify_one();
        }
    }

    /// Recording is paused or goes on.
    pub fn paused(&self, paused: bool) {
        self.state.lock().paused = paused;
        self.changed.notify_one();
    }

    /// Something is missing; `None` takes it back.
    pub fn degraded(&self, what: &str, reason: Option<String>) {
        self.note(what, reason);
        self.changed.notify_one();
    }

    /// The same, for the one who makes the next report anyway.
    pub(super) fn note(&self, what: &str, reason: Option<String>) {
        let mut state = self.state.lock();
        match reason {
            Some(reason) => state.degraded.insert(what.to_owned(), reason),
            None => state.degraded.remove(what),
        };
    }

    /// Returns what is missing of a part, if anything.
    #[cfg(test)]
    pub(super) fn note_of(&self, what: &str) -> Option<String> {
        self.state.lock().degraded.get(what).cloned()
    }

    /// Waits until something was written.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The report of this moment.
    pub fn report(
        &self,
        stats: &memory_core::Stats,
        queues: BTreeMap<String, QueueHealth>,
        mqtt: BTreeMap<String, u64>,
    ) -> HealthReport {
        let sources = self.sources();
        let language_models = self.state.lock().language_models.clone().health();
        let disk = DiskHealth {
            store_bytes: stats.disk_bytes,
            free_bytes: free_bytes(&self.data_dir).unwrap_or(0),
            media_bytes: 0,
        };
        let state = self.state.lock();
        let mut degraded: Vec<String> =
            state.degraded.iter().map(|(what, reason)| format!("{what}: {reason}")).collect();
        for (role, model) in state.models.iter().filter(|(_, model)| model.state != "ready") {
            degraded.push(format!("{role}: {}", model.reason.as_deref().unwrap_or(&model.state)));
        }
        for (name, source) in
            sources.iter().filter(|(_, source)| ["backoff", "failed"].contains(&source.state.as_str()))
        {
            degraded.push(format!("source {name}: {}", source.error.as_deref().unwrap_or(&source.state)));
        }
        for (name, model) in &language_models {
            degraded.extend(model.problem().map(|problem| format!("{name}: {problem}")));
        }
        if state.paused {
            degraded.push("recording: paused".to_owned());
        }
        if disk.free_bytes < LOW_DISK_BYTES {
            // No exact number: a line that changes with every byte would be news with every byte.
            degraded.push(format!("disk: less than {} left", crate::output::bytes(LOW_DISK_BYTES)));
        }
        let (resident_mib, swapped_mib) = used(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
        let process = ProcessHealth { resident_mib, swapped_mib, ceiling_mib: state.ceiling_mib };
        if state.ceiling_mib > 0 && resident_mib + swapped_mib > state.ceiling_mib {
            degraded.push(format!("memory of the program: more than {} MiB", state.ceiling_mib));
        }
        if let Some(least) = stats.clock_behind {
            degraded.push(format!("clock: it is later than it shows, {least} at least; set it"));
        }
        degraded.sort();
        degraded.dedup();
        HealthReport {
            version: crate::build_info::long_version().to_owned(),
            instance: self.instance.clone(),
            uptime_s: self.clock.monotonic().saturating_sub(self.started).as_secs(),
            paused: state.paused,
            memory: MemoryHealth {
                observations: stats.observations,
                events: stats.events,
                episodes: stats.episodes,
                seq: stats.seq,
                pending_embeddings: stats.pending_embeddings,
                pending_lessons: stats.pending_lessons,
                facts: stats.facts,
            },
            sources,
            models: state.models.clone(),
            language_models,
            queues,
            disk,
            thermal: state.thermal.clone(),
            process,
            mqtt,
            degraded,
            last_error: self.last_error.get(),
        }
    }
}

/// Bytes that this process may still write beside `path`.
pub fn free_bytes(path: &std::path::Path) -> std::io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use memory_core::{ManualClock, Stats, Timestamp};

    use super::*;

    fn board(clock: &Arc<ManualClock>) -> Board {
        Board::new(clock.clone(), "i-1".into(), std::env::temp_dir(), LastError::default())
    }

    #[test]
    fn what_is_missing_is_named_and_taken_back() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let board = board(&clock);
        board.degraded("metrics", Some("port taken".into()));
        board.paused(true);
        let model = ModelHealth { state: "absent".into(), reason: Some("not installed".into()), ..Default::default() };
        board.models(BTreeMap::from([("objects".to_owned(), model)]));
        board.source(
            "door",
            Arc::new(|| SourceHealth { state: "backoff".into(), error: Some("gone".into()), ..Default::default() }),
        );
        let stats = Stats { clock_behind: Some(Timestamp::from_micros(0)), ..Stats::default() };
        let report = board.report(&stats, BTreeMap::new(), BTreeMap::new());
        assert!(report.degraded.iter().any(|line| line.starts_with("clock: ")));
        for part in ["metrics: port taken", "objects: not installed", "recording: paused", "source door: gone"] {
            assert!(report.degraded.iter().any(|line| line == part), "{part} in {:?}", report.degraded);
        }
        board.degraded("metrics", None);
        board.paused(false);
        let report = board.report(&Stats::default(), BTreeMap::new(), BTreeMap::new());
        assert!(!report.degraded.iter().any(|line| line.starts_with("metrics") || line.starts_with("recording")));
    }

    #[test]
    fn a_program_above_its_ceiling_is_told() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let board = board(&clock);
        let told = |board: &Board| {
            let report = board.report(&Stats::default(), BTreeMap::new(), BTreeMap::new());
            report.degraded.iter().any(|line| line.starts_with("memory of the program"))
        };
        board.ceiling(1);
        assert!(told(&board));
        board.ceiling(1 << 20);
        assert!(!told(&board));
    }

    #[test]
    fn uptime_does_not_follow_the_wall_clock() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let board = board(&clock);
        clock.advance(Duration::from_secs(90));
        clock.set_wall(Timestamp::from_micros(-3_600_000_000));
        assert_eq!(board.report(&Stats::default(), BTreeMap::new(), BTreeMap::new()).uptime_s, 90);
    }
}
