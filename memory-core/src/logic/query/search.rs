//! Finds the most probable paths of a graph under conditions, best first.
//!
//! For each (node, progress of the conditions) the probability of the best completion is computed once, backwards through the
//! graph, by the maximum number of remaining steps. With this exact bound the search is A*: it never follows a prefix that
//! cannot be completed, and returns the paths in order of probability. Only a [`Rule`] is not part of the bound, so only a rule
//! can cause backtracking, and the number of prefixes is limited.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap};

use super::constraint::{Conditions, ConstraintError, ConstraintProgress};
use crate::logic::{Dag, Node, NodeId, Procedure, StepId};

/// Maximum number of pairs of a node and a progress.
const MAX_STATES: usize = 1 << 18;
/// Maximum number of path prefixes that one search expands.
const MAX_PREFIXES: usize = 20_000;

/// What lies ahead: steps, and the probability of the best completion that takes no more. Both grow; those are left out that
/// no path can choose, as its beginning leaves it more steps or fewer.
type StepsAhead = Vec<(usize, f64)>;

/// The best of them within so many steps.
fn best_within(ahead: &StepsAhead, steps: usize) -> Option<f64> {
    ahead[..ahead.partition_point(|(takes, _)| *takes <= steps)].last().map(|(_, best)| *best)
}

/// Further demands on a path, from strict to lax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// No step comes twice, and every step follows the two before it as somebody did. A way to make tea begins with the
    /// cup or with the water, and goes on to pour; that nobody ever poured right after the cup is known to this rule.
    Habitual,
    /// No step comes twice.
    Once,
    /// A step may come again where somebody did it again.
    Any,
}

/// Three steps that somebody did in a row; START is `None` in front, GOAL at the end.
pub(super) type Triple = (Option<StepId>, StepId, Option<StepId>);

/// The triples of all sessions.
pub(super) fn triples(procedure: &Procedure) -> BTreeSet<Triple> {
    let mut triples = BTreeSet::new();
    for run in procedure.runs() {
        let steps = run.steps();
        for (at, step) in steps.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| steps[before]);
            triples.insert((before, *step, steps.get(at + 1).copied()));
        }
    }
    triples
}

/// A beginning of a path, as a link to the one it extends.
struct Beginning {
    node: NodeId,
    /// The step of the node; `None` for START and GOAL.
    step: Option<StepId>,
    progress: ConstraintProgress,
    before: Option<usize>,
    steps: usize,
    /// The probability of its best completion over that of the best path: 1 along the best path, exactly.
    regret: f64,
}

/// Ordered by the best completion; of equal ones the longer first, then the one that was found first.
struct Ranked(f64, usize, Reverse<usize>);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then_with(|| self.1.cmp(&other.1)).then_with(|| self.2.cmp(&other.2))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked {}

/// Paths to GOAL, the most probable first.
pub(super) struct PathSearch<'a> {
    dag: &'a Dag,
    conditions: &'a Conditions,
    /// Steps that were done before the search begins.
    done: &'a [StepId],
    rule: Rule,
    triples: &'a BTreeSet<Triple>,
    /// Steps that a path of the graph might meet again: those of several nodes, and those that were done before. No path
    /// comes to any other step twice, as none comes to a node twice.
    recurrent: BTreeSet<StepId>,
    /// Completions at each progress, sorted by progress, by node.
    ahead: Vec<Vec<(ConstraintProgress, StepsAhead)>>,
    /// The probability of the best path that fulfils the conditions.
    best: f64,
    beginnings: Vec<Beginning>,
    queue: BinaryHeap<Ranked>,
    /// Whether the limit, and not the graph, ended the search.
    pub cut_short: bool,
}

