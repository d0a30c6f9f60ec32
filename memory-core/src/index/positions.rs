//! Where events were: answers "which events lie in this circle".
//!
//! A grid of square cells, kept as sorted runs: an entry's place in a run is its frame, its row and its column. A circle
//! covers a few rows, and the columns that it covers in a row lie side by side in every run. New entries come as a run of
//! their own; a run that is less than twice as long as the one after it is merged with it, so there are few of them, and an
//! entry is copied O(log n) times. Runs never change, so a reader keeps a state by cloning a few pointers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::shared::Shared;
use crate::{EventId, Near};

/// Edge of a cell, in metres: about what a robot reaches.
const CELL_M: f64 = 1.0;
/// Maximum number of hidden entries that stay in the runs.
const MAX_HIDDEN: usize = 1_024;

/// The position of an event.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PositionEntry {
    event: u64,
    frame: u32,
    x: f32,
    y: f32,
}

impl PositionEntry {
    fn key(&self) -> (u32, i32, i32, u64) {
        (self.frame, cell(f64::from(self.y)), cell(f64::from(self.x)), self.event)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "coordinates are bounded when they are admitted")]
fn cell(coordinate: f64) -> i32 {
    (coordinate / CELL_M).floor() as i32
}

/// The positions of all visible events that have one. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct PositionIndex {
    frames: Shared<BTreeMap<String, u32>>,
    runs: Vec<Arc<[PositionEntry]>>,
    hidden: Shared<BTreeSet<u64>>,
}

impl PositionIndex {
    /// Adds positions; an event has at most one.
    pub fn append(&mut self, positions: impl IntoIterator<Item = (EventId, impl AsRef<str>, f64, f64)>) {
        let mut run: Vec<PositionEntry> = Vec::new();
        for (event, frame, x, y) in positions {
            let frame = self.number_of(frame.as_ref());
            #[expect(clippy::cast_possible_truncation, reason = "a millimetre at ten kilometres")]
            run.push(PositionEntry { event: event.0, frame, x: x as f32, y: y as f32 });
        }
        if run.is_empty() {
            return;
        }
        run.sort_unstable_by_key(PositionEntry::key);
        while self.runs.last().is_some_and(|last| last.len() < 2 * run.len()) {
            let Some(last) = self.runs.pop() else { break };
            run = self.merged(&last, &run);
        }
        self.runs.push(run.into());
    }

    fn number_of(&mut self, frame: &str) -> u32 {
        if let Some(number) = self.frames.get(frame) {
            return *number;
        }
        let number = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.frames.change().insert(frame.to_owned(), number);
        number
    }

