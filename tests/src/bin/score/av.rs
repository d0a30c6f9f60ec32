//! A day seen and heard, played from a file as fast as the encoders go, then asked about.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use engram_tests::{Agent, Broker, models_dir};
use serde_json::{Map, Value, json};

use crate::bootstrap::interval;
use crate::{Subtitles, baseline, layout, scorer, told};

/// Longest wait for one session to be played and described.
const INGEST: Duration = Duration::from_secs(3600);

/// Seconds that the scorer waits between telling and asking; what is pending then is missing from its answers.
const SETTLE: &str = "20";

/// Scores every session below `dir`.
pub fn run(dir: &Path, subtitles: Subtitles, settings: &[(String, toml::Value)]) -> Result<Value> {
    let sessions = layout::folders_with(dir, &["questions.json", "session.mp4"])?;
    let script = layout::scorer(&sessions[0], "av")?;
    let passes: &[bool] = match subtitles {
        Subtitles::On => &[true],
        Subtitles::Off => &[false],
        Subtitles::Both => &[true, false],
    };
    let broker = Broker::start()?;
    let mut runs = Vec::new();
    for session in &sessions {
        for given in passes {
            runs.push(session_run(&broker, &script, session, *given, settings)?);
        }
    }
    Ok(json!({"benchmark": "av", "runs": runs}))
}

