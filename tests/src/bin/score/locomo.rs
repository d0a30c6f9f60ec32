//! Long conversations, one memory each.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use engram_tests::{Agent, Broker, Client, models_dir, until};
use serde_json::{Value, json};

use crate::{baseline, layout, scorer};

/// Longest wait, after the scorer, for embeddings that are still pending.
const EMBEDDING: Duration = Duration::from_secs(1800);
/// Baselines shown beside the score, by their name in the benchmark's table.
const SHOWN: [&str; 4] =
    ["BM25 stem+stop, + speaker + caption", "BM25 stem+stop, window 2", "MiniLM dense", "SimHash-512 hybrid (proto3)"];

/// Scores every conversation below `dir`.
#[allow(clippy::print_stdout, reason = "the report is what this command is for")]
pub fn run(dir: &Path, adversarial: bool, settings: &[(String, toml::Value)]) -> Result<Value> {
    let conversations = layout::folders_with(dir, &["observations.jsonl", "questions.json"])?;
    let script = layout::scorer(&conversations[0], "locomo")?;
    let broker = Broker::start()?;
    let client = broker.client()?;
    let mut agents = Vec::new();
    let mut pairs = Vec::new();
    for conversation in &conversations {
        let robot = format!("bench-{}", layout::name(conversation));
        let mut builder = Agent::builder(&broker, &robot);
        if let Some(models) = models_dir() {
            builder = builder.set("models.dir", models.display().to_string());
        }
        for (key, value) in settings {
            builder = builder.set(key, value.clone());
        }
        agents.push(builder.start(&client)?);
        client.subscribe(&format!("engram/{robot}/health"))?;
        pairs.push(format!("{}={robot}", conversation.display()));
    }
    println!("{} conversations, one memory each", agents.len());

    let folder = tempfile::tempdir().context("no temporary folder")?;
    let report = folder.path().join("report.json");
    let done = AtomicBool::new(false);
    let embedding = std::thread::scope(|scope| {
        let watch = scope.spawn(|| watch_embedding(&client, &agents, &done));
        let mut command = scorer::command(&script, &broker);
        command.args(&pairs).arg("--rows").arg("--json").arg(&report);
        if adversarial {
            command.arg("--adversarial");
        }
        let ran = scorer::run(&mut command);
        done.store(true, Ordering::SeqCst);
        let embedding = watch.join().expect("the watch does not panic");
        ran.and(embedding)
    })?;
    for agent in &mut agents {
        agent.stop()?;
    }
    let mut report = scorer::json(&report)?;
    println!("embedding: {}", embedding["text"].as_str().unwrap_or("no model"));
    let split = conversations[0].parent().map(layout::name).unwrap_or_default();
    let baselines = baselines(&script, &split);
    if let Some(rows) = baselines.as_object() {
        println!("\nthe benchmark's baselines (its own file, offline):");
        for (name, row) in rows {
            println!(
                "  {name:<38} R@1 {}  R@10 {}  R@50 {}",
                text(&row["R@1"]),
                text(&row["R@10"]),
                text(&row["R@50"])
            );
        }
    }
    report["embedding"] = embedding;
    report["baselines"] = baselines;
    Ok(report)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

fn baselines(script: &Path, split: &str) -> Value {
    let page: PathBuf = script.with_file_name("baselines.md");
    let table = baseline::table(&page, &format!("### {split} ("));
    let rows = table.into_iter().flatten().filter(|(name, _)| SHOWN.contains(&name.as_str()));
    let rows: serde_json::Map<String, Value> = rows.map(|(name, row)| (name, json!(row))).collect();
    if rows.is_empty() { Value::Null } else { rows.into() }
}

/// Measures, per memory, from its first observation to its last embedding; health is published every second.
fn watch_embedding(client: &Client, agents: &[Agent], done: &AtomicBool) -> Result<Value> {
    let mut spans: Vec<Option<(Instant, Option<Instant>, u64)>> = vec![None; agents.len()];
    let mut seen = vec![0; agents.len()];
    let mut finished_at = None;
    until("embeddings of all conversations", EMBEDDING, || {
        for ((agent, span), seen) in agents.iter().zip(&mut spans).zip(&mut seen) {
            let messages = client.messages(&format!("engram/{}/health", agent.robot()));
            for message in &messages[*seen..] {
                let health = message.json()?;
                let observed = health["memory"]["observations"].as_u64().unwrap_or(0);
                let pending = health["memory"]["pending_embeddings"].as_u64().unwrap_or(0);
                if observed > 0 {
                    let now = Instant::now();
                    let (_, end, count) = span.get_or_insert((now, None, 0));
                    if pending > 0 || observed > *count {
                        *end = None;
                    }
                    if pending == 0 && end.is_none() {
                        *end = Some(now);
                    }
                    *count = observed;
                }
            }
            *seen = messages.len();
        }
        if done.load(Ordering::SeqCst) && finished_at.is_none() {
            finished_at = Some(Instant::now());
        }
        // Two reports after the scorer's end, so that the last one speaks of everything.
        let settled = finished_at.is_some_and(|at| at.elapsed() > Duration::from_secs(2));
        let failed = finished_at.is_some() && spans.iter().any(Option::is_none) && settled;
        Ok((failed || settled && spans.iter().flatten().all(|(_, end, _)| end.is_some())).then_some(()))
    })?;
    let spans: Vec<_> = spans.into_iter().flatten().filter_map(|(from, to, count)| Some((to? - from, count))).collect();
    let seconds: f64 = spans.iter().map(|(span, _)| span.as_secs_f64()).sum();
    let events: u64 = spans.iter().map(|(_, count)| count).sum();
    let ready = |agent: &Agent| {
        let last = client.messages(&format!("engram/{}/health", agent.robot())).pop();
        last.and_then(|message| message.json().ok()).is_some_and(|health| {
            let models = health["models"].as_object().cloned().unwrap_or_default();
            models.iter().any(|(role, model)| role.contains("text") && model["state"] == "ready")
        })
    };
    if !agents.iter().any(ready) {
        return Ok(json!({"text": "no text embedding model is installed", "events": 0}));
    }
    let rate = events as f64 / seconds.max(1.0);
    let text = format!("{events} events in {seconds:.1} s: {rate:.0} a second (health speaks once a second)");
    Ok(json!({"text": text, "events": events, "seconds": seconds, "per_s": rate}))
}
