//! The postings of a full segment, packed: differences of places in blocks of 128, each as wide as its largest.
//!
//! ```text
//! list   u16 count - 1 │ per block: u16 last place, 5 bits width of the differences, 4 bits width of the frequencies,
//!        u8 largest frequency, u8 smallest length │ per block: differences - 1 (the first from the block before), frequencies - 1
//! ```
//!
//! What a block's largest frequency and smallest length bound is the score of any document in it, whatever the mean length
//! becomes ("block-max", Ding and Suel, SIGIR 2011). A list of one posting lies in the table of places itself.

use super::SEGMENT;
use super::chunk::Chunk;
use crate::index::packing::{BitWriter, numbers_of, read, take, unpack, width_of, words_of};

/// Postings of a block.
const BLOCK: usize = 128;
const COUNT_BITS: u8 = 16;
const HEADER_BITS: usize = 16 + 5 + 4 + 8 + 8;
/// Marks a list of one posting: place in the low 16 bits, frequency in the next 8, length in the 7 above.
const SINGLE: u32 = 1 << 31;

/// The postings of one full segment.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::index) struct PackedPostings {
    /// Sorted symbols.
    symbols: Box<[u32]>,
    /// Begin of the list of the symbol at the same place, in bits.
    places: Box<[u32]>,
    words: Box<[u64]>,
}

/// Bounds of a list, known without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::index) struct ListBound {
    pub count: u32,
    pub most_frequent: u8,
    /// Terms of the shortest document, up to 255.
    pub shortest: u8,
}

struct PackedHeader {
    last: u16,
    width: u8,
    frequency_width: u8,
    most_frequent: u8,
    shortest: u8,
}

impl PackedPostings {
    /// Packs a chunk; `length` tells how many terms the document at a place has.
    pub fn pack(chunk: &Chunk, length: &dyn Fn(u16) -> u8) -> Self {
        let mut writer = BitWriter::default();
        let (mut symbols, mut places) = (Vec::new(), Vec::new());
        for symbol in chunk.symbols() {
            symbols.push(*symbol);
            places.push(match chunk.postings(*symbol) {
                ([place], [frequency]) => SINGLE | u32::from(*frequency) << 16 | u32::from(*place),
                (held, frequencies) => {
                    let place = u32::try_from(writer.len()).expect("a segment takes fewer than 2^31 bits");
                    write_list(&mut writer, held, frequencies, length);
                    place
                }
            });
        }
        Self { symbols: symbols.into(), places: places.into(), words: writer.finish() }
    }

    /// The postings of a symbol in order, some at a time: their places, and how often the symbol occurs there.
    pub fn for_each_run(&self, symbol: u32, visit: &mut impl FnMut(&[u16], &[u8])) {
        let Some(place) = self.list(symbol) else { return };
        if place & SINGLE != 0 {
            let (place, frequency) = single(place);
            visit(&[place], &[frequency]);
            return;
        }
        let mut place = place as usize;
        let count = self.count_at(&mut place);
        let mut payload = place + count.div_ceil(BLOCK) * HEADER_BITS;
        let (mut places, mut above, mut frequencies) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
        let mut next = 0_u16;
        for first in (0..count).step_by(BLOCK) {
            let header = self.header_at(&mut place);
            let here = BLOCK.min(count - first);
            let places = &mut places[..here];
            unpack(&self.words, payload, header.width, places);
            payload += here * usize::from(header.width);
            for place in &mut *places {
                *place = place.wrapping_add(next);
                next = place.wrapping_add(1);
            }
            if header.frequency_width == 0 {
                // Most words stand in a text once.
                frequencies[..here].fill(1);
            } else {
                unpack(&self.words, payload, header.frequency_width, &mut above[..here]);
                payload += here * usize::from(header.frequency_width);
                for (frequency, above) in frequencies.iter_mut().zip(&above) {
                    #[expect(clippy::cast_possible_truncation, reason = "at most 8 bits wide")]
                    let above = *above as u8;
                    *frequency = above.saturating_add(1);
                }
            }
            visit(places, &frequencies[..here]);
        }
    }

    /// How many documents hold a symbol.
    pub fn count(&self, symbol: u32) -> u32 {
        self.list(symbol).map_or(0, |place| match place & SINGLE {
            0 => u32::try_from(self.count_at(&mut (place as usize))).expect("a segment has 65,536 documents"),
            _ => 1,
        })
    }

    /// How many documents hold a symbol, and what bounds their scores.
    pub fn bound(&self, symbol: u32) -> Option<ListBound> {
        let place = self.list(symbol)?;
        if place & SINGLE != 0 {
            return Some(ListBound { count: 1, most_frequent: single(place).1, shortest: 0 });
        }
        let mut place = place as usize;
        let count = self.count_at(&mut place);
        let mut bound =
            ListBound { count: u32::try_from(count).unwrap_or(u32::MAX), most_frequent: 0, shortest: u8::MAX };
        for _ in 0..count.div_ceil(BLOCK) {
            let header = self.header_at(&mut place);
            bound.most_frequent = bound.most_frequent.max(header.most_frequent);
            bound.shortest = bound.shortest.min(header.shortest);
        }
        Some(bound)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.symbols.len() * 8 + self.words.len() * 8
    }

