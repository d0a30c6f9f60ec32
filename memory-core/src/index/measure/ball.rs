//! What a Hamming ball finds of the vectors that are as near as its radius says (HIPPOCAMPUS, Appendix F), and what it leaves to be
//! compared exactly.

use std::collections::HashSet;

use super::super::CompressedIndex;
use super::super::SearchQuery;
use super::super::signature::{quantise, radius};

/// Cosines that the radius is made for.
const COSINES: [f32; 3] = [0.4, 0.5, 0.6];
/// Addition to the share of bits that may differ.
const MARGINS: [f32; 3] = [0.0, 0.03, 0.06];
/// Questions that are compared with every vector.
const COMPARED: usize = 20;

/// One radius.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ball {
    /// The cosine that it is made for, and the margin.
    pub cosine: f32,
    /// Margin in favour of recall.
    pub margin: f32,
    /// Bits that may differ.
    pub radius: usize,
    /// Vectors of at least that cosine, a question.
    pub near: f64,
    /// Share of them inside the ball.
    pub recall: f64,
    /// Share of all vectors inside the ball: what is left to be compared.
    pub inside: f64,
}

impl Ball {
    pub(super) fn line(&self) -> String {
        format!(
            "  ball of cosine {:.1}, margin {:.2}  radius {}: {:.4} of {:.0} as near; {:.5} of all are inside",
            self.cosine, self.margin, self.radius, self.recall, self.near, self.inside
        )
    }
}

/// Balls round some questions, with all `vectors` to compare.
pub(super) fn balls(index: &CompressedIndex, vectors: &[f32], queries: &[SearchQuery]) -> Vec<Ball> {
    let Some(planes) = &index.state.planes else { return Vec::new() };
    let table = &index.state.signatures;
    let mut balls: Vec<Ball> = Vec::new();
    for cosine in COSINES {
        for margin in MARGINS {
            balls.push(Ball {
                cosine,
                margin,
                radius: radius(cosine, margin, planes.options().bits()),
                ..Ball::default()
            });
        }
    }
    let asked = || queries.iter().take(COMPARED).filter_map(|query| query.embedding.as_deref());
    let mut counts = vec![(0_usize, 0_usize, 0_usize); balls.len()];
    for question in asked() {
        let Some(signature) = quantise(question).and_then(|vector| planes.signature(&vector)) else { continue };
        let cosines: Vec<f32> = vectors
            .chunks_exact(question.len().max(1))
            .map(|vector| vector.iter().zip(question).map(|(a, b)| a * b).sum())
            .collect();
        for (ball, (near, found, inside)) in balls.iter().zip(&mut counts) {
            let held: HashSet<u32> =
                table.nearest(&signature, cosines.len(), ball.radius).into_iter().map(|(ordinal, _)| ordinal).collect();
            let as_near = || (0_u32..).zip(&cosines).filter(|(_, cosine)| **cosine >= ball.cosine);
            *near += as_near().count();
            *found += as_near().filter(|(ordinal, _)| held.contains(ordinal)).count();
            *inside += held.len();
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    for (ball, (near, found, inside)) in balls.iter_mut().zip(counts) {
        (ball.near, ball.recall) = (share(near, asked().count()), share(found, near));
        ball.inside = share(inside, table.len() * asked().count());
    }
    balls
}
