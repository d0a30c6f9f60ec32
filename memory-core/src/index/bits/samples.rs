//! Where every 4,096th bit of one kind lies, so that select searches between two samples only.

use std::sync::atomic::{AtomicU32, Ordering};

use super::Chunks;

/// One sample for so many bits.
pub(super) const SAMPLE_RATE: usize = 4096;

/// Blocks of the bits 0, 4,096, 8,192, … of one kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    blocks: Chunks<AtomicU32, 256>,
}

impl Samples {
    /// To be told of every bit of this kind: it is the `ordinal`-th (from 0) and lies in `block`.
    #[inline]
    pub fn note(&mut self, ordinal: usize, block: usize) {
        if ordinal.is_multiple_of(SAMPLE_RATE) {
            let sample = ordinal / SAMPLE_RATE;
            self.blocks.reach(sample);
            let block = u32::try_from(block).expect("a bit vector's length is bounded");
            self.blocks.get(sample).store(block, Ordering::Relaxed);
        }
    }

    /// The first and the last block in which bit `ordinal` can be, if there are `count` bits of the kind up to `last`.
    #[inline]
    pub fn between(&self, ordinal: usize, count: usize, last: usize) -> (usize, usize) {
        let sample = ordinal / SAMPLE_RATE;
        let next = sample + 1;
        let block = |sample: usize| self.blocks.get(sample).load(Ordering::Relaxed) as usize;
        (block(sample), if next * SAMPLE_RATE < count { block(next) } else { last })
    }

    pub fn bytes(&self) -> usize {
        self.blocks.bytes()
    }
}
