//! Procedures on COIN, in process: what `engram bench procedures` measures, without building the whole program.
//!
//! `cargo run --release -p memory-core --example procedures -- [dev] [--vectors FILE] [--patterns FILE] [--folds]`
//!
//! `--vectors`: φ of the steps, as `--example locomo` reads it. `--patterns`: writes the sessions of every task and their
//! closed patterns at 20 % support, for `examples/prefixspan_reference.py` to compare with the PyPI package in speed and content. `--folds`:
//! only grouping and the next step, on other parts of the data, each by itself.

#![allow(missing_docs, clippy::print_stdout, reason = "a program that prints a table")]

#[allow(dead_code, reason = "the other benchmarks use the rest")]
mod offline;

use std::io::Write as _;

use memory_core::SystemClock;
use memory_core::learning::measure::{HouseholdPlan, LearningWorkload, MeasureEnvironment, folds, measure};
use memory_core::ports::TextEmbedder as _;
use offline::{VectorFile, shared};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut split, mut vectors, mut patterns, mut only_folds) = ("dev".to_owned(), None, None, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--vectors" => vectors = arguments.next(),
            "--patterns" => patterns = arguments.next(),
            "--folds" => only_folds = true,
            _ => split = argument,
        }
    }
    let vectors = vectors.map(|file| VectorFile::read(file.as_ref())).transpose()?;
    let phi = |text: &str| vectors.as_ref()?.embed(&[text]).ok()?.pop();
    let folder = shared().join("bench/procedures/coin");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    let workload = LearningWorkload::read(&split, &read)?;
    let clock = SystemClock::new();
    let around = MeasureEnvironment { clock: &clock, resident: &resident, phi: &phi };
    if only_folds {
        let folds = folds(&workload, &around);
        println!("{folds:#.4?}\n{}", folds.table());
        return Ok(());
    }
    let figures = measure(&workload, HouseholdPlan::default(), &around, &mut |_| ());
    println!("{}", figures.table());
    if let Some(file) = patterns {
        let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
        for mined in workload.mined(figures.mining.1) {
            writeln!(out, "{}", serde_json::to_string(&mined)?)?;
        }
        out.flush()?;
    }
    Ok(())
}

/// Resident bytes of this process.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
