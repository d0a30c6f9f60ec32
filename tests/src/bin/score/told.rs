//! Memories that are told a benchmark's observations over MQTT and then asked by its scorer: `home` and `kitchen`.

use std::path::Path;

use anyhow::{Context, Result, bail};
use engram_tests::{Agent, AgentBuilder, Broker, models_dir};
use serde_json::{Value, json};

use crate::{layout, scorer};

const FILES: [&str; 2] = ["observations.jsonl", "questions.jsonl"];

/// An agent as these benchmarks want it: the models of this machine, and all times in UTC.
pub fn agent(broker: &Broker, robot: &str, settings: &[(String, toml::Value)]) -> AgentBuilder {
    let mut builder = Agent::builder(broker, robot).set("memory.time_zone", "UTC");
    if let Some(models) = models_dir() {
        builder = builder.set("models.dir", models.display().to_string());
    }
    for (key, value) in settings {
        builder = builder.set(key, value.clone());
    }
    builder
}

/// Scores days in a home: one memory for each split below `dir`.
#[allow(clippy::print_stdout, reason = "the report is what this command is for")]
pub fn home(dir: &Path, settings: &[(String, toml::Value)]) -> Result<Value> {
    let splits = layout::folders_with(dir, &FILES)?;
    let script = layout::scorer(&splits[0], "home")?;
    let broker = Broker::start()?;
    let client = broker.client()?;
    let mut runs = Vec::new();
    for split in &splits {
        println!("\n### home, {}", layout::name(split));
        let mut agent = agent(&broker, "home", settings).start(&client)?;
        runs.push(scored(&broker, &script, &[split.display().to_string(), "--robot=home".to_owned()])?);
        agent.stop()?;
    }
    Ok(json!({"benchmark": "home", "runs": runs}))
}

/// Scores days of cooking: one memory for each participant below `dir`.
pub fn kitchen(dir: &Path, limit: Option<usize>, scope: &str, settings: &[(String, toml::Value)]) -> Result<Value> {
    let participants = layout::folders_with(dir, &FILES)?;
    let script = layout::scorer(&participants[0], "kitchen")?;
    let broker = Broker::start()?;
    let client = broker.client()?;
    let mut agents = Vec::new();
    let mut arguments = Vec::new();
    for participant in &participants {
        let name = layout::name(participant);
        if !name.starts_with('P') {
            bail!("{} is no participant: give the benchmark's folder, a split or a participant", participant.display());
        }
        let robot = format!("kitchen-{name}");
        agents.push(agent(&broker, &robot, settings).start(&client)?);
        arguments.push(format!("{}={robot}", participant.display()));
    }
    arguments.push(format!("--scope={scope}"));
    arguments.extend(limit.map(|limit| format!("--limit={limit}")));
    let report = scored(&broker, &script, &arguments)?;
    for agent in &mut agents {
        agent.stop()?;
    }
    Ok(report)
}

/// What the scorer reports, with its rows.
fn scored(broker: &Broker, script: &Path, arguments: &[String]) -> Result<Value> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let (report, rows) = (folder.path().join("report.json"), folder.path().join("rows.jsonl"));
    scorer::run(scorer::command(script, broker).args(arguments).arg("--json").arg(&report).arg("--rows").arg(&rows))?;
    let mut report = scorer::json(&report)?;
    let lines = std::fs::read_to_string(&rows).with_context(|| format!("cannot read {}", rows.display()))?;
    let rows = lines.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>();
    report["rows"] = rows.context("the scorer's rows are not JSON")?.into();
    Ok(report)
}
