//! The invariants of the graph against the plain list of runs.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::{Dag, NodeId, occurrences};
use crate::logic::StepId;

fn run(steps: &[u32]) -> Vec<StepId> {
    steps.iter().copied().map(StepId).collect()
}

/// Everything that must hold of a graph of these runs.
fn check(dag: &Dag, runs: &[Vec<StepId>]) {
    let mut transitions: BTreeSet<(Option<StepId>, Option<StepId>)> = BTreeSet::new();
    for run in runs {
        let steps: Vec<_> = run.iter().copied().map(Some).collect();
        let whole: Vec<_> = [None].into_iter().chain(steps).chain([None]).collect();
        transitions.extend(whole.windows(2).map(|pair| (pair[0], pair[1])));
    }
    let mut walked: BTreeMap<(NodeId, NodeId), u32> = BTreeMap::new();
    for run in runs {
        let path = dag.path(run).expect("every run is a path");
        for (id, (step, occurrence)) in path.iter().zip(occurrences(run)) {
            let node = dag.node(*id).expect("a node in use");
            assert_eq!((node.step, node.occurrence), (Some(step), occurrence));
        }
        let whole: Vec<_> = [Dag::START].into_iter().chain(path).chain([Dag::GOAL]).collect();
        for pair in whole.windows(2) {
            *walked.entry((pair[0], pair[1])).or_default() += 1;
        }
    }
    let mut edges = 0;
    for (id, node) in dag.nodes() {
        let mut targets = BTreeSet::new();
        for edge in node.edges() {
            let to = dag.node(edge.to).expect("edges lead to nodes in use");
            assert!(node.position < to.position, "{id:?} → {:?} leads back", edge.to);
            assert!(transitions.contains(&(node.step, to.step)), "nobody went {:?} → {:?}", node.step, to.step);
            assert_eq!(walked.get(&(id, edge.to)), Some(&edge.count), "the count of {id:?} → {:?}", edge.to);
            assert!(to.predecessors().contains(&id));
            assert!(edge.to == Dag::GOAL || targets.insert((to.step, to.occurrence)), "two ways to one step");
            edges += 1;
        }
        if !node.edges().is_empty() {
            let total: f64 = dag.transitions(id).map(|(_, probability)| probability).sum();
            assert!((total - 1.0).abs() < 1e-12, "probabilities of {id:?} add up to {total}");
        }
    }
    assert_eq!(edges, walked.len(), "no edge that no run made");
}

#[test]
fn a_swapped_order_splits_the_step_and_keeps_both_variants() {
    let mut dag = Dag::new();
    let runs = [run(&[0, 1, 2, 3]), run(&[0, 2, 1, 3])];
    assert!(runs.iter().all(|run| dag.add(run)));
    check(&dag, &runs);
    assert_eq!(dag.copies_of(StepId(0)), 1);
    assert_eq!(dag.copies_of(StepId(1)) + dag.copies_of(StepId(2)), 3, "one of the two is split, not both");
}

#[test]
fn repeated_steps_are_numbered_occurrences() {
    let mut dag = Dag::new();
    let runs = [run(&[0, 0, 1, 0]), run(&[0, 1])];
    assert!(runs.iter().all(|run| dag.add(run)));
    check(&dag, &runs);
    assert_eq!(dag.copies_of(StepId(0)), 3);
}

#[test]
fn the_posterior_is_laplace_over_the_edges_that_exist() {
    let mut dag = Dag::new();
    for steps in [&[0, 1][..], &[0, 1], &[0, 1], &[0, 2]] {
        assert!(dag.add(&run(steps)));
    }
    let first = dag.path(&run(&[0])).unwrap()[0];
    let (one, two) = (dag.path(&run(&[0, 1])).unwrap()[1], dag.path(&run(&[0, 2])).unwrap()[1]);
    assert_eq!((dag.count(first, one), dag.count(first, two)), (3, 1));
    assert!((dag.probability(first, one) - 4.0 / 6.0).abs() < 1e-12);
    assert_eq!(dag.probability(first, Dag::GOAL), 0.0, "nobody stopped after the first step");
}

#[test]
fn a_full_graph_refuses_a_new_run_and_still_counts_a_known_one() {
    let mut dag = Dag::new();
    let long: Vec<_> = (0..Dag::MAX_NODES as u32 - 2).map(StepId).collect();
    assert!(dag.add(&long));
    assert!(!dag.add(&run(&[9_999])));
    assert!(dag.add(&long));
    assert!(!dag.add(&[]), "a run of nothing is no run");
    check(&dag, &[long.clone(), long]);
}

fn runs() -> impl Strategy<Value = Vec<Vec<StepId>>> {
    prop::collection::vec(prop::collection::vec((0_u32..6).prop_map(StepId), 1..9), 1..14)
}

proptest! {
    #[test]
    fn any_runs_leave_an_acyclic_graph_of_their_paths_and_counts(runs in runs()) {
        let mut dag = Dag::new();
        for run in &runs {
            prop_assert!(dag.add(run));
        }
        check(&dag, &runs);
    }

    #[test]
    fn extending_step_by_step_adds_the_same_run(runs in runs()) {
        let mut dag = Dag::new();
        for run in &runs {
            let mut last = None;
            for (step, occurrence) in occurrences(run) {
                last = dag.extend(last, step, occurrence);
                prop_assert!(last.is_some());
            }
        }
        check(&dag, &runs);
    }

    #[test]
    fn runs_taken_back_leave_the_graph_of_the_others(runs in runs(), gone in prop::collection::vec(any::<bool>(), 14)) {
        let mut dag = Dag::new();
        for run in &runs {
            prop_assert!(dag.add(run));
        }
        let (mut rest, mut taken) = (Vec::new(), Vec::new());
        for (run, gone) in runs.iter().zip(&gone) {
            if *gone { taken.push(run.clone()) } else { rest.push(run.clone()) }
        }
        for run in &taken {
            prop_assert!(dag.remove(run));
        }
        check(&dag, &rest);
        for run in &rest {
            prop_assert!(dag.remove(run));
        }
        prop_assert!(dag.is_empty());
        prop_assert_eq!(dag.len(), 2);
    }
}
