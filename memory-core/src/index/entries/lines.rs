//! The documents of a segment in an order in which neighbours in time stand side by side, so that windows are sums of shifted
//! arrays.
//!
//! With one source that is the order of places itself. Arrays begin with [`MARGIN`] empty entries and end with as many behind a
//! whole number of [`STRIP`]s: so a walk strip by strip may read beyond either end.

use prefetch_index::prefetch_index;

use super::links::SegmentLinks;
use crate::index::fusion::TERM_WINDOW;

/// How far a window reaches to each side.
pub(in crate::index) const MARGIN: usize = 2;
/// Positions that are scored together.
pub(in crate::index) const STRIP: usize = 256;
/// Documents of a strip that are looked at together.
pub(in crate::index) const RUN: usize = 16;
/// Runs of a strip.
pub(in crate::index) const RUNS: usize = STRIP / RUN;
/// A strip with what its windows reach.
pub(in crate::index) const REACH: usize = STRIP + 2 * MARGIN;

/// [`TERM_WINDOW`] in whole numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "3, 2 and 1")]
const WINDOW: [u32; 3] = [TERM_WINDOW[0] as u32, TERM_WINDOW[1] as u32, TERM_WINDOW[2] as u32];

/// Places by position, and positions by place.
type Orders = (Box<[u16]>, Box<[u16]>);

/// How many terms the documents of a run hold. It lies in one line of the cache, because few runs of a strip are read.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(in crate::index) struct RunLengths {
    /// By themselves.
    pub own: [u16; RUN],
    /// In their contexts, as terms are weighted there; up to 65,535.
    pub around: [u16; RUN],
}

/// Documents in an order of lines: runs in which each is the neighbour of the one before.
#[derive(Debug)]
pub(in crate::index) struct Lines {
    count: usize,
    /// All ones where a document is the neighbour of the one at the position before.
    linked: Box<[u8]>,
    /// By run.
    lengths: Box<[RunLengths]>,
    /// Offsets where places and positions differ.
    orders: Option<Orders>,
}

/// Length of an array for `count` documents.
pub(in crate::index) fn padded(count: usize) -> usize {
    count.div_ceil(STRIP) * STRIP + 2 * MARGIN
}

impl Lines {
    pub fn from_links(links: SegmentLinks<'_>) -> Self {
        let count = links.count();
        let mut lines = Self {
            count,
            linked: vec![0; padded(count)].into(),
            lengths: vec![RunLengths { own: [0; RUN], around: [0; RUN] }; count.next_multiple_of(STRIP) / RUN].into(),
            orders: None,
        };
        let place_of = |place: usize| u16::try_from(place).expect("a segment has 65,536 places");
        // With one source the order is that of places.
        let plain = (0..count).all(|place| {
            let before = links.previous(place_of(place));
            lines.put(place, place_of(place), before.is_some(), links);
            before.is_none_or(|before| usize::from(before) + 1 == place)
        });
        if plain {
            lines.look_around();
            return lines;
        }
        let (mut places, mut positions) = (Vec::with_capacity(count), vec![0_u16; count]);
        for begin in (0..count).map(place_of) {
            if links.previous(begin).is_some_and(|before| links.next(before) == Some(begin)) {
                continue;
            }
            let mut at = Some(begin);
            while let Some(place) = at {
                lines.put(places.len(), place, place != begin, links);
                positions[usize::from(place)] = place_of(places.len());
                places.push(place);
                at = links.next(place).filter(|next| links.previous(*next) == Some(place));
            }
        }
        lines.look_around();
        lines.orders = Some((places.into(), positions.into()));
        lines
    }

    fn put(&mut self, position: usize, place: u16, linked: bool, links: SegmentLinks<'_>) {
        self.linked[MARGIN + position] = if linked { u8::MAX } else { 0 };
        self.lengths[position / RUN].own[position % RUN] = links.length(place);
    }

    fn look_around(&mut self) {
        let margin = || [0; MARGIN].iter();
        let own: Vec<u16> =
            margin().chain(self.lengths.iter().flat_map(|run| &run.own)).chain(margin()).copied().collect();
        let mut around = [0; STRIP];
        for (strip, runs) in self.lengths.chunks_exact_mut(RUNS).enumerate() {
            lengths_in_context(reach(&own, strip), reach(&self.linked, strip), &mut around);
            runs.iter_mut().zip(around.as_chunks().0).for_each(|(run, around)| run.around = *around);
        }
    }

