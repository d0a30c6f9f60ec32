//! Commands that keep the store: `engram compact`, `backup`, `restore`, `export` and `import`.

use std::path::PathBuf;

use clap::Args;

use super::values::positive_seconds;

/// `engram compact`.
#[derive(Debug, Clone, Args)]
pub struct CompactArgs {
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram backup`.
#[derive(Debug, Clone, Args)]
pub struct BackupArgs {
    /// The file to write. A running agent writes the backup to its own directory first; the command copies it from there.
    pub file: PathBuf,
    /// Replace an existing file.
    #[arg(long)]
    pub replace: bool,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram restore`.
#[derive(Debug, Clone, Args)]
pub struct RestoreArgs {
    /// The backup to read. A running agent gets a copy of it.
    pub file: PathBuf,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// The directory to create. A running agent writes the export to its own directory first; the command copies it from
    /// there.
    pub dir: PathBuf,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram import`.
#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    /// A directory written by `engram export`. No agent may be running on the memory.
    pub dir: PathBuf,
}
