//! Parts of speech and the share of each for a word.

use super::category::Category;

/// A class of content words. Function words ("the", "of", "she") have none. The table lacks them, or has only a rare
/// homograph ("a" the unit, "he" the element), so look for them before you use the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PartOfSpeech {
    Noun,
    Verb,
    Adjective,
    Adverb,
}

impl PartOfSpeech {
    /// All parts of speech, in the table's order.
    pub(crate) const ALL: [Self; 4] = [Self::Noun, Self::Verb, Self::Adjective, Self::Adverb];

    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    pub(super) fn of_file(file: u8) -> Self {
        Category::from_file(file).part_of_speech()
    }
}

/// The possible parts of speech of a word, the most likely first, each with its share of the word's uses in 255ths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PartShares {
    entries: [Option<(PartOfSpeech, u8)>; 4],
}

impl PartShares {
    /// Creates shares in proportion to `weights`, which are in the order of [`PartOfSpeech::ALL`].
    pub(super) fn from_weights(weights: [f32; 4]) -> Self {
        let total: f32 = weights.iter().sum();
        let mut entries = [None; 4];
        let mut filled = 0;
        for (part, weight) in PartOfSpeech::ALL.into_iter().zip(weights) {
            if weight > 0.0 {
                let share = (weight / total * 255.0).round().clamp(1.0, 255.0);
                entries[filled] = Some((part, share as u8));
                filled += 1;
            }
        }
        entries[..filled].sort_by_key(|entry| std::cmp::Reverse(entry.map(|(_, share)| share)));
        Self { entries }
    }

    /// Returns the parts of speech with their shares, the most likely first; nothing for an unknown word.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PartOfSpeech, u8)> + '_ {
        self.entries.iter().flatten().copied()
    }

    /// Returns the most likely part of speech, if the word is known.
    pub(crate) fn first(&self) -> Option<PartOfSpeech> {
        self.entries[0].map(|(part, _)| part)
    }

    /// Returns the share of `part` in 255ths, 0 if the word is never a `part`.
    pub(crate) fn share(&self, part: PartOfSpeech) -> u8 {
        self.iter().find(|(other, _)| *other == part).map_or(0, |(_, share)| share)
    }

    /// Returns whether the word can be a `part` at all.
    pub(crate) fn can_be(&self, part: PartOfSpeech) -> bool {
        self.share(part) > 0
    }

    /// Returns whether the word is unknown.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries[0].is_none()
    }
}
