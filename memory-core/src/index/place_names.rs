//! New names of places: what a name that was told before stands for now.
//!
//! Nothing that was told is rewritten. A name that was told before a rename means the new name; the same name told afterwards is
//! that of another place.

use std::collections::BTreeMap;

use crate::shared::Shared;
use crate::words::fold_name;
use crate::{EventId, Timestamp};

/// A place got another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// The event that says so.
    pub event: EventId,
    /// When.
    pub at: Timestamp,
    /// The name until then.
    pub old: String,
    /// The name from then on.
    pub new: String,
}

/// The renames of all places. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct PlaceNames {
    /// Folded old names, and their renames in order of events.
    renames: Shared<BTreeMap<String, Vec<Rename>>>,
}

impl PlaceNames {
    /// Takes in a rename. The others must be of earlier events.
    pub fn add(&mut self, rename: Rename) {
        if fold_name(&rename.old) != fold_name(&rename.new) {
            self.renames.change().entry(fold_name(&rename.old)).or_default().push(rename);
        }
    }

    /// Takes the rename back that an event said.
    pub fn remove(&mut self, event: EventId) {
        if self.renames.values().flatten().any(|rename| rename.event == event) {
            let renames = self.renames.change();
            renames.values_mut().for_each(|all| all.retain(|rename| rename.event != event));
            renames.retain(|_, all| !all.is_empty());
        }
    }

    /// The last rename of a name before an event; 0 without one. Until the next one the name means one place.
    pub fn epoch(&self, folded: &str, event: EventId) -> u64 {
        let all = self.renames.get(folded).map_or(&[][..], Vec::as_slice);
        all.iter().rev().find(|rename| rename.event < event).map_or(0, |rename| rename.event.0)
    }

    /// The name now of what had a name after the event `epoch`; `None` if it is the same.
    pub fn since(&self, folded: &str, epoch: u64) -> Option<&str> {
        let first = self.renames.get(folded)?.iter().find(|rename| rename.event.0 > epoch)?;
        Some(self.follow(first))
    }

    /// The name now of what had a name at a time.
    pub fn current<'n>(&'n self, name: &'n str, at: Timestamp) -> &'n str {
        let renamed = || self.renames.get(&fold_name(name))?.iter().find(|rename| rename.at > at);
        if self.renames.is_empty() { name } else { renamed().map_or(name, |first| self.follow(first)) }
    }

    /// Every old name with the name that the place has now, the latest renames first.
    pub fn old_names(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut all: Vec<&Rename> = self.renames.values().flatten().collect();
        all.sort_by_key(|rename| std::cmp::Reverse(rename.event));
        all.into_iter().map(|rename| (rename.old.as_str(), self.follow(rename)))
    }

    /// The names under which a place was known, apart from the one that is asked with: old ones, and the one that it has now.
    pub fn others(&self, name: &str) -> Vec<&str> {
        let asked = fold_name(name);
        let mut meant = vec![asked.clone()];
        meant.extend(self.old_names().filter(|(old, _)| fold_name(old) == asked).map(|(_, new)| fold_name(new)));
        let mut others: Vec<&str> = Vec::new();
        for (old, new) in self.old_names().filter(|(_, new)| meant.contains(&fold_name(new))) {
            for name in [old, new] {
                if fold_name(name) != asked && !others.iter().any(|known| fold_name(known) == fold_name(name)) {
                    others.push(name);
                }
            }
        }
        others
    }

    /// The end of a chain of renames. Each is of a later event than the one before, so it ends.
    fn follow<'n>(&'n self, first: &'n Rename) -> &'n str {
        let mut last = first;
        while let Some(next) =
            self.renames.get(&fold_name(&last.new)).and_then(|all| all.iter().find(|rename| rename.event > last.event))
        {
            last = next;
        }
        &last.new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    fn names(renames: &[(u64, &str, &str)]) -> PlaceNames {
        let mut names = PlaceNames::default();
        for (event, old, new) in renames {
            let at = at(i64::try_from(*event).unwrap());
            names.add(Rename { event: EventId(*event), at, old: (*old).into(), new: (*new).into() });
        }
        names
    }

    #[test]
    fn a_name_follows_the_renames_after_it_was_told() {
        let names = names(&[(10, "Workshop", "lab"), (20, "lab", "den"), (30, "workshop", "attic")]);
        assert_eq!(names.current("workshop", at(5)), "den");
        assert_eq!(names.current("workshop", at(15)), "attic", "another place had the name by then");
        assert_eq!(names.current("workshop", at(35)), "workshop");
        assert_eq!(names.current("hall", at(5)), "hall");
        assert_eq!(names.since("workshop", names.epoch("workshop", EventId(5))), Some("den"));
        assert_eq!(names.since("workshop", names.epoch("workshop", EventId(15))), Some("attic"));
        assert_eq!(names.since("workshop", names.epoch("workshop", EventId(35))), None);
        assert_eq!(names.others("den"), ["lab", "Workshop"]);
        assert!(names.others("lab").contains(&"den"), "{:?}", names.others("lab"));
    }

    #[test]
    fn a_name_that_comes_back_ends_the_chain() {
        let mut names = names(&[(1, "workshop", "lab"), (2, "lab", "workshop")]);
        assert_eq!(names.current("workshop", at(0)), "workshop");
        assert_eq!(names.current("lab", at(1)), "workshop");
        names.remove(EventId(2));
        assert_eq!(names.current("workshop", at(0)), "lab");
        names.remove(EventId(1));
        assert_eq!(names.current("workshop", at(0)), "workshop");
    }
}
