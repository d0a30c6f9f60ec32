//! Which plan is cheaper, by the counts that rank gives.

use super::compiled::Compiled;
use crate::index::search::Snapshot;
use crate::word_search::WordPlan;

/// Relative costs, in nanoseconds on the machine where `engram bench index` compared both plans at 1,000,000 entries. Only their
/// ratios matter.
///
/// Finding one occurrence of the rarest word, and the event around it.
const OCCURRENCE_NS: f64 = 1_500.0;
/// Cost of two ranks, which say whether an event holds another word.
const RANK_PAIR_NS: f64 = 900.0;
/// Decoding one posting and setting its bit.
const POSTING_NS: f64 = 2.0;
/// Looking a word up in one segment of the postings and combining the bits.
const SEGMENT: f64 = 600.0;

/// The cheaper plan.
pub(super) fn cheaper(compiled: &Compiled, snapshot: &Snapshot) -> WordPlan {
    // Without a word there is nothing to select.
    if compiled.wanted.is_empty() {
        return WordPlan::Postings;
    }
    let total = number(snapshot.state.entries.len() as usize).max(1.0);
    let mut occurrences: Vec<f64> = compiled.wanted.iter().map(|word| number(word.occurrences)).collect();
    occurrences.sort_unstable_by(f64::total_cmp);
    // The words are looked for from the rarest on, and the first that is missing ends it.
    let (mut looks, mut left) = (0.0, 1.0);
    for other in &occurrences[1..] {
        looks += left;
        left *= (other / total).min(1.0);
    }
    looks += left * number(compiled.excluded.len());
    let rank = occurrences[0] * (OCCURRENCE_NS + looks * RANK_PAIR_NS);
    let lists = number(compiled.wanted.len() + compiled.excluded.len());
    let decoded = occurrences.iter().sum::<f64>()
        + compiled
            .excluded
            .iter()
            .map(|symbol| number(snapshot.terms.matrix().count(*symbol).unwrap_or(0)))
            .sum::<f64>();
    let segments = number(snapshot.state.postings.segments().count());
    let postings = decoded * POSTING_NS + lists * segments * SEGMENT;
    if rank < postings { WordPlan::Rank } else { WordPlan::Postings }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn number(count: usize) -> f64 {
    count as f64
}
