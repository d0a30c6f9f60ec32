//! The generator of inputs.

use crate::SplitMix;

/// Numbers at which lengths and counters go wrong.
const EDGES: [u64; 12] =
    [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, i64::MAX as u64, u64::MAX];

/// A source of inputs; the same for the same number of an input.
#[derive(Debug)]
pub struct Random(SplitMix);

impl Random {
    /// The generator of a target's input.
    pub fn of_input(target: &str, number: u64) -> Self {
        let seed = target
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self(SplitMix(seed ^ number.wrapping_mul(0xd134_2543_de82_ef95)))
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0.draw()
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % (end.max(1) as u64)).expect("it is below a usize")
    }

    /// One of `items`, which must not be empty.
    pub fn one_of<'i, T: ?Sized>(&mut self, items: &[&'i T]) -> &'i T {
        items[self.below(items.len())]
    }

    /// Up to `most` arbitrary bytes.
    pub fn noise(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most + 1)).map(|_| self.number().to_le_bytes()[0]).collect()
    }

    /// One of the valid inputs with a few changes; one in sixteen is noise.
    pub fn mutated(&mut self, valid: &[&[u8]]) -> Vec<u8> {
        if self.below(16) == 0 {
            return self.noise(512);
        }
        let mut bytes = self.one_of(valid).to_vec();
        for _ in 0..=self.below(5) {
            self.change(&mut bytes, valid);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, valid: &[&[u8]]) {
        let at = self.below(bytes.len() + 1);
        let length = self.below(9).min(bytes.len() - at);
        match self.below(9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.number().to_le_bytes()[0],
            2 => {
                let edge = EDGES[self.below(EDGES.len())].to_le_bytes();
                bytes.splice(at..at + length, edge[..length.min(8)].iter().copied());
            }
            3 => drop(bytes.drain(at..at + length)),
            4 => bytes.truncate(at),
            5 => {
                let again = bytes[at..at + length].repeat(1 + self.below(40));
                bytes.splice(at..at, again);
            }
            6 => {
                let other = self.one_of(valid);
                let from = self.below(other.len());
                let part = &other[from..(from + self.below(64)).min(other.len())];
                bytes.splice(at..at + length, part.iter().copied());
            }
            7 => {
                let noise = self.noise(12);
                bytes.splice(at..at, noise);
            }
            _ => {
                // The edge of a number that is written in digits.
                let edge = EDGES[self.below(EDGES.len())];
                let digits = if self.below(2) == 0 { edge.to_string() } else { format!("-{edge}e{}", self.below(400)) };
                bytes.splice(at..at + length, digits.into_bytes());
            }
        }
    }

    /// Up to `most` of the words in any order, with gaps and marks between them, and one in eight changed.
    pub fn words(&mut self, words: &[&str], most: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(most + 1) {
            let word = self.one_of(words);
            if self.below(8) == 0 {
                text.push_str(&String::from_utf8_lossy(&self.mutated(&[word.as_bytes()])));
            } else {
                text.push_str(word);
            }
            text.push_str(self.one_of(&[" ", " ", " ", " ", "", ", ", "? ", "\n", "…"]));
        }
        text
    }
}
