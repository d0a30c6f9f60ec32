//! Parts a procedure that nobody named into the two tasks that its sessions do.
//!
//! Two tasks that begin and end alike ("take out the shell … fit on the shell") have so many steps in common that the sessions of
//! one join the procedure of the other. What tells them apart is what no session does: the steps of both. So a procedure is two
//! where steps that are common in it never come together, as long as that holds for more than one step on each side (a single
//! one is a choice within a task), and where the two are less alike than procedures that would be joined.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Procedure, ProcedureId, Procedures, StepId};
use crate::EventId;

/// Minimum number of sessions of a part.
const MIN_PART_SESSIONS: usize = 5;
/// Maximum number of steps compared in pairs, the most frequent ones.
const MAX_STEPS: usize = 64;
/// Share of sessions up to which a step counts as foreign to a part.
const MAX_FOREIGN_SHARE: f64 = 0.05;
/// Minimum number of steps that each part has for itself: half of its sessions do them, and almost none of the other's.
const MIN_OWN_STEPS: usize = 2;
/// Maximum number of times that sessions choose their part; most settle after the first.
const MAX_ROUNDS: usize = 4;

/// A session and the steps that it did.
type SessionSteps = (EventId, BTreeSet<StepId>);

/// How many sessions did each step.
type Counts = BTreeMap<StepId, f64>;

impl Procedures {
    /// Returns the sessions that are another task than the rest of their procedure, for every procedure that is two.
    pub(super) fn strangers(&self, sessions: &[(EventId, ProcedureId)]) -> Vec<(ProcedureId, Vec<EventId>)> {
        let mut by_procedure: BTreeMap<ProcedureId, Vec<EventId>> = BTreeMap::new();
        for (run, id) in sessions {
            by_procedure.entry(*id).or_default().push(*run);
        }
        let strangers = |(id, runs): (ProcedureId, Vec<EventId>)| {
            let procedure = self.procedures.get(&id).filter(|procedure| !procedure.named)?;
            Some((id, self.other_task(procedure, &runs)?))
        };
        by_procedure.into_iter().filter(|(_, runs)| runs.len() >= 2 * MIN_PART_SESSIONS).filter_map(strangers).collect()
    }

    /// The smaller one of the two tasks that a procedure is; `None` if it is one.
    fn other_task(&self, procedure: &Procedure, runs: &[EventId]) -> Option<Vec<EventId>> {
        let session = |run: &EventId| Some((*run, procedure.runs.get(run)?.steps.iter().copied().collect()));
        let sessions: Vec<SessionSteps> = runs.iter().filter_map(session).collect();
        let (one, other) = never_together(&sessions)?;
        let doing = |step: StepId, not: StepId| {
            counts(sessions.iter().filter(|(_, steps)| steps.contains(&step) && !steps.contains(&not)))
        };
        let mut parts = [doing(one, other), doing(other, one)];
        let mut of_other: Vec<bool> = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let near = |steps: &BTreeSet<StepId>, part: &Counts| self.nearness(procedure, steps, part);
            let chosen: Vec<bool> =
                sessions.iter().map(|(_, steps)| near(steps, &parts[1]) > near(steps, &parts[0])).collect();
            let of = |side: bool| sessions.iter().zip(&chosen).filter(move |(_, is)| **is == side).map(|(one, _)| one);
            parts = [counts(of(false)), counts(of(true))];
            if chosen == of_other {
                break;
            }
            of_other = chosen;
        }
        let sizes = [false, true].map(|side| of_other.iter().filter(|is| **is == side).count());
        let apart = sizes.iter().all(|size| *size >= MIN_PART_SESSIONS)
            && own_steps(&parts[0], sizes[0], &parts[1], sizes[1]) >= MIN_OWN_STEPS
            && own_steps(&parts[1], sizes[1], &parts[0], sizes[0]) >= MIN_OWN_STEPS
            && self.likeness_of_parts(procedure, &parts[0], &parts[1]) < self.options.merge;
        let smaller = sizes[1] <= sizes[0];
        let moved = sessions.iter().zip(of_other).filter(|(_, is)| *is == smaller).map(|((run, _), _)| *run);
        apart.then(|| moved.collect())
    }

    /// The idf-weighted cosine between a session and a part, but for the length of the session.
    fn nearness(&self, procedure: &Procedure, steps: &BTreeSet<StepId>, part: &Counts) -> f64 {
        let dot: f64 =
            steps.iter().map(|step| part.get(step).unwrap_or(&0.0) * self.weight(procedure, *step).powi(2)).sum();
        if dot == 0.0 { 0.0 } else { dot / self.length(procedure, part) }
    }

    /// The idf-weighted cosine between two parts.
    fn likeness_of_parts(&self, procedure: &Procedure, a: &Counts, b: &Counts) -> f64 {
        let weigh = |(step, count): (&StepId, &f64)| Some(count * b.get(step)? * self.weight(procedure, *step).powi(2));
        let dot: f64 = a.iter().filter_map(weigh).sum();
        if dot == 0.0 { 0.0 } else { dot / (self.length(procedure, a) * self.length(procedure, b)) }
    }

    fn length(&self, procedure: &Procedure, part: &Counts) -> f64 {
        part.iter().map(|(step, count)| (count * self.weight(procedure, *step)).powi(2)).sum::<f64>().sqrt()
    }

    fn weight(&self, procedure: &Procedure, step: StepId) -> f64 {
        procedure.step(step).map_or(0.0, |step| self.lexicon.idf(step.key()))
    }
}

