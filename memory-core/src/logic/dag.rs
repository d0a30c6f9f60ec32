//! The procedural DAG G = (V, E, A) of NS-Mem 4.1, kept acyclic while variants swap the order of steps.
//!
//! A node is a step in a context: the n-th occurrence of the step in a run, and, where two runs do the same steps in
//! opposite orders, one copy for each side of the swap. Four invariants hold after every change:
//!
//! 1. The graph is acyclic: an edge never leads back in the topological order, which is repaired locally (Pearce and
//!    Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", 2006).
//! 2. Every run that was added is a path START → GOAL.
//! 3. Every edge was made by somebody: it carries the number of runs that went along it, and none is 0.
//! 4. A node has at most one edge to each (step, occurrence), so a run has exactly one path and can be taken back.
//!
//! A path may combine the beginning of one run with the end of another; that is what a procedure is for. It never uses a
//! transition nobody made. Where occurrences matter, a path is *consistent* if the n-th visit of a step is at a node of
//! occurrence n; observed runs always are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::StepId;

/// A node's number within its graph. Numbers of nodes that vanished are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// The pseudo-count of the Dirichlet prior on each edge that exists (Laplace).
const LAPLACE: f64 = 1.0;

/// A transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Target of the edge.
    pub to: NodeId,
    /// N_ij: how many runs made it, at least 1.
    pub count: u32,
}

/// A step in a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The step; `None` for START and GOAL.
    pub step: Option<StepId>,
    /// Which occurrence of the step in a run, from 1; 0 for START and GOAL.
    pub occurrence: u16,
    /// How many runs came through.
    pub visits: u32,
    /// Position in the topological order; unique among the nodes in use, not gapless.
    pub position: u32,
    out: Vec<Edge>,
    back: Vec<NodeId>,
}

impl Node {
    /// Outgoing edges, sorted by target.
    pub fn edges(&self) -> &[Edge] {
        &self.out
    }

    /// Returns the sources of the edges, sorted.
    pub fn predecessors(&self) -> &[NodeId] {
        &self.back
    }
}

/// Steps, their order and how often each transition was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "stored::StoredGraph", try_from = "stored::StoredGraph")]
pub struct Dag {
    nodes: Vec<Node>,
    /// Copies of each (step, occurrence), sorted.
    copies: BTreeMap<(StepId, u16), Vec<NodeId>>,
    /// Numbers free for use, the smallest last.
    free: Vec<NodeId>,
    /// The next position in the topological order.
    next: u32,
    /// How many edges there are.
    edges: usize,
}

impl Default for Dag {
    fn default() -> Self {
        Self::new()
    }
}

impl Dag {
    /// First node of every run.
    pub const START: NodeId = NodeId(0);
    /// Last node of every finished run.
    pub const GOAL: NodeId = NodeId(1);
    /// Maximum number of nodes. A procedure of more contexts than this is noise, and every copy costs memory.
    pub const MAX_NODES: usize = 4_096;
    /// Maximum number of edges, besides the last one of a run to GOAL: the graph is one row, whose length is limited.
    pub const MAX_EDGES: usize = 65_536;

    /// A graph of START and GOAL without an edge.
    pub fn new() -> Self {
        let end = |position| Node { step: None, occurrence: 0, visits: 0, position, out: Vec::new(), back: Vec::new() };
        Self { nodes: vec![end(0), end(u32::MAX)], copies: BTreeMap::new(), free: Vec::new(), next: 1, edges: 0 }
    }

