//! Entries of 1,024 consecutive documents: as they are while the block fills, packed once it is full.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Entry;
use crate::index::packing::Column;
use crate::{EpisodeId, EventId, Kind, Modality, TimeSpan, Timestamp};

/// Documents of a block.
pub(in crate::index) const BLOCK: usize = 1024;

/// A block whose places are filled once and never change. Readers know how many are theirs.
#[derive(Debug)]
pub(in crate::index) struct OpenEntries {
    entries: Box<[OnceLock<Entry>]>,
    /// The episode changes when a segment takes in what was told meanwhile.
    episodes: Box<[AtomicU64]>,
}

impl OpenEntries {
    fn new() -> Self {
        Self {
            entries: (0..BLOCK).map(|_| OnceLock::new()).collect(),
            episodes: (0..BLOCK).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

/// A full block, column by column. What is the same for all of its documents takes no space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::index) struct PackedEntries {
    ids: Column,
    episodes: Column,
    /// Kind and modality.
    sorts: Column,
    starts: Column,
    lengths: Column,
    /// Time since the begin of the capture session and 1; 0 if there is none.
    since_session: Column,
    sources: Column,
    /// The entity's number and 1; 0 if there is none.
    entities: Column,
    terms_at: Column,
    /// Earliest begin of a span.
    begin: Timestamp,
    /// Latest end of a span.
    end: Timestamp,
    /// Latest begin of a capture session.
    session_start: Option<Timestamp>,
}

/// Entries of consecutive documents.
#[derive(Debug, Clone)]
pub(in crate::index) enum EntryBlock {
    Open(std::sync::Arc<OpenEntries>),
    Packed(std::sync::Arc<PackedEntries>),
}

impl EntryBlock {
    pub fn new() -> Self {
        Self::Open(std::sync::Arc::new(OpenEntries::new()))
    }

    /// Fills a place of an open block.
    pub fn fill(&self, place: usize, entry: Entry) {
        let Self::Open(open) = self else { unreachable!("only the last block is filled, and it is open") };
        open.episodes[place].store(entry.episode.0, Ordering::Release);
        let filled = open.entries[place].set(entry);
        debug_assert!(filled.is_ok(), "there is one writer");
    }

    pub fn get(&self, place: usize) -> Entry {
        match self {
            Self::Open(open) => {
                let entry = open.entries[place].get().expect("every place below the length is filled");
                Entry { episode: EpisodeId(open.episodes[place].load(Ordering::Acquire)), ..*entry }
            }
            Self::Packed(packed) => packed.get(place),
        }
    }

    pub fn id(&self, place: usize) -> EventId {
        match self {
            Self::Packed(packed) => EventId(packed.ids.get(place).cast_unsigned()),
            Self::Open(_) => self.get(place).id,
        }
    }

    pub fn entity(&self, place: usize) -> Option<u32> {
        match self {
            Self::Packed(packed) => packed.entity(place),
            Self::Open(_) => self.get(place).entity,
        }
    }

    pub fn span(&self, place: usize) -> TimeSpan {
        match self {
            Self::Packed(packed) => packed.span(place),
            Self::Open(_) => self.get(place).span,
        }
    }

    pub fn terms_at(&self, place: usize) -> u64 {
        match self {
            Self::Packed(packed) => packed.terms_at.get(place).cast_unsigned(),
            Self::Open(_) => self.get(place).terms_at,
        }
    }

    /// Moves a document to another episode.
    pub fn regroup(&mut self, place: usize, episode: EpisodeId) {
        match self {
            Self::Open(open) => open.episodes[place].store(episode.0, Ordering::Release),
            Self::Packed(packed) => {
                let mut episodes: Vec<i64> = (0..BLOCK).map(|at| packed.episodes.get(at)).collect();
                episodes[place] = episode.0.cast_signed();
                std::sync::Arc::make_mut(packed).episodes = Column::pack(&episodes);
            }
        }
    }

    /// A full block in less space.
    pub fn packed(&self) -> Self {
        match self {
            Self::Open(_) => {
                let entries: Vec<Entry> = (0..BLOCK).map(|place| self.get(place)).collect();
                Self::Packed(std::sync::Arc::new(PackedEntries::pack(&entries)))
            }
            Self::Packed(_) => self.clone(),
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::Open(_) => BLOCK * (size_of::<OnceLock<Entry>>() + 8),
            Self::Packed(packed) => packed.bytes(),
        }
    }
}

impl PackedEntries {
    /// Packs entries.
    pub fn pack(entries: &[Entry]) -> Self {
        let column = |number: &dyn Fn(&Entry) -> i64| Column::pack(&entries.iter().map(number).collect::<Vec<_>>());
        Self {
            ids: column(&|entry| entry.id.0.cast_signed()),
            episodes: column(&|entry| entry.episode.0.cast_signed()),
            sorts: column(&|entry| sort_of(entry.kind, entry.modality)),
            starts: column(&|entry| entry.span.start.as_micros()),
            lengths: column(&|entry| entry.span.end.as_micros().wrapping_sub(entry.span.start.as_micros())),
            since_session: column(&|entry| {
                let since = |start: Timestamp| entry.span.start.as_micros().wrapping_sub(start.as_micros());
                entry.session_start.map_or(0, |start| since(start).max(0).saturating_add(1))
            }),
            sources: column(&|entry| entry.source.into()),
            entities: column(&|entry| entry.entity.map_or(0, |entity| i64::from(entity) + 1)),
            terms_at: column(&|entry| entry.terms_at.cast_signed()),
            begin: entries.iter().map(|entry| entry.span.start).min().unwrap_or(Timestamp::from_micros(i64::MAX)),
            end: entries.iter().map(|entry| entry.span.end).max().unwrap_or(Timestamp::from_micros(i64::MIN)),
            session_start: entries.iter().filter_map(|entry| entry.session_start).max(),
        }
    }

    fn get(&self, place: usize) -> Entry {
        let (kind, modality) = sorts(self.sorts.get(place));
        let span = self.span(place);
        Entry {
            id: EventId(self.ids.get(place).cast_unsigned()),
            episode: EpisodeId(self.episodes.get(place).cast_unsigned()),
            kind,
            modality,
            span,
            session_start: self.session_start_at(place, span.start),
            source: narrow(self.sources.get(place)),
            entity: self.entity(place),
            terms_at: self.terms_at.get(place).cast_unsigned(),
        }
    }

    fn session_start_at(&self, place: usize, start: Timestamp) -> Option<Timestamp> {
        let since = self.since_session.get(place);
        (since > 0).then(|| Timestamp::from_micros(start.as_micros().wrapping_sub(since - 1)))
    }

    fn entity(&self, place: usize) -> Option<u32> {
        let entity = self.entities.get(place);
        (entity > 0).then(|| narrow(entity - 1))
    }

    fn span(&self, place: usize) -> TimeSpan {
        let start = self.starts.get(place);
        let end = start.wrapping_add(self.lengths.get(place));
        TimeSpan::new(Timestamp::from_micros(start), Timestamp::from_micros(end))
    }

    /// Everything lies between these.
    pub fn bounds(&self) -> (Timestamp, Timestamp) {
        (self.begin, self.end)
    }

    /// The latest begin of a capture session.
    pub fn session_start(&self) -> Option<Timestamp> {
        self.session_start
    }

    /// The source of all its documents, if it is one.
    pub fn only_source(&self) -> Option<u32> {
        self.sources.constant().map(narrow)
    }

    fn columns(&self) -> [&Column; 9] {
        [
            &self.ids,
            &self.episodes,
            &self.sorts,
            &self.starts,
            &self.lengths,
            &self.since_session,
            &self.sources,
            &self.entities,
            &self.terms_at,
        ]
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.columns().map(|column| column.bytes() - size_of::<Column>()).iter().sum::<usize>()
    }

    /// Appends its columns to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.columns().iter().for_each(|column| column.encode(out));
    }

    /// Reads the columns of `count` entries off the front of `bytes`. `None` if there are none, or one that cannot be.
    pub fn decode(bytes: &mut &[u8], count: usize) -> Option<Self> {
        let mut next = || Column::decode(bytes, count);
        let mut packed = Self {
            ids: next()?,
            episodes: next()?,
            sorts: next()?,
            starts: next()?,
            lengths: next()?,
            since_session: next()?,
            sources: next()?,
            entities: next()?,
            terms_at: next()?,
            begin: Timestamp::from_micros(i64::MAX),
            end: Timestamp::from_micros(i64::MIN),
            session_start: None,
        };
        for place in 0..count {
            let named = [packed.sources.get(place), packed.entities.get(place)]
                .iter()
                .all(|number| (0..=i64::from(u32::MAX)).contains(number));
            if !named || !known_sort(packed.sorts.get(place)) {
                return None;
            }
            let span = packed.span(place);
            (packed.begin, packed.end) = (packed.begin.min(span.start), packed.end.max(span.end));
            packed.session_start = packed.session_start.max(packed.session_start_at(place, span.start));
        }
        Some(packed)
    }

    /// Entries up to `count`.
    pub fn entries(&self, count: usize) -> impl Iterator<Item = Entry> {
        (0..count).map(|place| self.get(place))
    }

    /// Whether ids and places in the term stream grow from `before`, and every source and entity is among so many. Then the last id and
    /// place.
    pub fn follows(
        &self,
        count: usize,
        before: Option<(EventId, u64)>,
        (sources, entities): (usize, usize),
    ) -> Option<Option<(EventId, u64)>> {
        let mut last = before;
        for place in 0..count {
            let (id, terms_at) =
                (EventId(self.ids.get(place).cast_unsigned()), self.terms_at.get(place).cast_unsigned());
            let grows = last.is_none_or(|(before, terms_before)| before < id && terms_before <= terms_at);
            let known = (narrow(self.sources.get(place)) as usize) < sources
                && self.entity(place).is_none_or(|entity| (entity as usize) < entities);
            if !grows || !known {
                return None;
            }
            last = Some((id, terms_at));
        }
        Some(last)
    }
}

fn narrow(number: i64) -> u32 {
    u32::try_from(number).expect("packed from 32 bits")
}

/// Kind and modality in one number.
fn sort_of(kind: Kind, modality: Modality) -> i64 {
    let kind = Kind::ALL.iter().zip(0..).find_map(|(one, number)| (*one == kind).then_some(number)).unwrap_or(0);
    kind * 2 + i64::from(modality == Modality::Audio)
}

fn sorts(sort: i64) -> (Kind, Modality) {
    let kind = usize::try_from(sort / 2).ok().and_then(|kind| Kind::ALL.get(kind).copied()).unwrap_or_default();
    (kind, if sort & 1 == 1 { Modality::Audio } else { Modality::Visual })
}

fn known_sort(sort: i64) -> bool {
    usize::try_from(sort).is_ok_and(|sort| sort / 2 < Kind::ALL.len())
}
