//! The index vectors of a procedure (NS-Mem 4.1, 4.2.2): the embeddings of its goal and its steps.

use serde::{Deserialize, Serialize};

use super::Embedding;
use crate::centroid::absorb;

/// An index vector with the anchor that bounds its drift.
///
/// It is a [centroid](crate::centroid) whose drift is kept, in the fixed point of an [`Embedding`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prototype {
    anchor: Embedding,
    drift: Embedding,
    index: Embedding,
}

impl Prototype {
    /// Founds a prototype on its first embedding.
    pub fn new(anchor: Embedding) -> Self {
        Self { drift: anchor.clone(), index: anchor.clone(), anchor }
    }

    /// The vector that queries are compared with.
    pub fn vector(&self) -> &Embedding {
        &self.index
    }

    /// Returns the embedding that it was founded on.
    pub fn anchor(&self) -> &Embedding {
        &self.anchor
    }

    /// One observation by Eq. 1 with `keep` for its β, in O(d). An embedding of another space, or one that points away from
    /// the anchor, changes nothing and gives `false`.
    pub fn refine(&mut self, observed: &Embedding, keep: f32) -> bool {
        let vector = |embedding: &Embedding| embedding.components().collect::<Vec<f32>>();
        let absorbed = absorb(&vector(&self.drift), &vector(&self.anchor), &vector(observed), keep);
        let quantised = |(drift, index): (Vec<f32>, Vec<f32>)| {
            Some((Embedding::from_vector(&drift)?, Embedding::from_vector(&index)?))
        };
        let Some((drift, index)) = absorbed.and_then(quantised) else { return false };
        (self.drift, self.index) = (drift, index);
        true
    }
}

/// The dual index I = {i_goal, i_step}; a part is absent while no embedding was given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PrototypeIndex {
    /// i_goal = φ(goal).
    pub goal: Option<Prototype>,
    /// i_step = mean φ(step).
    pub step: Option<Prototype>,
}

impl PrototypeIndex {
    /// α of Eq. 3: the weight of the goal.
    pub const GOAL_WEIGHT: f32 = 0.3;

    /// Eq. 3: `α · cos(q, i_goal) + (1 − α) · cos(q, i_step)`, over the parts that exist; `None` if there is none.
    pub fn similarity(&self, query: &Embedding) -> Option<f32> {
        self.mixture(Some(query), Some(query))
    }

    /// Eq. 3 with an embedding of its own for each part, for observations whose goal was told.
    pub fn mixture(&self, goal: Option<&Embedding>, step: Option<&Embedding>) -> Option<f32> {
        let cosine = |part: &Option<Prototype>, query: Option<&Embedding>| part.as_ref()?.vector().cosine(query?);
        match (cosine(&self.goal, goal), cosine(&self.step, step)) {
            (Some(goal), Some(step)) => Some(Self::GOAL_WEIGHT * goal + (1.0 - Self::GOAL_WEIGHT) * step),
            (one, other) => one.or(other),
        }
    }
}
