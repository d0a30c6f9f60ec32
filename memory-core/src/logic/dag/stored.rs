//! The stored form of a graph: nodes and edges. What follows from them is derived, and what contradicts them refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Dag, Edge, Node, NodeId, StepId};

#[derive(Serialize, Deserialize)]
pub(super) struct StoredGraph {
    nodes: Vec<StoredNode>,
    next: u32,
}

/// Step, occurrence, visits, position, outgoing edges.
type StoredNode = (Option<StepId>, u16, u32, u32, Vec<Edge>);

impl From<Dag> for StoredGraph {
    fn from(dag: Dag) -> Self {
        let node = |node: Node| (node.step, node.occurrence, node.visits, node.position, node.out);
        Self { nodes: dag.nodes.into_iter().map(node).collect(), next: dag.next }
    }
}

impl TryFrom<StoredGraph> for Dag {
    type Error = String;

    fn try_from(graph: StoredGraph) -> Result<Self, Self::Error> {
        let count = graph.nodes.len();
        if !(2..=Self::MAX_NODES).contains(&count) {
            return Err(format!("a graph of {count} nodes"));
        }
        let mut nodes: Vec<Node> = Vec::with_capacity(count);
        for (step, occurrence, visits, position, out) in graph.nodes {
            nodes.push(Node { step, occurrence, visits, position, out, back: Vec::new() });
        }
        let (mut copies, mut free) = (BTreeMap::<_, Vec<_>>::new(), Vec::new());
        for number in 0..count {
            let id = NodeId(number as u32);
            let used = number < 2 || nodes[number].step.is_some();
            if number < 2 && nodes[number].step.is_some() {
                return Err("START and GOAL are no steps".to_owned());
            }
            if !used {
                nodes[number].out.clear();
                free.push(id);
                continue;
            }
            if let Some(step) = nodes[number].step {
                copies.entry((step, nodes[number].occurrence)).or_default().push(id);
            }
            let (out, position) = (nodes[number].out.clone(), nodes[number].position);
            if !out.is_sorted_by(|a, b| a.to < b.to) {
                return Err(format!("the edges of node {number} are out of order"));
            }
            for edge in out {
                let to = nodes.get_mut(edge.to.0 as usize).ok_or("an edge leads nowhere")?;
                if edge.count == 0 || to.position <= position || (edge.to != Self::GOAL && to.step.is_none()) {
                    return Err(format!("the edge {number} → {} cannot be", edge.to.0));
                }
                to.back.push(id);
            }
        }
        free.reverse();
        let edges = nodes.iter().map(|node| node.out.len()).sum();
        Ok(Self { nodes, copies, free, next: graph.next, edges })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dag, StepId};

    /// Four hundred steps, any two of which somebody does one after the other.
    #[test]
    fn a_graph_that_is_full_of_edges_refuses_more_and_stays_below_the_ceiling_of_its_row() {
        let mut dag = Dag::new();
        let mut refused = 0;
        for first in 0..400 {
            for second in first + 1..400 {
                refused += usize::from(!dag.add(&[StepId(first), StepId(second)]));
            }
        }
        let edges: usize = dag.nodes().iter().map(|(_, node)| node.edges().len()).sum();
        assert!(refused > 0 && edges <= Dag::MAX_EDGES + dag.len(), "{refused} refused, {edges} edges");
        let bytes = postcard::to_stdvec(&dag).unwrap();
        assert!(bytes.len() < 700_000, "{} bytes", bytes.len());
        let mut again: Dag = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(again, dag);
        assert!(!again.add(&[StepId(398), StepId(399), StepId(0)]), "it is as full as it was");
        assert!(again.add(&[StepId(0), StepId(1)]), "what is there is counted on");
    }

    #[test]
    fn a_graph_is_read_back_as_it_was_and_a_damaged_one_refused() {
        let mut dag = Dag::new();
        for run in [&[0, 1, 2][..], &[1, 0, 2], &[2, 2]] {
            assert!(dag.add(&run.iter().copied().map(StepId).collect::<Vec<_>>()));
        }
        assert!(dag.remove(&[StepId(1), StepId(0), StepId(2)]));
        let bytes = postcard::to_stdvec(&dag).unwrap();
        assert_eq!(postcard::from_bytes::<Dag>(&bytes).unwrap(), dag);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x15;
            // Whatever comes back is a graph whose edges lead forward.
            if let Ok(dag) = postcard::from_bytes::<Dag>(&damaged) {
                assert!(dag.nodes().len() <= Dag::MAX_NODES);
            }
        }
    }
}
