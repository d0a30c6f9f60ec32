//! What a process takes, looked at from outside.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use engram_tests::{Agent, Client};
use serde::Serialize;
use serde_json::Value;

/// A busy machine may keep a report waiting.
const REPORT: Duration = Duration::from_secs(60);

/// One look.
#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    /// Robot time since the begin.
    pub hours: f64,
    /// Resident bytes.
    pub resident: u64,
    /// Threads.
    pub threads: u64,
    /// Open files.
    pub files: u64,
    /// Bytes of the whole data directory.
    pub disk: u64,
}

/// Looks at the agent's process.
///
/// # Errors
/// If it is gone.
pub fn look(agent: &mut Agent, hours: f64) -> Result<Sample> {
    let folder = format!("/proc/{}", agent.process().id());
    let status = fs::read_to_string(format!("{folder}/status")).context("engram is gone")?;
    let number = |name: &str| -> Result<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let word = line.and_then(|line| line.split_whitespace().next()).with_context(|| format!("no {name}"))?;
        Ok(word.parse()?)
    };
    Ok(Sample {
        hours,
        resident: number("VmRSS")? * 1024,
        threads: number("Threads")?,
        files: fs::read_dir(format!("{folder}/fd"))?.count() as u64,
        disk: bytes_in(&agent.data_dir()),
    })
}

/// Bytes of the files in a folder and below. Files come and go meanwhile.
pub fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => bytes_in(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        })
        .sum()
}

/// A health report that was made from now on and satisfies `wanted`.
///
/// # Errors
/// If none comes.
pub fn fresh_health(agent: &Agent, client: &Client, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
    let topic = format!("engram/{}/health", agent.robot());
    let found = client.message_after(client.mark(), &topic, REPORT, |message| {
        !message.retained && message.json().is_ok_and(|report| wanted(&report))
    });
    found.with_context(|| format!("engram said:\n{}", agent.output()))?.json()
}

/// What the queues refused.
pub fn refused(report: &Value) -> u64 {
    let queues = report["queues"].as_object().into_iter().flatten();
    queues.filter_map(|(_, queue)| queue["dropped"].as_u64()).sum()
}
