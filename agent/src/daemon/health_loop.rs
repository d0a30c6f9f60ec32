//! The heartbeat: makes the health report, feeds systemd's watchdog while every loop ticks, and notices a store that no
//! longer answers.

use std::sync::Arc;
use std::time::Duration;

use drivers::archive::Archive;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};

use super::board::Board;
use super::systemd;
use crate::health::HealthReport;
use crate::mqtt::MqttCounters;
use crate::service::MemoryService;
use crate::watchdog::{Stalled, Watchdog};

/// Interval at which the report is made even if nothing announced a change.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// How long the store may fail to answer before the program ends, so that systemd restarts it.
const STORE_TIMEOUT: Duration = Duration::from_secs(30);
/// Name of stuck loops in health.
const LOOPS: &str = "loops";

/// The report of this moment.
pub fn report(board: &Board, service: &MemoryService, counters: &MqttCounters, archive: &Archive) -> HealthReport {
    let counted = service.counters();
    board.note("storage", counted.write_error);
    board.note("embedding", counted.embedding.error);
    board.note("learning", counted.learning.error);
    board.note("mqtt", counters.last_error());
    let recorded = archive.status();
    board.note("archive", recorded.error);
    let mut report = board.report(&service.memory().stats(), service.queues(), counters.snapshot());
    report.disk.media_bytes = recorded.bytes;
    report
}

/// Beats until aborted. Returns only if the store does not answer: the reason.
pub async fn run(
    health: watch::Sender<HealthReport>,
    board: Arc<Board>,
    service: MemoryService,
    counters: Arc<MqttCounters>,
    archive: Arc<Archive>,
    watchdog: Arc<Watchdog>,
) -> String {
    let mut beat = tokio::time::interval(REPORT_INTERVAL);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watched = systemd::watchdog().is_some();
    let mut last_answer = Instant::now();
    let mut last_status = String::new();
    let mut loops = Loops::default();
    loop {
        tokio::select! {
            _ = beat.tick() => {
                match store_answers(&service).await {
                    Ok(()) => {
                        last_answer = Instant::now();
                        let all_tick = loops.look(watchdog.stalled());
                        board.note(LOOPS, loops.problem());
                        if watched && all_tick {
                            systemd::alive();
                        }
                    }
                    Err(reason) if last_answer.elapsed() > STORE_TIMEOUT => {
                        return format!("the store has not answered for {STORE_TIMEOUT:?}: {reason}");
                    }
                    Err(reason) => tracing::error!(%reason, "the store does not answer"),
                }
            }
            () = board.changed() => {}
        }
        let report = report(&board, &service, &counters, &archive);
        let status = status_line(&report, &loops);
        if status != last_status {
            systemd::status(&status);
            last_status = status;
        }
        health.send_replace(report);
    }
}

/// Reads a record that every store has or has not; the answer does not matter, that one comes does.
async fn store_answers(service: &MemoryService) -> Result<(), String> {
    let memory = service.memory().clone();
    let read = tokio::task::spawn_blocking(move || memory.setting("recording"));
    match tokio::time::timeout(STORE_TIMEOUT, read).await {
        Ok(Ok(Ok(_))) => Ok(()),
        Ok(Ok(Err(error))) => Err(error.to_string()),
        Ok(Err(panic)) => Err(panic.to_string()),
        Err(_elapsed) => Err("reading a setting takes too long".to_owned()),
    }
}

/// State of the loops, from one report to the next.
#[derive(Default)]
struct Loops {
    stalled: Vec<String>,
}

impl Loops {
    /// Takes in which loops are stuck and logs what has changed; `true` if none is, so that the watchdog may be fed.
    fn look(&mut self, stalled: Vec<Stalled>) -> bool {
        for Stalled { name, silence } in stalled.iter().filter(|stalled| !self.stalled.contains(&stalled.name)) {
            tracing::error!(name, silent_s = silence.as_secs(), "a loop is stuck; systemd's watchdog is not fed");
        }
        let stalled: Vec<String> = stalled.into_iter().map(|stalled| stalled.name).collect();
        for name in self.stalled.iter().filter(|name| !stalled.contains(name)) {
            tracing::warn!(name, "the loop ticks again");
        }
        self.stalled = stalled;
        self.stalled.is_empty()
    }

    /// Formats it for health and the status line.
    fn problem(&self) -> Option<String> {
        (!self.stalled.is_empty()).then(|| format!("stuck: {}", self.stalled.join(", ")))
    }
}

fn status_line(report: &HealthReport, loops: &Loops) -> String {
    let running = report.sources.values().filter(|source| source.state == "running").count();
    let mut line = format!(
        "{} episodes, {} events; {running} of {} sources running",
        report.memory.episodes,
        report.memory.events,
        report.sources.len()
    );
    if report.paused {
        line.push_str("; paused");
    }
    if !report.degraded.is_empty() {
        line.push_str(&format!("; degraded: {}", report.degraded.len()));
    }
    if let Some(problem) = loops.problem() {
        line.push_str(&format!("; {problem}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use memory_core::{ManualClock, Timestamp};

    use super::*;
    use crate::watchdog::STUCK_AFTER;

    #[test]
    fn a_stuck_loop_withholds_the_watchdog_and_is_named_in_the_status_line() {
        let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
        let watchdog = Watchdog::new(clock.clone());
        let (client, writer) = (watchdog.heartbeat("mqtt in"), watchdog.heartbeat("memory writer"));
        let mut loops = Loops::default();
        let line = |loops: &Loops| status_line(&HealthReport::default(), loops);
        assert!(loops.look(watchdog.stalled()));
        assert_eq!(line(&loops), "0 episodes, 0 events; 0 of 0 sources running");

        clock.advance(STUCK_AFTER + Duration::from_secs(1));
        client.tick();
        assert!(!loops.look(watchdog.stalled()), "fed although the writer is stuck");
        assert!(line(&loops).ends_with("; stuck: memory writer"), "{}", line(&loops));
        clock.advance(STUCK_AFTER + Duration::from_secs(1));
        assert!(!loops.look(watchdog.stalled()));
        assert!(line(&loops).ends_with("; stuck: mqtt in, memory writer"), "{}", line(&loops));

        client.tick();
        writer.tick();
        assert!(loops.look(watchdog.stalled()));
        assert_eq!(loops.problem(), None);
    }
}
