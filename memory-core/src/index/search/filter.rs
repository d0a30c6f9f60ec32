//! The mask of documents that a question may find.

use crate::index::SearchQuery;
use crate::index::analysis::{name_hash, words};
use crate::index::compressed::IndexState;
use crate::index::entries::{BLOCK, EntryBlock};
use crate::{EventId, Kind, Modality, TimeSpan};

/// Conditions on metadata, by number and value.
pub(super) struct Filter<'a> {
    span: Option<TimeSpan>,
    modality: Option<Modality>,
    kinds: &'a [Kind],
    /// Numbers of the entities with the requested name.
    entities: Option<Vec<u32>>,
    /// The number of the source, or none that there is.
    source: Option<Option<u32>>,
    /// The only events that pass, in order of ids.
    only: Option<&'a [EventId]>,
}

impl<'a> Filter<'a> {
    pub fn from_query(query: &'a SearchQuery, state: &IndexState) -> Self {
        let numbers_of = |name: &String| {
            let words: Vec<String> = words(name).collect();
            let hash = name_hash(words.iter().map(String::as_str));
            (0..).zip(state.entities.all()).filter(|(_, (name, _))| *name == hash).map(|(number, _)| number).collect()
        };
        let source = |name: &String| {
            let hash = name_hash([name.as_str()]);
            (0..).zip(state.sources.all()).find(|(_, name)| **name == hash).map(|(number, _)| number)
        };
        Self {
            span: query.span,
            modality: query.modality,
            kinds: &query.kinds,
            entities: query.entity.as_ref().map(numbers_of),
            source: query.source.as_ref().map(source),
            only: query.only.as_deref(),
        }
    }

    /// Whether everything passes.
    pub fn is_open(&self) -> bool {
        self.span.is_none()
            && self.modality.is_none()
            && self.kinds.is_empty()
            && self.entities.is_none()
            && self.source.is_none()
            && self.only.is_none()
    }

    /// Whether a document passes.
    pub fn admits(&self, state: &IndexState, ordinal: u32) -> bool {
        let (block, place) = (ordinal as usize / BLOCK, ordinal as usize % BLOCK);
        self.is_open() || self.passes(&state.entries.blocks()[block], place)
    }

    /// Returns those documents that pass. They are given in order.
    pub fn admitted(&self, state: &IndexState, mut ordinals: Vec<u32>) -> Vec<u32> {
        if self.is_open() {
            return ordinals;
        }
        // Whether the block of a number is excluded as a whole.
        let mut excluded = (usize::MAX, false);
        ordinals.retain(|ordinal| {
            let at = *ordinal as usize / BLOCK;
            let block = &state.entries.blocks()[at];
            if excluded.0 != at {
                excluded = (at, self.excludes(block));
            }
            !excluded.1 && self.passes(block, *ordinal as usize % BLOCK)
        });
        ordinals
    }

    /// Whether nothing in the block can pass.
    fn excludes(&self, block: &EntryBlock) -> bool {
        let EntryBlock::Packed(packed) = block else { return false };
        let (start, end) = packed.bounds();
        self.span.is_some_and(|span| span.end < start || end < span.start)
            || self.source.is_some_and(|source| packed.only_source().is_some_and(|only| source != Some(only)))
    }

    /// Reads no more columns than there are conditions.
    fn passes(&self, block: &EntryBlock, place: usize) -> bool {
        self.span.is_none_or(|span| span.overlaps(block.span(place)))
            && self
                .entities
                .as_ref()
                .is_none_or(|numbers| block.entity(place).is_some_and(|entity| numbers.contains(&entity)))
            && ((self.modality.is_none() && self.kinds.is_empty() && self.source.is_none()) || {
                let entry = block.get(place);
                self.modality.is_none_or(|modality| modality == entry.modality)
                    && (self.kinds.is_empty() || self.kinds.contains(&entry.kind))
                    && self.source.is_none_or(|source| source == Some(entry.source))
            })
    }
}

/// Calls `visit` with the places in a block of the events in a list, which grows.
fn for_each_place(block: &EntryBlock, len: usize, only: &[EventId], visit: &mut dyn FnMut(usize)) {
    let Some(last) = len.checked_sub(1) else { return };
    let from = only.partition_point(|id| *id < block.id(0));
    let to = only.partition_point(|id| *id <= block.id(last));
    let mut low = 0;
    for id in &only[from..to] {
        let mut high = len;
        while low < high {
            let middle = low + (high - low) / 2;
            if block.id(middle) < *id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low < len && block.id(low) == *id {
            visit(low);
        }
    }
}

/// The visible documents that pass a filter, one bit each.
pub(super) struct Mask {
    words: Vec<u64>,
    count: usize,
}

impl Mask {
    /// `None` if every document passes.
    pub fn from_filter(filter: &Filter<'_>, state: &IndexState) -> Option<Self> {
        let len = state.entries.len();
        if filter.is_open() && state.hidden.count() == 0 {
            return None;
        }
        let mut words = vec![0_u64; (len as usize).div_ceil(64)];
        for (at, (block, words)) in state.entries.blocks().iter().zip(words.chunks_mut(BLOCK / 64)).enumerate() {
            if filter.excludes(block) {
                continue;
            }
            let len = (len as usize - at * BLOCK).min(BLOCK);
            let mut pass = |place: usize| {
                if filter.is_open() || filter.passes(block, place) {
                    words[place / 64] |= 1 << (place % 64);
                }
            };
            match filter.only {
                Some(only) => for_each_place(block, len, only, &mut pass),
                None => (0..len).for_each(pass),
            }
        }
        for (word, at) in words.iter_mut().zip(0..) {
            *word &= !state.hidden.word(at);
        }
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        Some(Self { words, count })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn contains(&self, ordinal: u32) -> bool {
        self.words[ordinal as usize / 64] >> (ordinal % 64) & 1 == 1
    }

    /// The documents `64 * word ..` as bits; none behind the last.
    pub fn word(&self, word: u32) -> u64 {
        self.words.get(word as usize).copied().unwrap_or(0)
    }

    /// Calls `visit` with the documents from `first` on, a multiple of 64, to before `end` that pass.
    pub fn for_each_in(&self, first: u32, end: u32, visit: &mut dyn FnMut(u32)) {
        for (word, base) in self.words.iter().zip((0_u32..).step_by(64)).skip(first as usize / 64) {
            if base >= end {
                break;
            }
            let mut left = *word;
            while left != 0 {
                let ordinal = base + left.trailing_zeros();
                if ordinal < end {
                    visit(ordinal);
                }
                left &= left - 1;
            }
        }
    }

    /// Whether any of the documents from `first` on, a multiple of 64, to before `end` passes.
    pub fn any_in(&self, first: u32, end: u32) -> bool {
        let end = (end as usize).div_ceil(64).min(self.words.len());
        self.words[(first as usize / 64).min(end)..end].iter().any(|word| *word != 0)
    }
}
