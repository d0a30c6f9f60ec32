//! The heartbeat: makes the health report, feeds systemd's watchdog, and notices a store that no longer answers.

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

/// How often the report is made though nothing announced a change.
const BEAT: Duration = Duration::from_secs(1);
/// How long the store may fail to answer before the program ends, for systemd to start it afresh.
const STORE_PATIENCE: Duration = Duration::from_secs(30);

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
) -> String {
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watched = systemd::watchdog().is_some();
    let mut last_answer = Instant::now();
    let mut last_status = String::new();
    loop {
        tokio::select! {
            _ = beat.tick() => {
                match store_answers(&service).await {
                    Ok(()) => {
                        last_answer = Instant::now();
                        if watched {
                            systemd::alive();
                        }
                    }
                    Err(reason) if last_answer.elapsed() > STORE_PATIENCE => {
                        return format!("the store has not answered for {STORE_PATIENCE:?}: {reason}");
                    }
                    Err(reason) => tracing::error!(%reason, "the store does not answer"),
                }
            }
            () = board.changed() => {}
        }
        let report = report(&board, &service, &counters, &archive);
        let status = status_line(&report);
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
    match tokio::time::timeout(STORE_PATIENCE, read).await {
        Ok(Ok(Ok(_))) => Ok(()),
        Ok(Ok(Err(error))) => Err(error.to_string()),
        Ok(Err(panic)) => Err(panic.to_string()),
        Err(_elapsed) => Err("reading a setting takes too long".to_owned()),
    }
}

fn status_line(report: &HealthReport) -> String {
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
    line
}
