//! Which documents are hidden.

use std::sync::Arc;

/// A set of ordinals; clones are states.
#[derive(Debug, Clone, Default)]
pub(in crate::index) struct HiddenSet {
    words: Arc<Vec<u64>>,
    count: u32,
}

impl HiddenSet {
    /// Returns whether it was visible before.
    pub fn insert(&mut self, ordinal: u32) -> bool {
        if self.contains(ordinal) {
            return false;
        }
        let words = Arc::make_mut(&mut self.words);
        let word = ordinal as usize / 64;
        if word >= words.len() {
            words.resize(word + 1, 0);
        }
        words[word] |= 1 << (ordinal % 64);
        self.count += 1;
        true
    }

    pub fn contains(&self, ordinal: u32) -> bool {
        self.count > 0 && self.words.get(ordinal as usize / 64).is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether any of the documents in `range`, whose ends are multiples of 64, is hidden.
    pub fn any_in(&self, range: std::ops::Range<u32>) -> bool {
        self.count > 0 && (range.start / 64..range.end.div_ceil(64)).any(|word| self.word(word) != 0)
    }

    /// The documents `64 * word ..` as bits.
    pub fn word(&self, word: u32) -> u64 {
        self.words.get(word as usize).copied().unwrap_or(0)
    }

    /// The ordinals, in order.
    pub fn ordinals(&self) -> Vec<u32> {
        let words = self.words.iter().zip(0_u32..);
        words
            .flat_map(|(bits, word)| (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit))
            .collect()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.words.len() * 8
    }
}
