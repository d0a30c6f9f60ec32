//! Which place is where: the cells of a map in which a place was named.

use std::collections::BTreeMap;

use super::place_names::{PlaceNames, Rename};
use crate::shared::Shared;
use crate::words::fold_name;
use crate::{EventId, Timestamp};

/// Edge of a cell, in metres.
const CELL_M: f64 = 1.0;
/// Maximum distance, in metres, from where a place was named.
const MAX_DISTANCE_M: f64 = 5.0;

/// A place that has a name and a position.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedPlace {
    /// Name as it was first told.
    pub name: String,
    /// The map.
    pub frame: String,
    /// The middle of where it was named, metres.
    pub x: f64,
    /// The same.
    pub y: f64,
    /// How far from there it was named, metres.
    pub radius: f64,
    /// How often.
    pub named: u64,
}

/// How often a place was named in a cell, and where on average.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct NamedCell {
    count: u64,
    x: f64,
    y: f64,
}

/// Points at which one place was named on one map.
#[derive(Default)]
struct Spots {
    all: NamedCell,
    /// Mean point of each cell.
    middles: Vec<(f64, f64)>,
}

/// The places that were named where they are. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct PlaceMap {
    /// Frame, row, column and folded name of a place, and the rename after which it was named so (0: none).
    cells: Shared<BTreeMap<Cell, NamedCell>>,
    /// Folded names, and the names as they were first told.
    names: Shared<BTreeMap<String, String>>,
    /// Current names of the places.
    renamed: PlaceNames,
}

type Cell = (String, i32, i32, String, u64);

impl PlaceMap {
    /// A place was named somewhere by an event.
    pub fn add(&mut self, event: EventId, name: &str, frame: &str, x: f64, y: f64) {
        let folded = fold_name(name);
        let epoch = self.renamed.epoch(&folded, event);
        if !self.names.contains_key(&folded) {
            self.names.change().insert(folded.clone(), name.trim().to_owned());
        }
        let named = self.cells.change().entry((frame.to_owned(), cell(y), cell(x), folded, epoch)).or_default();
        named.count += 1;
        named.x += x;
        named.y += y;
    }

    /// Takes back what an event added.
    pub fn remove(&mut self, event: EventId, name: &str, frame: &str, x: f64, y: f64) {
        let folded = fold_name(name);
        let key = |epoch: u64| (frame.to_owned(), cell(y), cell(x), folded.clone(), epoch);
        let cells = self.cells.change();
        let exact = key(self.renamed.epoch(&folded, event));
        // The rename between may be forgotten.
        let any = || cells.range(key(0)..=key(u64::MAX)).next().map(|(key, _)| key.clone());
        let Some(key) = cells.contains_key(&exact).then_some(exact).or_else(any) else { return };
        if let Some(named) = cells.get_mut(&key) {
            named.count -= 1;
            named.x -= x;
            named.y -= y;
            if named.count == 0 {
                cells.remove(&key);
            }
        }
        if !cells.keys().any(|(.., name, _)| *name == folded) {
            self.names.change().remove(&folded);
        }
    }

    /// The place that a position belongs to: the one that was named nearest, if that is near enough.
    pub fn place_at(&self, frame: &str, x: f64, y: f64) -> Option<&str> {
        let mut best: Option<(f64, &str, u64)> = None;
        for row in cell(y - MAX_DISTANCE_M)..=cell(y + MAX_DISTANCE_M) {
            let from = (frame.to_owned(), row, cell(x - MAX_DISTANCE_M), String::new(), 0);
            let to = (frame.to_owned(), row, cell(x + MAX_DISTANCE_M) + 1, String::new(), 0);
            for ((.., name, epoch), named) in self.cells.range(from..to) {
                let (own_x, own_y) = named.middle();
                let distance = (own_x - x).hypot(own_y - y);
                if distance <= MAX_DISTANCE_M && best.is_none_or(|(least, ..)| distance < least) {
                    best = Some((distance, name, *epoch));
                }
            }
        }
        best.map(|(_, folded, epoch)| self.shown(folded, epoch))
    }

    /// The name now of what was named so after a rename.
    fn shown<'n>(&'n self, folded: &'n str, epoch: u64) -> &'n str {
        self.renamed.since(folded, epoch).or_else(|| self.names.get(folded).map(String::as_str)).unwrap_or(folded)
    }

    /// Takes in that a place has another name from an event on.
    pub fn rename(&mut self, rename: Rename) {
        self.renamed.add(rename);
    }

