//! Digits of two bits, 32 to a word: their upper bits in the upper half of the word, their lower bits in the lower half.

/// Digits in a word.
pub(super) const WORD_DIGITS: usize = 32;

/// For every digit, the planes in which it has a zero: flipped by exclusive or, both planes have a one where it is.
const FLIP: [u64; 4] = [u64::MAX, 0xffff_ffff_0000_0000, 0x0000_0000_ffff_ffff, 0];

/// How many levels of two bits an alphabet needs.
pub(super) fn heights(sigma: u32) -> usize {
    (bits(sigma).div_ceil(2) as usize).max(1)
}

/// How many bits a symbol of the alphabet has: ⌈log₂σ⌉.
pub(super) fn bits(sigma: u32) -> u32 {
    u32::BITS - sigma.saturating_sub(1).leading_zeros()
}

/// The digit of `symbol` at `height` (0 is the lowest).
#[inline]
pub(super) fn digit(symbol: u32, height: usize) -> usize {
    (symbol >> (2 * height) & 3) as usize
}

/// Which node of `height` holds the digit of `symbol`: the digits above it.
#[inline]
pub(super) fn node(symbol: u32, height: usize) -> usize {
    (symbol >> (2 * height) >> 2) as usize
}

/// A one for each of the 32 places that hold `digit`.
#[inline]
pub(super) fn places_of(word: u64, digit: usize) -> u64 {
    let flipped = word ^ FLIP[digit];
    flipped >> 32 & flipped & 0xffff_ffff
}

/// The digit at a place of a word.
#[inline]
pub(super) fn digit_in(word: u64, place: usize) -> usize {
    (word >> place & 1 | word >> (place + 32) << 1 & 2) as usize
}

/// The word with `digit` at a place that held 0.
#[inline]
pub(super) fn with_digit(word: u64, place: usize, digit: usize) -> u64 {
    let digit = digit as u64;
    word | (digit & 1) << place | (digit >> 1) << (place + 32)
}

/// A one for each of the first `count` (at most 64) places.
#[inline]
pub(super) fn first(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

/// The word with zeros at the places from `count` on.
pub(super) fn first_digits(word: u64, count: usize) -> u64 {
    word & (first(count) | first(count) << 32)
}
