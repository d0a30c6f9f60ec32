//! Measures whether verification lets procedures pass and nothing else.
//!
//! The set is made from tasks with their sessions. True procedures are the sessions of a task, told with its goal or without
//! any. False ones are its steps in any order, two tasks in turns, talk with verbs, and the sessions of another task told
//! under its goal. Steps in any order are no false procedure where the goal was told: it is what they serve.

mod set;

use std::collections::BTreeMap;

pub use set::DrawnSessions;
use set::{Draws, VerifiedTask, actions, sessions};

use super::LearningWorkload;
use crate::logic::{LogicOptions, Phi, Procedures};

/// Sessions of an item. Tasks with fewer than the most are left out.
const SESSIONS: [usize; 3] = [28, 10, 5];
/// Draws of the set of the most sessions, whose items are counted together. One draw says 0.92 where another says 0.95.
const DRAWS: u64 = 5;
/// Kinds of false procedures, as many as there are true ones together.
const UNTOLD: [DrawnSessions; 3] = [DrawnSessions::Shuffled, DrawnSessions::Interleaved, DrawnSessions::Talk];
const TOLD: [DrawnSessions; 3] = [DrawnSessions::OtherGoal, DrawnSessions::Interleaved, DrawnSessions::Talk];

/// Items of each kind that passed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passed {
    /// Items that passed, and all, by kind.
    pub kinds: BTreeMap<DrawnSessions, (usize, usize)>,
}

impl Passed {
    fn add(&mut self, kind: DrawnSessions, passed: bool) {
        let (of_kind, all) = self.kinds.entry(kind).or_default();
        *of_kind += usize::from(passed);
        *all += 1;
    }

    /// Returns precision and recall for true procedures and as many false ones.
    pub fn precision_and_recall(&self) -> (f64, f64) {
        let share = |kind: &DrawnSessions| -> f64 {
            self.kinds.get(kind).map_or(0.0, |(passed, all)| *passed as f64 / (*all).max(1) as f64)
        };
        let recall = share(&DrawnSessions::True);
        let others: Vec<f64> = self.kinds.keys().filter(|kind| **kind != DrawnSessions::True).map(share).collect();
        let wrong = others.iter().sum::<f64>() / others.len().max(1) as f64;
        let precision = if recall + wrong > 0.0 { recall / (recall + wrong) } else { 1.0 };
        (precision, recall)
    }
}

/// Results for goals that nobody told, and for told ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Tasks that the set is made from.
    pub tasks: usize,
    /// Sessions of each item.
    pub sessions: usize,
    /// Without goals.
    pub untold: Passed,
    /// Results with goals.
    pub told: Passed,
}

impl LearningWorkload {
    /// Everything that the set may say beside the workload's own texts, for making vectors of it.
    pub fn talk() -> impl Iterator<Item = String> {
        set::all_talk()
    }

    /// The tasks of the sessions with goals, each of at least so many sessions.
    fn tasks(&self, least: usize) -> Vec<VerifiedTask> {
        let mut goals: BTreeMap<&str, BTreeMap<&str, Vec<String>>> = BTreeMap::new();
        for action in &self.actions {
            let (Some(goal), Some(session)) = (&action.goal, &action.session) else { continue };
            goals.entry(goal).or_default().entry(session).or_default().push(action.text.clone());
        }
        let tasks = goals
            .into_iter()
            .map(|(goal, sessions)| VerifiedTask { goal: goal.to_owned(), sessions: sessions.into_values().collect() });
        tasks.filter(|task| task.sessions.len() >= least).collect()
    }
}

/// Measures it on the tasks of a workload.
pub(super) fn measure(workload: &LearningWorkload, phi: &Phi<'_>) -> Vec<Verified> {
    let tasks = workload.tasks(SESSIONS[0]);
    SESSIONS
        .iter()
        .map(|count| {
            let mut verified = Verified { tasks: tasks.len(), sessions: *count, ..Verified::default() };
            (0..DRAWS).for_each(|draw| verified.add(&tasks, draw, phi));
            verified
        })
        .collect()
}

