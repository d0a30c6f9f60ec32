//! The best candidates found so far.

/// A candidate and its scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScoredDocument {
    pub ordinal: u32,
    /// Fused.
    pub score: f32,
    /// BM25 by itself and in context, as shares of the most that the question's words can give.
    pub own: f32,
    pub context: f32,
}

/// Keeps the best `limit` candidates, ties by ordinal, which is the order of ids.
pub(super) struct Best {
    limit: usize,
    /// At most twice the limit.
    kept: Vec<ScoredDocument>,
    threshold: f32,
}

impl Best {
    pub fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), threshold: f32::NEG_INFINITY }
    }

    /// Returns the score that a candidate needs to be among the best, as far as is known.
    pub fn threshold(&self) -> f32 {
        self.threshold
    }

    pub fn offer(&mut self, candidate: ScoredDocument) {
        if candidate.score < self.threshold {
            return;
        }
        self.kept.push(candidate);
        // The first time as soon as there are enough: a threshold saves work from then on.
        let enough = if self.threshold == f32::NEG_INFINITY { self.limit } else { self.limit + self.limit / 2 + 1 };
        if self.kept.len() >= enough {
            self.kept.select_nth_unstable_by(self.limit - 1, order);
            self.kept.truncate(self.limit);
            self.threshold = self.kept[self.limit - 1].score;
        }
    }

    pub fn finish(mut self) -> Vec<ScoredDocument> {
        self.kept.sort_unstable_by(order);
        self.kept.truncate(self.limit);
        self.kept
    }
}

fn order(a: &ScoredDocument, b: &ScoredDocument) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.ordinal.cmp(&b.ordinal))
}