#[allow(clippy::print_stdout, reason = "the report is what this command is for")]
fn session_run(
    broker: &Broker,
    script: &Path,
    session: &Path,
    subtitles: bool,
    settings: &[(String, toml::Value)],
) -> Result<Value> {
    let name = layout::name(session);
    let robot = format!("bench-{name}-{}", if subtitles { "subtitles" } else { "plain" });
    let client = broker.client()?;
    let transcript = session.join("session.vtt");
    let given = if subtitles { transcript.display().to_string() } else { "off".to_owned() };
    let mut builder = Agent::builder(broker, &robot)
        .file("session", &session.join("session.mp4"))
        .set("sources.session.subtitles", given);
    if let Some(models) = models_dir() {
        builder = builder.set("models.dir", models.display().to_string());
    }
    for (key, value) in settings {
        builder = builder.set(key, value.clone());
    }
    println!("\n### {name}, subtitles {}", if subtitles { "on" } else { "off" });
    let begin = Instant::now();
    let mut agent = builder.start(&client)?;
    let health = agent.health(&client, INGEST, |report| {
        matches!(report["sources"]["session"]["state"].as_str(), Some("ended" | "failed"))
            && report["memory"]["pending_embeddings"] == 0
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    let source = &health["sources"]["session"];
    ensure!(source["state"] == "ended", "the film did not play to its end: {source}");
    let length = scorer::json(&session.join("segments.json")).ok().and_then(|found| found["duration_s"].as_f64());
    let ingest = json!({
        "seconds": seconds,
        "times_real_time": length.map(|length| length / seconds),
        "health": {"memory": health["memory"], "models": health["models"], "source": source, "degraded": health["degraded"]},
    });
    match length {
        Some(length) => println!("played {length:.0} s in {seconds:.1} s: {:.1} x real time", length / seconds),
        None => println!("played in {seconds:.1} s"),
    }
    let (sessions, rows) = asked(broker, script, session, &robot, &[])?;
    agent.stop()?;
    let intervals = intervals(&rows);
    let page = script.with_file_name("README.md");
    let baseline = baseline::table(&page, &format!("**{name}**"));
    // Without the transcript only the baseline's part without words compares.
    let shown = baseline.clone().map(|mut table| {
        if !subtitles {
            table = table.remove(WITHOUT_WORDS).map(|row| (ALL.to_owned(), row)).into_iter().collect();
        }
        table
    });
    print_intervals(&intervals, shown.as_ref());
    Ok(json!({
        "session": name, "subtitles": subtitles, "ingest": ingest, "intervals": intervals.into_iter().collect::<BTreeMap<_, _>>(), "baseline": baseline,
        "sessions": sessions, "rows": rows,
    }))
}

/// Scores every session below `dir` with perfect eyes: the scorer tells what was to be seen and heard, and nothing is played.
#[allow(clippy::print_stdout, reason = "the report is what this command is for")]
pub fn perfect(dir: &Path, settings: &[(String, toml::Value)]) -> Result<Value> {
    let sessions = layout::folders_with(dir, &["questions.json", "captions.jsonl"])?;
    let script = layout::scorer(&sessions[0], "av")?;
    let broker = Broker::start()?;
    let client = broker.client()?;
    let mut runs = Vec::new();
    for session in &sessions {
        let name = layout::name(session);
        let robot = format!("bench-{name}-captions");
        println!("\n### {name}, perfect eyes");
        let mut agent = told::agent(&broker, &robot, settings).start(&client)?;
        let (sessions, rows) = asked(&broker, &script, session, &robot, &["--captions", "--settle", SETTLE])?;
        let settled =
            |report: &Value| report["memory"]["pending_embeddings"] == 0 && report["memory"]["pending_lessons"] == 0;
        let health = agent.health(&client, Duration::from_secs(60), settled)?;
        agent.stop()?;
        let intervals = intervals(&rows);
        print_intervals(&intervals, None);
        runs.push(json!({
            "session": name, "captions": true, "health": {"memory": health["memory"], "models": health["models"]},
            "intervals": intervals.into_iter().collect::<BTreeMap<_, _>>(), "sessions": sessions, "rows": rows,
        }));
    }
    Ok(json!({"benchmark": "av", "runs": runs}))
}

/// What the scorer says of a session, and its rows.
fn asked(broker: &Broker, script: &Path, session: &Path, robot: &str, more: &[&str]) -> Result<(Value, Vec<Value>)> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let details = folder.path().join("details.json");
    scorer::run(
        scorer::command(script, broker)
            .args(["--robot", robot, "--out"])
            .arg(&details)
            .args(more)
            .arg(session.join("questions.json")),
    )?;
    let details = scorer::json(&details)?;
    let rows: Vec<Value> = details["rows"].as_object().into_iter().flat_map(Map::values).flat_map(array).collect();
    ensure!(!rows.is_empty(), "the scorer wrote no rows");
    Ok((details["sessions"].clone(), rows))
}

fn array(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The measures of the table: title, field of a row, title in the baseline's table.
const MEASURES: [(&str, &str, &str); 4] = [
    ("hit@1", "hit1", "hit@1"),
    ("hit@5", "hit5", "hit@5"),
    ("tight@1", "tight1", "tight@1"),
    ("mc accuracy", "correct", "MC accuracy"),
];

const ALL: &str = "all answerable";
const WITHOUT_WORDS: &str = "no words (objects + sounds)";
const UNANSWERABLE: &str = "unanswerable";

/// Rows of the table, in the order they are printed: categories as they come, then all, then what has no answer.
type Intervals = Vec<(String, Map<String, Value>)>;

fn intervals(rows: &[Value]) -> Intervals {
    let mut categories: Vec<&str> = Vec::new();
    for category in rows.iter().filter_map(|row| row["category"].as_str()) {
        if !categories.contains(&category) && category != UNANSWERABLE {
            categories.push(category);
        }
    }
    let mean = |wanted: &dyn Fn(&Value) -> bool, field: &str| {
        let values: Vec<f64> = rows
            .iter()
            .filter(|row| wanted(row))
            .map(|row| if row[field].as_bool() == Some(true) { 1.0 } else { 0.0 })
            .collect();
        interval(&values)
    };
    let mut table = Intervals::new();
    let mut answerable = |name: &str, wanted: &dyn Fn(&Value) -> bool| {
        let wanted = |row: &Value| row["answerable"] == true && wanted(row);
        let cells: Map<String, Value> =
            MEASURES.iter().map(|(title, field, _)| ((*title).to_owned(), json!(mean(&wanted, field)))).collect();
        table.push((name.to_owned(), cells));
    };
    for category in &categories {
        answerable(category, &|row| row["category"] == *category);
    }
    answerable(ALL, &|_| true);
    let refused = |field| mean(&|row: &Value| row["answerable"] == false, field);
    let cells = [("abstention", refused("abst_open")), ("abstention mc", refused("abst_mc"))];
    let cells = cells.into_iter().map(|(title, cell)| (title.to_owned(), json!(cell))).collect();
    table.push((UNANSWERABLE.to_owned(), cells));
    table
}

type Table = BTreeMap<String, BTreeMap<String, String>>;

#[allow(clippy::print_stdout, reason = "the report is what this command is for")]
fn print_intervals(table: &Intervals, baseline: Option<&Table>) {
    println!("\npercent with 95 % bootstrap intervals over questions; in parentheses the benchmark's baseline");
    for (category, cells) in table {
        let texts: Vec<String> = cells
            .iter()
            .map(|(title, cell)| {
                let number = |field: &str| cell[field].as_f64().unwrap_or(f64::NAN) * 100.0;
                let bar = bar(baseline, category, title);
                format!("{title} {:5.1} [{:4.1}, {:5.1}]{bar}", number("mean"), number("low"), number("high"))
            })
            .collect();
        println!("{category:<15} {}", texts.join("  "));
    }
}

fn bar(baseline: Option<&Table>, category: &str, title: &str) -> String {
    let Some(row) = baseline.and_then(|table| table.get(category)) else { return String::new() };
    let abstention = || row.get("abstains open / MC").and_then(|cell| cell.split_once(" / "));
    let value = match title {
        "abstention" => abstention().map(|(open, _)| open.to_owned()),
        "abstention mc" => abstention().map(|(_, choice)| choice.to_owned()),
        _ => MEASURES.iter().find(|(ours, ..)| *ours == title).and_then(|(_, _, theirs)| row.get(*theirs).cloned()),
    };
    value.map(|value| format!(" ({})", value.trim_matches('*'))).unwrap_or_default()
}
