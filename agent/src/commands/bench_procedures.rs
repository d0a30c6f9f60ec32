//! `engram bench procedures`: how well and how fast procedures are learnt.

use std::io::Write as _;
use std::path::Path;

use drivers::models::Role;
use memory_core::SystemClock;
use memory_core::learning::measure::{
    Folds, HouseholdPlan, LearningFigures, LearningTimes, LearningWorkload, MeasureEnvironment, measure,
};
use serde_json::{Value as Json, json};

use crate::cli::ProceduresBenchArgs;
use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure};
use crate::output::{Output, progress};

/// Measures, and writes the patterns if they are asked for.
///
/// # Errors
/// [`Exit::Source`] if the sessions cannot be read or the patterns cannot be written.
pub fn run(args: &ProceduresBenchArgs, config: &ModelsConfig, output: Output) -> Result<Exit, Failure> {
    let read = |name: &str| {
        let path = args.dir.join(name);
        std::fs::read_to_string(&path).map_err(|error| error.to_string())
    };
    let workload = LearningWorkload::read(&args.split, &read)
        .map_err(|error| Failure::new(Exit::Source, format!("{}: {error}", args.dir.display())))?;
    let encoders = match args.embed {
        true => Some(crate::senses::encoders::load(config, Some(&[Role::TextEmbedding]))?),
        false => None,
    };
    if let Some(encoders) = &encoders {
        encoders.wait_ready();
    }
    let embedder = encoders.as_ref().and_then(|encoders| encoders.text_embedder());
    if args.embed && embedder.is_none() && !output.json {
        output.text("no text embedding model is installed: words only");
    }
    let phi = |text: &str| embedder.as_ref()?.embed(&[text]).ok()?.pop();
    let plan = HouseholdPlan { facts: args.facts, procedures: args.procedures, ..HouseholdPlan::default() };
    let clock = SystemClock::new();
    let around = MeasureEnvironment { clock: &clock, resident: &resident, phi: &phi };
    let bar = progress(None, "{spinner} {msg}");
    let figures = measure(&workload, plan, &around, &mut |step| {
        bar.set_message(step.to_owned());
        bar.tick();
    });
    bar.finish_and_clear();
    if output.json {
        output.json(&report(&figures));
    } else {
        output.text(figures.table());
    }
    if let Some(path) = &args.patterns {
        write(path, &workload, &figures)
            .map_err(|error| Failure::new(Exit::Source, format!("{}: {error}", path.display())))?;
    }
    Ok(Exit::Ok)
}

fn write(path: &Path, workload: &LearningWorkload, figures: &LearningFigures) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    for mined in workload.mined(figures.mining.1) {
        writeln!(file, "{}", json!(mined))?;
    }
    file.flush()
}

/// Resident bytes of this process.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn folds(folds: &Folds) -> Json {
    let sets = |sets: &[(u32, usize, f64)]| {
        let (mean, least) = Folds::rand_index(sets);
        json!({"sets": sets.len(), "adjusted_rand_index": mean, "least": least})
    };
    let (first, five) = folds.next();
    json!({
        "any_tasks": sets(&folds.any), "tasks_that_share_steps": sets(&folds.sharing),
        "next": {"parts": folds.next.len(), "top1": first, "top5": five},
    })
}

fn report(figures: &LearningFigures) -> Json {
    let times = |times: LearningTimes| {
        let [mean, p50, p95, worst] =
            [times.mean, times.p50, times.p95, times.worst].map(|time| time.as_secs_f64() * 1e3);
        json!({"mean_ms": mean, "p50_ms": p50, "p95_ms": p95, "worst_ms": worst})
    };
    let (quality, cost) = (&figures.quality, &figures.cost);
    let graphs: Vec<Json> = cost
        .graphs
        .iter()
        .map(|graph| {
            let queries: serde_json::Map<String, Json> =
                graph.queries.iter().map(|(query, took)| ((*query).to_owned(), times(*took))).collect();
            json!({"sessions": graph.name, "steps": graph.steps, "nodes": graph.nodes, "queries": queries})
        })
        .collect();
    json!({
        "learnt": {
            "actions": quality.learnt.0, "sessions": quality.learnt.1, "procedures": quality.learnt.2,
            "row_bytes": quality.row_bytes, "largest_row_bytes": quality.largest_row, "action": times(quality.action),
        },
        "next": {
            "asked": quality.asked, "top1": quality.next.0, "top5": quality.next.1, "question": times(quality.next_times),
        },
        "paths": {
            "returned": quality.ways, "soundness": quality.soundness, "coverage": quality.coverage,
            "question": times(quality.way_times),
        },
        "grouping": {
            "sessions": quality.grouped.0, "groups": quality.grouped.1, "adjusted_rand_index": quality.rand_index,
            "precision": quality.verified.0, "recall": quality.verified.1, "action": times(quality.goalless),
        },
        "folds": folds(&figures.folds),
        "mining": {"closed_patterns": figures.mining.0, "ms": figures.mining.1.as_secs_f64() * 1e3},
        "household": {
            "facts": cost.plan.facts, "procedures": cost.plan.procedures,
            "sessions": cost.plan.procedures * cost.plan.sessions, "resident_bytes": cost.resident,
            "action": times(cost.action), "lesson": times(cost.lesson),
        },
        "graphs": graphs,
    })
}
