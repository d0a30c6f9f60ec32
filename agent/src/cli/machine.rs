//! Commands about this machine: `engram config` and `doctor`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values::positive_seconds;

/// `engram config`.
#[derive(Debug, Clone, Subcommand)]
pub enum ConfigCommand {
    /// Print the effective configuration and where each value came from.
    Show,
    /// Report mistakes in the configuration; exit code 3 if there are any.
    Check,
    /// Print the JSON Schema of the configuration.
    Schema,
}

/// `engram doctor`.
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Skip the checks that need the broker.
    #[arg(long)]
    pub no_broker: bool,
    /// How long to wait for each source, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = positive_seconds)]
    pub timeout: f64,
    /// Write a report for support as JSON: findings, machine, configuration, health, warnings. It contains no secrets and
    /// nothing from the memory.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "engram-report.json")]
    pub report: Option<PathBuf>,
}
