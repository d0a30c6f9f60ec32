//! Small generators of seeded numbers: the same numbers on every machine.

/// Draws the next number of Steele, Lea and Flood's SplitMix64.
///
/// Signatures of embeddings are made with these numbers. Another generator would make those of saved indexes useless.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Marsaglia's xorshift64. The seed must not be 0.
#[derive(Debug)]
pub(crate) struct Xorshift(pub u64);

impl Xorshift {
    /// Returns the next number.
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Draws 31 bits from Knuth's linear congruential generator (MMIX). The state may begin at any number.
pub(crate) fn congruential(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Maps a drawn number to the range from 0 to 1, without 1.
#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
pub(crate) fn fraction(drawn: u64) -> f64 {
    (drawn >> 11) as f64 / (1_u64 << 53) as f64
}
