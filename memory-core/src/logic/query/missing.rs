//! Finds the remaining steps, and the things needed for them.

use std::collections::BTreeMap;

use super::next::for_each_point;
use super::words::{Part, StepWords};
use crate::logic::{Procedure, StepId};

/// A step that is still to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// The step.
    pub step: StepId,
    /// How probable it is that a session that has come as far still does it.
    pub probability: f64,
}

/// A thing that what is still to be done needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needed {
    /// Its name.
    pub name: String,
    /// An object or a tool.
    pub part: Part,
}

/// Minimum share of the sessions that count and do a step, for the step to be named.
const MIN_SHARE: f64 = 0.1;

/// The steps that are still to be done after `done`, in the order in which they are usually done.
///
/// Each session counts by the point at which it is most alike to `done` (as for [`next_steps`](super::next_steps)), and
/// votes for every step that it did after that point and that is not done yet.
pub fn missing(procedure: &Procedure, done: &[String]) -> Vec<Missing> {
    let words = StepWords::of(procedure);
    let done: Vec<StepId> = done.iter().filter_map(|text| words.meant_by(text)).collect();
    // By session: the most alike point, the latest of equals, and how alike it is.
    let mut best: Vec<(usize, f64)> = Vec::with_capacity(procedure.runs().len());
    for_each_point(procedure, &done, |_, at, jaccard| {
        if at == 0 {
            best.push((0, jaccard));
        } else if let Some(best) = best.last_mut().filter(|best| jaccard >= best.1) {
            *best = (at, jaccard);
        }
    });
    // Steps with their votes and the sum of where they stood.
    let mut votes: BTreeMap<StepId, (f64, f64)> = BTreeMap::new();
    let mut total = 0.0;
    for (run, (from, jaccard)) in procedure.runs().zip(best) {
        let weight = (jaccard * jaccard) * (jaccard * jaccard);
        total += weight;
        let mut own: BTreeMap<StepId, usize> = BTreeMap::new();
        for (place, step) in run.steps().iter().enumerate().skip(from) {
            if !done.contains(step) {
                own.entry(*step).or_insert(place);
            }
        }
        for (step, place) in own {
            let (votes, places) = votes.entry(step).or_default();
            *votes += weight;
            *places += weight * (place as f64 + 1.0) / (run.steps().len() as f64 + 1.0);
        }
    }
    let mut found: Vec<(f64, Missing)> = votes
        .into_iter()
        .filter(|(_, (votes, _))| total > 0.0 && votes / total >= MIN_SHARE)
        .map(|(step, (votes, places))| (places / votes, Missing { step, probability: votes / total }))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.step.cmp(&b.1.step)));
    found.into_iter().map(|(_, missing)| missing).collect()
}

/// The objects and tools of steps, in the order of the steps.
pub fn things(procedure: &Procedure, steps: impl IntoIterator<Item = StepId>) -> Vec<Needed> {
    let mut found: Vec<Needed> = Vec::new();
    for step in steps.into_iter().filter_map(|step| procedure.step(step)) {
        let objects = step.attributes.objects.keys().map(|name| (Part::Object, name));
        let tools = step.attributes.tools.keys().map(|name| (Part::Tool, name));
        for (part, name) in objects.chain(tools) {
            if !found.iter().any(|thing| thing.name == *name) {
                found.push(Needed { name: name.clone(), part });
            }
        }
    }
    found
}
