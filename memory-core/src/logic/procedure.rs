//! A procedure: the Logic Node N = (id, c, I, G, F) of NS-Mem 4.1 with its links to the sessions behind it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{ACCEPT_SCORE, Dag, NodeId, PrototypeIndex, Run, Step, StepId, normalise};
use crate::EventId;

mod growth;
#[cfg(test)]
mod tests;
mod wording;

/// The stable id of a procedure, written `p-7`: the number of the event at which it was founded, so that a rebuild
/// after forgetting does not renumber the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcedureId(pub u64);

impl fmt::Display for ProcedureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p-{}", self.0)
    }
}

impl FromStr for ProcedureId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix("p-").unwrap_or(text).parse().map(Self)
    }
}

/// A text as it was told, and the step that it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wording {
    pub text: String,
    pub step: StepId,
    /// The program that told it as an action first. One program's action names are a vocabulary: two of them never mean
    /// one step.
    pub source: Option<String>,
}

/// A distinct order of steps with how many sessions took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Actions, in order, repeats included.
    pub steps: Vec<StepId>,
    /// How many sessions did just that.
    pub count: u32,
}

/// A goal, the ways to it, and the sessions that show them.
#[derive(Debug, Clone, PartialEq)]
pub struct Procedure {
    pub(super) id: ProcedureId,
    pub(super) goal: String,
    pub(super) named: bool,
    pub(super) score: Option<f32>,
    /// How many actions it had when it was verified last.
    pub(super) reviewed: u32,
    pub(super) index: PrototypeIndex,
    pub(super) steps: Vec<Step>,
    pub(super) wordings: Vec<Wording>,
    pub(super) by_wording: BTreeMap<String, u32>,
    pub(super) by_key: BTreeMap<String, StepId>,
    pub(super) names: Vec<String>,
    pub(super) by_name: BTreeMap<String, u32>,
    /// Number of bytes of the names.
    pub(super) name_bytes: usize,
    pub(super) dag: Dag,
    pub(super) runs: BTreeMap<EventId, Run>,
}

impl Procedure {
    /// A procedure that nobody was seen doing yet. `named`: the goal was told, not made from steps.
    pub fn new(id: ProcedureId, goal: impl Into<String>, named: bool) -> Self {
        Self {
            id,
            goal: goal.into(),
            named,
            score: None,
            reviewed: 0,
            index: PrototypeIndex::default(),
            steps: Vec::new(),
            wordings: Vec::new(),
            by_wording: BTreeMap::new(),
            by_key: BTreeMap::new(),
            names: Vec::new(),
            by_name: BTreeMap::new(),
            name_bytes: 0,
            dag: Dag::new(),
            runs: BTreeMap::new(),
        }
    }

    /// Its id.
    pub fn id(&self) -> ProcedureId {
        self.id
    }

    /// The goal as told, or one made from the steps.
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// Whether somebody told the goal.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// How sure verification is that this is a procedure, 0 to 1; `None` for a told goal that there is nothing to judge by
    /// yet, and for a candidate that nobody named.
    pub fn score(&self) -> Option<f32> {
        self.score
    }

    /// Whether it counts as a procedure: it passed verification, or its goal was told and nothing speaks against it.
    pub fn is_established(&self) -> bool {
        self.score.map_or(self.named, |score| f64::from(score) > ACCEPT_SCORE)
    }

    /// Returns the embeddings of its goal and its steps in the space of φ.
    pub fn index(&self) -> &PrototypeIndex {
        &self.index
    }

    /// Every step, by number. A step that no session does any more keeps its number and counts 0.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The step of that number.
    pub fn step(&self, id: StepId) -> Option<&Step> {
        self.steps.get(id.0 as usize)
    }

    /// Returns the step with that text among its wordings; case, spaces and final punctuation do not matter.
    pub fn find_step(&self, text: &str) -> Option<StepId> {
        self.by_key.get(&normalise(text)).copied()
    }

    /// Steps, their order, counts and probabilities.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// The sessions it was seen in, in the order in which they began: the episodic links.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = &Run> + DoubleEndedIterator {
        self.runs.values()
    }

    /// Number of sessions.
    pub fn sessions(&self) -> usize {
        self.runs.len()
    }

    /// The name of that number, as told; see [`Run::persons`].
    pub fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(String::as_str)
    }

    /// The probability that a node's step succeeds; 1 for START and GOAL and where nobody saw it fail.
    pub fn success(&self, node: NodeId) -> f64 {
        let step = self.dag.node(node).and_then(|node| node.step).and_then(|id| self.step(id));
        step.map_or(1.0, |step| step.success.rate())
    }

    /// The distinct orders of steps, the most frequent first, ties by the order of steps.
    pub fn variants(&self) -> Vec<Variant> {
        let mut counts: BTreeMap<&[StepId], u32> = BTreeMap::new();
        for run in self.runs.values() {
            *counts.entry(&run.steps).or_default() += 1;
        }
        let mut variants: Vec<_> =
            counts.into_iter().map(|(steps, count)| Variant { steps: steps.to_vec(), count }).collect();
        variants.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.steps.cmp(&b.steps)));
        variants
    }
}
