use std::time::{Duration, Instant};

use drivers::encoders::trials;
use serde_json::json;

use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure};
use crate::output::{Output, progress};
use crate::senses::encoders;

/// Runs before anything is measured: memory is mapped and threads are awake then.
const WARM_UP: usize = 3;

/// Measures every encoder that is ready and prints one table.
///
/// # Errors
/// [`Exit::Config`] if the manifest cannot be used.
pub fn run(config: &ModelsConfig, rounds: u32, output: Output) -> Result<Exit, Failure> {
    let begin = Instant::now();
    let loaded = encoders::load(config, None)?;
    loaded.wait_ready();
    let load = begin.elapsed();
    let status = loaded.status();
    let trials = trials(&loaded.filled());
    let bar = progress(Some(trials.len() as u64), "{spinner} measuring {msg} {pos}/{len}");
    let mut rows = Vec::new();
    for trial in &trials {
        bar.set_message(trial.role.name());
        for _ in 0..WARM_UP {
            // What fails is a finding of `models test`; here it has no time.
            if trial.once().is_err() {
                break;
            }
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
        let millis = |at: usize| times.get(at).map(|time| (time.as_secs_f64() * 1e6).round() / 1e3);
        let status = status.get(&trial.role);
        rows.push(json!({
            "role": trial.role.name(), "model": status.and_then(|status| status.model.clone()),
            "backend": status.and_then(|status| status.backend.clone()), "input": trial.input,
            "median_ms": millis(times.len() / 2), "p95_ms": millis(times.len() * 95 / 100), "rounds": times.len(),
        }));
        bar.inc(1);
    }
    bar.finish_and_clear();
    let load_s = (load.as_secs_f64() * 1e3).round() / 1e3;
    if output.json {
        output.json(&json!({ "load_s": load_s, "threads": config.threads, "encoders": rows }));
        return Ok(Exit::Ok);
    }
    output.text(format!("{:<18} {:<18} {:<22} {:>9} {:>9}  backend", "role", "model", "input", "median", "p95"));
    for row in &rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let time = |key: &str| row[key].as_f64().map_or_else(|| "failed".to_owned(), |ms| format!("{ms:.2} ms"));
        output.text(format!(
            "{:<18} {:<18} {:<22} {:>9} {:>9}  {}",
            text("role"),
            text("model"),
            text("input"),
            time("median_ms"),
            time("p95_ms"),
            text("backend")
        ));
    }
    output.text(format!("loaded in {load_s} s, {} threads for texts, one for everything else", config.threads));
    Ok(Exit::Ok)
}
