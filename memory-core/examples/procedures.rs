//! Procedures on COIN, in process: next step, ways under a constraint, grouping without a goal, mining, and what one more
//! observation costs. What `tests/score procedures` measures over MQTT, in seconds.
//!
//! `cargo run --release -p memory-core --example procedures -- [dev] [--vectors FILE] [--patterns FILE]`
//!
//! `--vectors`: φ of the steps, as `--example locomo` reads it. `--patterns`: writes the sessions of every task and their
//! closed patterns at 20 % support, for `examples/prefixspan_reference.py` to compare with the PyPI package in speed and content.

#![allow(missing_docs, clippy::print_stdout, reason = "a program that prints a table")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "counts of sessions")]

#[allow(dead_code, reason = "the other benchmarks use the rest")]
mod offline;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::time::{Duration, Instant};

use memory_core::logic::query::{Constraints, Phrase, next_steps, paths};
use memory_core::logic::{Action, LogicOptions, Mining, Output, Patterns, Procedure, Procedures, StepId, normalise};
use memory_core::ports::TextEmbedder as _;
use memory_core::{EventId, TimeSpan, Timestamp};
use offline::{VectorFile, shared};
use serde::Deserialize;

type Failure = Box<dyn std::error::Error>;

#[derive(Deserialize)]
struct Observation {
    text: String,
    at: String,
    until: String,
    entity: Option<String>,
    attributes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Queries {
    next: Vec<NextQuery>,
    paths: Vec<PathQuery>,
    discovery: Discovery,
}

#[derive(Deserialize)]
struct NextQuery {
    goal: String,
    steps: Vec<String>,
}

#[derive(Deserialize)]
struct PathQuery {
    goal: String,
    without: Vec<String>,
    max: usize,
    truth: Vec<Truth>,
}

#[derive(Deserialize)]
struct Truth {
    steps: Vec<String>,
}

#[derive(Deserialize)]
struct Discovery {
    observations: String,
    sessions: BTreeMap<String, String>,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (mut split, mut vectors, mut patterns) = ("dev".to_owned(), None, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--vectors" => vectors = arguments.next(),
            "--patterns" => patterns = arguments.next(),
            _ => split = argument,
        }
    }
    let vectors = vectors.map(|file| VectorFile::read(file.as_ref())).transpose()?;
    let phi = |text: &str| vectors.as_ref()?.embed(&[text]).ok()?.pop();
    let folder = shared().join("bench/procedures/coin");
    let queries: Queries = serde_json::from_slice(&std::fs::read(folder.join(format!("queries_{split}.json")))?)?;

    let actions = read(&folder.join("observations_train.jsonl"))?;
    let (procedures, took) = learn(&actions, &phi);
    let rows: Vec<_> = procedures.rows().into_iter().filter_map(|key| procedures.row(key)).collect();
    println!(
        "{} actions, {} sessions, {} procedures; {} rows of {:.1} MB",
        actions.len(),
        procedures.sessions(),
        procedures.iter().count(),
        rows.len(),
        rows.iter().map(Vec::len).sum::<usize>() as f64 / 1e6
    );
    costs("one more action", took);
    let nodes: usize = procedures.iter().map(|found| found.dag().len() - 2).sum();
    let (steps, occurrences) = procedures.iter().map(used).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("graphs: {nodes} nodes for {occurrences} occurrences of {steps} steps");

    next(&procedures, &queries.next);
    ways(&procedures, &queries.paths)?;
    drop(procedures);
    discovery(&read(&folder.join(&queries.discovery.observations))?, &queries.discovery.sessions, &phi);
    mining(&actions, patterns.as_deref())?;
    thousand(&phi);
    Ok(())
}

