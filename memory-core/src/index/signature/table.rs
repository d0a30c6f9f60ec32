//! The signatures of all documents, in blocks.

use std::sync::Arc;

use prefetch_index::prefetch_index;

use crate::index::packing::{take, words_of};

use super::scan::{LANES, Lane, add_differing, add_differing_weight, differing_usual};
use super::{Coarse, Estimator, HEAD_BITS, MOST_BITS, WORD_BITS};

/// Documents of a block.
pub(in crate::index) const BLOCK: usize = 1024;
const GROUPS: usize = BLOCK / LANES;
/// Words at the beginning of a signature that lie apart: comparing only them reads only them.
const HEAD_WORDS: usize = HEAD_BITS / WORD_BITS;

/// Distance to a document without a signature.
pub(in crate::index) const ABSENT: u16 = u16::MAX;

/// Signatures of the documents `BLOCK * i .. BLOCK * (i + 1)`.
#[derive(Debug, Clone)]
struct SignatureBlock {
    /// The first words of groups of eight signatures, word by word, and the rest of them.
    head: Box<[Lane]>,
    tail: Box<[Lane]>,
    present: [u64; BLOCK / 64],
}

impl SignatureBlock {
    fn has(&self, place: usize) -> bool {
        self.present[place / 64] >> (place % 64) & 1 == 1
    }

    /// Copies a signature into as many words.
    fn copy_into(&self, place: usize, signature: &mut [u64]) {
        let (group, lane) = (place / LANES, place % LANES);
        let (head, tail) = signature.split_at_mut(signature.len().min(HEAD_WORDS));
        for (words, lanes) in [(head, &self.head), (tail, &self.tail)] {
            let lanes = &lanes[group * words.len()..];
            words.iter_mut().zip(lanes).for_each(|(word, lanes)| *word = lanes[lane]);
        }
    }

    fn mark_absent(&self, distances: &mut BlockDistances) {
        for (present, distances) in self.present.iter().zip(distances.chunks_exact_mut(64)) {
            if *present != u64::MAX {
                for (bit, distance) in distances.iter_mut().enumerate() {
                    if present >> bit & 1 == 0 {
                        *distance = ABSENT;
                    }
                }
            }
        }
    }
}

/// All signatures; clones are states.
#[derive(Debug, Clone, Default)]
pub struct SignatureTable {
    words: usize,
    blocks: Arc<Vec<Option<Arc<SignatureBlock>>>>,
    count: usize,
}

/// Distances of one block's documents, in order.
pub(in crate::index) type BlockDistances = [u16; BLOCK];

impl SignatureTable {
    /// An empty table of signatures of `words` words.
    pub fn new(words: usize) -> Self {
        Self { words, blocks: Arc::default(), count: 0 }
    }

    /// How many documents have a signature.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes that the signatures take.
    pub fn bytes(&self) -> usize {
        let block = BLOCK * self.words * 8 + BLOCK / 8;
        self.blocks.len() * size_of::<Option<Arc<SignatureBlock>>>() + self.blocks.iter().flatten().count() * block
    }

    /// Gives a document its signature. One of another length is ignored.
    pub fn set(&mut self, ordinal: u32, signature: &[u64]) {
        if signature.len() != self.words || self.words == 0 {
            return;
        }
        let (block, place) = split(ordinal);
        let blocks = Arc::make_mut(&mut self.blocks);
        if block >= blocks.len() {
            blocks.resize(block + 1, None);
        }
        let block = Arc::make_mut(blocks[block].get_or_insert_with(|| {
            Arc::new(SignatureBlock {
                head: vec![[0; LANES]; GROUPS * self.words.min(HEAD_WORDS)].into(),
                tail: vec![[0; LANES]; GROUPS * self.words.saturating_sub(HEAD_WORDS)].into(),
                present: [0; BLOCK / 64],
            })
        }));
        let (group, lane) = (place / LANES, place % LANES);
        let (head, tail) = signature.split_at(self.words.min(HEAD_WORDS));
        for (words, lanes) in [(head, &mut block.head), (tail, &mut block.tail)] {
            let lanes = &mut lanes[group * words.len()..];
            lanes.iter_mut().zip(words).for_each(|(lanes, word)| lanes[lane] = *word);
        }
        if !block.has(place) {
            block.present[place / 64] |= 1 << (place % 64);
            self.count += 1;
        }
    }

    /// Whether a document has one.
    pub(in crate::index) fn has(&self, ordinal: u32) -> bool {
        let (block, place) = split(ordinal);
        self.blocks.get(block).and_then(Option::as_ref).is_some_and(|block| block.has(place))
    }

