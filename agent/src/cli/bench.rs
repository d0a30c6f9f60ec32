//! `engram bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values::positive_seconds;

/// `engram bench`.
#[derive(Debug, Clone, Subcommand)]
pub enum BenchCommand {
    /// Measure the segmenter (boundary F1) on clips with known boundaries.
    Segments {
        /// Directory with the clips and their known boundaries.
        dir: PathBuf,
        /// Tolerance of a boundary, in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = positive_seconds)]
        tolerance: f64,
    },
    /// Measure size and speed of the index, on entries recombined from real texts.
    Index(IndexBenchArgs),
    /// Measure procedures on sessions with known answers: next steps, paths, grouping, mining, and the cost of learning.
    Procedures(ProceduresBenchArgs),
    /// Measure what the poses of a robot cost: processor time and bytes of the store, under a clock of its own.
    Poses(PosesBenchArgs),
}

/// `engram bench index`.
#[derive(Debug, Clone, Args)]
pub struct IndexBenchArgs {
    /// Directory with conversations: `observations.jsonl` and `questions.json`, in it or in its subdirectories.
    pub dir: PathBuf,
    /// Number of entries. Several numbers, separated by commas, are measured one after the other.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1000000")]
    pub entries: Vec<u64>,
    /// Number of questions.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub queries: usize,
    /// Do not compare with a scan of the vectors. This saves 1,536 bytes an entry.
    #[arg(long)]
    pub no_scan: bool,
    /// Draw time and space against the number of entries, as an SVG file.
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
}

/// `engram bench procedures`.
#[derive(Debug, Clone, Args)]
pub struct ProceduresBenchArgs {
    /// Directory with `observations_train.jsonl`, `observations_SPLIT.jsonl` and `queries_SPLIT.json`.
    pub dir: PathBuf,
    /// Which set of questions.
    #[arg(long, value_name = "SPLIT", default_value = "dev")]
    pub split: String,
    /// Number of facts in the generated household.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub facts: u64,
    /// Number of procedures in the generated household, each with thirty sessions.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub procedures: u64,
    /// Also use the text embedding model, if one is installed.
    #[arg(long)]
    pub embed: bool,
    /// Write sessions and mined patterns to this file, one JSON line for each goal, to compare with another program.
    #[arg(long, value_name = "FILE")]
    pub patterns: Option<PathBuf>,
}

/// `engram bench poses`.
#[derive(Debug, Clone, Args)]
pub struct PosesBenchArgs {
    /// Poses a second.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rate: u32,
    /// Minutes that the robot drives, of its own clock.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub minutes: u32,
}