fn read(path: &std::path::Path) -> Result<Vec<Action>, Failure> {
    let mut observations: Vec<Observation> =
        std::fs::read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    observations.sort_by(|a, b| a.at.cmp(&b.at));
    let action = |(number, told): (usize, Observation)| -> Result<Action, Failure> {
        let span = TimeSpan::new(Timestamp::parse(&told.at)?, Timestamp::parse(&told.until)?);
        let mut action = Action::new(EventId(number as u64 + 1), told.text, span);
        action.person = told.entity;
        action.session = told.attributes.get("session").cloned();
        action.goal = told.attributes.get("task").cloned();
        Ok(action)
    };
    observations.into_iter().enumerate().map(action).collect()
}

fn learn(actions: &[Action], phi: &dyn Fn(&str) -> Option<Vec<f32>>) -> (Procedures, Vec<Duration>) {
    let mut procedures = Procedures::new(LogicOptions::default());
    let mut took = Vec::with_capacity(actions.len());
    for action in actions {
        let begin = Instant::now();
        procedures.observe(action, phi);
        took.push(begin.elapsed());
    }
    (procedures, took)
}

fn costs(what: &str, mut took: Vec<Duration>) {
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    let mean = took.iter().map(Duration::as_secs_f64).sum::<f64>() / took.len() as f64 * 1e6;
    println!(
        "{what}: mean {mean:.1} µs, p50 {:.1}, p95 {:.1}, p99.9 {:.0}, worst {:.0}",
        at(0.5),
        at(0.95),
        at(0.999),
        at(1.0)
    );
}

/// How many steps a procedure has, and how many with each repeat in one session counted as one of its own.
fn used(procedure: &Procedure) -> (usize, usize) {
    let mut most: BTreeMap<StepId, usize> = BTreeMap::new();
    for run in procedure.runs() {
        for step in run.steps() {
            let count = run.steps().iter().filter(|other| *other == step).count();
            let most = most.entry(*step).or_default();
            *most = count.max(*most);
        }
    }
    (most.len(), most.values().sum())
}

fn next(procedures: &Procedures, queries: &[NextQuery]) {
    let (mut asked, mut first, mut five, mut took) = (0, 0, 0, Vec::new());
    for query in queries {
        let Some(procedure) = procedures.by_goal(&query.goal) else { continue };
        for done in 0..=query.steps.len() {
            let wanted = query.steps.get(done).map(|text| normalise(text));
            let begin = Instant::now();
            let found = next_steps(procedure, &query.steps[..done], 5);
            took.push(begin.elapsed());
            let name = |step: Option<StepId>| step.and_then(|id| procedure.step(id)).map(|step| normalise(&step.text));
            asked += 1;
            first += usize::from(found.first().is_some_and(|best| name(best.step) == wanted));
            five += usize::from(found.iter().any(|step| name(step.step) == wanted));
        }
    }
    let share = |right: usize| right as f64 / f64::from(asked);
    println!("next step: {asked} asked, top-1 {:.4}, top-5 {:.4}", share(first), share(five));
    costs("  a question", took);
}

fn ways(procedures: &Procedures, queries: &[PathQuery]) -> Result<(), Failure> {
    let (mut returned, mut sound, mut coverage, mut took) = (0, 0, 0.0, Vec::new());
    for query in queries {
        let procedure = procedures.by_goal(&query.goal).ok_or("an unknown goal")?;
        let without = query.without.iter().map(|text| Phrase::any(text.as_str())).collect();
        let begin = Instant::now();
        let found = paths(procedure, &Constraints { without, ..Constraints::default() }, query.max)?;
        took.push(begin.elapsed());
        let made = transitions(procedure);
        let text = |id: &StepId| procedure.step(*id).map(|step| normalise(&step.text)).unwrap_or_default();
        let banned: BTreeSet<String> = query.without.iter().map(|text| normalise(text)).collect();
        let truths: BTreeSet<Vec<String>> =
            query.truth.iter().map(|truth| truth.steps.iter().map(|text| normalise(text)).collect()).collect();
        let mut hits = BTreeSet::new();
        for path in &found.paths {
            let steps: Vec<String> = path.steps.iter().map(text).collect();
            let once = steps.iter().collect::<BTreeSet<_>>().len() == steps.len();
            let whole = || [String::new()].into_iter().chain(steps.clone()).chain([String::new()]);
            let known = whole().zip(whole().skip(1)).all(|pair| made.contains(&pair));
            returned += 1;
            sound += usize::from(once && known && !steps.iter().any(|step| banned.contains(step)));
            if truths.contains(&steps) {
                hits.insert(steps);
            }
        }
        coverage += hits.len() as f64 / truths.len().min(query.max) as f64;
    }
    println!(
        "ways without a step: {returned} returned, soundness {:.4}, coverage {:.4}",
        sound as f64 / f64::from(returned),
        coverage / queries.len() as f64
    );
    costs("  a question", took);
    Ok(())
}

