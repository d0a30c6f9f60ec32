//! The first of the documents that match.

use super::compiled::Compiled;
use crate::index::compressed::IndexState;
use crate::index::entries::BLOCK;
use crate::index::fusion::{K1, saturation};
use crate::index::postings::SEGMENT;
use crate::index::search::Snapshot;
use crate::index::search::listing::best_key;
use crate::word_search::WordHit;

/// Number of documents up to which their terms are read one by one. Above it, whole posting lists are.
const MAX_SORTED: usize = 2_048;

/// The latest documents of those that are given in order.
pub(super) fn newest(found: &[u32], limit: usize, state: &IndexState) -> Vec<WordHit> {
    let block_of = |ordinal: u32| ordinal as usize / BLOCK;
    // Blocks from the most promising on, until none can hold what comes before the last that is kept.
    let mut blocks: Vec<(i64, &[u32])> = found
        .chunk_by(|a, b| block_of(*a) == block_of(*b))
        .map(|held| (best_key(&state.entries.blocks()[block_of(held[0])], true), held))
        .collect();
    blocks.sort_unstable_by_key(|(best, _)| *best);
    let mut kept: Vec<((i64, i64), u32)> = Vec::new();
    let mut last = None;
    for (best, held) in blocks {
        if limit == 0 || last.is_some_and(|last: (i64, i64)| best > last.0) {
            break;
        }
        for ordinal in held {
            let key = (state.entries.span(*ordinal).end.as_micros().saturating_neg(), -i64::from(*ordinal));
            if last.is_none_or(|last| key < last) {
                kept.push((key, *ordinal));
            }
        }
        if kept.len() >= limit {
            kept.select_nth_unstable(limit - 1);
            kept.truncate(limit);
            last = Some(kept[limit - 1].0);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|(_, ordinal)| hit(ordinal, 0.0, state)).collect()
}

/// The documents with the highest score, of equals the latest.
pub(super) fn relevance(found: &[u32], limit: usize, compiled: &Compiled, snapshot: &Snapshot) -> Vec<WordHit> {
    let state = &snapshot.state;
    let most: f32 = compiled.wanted.iter().map(|word| word.idf * (K1 + 1.0)).sum();
    let scores = if found.len() <= MAX_SORTED {
        one_by_one(found, compiled, snapshot)
    } else {
        by_lists(found, compiled, snapshot)
    };
    let mut ranked: Vec<(f32, u32)> = scores.into_iter().zip(found.iter().copied()).collect();
    let before = |a: &(f32, u32), b: &(f32, u32)| {
        let end = |ordinal| state.entries.span(ordinal).end;
        b.0.total_cmp(&a.0).then_with(|| (end(b.1), b.1).cmp(&(end(a.1), a.1)))
    };
    if limit > 0 && limit < ranked.len() {
        ranked.select_nth_unstable_by(limit - 1, before);
    }
    ranked.truncate(limit);
    ranked.sort_unstable_by(before);
    ranked
        .into_iter()
        .map(|(score, ordinal)| hit(ordinal, if most > 0.0 { score / most } else { 0.0 }, state))
        .collect()
}

fn hit(ordinal: u32, score: f32, state: &IndexState) -> WordHit {
    let entry = state.entries.get(ordinal);
    WordHit { id: entry.id, episode: entry.episode, score }
}

fn worth(frequency: u8, idf: f32, ordinal: u32, snapshot: &Snapshot) -> f32 {
    idf * saturation(frequency.into(), snapshot.state.links.length(ordinal).into(), snapshot.means().own)
}

fn one_by_one(found: &[u32], compiled: &Compiled, snapshot: &Snapshot) -> Vec<f32> {
    let score = |ordinal: &u32| {
        let symbols = snapshot.terms.symbols(snapshot.state.terms_of(*ordinal, &snapshot.terms));
        let of_word = |symbol: u32| symbols.iter().filter(|held| **held == symbol).count();
        let words = compiled.wanted.iter();
        words.fold(0.0, |score, word| {
            // Postings count up to 255.
            score + worth(u8::try_from(of_word(word.symbol)).unwrap_or(u8::MAX), word.idf, *ordinal, snapshot)
        })
    };
    found.iter().map(score).collect()
}

fn by_lists(found: &[u32], compiled: &Compiled, snapshot: &Snapshot) -> Vec<f32> {
    let mut scores = vec![0.0; found.len()];
    let segments: Vec<_> = snapshot.state.postings.segments().collect();
    let mut at = 0;
    for held in found.chunk_by(|a, b| a / SEGMENT == b / SEGMENT) {
        let segment = held[0] / SEGMENT;
        let scores = &mut scores[at..at + held.len()];
        at += held.len();
        for word in &compiled.wanted {
            // Both are in order.
            let mut next = 0;
            segments[segment as usize].for_each_run(word.symbol, &mut |places, frequencies| {
                for (place, frequency) in places.iter().zip(frequencies) {
                    let ordinal = segment * SEGMENT + u32::from(*place);
                    while next < held.len() && held[next] < ordinal {
                        next += 1;
                    }
                    if held.get(next) == Some(&ordinal) {
                        scores[next] += worth(*frequency, word.idf, ordinal, snapshot);
                    }
                }
            });
        }
    }
    scores
}
