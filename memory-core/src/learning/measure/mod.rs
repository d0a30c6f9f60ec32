//! Measures quality and speed of learning (`engram bench procedures`).
//!
//! Quality is measured on a folder of told sessions with questions (next step, paths without a step, grouping without goals,
//! mining). Cost is measured on a generated household of 1,000 procedures and on a procedure of 200 steps. One thread, no store.

mod cost;
mod folds;
mod mining;
mod quality;
mod table;
mod verification;
mod workload;

use std::time::Duration;

pub use folds::Folds;
pub use mining::Mined;
pub use verification::{DrawnSessions, Passed, Verified};
pub use workload::{LearningWorkload, WorkloadError};

use crate::Clock;
use crate::logic::Phi;

/// Facts and procedures of the made household.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HouseholdPlan {
    /// Topics of facts.
    pub facts: u64,
    /// Procedures.
    pub procedures: u64,
    /// Sessions of each.
    pub sessions: u64,
}

impl Default for HouseholdPlan {
    fn default() -> Self {
        Self { facts: 100_000, procedures: 1_000, sessions: 30 }
    }
}

/// Environment of a measurement.
pub struct MeasureEnvironment<'a> {
    /// Times everything.
    pub clock: &'a dyn Clock,
    /// Resident bytes of the process; `None` where the system does not say.
    pub resident: &'a dyn Fn() -> Option<u64>,
    /// φ, if it is to be used.
    pub phi: &'a Phi<'a>,
}

impl std::fmt::Debug for MeasureEnvironment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MeasureEnvironment").finish_non_exhaustive()
    }
}

/// Times of one kind of operation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LearningTimes {
    /// The mean.
    pub mean: Duration,
    /// Half of them took no longer.
    pub p50: Duration,
    /// All but one in twenty took no longer.
    pub p95: Duration,
    /// The longest.
    pub worst: Duration,
}

impl LearningTimes {
    fn from_durations(mut took: Vec<Duration>) -> Self {
        took.sort_unstable();
        let at = |share: usize| took.get((took.len() * share / 100).min(took.len().saturating_sub(1))).copied();
        Self {
            mean: took.iter().sum::<Duration>() / u32::try_from(took.len()).unwrap_or(u32::MAX).max(1),
            p50: at(50).unwrap_or_default(),
            p95: at(95).unwrap_or_default(),
            worst: took.last().copied().unwrap_or_default(),
        }
    }
}

/// Results on a workload.
#[derive(Debug, Clone, Default)]
pub struct Quality {
    /// Actions, sessions and procedures that were learnt.
    pub learnt: (usize, u32, usize),
    /// Bytes of their rows.
    pub row_bytes: usize,
    /// Bytes of the largest row.
    pub largest_row: usize,
    /// One action.
    pub action: LearningTimes,
    /// Prefixes of sessions that were asked for the next step.
    pub asked: usize,
    /// Share whose next step came first, and was among the first five.
    pub next: (f64, f64),
    /// A question for the next step.
    pub next_times: LearningTimes,
    /// Sessions that were looked up by meaning alone, and the share whose goal came first.
    pub meant: (usize, f64),
    /// Ways without a step that were returned.
    pub ways: usize,
    /// Share of them that use only what somebody did, no step twice and none that is excluded.
    pub soundness: f64,
    /// Share of the observed variants that were returned.
    pub coverage: f64,
    /// A question for ways.
    pub way_times: LearningTimes,
    /// Sessions whose goals were kept back, and groups that were made of them.
    pub grouped: (u32, usize),
    /// Their agreement with the goals: the adjusted Rand index.
    pub rand_index: f64,
    /// Share of established procedures that are one goal's, and of goals that were found.
    pub verified: (f64, f64),
    /// One action without a goal.
    pub goalless: LearningTimes,
}

/// Results on the synthetic household.
#[derive(Debug, Clone, Default)]
pub struct Cost {
    /// The household.
    pub plan: HouseholdPlan,
    /// Resident bytes of facts and procedures together.
    pub resident: Option<u64>,
    /// One more action into the procedures, half of them without a goal; the worst are those with which sessions without
    /// a goal are grouped anew, which happens each time they have grown by a quarter.
    pub action: LearningTimes,
    /// The same as the learning job does it: on a clone of everything, with the rows to be written.
    pub lesson: LearningTimes,
    /// Symbolic queries on procedures of 200 steps.
    pub graphs: Vec<Graph>,
}

/// A procedure of many steps and queries on it.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Kind of its sessions.
    pub name: &'static str,
    /// Different steps.
    pub steps: usize,
    /// Nodes of its graph.
    pub nodes: usize,
    /// The queries.
    pub queries: Vec<(&'static str, LearningTimes)>,
}

