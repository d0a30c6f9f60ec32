//! The persons of several captions: each description is looked for once, and all votes decide together.

use std::sync::Arc;

use super::description::{PersonDescription, descriptions};
use super::votes::{MIN_VOTES, PersonVotes};
use crate::recall::reading::ParsedEvent;
use crate::{EventId, ReadError};

/// Maximum number of descriptions whose person is looked for, per question.
const MAX_DESCRIPTIONS: usize = 12;
/// The fewest votes for "a man" or "a woman", who may be anybody.
const MIN_VOTES_FOR_ANYBODY: f32 = 0.9;
/// How many times as many votes as anybody else they have.
const MIN_RATIO: f32 = 1.5;

/// A description with the votes for every person whom it may mean, the most first.
#[derive(Debug)]
pub(super) struct DescribedPerson {
    /// The caption in which it was looked for.
    event: EventId,
    pub description: PersonDescription,
    /// Other captions with the same description.
    others: Vec<Arc<ParsedEvent>>,
    pub ranked: Vec<(String, f32)>,
}

/// The descriptions of some captions.
#[derive(Debug, Default)]
pub(super) struct DescribedPersons(pub Vec<DescribedPerson>);

impl DescribedPersons {
    /// Looks for the persons who are described in a caption.
    ///
    /// # Errors
    /// If the store could not be read.
    pub fn look_for(&mut self, caption: &ParsedEvent, votes: &PersonVotes<'_>) -> Result<(), ReadError> {
        for description in descriptions(caption) {
            if self.0.len() < MAX_DESCRIPTIONS && self.known(caption, &description).is_none() {
                let others = votes.captions_of(&description, caption)?;
                let ranked = votes.persons(caption, &description, &others)?;
                self.0.push(DescribedPerson { event: caption.event.id, description, others, ranked });
            }
        }
        Ok(())
    }

    /// Returns the captions that were read beside those in which descriptions were looked for.
    pub fn others(&self) -> impl Iterator<Item = &Arc<ParsedEvent>> {
        self.0.iter().flat_map(|described| &described.others)
    }

    /// Returns the persons who are identified in a caption, in the order of the text. Nobody is there twice: whom more votes
    /// are for is described, and the others are not.
    pub fn in_caption(&self, caption: &ParsedEvent) -> Vec<(PersonDescription, String)> {
        let mut found: Vec<(PersonDescription, &(String, f32))> = Vec::new();
        for described in descriptions(caption) {
            let meant = self.known(caption, &described).and_then(|known| self.meant(known));
            found.extend(meant.map(|meant| (described, meant)));
        }
        found.sort_by(|(_, (_, a)), (_, (_, b))| b.total_cmp(a));
        let mut each: Vec<(PersonDescription, String)> = Vec::new();
        for (described, (name, _)) in found {
            if each.iter().all(|(_, known)| known != name) {
                each.push((described, name.clone()));
            }
        }
        each.sort_by_key(|(described, _)| described.range.start);
        each
    }

    /// Returns what is known of a description. "A man" is known only in the caption itself.
    fn known(&self, caption: &ParsedEvent, described: &PersonDescription) -> Option<&DescribedPerson> {
        self.0.iter().find(|known| match described.is_anybody() {
            true => known.event == caption.event.id && known.description.range == described.range,
            false => known.description.says_the_same(described),
        })
    }

    /// Returns the person who is meant by a description, with the votes. `None` if it may be nobody of them, or several. Who
    /// is known to look otherwise does not count as another one, and a man is no girl.
    fn meant<'p>(&'p self, described: &'p DescribedPerson) -> Option<&'p (String, f32)> {
        let is_other =
            |name: &str, votes: f32| self.looks_otherwise(name, votes, |other| other.excludes(&described.description));
        let first = described.ranked.iter().position(|(name, votes)| !is_other(name, *votes))?;
        let best = &described.ranked[first];
        let mut others = described.ranked[first + 1..].iter();
        let second = others.find(|(other, votes)| {
            !self.looks_otherwise(other, *votes, |known| !known.is_of_same_person(&described.description))
        });
        let second = second.map_or(0.0, |(_, votes)| *votes);
        let least = if described.description.is_anybody() { MIN_VOTES_FOR_ANYBODY } else { MIN_VOTES };
        (best.1 >= least && best.1 >= MIN_RATIO * second).then_some(best)
    }

    /// Returns whether a person is rather meant by another description, one of those that are given.
    fn looks_otherwise(&self, name: &str, votes: f32, is_given: impl Fn(&PersonDescription) -> bool) -> bool {
        let others = self.0.iter().filter(|other| !other.description.is_anybody() && is_given(&other.description));
        others.filter_map(|other| other.ranked.first()).any(|(other, best)| other == name && *best >= MIN_RATIO * votes)
    }
}