impl Verified {
    /// Adds the items of one draw.
    fn add(&mut self, tasks: &[VerifiedTask], draw: u64, phi: &Phi<'_>) {
        let count = self.sessions;
        let seed = draw * 1_000_000;
        if tasks.len() < 2 {
            return;
        }
        for task in 0..tasks.len() {
            for kind in [DrawnSessions::True].into_iter().chain(UNTOLD) {
                let mut draws = Draws::new(seed + (task * 8 + kind as usize) as u64 + 1);
                let items = vec![(None, sessions(kind, tasks, task, count, &mut draws))];
                let procedures = learn(&items, phi);
                // Part of the sessions is enough for a false procedure, and not for a true one.
                let passed = match kind {
                    DrawnSessions::True => procedures.iter().any(|found| 2 * found.sessions() >= count),
                    _ => procedures.iter().next().is_some(),
                };
                self.untold.add(kind, passed);
            }
        }
        // Half of the goals are told with their own sessions, the others with false ones, by turns.
        for round in 0..2 * TOLD.len() {
            let kinds: Vec<DrawnSessions> = (0..tasks.len())
                .map(|task| if (task + round) % 2 == 0 { DrawnSessions::True } else { TOLD[round / 2] })
                .collect();
            let mut items = Vec::new();
            for (task, kind) in kinds.iter().enumerate() {
                let mut draws = Draws::new(seed + (task * 64 + round * 8 + *kind as usize) as u64 + 100_000);
                items.push((Some(tasks[task].goal.as_str()), sessions(*kind, tasks, task, count, &mut draws)));
            }
            let procedures = learn(&items, phi);
            for (task, kind) in kinds.into_iter().enumerate() {
                let found = procedures.by_goal(&tasks[task].goal);
                self.told.add(kind, found.is_some_and(crate::logic::Procedure::is_established));
            }
        }
    }
}

/// Learns items by turns, a session of each.
fn learn(items: &[(Option<&str>, Vec<Vec<String>>)], phi: &Phi<'_>) -> Procedures {
    let mut procedures = Procedures::new(LogicOptions::default());
    let (mut number, mut event) = (0, 1);
    for turn in 0..items.iter().map(|(_, sessions)| sessions.len()).max().unwrap_or(0) {
        for (goal, sessions) in items {
            let Some(steps) = sessions.get(turn) else { continue };
            for action in actions(steps, *goal, number, event) {
                procedures.observe(&action, phi);
            }
            number += 1;
            event += steps.len() as u64;
        }
    }
    procedures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::normalise;

    /// A space like MiniLM's: steps and goal of one task lie at about 0.4 from each other, everything else at about 0.
    fn phi(tasks: &[VerifiedTask]) -> impl Fn(&str) -> Option<Vec<f32>> {
        let mut topics: BTreeMap<String, usize> = BTreeMap::new();
        for (topic, task) in tasks.iter().enumerate() {
            let texts = task.sessions.iter().flatten().chain([&task.goal]);
            topics.extend(texts.map(|text| (normalise(text), topic)));
        }
        move |text| {
            let mut draws = Draws::new(crate::sharded::spread_bytes(text.as_bytes()));
            let mut vector: Vec<f32> = (0..96).map(|_| (draws.below(2001) as f32 - 1000.0) / 1000.0).collect();
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.iter_mut().for_each(|x| *x /= norm);
            if let Some(topic) = topics.get(text) {
                vector[*topic] += 0.85;
            }
            Some(vector)
        }
    }

    #[test]
    fn procedures_pass_and_what_only_looks_like_one_does_not() {
        let tasks = set::made_up(12);
        let mut verified = Verified { sessions: 12, ..Verified::default() };
        verified.add(&tasks, 0, &phi(&tasks));
        for passed in [&verified.untold, &verified.told] {
            let (precision, recall) = passed.precision_and_recall();
            assert!(precision >= 0.95 && recall >= 0.9, "{precision:.3} {recall:.3} {passed:?}");
        }
        assert_eq!(verified.untold.kinds[&DrawnSessions::True].1, tasks.len());
    }

    #[test]
    fn without_meaning_the_order_still_refuses_what_has_none() {
        let tasks = set::made_up(12);
        let mut verified = Verified { sessions: 12, ..Verified::default() };
        verified.add(&tasks, 0, &|_| None);
        let passed = verified.untold;
        let share = |kind: DrawnSessions| passed.kinds[&kind].0 as f64 / passed.kinds[&kind].1 as f64;
        assert!(share(DrawnSessions::True) >= 0.9, "{passed:?}");
        assert!(share(DrawnSessions::Talk) <= 0.07 && share(DrawnSessions::Shuffled) <= 0.07, "{passed:?}");
    }
}
