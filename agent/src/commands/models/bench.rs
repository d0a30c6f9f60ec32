use std::time::{Duration, Instant};

use drivers::encoders::{Accelerator, RoleState, RoleStatus, Trial, batches, trials};
use drivers::models::Role;
use serde_json::{Value, json};

use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure};
use crate::output::{Output, progress};
use crate::senses::encoders;

/// Number of runs before the measurement, to map memory and wake threads.
const WARM_UP_RUNS: usize = 3;
/// The columns.
const BACKENDS: [Accelerator; 3] = [Accelerator::Cpu, Accelerator::Cuda, Accelerator::TensorRt];

/// Measures every encoder on every backend that this machine has and prints one table; texts also in batches.
///
/// # Errors
/// [`Exit::Config`] if the manifest cannot be used.
pub fn run(config: &ModelsConfig, rounds: u32, output: Output) -> Result<Exit, Failure> {
    let mut rows: Vec<Value> = Vec::new();
    let (mut loads, mut columns, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for accelerator in BACKENDS {
        let begin = Instant::now();
        let loaded = encoders::load_on(config, accelerator)?;
        loaded.wait_ready();
        let status = loaded.status();
        // The processor's answers stand in its own column, whoever they stand in for.
        let of_column = |status: &RoleStatus| {
            let backend = status.backend.as_deref().unwrap_or_default();
            accelerator == Accelerator::Cpu || backend.contains(&accelerator.to_string())
        };
        let serving = |role: &Role| status.get(role).is_some_and(|s| s.state == RoleState::Ready && of_column(s));
        if !Role::ALL.iter().any(serving) {
            let why = status.values().find(|status| status.state == RoleState::Failed);
            let why = why.and_then(|status| status.reason.clone()).unwrap_or_else(|| "no model is ready".to_owned());
            left_out.push(json!({ "backend": accelerator.to_string(), "reason": why }));
            continue;
        }
        loads.push(format!("{accelerator} in {:.1} s", begin.elapsed().as_secs_f64()));
        columns.push(accelerator);
        let filled = loaded.filled();
        let all: Vec<Trial> =
            trials(&filled).into_iter().chain(batches(&filled)).filter(|trial| serving(&trial.role)).collect();
        let bar = progress(Some(all.len() as u64), "{spinner} measuring {prefix}: {msg} {pos}/{len}");
        bar.set_prefix(accelerator.to_string());
        for trial in &all {
            bar.set_message(trial.role.name());
            let times = measure(trial, rounds);
            let millis = |at: usize| times.get(at).map(|time| (time.as_secs_f64() * 1e6).round() / 1e3);
            let status = status.get(&trial.role);
            rows.push(json!({
                "role": trial.role.name(), "model": status.and_then(|status| status.model.clone()),
                "column": accelerator.to_string(), "backend": status.and_then(|status| status.backend.clone()),
                "input": trial.input, "median_ms": millis(times.len() / 2), "p95_ms": millis(times.len() * 95 / 100),
                "rounds": times.len(),
            }));
            bar.inc(1);
        }
        bar.finish_and_clear();
    }
    if output.json {
        output.json(&json!({ "threads": config.threads, "encoders": rows, "left_out": left_out }));
        return Ok(Exit::Ok);
    }
    print(&rows, &columns, output);
    output.text(format!("loaded: {}; {} threads for texts, one for everything else", loads.join(", "), config.threads));
    for one in &left_out {
        output.text(format!("{}: not measured: {}", text(one, "backend"), text(one, "reason")));
    }
    Ok(Exit::Ok)
}

fn measure(trial: &Trial, rounds: u32) -> Vec<Duration> {
    // What fails is a finding of `models test`; here it has no time.
    if (0..WARM_UP_RUNS).any(|_| trial.once().is_err()) {
        return Vec::new();
    }
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..rounds {
        let begin = Instant::now();
        if trial.once().is_err() {
            break;
        }
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    times
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

/// One line per role and input, with median and 95th percentile per backend.
fn print(rows: &[Value], columns: &[Accelerator], output: Output) {
    let heads: String = columns.iter().map(|column| format!(" {:>9} {:>9}", column.to_string(), "p95")).collect();
    output.text(format!("{:<18} {:<18} {:<22}{heads}", "role", "model", "input"));
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let of_line = (text(row, "role"), text(row, "input"));
        if seen.contains(&of_line) {
            continue;
        }
        seen.push(of_line);
        let cell = |column: &Accelerator| {
            let measured = rows.iter().find(|row| {
                (text(row, "role"), text(row, "input")) == of_line && text(row, "column") == column.to_string()
            });
            let Some(measured) = measured else { return format!(" {:>9} {:>9}", "-", "-") };
            let time =
                |key: &str| measured[key].as_f64().map_or_else(|| "failed".to_owned(), |ms| format!("{ms:.2} ms"));
            format!(" {:>9} {:>9}", time("median_ms"), time("p95_ms"))
        };
        let cells: String = columns.iter().map(cell).collect();
        output.text(format!("{:<18} {:<18} {:<22}{cells}", of_line.0, text(row, "model"), of_line.1));
    }
}
