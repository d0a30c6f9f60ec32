//! Reads a span of the sequence.

use std::ops::Range;

use super::digits::{WORD_DIGITS, digit_in};
use super::{MatrixError, MatrixView};

impl MatrixView {
    /// Appends the symbols of a span to `out`, in order.
    ///
    /// Faster than an [`Self::access`] for each: digits that lie side by side are read together.
    ///
    /// # Errors
    /// [`MatrixError::SpanOutOfRange`]; `out` is left as it was.
    pub fn copy_range(&self, range: Range<usize>, out: &mut Vec<u32>) -> Result<(), MatrixError> {
        self.within(&range)?;
        let begin = out.len();
        out.resize(begin + range.len(), 0);
        let narrow = |slot| u32::try_from(slot).expect("a matrix has fewer than 2^32 symbols");
        let mut slots: Vec<u32> = (0..narrow(range.len())).collect();
        let mut scratch = vec![0; range.len()];
        self.fill(self.tree.heights.len(), 0, range.start, &mut slots, &mut scratch, &mut out[begin..]);
        Ok(())
    }

    /// Fills `out[slot]` for the slots of consecutive places, from `start`, of the symbols with `prefix` above `height`.
    fn fill(&self, height: usize, prefix: u32, start: usize, slots: &mut [u32], scratch: &mut [u32], out: &mut [u32]) {
        if slots.is_empty() {
            return;
        }
        if height == 0 || slots.len() == 1 {
            let symbol = if height == 0 { prefix } else { self.symbol_below(height, prefix, start) };
            for slot in slots {
                out[*slot as usize] = symbol;
            }
            return;
        }
        let height = height - 1;
        let node = prefix as usize;
        // Sort the slots stably by their digit: those of each digit are consecutive in its node below. Until then `out` holds
        // the digit.
        let mut counts = [0; 4];
        let mut word = (usize::MAX, 0);
        let not_stored = self.tree.heights[height].prefix_of(node);
        for (place, slot) in (start..).zip(slots.iter()) {
            let digit = match place.checked_sub(not_stored) {
                None => 0,
                Some(place) => {
                    if word.0 != place / WORD_DIGITS {
                        word = (place / WORD_DIGITS, self.tree.word(height, node, place / WORD_DIGITS));
                    }
                    digit_in(word.1, place % WORD_DIGITS)
                }
            };
            counts[digit] += 1;
            out[*slot as usize] = digit as u32;
        }
        let mut next = [0, counts[0], counts[0] + counts[1], counts[0] + counts[1] + counts[2]];
        for slot in slots.iter() {
            let digit = out[*slot as usize] as usize;
            scratch[next[digit]] = *slot;
            next[digit] += 1;
        }
        slots.copy_from_slice(scratch);
        let mut from = 0;
        for (digit, count) in counts.into_iter().enumerate() {
            if count > 0 {
                let place = self.tree.rank(height, node, start, digit);
                let (slots, scratch) = (&mut slots[from..from + count], &mut scratch[from..from + count]);
                self.fill(height, prefix << 2 | digit as u32, place, slots, scratch, out);
            }
            from += count;
        }
    }
}
