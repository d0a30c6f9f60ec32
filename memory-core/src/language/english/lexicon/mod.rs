//! Meanings of English words from a table: parts of speech, lemmas, hypernyms, opposites, synonyms, similarity.
//!
//! The table is made from WordNet 3.0 by `memory-core/scripts/make-lexicon` and embedded (`wordnet.bin`; `NOTICE` has
//! WordNet's licence). It holds everyday English: 62,000 words and phrases with 111,000 senses. It has no names of
//! persons. All look-ups take single words or phrases ("washing machine", with spaces or underscores), inflected or
//! not, in any case. They are deterministic and accept any text. The table is read at the first look-up
//! (docs/decisions.md has the figures).
//!
//! WordNet has no function words ("the", "of", "she"). Look for them first; see [`PartOfSpeech`].

// Recall does not use all of this yet.
#![allow(dead_code, unused_imports)]

#[cfg(test)]
mod benchmark_words;
mod category;
mod labels;
mod memo;
mod morphology;
mod opposites;
mod part_of_speech;
mod relations;
pub(crate) mod scales;
mod similarity;
mod table;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vocabularies;

pub(crate) use category::Category;
pub(crate) use labels::{label_is_a, sound_is_a};
pub(crate) use memo::Memo;
pub(crate) use morphology::{frequency, lemma, lemmas, parts_of_speech};
pub(crate) use opposites::{are_opposites, opposites};
pub(crate) use part_of_speech::{PartOfSpeech, PartShares};
pub(crate) use relations::{categories, category, is_a, is_a_as, synonyms};
pub(crate) use similarity::{is_kind_of, similarity};