    /// Two runs as one; hidden entries are left out.
    fn merged(&self, a: &[PositionEntry], b: &[PositionEntry]) -> Vec<PositionEntry> {
        let mut all = Vec::with_capacity(a.len() + b.len());
        let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(one), Some(two)) if one.key() <= two.key() => a.next(),
                (_, Some(_)) => b.next(),
                (_, None) => a.next(),
            };
            let Some(next) = next else { return all };
            if !self.hidden.contains(&next.event) {
                all.push(*next);
            }
        }
    }

    /// Hides the positions of events; events without one do no harm.
    pub fn hide(&mut self, events: &[EventId]) {
        if self.runs.is_empty() || events.is_empty() {
            return;
        }
        self.hidden.change().extend(events.iter().map(|event| event.0));
        if self.hidden.len() > MAX_HIDDEN.max(self.len() / 8) {
            let mut all = Vec::new();
            for run in std::mem::take(&mut self.runs) {
                all = self.merged(&run, &all);
            }
            self.hidden = Shared::default();
            self.runs.extend((!all.is_empty()).then(|| all.into()));
        }
    }

    /// The events in a circle, in order of ids.
    pub fn near(&self, near: &Near) -> Vec<EventId> {
        let mut found = Vec::new();
        self.for_each_near(near, &mut |event, _, _| found.push(event));
        found.sort_unstable();
        found
    }

    /// Calls `visit` with every event in a circle and its position, in no order that means anything.
    pub fn for_each_near(&self, near: &Near, visit: &mut dyn FnMut(EventId, f64, f64)) {
        let Some(&frame) = self.frames.get(near.frame.trim()) else { return };
        for run in &self.runs {
            let rows = cell(near.y - near.radius)..=cell(near.y + near.radius);
            let columns = (cell(near.x - near.radius), cell(near.x + near.radius));
            // A circle that covers more rows than the run has entries is read through.
            if rows.clone().count() > run.len() {
                self.visit(run.iter().filter(|entry| entry.frame == frame), near, visit);
                continue;
            }
            for row in rows {
                let from = run.partition_point(|entry| entry.key() < (frame, row, columns.0, 0));
                let rest = &run[from..];
                let to = rest.partition_point(|entry| entry.key() <= (frame, row, columns.1, u64::MAX));
                self.visit(rest[..to].iter(), near, visit);
            }
        }
    }

    fn visit<'e>(
        &self,
        entries: impl Iterator<Item = &'e PositionEntry>,
        near: &Near,
        visit: &mut dyn FnMut(EventId, f64, f64),
    ) {
        for entry in entries {
            let (x, y) = (f64::from(entry.x), f64::from(entry.y));
            if near.contains(x, y) && !self.hidden.contains(&entry.event) {
                visit(EventId(entry.event), x, y);
            }
        }
    }

    /// The names of all frames.
    pub fn frames(&self) -> impl Iterator<Item = &str> {
        self.frames.keys().map(String::as_str)
    }

    /// How many entries there are, hidden ones that are not yet removed among them.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|run| run.len()).sum()
    }

    /// Whether no event has a position.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn circle(frame: &str, x: f64, y: f64, radius: f64) -> Near {
        Near { frame: frame.into(), x, y, radius }
    }

    #[test]
    fn another_frame_is_another_world() {
        let mut index = PositionIndex::default();
        index.append([(EventId(1), "map", 1.0, 1.0), (EventId(2), "old map", 1.0, 1.0)]);
        assert_eq!(index.near(&circle("map", 0.0, 0.0, 5.0)), [EventId(1)]);
        assert_eq!(index.near(&circle("odom", 0.0, 0.0, 5.0)), []);
    }

    #[test]
    fn an_earlier_state_stays_as_it_was() {
        let mut index = PositionIndex::default();
        index.append([(EventId(1), "map", 0.0, 0.0)]);
        let before = index.clone();
        index.append([(EventId(2), "map", 0.5, 0.0)]);
        index.hide(&[EventId(1)]);
        assert_eq!(before.near(&circle("map", 0.0, 0.0, 1.0)), [EventId(1)]);
        assert_eq!(index.near(&circle("map", 0.0, 0.0, 1.0)), [EventId(2)]);
    }

    proptest! {
        #[test]
        fn it_finds_what_a_look_at_every_position_finds(
            batches in prop::collection::vec(
                prop::collection::vec((0..2_usize, -40.0..40.0_f64, -40.0..40.0_f64), 0..40), 0..20),
            hide in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
            (x, y, radius) in (-45.0..45.0_f64, -45.0..45.0_f64, 0.01..30.0_f64),
        ) {
            let frames = ["map", "cellar"];
            let mut index = PositionIndex::default();
            let mut all: Vec<(u64, usize, f64, f64)> = Vec::new();
            for batch in batches {
                let first = all.len() as u64 + 1;
                let new: Vec<_> = (first..).zip(batch).map(|(id, (frame, x, y))| {
                    // As precise as the index keeps it.
                    (id, frame, f64::from(x as f32), f64::from(y as f32))
                }).collect();
                index.append(new.iter().map(|(id, frame, x, y)| (EventId(*id), frames[*frame], *x, *y)));
                all.extend(new);
            }
            for one in hide {
                if !all.is_empty() {
                    let (id, ..) = all.swap_remove(one.index(all.len()));
                    index.hide(&[EventId(id)]);
                }
            }
            for (number, frame) in frames.iter().enumerate() {
                let near = circle(frame, x, y, radius);
                let mut expected: Vec<EventId> = all.iter()
                    .filter(|(_, own, x, y)| *own == number && near.contains(*x, *y))
                    .map(|(id, ..)| EventId(*id)).collect();
                expected.sort_unstable();
                prop_assert_eq!(index.near(&near), expected);
            }
        }
    }
}
