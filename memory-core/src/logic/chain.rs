//! The graph as an absorbing Markov chain: GOAL absorbs, and so does the failure of a step.
//!
//! The graph is acyclic, so the fundamental matrix (I − Q)⁻¹ of the textbook is one pass in reverse topological order:
//! O(V + E), exact, and the same on every processor.

use std::collections::BTreeMap;

use super::{Dag, NodeId};

/// Remaining steps from a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Absorption {
    /// How many more steps a run takes from here on average, if none fails; 0 at GOAL.
    pub expected_steps: f64,
    /// The probability of reaching GOAL, given each step's probability of success.
    pub reaches_goal: f64,
    /// The probability of the most probable way to GOAL (success of steps not counted): an admissible bound for
    /// best-first search over paths.
    pub best: f64,
    /// The next node on that way; `None` at GOAL and where no way leads there.
    pub best_next: Option<NodeId>,
}

impl Dag {
    /// What lies ahead of every node in use, by node. `success` is the probability that a node's step succeeds; it is not
    /// asked for START and GOAL.
    pub fn absorption(&self, success: impl Fn(NodeId) -> f64) -> BTreeMap<NodeId, Absorption> {
        let mut ahead: BTreeMap<NodeId, Absorption> = BTreeMap::new();
        for (id, node) in self.nodes().into_iter().rev() {
            if id == Self::GOAL {
                let done = Absorption { expected_steps: 0.0, reaches_goal: 1.0, best: 1.0, best_next: None };
                ahead.insert(id, done);
                continue;
            }
            let mut here = Absorption { expected_steps: 0.0, reaches_goal: 0.0, best: 0.0, best_next: None };
            for (edge, probability) in self.transitions(id) {
                let Some(next) = ahead.get(&edge.to) else { continue };
                let step = if edge.to == Self::GOAL { 0.0 } else { 1.0 };
                here.expected_steps += probability * (step + next.expected_steps);
                here.reaches_goal += probability * next.reaches_goal;
                if probability * next.best > here.best {
                    (here.best, here.best_next) = (probability * next.best, Some(edge.to));
                }
            }
            if node.step.is_some() {
                here.reaches_goal *= success(id).clamp(0.0, 1.0);
            }
            ahead.insert(id, here);
        }
        ahead
    }

    /// The most probable path START → GOAL, both left out; empty without a run.
    pub fn most_probable_path(&self) -> Vec<NodeId> {
        let ahead = self.absorption(|_| 1.0);
        let next = |at: NodeId| ahead.get(&at).and_then(|here| here.best_next).filter(|next| *next != Self::GOAL);
        std::iter::successors(next(Self::START), |at| next(*at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dag, StepId};

    fn graph(runs: &[(&[u32], usize)]) -> Dag {
        let mut dag = Dag::new();
        for (steps, times) in runs {
            let run: Vec<_> = steps.iter().copied().map(StepId).collect();
            for _ in 0..*times {
                assert!(dag.add(&run));
            }
        }
        dag
    }

    #[test]
    fn expected_steps_and_the_way_to_the_goal_are_those_of_the_chain() {
        // START → 0 → {1 (5 of 8 with Laplace), 2 → 1'…}: by hand, with counts 4 and 2.
        let dag = graph(&[(&[0, 1], 4), (&[0, 2, 3], 2)]);
        let ahead = dag.absorption(|_| 1.0);
        let start = ahead[&Dag::START];
        assert!((start.expected_steps - (1.0 + 5.0 / 8.0 + 2.0 * 3.0 / 8.0)).abs() < 1e-12);
        assert!((start.reaches_goal - 1.0).abs() < 1e-12);
        let way: Vec<_> = dag.most_probable_path().iter().map(|id| dag.node(*id).unwrap().step.unwrap().0).collect();
        assert_eq!(way, [0, 1]);
    }

    #[test]
    fn a_step_that_fails_half_the_time_halves_the_ways_through_it() {
        let dag = graph(&[(&[0, 1], 4), (&[0, 2], 4)]);
        let second = dag.path(&[StepId(0), StepId(2)]).unwrap()[1];
        let ahead = dag.absorption(|id| if id == second { 0.5 } else { 1.0 });
        assert!((ahead[&Dag::START].reaches_goal - 0.75).abs() < 1e-12);
    }

    #[test]
    fn a_graph_without_a_run_reaches_nothing() {
        let dag = Dag::new();
        assert_eq!(dag.absorption(|_| 1.0)[&Dag::START].reaches_goal, 0.0);
        assert!(dag.most_probable_path().is_empty());
    }
}
