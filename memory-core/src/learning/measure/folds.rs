//! Measures grouping and the next step on other parts of a workload than its split, so that nothing is tuned to one split.
//!
//! Grouping: as many other tasks as the split keeps back, drawn again and again; once any of them, and once those that share
//! a step with another one first, as the split has them, because those are hard to part. Next step: the sessions of the split and
//! those that are learnt from, together, in five parts, each of which is asked about after the other four were learnt.

use std::collections::{BTreeMap, BTreeSet};

use super::workload::NextQuery;
use super::{LearningWorkload, MeasureEnvironment, Quality, quality};
use crate::logic::{Action, normalise};
use crate::sharded::spread_bytes;

/// Parts of the sessions.
const PARTS: u64 = 5;
/// How often other tasks are drawn; each draw gives as many sets as there are tasks for.
const DRAWS: u64 = 5;

/// Results on other parts of the workload.
#[derive(Debug, Clone, Default)]
pub struct Folds {
    /// Results by set of other tasks: sessions, groups, adjusted Rand index.
    pub any: Vec<(u32, usize, f64)>,
    /// The same by set of other tasks that holds all of them that share a step.
    pub sharing: Vec<(u32, usize, f64)>,
    /// Results by part: prefixes asked, share whose next step came first, and was among the first five.
    pub next: Vec<(usize, f64, f64)>,
}

impl Folds {
    /// The mean of the adjusted Rand indices of some sets, and the least.
    pub fn rand_index(sets: &[(u32, usize, f64)]) -> (f64, f64) {
        let indices = || sets.iter().map(|(.., index)| *index);
        (mean(indices()), indices().fold(1.0, f64::min))
    }

    /// The means of the shares over parts.
    pub fn next(&self) -> (f64, f64) {
        (mean(self.next.iter().map(|(_, first, _)| *first)), mean(self.next.iter().map(|(.., five)| *five)))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0_u32);
    values.for_each(|value| (sum, count) = (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

pub(super) fn measure(workload: &LearningWorkload, around: &MeasureEnvironment<'_>) -> Folds {
    let grouped = |tasks: BTreeSet<&str>| {
        let mut quality = Quality::default();
        quality::grouping(&workload.without_goals(&tasks), around, &mut quality);
        (quality.grouped.0, quality.grouped.1, quality.rand_index)
    };
    let tasks = OtherTasks::from_workload(workload);
    let mut folds = Folds {
        any: tasks.sets(&BTreeSet::new()).map(grouped).collect(),
        sharing: tasks.sets(&tasks.sharing).map(grouped).collect(),
        ..Folds::default()
    };
    for part in 0..PARTS {
        let is_asked = |action: &&Action| {
            action.session.as_deref().is_some_and(|name| spread_bytes(name.as_bytes()) % PARTS == part)
        };
        let all = || workload.actions.iter().chain(&workload.asked);
        let learnt: Vec<Action> = all().filter(|action| !is_asked(action)).cloned().collect();
        let asked = queries(all().filter(is_asked));
        let (procedures, _) = quality::learn(&learnt, around);
        let mut quality = Quality::default();
        quality::next(&procedures, &asked, around.clock, &mut quality);
        folds.next.push((quality.asked, quality.next.0, quality.next.1));
    }
    folds
}

/// The tasks whose goals the split does not keep back.
struct OtherTasks<'a> {
    all: BTreeSet<&'a str>,
    /// The tasks with a step that another one has, too.
    sharing: BTreeSet<&'a str>,
    /// How many the split keeps back the goals of.
    wanted: usize,
}

impl<'a> OtherTasks<'a> {
    fn from_workload(workload: &'a LearningWorkload) -> Self {
        let kept_back: BTreeSet<&str> = workload.goals.values().map(String::as_str).collect();
        let mut by_step: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for action in &workload.actions {
            if let Some(goal) = action.goal.as_deref().filter(|goal| !kept_back.contains(goal)) {
                by_step.entry(normalise(&action.text)).or_default().insert(goal);
            }
        }
        let shared = by_step.values().filter(|goals| goals.len() > 1).flatten().copied().collect();
        Self { all: by_step.into_values().flatten().collect(), sharing: shared, wanted: kept_back.len() }
    }

    /// Sets of as many tasks as are wanted, `first` among them and the others in turn, in as many orders as there are draws.
    fn sets(&self, first: &BTreeSet<&'a str>) -> impl Iterator<Item = BTreeSet<&'a str>> {
        let mut rest: Vec<&str> = self.all.difference(first).copied().collect();
        let room = self.wanted.saturating_sub(first.len()).max(1);
        (0..DRAWS).flat_map(move |draw| {
            rest.sort_by_key(|goal| spread_bytes(format!("{draw} {goal}").as_bytes()));
            let sets = rest.chunks_exact(room).map(|others| first.iter().chain(others).copied().collect());
            sets.collect::<Vec<_>>()
        })
    }
}

/// Each session as a question.
fn queries<'a>(actions: impl Iterator<Item = &'a Action>) -> Vec<NextQuery> {
    let mut sessions: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for action in actions {
        let (Some(session), Some(goal)) = (&action.session, &action.goal) else { continue };
        sessions.entry((session, goal)).or_default().push(action.text.clone());
    }
    sessions.into_iter().map(|((_, goal), steps)| NextQuery { goal: goal.to_owned(), steps }).collect()
}

impl LearningWorkload {
    /// The learnt sessions of some tasks, their goals kept back.
    fn without_goals(&self, tasks: &BTreeSet<&str>) -> Self {
        let mut part = Self::default();
        for action in &self.actions {
            let (Some(session), Some(goal)) = (&action.session, &action.goal) else { continue };
            if tasks.contains(goal.as_str()) {
                part.goals.insert(session.clone(), goal.clone());
                part.goalless.push(Action { goal: None, ..action.clone() });
            }
        }
        part
    }
}
