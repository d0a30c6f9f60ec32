//! Posting lists: which documents hold a term, and how often. They are derived from the term stream, by segments of 65,536
//! documents.
//!
//! Full segments are packed and never change. The documents since then form a tail of chunks that are merged as they grow
//! (the logarithmic method) and are packed together when they fill a segment. So a commit pays for a few merges, never for
//! the size of the memory.

mod chunk;
mod packed;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub(super) use chunk::Chunk;
pub(super) use packed::{ListBound, PackedPostings};

/// Documents of a segment; their places in it are 16 bits.
pub(super) const SEGMENT: u32 = 1 << 16;

/// All postings; clones are states.
#[derive(Debug, Clone, Default)]
pub(super) struct Postings {
    full: Arc<Vec<Arc<PackedPostings>>>,
    tail: Vec<Arc<Chunk>>,
}

/// The postings of one segment.
pub(super) enum SegmentPostings<'a> {
    Full(&'a PackedPostings),
    Tail(&'a [Arc<Chunk>]),
}

impl Postings {
    /// Postings that were packed before, and a chunk of those after them.
    pub fn new(full: Vec<Arc<PackedPostings>>, tail: Chunk) -> Self {
        let tail = if tail.len() == 0 { Vec::new() } else { vec![Arc::new(tail)] };
        Self { full: Arc::new(full), tail }
    }

    /// Adds a chunk, whose documents must not leave the segment, and merges from the end while the one before is less than
    /// twice as long, so that there are logarithmically many.
    pub fn push(&mut self, chunk: Chunk) {
        let mut last = chunk;
        while let Some(before) = self.tail.last() {
            if before.len() >= last.len().saturating_mul(2) {
                break;
            }
            last = Chunk::merge(&[before, &last]);
            self.tail.pop();
        }
        self.tail.push(Arc::new(last));
        debug_assert!(self.tail_len() <= SEGMENT, "a chunk lies within one segment");
    }

    /// Documents since the last full segment.
    pub fn tail_len(&self) -> u32 {
        self.tail.iter().map(|chunk| chunk.len()).sum()
    }

    /// The tail in one chunk.
    pub fn merged_tail(&self) -> Chunk {
        Chunk::merge(&self.tail.iter().map(|chunk| &**chunk).collect::<Vec<_>>())
    }

    /// Packs the tail, which fills a segment. `length` tells how many terms the document at a place has.
    pub fn seal(&mut self, length: &dyn Fn(u16) -> u8) {
        debug_assert_eq!(self.tail_len(), SEGMENT, "only full segments are packed");
        let packed = PackedPostings::pack(&self.merged_tail(), length);
        Arc::make_mut(&mut self.full).push(Arc::new(packed));
        self.tail.clear();
    }

    /// The full segments.
    pub fn full(&self) -> &[Arc<PackedPostings>] {
        &self.full
    }

    /// Every segment in order.
    pub fn segments(&self) -> impl Iterator<Item = SegmentPostings<'_>> {
        let full = self.full.iter().map(|packed| SegmentPostings::Full(packed));
        full.chain((!self.tail.is_empty()).then_some(SegmentPostings::Tail(&self.tail)))
    }

    /// How many documents hold a symbol.
    pub fn count(&self, symbol: u32) -> u32 {
        self.segments().map(|segment| segment.count(symbol)).sum()
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        let full: usize = self.full.iter().map(|packed| packed.bytes()).sum();
        full + self.tail.iter().map(|chunk| chunk.bytes()).sum::<usize>()
    }
}

impl SegmentPostings<'_> {
    /// The postings of a symbol in order, some at a time: their places in the segment, and how often the symbol occurs there, up to 255.
    pub fn for_each_run(&self, symbol: u32, visit: &mut impl FnMut(&[u16], &[u8])) {
        match self {
            Self::Full(packed) => packed.for_each_run(symbol, visit),
            Self::Tail(chunks) => chunks.iter().for_each(|chunk| {
                let (places, frequencies) = chunk.postings(symbol);
                visit(places, frequencies);
            }),
        }
    }

    /// How many documents hold a symbol.
    fn count(&self, symbol: u32) -> u32 {
        match self {
            Self::Full(packed) => packed.count(symbol),
            Self::Tail(chunks) => chunks.iter().map(|chunk| chunk.count(symbol)).sum(),
        }
    }

    /// How many documents hold a symbol, and what bounds their scores.
    pub fn bound(&self, symbol: u32) -> Option<ListBound> {
        match self {
            Self::Full(packed) => packed.bound(symbol),
            Self::Tail(chunks) => {
                let count = chunks.iter().map(|chunk| chunk.count(symbol)).sum();
                (count > 0).then_some(ListBound { count, most_frequent: u8::MAX, shortest: 0 })
            }
        }
    }
}