impl<'a> PathSearch<'a> {
    /// A search that goes on from `from`, where `done` was done already.
    pub fn new(
        dag: &'a Dag,
        conditions: &'a Conditions,
        (from, done): (NodeId, &'a [StepId]),
        rule: Rule,
        triples: &'a BTreeSet<Triple>,
    ) -> Result<Self, ConstraintError> {
        let ahead = look_ahead(dag, conditions, from, rule)?;
        let (beginnings, queue) = (Vec::new(), BinaryHeap::new());
        let progress = ConstraintProgress::default();
        let recurrent = recurrent(dag, done);
        let best = 0.0;
        let mut search =
            Self { dag, conditions, done, rule, triples, recurrent, ahead, best, beginnings, queue, cut_short: false };
        search.best = search.ahead(from, progress, 0).unwrap_or(0.0);
        search.add(Beginning { node: from, step: None, progress, before: None, steps: 0, regret: 1.0 });
        Ok(search)
    }

    /// The steps of a beginning and what was done before it, the latest first.
    fn back(&self, number: usize) -> impl Iterator<Item = StepId> + '_ {
        let links = std::iter::successors(Some(number), |number| self.beginnings[*number].before);
        links.filter_map(|number| self.beginnings[number].step).chain(self.done.iter().rev().copied())
    }

    /// Whether the rule lets a step (`None`: GOAL) follow a beginning.
    fn may_follow(&self, number: usize, next: Option<(StepId, u16)>) -> bool {
        if let Some((step, occurrence)) = next {
            let may_recur = self.recurrent.contains(&step);
            let times = if may_recur { self.back(number).filter(|other| *other == step).count() } else { 0 };
            // The n-th time stands at a node of the n-th occurrence; see `Dag`.
            if usize::from(occurrence) != times + 1 || (self.rule != Rule::Any && times > 0) {
                return false;
            }
        }
        let mut back = self.back(number);
        match back.next() {
            Some(last) if self.rule == Rule::Habitual => {
                self.triples.contains(&(back.next(), last, next.map(|(step, _)| step)))
            }
            _ => true,
        }
    }

    /// The probability of the best completion after so many steps; `None` if there is none within the conditions.
    fn ahead(&self, node: NodeId, progress: ConstraintProgress, steps: usize) -> Option<f64> {
        let states = self.ahead.get(node.0 as usize)?;
        let at = states.binary_search_by_key(&progress, |(progress, _)| *progress).ok()?;
        best_within(&states[at].1, self.conditions.max_steps().checked_sub(steps)?)
    }

    fn add(&mut self, beginning: Beginning) {
        let number = self.beginnings.len();
        self.queue.push(Ranked(beginning.regret, beginning.steps, Reverse(number)));
        self.beginnings.push(beginning);
    }

    /// The steps of a beginning, in order.
    fn steps(&self, number: usize) -> Vec<StepId> {
        let mut steps: Vec<StepId> = self.back(number).take(self.beginnings[number].steps).collect();
        steps.reverse();
        steps
    }
}

impl Iterator for PathSearch<'_> {
    /// The steps after `done`, and the probability of the way from there.
    type Item = (Vec<StepId>, f64);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(Ranked(_, _, Reverse(number))) = self.queue.pop() {
            let Beginning { node, progress, steps, regret, .. } = self.beginnings[number];
            if node == Dag::GOAL {
                return Some((self.steps(number), regret * self.best));
            }
            if self.beginnings.len() >= MAX_PREFIXES {
                self.cut_short = true;
                return None;
            }
            let Some(here) = self.ahead(node, progress, steps) else { continue };
            for (edge, share) in self.dag.transitions(node) {
                let Some(to) = self.dag.node(edge.to) else { continue };
                if !self.may_follow(number, to.step.map(|step| (step, to.occurrence))) {
                    continue;
                }
                let next = to.step.map_or(Some(progress), |step| self.conditions.enter(progress, step));
                let Some(progress) = next else { continue };
                let steps = steps + usize::from(to.step.is_some());
                let Some(there) = self.ahead(edge.to, progress, steps) else { continue };
                self.add(Beginning {
                    node: edge.to,
                    step: to.step,
                    progress,
                    before: Some(number),
                    steps,
                    // The best way on has exactly this quotient of 1: equals stay equal, and nothing underflows.
                    regret: regret * (share * there / here),
                });
            }
        }
        None
    }
}

fn recurrent(dag: &Dag, done: &[StepId]) -> BTreeSet<StepId> {
    let mut recurrent: BTreeSet<StepId> = done.iter().copied().collect();
    let mut seen = BTreeSet::new();
    recurrent.extend(dag.nodes().iter().filter_map(|(_, node)| node.step).filter(|step| !seen.insert(*step)));
    recurrent
}