/// Everything.
#[derive(Debug, Clone, Default)]
pub struct LearningFigures {
    /// Results on the workload.
    pub quality: Quality,
    /// Grouping and the next step on other parts of the workload.
    pub folds: Folds,
    /// Results of verification, of items of many sessions and of fewer.
    pub verified: Vec<Verified>,
    /// Closed patterns of all tasks, and how long finding them took.
    pub mining: (usize, Duration),
    /// Pairs of steps that are always done together, the goals that have some, and all steps; and at nine times of ten.
    pub together: [(usize, usize, usize); 2],
    /// Results on the synthetic household.
    pub cost: Cost,
}

/// Measures all of it. `note` is told what is being done.
pub fn measure(
    workload: &LearningWorkload,
    plan: HouseholdPlan,
    around: &MeasureEnvironment<'_>,
    note: &mut dyn FnMut(&str),
) -> LearningFigures {
    // First, while the process is small: what was freed before is not taken again from the system.
    note("a household");
    let cost = cost::measure(plan, around);
    note("sessions and questions");
    let quality = quality::measure(workload, around);
    note("folds");
    let folds = folds(workload, around);
    note("verification");
    let verified = verification::measure(workload, around.phi);
    note("mining");
    let mining = mining::measure(workload, around.clock);
    let together = [1.0, 0.9].map(|share| mining::together(workload, share));
    LearningFigures { quality, folds, verified, mining, together, cost }
}

/// Measures grouping and the next step on other parts of the workload alone.
pub fn folds(workload: &LearningWorkload, around: &MeasureEnvironment<'_>) -> Folds {
    folds::measure(workload, around)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemClock;

    fn workload() -> LearningWorkload {
        let files = |name: &str| -> Result<String, String> {
            let line = |session: &str, task: &str, at: u32, text: &str| {
                format!(
                    r#"{{"text": "{text}", "at": "2026-01-01T00:00:{at:02}Z", "until": "2026-01-01T00:00:{at:02}Z",
                        "entity": "Anna", "attributes": {{"session": "{session}"{task}}}}}"#
                )
                .replace('\n', " ")
            };
            let lines = |task: &dyn Fn(&str) -> String| {
                let mut lines = Vec::new();
                for (number, session) in ["a", "b", "c"].into_iter().enumerate() {
                    let begin = number as u32 * 10;
                    lines.push(line(session, &task("make tea"), begin, "boil water"));
                    lines.push(line(session, &task("make tea"), begin + 1, "pour"));
                }
                lines.join("\n")
            };
            match name {
                "queries_dev.json" => Ok(r#"{
                    "next": [{"goal": "make tea", "steps": ["boil water", "pour"]}],
                    "paths": [{"goal": "make tea", "without": ["stir"], "max": 20,
                               "truth": [{"steps": ["boil water", "pour"]}]}],
                    "discovery": {"observations": "notask.jsonl",
                                  "sessions": {"a": "make tea", "b": "make tea", "c": "make tea"}}}"#
                    .to_owned()),
                "observations_train.jsonl" => Ok(lines(&|task| format!(r#", "task": "{task}""#))),
                "observations_dev.jsonl" => Ok(line("d", r#", "task": "make tea""#, 40, "boil water")),
                "notask.jsonl" => Ok(lines(&|_| String::new())),
                other => Err(format!("{other} is not there")),
            }
        };
        LearningWorkload::read("dev", &files).unwrap()
    }

    #[test]
    fn a_small_workload_is_measured() {
        let clock = SystemClock::new();
        let around = MeasureEnvironment { clock: &clock, resident: &|| Some(0), phi: &|_| None };
        let plan = HouseholdPlan { facts: 50, procedures: 10, sessions: 3 };
        let figures = measure(&workload(), plan, &around, &mut |_| ());
        let quality = &figures.quality;
        assert_eq!((quality.learnt, quality.asked, quality.next), ((6, 3, 1), 3, (1.0, 1.0)));
        assert_eq!((quality.ways, quality.soundness, quality.coverage), (1, 1.0, 1.0));
        assert_eq!((quality.grouped, quality.verified), ((3, 1), (1.0, 1.0)));
        // The only task is kept back, and session "d" is the only one of the part that it is in.
        assert_eq!((figures.folds.any.len(), figures.folds.next.len()), (0, 5));
        assert_eq!(figures.folds.next.iter().map(|(asked, ..)| asked).sum::<usize>(), 3 * 3 + 2);
        assert_eq!(figures.mining.0, 1);
        assert_eq!(figures.together[0], (1, 1, 2), "boil water and pour");
        assert!(figures.cost.graphs.iter().all(|graph| graph.steps == cost::LONG_STEPS && graph.nodes >= graph.steps));
        assert!(figures.table().contains("soundness 1.000"), "{}", figures.table());
    }

    #[test]
    fn a_file_that_is_no_workload_is_named() {
        let error = LearningWorkload::read("dev", &|_| Ok("{}".to_owned())).unwrap_err().to_string();
        assert!(error.contains("queries_dev.json"), "{error}");
        let error = LearningWorkload::read("dev", &|name| Err(format!("{name} is not there"))).unwrap_err().to_string();
        assert!(error.contains("is not there"), "{error}");
    }
}
