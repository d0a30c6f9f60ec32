//! `queryStepSequence` (NS-Mem 4.3.3): the paths to a goal that meet conditions, the most probable first.

use std::collections::{BTreeMap, BTreeSet};

use super::constraint::{Conditions, ConstraintError, Constraints};
use super::search::{PathSearch, Rule, triples};
use crate::logic::{Dag, NodeId, Procedure, StepId};

/// Weight of how often a path was taken as a whole. The rest is the Markov chain's, in which each step depends on the one
/// before alone. The chain knows paths that nobody took yet, but a habit is more than its transitions: on COIN, the chain alone
/// puts 6 % of the paths that people took behind paths that nobody took.
const WHOLE_PATH_WEIGHT: f64 = 0.5;

/// A way to a goal.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// Its steps, START and GOAL left out.
    pub steps: Vec<StepId>,
    /// How probable it is among all ways (conditions or not).
    pub probability: f64,
    /// How many sessions did just this.
    pub seen: u32,
}

/// Ways to a goal, the most probable first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Paths {
    /// The ways.
    pub paths: Vec<Path>,
    /// Whether these are the best there are: `false` if the search was given up before it was sure.
    pub complete: bool,
    /// Whether they are put together from pieces that nobody did in this context: every transition was made, but some step
    /// follows two that it never followed. Such ways are only looked for where no other fulfils the constraints.
    pub guessed: bool,
}

/// At most `max` ways from START to GOAL that fulfil the constraints.
///
/// A way may combine what several sessions did. Ways on which every step follows the two before it as somebody did come
/// alone where there are any; without them, any way along the transitions; and only without those, ways that do a step
/// again.
///
/// Sound: every transition of a way was made by somebody. Bounded: a limited number of beginnings is looked at.
///
/// # Errors
/// If there are too many conditions.
pub fn paths(procedure: &Procedure, constraints: &Constraints, max: usize) -> Result<Paths, ConstraintError> {
    paths_from(procedure, constraints, &[], max)
}

/// The same from where `done` has led: the ways on. The constraints hold for what is still to be done.
///
/// # Errors
/// If there are too many conditions.
pub fn paths_from(
    procedure: &Procedure,
    constraints: &Constraints,
    done: &[StepId],
    max: usize,
) -> Result<Paths, ConstraintError> {
    let conditions = Conditions::resolve(constraints, procedure)?;
    let mut found = path_list(procedure, &conditions, done, Rule::Habitual, max)?;
    for rule in [Rule::Once, Rule::Any] {
        if found.paths.is_empty() && max > 0 {
            found = path_list(procedure, &conditions, done, rule, max)?;
        }
    }
    Ok(found)
}

fn path_list(
    procedure: &Procedure,
    conditions: &Conditions,
    done: &[StepId],
    rule: Rule,
    max: usize,
) -> Result<Paths, ConstraintError> {
    let dag = procedure.dag();
    let Some(from) = place_of(dag, done) else { return Ok(Paths { complete: true, ..Paths::default() }) };
    let triples = triples(procedure);
    let mut search = PathSearch::new(dag, conditions, (from, done), rule, &triples)?;
    let taken = taken(procedure, conditions, done, rule == Rule::Any);
    let sessions: u32 = taken.total;
    let mut known: Vec<Path> = taken
        .ways
        .iter()
        .map(|(steps, seen)| {
            let share = if sessions == 0 { 0.0 } else { f64::from(*seen) / f64::from(sessions) };
            let chain = chain(dag, from, done, steps).unwrap_or(0.0);
            Path {
                steps: steps.to_vec(),
                probability: WHOLE_PATH_WEIGHT * share + (1.0 - WHOLE_PATH_WEIGHT) * chain,
                seen: *seen,
            }
        })
        .collect();
    known.sort_by(|a, b| b.probability.total_cmp(&a.probability).then_with(|| a.steps.cmp(&b.steps)));
    let is_known: BTreeSet<&[StepId]> = taken.ways.keys().copied().collect();
    let mut new = search
        .by_ref()
        .filter(|(steps, _)| !is_known.contains(steps.as_slice()))
        .map(|(steps, chain)| Path { steps, probability: (1.0 - WHOLE_PATH_WEIGHT) * chain, seen: 0 })
        .peekable();
    let mut known = known.into_iter().peekable();
    let mut found = Vec::new();
    while found.len() < max {
        // Both come in falling order of probability.
        let next = match (known.peek(), new.peek()) {
            (Some(old), Some(other)) if other.probability > old.probability => new.next(),
            (Some(_), _) => known.next(),
            (None, _) => new.next(),
        };
        let Some(path) = next else { break };
        found.push(path);
    }
    drop(new);
    let complete = !search.cut_short;
    let guessed = rule != Rule::Habitual && found.iter().any(|path| path.seen == 0);
    Ok(Paths { paths: found, complete, guessed })
}

/// The node where `done` has led: along the graph, or, if nobody did it in that order, the busiest node of its last
/// step. `None` if the last step is not in the graph.
fn place_of(dag: &Dag, done: &[StepId]) -> Option<NodeId> {
    if let Some(path) = dag.path(done) {
        return Some(path.last().copied().unwrap_or(Dag::START));
    }
    let last = done.last()?;
    let mut places = dag.nodes();
    places.retain(|(_, node)| node.step == Some(*last));
    places.into_iter().min_by_key(|(id, node)| (std::cmp::Reverse(node.visits), *id)).map(|(id, _)| id)
}

/// The ways on that sessions took.
struct Taken<'a> {
    ways: BTreeMap<&'a [StepId], u32>,
    /// Sessions that were where `done` has led.
    total: u32,
}

fn taken<'a>(procedure: &'a Procedure, conditions: &Conditions, done: &[StepId], repeats: bool) -> Taken<'a> {
    let mut counts: BTreeMap<&[StepId], u32> = BTreeMap::new();
    let mut total = 0;
    for run in procedure.runs() {
        if let Some(rest) = run.steps().strip_prefix(done) {
            total += 1;
            *counts.entry(rest).or_default() += 1;
        }
    }
    let comes_once = |steps: &[StepId]| {
        let distinct: BTreeSet<_> = steps.iter().collect();
        distinct.len() == steps.len() && !done.iter().any(|step| distinct.contains(step))
    };
    counts.retain(|steps, _| !steps.is_empty() && conditions.hold(steps) && (repeats || comes_once(steps)));
    Taken { ways: counts, total }
}

/// The probability of the steps as a chain of transitions from a node; `None` if the graph does not hold them.
fn chain(dag: &Dag, from: NodeId, done: &[StepId], steps: &[StepId]) -> Option<f64> {
    let mut at = from;
    let mut probability = 1.0;
    let mut so_far = done.to_vec();
    for step in steps {
        let occurrence = 1 + so_far.iter().filter(|other| *other == step).count();
        let (edge, share) = dag.transitions(at).find(|(edge, _)| {
            dag.node(edge.to).is_some_and(|node| node.step == Some(*step) && usize::from(node.occurrence) == occurrence)
        })?;
        probability *= share;
        at = edge.to;
        so_far.push(*step);
    }
    Some(probability * dag.probability(at, Dag::GOAL))
}