    /// The signature of a document.
    pub fn get(&self, ordinal: u32) -> Option<Box<[u64]>> {
        let (block, place) = split(ordinal);
        let block = self.blocks.get(block)?.as_ref().filter(|block| block.has(place))?;
        let mut words = vec![0; self.words];
        block.copy_into(place, &mut words);
        Some(words.into())
    }

    /// Appends the blocks to `out`: number, presence, words.
    pub(in crate::index) fn encode(&self, out: &mut Vec<u8>) {
        for (block, number) in self.blocks.iter().zip(0_u32..) {
            let Some(block) = block else { continue };
            out.extend_from_slice(&number.to_le_bytes());
            let lanes = block.head.iter().chain(&block.tail).flatten();
            block.present.iter().chain(lanes).for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        }
    }

    /// Reads a table of signatures of `words` words for `len` documents. `None` if the bytes are none.
    pub(in crate::index) fn decode(bytes: &[u8], words: usize, len: u32) -> Option<Self> {
        let mut table = Self::new(words);
        let mut rest = bytes;
        let blocks = Arc::make_mut(&mut table.blocks);
        while !rest.is_empty() && words > 0 {
            let number = u32::from_le_bytes(*take(&mut rest)?) as usize;
            if number < blocks.len() || number >= (len as usize).div_ceil(BLOCK) {
                return None;
            }
            let present: Box<[u64]> = words_of(&mut rest, BLOCK / 64)?;
            let mut lanes = |words: usize| -> Option<Box<[Lane]>> {
                Some(words_of(&mut rest, BLOCK * words)?.as_chunks().0.into())
            };
            let block = SignatureBlock {
                head: lanes(words.min(HEAD_WORDS))?,
                tail: lanes(words.saturating_sub(HEAD_WORDS))?,
                present: present.as_ref().try_into().ok()?,
            };
            let places = (len as usize - number * BLOCK).min(BLOCK);
            if (places..BLOCK).any(|place| block.has(place)) {
                return None;
            }
            table.count += block.present.iter().map(|word| word.count_ones() as usize).sum::<usize>();
            blocks.resize(number, None);
            blocks.push(Some(Arc::new(block)));
        }
        rest.is_empty().then_some(table)
    }

    /// The cosine of the question with a document, as its signature tells it.
    pub(in crate::index) fn cosine(&self, question: &Estimator, ordinal: u32) -> Option<f32> {
        let (block, place) = split(ordinal);
        let block = self.blocks.get(block)?.as_ref().filter(|block| block.has(place))?;
        if question.signature().len() != self.words {
            return None;
        }
        let mut signature = [0; MOST_BITS / WORD_BITS];
        let signature = &mut signature[..self.words];
        block.copy_into(place, signature);
        Some(question.cosine(question.sum(signature)))
    }

    /// Fills in the distances to `query` of the documents of the block that begins with `ordinal`; [`ABSENT`] where there is no
    /// signature. Returns whether the block has any.
    fn distances(&self, ordinal: u32, query: &[u64], distances: &mut BlockDistances) -> bool {
        let block = self.blocks.get(split(ordinal).0).and_then(Option::as_ref);
        let Some(block) = block.filter(|_| query.len() == self.words && self.words > 0) else { return false };
        if let Ok(query) = query.try_into() {
            differing_usual((&block.head, &block.tail), query, distances.as_chunks_mut().0);
        } else {
            let (head, tail) = query.split_at(self.words.min(HEAD_WORDS));
            distances.fill(0);
            add_differing(&block.head, head, distances.as_chunks_mut().0);
            if !tail.is_empty() {
                add_differing(&block.tail, tail, distances.as_chunks_mut().0);
            }
        }
        block.mark_absent(distances);
        true
    }

    /// The same for the beginning of the signatures, by the weight of the bits that differ.
    pub(in crate::index) fn coarse_distances(
        &self,
        ordinal: u32,
        question: &Coarse,
        distances: &mut BlockDistances,
    ) -> bool {
        let block = self.blocks.get(split(ordinal).0).and_then(Option::as_ref);
        let words = question.signs.len();
        let Some(block) = block.filter(|_| words > 0 && words == self.words.min(HEAD_WORDS)) else { return false };
        distances.fill(0);
        add_differing_weight(&block.head, question, distances.as_chunks_mut().0);
        block.mark_absent(distances);
        true
    }

    /// Asks the memory for a signature, so that it is at hand when it is needed.
    pub(in crate::index) fn ask_for(&self, ordinal: u32) {
        let (block, place) = split(ordinal);
        let Some(block) = self.blocks.get(block).and_then(Option::as_ref) else { return };
        let head_words = self.words.min(HEAD_WORDS);
        for (lanes, words) in [(&block.head, head_words), (&block.tail, self.words - head_words)] {
            (place / LANES * words..).take(words).for_each(|lane| prefetch_index(lanes, lane));
        }
    }

