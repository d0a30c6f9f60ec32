//! Runs a benchmark's scorer; its report goes straight to the terminal.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use engram_tests::Broker;
use serde_json::Value;

/// A scorer that will talk to `broker`.
pub fn command(script: &Path, broker: &Broker) -> Command {
    let python = std::env::var_os("ENGRAM_SCORE_PYTHON").unwrap_or_else(|| OsStr::new("python3").to_owned());
    let mut command = Command::new(python);
    command.arg("-B").arg(script).args(["--host", "127.0.0.1", "--port"]).arg(broker.port().to_string());
    command
}

/// Runs it to its end.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    ensure!(status.success(), "the scorer ended with {status}");
    Ok(())
}

/// A file of JSON that a scorer wrote or reads.
pub fn json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}
