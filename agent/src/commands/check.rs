//! `engram check`.

use std::sync::Arc;

use memory_core::SystemClock;
use serde_json::json;

use crate::cli::GlobalArgs;
use crate::config::Directories;
use crate::exit::{Exit, Failure};
use crate::opening;
use crate::output::Output;

/// Problems printed one by one; more are counted.
const SHOWN: usize = 100;

/// Verifies every record of the store.
///
/// # Errors
/// [`Exit::Store`] if it cannot be opened or read.
pub fn run(global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let file = Directories::of(&loaded.config).memory;
    let spinner = crate::output::progress(None, "{spinner} checking {msg} {elapsed}");
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner.set_message(file.display().to_string());
    let checked = opening::existing_memory(&loaded.config, Arc::new(SystemClock::new()))
        .and_then(|memory| memory.check().map_err(|error| Failure { exit: Exit::Store, error: error.into() }));
    spinner.finish_and_clear();
    let report = match checked {
        Ok(report) => report,
        Err(failure) if output.json => {
            output.json(
                &json!({ "ok": false, "file": file, "records": 0, "problems": [format!("{:#}", failure.error)] }),
            );
            return Ok(failure.exit);
        }
        Err(failure) => return Err(failure),
    };
    let sound = report.problems.is_empty();
    if output.json {
        output.json(&json!({ "ok": sound, "file": file, "records": report.records, "problems": report.problems }));
    } else if sound {
        output.text(format!("{}: {} records, all sound", file.display(), report.records));
    } else {
        output.text(format!("{}: {} records, {} problems", file.display(), report.records, report.problems.len()));
        for problem in report.problems.iter().take(SHOWN) {
            output.text(format!("  {problem}"));
        }
        if report.problems.len() > SHOWN {
            output.text(format!("  … and {} more", report.problems.len() - SHOWN));
        }
        output.text("restore a backup, or keep going: what is sound stays readable");
    }
    Ok(if sound { Exit::Ok } else { Exit::Store })
}
