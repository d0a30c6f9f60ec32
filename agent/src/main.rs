//! `engram`: the long-term memory of a robot.

use std::process::ExitCode;

use agent::cli::Cli;
use clap::Parser;

fn main() -> ExitCode {
    agent::commands::dispatch(Cli::parse()).into()
}
