//! Every document's entry in order of append.

use std::sync::Arc;

use super::block::PackedEntries;
use super::{BLOCK, Entry, EntryBlock};
use crate::{EpisodeId, EventId, TimeSpan};

/// All entries; clones share the blocks, and a clone sees what was there when it was made. Only the writer's own may be
/// changed.
#[derive(Debug, Clone, Default)]
pub(in crate::index) struct EntryTable {
    blocks: Arc<Vec<EntryBlock>>,
    len: u32,
}

impl EntryTable {
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Appends an entry; a block that it fills is packed.
    pub fn push(&mut self, entry: Entry) {
        let (block, place) = split(self.len);
        if block == self.blocks.len() {
            Arc::make_mut(&mut self.blocks).push(EntryBlock::new());
        }
        self.blocks[block].fill(place, entry);
        self.len += 1;
        if place + 1 == BLOCK {
            let packed = self.blocks[block].packed();
            Arc::make_mut(&mut self.blocks)[block] = packed;
        }
    }

    /// Appends a full block that was packed before; only full ones may be before it.
    pub fn push_packed(&mut self, block: PackedEntries) {
        debug_assert_eq!(self.len as usize % BLOCK, 0, "full blocks come first");
        Arc::make_mut(&mut self.blocks).push(EntryBlock::Packed(Arc::new(block)));
        self.len += u32::try_from(BLOCK).expect("1,024");
    }

    /// The blocks, of which the last may be open.
    pub fn blocks(&self) -> &[EntryBlock] {
        &self.blocks
    }

    pub fn get(&self, ordinal: u32) -> Entry {
        let (block, place) = split(ordinal);
        self.blocks[block].get(place)
    }

    pub fn id(&self, ordinal: u32) -> EventId {
        let (block, place) = split(ordinal);
        self.blocks[block].id(place)
    }

    pub fn span(&self, ordinal: u32) -> TimeSpan {
        let (block, place) = split(ordinal);
        self.blocks[block].span(place)
    }

    pub fn entity(&self, ordinal: u32) -> Option<u32> {
        let (block, place) = split(ordinal);
        self.blocks[block].entity(place)
    }

    /// Moves a document to another episode.
    pub fn regroup(&mut self, ordinal: u32, episode: EpisodeId) {
        let (block, place) = split(ordinal);
        match &self.blocks[block] {
            // Shared with earlier states, which may see the move.
            EntryBlock::Open(_) => self.blocks[block].clone().regroup(place, episode),
            EntryBlock::Packed(_) => Arc::make_mut(&mut self.blocks)[block].regroup(place, episode),
        }
    }

    /// The ordinal of an event. Ids grow with ordinals.
    /// Calls `visit` with the numbers of documents, whose ids come in order. Each is looked for from the one before on, in steps
    /// that double.
    pub fn for_each_of(&self, ids: &[EventId], visit: &mut dyn FnMut(u32)) {
        let mut from = 0;
        for id in ids {
            let (mut low, mut step) = (from, 1);
            while low < self.len && self.id(low) < *id {
                from = low + 1;
                low = low.saturating_add(step);
                step = step.saturating_mul(2);
            }
            let mut high = low.min(self.len);
            while from < high {
                let middle = from + (high - from) / 2;
                if self.id(middle) < *id {
                    from = middle + 1;
                } else {
                    high = middle;
                }
            }
            if from < self.len && self.id(from) == *id {
                visit(from);
            }
        }
    }

    pub fn find(&self, id: EventId) -> Option<u32> {
        let id_at = |ordinal: u32| {
            let (block, place) = split(ordinal);
            self.blocks[block].id(place)
        };
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            if id_at(middle) < id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < self.len && id_at(low) == id).then_some(low)
    }

    /// The document whose terms hold a position of the term stream; the last of those that begin there, since others are empty.
    pub fn holding(&self, position: u64) -> Option<u32> {
        self.holding_from(0, position)
    }

    /// Returns the same as [`Self::holding`], if no document before `first` holds it.
    pub fn holding_from(&self, first: u32, position: u64) -> Option<u32> {
        let (mut low, mut high, mut step) = (first, first, 1_u32);
        // Steps that double, since it is often near.
        while high < self.len && self.terms_at(high) <= position {
            low = high + 1;
            high = high.saturating_add(step).min(self.len);
            step = step.saturating_mul(2);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.terms_at(middle) <= position {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1)
    }

    /// Returns the begin of a document's terms in the term stream.
    pub fn terms_at(&self, ordinal: u32) -> u64 {
        let (block, place) = split(ordinal);
        self.blocks[block].terms_at(place)
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(EntryBlock::bytes).sum()
    }
}