    fn list(&self, symbol: u32) -> Option<u32> {
        self.symbols.binary_search(&symbol).ok().map(|at| self.places[at])
    }

    fn count_at(&self, place: &mut usize) -> usize {
        let count = read(&self.words, *place, COUNT_BITS) as usize + 1;
        *place += usize::from(COUNT_BITS);
        count
    }

    #[expect(clippy::cast_possible_truncation, reason = "as wide as their types")]
    fn header_at(&self, place: &mut usize) -> PackedHeader {
        // 41 bits are read at once.
        let bits = read(&self.words, *place, 41);
        *place += HEADER_BITS;
        PackedHeader {
            last: bits as u16,
            width: (bits >> 16 & 0x1f) as u8,
            frequency_width: (bits >> 21 & 0xf) as u8,
            most_frequent: (bits >> 25) as u8,
            shortest: (bits >> 33) as u8,
        }
    }

    /// Appends it to `out`: counts, symbols, places, words.
    pub fn encode(&self, out: &mut Vec<u8>) {
        for count in [self.symbols.len(), self.words.len()] {
            out.extend_from_slice(&(count as u64).to_le_bytes());
        }
        self.symbols.iter().chain(&self.places).for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        self.words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }

    /// Reads one off the front of `bytes`. `None` if it is none, if it names a symbol from `symbols` on, or if a list leaves the segment.
    pub fn decode(bytes: &mut &[u8], symbols: u32) -> Option<Self> {
        let terms = usize::try_from(u64::from_le_bytes(*take(bytes)?)).ok()?;
        let words = usize::try_from(u64::from_le_bytes(*take(bytes)?)).ok()?;
        let packed = Self {
            symbols: numbers_of(bytes, terms)?,
            places: numbers_of(bytes, terms)?,
            words: words_of(bytes, words)?,
        };
        let sorted =
            packed.symbols.is_sorted_by(|a, b| a < b) && packed.symbols.last().is_none_or(|last| *last < symbols);
        (sorted && (0..terms).all(|at| packed.is_sound(at))).then_some(packed)
    }

    /// Whether the list at `at` says what its headers say and lies within the words and the segment.
    fn is_sound(&self, at: usize) -> bool {
        let place = self.places[at];
        if place & SINGLE != 0 {
            return place & !SINGLE <= 0x00ff_ffff && single(place).1 > 0;
        }
        let end = self.words.len() * 64;
        let mut place = place as usize;
        if place + usize::from(COUNT_BITS) > end {
            return false;
        }
        let count = self.count_at(&mut place);
        let mut payload = place + count.div_ceil(BLOCK) * HEADER_BITS;
        if payload > end {
            return false;
        }
        let mut before = -1_i64;
        for first in (0..count).step_by(BLOCK) {
            let header = self.header_at(&mut place);
            let here = BLOCK.min(count - first);
            if header.width > 16 || header.frequency_width > 8 {
                return false;
            }
            for number in 0..here {
                before += i64::try_from(read(&self.words, payload + number * usize::from(header.width), header.width))
                    .unwrap_or(i64::MAX / 2)
                    + 1;
            }
            payload += here * usize::from(header.width + header.frequency_width);
            if payload > end || before != i64::from(header.last) || before >= i64::from(SEGMENT) {
                return false;
            }
        }
        true
    }
}

/// Place and frequency.
fn single(place: u32) -> (u16, u8) {
    let [low, high, frequency, _] = place.to_le_bytes();
    (u16::from_le_bytes([low, high]), frequency)
}

fn write_list(writer: &mut BitWriter, places: &[u16], frequencies: &[u8], length: &dyn Fn(u16) -> u8) {
    let blocks = || places.chunks(BLOCK).zip(frequencies.chunks(BLOCK)).enumerate();
    let differences = |at: usize, block: &[u16]| {
        let mut next = if at == 0 { 0 } else { u32::from(places[at * BLOCK - 1]) + 1 };
        let difference = move |place: &u16| {
            let difference = u32::from(*place).checked_sub(next).expect("places grow");
            next = u32::from(*place) + 1;
            u64::from(difference)
        };
        block.iter().map(difference).collect::<Vec<_>>()
    };
    let above = |frequency: &u8| u64::from(*frequency) - 1;
    let width = |numbers: &[u64]| numbers.iter().max().map_or(0, |most| width_of(*most));
    let frequency_width = |block: &[u8]| block.iter().map(|frequency| width_of(above(frequency))).max().unwrap_or(0);
    writer.push(places.len() as u64 - 1, COUNT_BITS);
    for (at, (places, frequencies)) in blocks() {
        writer.push(places.last().copied().unwrap_or(0).into(), 16);
        writer.push(width(&differences(at, places)).into(), 5);
        writer.push(frequency_width(frequencies).into(), 4);
        writer.push(frequencies.iter().copied().max().unwrap_or(0).into(), 8);
        writer.push(places.iter().map(|place| length(*place)).min().unwrap_or(0).into(), 8);
    }
    for (at, (places, frequencies)) in blocks() {
        let differences = differences(at, places);
        let width = width(&differences);
        differences.into_iter().for_each(|difference| writer.push(difference, width));
        let width = frequency_width(frequencies);
        frequencies.iter().for_each(|frequency| writer.push(above(frequency), width));
    }
}
