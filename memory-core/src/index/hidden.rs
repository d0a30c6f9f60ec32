//! Which documents are hidden.

use std::sync::Arc;

/// A set of ordinals; clones are states.
#[derive(Debug, Clone, Default)]
pub(super) struct HiddenSet {
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
}
