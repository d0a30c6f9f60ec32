//! The index vectors of a procedure (NS-Mem 4.1, 4.2.2): the embeddings of its goal and its steps.

use serde::{Deserialize, Serialize};

use super::Embedding;

/// β of Eq. 1: what an index keeps of itself at each observation.
pub const BETA: f32 = 0.9;

/// How much of a refined index is its drift; the rest is its anchor. Bounds the angle between the two: with the drift
/// anywhere, the index keeps a cosine of at least 0 to the anchor only if the drift turns against it, and observations
/// that pass the gate never do (cosine > 0 to the index), so it stays inside the anchor's half space.
const DRIFT: f32 = 0.7;

/// An index vector with the anchor that bounds its drift.
///
/// Pure EMA (Eq. 1) forgets where it began: after 50 observations 0.5 % of the origin is left, and a run of off-topic
/// observations carries the index away for good. Here the index is `normalise(0.7 · drift + 0.3 · anchor)`, with the drift
/// following Eq. 1 and the anchor staying as founded.
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

    /// What it was founded on.
    pub fn anchor(&self) -> &Embedding {
        &self.anchor
    }

    /// One observation by Eq. 1 with `keep` for its β, in O(d). An embedding of another space changes nothing and gives
    /// `false`.
    pub fn refine(&mut self, observed: &Embedding, keep: f32) -> bool {
        let Some(drift) = blend(&self.drift, observed, keep) else { return false };
        let Some(index) = blend(&drift, &self.anchor, DRIFT) else { return false };
        (self.drift, self.index) = (drift, index);
        true
    }
}

/// `normalise(keep · a + (1 − keep) · b)`; `None` for different spaces or opposite vectors.
fn blend(a: &Embedding, b: &Embedding, keep: f32) -> Option<Embedding> {
    if a.dimensions() != b.dimensions() {
        return None;
    }
    let mixed: Vec<f32> = a.components().zip(b.components()).map(|(x, y)| keep * x + (1.0 - keep) * y).collect();
    Embedding::from_vector(&mixed)
}

/// The dual index I = {i_goal, i_step}; a part is absent while no embedding was given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Index {
    /// i_goal = φ(goal).
    pub goal: Option<Prototype>,
    /// i_step = mean φ(step).
    pub step: Option<Prototype>,
}

impl Index {
    /// α of Eq. 3: the weight of the goal.
    pub const ALPHA: f32 = 0.3;

    /// Eq. 3: `α · cos(q, i_goal) + (1 − α) · cos(q, i_step)`, over the parts that exist; `None` if there is none.
    pub fn similarity(&self, query: &Embedding) -> Option<f32> {
        self.mixture(Some(query), Some(query))
    }

    /// Eq. 3 with an embedding of its own for each part, for observations whose goal was told.
    pub fn mixture(&self, goal: Option<&Embedding>, step: Option<&Embedding>) -> Option<f32> {
        let cosine = |part: &Option<Prototype>, query: Option<&Embedding>| part.as_ref()?.vector().cosine(query?);
        match (cosine(&self.goal, goal), cosine(&self.step, step)) {
            (Some(goal), Some(step)) => Some(Self::ALPHA * goal + (1.0 - Self::ALPHA) * step),
            (one, other) => one.or(other),
        }
    }
}
