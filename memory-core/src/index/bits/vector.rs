//! The append-only bit vector with select: what ends where.

use super::samples::Samples;
use super::{BLOCK_WORDS, Block, Chunks, select_in_word};

/// Bits of data in a block.
const BLOCK_BITS: usize = (BLOCK_WORDS - 1) * 64;

/// An append-only bit vector; [`Self::snapshot`] gives readers a state of it.
///
/// Word 0 of each block counts the ones before it: 6.7 % more than the bits. Append is O(1) amortised, select
/// searches the blocks between two samples.
#[derive(Debug, Default)]
pub struct BitVector {
    state: BitView,
}

/// A state of a [`BitVector`]: immutable, cheap to clone, unaffected by what is appended later.
#[derive(Debug, Clone, Default)]
pub struct BitView {
    blocks: Chunks<Block, 64>,
    ones_at: Samples,
    len: usize,
    ones: usize,
}

impl BitVector {
    /// Bits at most: 2^40.
    pub const MAX_LEN: usize = 1 << 40;

    /// A vector without bits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a bit. Beyond [`Self::MAX_LEN`] bits it is a bug of the caller and panics.
    pub fn push(&mut self, bit: bool) {
        let state = &mut self.state;
        assert!(state.len < Self::MAX_LEN, "the owner bounds what it appends");
        let (block, place) = (state.len / BLOCK_BITS, state.len % BLOCK_BITS);
        if place == 0 {
            state.blocks.reach(block);
            state.blocks.get(block).set_word(0, state.ones as u64);
        }
        if bit {
            let block = state.blocks.get(block);
            let word = 1 + place / 64;
            block.set_word(word, block.word(word) | 1 << (place % 64));
        }
        if bit {
            state.ones_at.note(state.ones, block);
            state.ones += 1;
        }
        state.len += 1;
    }

    /// The state now, for the writer's own questions.
    pub fn view(&self) -> &BitView {
        &self.state
    }

    /// The state now, for readers.
    pub fn snapshot(&self) -> BitView {
        self.state.clone()
    }
}

impl Extend<bool> for BitVector {
    fn extend<I: IntoIterator<Item = bool>>(&mut self, bits: I) {
        for bit in bits {
            self.push(bit);
        }
    }
}

impl BitView {
    /// How many ones.
    pub fn ones(&self) -> usize {
        self.ones
    }

    /// Returns the position of the `k`-th one (from 0), if there are so many.
    pub fn select1(&self, k: usize) -> Option<usize> {
        (k < self.ones).then(|| {
            let (first, last) = self.ones_at.between(k, self.ones, self.last_block());
            self.select_between(first, last, k)
        })
    }

    /// Bytes that the vector takes.
    pub fn bytes(&self) -> usize {
        self.blocks.bytes() + self.ones_at.bytes()
    }

    fn last_block(&self) -> usize {
        (self.len - 1) / BLOCK_BITS
    }

    /// The `k`-th one, known to lie in the blocks `first` to `last`.
    fn select_between(&self, mut first: usize, mut last: usize, k: usize) -> usize {
        let before = |block: usize| self.blocks.get(block).word(0) as usize;
        while first < last {
            let middle = first + (last - first).div_ceil(2);
            if before(middle) <= k {
                first = middle;
            } else {
                last = middle - 1;
            }
        }
        let block = self.blocks.get(first);
        let mut rest = k - before(first);
        for index in 1..BLOCK_WORDS {
            let word = block.word(index);
            let count = word.count_ones() as usize;
            if rest < count {
                let rest = u32::try_from(rest).expect("a word has 64 bits");
                return first * BLOCK_BITS + (index - 1) * 64 + select_in_word(word, rest) as usize;
            }
            rest -= count;
        }
        unreachable!("the block was chosen because it holds the bit")
    }
}
