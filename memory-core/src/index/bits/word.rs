//! Select within a word (Vigna, "Broadword implementation of rank/select queries", WEA 2008, algorithm 2).

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// `IN_BYTE[byte][k]`: where the k-th one (from 0) of a byte is; 8 if it has not so many.
const IN_BYTE: [[u8; 8]; 256] = in_byte();

const fn in_byte() -> [[u8; 8]; 256] {
    let mut table = [[8; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut ones) = (0_u8, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][ones] = bit;
                ones += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// Returns the position of the `k`-th one (from 0) of `word`. `word` must have more than `k` ones.
#[inline]
pub(in crate::index) fn select_in_word(word: u64, k: u32) -> u32 {
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let nibbles = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let bytes = (nibbles + (nibbles >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    // Byte i: ones in the bytes 0 to i.
    let up_to = bytes.wrapping_mul(LOW_BITS);
    // A high bit for every byte that the wanted one lies beyond.
    let beyond = (((u64::from(k) * LOW_BITS) | HIGH_BITS) - up_to) & HIGH_BITS;
    let place = beyond.count_ones() * 8;
    let before = (up_to << 8) >> place & 0xff;
    let byte = word >> place & 0xff;
    place + u32::from(IN_BYTE[byte as usize][(u64::from(k) - before) as usize & 7])
}