/// Returns the completions of every node at every progress with which a path from `from` can reach it.
fn look_ahead(
    dag: &Dag,
    conditions: &Conditions,
    from: NodeId,
    rule: Rule,
) -> Result<Vec<Vec<(ConstraintProgress, StepsAhead)>>, ConstraintError> {
    let nodes = dag.nodes();
    let slots = nodes.iter().map(|(id, _)| id.0 as usize + 1).max().unwrap_or(0);
    let mut progress: Vec<Vec<ConstraintProgress>> = vec![Vec::new(); slots];
    progress[from.0 as usize].push(ConstraintProgress::default());
    let next = |at: ConstraintProgress, to: NodeId| {
        let node = dag.node(to)?;
        match node.step {
            None => Some(at),
            Some(_) if rule != Rule::Any && node.occurrence > 1 => None,
            Some(step) => conditions.enter(at, step),
        }
    };
    let mut states = 0;
    for (id, node) in &nodes {
        let mut here = std::mem::take(&mut progress[id.0 as usize]);
        here.sort_unstable();
        here.dedup();
        states += here.len();
        if states > MAX_STATES {
            return Err(ConstraintError::TooComplex { nodes: nodes.len() });
        }
        for edge in node.edges() {
            progress[edge.to.0 as usize].extend(here.iter().filter_map(|at| next(*at, edge.to)));
        }
        progress[id.0 as usize] = here;
    }
    let max = conditions.max_steps();
    let before = steps_before(dag, &nodes, from, slots);
    let mut ahead: Vec<Vec<(ConstraintProgress, StepsAhead)>> = vec![Vec::new(); slots];
    for (id, node) in nodes.iter().rev() {
        let Some((shortest, longest)) = before[id.0 as usize] else { continue };
        let found = progress[id.0 as usize].iter().map(|at| {
            if *id == Dag::GOAL {
                return (*at, if conditions.accepts(*at) { vec![(0, 1.0)] } else { Vec::new() });
            }
            debug_assert!(node.step.is_some() || *id == Dag::START, "only START and GOAL stand for no step");
            let mut ways = Vec::new();
            for (edge, share) in dag.transitions(*id) {
                let Some(to) = next(*at, edge.to) else { continue };
                let there = &ahead[edge.to.0 as usize];
                let Ok(place) = there.binary_search_by_key(&to, |(progress, _)| *progress) else { continue };
                let step = usize::from(edge.to != Dag::GOAL);
                ways.extend(there[place].1.iter().map(|(steps, best)| (steps + step, share * best)));
            }
            (*at, best_by_steps(ways, max.saturating_sub(longest), max.checked_sub(shortest)))
        });
        let found: Vec<_> = found.collect();
        ahead[id.0 as usize] = found;
    }
    Ok(ahead)
}

/// The fewest and the most steps with which a path from `from` comes to each node; `None` where none does.
fn steps_before(dag: &Dag, nodes: &[(NodeId, &Node)], from: NodeId, slots: usize) -> Vec<Option<(usize, usize)>> {
    let mut before: Vec<Option<(usize, usize)>> = vec![None; slots];
    before[from.0 as usize] = Some((0, 0));
    for (id, node) in nodes {
        let Some((shortest, longest)) = before[id.0 as usize] else { continue };
        for edge in node.edges() {
            let step = usize::from(dag.node(edge.to).is_some_and(|to| to.step.is_some()));
            let (shortest, longest) = (shortest + step, longest + step);
            let known = &mut before[edge.to.0 as usize];
            *known = Some(known.map_or((shortest, longest), |(least, most)| (least.min(shortest), most.max(longest))));
        }
    }
    before
}

/// Of completions with their steps those that are the best within some number of steps, from `always` (which every path
/// has left) to `most` (which none exceeds; `None`: no path gets here in time).
fn best_by_steps(mut ways: StepsAhead, always: usize, most: Option<usize>) -> StepsAhead {
    ways.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut kept = StepsAhead::new();
    for (steps, best) in ways {
        if most.is_none_or(|most| steps > most) || kept.last().is_some_and(|(_, other)| *other >= best) {
            continue;
        }
        if steps <= always {
            kept.clear();
        }
        kept.push((steps, best));
    }
    kept
}
