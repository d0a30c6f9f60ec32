//! Measures how often what was learned is right.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::workload::{NextQuery, PathQuery};
use super::{LearningTimes, LearningWorkload, MeasureEnvironment, Quality};
use crate::Clock;
use crate::logic::query::{Constraints, Phrase, next_steps, paths};
use crate::logic::{Action, Embedding, LogicOptions, Phi, Procedure, Procedures, StepId, normalise};

pub(super) fn measure(workload: &LearningWorkload, around: &MeasureEnvironment<'_>) -> Quality {
    let (procedures, took) = learn(&workload.actions, around);
    let rows: Vec<usize> =
        procedures.rows().into_iter().filter_map(|key| procedures.row(key)).map(|row| row.len()).collect();
    let mut quality = Quality {
        learnt: (workload.actions.len(), procedures.sessions(), procedures.iter().count()),
        row_bytes: rows.iter().sum(),
        largest_row: rows.iter().copied().max().unwrap_or(0),
        action: LearningTimes::from_durations(took),
        ..Quality::default()
    };
    next(&procedures, &workload.next, around.clock, &mut quality);
    measure_goals(&procedures, &workload.next, around.phi, &mut quality);
    measure_paths(&procedures, &workload.paths, around.clock, &mut quality);
    drop(procedures);
    grouping(workload, around, &mut quality);
    quality
}

pub(super) fn learn(actions: &[Action], around: &MeasureEnvironment<'_>) -> (Procedures, Vec<Duration>) {
    let mut procedures = Procedures::new(LogicOptions::default());
    let took = actions.iter().map(|action| timed(around.clock, || procedures.observe(action, around.phi)).1).collect();
    (procedures, took)
}

pub(super) fn timed<T>(clock: &dyn Clock, work: impl FnOnce() -> T) -> (T, Duration) {
    let begin = clock.monotonic();
    let result = work();
    (result, clock.monotonic().saturating_sub(begin))
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Every prefix of every session, the empty one included; the right answer is the step that followed, or GOAL.
pub(super) fn next(procedures: &Procedures, queries: &[NextQuery], clock: &dyn Clock, quality: &mut Quality) {
    let (mut first, mut five, mut took) = (0, 0, Vec::new());
    for query in queries {
        let procedure = procedures.by_goal(&query.goal);
        for done in 0..=query.steps.len() {
            quality.asked += 1;
            let Some(procedure) = procedure else { continue };
            let wanted = query.steps.get(done).map(|text| normalise(text));
            let (found, time) = timed(clock, || next_steps(procedure, &query.steps[..done], 5));
            took.push(time);
            let name = |step: Option<StepId>| step.and_then(|id| procedure.step(id)).map(|step| normalise(&step.text));
            first += usize::from(found.first().is_some_and(|best| name(best.step) == wanted));
            five += usize::from(found.iter().any(|step| name(step.step) == wanted));
        }
    }
    quality.next = (share(first, quality.asked), share(five, quality.asked));
    quality.next_times = LearningTimes::from_durations(took);
}

/// Whole sessions without their goal, looked up by meaning alone (Eq. 3).
fn measure_goals(procedures: &Procedures, queries: &[NextQuery], phi: &Phi<'_>, quality: &mut Quality) {
    let (mut asked, mut found) = (0, 0);
    for query in queries {
        let vectors = query.steps.iter().filter_map(|text| phi(&normalise(text)));
        let embeddings: Vec<Embedding> = vectors.filter_map(|vector| Embedding::from_vector(&vector)).collect();
        let Some(session) = Embedding::mean(&embeddings) else { continue };
        let near = procedures
            .iter()
            .chain(procedures.candidates())
            .filter_map(|procedure| Some((procedure.index().similarity(&session)?, procedure.goal())));
        let nearest = near.reduce(|best, next| if next.0 > best.0 { next } else { best });
        asked += 1;
        found += usize::from(nearest.is_some_and(|(_, goal)| normalise(goal) == normalise(&query.goal)));
    }
    quality.meant = (asked, share(found, asked));
}

fn measure_paths(procedures: &Procedures, queries: &[PathQuery], clock: &dyn Clock, quality: &mut Quality) {
    let (mut sound, mut coverage, mut took) = (0, 0.0, Vec::new());
    for query in queries {
        let Some(procedure) = procedures.by_goal(&query.goal) else { continue };
        let without = query.without.iter().map(|text| Phrase::any(text.as_str())).collect();
        let constraints = Constraints { without, ..Constraints::default() };
        let (found, time) = timed(clock, || paths(procedure, &constraints, query.max));
        took.push(time);
        let made = transitions(procedure);
        let text = |id: &StepId| procedure.step(*id).map(|step| normalise(&step.text)).unwrap_or_default();
        let excluded: BTreeSet<String> = query.without.iter().map(|text| normalise(text)).collect();
        let truths: BTreeSet<Vec<String>> =
            query.truth.iter().map(|truth| truth.steps.iter().map(|text| normalise(text)).collect()).collect();
        let mut hits = BTreeSet::new();
        for path in found.iter().flat_map(|found| &found.paths) {
            let steps: Vec<String> = path.steps.iter().map(text).collect();
            let once = steps.iter().collect::<BTreeSet<_>>().len() == steps.len();
            let whole = || [String::new()].into_iter().chain(steps.clone()).chain([String::new()]);
            let known = whole().zip(whole().skip(1)).all(|pair| made.contains(&pair));
            quality.ways += 1;
            sound += usize::from(once && known && !steps.iter().any(|step| excluded.contains(step)));
            if truths.contains(&steps) {
                hits.insert(steps);
            }
        }
        coverage += share(hits.len(), truths.len().min(query.max));
    }
    quality.soundness = share(sound, quality.ways);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let questions = queries.len().max(1) as f64;
    quality.coverage = coverage / questions;
    quality.way_times = LearningTimes::from_durations(took);
}

/// Every transition of a session, as it is and with immediate repeats collapsed; an empty text is START and GOAL.
fn transitions(procedure: &Procedure) -> BTreeSet<(String, String)> {
    let mut made = BTreeSet::new();
    for run in procedure.runs() {
        let steps: Vec<String> =
            run.steps().iter().filter_map(|id| procedure.step(*id)).map(|step| normalise(&step.text)).collect();
        let mut collapsed = steps.clone();
        collapsed.dedup();
        for way in [steps, collapsed] {
            let whole: Vec<String> = [String::new()].into_iter().chain(way).chain([String::new()]).collect();
            made.extend(whole.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())));
        }
    }
    made
}