    /// The node of that number, if it is in use.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize).filter(|node| node.step.is_some() || id == Self::START || id == Self::GOAL)
    }

    /// Every node in use, in topological order: START first, GOAL last.
    pub fn nodes(&self) -> Vec<(NodeId, &Node)> {
        let ids = (0..self.nodes.len() as u32).map(NodeId);
        let mut all: Vec<_> = ids.filter_map(|id| Some((id, self.node(id)?))).collect();
        all.sort_unstable_by_key(|(_, node)| node.position);
        all
    }

    /// Number of nodes in use, START and GOAL included.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Whether no run was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 2
    }

    /// How many nodes a step was split into: more than 1 per occurrence where variants swap its order.
    pub fn copies_of(&self, step: StepId) -> usize {
        self.copies.range((step, 0)..=(step, u16::MAX)).map(|(_, copies)| copies.len()).sum()
    }

    /// N_ij, 0 without an edge.
    pub fn count(&self, from: NodeId, to: NodeId) -> u32 {
        let Some(node) = self.node(from) else { return 0 };
        node.out.binary_search_by_key(&to, |edge| edge.to).map_or(0, |at| node.out[at].count)
    }

    /// The posterior mean of P(to | from) over the edges that exist (Eq. 8: Dirichlet, Laplace prior); 0 without an edge.
    pub fn probability(&self, from: NodeId, to: NodeId) -> f64 {
        let count = self.count(from, to);
        if count == 0 { 0.0 } else { (f64::from(count) + LAPLACE) / self.mass(from) }
    }

    /// Outgoing edges with their posterior mean probability, sorted by target; they add up to 1.
    pub fn transitions(&self, from: NodeId) -> impl Iterator<Item = (Edge, f64)> + '_ {
        let mass = self.mass(from);
        let edges = self.node(from).map_or(&[][..], |node| node.out.as_slice());
        edges.iter().map(move |edge| (*edge, (f64::from(edge.count) + LAPLACE) / mass))
    }

    fn mass(&self, from: NodeId) -> f64 {
        let edges = self.node(from).map_or(&[][..], |node| node.out.as_slice());
        edges.iter().map(|edge| f64::from(edge.count) + LAPLACE).sum()
    }

    /// The nodes of a run, START and, if it finished, GOAL not included; `None` if the run is no path.
    pub fn path(&self, run: &[StepId]) -> Option<Vec<NodeId>> {
        let (mut at, mut path) = (Self::START, Vec::with_capacity(run.len()));
        for (step, occurrence) in occurrences(run) {
            at = self.successor(at, step, occurrence)?;
            path.push(at);
        }
        Some(path)
    }

    /// Adds a finished run; `false`, and nothing changed, if the graph is full or the run is empty.
    pub fn add(&mut self, run: &[StepId]) -> bool {
        let has_room = self.len() + run.len() <= Self::MAX_NODES && self.edges + run.len() <= Self::MAX_EDGES;
        if run.is_empty() || !has_room && self.path(run).is_none() {
            return false;
        }
        let mut at = Self::START;
        self.nodes[at.0 as usize].visits += 1;
        for (step, occurrence) in occurrences(run) {
            at = self.advance(at, step, occurrence);
        }
        self.raise(at, Self::GOAL);
        self.nodes[Self::GOAL.0 as usize].visits += 1;
        true
    }

    /// Makes a run that ends at `last` (`None`: a new run) longer by one step, in O(out-degree) for a transition that
    /// exists: the work of one more observation of an unfinished session, which counts as reaching GOAL until it goes on.
    ///
    /// Gives the node of the step; `None`, with nothing changed, if the graph is full.
    pub fn extend(&mut self, last: Option<NodeId>, step: StepId, occurrence: u16) -> Option<NodeId> {
        let from = last.unwrap_or(Self::START);
        let is_full = self.len() >= Self::MAX_NODES || self.edges >= Self::MAX_EDGES;
        if is_full && self.successor(from, step, occurrence).is_none() {
            return None;
        }
        match last {
            Some(last) => self.lower(last, Self::GOAL),
            None => {
                self.nodes[Self::START.0 as usize].visits += 1;
                self.nodes[Self::GOAL.0 as usize].visits += 1;
            }
        }
        let to = self.advance(from, step, occurrence);
        self.raise(to, Self::GOAL);
        Some(to)
    }

    /// Takes a finished run back, with the edges and nodes that only it had made; `false` if it is no path.
    pub fn remove(&mut self, run: &[StepId]) -> bool {
        let Some(path) = self.path(run) else { return false };
        if path.last().is_none_or(|last| self.count(*last, Self::GOAL) == 0) {
            return false;
        }
        let mut at = Self::START;
        self.leave(at);
        for node in path.iter().copied().chain([Self::GOAL]) {
            self.lower(at, node);
            self.leave(node);
            at = node;
        }
        let mut unused: Vec<_> = path.into_iter().filter(|id| self.nodes[id.0 as usize].visits == 0).collect();
        unused.sort_unstable();
        for id in unused {
            self.discard(id);
        }
        true
    }

    fn successor(&self, from: NodeId, step: StepId, occurrence: u16) -> Option<NodeId> {
        let node = self.node(from)?;
        let is_it = |to: NodeId| {
            let node = &self.nodes[to.0 as usize];
            node.step == Some(step) && node.occurrence == occurrence
        };
        node.out.iter().map(|edge| edge.to).find(|to| is_it(*to))
    }

    /// Goes on from a node to the copy of the step that the run belongs to, making the edge or a copy where needed.
    fn advance(&mut self, from: NodeId, step: StepId, occurrence: u16) -> NodeId {
        let to = self.successor(from, step, occurrence).unwrap_or_else(|| self.place(from, step, occurrence));
        self.raise(from, to);
        self.nodes[to.0 as usize].visits += 1;
        to
    }

    /// The busiest copy that an edge from `from` may lead to without closing a cycle, or a new one.
    fn place(&mut self, from: NodeId, step: StepId, occurrence: u16) -> NodeId {
        let mut candidates = self.copies.get(&(step, occurrence)).cloned().unwrap_or_default();
        candidates.sort_by_key(|id| std::cmp::Reverse(self.nodes[id.0 as usize].visits));
        for to in candidates {
            if self.order(from, to) {
                return to;
            }
        }
        let position = self.next;
        self.next += 1;
        let node = Node { step: Some(step), occurrence, visits: 0, position, out: Vec::new(), back: Vec::new() };
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id.0 as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                NodeId(self.nodes.len() as u32 - 1)
            }
        };
        let copies = self.copies.entry((step, occurrence)).or_default();
        copies.push(id);
        copies.sort_unstable();
        id
    }

    /// Sees to it that `from` comes before `to` in the topological order; `false` if a path leads from `to` to `from`.
    fn order(&mut self, from: NodeId, to: NodeId) -> bool {
        let (upper, lower) = (self.nodes[from.0 as usize].position, self.nodes[to.0 as usize].position);
        if upper < lower {
            return true;
        }
        let position = |dag: &Self, id: NodeId| dag.nodes[id.0 as usize].position;
        let after = self.reach(
            to,
            |dag, id| dag.nodes[id.0 as usize].out.iter().map(|edge| edge.to).collect(),
            |at| at <= upper,
        );
        if from == to || after.contains(&from) {
            return false;
        }
        let before = self.reach(from, |dag, id| dag.nodes[id.0 as usize].back.clone(), |at| at >= lower);
        let sorted = |mut ids: Vec<NodeId>| {
            ids.sort_unstable_by_key(|id| position(self, *id));
            ids
        };
        let (before, after) = (sorted(before), sorted(after));
        let affected: Vec<NodeId> = before.into_iter().chain(after).collect();
        let mut positions: Vec<u32> = affected.iter().map(|id| position(self, *id)).collect();
        positions.sort_unstable();
        for (id, position) in affected.into_iter().zip(positions) {
            self.nodes[id.0 as usize].position = position;
        }
        true
    }

    /// Every node reached from `from`, itself included, over nodes whose position is `within`.
    fn reach(
        &self,
        from: NodeId,
        next: impl Fn(&Self, NodeId) -> Vec<NodeId>,
        within: impl Fn(u32) -> bool,
    ) -> Vec<NodeId> {
        let (mut seen, mut stack) = (std::collections::BTreeSet::from([from]), vec![from]);
        while let Some(at) = stack.pop() {
            for to in next(self, at) {
                if within(self.nodes[to.0 as usize].position) && seen.insert(to) {
                    stack.push(to);
                }
            }
        }
        seen.into_iter().collect()
    }

    fn raise(&mut self, from: NodeId, to: NodeId) {
        let out = &mut self.nodes[from.0 as usize].out;
        match out.binary_search_by_key(&to, |edge| edge.to) {
            Ok(at) => out[at].count = out[at].count.saturating_add(1),
            Err(at) => {
                out.insert(at, Edge { to, count: 1 });
                self.edges += 1;
                let back = &mut self.nodes[to.0 as usize].back;
                if let Err(at) = back.binary_search(&from) {
                    back.insert(at, from);
                }
            }
        }
    }

    fn leave(&mut self, id: NodeId) {
        let visits = &mut self.nodes[id.0 as usize].visits;
        *visits = visits.saturating_sub(1);
    }

    fn lower(&mut self, from: NodeId, to: NodeId) {
        let out = &mut self.nodes[from.0 as usize].out;
        let Ok(at) = out.binary_search_by_key(&to, |edge| edge.to) else { return };
        out[at].count -= 1;
        if out[at].count == 0 {
            out.remove(at);
            self.edges = self.edges.saturating_sub(1);
            let back = &mut self.nodes[to.0 as usize].back;
            if let Ok(at) = back.binary_search(&from) {
                back.remove(at);
            }
        }
    }

    /// Gives up a node that no run comes through any more.
    fn discard(&mut self, id: NodeId) {
        let node = &mut self.nodes[id.0 as usize];
        debug_assert!(node.out.is_empty() && node.back.is_empty(), "edges vanish with the last run along them");
        let Some(step) = node.step.take() else { return };
        let key = (step, node.occurrence);
        if let Some(copies) = self.copies.get_mut(&key) {
            copies.retain(|copy| *copy != id);
            if copies.is_empty() {
                self.copies.remove(&key);
            }
        }
        self.free.push(id);
        self.free.sort_unstable_by(|a, b| b.cmp(a));
    }
}

/// A run with each step's occurrence in it, from 1.
pub(super) fn occurrences(run: &[StepId]) -> impl Iterator<Item = (StepId, u16)> + '_ {
    let mut seen: BTreeMap<StepId, u16> = BTreeMap::new();
    run.iter().map(move |step| {
        let count = seen.entry(*step).or_default();
        *count = count.saturating_add(1);
        (*step, *count)
    })
}

mod stored;
#[cfg(test)]
mod tests;
