//! The posting lists of all words, intersected segment by segment as sets of bits.

use super::compiled::Compiled;
use crate::index::postings::{SEGMENT, SegmentPostings};
use crate::index::search::Snapshot;
use crate::index::search::filter::{Filter, Mask};

/// Words of 64 bits for the documents of a segment.
const BITS: usize = SEGMENT as usize / 64;

/// The visible documents that pass the filter, hold every wanted word and none of the excluded ones, in order.
pub(super) fn documents(compiled: &Compiled, filter: &Filter<'_>, snapshot: &Snapshot) -> Vec<u32> {
    let state = &snapshot.state;
    let mut words = compiled.wanted.clone();
    words.sort_by_key(|word| word.occurrences);
    // Without a word the filter alone decides, and passes over blocks that it excludes.
    let mask = if words.is_empty() { Mask::from_filter(filter, state) } else { None };
    let mut found = Vec::new();
    let (mut left, mut held) = (vec![0_u64; BITS], vec![0_u64; BITS]);
    for (first, segment) in (0_u32..).step_by(SEGMENT as usize).zip(state.postings.segments()) {
        match words.split_first() {
            Some((rarest, others)) => {
                load(&segment, rarest.symbol, &mut left);
                for word in others {
                    if left.iter().all(|bits| *bits == 0) {
                        break;
                    }
                    load(&segment, word.symbol, &mut held);
                    left.iter_mut().zip(&held).for_each(|(left, held)| *left &= held);
                }
            }
            None => left.iter_mut().zip(0..).for_each(|(left, at)| {
                *left = mask.as_ref().map_or(0, |mask| mask.word(first / 64 + at));
            }),
        }
        for symbol in &compiled.excluded {
            if left.iter().all(|bits| *bits == 0) {
                break;
            }
            load(&segment, *symbol, &mut held);
            left.iter_mut().zip(&held).for_each(|(left, held)| *left &= !held);
        }
        for (bits, at) in left.iter().zip(0_u32..) {
            let mut bits = bits & !state.hidden.word(first / 64 + at);
            while bits != 0 {
                found.push(first + at * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
    if words.is_empty() { found } else { filter.admitted(state, found) }
}

/// The documents of a segment that hold a symbol.
fn load(segment: &SegmentPostings<'_>, symbol: u32, bits: &mut [u64]) {
    bits.fill(0);
    segment.for_each_run(symbol, &mut |places, _| {
        places.iter().for_each(|place| bits[usize::from(*place) / 64] |= 1 << (place % 64));
    });
}
