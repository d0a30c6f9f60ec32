//! Runs the built program for hours of a robot's life in minutes and says whether anything creeps.
//!
//! Parts, each with a fresh memory. What is told: observations of a household at many times real time, so that store,
//! learning and index do days of work. What is seen: a camera with a microphone at real time that dies and comes back again
//! and again. Both look at resident memory, threads, open files, drops and the disk; the exit status says whether the bars
//! hold. `ENGRAM_BIN` names the program. A third part, left out unless asked for, is a camera that shows nothing.

#![allow(clippy::print_stdout)] // It talks to a person.

mod bars;
mod idle;
mod observer;
mod seen;
mod told;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use engram_tests::sandbox::Unit;
use engram_tests::{AgentBuilder, repository};

use bars::Bars;

/// Soaks engram: a household told at many times real time, and a camera that dies and comes back.
#[derive(Debug, Parser)]
#[command(name = "soak", version)]
struct SoakArguments {
    /// Hours of robot time that are told; 0 leaves this part out.
    #[arg(long, default_value_t = 24.0)]
    hours: f64,
    /// How many times faster than real they pass.
    #[arg(long, default_value_t = 720.0)]
    speed: f64,
    /// Seconds between two observations, in robot time.
    #[arg(long, default_value_t = 5.0)]
    every_s: f64,
    /// How often the camera dies and comes back; 0 leaves this part out.
    #[arg(long, default_value_t = 5)]
    reconnects: u64,
    /// Seconds that the camera lives each time. A session below ten seconds counts as a failure, and the pauses grow.
    #[arg(long, default_value_t = 10.5)]
    session_s: f64,
    /// Ceiling of the store and of the recordings, MiB each.
    #[arg(long, default_value_t = 256)]
    disk_mib: u64,
    /// Seconds that an idle camera is looked at for what it takes of the processor; 0 leaves this part out, which only says
    /// something of a release build.
    #[arg(long, default_value_t = 0)]
    idle_s: u64,
    /// Also writes every sample there, as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<std::path::PathBuf>,
}

fn main() -> ExitCode {
    let arguments = SoakArguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("soak: {error:#}\nsoak: 0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

/// An agent with the environment that the service has.
fn as_service(builder: AgentBuilder) -> Result<AgentBuilder> {
    let unit = Unit::parse(&std::fs::read_to_string(repository().join("systemd/engram.service"))?)?;
    unit.values("Environment").try_fold(builder, |builder, line| {
        let (name, value) = line.split_once('=').with_context(|| format!("Environment={line}"))?;
        Ok(builder.environment(name, value))
    })
}

fn run(arguments: &SoakArguments) -> Result<bool> {
    let mut bars = Bars::default();
    let mut samples = serde_json::Map::new();
    if arguments.hours > 0.0 {
        let seen = told::run(arguments, &mut bars)?;
        samples.insert("told".to_owned(), serde_json::to_value(seen)?);
    }
    if arguments.reconnects > 0 {
        let seen = seen::run(arguments, &mut bars)?;
        samples.insert("seen".to_owned(), serde_json::to_value(seen)?);
    }
    if arguments.idle_s > 0 {
        idle::run(arguments, &mut bars)?;
    }
    if let Some(path) = &arguments.json {
        std::fs::write(path, serde_json::to_string_pretty(&samples)?)?;
    }
    println!("soak: {} passed, {} failed", bars.held, bars.broken);
    Ok(bars.broken == 0)
}