fn counts<'a>(sessions: impl Iterator<Item = &'a SessionSteps>) -> Counts {
    let mut counts = Counts::new();
    for step in sessions.flat_map(|(_, steps)| steps) {
        *counts.entry(*step).or_default() += 1.0;
    }
    counts
}

/// Returns, of the steps that come together in almost no session, the two that most sessions do.
fn never_together(sessions: &[SessionSteps]) -> Option<(StepId, StepId)> {
    // By step a bit for each session: pairs are many, and most groups have none.
    let mut doing: BTreeMap<StepId, Vec<u64>> = BTreeMap::new();
    for (at, (_, steps)) in sessions.iter().enumerate() {
        for step in steps {
            doing.entry(*step).or_insert_with(|| vec![0; sessions.len().div_ceil(64)])[at / 64] |= 1 << (at % 64);
        }
    }
    let count = |sessions: &[u64]| sessions.iter().map(|word| word.count_ones()).sum::<u32>();
    let mut common: Vec<(u32, StepId, Vec<u64>)> =
        doing.into_iter().map(|(step, sessions)| (count(&sessions), step, sessions)).collect();
    common.retain(|(sessions, ..)| *sessions as usize >= MIN_PART_SESSIONS);
    common.sort_by_key(|(sessions, step, _)| (Reverse(*sessions), *step));
    common.truncate(MAX_STEPS);
    let mut best: Option<(u32, (StepId, StepId))> = None;
    for (at, (_, one, doing_one)) in common.iter().enumerate() {
        for (fewer, other, doing_other) in &common[at + 1..] {
            if best.is_some_and(|(most, _)| *fewer <= most) {
                // The others are done by fewer still.
                break;
            }
            let both: u32 = doing_one.iter().zip(doing_other).map(|(a, b)| (a & b).count_ones()).sum();
            if f64::from(both) <= MAX_FOREIGN_SHARE * f64::from(*fewer) {
                best = Some((*fewer, (*one, *other)));
            }
        }
    }
    best.map(|(_, pair)| pair)
}

/// How many steps half of the sessions of one part do and next to none of the other's.
fn own_steps(one: &Counts, size: usize, other: &Counts, of_other: usize) -> usize {
    let is_own = |(step, count): &(&StepId, &f64)| {
        **count >= 0.5 * size as f64 && *other.get(*step).unwrap_or(&0.0) <= MAX_FOREIGN_SHARE * of_other as f64
    };
    one.iter().filter(is_own).count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Procedure;
    use super::super::tests::learn;

    /// Groups of the sessions of tasks that are done in turn, by the tasks' numbers.
    fn groups(tasks: &[&[&str]], rounds: usize) -> BTreeSet<Vec<usize>> {
        let names: Vec<String> =
            (0..rounds * tasks.len()).map(|session| format!("{}/{session}", session % tasks.len())).collect();
        let sessions: Vec<(&str, &str, &[&str])> =
            names.iter().zip(tasks.iter().cycle()).map(|(name, steps)| (name.as_str(), "", *steps)).collect();
        let procedures = learn(&sessions);
        let of = |procedure: &Procedure| {
            let task = |name: &str| name.split('/').next().and_then(|task| task.parse().ok()).unwrap();
            let tasks: BTreeSet<usize> = procedure.runs().map(|run| task(run.session())).collect();
            tasks.into_iter().collect()
        };
        procedures.iter().chain(procedures.candidates()).map(of).collect()
    }

    const OTHERS: [&[&str]; 4] = [
        &["boil water", "add tea", "pour"],
        &["fill bucket", "wet mop", "wipe floor"],
        &["turn nuts", "lift car", "swap wheel"],
        &["soak beans", "grind beans", "fry balls"],
    ];

    #[test]
    fn two_tasks_that_only_begin_and_end_alike_are_two_procedures() {
        let filter: &[&str] = &["take out the shell", "take out the filter", "fit on the filter", "fit on the shell"];
        let chip: &[&str] = &["take out the shell", "remove old chip", "install new chip", "fit on the shell"];
        let tasks: Vec<&[&str]> = [filter, chip].into_iter().chain(OTHERS).collect();
        assert_eq!(groups(&tasks, 14), (0..6).map(|task| vec![task]).collect());
    }

    #[test]
    fn a_choice_of_one_step_within_a_task_parts_nothing() {
        let kettle: &[&str] = &["take out the cup", "boil water in a kettle", "add coffee", "stir it"];
        let pot: &[&str] = &["take out the cup", "boil water in a pot", "add coffee", "stir it"];
        let tasks: Vec<&[&str]> = [kettle, pot].into_iter().chain(OTHERS).collect();
        let expected = [vec![0, 1]].into_iter().chain((2..6).map(|task| vec![task])).collect();
        assert_eq!(groups(&tasks, 14), expected);
    }
}
