//! The logical levels, as a static wavelet matrix has them.

use super::MatrixView;
use super::digits::{WORD_DIGITS, bits, digit_in};

impl MatrixView {
    /// How many levels: ⌈log₂σ⌉.
    pub fn levels(&self) -> u32 {
        bits(self.sigma)
    }

    /// The bits of a level (0 is the top one) in the order of the wavelet matrix: bit `level` of every symbol, counted from
    /// the most significant of ⌈log₂σ⌉, the symbols sorted stably by their reversed bits above. For verifying and exporting;
    /// O(n).
    ///
    /// # Panics
    /// If there is no such level.
    pub fn level(&self, level: u32) -> Vec<bool> {
        assert!(level < self.levels(), "level {level} of {}", self.levels());
        let mut out = Vec::with_capacity(self.len);
        for reversed in 0..1_u32 << level {
            let prefix = if level == 0 { 0 } else { reversed.reverse_bits() >> (u32::BITS - level) };
            self.block(level, prefix, &mut out);
        }
        out
    }

    /// The bits of one block: those of the symbols whose upper `level` bits are `prefix`.
    fn block(&self, level: u32, prefix: u32, out: &mut Vec<bool>) {
        // Digits are pairs of bits; the top digit of an odd number of bits has only its lower one.
        let below = self.levels() - 1 - level;
        let height = (below / 2) as usize;
        let upper = below % 2 == 1;
        let node = if upper { prefix } else { prefix >> 1 };
        let mut len = self.len;
        for above in (height + 1..self.tree.heights.len()).rev() {
            let symbol = u64::from(node) << (2 * (height + 1)) >> (2 * above);
            len = self.tree.rank(above, (symbol >> 2) as usize, len, (symbol & 3) as usize);
        }
        let not_stored = self.tree.heights[height].prefix_of(node as usize);
        for place in 0..len {
            let digit = match place.checked_sub(not_stored) {
                None => 0,
                Some(place) => {
                    let word = self.tree.word(height, node as usize, place / WORD_DIGITS);
                    digit_in(word, place % WORD_DIGITS) as u32
                }
            };
            if upper {
                out.push(digit >> 1 == 1);
            } else if digit >> 1 == prefix & 1 {
                out.push(digit & 1 == 1);
            }
        }
    }
}
