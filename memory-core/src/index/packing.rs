//! Packs integers in as few bits as they need.

/// Bits that `value` needs.
pub(super) fn width_of(value: u64) -> u8 {
    u8::try_from(u64::BITS - value.leading_zeros()).expect("at most 64")
}

/// Numbers written one after the other, each as wide as the writer says.
#[derive(Debug, Clone, Default)]
pub(super) struct BitWriter {
    words: Vec<u64>,
    len: usize,
}

impl BitWriter {
    /// Bits written so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Writes the lowest `width` bits of `value`, which has no others.
    pub fn push(&mut self, value: u64, width: u8) {
        debug_assert!(width_of(value) <= width, "{value} does not fit into {width} bits");
        if width == 0 {
            return;
        }
        let (word, shift) = (self.len / 64, self.len % 64);
        if word == self.words.len() {
            self.words.push(0);
        }
        self.words[word] |= value << shift;
        if shift + usize::from(width) > 64 {
            self.words.push(value >> (64 - shift));
        }
        self.len += usize::from(width);
    }

    /// The words, with one more behind the last so that [`read`] never has to ask where the end is.
    pub fn finish(mut self) -> Box<[u64]> {
        self.words.push(0);
        self.words.into()
    }
}

/// The `width` bits at bit `place`. Words beyond the end count as zero.
pub(super) fn read(words: &[u64], place: usize, width: u8) -> u64 {
    if width == 0 {
        return 0;
    }
    let (word, shift) = (place / 64, place % 64);
    let low = words.get(word).copied().unwrap_or(0) >> shift;
    // Shifted twice, because a shift by 64 is none.
    let high = words.get(word + 1).copied().unwrap_or(0) << 1 << (63 - shift);
    (low | high) & (u64::MAX >> (64 - width))
}

/// Reads as many numbers of `width` bits, at most 16, as `numbers` has room for, from bit `place` on: those of a word's length at
/// once. Words beyond the end count as zero.
pub(super) fn unpack(words: &[u64], place: usize, width: u8, numbers: &mut [u16]) {
    if width == 0 {
        numbers.fill(0);
        return;
    }
    let mask = (1_u64 << width) - 1;
    let at_once = 64 / usize::from(width);
    for (numbers, place) in numbers.chunks_mut(at_once).zip((place..).step_by(at_once * usize::from(width))) {
        let mut several = read(words, place, 64);
        for number in numbers {
            *number = low_bits(several & mask);
            several >>= width;
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "only these are wanted")]
fn low_bits(number: u64) -> u16 {
    number as u16
}

/// A fixed number of numbers, each as far above a line as its bits say. The line is level, or it rises by the same at every place: ids,
/// times and places in a stream grow with the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    base: i64,
    /// How much the line rises in 2^16 places.
    slope: i64,
    width: u8,
    words: Box<[u64]>,
}

/// How far a line has risen at `place`. It may wrap, as long as it does so in the same way when numbers are packed and read.
fn line_at(slope: i64, place: usize) -> i64 {
    slope.wrapping_mul(i64::try_from(place).unwrap_or(i64::MAX)) >> 16
}

/// The slope from the first to the last number; 0 if it is out of range.
fn slope_of(values: &[i64]) -> i64 {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return 0 };
    let steps = i128::try_from(values.len() - 1).unwrap_or(0).max(1);
    i64::try_from(((i128::from(*last) - i128::from(*first)) << 16) / steps).unwrap_or(0)
}

impl Column {
    /// Packs numbers.
    pub fn pack(values: &[i64]) -> Self {
        let level = FittedLine::fit(values, 0);
        let rising = FittedLine::fit(values, slope_of(values));
        let line = if rising.width < level.width { rising } else { level };
        let mut writer = BitWriter::default();
        if line.width > 0 {
            values.iter().zip(0..).for_each(|(value, place)| writer.push(line.above(*value, place), line.width));
        }
        let words = if line.width > 0 { writer.finish() } else { Box::default() };
        Self { base: line.base, slope: line.slope, width: line.width, words }
    }

    /// The number at `place`; one of the line if `place` is beyond the end.
    pub fn get(&self, place: usize) -> i64 {
        let above = read(&self.words, place * usize::from(self.width), self.width);
        self.base.wrapping_add(line_at(self.slope, place)).wrapping_add_unsigned(above)
    }

    /// The number that all are, if they are one.
    pub fn constant(&self) -> Option<i64> {
        (self.width == 0 && self.slope == 0).then_some(self.base)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.words.len() * 8
    }

    /// Appends it to `out`: base, slope, width, words.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.base.to_le_bytes());
        out.extend_from_slice(&self.slope.to_le_bytes());
        out.push(self.width);
        self.words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }

    /// Reads a column of `count` numbers off the front of `bytes`; `None` if it is none.
    pub fn decode(bytes: &mut &[u8], count: usize) -> Option<Self> {
        let base = i64::from_le_bytes(*take(bytes)?);
        let slope = i64::from_le_bytes(*take(bytes)?);
        let [width] = *take(bytes)?;
        if width > 64 {
            return None;
        }
        let words = if width == 0 { 0 } else { (count * usize::from(width)).div_ceil(64) + 1 };
        Some(Self { base, slope, width, words: words_of(bytes, words)? })
    }
}

/// A line, and the bits that the farthest number above it needs.
struct FittedLine {
    base: i64,
    slope: i64,
    width: u8,
}

