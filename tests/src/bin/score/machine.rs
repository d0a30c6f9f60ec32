//! What the figures were measured on.

use std::time::Duration;

use anyhow::{Context, Result};
use engram_tests::{engram, engram_command, run_to_end};
use serde_json::{Value, json};

/// Processor, cores, memory, and which program.
pub fn describe() -> Result<Value> {
    let version = run_to_end(engram_command()?.arg("--version"), Duration::from_secs(10))?;
    let cores = std::thread::available_parallelism().context("the number of cores is not known")?;
    Ok(json!({
        "processor": field("/proc/cpuinfo", "model name"),
        "cores": cores.get(),
        "memory": field("/proc/meminfo", "MemTotal"),
        "engram": version.stdout.trim(),
        "binary": engram()?.display().to_string(),
    }))
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