    /// Takes back what an event renamed.
    pub fn unrename(&mut self, event: EventId) {
        self.renamed.remove(event);
    }

    /// The name now of a place that had a name at a time.
    pub fn current<'n>(&'n self, name: &'n str, at: Timestamp) -> &'n str {
        self.renamed.current(name, at)
    }

    /// The renames.
    pub fn names(&self) -> &PlaceNames {
        &self.renamed
    }

    /// Every place on every map, in order of names.
    pub fn places(&self) -> Vec<MappedPlace> {
        let mut found: BTreeMap<(String, &str), Spots> = BTreeMap::new();
        let mut shown: BTreeMap<String, &str> = BTreeMap::new();
        for ((frame, .., name, epoch), named) in self.cells.iter() {
            let own = self.shown(name, *epoch);
            let folded = fold_name(own);
            shown.entry(folded.clone()).or_insert(own);
            let Spots { all, middles } = found.entry((folded, frame)).or_default();
            all.count += named.count;
            all.x += named.x;
            all.y += named.y;
            middles.push(named.middle());
        }
        let place = |((name, frame), Spots { all, middles }): ((String, &str), Spots)| {
            let (x, y) = all.middle();
            let radius = middles.iter().map(|(own_x, own_y)| (own_x - x).hypot(own_y - y)).fold(0.0, f64::max);
            let name = shown.get(&name).map_or(name, |shown| (*shown).to_owned());
            MappedPlace { name, frame: frame.to_owned(), x, y, radius, named: all.count }
        };
        found.into_iter().map(place).collect()
    }

    /// Whether nothing was named anywhere.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl NamedCell {
    #[expect(clippy::cast_precision_loss, reason = "a count of events")]
    fn middle(&self) -> (f64, f64) {
        let count = self.count.max(1) as f64;
        (self.x / count, self.y / count)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "coordinates are bounded when they are admitted")]
fn cell(coordinate: f64) -> i32 {
    (coordinate / CELL_M).floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_belongs_to_the_place_that_was_named_nearest() {
        let mut map = PlaceMap::default();
        map.add(EventId(1), "Kitchen", "map", 2.0, 2.0);
        map.add(EventId(2), "hall", "map", 8.0, 2.0);
        assert_eq!(map.place_at("map", 3.5, 1.0), Some("Kitchen"));
        assert_eq!(map.place_at("map", 6.0, 2.0), Some("hall"));
        assert_eq!(map.place_at("cellar", 2.0, 2.0), None, "another map");
        assert_eq!(map.place_at("map", 2.0, 30.0), None, "too far away");
        map.remove(EventId(1), "kitchen", "map", 2.0, 2.0);
        assert_eq!(map.place_at("map", 3.5, 1.0), Some("hall"));
        assert_eq!(map.places().len(), 1);
    }

    #[test]
    fn the_middle_of_a_place_is_where_it_was_named_on_average() {
        let mut map = PlaceMap::default();
        for (x, y) in [(0.0, 0.0), (4.0, 0.0), (2.0, 3.0)] {
            map.add(EventId(3), "hall", "map", x, y);
        }
        let places = map.places();
        assert_eq!((places[0].x, places[0].y, places[0].named), (2.0, 1.0, 3));
        assert!((places[0].radius - 5.0_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_renamed_place_keeps_its_spots_and_its_old_name_is_free() {
        let rename = |event: u64, old: &str, new: &str| Rename {
            event: EventId(event),
            at: Timestamp::from_micros(0),
            old: old.into(),
            new: new.into(),
        };
        let mut map = PlaceMap::default();
        map.add(EventId(1), "workshop", "map", 2.0, 2.0);
        map.rename(rename(2, "Workshop", "lab"));
        map.add(EventId(3), "Lab", "map", 4.0, 2.0);
        map.add(EventId(4), "workshop", "map", 20.0, 2.0);
        assert_eq!(map.place_at("map", 2.0, 2.0), Some("lab"));
        assert_eq!(map.place_at("map", 20.0, 2.0), Some("workshop"));
        let places: Vec<(String, u64)> = map.places().into_iter().map(|place| (place.name, place.named)).collect();
        assert_eq!(places, [("lab".into(), 2), ("workshop".into(), 1)]);
        map.unrename(EventId(2));
        assert_eq!(map.place_at("map", 2.0, 2.0), Some("workshop"));
        map.remove(EventId(4), "workshop", "map", 20.0, 2.0);
        assert_eq!(map.place_at("map", 20.0, 2.0), None, "also where the rename went first");
    }
}