/// Every transition of a session, as it is and with immediate repeats collapsed; an empty text is START and GOAL.
fn transitions(procedure: &Procedure) -> BTreeSet<(String, String)> {
    let mut made = BTreeSet::new();
    for run in procedure.runs() {
        let steps: Vec<String> =
            run.steps().iter().filter_map(|id| procedure.step(*id)).map(|s| normalise(&s.text)).collect();
        let mut collapsed = steps.clone();
        collapsed.dedup();
        for way in [steps, collapsed] {
            let whole: Vec<String> = [String::new()].into_iter().chain(way).chain([String::new()]).collect();
            made.extend(whole.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())));
        }
    }
    made
}

/// Sessions grouped without their goals: agreement with the tasks, and what verification makes of the groups.
fn discovery(actions: &[Action], tasks: &BTreeMap<String, String>, phi: &dyn Fn(&str) -> Option<Vec<f32>>) {
    let (procedures, took) = learn(actions, phi);
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut right, mut established, mut found) = (0, 0, BTreeSet::new());
    for (number, procedure) in procedures.iter().chain(procedures.candidates()).enumerate() {
        groups.extend(procedure.runs().map(|run| (run.session(), number)));
        if !procedure.is_established() {
            continue;
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for task in procedure.runs().filter_map(|run| tasks.get(run.session())) {
            *counts.entry(task).or_default() += 1;
        }
        established += 1;
        // A procedure of a task: at least four fifths of its sessions are of the one task.
        let most = counts.iter().max_by_key(|(task, count)| (**count, std::cmp::Reverse(**task)));
        if let Some((task, _)) = most.filter(|(_, count)| **count * 5 >= procedure.sessions() * 4) {
            right += 1;
            found.insert((*task).to_owned());
        }
    }
    let known: BTreeSet<&String> = tasks.values().collect();
    println!(
        "grouping without goals: {} sessions, {} groups, ARI {:.4}; {established} established, precision {:.3}, recall {:.3}",
        procedures.sessions(),
        groups.values().collect::<BTreeSet<_>>().len(),
        rand_index(&groups, tasks),
        right as f64 / f64::from(established),
        found.len() as f64 / known.len() as f64
    );
    costs("  one more action", took);
}

