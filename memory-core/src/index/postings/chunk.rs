//! Immutable chunks of the newest postings, not yet packed.

use crate::index::packing::{numbers_of, take};

/// The postings of consecutive documents of one segment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::index) struct Chunk {
    /// How many documents.
    len: u32,
    /// Sorted.
    symbols: Box<[u32]>,
    /// Begin of the postings of the symbol at the same place; one more than symbols.
    offsets: Box<[u32]>,
    /// Places in the segment, growing within a symbol.
    places: Box<[u16]>,
    /// How often the symbol occurs there, up to 255.
    frequencies: Box<[u8]>,
}

/// A chunk as it is filled, symbol by symbol.
#[derive(Default)]
struct FillingChunk {
    symbols: Vec<u32>,
    offsets: Vec<u32>,
    places: Vec<u16>,
    frequencies: Vec<u8>,
}

impl FillingChunk {
    fn begin(&mut self, symbol: u32) {
        self.symbols.push(symbol);
        self.offsets.push(self.count());
    }

    fn count(&self) -> u32 {
        u32::try_from(self.places.len()).expect("a chunk holds fewer than 2^32 postings")
    }

    fn finish(mut self, len: u32) -> Chunk {
        self.offsets.push(self.count());
        Chunk {
            len,
            symbols: self.symbols.into(),
            offsets: self.offsets.into(),
            places: self.places.into(),
            frequencies: self.frequencies.into(),
        }
    }
}

impl Chunk {
    /// Builds a chunk of `len` documents from (symbol, place) pairs, one per occurrence.
    pub fn build(len: u32, mut occurrences: Vec<(u32, u16)>) -> Self {
        occurrences.sort_unstable();
        let mut filling = FillingChunk::default();
        let mut last = None;
        for (symbol, place) in occurrences {
            if last == Some((symbol, place)) {
                let frequency = filling.frequencies.last_mut().expect("an occurrence came before");
                *frequency = frequency.saturating_add(1);
                continue;
            }
            if last.is_none_or(|(before, _)| before != symbol) {
                filling.begin(symbol);
            }
            filling.places.push(place);
            filling.frequencies.push(1);
            last = Some((symbol, place));
        }
        filling.finish(len)
    }

    /// One chunk for several, in order.
    pub fn merge(chunks: &[&Self]) -> Self {
        let mut filling = FillingChunk::default();
        let mut next = vec![0; chunks.len()];
        while let Some(symbol) =
            chunks.iter().zip(&next).filter_map(|(chunk, at)| chunk.symbols.get(*at)).min().copied()
        {
            filling.begin(symbol);
            for (chunk, at) in chunks.iter().zip(&mut next) {
                if chunk.symbols.get(*at) == Some(&symbol) {
                    let range = chunk.range(*at);
                    filling.places.extend_from_slice(&chunk.places[range.clone()]);
                    filling.frequencies.extend_from_slice(&chunk.frequencies[range]);
                    *at += 1;
                }
            }
        }
        filling.finish(chunks.iter().map(|chunk| chunk.len).sum())
    }

    /// How many documents.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The symbols that occur, sorted.
    pub fn symbols(&self) -> &[u32] {
        &self.symbols
    }

    /// Returns the documents that hold a symbol, in order, and how often each holds it.
    pub fn postings(&self, symbol: u32) -> (&[u16], &[u8]) {
        let range = self.symbols.binary_search(&symbol).map_or(0..0, |at| self.range(at));
        (&self.places[range.clone()], &self.frequencies[range])
    }

    /// How many documents hold a symbol.
    pub fn count(&self, symbol: u32) -> u32 {
        u32::try_from(self.postings(symbol).0.len()).unwrap_or(u32::MAX)
    }

    /// Appends it to `out`: counts, symbols, ends of their postings, places, frequencies.
    pub fn encode(&self, out: &mut Vec<u8>) {
        for count in [self.symbols.len(), self.places.len()] {
            out.extend_from_slice(&(count as u64).to_le_bytes());
        }
        self.symbols.iter().chain(self.offsets.iter().skip(1)).for_each(|it| out.extend_from_slice(&it.to_le_bytes()));
        self.places.iter().for_each(|place| out.extend_from_slice(&place.to_le_bytes()));
        out.extend_from_slice(&self.frequencies);
    }

    /// Reads a chunk of `len` documents. `None` if the bytes are none, or if it names a symbol or a place that is not there.
    pub fn decode(bytes: &[u8], len: u32, symbols: u32) -> Option<Self> {
        let mut rest = bytes;
        let mut next = || usize::try_from(u64::from_le_bytes(*take(&mut rest)?)).ok();
        let (terms, postings) = (next()?, next()?);
        let held = numbers_of(&mut rest, terms)?;
        let ends = numbers_of(&mut rest, terms)?;
        let (places, frequencies) = rest.split_at_checked(postings.checked_mul(2)?)?;
        let places: Box<[u16]> = places.as_chunks().0.iter().map(|place| u16::from_le_bytes(*place)).collect();
        let mut offsets = vec![0];
        offsets.extend_from_slice(&ends);
        let sound = held.is_sorted_by(|a, b| a < b)
            && held.last().is_none_or(|last| *last < symbols)
            && offsets.is_sorted_by(|a, b| a < b)
            && offsets.last().is_some_and(|last| *last as usize == postings)
            && frequencies.len() == postings
            && !frequencies.contains(&0)
            && offsets.windows(2).all(|pair| {
                let of_symbol = &places[pair[0] as usize..pair[1] as usize];
                of_symbol.is_sorted_by(|a, b| a < b) && of_symbol.last().is_none_or(|last| u32::from(*last) < len)
            });
        sound.then(|| Self { len, symbols: held, offsets: offsets.into(), places, frequencies: frequencies.into() })
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.symbols.len() * 8 + self.places.len() * 3
    }

    fn range(&self, at: usize) -> std::ops::Range<usize> {
        self.offsets[at] as usize..self.offsets[at + 1] as usize
    }
}