    /// How many documents.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether places are positions.
    pub fn is_in_order(&self) -> bool {
        self.orders.is_none()
    }

    /// Returns the position of the document at a place.
    pub fn position(&self, place: u16) -> usize {
        match &self.orders {
            None => usize::from(place),
            Some((_, positions)) => usize::from(positions[usize::from(place)]),
        }
    }

    /// Which document stands at a position.
    pub fn place(&self, position: usize) -> u16 {
        match &self.orders {
            None => u16::try_from(position).expect("a segment has 65,536 places"),
            Some((places, _)) => places[position],
        }
    }

    /// Links of a strip and what its windows reach.
    pub fn linked(&self, strip: usize) -> &[u8; REACH] {
        reach(&self.linked, strip)
    }

    /// Lengths of the runs of a strip.
    pub fn lengths(&self, strip: usize) -> &[RunLengths; RUNS] {
        &self.lengths.as_chunks().0[strip]
    }

    /// Asks the memory for the lengths of a strip's run, so that they are at hand when they are needed.
    pub fn ask_for_lengths(&self, strip: usize, run: usize) {
        prefetch_index(&self.lengths, strip * RUNS + run);
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.linked.len()
            + size_of_val::<[RunLengths]>(&self.lengths)
            + if self.orders.is_some() { self.count * 4 } else { 0 }
    }
}

/// Lengths of a strip's documents with their neighbours', weighted as terms are in a context.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
fn lengths_in_context(lengths: &[u16; REACH], linked: &[u8; REACH], around: &mut [u16; STRIP]) {
    let held = |at: usize, linked: u8| if linked == 0 { 0 } else { u32::from(lengths[at]) };
    for (at, around) in around.iter_mut().enumerate() {
        let at = at + MARGIN;
        let first = held(at - 1, linked[at]) + held(at + 1, linked[at + 1]);
        let second = held(at - 2, linked[at] & linked[at - 1]) + held(at + 2, linked[at + 1] & linked[at + 2]);
        let all = WINDOW[0] * u32::from(lengths[at]) + WINDOW[1] * first + WINDOW[2] * second;
        #[expect(clippy::cast_possible_truncation, reason = "cut to 16 bits")]
        let cut = all.min(u32::from(u16::MAX)) as u16;
        *around = cut;
    }
}

/// A strip of an array with margins.
pub(in crate::index) fn reach<T>(array: &[T], strip: usize) -> &[T; REACH] {
    array[strip * STRIP..].first_chunk().expect("arrays hold whole strips and their margins")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::{Links, NONE};
    use super::*;

    proptest! {
        #[test]
        fn neighbours_stand_side_by_side_whatever_the_sources(sources in prop::collection::vec((0_u32..4, any::<bool>()), 1..700)) {
            let mut links = Links::default();
            let mut last = BTreeMap::new();
            for (ordinal, (source, pause)) in (0_u32..).zip(&sources) {
                let previous = last.insert(*source, ordinal).filter(|_| !pause).unwrap_or(NONE);
                links.push(previous, u16::try_from(ordinal).unwrap());
            }
            let segment = links.segment(0);
            let lines = Lines::from_links(segment);
            prop_assert_eq!(lines.count(), sources.len());
            for place in 0..u16::try_from(sources.len()).unwrap() {
                let position = lines.position(place);
                prop_assert_eq!(lines.place(position), place);
                let (strip, at) = (position / STRIP, MARGIN + position % STRIP);
                let linked = lines.linked(strip);
                prop_assert_eq!(lines.lengths(strip)[position % STRIP / RUN].own[position % RUN], place);
                let mut expected = Vec::new();
                segment.for_each_neighbour(place, &mut |neighbour, distance| expected.push((neighbour, distance)));
                let mut found = Vec::new();
                if linked[at] != 0 {
                    found.push((lines.place(position - 1), 1));
                    if linked[at - 1] != 0 {
                        found.push((lines.place(position - 2), 2));
                    }
                }
                if linked[at + 1] != 0 {
                    found.push((lines.place(position + 1), 1));
                    if linked[at + 2] != 0 {
                        found.push((lines.place(position + 2), 2));
                    }
                }
                prop_assert_eq!(found, expected);
            }
        }
    }
}