    /// The documents whose signatures lie within `radius` of `query`, the `limit` nearest, by distance and ordinal.
    /// Exact: every signature is compared.
    pub fn nearest(&self, query: &[u64], limit: usize, radius: usize) -> Vec<(u32, u16)> {
        let mut nearest = Nearest::new(limit, u16::try_from(radius).unwrap_or(ABSENT - 1).min(ABSENT - 1));
        let mut distances = [0; BLOCK];
        for first in (0..).step_by(BLOCK).take(self.blocks.len()) {
            if self.distances(first, query, &mut distances) {
                nearest.offer(first, &distances);
            }
        }
        nearest.finish()
    }
}

/// The nearest documents met so far.
struct Nearest {
    limit: usize,
    /// Distance above which nothing can be among the nearest.
    bound: u16,
    /// At most twice the limit.
    kept: Vec<(u16, u32)>,
}

impl Nearest {
    fn new(limit: usize, bound: u16) -> Self {
        Self { limit, bound, kept: Vec::with_capacity(limit.min(1 << 16) * 2) }
    }

    fn offer(&mut self, first: u32, distances: &BlockDistances) {
        if self.limit == 0 {
            return;
        }
        for (eight, group) in (first..).step_by(LANES).zip(distances.as_chunks::<LANES>().0) {
            // Almost no group holds anything near; this compares eight at once.
            if group.iter().all(|distance| *distance > self.bound) {
                continue;
            }
            for (ordinal, distance) in (eight..).zip(group) {
                if *distance <= self.bound {
                    self.kept.push((*distance, ordinal));
                }
            }
            if self.kept.len() >= 2 * self.limit {
                self.drop_farthest();
            }
        }
    }

    fn drop_farthest(&mut self) {
        self.kept.select_nth_unstable(self.limit - 1);
        self.kept.truncate(self.limit);
        // Ordinals grow: whatever follows at the same distance comes after those that are kept.
        self.bound = self.bound.min(self.kept[self.limit - 1].0.saturating_sub(1));
    }

    fn finish(mut self) -> Vec<(u32, u16)> {
        self.kept.sort_unstable();
        self.kept.truncate(self.limit);
        self.kept.into_iter().map(|(distance, ordinal)| (ordinal, distance)).collect()
    }
}

fn split(ordinal: u32) -> (usize, usize) {
    (ordinal as usize / BLOCK, ordinal as usize % BLOCK)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distance(a: &[u64], b: &[u64]) -> u16 {
        a.iter().zip(b).map(|(a, b)| u16::try_from((a ^ b).count_ones()).unwrap()).sum()
    }

    fn signatures() -> impl Strategy<Value = (usize, Vec<(u32, Vec<u64>)>)> {
        (1_usize..=16).prop_flat_map(|words| {
            // Few distinct words, so that distances are tied.
            let word = prop::sample::select(vec![0_u64, 1, 3, u64::MAX, 0xff00_ff00_ff00_ff00, 0x1234_5678_9abc_def0]);
            let signature = prop::collection::vec(word, words);
            (Just(words), prop::collection::vec((0_u32..5000, signature), 0..60))
        })
    }

    proptest! {
        #[test]
        fn the_nearest_are_those_of_a_model_that_compares_one_by_one(
            (words, entries) in signatures(), limit in 0_usize..12, radius in 0_usize..1100, at in 0_usize..60,
        ) {
            let mut table = SignatureTable::new(words);
            let mut model = std::collections::BTreeMap::new();
            for (ordinal, signature) in &entries {
                table.set(*ordinal, signature);
                model.insert(*ordinal, signature.clone());
            }
            prop_assert_eq!(table.len(), model.len());
            for (ordinal, signature) in &model {
                let held = table.get(*ordinal);
                prop_assert_eq!(held.as_deref(), Some(signature.as_slice()));
            }
            let query = entries.get(at).map_or_else(|| vec![5; words], |(_, signature)| signature.clone());
            let mut expected: Vec<(u16, u32)> = model.iter()
                .map(|(ordinal, signature)| (distance(signature, &query), *ordinal))
                .filter(|(distance, _)| usize::from(*distance) <= radius)
                .collect();
            expected.sort_unstable();
            expected.truncate(limit);
            let found = table.nearest(&query, limit, radius);
            prop_assert_eq!(found, expected.into_iter().map(|(distance, ordinal)| (ordinal, distance)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_state_keeps_its_signatures_when_the_table_goes_on() {
        let mut table = SignatureTable::new(1);
        table.set(0, &[7]);
        let state = table.clone();
        table.set(0, &[8]);
        table.set(1, &[9]);
        table.set(2, &[1, 2]);
        assert_eq!((state.get(0).as_deref(), state.get(1)), (Some([7].as_slice()), None));
        assert_eq!((state.len(), table.len()), (1, 2));
    }
}
