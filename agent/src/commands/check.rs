//! `engram check`.

use std::sync::Arc;
use std::time::Duration;

use memory_core::SystemClock;
use serde_json::json;

use super::place::{self, CommandTarget, RunningAgent};
use crate::cli::GlobalArgs;
use crate::config::{Config, Directories};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Maximum time for the running agent to answer: it reads every record.
const REPLY_TIMEOUT: Duration = Duration::from_secs(3600);
/// Maximum number of problems printed one by one; more are counted.
const MAX_SHOWN: usize = 100;

/// Verifies every record of the store.
///
/// # Errors
/// [`Exit::Store`] if it cannot be opened or read.
pub fn run(global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let opened = place::open(&loaded, Arc::new(SystemClock::new()));
    if let Ok(CommandTarget::Agent(agent)) = &opened {
        return by_mqtt(agent, &loaded.config, output);
    }
    let file = Directories::from_config(&loaded.config).memory;
    let spinner = crate::output::progress(None, "{spinner} checking {msg} {elapsed}");
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner.set_message(file.display().to_string());
    let checked = opened.and_then(|place| match place {
        CommandTarget::Store(memory) => {
            memory.check().map_err(|error| Failure { exit: Exit::Store, error: error.into() })
        }
        CommandTarget::Agent(_) => Err(Failure::new(Exit::Internal, "the agent was asked already")),
    });
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
    let total = report.problems.len();
    Ok(tell(&file.display().to_string(), report.records, &report.problems, total, output))
}

/// Has the agent check the store that it uses.
fn by_mqtt(agent: &RunningAgent, config: &Config, output: Output) -> Result<Exit, Failure> {
    let reply = agent.command(config, "check", json!({}), REPLY_TIMEOUT)?;
    let problems: Vec<String> =
        reply["problems"].as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect();
    let total = reply["problems_total"].as_u64().and_then(|total| usize::try_from(total).ok());
    let total = total.unwrap_or(problems.len());
    Ok(tell("the agent's store", reply["records"].as_u64().unwrap_or(0), &problems, total, output))
}

fn tell(store: &str, records: u64, problems: &[String], total: usize, output: Output) -> Exit {
    let sound = total == 0;
    if output.json {
        output.json(&json!({ "ok": sound, "file": store, "records": records, "problems": problems }));
    } else if sound {
        output.text(format!("{store}: {records} records, all sound"));
    } else {
        output.text(format!("{store}: {records} records, {total} problems"));
        for problem in problems.iter().take(MAX_SHOWN) {
            output.text(format!("  {problem}"));
        }
        if total > MAX_SHOWN {
            output.text(format!("  … and {} more", total - MAX_SHOWN));
        }
        output.text("restore a backup, or keep going: what is sound stays readable");
    }
    if sound { Exit::Ok } else { Exit::Store }
}
