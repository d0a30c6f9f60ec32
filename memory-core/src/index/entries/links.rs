//! Links between neighbours in time, and lengths: what scoring reads of every document it touches, side by side.
//!
//! A document's neighbours are the events of its source before and after it, if they are near in time and lie in the same
//! segment; so scoring one segment never looks into another.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Lines, NONE};
use crate::index::postings::SEGMENT;

/// The links of one segment. Each is set once: those of a document when it comes, and `next` when its later neighbour comes.
#[derive(Debug)]
struct LinkSegment {
    /// How far back the earlier neighbour is; 0 if there is none.
    previous: Box<[AtomicU16]>,
    /// How far on the later one is. A reader of an older state ignores one beyond its own length.
    next: Box<[AtomicU16]>,
    /// How many terms it holds, up to 65,535.
    length: Box<[AtomicU16]>,
    /// Links of a full segment, from the first search on.
    lines: OnceLock<Arc<Lines>>,
}

impl LinkSegment {
    fn new(capacity: usize) -> Self {
        let numbers = || (0..capacity).map(|_| AtomicU16::new(0)).collect();
        Self { previous: numbers(), next: numbers(), length: numbers(), lines: OnceLock::new() }
    }

    fn copy(&self, capacity: usize) -> Self {
        let copy = Self::new(capacity);
        for (from, to) in [(&self.previous, &copy.previous), (&self.next, &copy.next), (&self.length, &copy.length)] {
            for (from, to) in from.iter().zip(to) {
                to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        copy
    }
}

/// All links; clones are states. Only the writer's own may be pushed to.
#[derive(Debug, Clone, Default)]
pub(in crate::index) struct Links {
    segments: Arc<Vec<Arc<LinkSegment>>>,
    len: u32,
}

/// Documents that the links of a new segment are made for at first.
const SMALLEST: usize = 1 << 10;

impl Links {
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Appends a document of `length` terms whose earlier neighbour is `previous`, of the same segment, or [`NONE`].
    pub fn push(&mut self, previous: u32, length: u16) {
        let (segment, place) = split(self.len);
        if self.segments.get(segment).is_none_or(|segment| place == segment.length.len()) {
            // Earlier states keep the smaller arrays, which hold all that is theirs.
            let segments = Arc::make_mut(&mut self.segments);
            match segments.get_mut(segment) {
                Some(segment) => *segment = Arc::new(segment.copy(place * 2)),
                None => segments.push(Arc::new(LinkSegment::new(SMALLEST))),
            }
        }
        let links = &self.segments[segment];
        links.length[place].store(length, Ordering::Relaxed);
        if previous != NONE {
            let (of, before) = split(previous);
            debug_assert_eq!(of, segment, "neighbours lie in one segment");
            let apart = u16::try_from(place - before).expect("places are below 65,536");
            links.previous[place].store(apart, Ordering::Relaxed);
            links.next[before].store(apart, Ordering::Relaxed);
        }
        self.len += 1;
    }

    /// The links of one segment in this state.
    pub fn segment(&self, segment: usize) -> SegmentLinks<'_> {
        let first = segment as u32 * SEGMENT;
        let len = u16::try_from((self.len - first).min(SEGMENT) - 1).expect("a segment has 65,536 places");
        SegmentLinks { links: &self.segments[segment], last: len }
    }

    /// The document before another in time, or [`NONE`].
    pub fn previous(&self, ordinal: u32) -> u32 {
        let (segment, place) = split(ordinal);
        match self.segments[segment].previous[place].load(Ordering::Relaxed) {
            0 => NONE,
            apart => ordinal - u32::from(apart),
        }
    }

    /// How many terms a document holds, up to 65,535.
    pub fn length(&self, ordinal: u32) -> u16 {
        let (segment, place) = split(ordinal);
        self.segments[segment].length[place].load(Ordering::Relaxed)
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        let lines = |segment: &LinkSegment| segment.lines.get().map_or(0, |lines| lines.bytes());
        self.segments.iter().map(|segment| segment.length.len() * 6 + lines(segment)).sum()
    }
}

/// The links of one segment, as one state sees them. Places up to the last were filled before the state was published, so
/// relaxed loads see them.
#[derive(Clone, Copy)]
pub(in crate::index) struct SegmentLinks<'a> {
    links: &'a LinkSegment,
    last: u16,
}

impl SegmentLinks<'_> {
    /// How many documents.
    pub fn count(self) -> usize {
        usize::from(self.last) + 1
    }

    /// The documents in lines. Those of a full segment are kept with it, those of the last one by the state, in `last`.
    pub fn lines(self, last: &OnceLock<Arc<Lines>>) -> Arc<Lines> {
        let kept = if self.count() == SEGMENT as usize { &self.links.lines } else { last };
        kept.get_or_init(|| Arc::new(Lines::from_links(self))).clone()
    }

    /// How many terms a document holds, up to 65,535.
    pub fn length(self, place: u16) -> u16 {
        self.links.length[usize::from(place)].load(Ordering::Relaxed)
    }

    /// Its earlier neighbour.
    pub fn previous(self, place: u16) -> Option<u16> {
        let apart = self.links.previous[usize::from(place)].load(Ordering::Relaxed);
        (apart > 0).then(|| place - apart)
    }

    /// Its later neighbour.
    pub fn next(self, place: u16) -> Option<u16> {
        let apart = self.links.next[usize::from(place)].load(Ordering::Relaxed);
        if apart == 0 {
            return None;
        }
        place.checked_add(apart).filter(|next| *next <= self.last)
    }

    /// Calls `visit` with up to two neighbours on each side and their distance.
    pub fn for_each_neighbour(self, place: u16, visit: &mut impl FnMut(u16, usize)) {
        if let Some(before) = self.previous(place) {
            visit(before, 1);
            if let Some(before) = self.previous(before) {
                visit(before, 2);
            }
        }
        if let Some(after) = self.next(place) {
            visit(after, 1);
            if let Some(after) = self.next(after) {
                visit(after, 2);
            }
        }
    }
}

fn split(ordinal: u32) -> (usize, usize) {
    ((ordinal / SEGMENT) as usize, (ordinal % SEGMENT) as usize)
}
