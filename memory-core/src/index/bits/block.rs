//! Two cache lines: a word of counts, and fifteen of data.

use std::sync::atomic::{AtomicU64, Ordering};

/// Words in a block.
pub(in crate::index) const BLOCK_WORDS: usize = 16;

/// Sixteen words; by convention word 0 counts what lies before the block and the others hold data.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(in crate::index) struct Block([AtomicU64; BLOCK_WORDS]);

impl Block {
    /// Word `index`, below [`BLOCK_WORDS`].
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        self.0[index].load(Ordering::Relaxed)
    }

    /// Replaces a word. Only the writer may.
    #[inline]
    pub fn set_word(&self, index: usize, word: u64) {
        self.0[index].store(word, Ordering::Relaxed);
    }
}
