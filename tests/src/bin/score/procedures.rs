//! How things are done: the scorer of procedures, with a memory that is told goals and one that is not.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, AgentBuilder, Broker, models_dir};
use serde_json::{Value, json};

use crate::{layout, scorer};

/// Scores every data set below `dir`, with each of its splits.
#[allow(clippy::print_stdout, reason = "the report is what this command is for")]
pub fn run(dir: &Path, limit: Option<usize>, settings: &[(String, toml::Value)]) -> Result<Value> {
    let sets = layout::folders_with(dir, &["observations_train.jsonl"])?;
    let script = layout::scorer(&sets[0], "procedures")?;
    let broker = Broker::start()?;
    let client = broker.client()?;
    let mut runs = Vec::new();
    for set in &sets {
        for split in splits(set)? {
            let name = layout::name(set);
            println!("\n### {name}, {split}");
            let robots = [format!("bench-{name}-{split}"), format!("bench-{name}-{split}-discovery")];
            let mut agents = Vec::new();
            for robot in &robots {
                agents.push(configured(Agent::builder(&broker, robot), settings).start(&client)?);
            }
            let folder = tempfile::tempdir().context("no temporary folder")?;
            let report = folder.path().join("report.json");
            let mut command = scorer::command(&script, &broker);
            command
                .args([&name, &split, "--robot", &robots[0], "--discovery-robot", &robots[1], "--json"])
                .arg(&report);
            if let Some(limit) = limit {
                command.arg("--limit").arg(limit.to_string());
            }
            // A memory without procedures answers every request with an error and never settles: said first, not waited for.
            let probe = client.command(&robots[0], "procedure", json!({"list": {}}))?;
            if probe["error"].is_object() {
                println!("cmd/procedure is not served: {}", probe["error"]);
                command.args(["--ready-timeout", "1", "--limit", "5"]);
            }
            scorer::run(&mut command)?;
            for agent in &mut agents {
                agent.stop()?;
            }
            let mut report = scorer::json(&report)?;
            report["served"] = json!(!probe["error"].is_object());
            runs.push(report);
        }
    }
    Ok(json!({"benchmark": "procedures", "runs": runs}))
}

fn configured(mut builder: AgentBuilder, settings: &[(String, toml::Value)]) -> AgentBuilder {
    if let Some(models) = models_dir() {
        builder = builder.set("models.dir", models.display().to_string());
    }
    for (key, value) in settings {
        builder = builder.set(key, value.clone());
    }
    builder
}

/// The splits that have queries, by their files' names.
fn splits(set: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in set.read_dir().with_context(|| format!("cannot list {}", set.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(split) = name.strip_prefix("queries_").and_then(|rest| rest.strip_suffix(".json")) {
            found.push(split.to_owned());
        }
    }
    ensure!(!found.is_empty(), "{} has no queries", set.display());
    found.sort();
    Ok(found)
}
