//! Scores the built program with a benchmark's own scorer, on a private broker, with fresh memories.
//!
//! `tests/score` is the command to run: it prepares Python, builds this and cleans up after an interruption.

mod av;
mod baseline;
mod bootstrap;
mod layout;
mod locomo;
mod machine;
mod procedures;
mod scorer;
mod told;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};
use serde_json::Value;

/// Scores engram: starts a private broker and fresh agents, runs the benchmark's scorer, prints its report.
#[derive(Debug, Parser)]
#[command(name = "tests/score", version)]
struct ScoreArguments {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// What was seen and heard: a film of a day, questions with windows of evidence.
    Av {
        #[command(flatten)]
        common: Common,
        /// Whether the transcript is given along with the film.
        #[arg(long, value_enum, default_value_t = Subtitles::Both)]
        subtitles: Subtitles,
        /// Perfect eyes: what a strong model would have seen and heard is told instead of the film, and the transcript too.
        #[arg(long, conflicts_with = "subtitles")]
        captions: bool,
    },
    /// What happens in a home: three days told, questions as a family asks them.
    Home {
        #[command(flatten)]
        common: Common,
    },
    /// What was cooked: days of many similar observations, with times, counts, amounts and order.
    Kitchen {
        #[command(flatten)]
        common: Common,
        /// At most N questions per participant and category.
        #[arg(long)]
        limit: Option<usize>,
        /// Where the time asked about stands: in the question's `words`, in the `fields` since and until, or `both`.
        #[arg(long, default_value = "words", value_parser = ["words", "fields", "both"])]
        scope: String,
    },
    /// What was said: long conversations, questions with the turns that answer them.
    Locomo {
        #[command(flatten)]
        common: Common,
        /// Also asks what nobody said, and counts honest refusals.
        #[arg(long)]
        adversarial: bool,
    },
    /// How things are done: next steps, paths under constraints, grouping.
    Procedures {
        #[command(flatten)]
        common: Common,
        /// Only the first N test sessions of the next-step part.
        #[arg(long)]
        limit: Option<usize>,
    },
}

/// Options of every benchmark.
#[derive(Debug, clap::Args)]
struct Common {
    /// The benchmark's folder, one of its splits, or one session or conversation.
    dir: PathBuf,
    /// Also writes the report there.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A key of the agents' configuration, for instance `models.threads=2`. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    settings: Vec<(String, toml::Value)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subtitles {
    /// Given.
    On,
    /// Withheld.
    Off,
    /// One run each.
    Both,
}

fn setting(text: &str) -> Result<(String, toml::Value), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    let parsed = value.parse::<toml::Value>().unwrap_or_else(|_| toml::Value::String(value.to_owned()));
    Ok((key.to_owned(), parsed))
}

fn main() -> ExitCode {
    match run(&ScoreArguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[allow(clippy::print_stderr, reason = "the command says why it failed")]
            {
                eprintln!("score: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &ScoreArguments) -> Result<()> {
    let (common, mut report) = match &arguments.benchmark {
        Benchmark::Av { common, captions: true, .. } => (common, av::perfect(&common.dir, &common.settings)?),
        Benchmark::Av { common, subtitles, .. } => (common, av::run(&common.dir, *subtitles, &common.settings)?),
        Benchmark::Home { common } => (common, told::home(&common.dir, &common.settings)?),
        Benchmark::Kitchen { common, limit, scope } => {
            (common, told::kitchen(&common.dir, *limit, scope, &common.settings)?)
        }
        Benchmark::Locomo { common, adversarial } => {
            (common, locomo::run(&common.dir, *adversarial, &common.settings)?)
        }
        Benchmark::Procedures { common, limit } => (common, procedures::run(&common.dir, *limit, &common.settings)?),
    };
    report["machine"] = machine::describe()?;
    if let Some(path) = &common.json {
        write(path, &report)?;
    }
    Ok(())
}

fn write(path: &PathBuf, report: &Value) -> Result<()> {
    let text = serde_json::to_string_pretty(report).context("a report is JSON")?;
    std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
}