/// The adjusted Rand index (Hubert and Arabie, 1985).
fn rand_index(groups: &BTreeMap<&str, usize>, tasks: &BTreeMap<String, String>) -> f64 {
    let (mut cells, mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (session, task) in tasks {
        let group = groups.get(session.as_str());
        *cells.entry((group, task)).or_insert(0_u32) += 1;
        *rows.entry(group).or_insert(0_u32) += 1;
        *columns.entry(task).or_insert(0_u32) += 1;
    }
    let pairs = |count: &u32| f64::from(*count) * (f64::from(*count) - 1.0) / 2.0;
    let (a, b): (f64, f64) = (rows.values().map(pairs).sum(), columns.values().map(pairs).sum());
    let expected = a * b / pairs(&(tasks.len() as u32));
    (cells.values().map(pairs).sum::<f64>() - expected) / (f64::midpoint(a, b) - expected)
}

/// Closed patterns at 20 % support, task by task.
fn mining(actions: &[Action], file: Option<&str>) -> Result<(), Failure> {
    let mut items: BTreeMap<&str, u32> = BTreeMap::new();
    let mut tasks: BTreeMap<&str, BTreeMap<&str, Vec<u32>>> = BTreeMap::new();
    for action in actions {
        let (Some(task), Some(session)) = (&action.goal, &action.session) else { continue };
        let next = items.len() as u32;
        let item = *items.entry(&action.text).or_insert(next);
        tasks.entry(task).or_default().entry(session).or_default().push(item);
    }
    let tasks: Vec<Vec<Vec<u32>>> = tasks.into_values().map(|sessions| sessions.into_values().collect()).collect();
    let options =
        |sessions: &[Vec<u32>]| Mining { min_support: (sessions.len() as u32).div_ceil(5).max(2), ..Mining::default() };
    let begin = Instant::now();
    let found: Vec<_> = tasks.iter().map(|sessions| options(sessions).mine(sessions)).collect();
    let took = begin.elapsed();
    let count: usize = found.iter().map(|found| found.patterns.len()).sum();
    println!("mining {} tasks: {count} closed patterns in {:.2} ms", tasks.len(), took.as_secs_f64() * 1e3);
    if let Some(file) = file {
        let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
        for (sessions, found) in tasks.iter().zip(&found) {
            let pairs = |found: &Patterns| -> Vec<(u32, Vec<u32>)> {
                found.patterns.iter().map(|pattern| (pattern.support, pattern.items.clone())).collect()
            };
            let closed = options(sessions);
            let all = Mining { output: Output::All, ..closed.clone() }.mine(sessions);
            let line = serde_json::json!({
                "support": closed.min_support,
                "sequences": sessions,
                "all": pairs(&all),
                "closed": pairs(found),
                "ms": took.as_secs_f64() * 1e3,
            });
            writeln!(out, "{line}")?;
        }
        out.flush()?;
    }
    Ok(())
}

/// What one more observation costs, and how large the memory is, with 1,000 procedures of 12 steps and 30 sessions.
fn thousand(phi: &dyn Fn(&str) -> Option<Vec<f32>>) {
    let before = resident();
    let mut procedures = Procedures::new(LogicOptions::default());
    let (mut event, mut took) = (0_u64, Vec::new());
    let mut tell = |procedures: &mut Procedures,
                    session: u64,
                    task: u64,
                    step: u64,
                    told: bool,
                    took: Option<&mut Vec<_>>| {
        event += 1;
        let at = Timestamp::from_micros((session * 900 + step * 15) as i64 * 1_000_000);
        let mut action =
            Action::new(EventId(event), format!("do thing {} of task {task}", step * 7 % 12), TimeSpan::new(at, at));
        (action.session, action.person) = (Some(format!("session {session}")), Some(format!("person {}", task % 50)));
        action.goal = told.then(|| format!("task {task}"));
        action.tools = vec![format!("tool {}", step % 5)];
        let begin = Instant::now();
        procedures.observe(&action, phi);
        if let Some(took) = took {
            took.push(begin.elapsed());
        }
    };
    for session in 0..30_000 {
        for step in 0..12 {
            if (session / 1_000 + step) % 9 != 0 {
                tell(&mut procedures, session, session % 1_000, step, true, None);
            }
        }
    }
    let grown = resident().saturating_sub(before);
    for session in 30_000..30_500 {
        for step in 0..12 {
            tell(&mut procedures, session, session % 1_000, step, session % 2 == 0, Some(&mut took));
        }
    }
    println!(
        "{} procedures of {} sessions take {:.0} MB",
        procedures.iter().count(),
        procedures.sessions(),
        grown as f64 / 1e6
    );
    costs("  one more action, half of them without a goal", took);
}

/// Resident bytes of this process; 0 where the system does not say.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    status.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).map_or(0, |pages| pages * 4_096)
}
