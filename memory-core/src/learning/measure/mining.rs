//! Closed patterns at 20 % support, goal by goal, as the PyPI package `prefixspan` is timed with.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::LearningWorkload;
use super::quality::timed;
use crate::Clock;
use crate::logic::{Mining, Output, Patterns};

/// The least of so many rounds counts.
const ROUNDS: usize = 5;

/// The sessions of a goal and what was mined from them, for another implementation to compare with.
#[derive(Debug, Clone, Serialize)]
pub struct Mined {
    /// The fewest sessions of a pattern.
    pub support: u32,
    /// The sessions, as numbers of steps.
    pub sequences: Vec<Vec<u32>>,
    /// Every frequent pattern with its support.
    pub all: Vec<(u32, Vec<u32>)>,
    /// The closed ones.
    pub closed: Vec<(u32, Vec<u32>)>,
    /// How long the closed patterns of all goals together took, milliseconds.
    pub ms: f64,
}

/// How many closed patterns there are, and how long finding them takes.
pub(super) fn measure(workload: &LearningWorkload, clock: &dyn Clock) -> (usize, Duration) {
    let goals = workload.sequences();
    let rounds =
        (0..ROUNDS).map(|_| timed(clock, || goals.iter().map(|goal| closed(goal).mine(goal)).collect::<Vec<_>>()));
    let (found, took) = rounds.min_by_key(|(_, took)| *took).unwrap_or_default();
    (found.iter().map(|found| found.patterns.len()).sum(), took)
}

fn closed(sessions: &[Vec<u32>]) -> Mining {
    let sessions = u32::try_from(sessions.len()).unwrap_or(u32::MAX);
    Mining { min_support: sessions.div_ceil(5).max(2), ..Mining::default() }
}

/// Steps that are always done one directly after the other: pairs, goals that have some, and all steps. A pair counts
/// where `share` of the times that either is done it is done next to the other, twice at least.
pub(super) fn together(workload: &LearningWorkload, share: f64) -> (usize, usize, usize) {
    let (mut pairs, mut goals, mut steps) = (0, 0, 0);
    for sessions in workload.sequences() {
        let mut done: BTreeMap<u32, f64> = BTreeMap::new();
        let mut next: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for mut session in sessions {
            session.dedup();
            session.iter().for_each(|step| *done.entry(*step).or_default() += 1.0);
            session.windows(2).for_each(|pair| *next.entry((pair[0], pair[1])).or_default() += 1.0);
        }
        let is_one = |((a, b), times): &(&(u32, u32), &f64)| {
            **times >= 2.0 && **times >= share * done[a] && **times >= share * done[b]
        };
        let found = next.iter().filter(is_one).count();
        (pairs, goals, steps) = (pairs + found, goals + usize::from(found > 0), steps + done.len());
    }
    (pairs, goals, steps)
}

impl LearningWorkload {
    /// The sessions of each goal.
    fn sequences(&self) -> Vec<Vec<Vec<u32>>> {
        let mut items: BTreeMap<&str, u32> = BTreeMap::new();
        let mut goals: BTreeMap<&str, BTreeMap<&str, Vec<u32>>> = BTreeMap::new();
        for action in &self.actions {
            let (Some(goal), Some(session)) = (&action.goal, &action.session) else { continue };
            let next = u32::try_from(items.len()).unwrap_or(u32::MAX);
            let item = *items.entry(&action.text).or_insert(next);
            goals.entry(goal).or_default().entry(session).or_default().push(item);
        }
        goals.into_values().map(|sessions| sessions.into_values().collect()).collect()
    }

    /// Mines patterns from each goal's sessions. `took`: how long that was measured to take.
    pub fn mined(&self, took: Duration) -> Vec<Mined> {
        let pairs = |found: Patterns| found.patterns.into_iter().map(|one| (one.support, one.items)).collect();
        let mined = |sequences: Vec<Vec<u32>>| {
            let options = closed(&sequences);
            let all = Mining { output: Output::All, ..options.clone() };
            Mined {
                support: options.min_support,
                all: pairs(all.mine(&sequences)),
                closed: pairs(options.mine(&sequences)),
                sequences,
                ms: took.as_secs_f64() * 1e3,
            }
        };
        self.sequences().into_iter().map(mined).collect()
    }
}