fn split(ordinal: u32) -> (usize, usize) {
    (ordinal as usize / BLOCK, ordinal as usize % BLOCK)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::super::block::PackedEntries;
    use super::*;
    use crate::{Kind, Modality, Timestamp};

    fn entries() -> impl Strategy<Value = Vec<Entry>> {
        let one = (
            1_u64..5,
            0_u64..9,
            0_usize..7,
            any::<bool>(),
            prop_oneof![9 => 0_i64..1_000_000, 1 => any::<i64>()],
            0_u64..9_000_000,
            prop::option::of(0_u64..9_000_000),
            0_u32..3,
            prop::option::of(0_u32..3),
            0_u64..40,
        );
        prop::collection::vec(one, 1..60).prop_map(|drawn| {
            let (mut id, mut terms_at) = (0, 0);
            let entry = |(step, episode, kind, audio, start, lasts, since, source, entity, terms): (
                _,
                _,
                usize,
                _,
                _,
                _,
                Option<u64>,
                _,
                _,
                _,
            )| {
                id += step;
                terms_at += terms;
                let start = Timestamp::from_micros(start);
                Entry {
                    id: EventId(id),
                    episode: EpisodeId(episode),
                    kind: Kind::ALL[kind],
                    modality: if audio { Modality::Audio } else { Modality::Visual },
                    span: TimeSpan::new(start, start.saturating_add(Duration::from_micros(lasts))),
                    session_start: since.map(|since| start.saturating_sub(Duration::from_micros(since))),
                    source,
                    entity,
                    terms_at,
                }
            };
            drawn.into_iter().map(entry).collect()
        })
    }

    proptest! {
        #[test]
        fn packed_entries_are_the_entries_also_from_bytes(entries in entries()) {
            let mut bytes = Vec::new();
            PackedEntries::pack(&entries).encode(&mut bytes);
            let decoded = PackedEntries::decode(&mut bytes.as_slice(), entries.len()).unwrap();
            prop_assert_eq!(&decoded, &PackedEntries::pack(&entries));
            prop_assert_eq!(decoded.entries(entries.len()).collect::<Vec<_>>(), entries);
        }

        #[test]
        fn bytes_that_are_no_entries_are_refused_without_a_panic(
            entries in entries(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
        ) {
            let mut bytes = Vec::new();
            PackedEntries::pack(&entries).encode(&mut bytes);
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(packed) = PackedEntries::decode(&mut bytes.as_slice(), entries.len()) {
                let _names_that_may_be_unknown = packed.follows(entries.len(), None, (7, 7));
                prop_assert_eq!(packed.entries(entries.len()).count(), entries.len());
            }
        }
    }

    fn entry(id: u64) -> Entry {
        let start = Timestamp::from_micros(i64::try_from(id).unwrap() * 15_000_000);
        Entry {
            id: EventId(id),
            episode: EpisodeId(id / 3),
            kind: Kind::Text,
            modality: Modality::Audio,
            span: TimeSpan::new(start, start),
            session_start: None,
            source: 0,
            entity: None,
            terms_at: id * 9,
        }
    }

    #[test]
    fn full_blocks_are_packed_and_everything_stays_what_it_was() {
        let mut table = EntryTable::default();
        (0..3_000).for_each(|id| table.push(entry(id * 2)));
        let state = table.clone();
        assert!((0..3_000).all(|ordinal| table.get(ordinal) == entry(u64::from(ordinal) * 2)));
        assert_eq!((table.find(EventId(2_048)), table.find(EventId(2_049))), (Some(1_024), None));
        assert!(table.bytes() < 2_048 * 20 + table.blocks()[2].bytes(), "{}", table.bytes());

        for ordinal in [5, 1_500, 2_999] {
            table.regroup(ordinal, EpisodeId(1_000_000));
            assert_eq!(table.get(ordinal).episode, EpisodeId(1_000_000));
        }
        assert_eq!(state.get(5).episode, entry(10).episode, "an earlier state keeps its packed blocks");
    }
}
