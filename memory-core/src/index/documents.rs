//! What the index keeps of every document, and the links between neighbours in time.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::Document;
use super::analysis::{name_hash, words};
use crate::{EpisodeId, EventId, Kind, Modality, TimeSpan, Timestamp};

/// No document.
pub(super) const NONE: u32 = u32::MAX;

/// How far apart two events of one source may lie and still be each other's context.
const NEIGHBOUR_GAP: Duration = Duration::from_secs(60);

const BLOCK: usize = 1024;

/// The fixed part of a document.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub id: EventId,
    pub kind: Kind,
    pub modality: Modality,
    pub span: TimeSpan,
    /// Begin of the capture session, where there is one.
    pub session_start: Option<Timestamp>,
    pub source: u64,
    /// Hash of the entity's name, and of its first word if it has several.
    pub entity: Option<(u64, Option<u64>)>,
    /// The event of the same source before it, if it is near in time.
    pub previous: u32,
    /// How many terms it holds.
    pub length: u16,
}

impl Entry {
    pub fn of(document: &Document) -> Self {
        let entity = document.entity.as_deref().and_then(|name| {
            let words: Vec<String> = words(name).collect();
            let first = (words.len() > 1).then(|| name_hash([words[0].as_str()]));
            (!words.is_empty()).then(|| (name_hash(words.iter().map(String::as_str)), first))
        });
        Self {
            id: document.id,
            kind: document.kind,
            modality: document.modality,
            span: document.span,
            session_start: document.stream.map(|stream| document.span.start.saturating_sub(stream.start)),
            source: name_hash([document.source.as_str()]),
            entity,
            previous: NONE,
            length: 0,
        }
    }

    /// Whether `later`, of the same source, is near enough to be context.
    pub fn is_near(&self, later: &Self) -> bool {
        let gap = later.span.start.since(self.span.end).max(self.span.start.since(later.span.end));
        gap <= NEIGHBOUR_GAP
    }
}

/// A block whose places are filled once and never change. Readers know how many are theirs.
struct Block {
    entries: Box<[OnceLock<Entry>]>,
    links: Box<[Link]>,
    /// The episode, which changes when a segment takes in what was told meanwhile.
    episodes: Box<[AtomicU64]>,
}

/// What scoring reads of every document it touches, side by side.
struct Link {
    previous: AtomicU32,
    /// The later neighbour: set once, when it comes. A reader of an older state ignores one beyond its own length.
    next: AtomicU32,
    length: AtomicU32,
}

impl Default for Link {
    fn default() -> Self {
        Self { previous: AtomicU32::new(NONE), next: AtomicU32::new(NONE), length: AtomicU32::new(0) }
    }
}

impl Block {
    fn new() -> Self {
        Self {
            entries: (0..BLOCK).map(|_| OnceLock::new()).collect(),
            links: (0..BLOCK).map(|_| Link::default()).collect(),
            episodes: (0..BLOCK).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

/// Every document in order of append; clones share the blocks, and a clone sees what was there when it was made.
#[derive(Clone, Default)]
pub(super) struct DocumentTable {
    blocks: Arc<Vec<Arc<Block>>>,
    len: u32,
}

impl DocumentTable {
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Appends an entry and links it with its earlier neighbour. Only the writer's own table may be pushed to.
    pub fn push(&mut self, entry: Entry, episode: EpisodeId) {
        let (block, place) = split(self.len);
        if block == self.blocks.len() {
            Arc::make_mut(&mut self.blocks).push(Arc::new(Block::new()));
        }
        let previous = entry.previous;
        let link = &self.blocks[block].links[place];
        link.previous.store(previous, Ordering::Relaxed);
        link.length.store(entry.length.into(), Ordering::Relaxed);
        self.blocks[block].episodes[place].store(episode.0, Ordering::Release);
        let filled = self.blocks[block].entries[place].set(entry);
        debug_assert!(filled.is_ok(), "there is one writer");
        if previous != NONE {
            let (block, place) = split(previous);
            self.blocks[block].links[place].next.store(self.len, Ordering::Relaxed);
        }
        self.len += 1;
    }

    pub fn get(&self, ordinal: u32) -> &Entry {
        let (block, place) = split(ordinal);
        self.blocks[block].entries[place].get().expect("every place below the length is filled")
    }

    pub fn episode(&self, ordinal: u32) -> EpisodeId {
        let (block, place) = split(ordinal);
        EpisodeId(self.blocks[block].episodes[place].load(Ordering::Acquire))
    }

    pub fn regroup(&self, ordinal: u32, episode: EpisodeId) {
        let (block, place) = split(ordinal);
        self.blocks[block].episodes[place].store(episode.0, Ordering::Release);
    }

    /// The links of this state, for scoring.
    pub fn links(&self) -> Links<'_> {
        Links { blocks: self.blocks.iter().map(|block| &*block.links).collect(), len: self.len }
    }

    /// The ordinal of an event. Ids grow with ordinals.
    pub fn find(&self, id: EventId) -> Option<u32> {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).id < id {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < self.len && self.get(low).id == id).then_some(low)
    }
}

/// The links between neighbours and the lengths of documents, as one state sees them.
///
/// Places below its length were filled before the state was published, so relaxed loads see them.
pub(super) struct Links<'a> {
    blocks: Vec<&'a [Link]>,
    len: u32,
}

impl Links<'_> {
    fn at(&self, ordinal: u32) -> &Link {
        let (block, place) = split(ordinal);
        &self.blocks[block][place]
    }

    /// How many terms a document holds.
    pub fn length(&self, ordinal: u32) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "at most 65,535")]
        let length = self.at(ordinal).length.load(Ordering::Relaxed) as f32;
        length
    }

    /// Calls `visit` with up to two neighbours on each side and their distance.
    pub fn for_each_neighbour(&self, ordinal: u32, visit: &mut impl FnMut(u32, usize)) {
        let link = self.at(ordinal);
        let before = link.previous.load(Ordering::Relaxed);
        if before != NONE {
            visit(before, 1);
            let before = self.at(before).previous.load(Ordering::Relaxed);
            if before != NONE {
                visit(before, 2);
            }
        }
        let after = link.next.load(Ordering::Relaxed);
        if after < self.len {
            visit(after, 1);
            let after = self.at(after).next.load(Ordering::Relaxed);
            if after < self.len {
                visit(after, 2);
            }
        }
    }
}

fn split(ordinal: u32) -> (usize, usize) {
    (ordinal as usize / BLOCK, ordinal as usize % BLOCK)
}
