//! Which place is where: the cells of a map in which a place was named.

use std::collections::BTreeMap;

use crate::shared::Shared;

/// Edge of a cell, metres.
const CELL: f64 = 1.0;
/// Nobody is at a place that was named farther away than this, metres.
const REACH: f64 = 5.0;

/// A place that has a name and a position.
#[derive(Debug, Clone, PartialEq)]
pub struct MappedPlace {
    /// As it was first told.
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
struct Named {
    count: u64,
    x: f64,
    y: f64,
}

/// Where one place was named on one map.
#[derive(Default)]
struct Spots {
    all: Named,
    /// Of each cell.
    middles: Vec<(f64, f64)>,
}

/// The places that were named where they are. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct PlaceMap {
    /// Frame, row, column and folded name of a place.
    cells: Shared<BTreeMap<(String, i32, i32, String), Named>>,
    /// Folded names, and the names as they were first told.
    names: Shared<BTreeMap<String, String>>,
}

impl PlaceMap {
    /// A place was named somewhere.
    pub fn add(&mut self, name: &str, frame: &str, x: f64, y: f64) {
        let folded = fold(name);
        if !self.names.contains_key(&folded) {
            self.names.change().insert(folded.clone(), name.trim().to_owned());
        }
        let named = self.cells.change().entry((frame.to_owned(), cell(y), cell(x), folded)).or_default();
        named.count += 1;
        named.x += x;
        named.y += y;
    }

    /// What was added is taken back.
    pub fn remove(&mut self, name: &str, frame: &str, x: f64, y: f64) {
        let folded = fold(name);
        let key = (frame.to_owned(), cell(y), cell(x), folded.clone());
        let cells = self.cells.change();
        if let Some(named) = cells.get_mut(&key) {
            named.count -= 1;
            named.x -= x;
            named.y -= y;
            if named.count == 0 {
                cells.remove(&key);
            }
        }
        if !cells.keys().any(|(.., name)| *name == folded) {
            self.names.change().remove(&folded);
        }
    }

    /// The place that a position belongs to: the one that was named nearest, if that is near enough.
    pub fn place_at(&self, frame: &str, x: f64, y: f64) -> Option<&str> {
        let mut best: Option<(f64, &str)> = None;
        for row in cell(y - REACH)..=cell(y + REACH) {
            let from = (frame.to_owned(), row, cell(x - REACH), String::new());
            let to = (frame.to_owned(), row, cell(x + REACH) + 1, String::new());
            for ((.., name), named) in self.cells.range(from..to) {
                let (own_x, own_y) = named.middle();
                let distance = (own_x - x).hypot(own_y - y);
                if distance <= REACH && best.is_none_or(|(least, _)| distance < least) {
                    best = Some((distance, name));
                }
            }
        }
        best.and_then(|(_, folded)| self.names.get(folded)).map(String::as_str)
    }

    /// Every place on every map, in order of names.
    pub fn places(&self) -> Vec<MappedPlace> {
        let mut found: BTreeMap<(&str, &str), Spots> = BTreeMap::new();
        for ((frame, .., name), named) in self.cells.iter() {
            let Spots { all, middles } = found.entry((name, frame)).or_default();
            all.count += named.count;
            all.x += named.x;
            all.y += named.y;
            middles.push(named.middle());
        }
        let place = |((name, frame), Spots { all, middles }): ((&str, &str), Spots)| {
            let (x, y) = all.middle();
            let radius = middles.iter().map(|(own_x, own_y)| (own_x - x).hypot(own_y - y)).fold(0.0, f64::max);
            let name = self.names.get(name).map_or(name, String::as_str).to_owned();
            MappedPlace { name, frame: frame.to_owned(), x, y, radius, named: all.count }
        };
        found.into_iter().map(place).collect()
    }

    /// Whether nothing was named anywhere.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl Named {
    #[expect(clippy::cast_precision_loss, reason = "a count of events")]
    fn middle(&self) -> (f64, f64) {
        let count = self.count.max(1) as f64;
        (self.x / count, self.y / count)
    }
}

fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}

#[expect(clippy::cast_possible_truncation, reason = "coordinates are bounded when they are admitted")]
fn cell(coordinate: f64) -> i32 {
    (coordinate / CELL).floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_belongs_to_the_place_that_was_named_nearest() {
        let mut map = PlaceMap::default();
        map.add("Kitchen", "map", 2.0, 2.0);
        map.add("hall", "map", 8.0, 2.0);
        assert_eq!(map.place_at("map", 3.5, 1.0), Some("Kitchen"));
        assert_eq!(map.place_at("map", 6.0, 2.0), Some("hall"));
        assert_eq!(map.place_at("cellar", 2.0, 2.0), None, "another map");
        assert_eq!(map.place_at("map", 2.0, 30.0), None, "too far away");
        map.remove("kitchen", "map", 2.0, 2.0);
        assert_eq!(map.place_at("map", 3.5, 1.0), Some("hall"));
        assert_eq!(map.places().len(), 1);
    }

    #[test]
    fn the_middle_of_a_place_is_where_it_was_named_on_average() {
        let mut map = PlaceMap::default();
        for (x, y) in [(0.0, 0.0), (4.0, 0.0), (2.0, 3.0)] {
            map.add("hall", "map", x, y);
        }
        let places = map.places();
        assert_eq!((places[0].x, places[0].y, places[0].named), (2.0, 1.0, 3));
        assert!((places[0].radius - 5.0_f64.sqrt()).abs() < 1e-9);
    }
}
