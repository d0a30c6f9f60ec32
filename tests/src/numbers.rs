//! Random numbers that are the same in every run.

use fuzzing::SplitMix;

/// A seeded sequence, good enough to choose moments and resamples.
#[derive(Debug, Clone)]
pub struct SeededRandom(SplitMix);

impl SeededRandom {
    /// A sequence that `seed` determines.
    pub fn seeded(seed: u64) -> Self {
        Self(SplitMix(seed))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.draw()
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "an empty range has no member");
        self.bits() % bound
    }
}