impl FittedLine {
    /// The highest line of a slope with no number below it.
    fn fit(values: &[i64], slope: i64) -> Self {
        let level = |(value, place): (&i64, usize)| value.wrapping_sub(line_at(slope, place));
        let base = values.iter().zip(0..).map(level).min().unwrap_or(0);
        let line = Self { base, slope, width: 0 };
        let most = values.iter().zip(0..).map(|(value, place)| line.above(*value, place)).max().unwrap_or(0);
        Self { width: width_of(most), ..line }
    }

    fn above(&self, value: i64, place: usize) -> u64 {
        value.wrapping_sub(line_at(self.slope, place)).wrapping_sub(self.base).cast_unsigned()
    }
}

/// Reads `count` words off the front of `bytes`.
pub(super) fn words_of(bytes: &mut &[u8], count: usize) -> Option<Box<[u64]>> {
    let (head, rest) = bytes.split_at_checked(count.checked_mul(8)?)?;
    *bytes = rest;
    Some(head.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// Reads `count` numbers off the front of `bytes`.
pub(super) fn numbers_of(bytes: &mut &[u8], count: usize) -> Option<Box<[u32]>> {
    let (head, rest) = bytes.split_at_checked(count.checked_mul(4)?)?;
    *bytes = rest;
    Some(head.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number)).collect())
}

/// Reads `N` bytes off the front of `bytes`.
pub(super) fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(head)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(numbers in prop::collection::vec((any::<u64>(), 0_u8..=64), 0..80)) {
            let mut writer = BitWriter::default();
            let mut expected = Vec::new();
            for (number, width) in numbers {
                let number = if width == 0 { 0 } else { number & (u64::MAX >> (64 - width)) };
                expected.push((writer.len(), number, width));
                writer.push(number, width);
            }
            let words = writer.finish();
            for (place, number, width) in expected {
                prop_assert_eq!(read(&words, place, width), number);
            }
        }

        #[test]
        fn numbers_of_one_width_are_unpacked_as_they_were_written(
            before in 0_u8..64, width in 0_u8..=16, numbers in prop::collection::vec(any::<u16>(), 0..200), behind in 0_usize..3,
        ) {
            let numbers: Vec<u16> = numbers.iter().map(|number| low_bits(u64::from(*number) & ((1 << width) - 1))).collect();
            let mut writer = BitWriter::default();
            writer.push(0, before);
            numbers.iter().for_each(|number| writer.push(u64::from(*number), width));
            let mut words = writer.finish().into_vec();
            words.extend(vec![u64::MAX; behind]);
            let mut unpacked = vec![7; numbers.len()];
            unpack(&words, before.into(), width, &mut unpacked);
            prop_assert_eq!(&unpacked, &numbers);
            // Cut off: what lies beyond the end counts as zero, as for one number.
            words.truncate(words.len() / 2);
            unpack(&words, before.into(), width, &mut unpacked);
            for (at, number) in unpacked.iter().enumerate() {
                prop_assert_eq!(u64::from(*number), read(&words, usize::from(before) + at * usize::from(width), width));
            }
        }

        #[test]
        fn a_column_gives_its_numbers_back_also_from_bytes(numbers in prop::collection::vec(prop_oneof![any::<i64>(), -9_i64..9], 0..70)) {
            let column = Column::pack(&numbers);
            let mut bytes = Vec::new();
            column.encode(&mut bytes);
            bytes.push(7);
            let mut rest = bytes.as_slice();
            let decoded = Column::decode(&mut rest, numbers.len()).unwrap();
            prop_assert_eq!(rest, [7]);
            prop_assert_eq!(&decoded, &column);
            for (place, number) in numbers.iter().enumerate() {
                prop_assert_eq!(decoded.get(place), *number);
            }
        }

        #[test]
        fn bytes_that_are_no_column_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), count in 0_usize..50) {
            if let Some(column) = Column::decode(&mut bytes.as_slice(), count) {
                (0..count).for_each(|place| { column.get(place); });
            }
        }
    }

    #[test]
    fn equal_numbers_take_no_bits() {
        let column = Column::pack(&[1_700_000_000; 1024]);
        assert_eq!(column.constant(), Some(1_700_000_000));
        assert_eq!(column.bytes(), size_of::<Column>());
        assert_eq!(column.get(1023), 1_700_000_000);
    }

    #[test]
    fn numbers_that_grow_take_the_bits_of_what_they_differ_from_a_line() {
        let evenly: Vec<i64> = (0..1024).map(|place| 5_000_000_000 + 15_000_000 * place).collect();
        let column = Column::pack(&evenly);
        assert_eq!((column.bytes(), column.constant()), (size_of::<Column>(), None));
        assert!((0..1024).all(|place| column.get(place) == evenly[place]));
        let about: Vec<i64> = (0..1024).map(|place| 20 * place + place * 7 % 13).collect();
        let column = Column::pack(&about);
        assert!(column.width <= 5, "{} bits where the whole range has 15", column.width);
        assert!((0..1024).all(|place| column.get(place) == about[place]));
    }

    #[test]
    fn numbers_at_the_ends_of_their_range_are_kept() {
        for values in [[i64::MIN, 0, i64::MAX], [i64::MAX, 0, i64::MIN], [i64::MAX, i64::MAX - 1, i64::MIN]] {
            let column = Column::pack(&values);
            assert_eq!([0, 1, 2].map(|place| column.get(place)), values);
        }
    }
}
