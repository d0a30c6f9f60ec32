//! Immutable chunks of postings, merged as they grow (the logarithmic method).

use std::sync::Arc;

use super::analysis::TermId;

/// Chunks that together hold more documents are not merged: a merge must not hold up a commit for long, and a search
/// over a few large chunks costs nothing.
const LARGEST_MERGE: u32 = 1 << 16;

/// The postings of consecutive documents.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Ordinal of the first document.
    base: u32,
    /// How many documents.
    len: u32,
    /// Sorted.
    terms: Box<[TermId]>,
    /// Where the postings of the term at the same place begin; one more than terms.
    offsets: Box<[u32]>,
    /// Ordinals from `base`, growing within a term.
    documents: Box<[u32]>,
    /// How often the term occurs there, up to 255.
    frequencies: Box<[u8]>,
}

impl Chunk {
    /// Builds a chunk of the documents `base..base + len` from (term, ordinal) pairs, one per occurrence.
    pub fn build(base: u32, len: u32, mut occurrences: Vec<(TermId, u32)>) -> Self {
        occurrences.sort_unstable();
        let (mut terms, mut offsets, mut documents, mut frequencies) = (vec![], vec![], vec![], vec![]);
        let mut last = None;
        for (term, ordinal) in occurrences {
            if last == Some((term, ordinal)) {
                let frequency: &mut u8 = frequencies.last_mut().expect("an occurrence came before");
                *frequency = frequency.saturating_add(1);
                continue;
            }
            if last.is_none_or(|(before, _)| before != term) {
                terms.push(term);
                offsets.push(count(&documents));
            }
            documents.push(ordinal - base);
            frequencies.push(1);
            last = Some((term, ordinal));
        }
        offsets.push(count(&documents));
        Self {
            base,
            len,
            terms: terms.into(),
            offsets: offsets.into(),
            documents: documents.into(),
            frequencies: frequencies.into(),
        }
    }

    /// One chunk for two, of which `later` follows `earlier` without a gap.
    fn merge(earlier: &Self, later: &Self) -> Self {
        debug_assert_eq!(earlier.base + earlier.len, later.base, "chunks are merged with their neighbours only");
        let mut terms = Vec::with_capacity(earlier.terms.len() + later.terms.len());
        let mut offsets = Vec::with_capacity(terms.capacity() + 1);
        let mut documents = Vec::with_capacity(earlier.documents.len() + later.documents.len());
        let mut frequencies = Vec::with_capacity(documents.capacity());
        let shift = earlier.len;
        let (mut i, mut j) = (0, 0);
        loop {
            let term = match (earlier.terms.get(i), later.terms.get(j)) {
                (Some(a), Some(b)) => *a.min(b),
                (Some(a), None) => *a,
                (None, Some(b)) => *b,
                (None, None) => break,
            };
            terms.push(term);
            offsets.push(count(&documents));
            if earlier.terms.get(i) == Some(&term) {
                let range = earlier.range(i);
                documents.extend_from_slice(&earlier.documents[range.clone()]);
                frequencies.extend_from_slice(&earlier.frequencies[range]);
                i += 1;
            }
            if later.terms.get(j) == Some(&term) {
                let range = later.range(j);
                documents.extend(later.documents[range.clone()].iter().map(|ordinal| ordinal + shift));
                frequencies.extend_from_slice(&later.frequencies[range]);
                j += 1;
            }
        }
        offsets.push(count(&documents));
        Self {
            base: earlier.base,
            len: earlier.len + later.len,
            terms: terms.into(),
            offsets: offsets.into(),
            documents: documents.into(),
            frequencies: frequencies.into(),
        }
    }

    fn range(&self, place: usize) -> std::ops::Range<usize> {
        self.offsets[place] as usize..self.offsets[place + 1] as usize
    }

    fn for_each(&self, term: TermId, visit: &mut impl FnMut(u32, u8)) {
        if let Ok(place) = self.terms.binary_search(&term) {
            let range = self.range(place);
            for (ordinal, frequency) in self.documents[range.clone()].iter().zip(&self.frequencies[range]) {
                visit(self.base + ordinal, *frequency);
            }
        }
    }
}

fn count(documents: &[u32]) -> u32 {
    u32::try_from(documents.len()).expect("a chunk holds fewer than 2^32 postings")
}

/// All postings; clones are states.
#[derive(Debug, Clone, Default)]
pub(super) struct Postings {
    chunks: Vec<Arc<Chunk>>,
}

impl Postings {
    /// Adds a chunk and merges from the end while the one before is less than twice as long, so that there are
    /// logarithmically many.
    pub fn push(&mut self, chunk: Chunk) {
        let mut last = chunk;
        while let Some(before) = self.chunks.last() {
            if before.len >= last.len.saturating_mul(2) || before.len.saturating_add(last.len) > LARGEST_MERGE {
                break;
            }
            last = Chunk::merge(before, &last);
            self.chunks.pop();
        }
        self.chunks.push(Arc::new(last));
    }

    /// Calls `visit` with every document of a term, in order, and how often the term occurs there.
    pub fn for_each(&self, term: TermId, visit: &mut impl FnMut(u32, u8)) {
        for chunk in &self.chunks {
            chunk.for_each(term, visit);
        }
    }

    #[cfg(test)]
    pub fn chunk_lengths(&self) -> Vec<u32> {
        self.chunks.iter().map(|chunk| chunk.len).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn postings_of(postings: &Postings, term: TermId) -> Vec<(u32, u8)> {
        let mut found = Vec::new();
        postings.for_each(term, &mut |ordinal, frequency| found.push((ordinal, frequency)));
        found
    }

    proptest! {
        #[test]
        fn chunks_however_merged_equal_one_chunk_of_everything(batches in prop::collection::vec(prop::collection::vec(prop::collection::vec(0_u64..20, 0..8), 1..6), 1..30)) {
            let mut postings = Postings::default();
            let mut everything = Vec::new();
            let mut base = 0;
            for batch in &batches {
                let mut occurrences = Vec::new();
                for (ordinal, document) in (base..).zip(batch) {
                    occurrences.extend(document.iter().map(|term| (TermId(*term), ordinal)));
                }
                let len = u32::try_from(batch.len()).unwrap();
                everything.extend_from_slice(&occurrences);
                postings.push(Chunk::build(base, len, occurrences));
                base += len;
            }
            let whole = Postings { chunks: vec![Arc::new(Chunk::build(0, base, everything))] };
            for term in 0..20 {
                prop_assert_eq!(postings_of(&postings, TermId(term)), postings_of(&whole, TermId(term)));
            }
            let lengths = postings.chunk_lengths();
            prop_assert_eq!(lengths.iter().sum::<u32>(), base);
            prop_assert!(lengths.windows(2).all(|pair| pair[0] >= 2 * pair[1]), "{:?}", lengths);
        }
    }

    #[test]
    fn chunks_grow_to_a_ceiling_and_stay_few() {
        let mut postings = Postings::default();
        for ordinal in 0..200_000 {
            postings.push(Chunk::build(ordinal, 1, vec![(TermId(7), ordinal)]));
        }
        let lengths = postings.chunk_lengths();
        assert!(lengths.len() <= 3 + 17, "{lengths:?}");
        assert!(lengths.iter().all(|len| *len <= LARGEST_MERGE));
        assert_eq!(postings_of(&postings, TermId(7)).len(), 200_000);
    }
}