/// Sessions grouped without their goals: agreement with the goals, and what verification makes of the groups.
pub(super) fn grouping(workload: &LearningWorkload, around: &MeasureEnvironment<'_>, quality: &mut Quality) {
    let (procedures, took) = learn(&workload.goalless, around);
    quality.goalless = LearningTimes::from_durations(took);
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut right, mut established, mut found) = (0, 0, BTreeSet::new());
    for (number, procedure) in procedures.iter().chain(procedures.candidates()).enumerate() {
        groups.extend(procedure.runs().map(|run| (run.session(), number)));
        if !procedure.is_established() {
            continue;
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for goal in procedure.runs().filter_map(|run| workload.goals.get(run.session())) {
            *counts.entry(goal).or_default() += 1;
        }
        established += 1;
        // A procedure of a goal: at least four fifths of its sessions are of the one goal.
        let most = counts.iter().max_by_key(|(goal, count)| (**count, std::cmp::Reverse(**goal)));
        if let Some((goal, _)) = most.filter(|(_, count)| **count * 5 >= procedure.sessions() * 4) {
            right += 1;
            found.insert((*goal).to_owned());
        }
    }
    let known: BTreeSet<&String> = workload.goals.values().collect();
    quality.grouped = (procedures.sessions(), groups.values().collect::<BTreeSet<_>>().len());
    quality.rand_index = rand_index(&groups, &workload.goals);
    quality.verified = (share(right, established), share(found.len(), known.len()));
}

/// The adjusted Rand index (Hubert and Arabie, 1985).
fn rand_index(groups: &BTreeMap<&str, usize>, goals: &BTreeMap<String, String>) -> f64 {
    let (mut cells, mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (session, goal) in goals {
        let group = groups.get(session.as_str());
        *cells.entry((group, goal)).or_insert(0_u32) += 1;
        *rows.entry(group).or_insert(0_u32) += 1;
        *columns.entry(goal).or_insert(0_u32) += 1;
    }
    let pairs = |count: &u32| f64::from(*count) * (f64::from(*count) - 1.0) / 2.0;
    let (a, b): (f64, f64) = (rows.values().map(pairs).sum(), columns.values().map(pairs).sum());
    let expected = a * b / pairs(&u32::try_from(goals.len()).unwrap_or(u32::MAX));
    let most = f64::midpoint(a, b) - expected;
    // One group of one goal: nothing could differ.
    if most == 0.0 { 1.0 } else { (cells.values().map(pairs).sum::<f64>() - expected) / most }
}
