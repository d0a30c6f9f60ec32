//! What a document gains by what the question names: its entity, a span of time, a phrase in quotes.

use std::collections::HashSet;

use super::{Snapshot, phrases};
use crate::TimeSpan;
use crate::index::SearchQuery;
use crate::index::analysis::{is_stop_word, name_hash, words};

/// Longest name of an entity that is recognised in a question, in words.
const LONGEST_NAME: usize = 4;

pub(super) struct Bonus<'a> {
    snapshot: &'a Snapshot,
    /// Whether the entity of a number is named.
    named: Vec<bool>,
    any_named: bool,
    near: &'a [(TimeSpan, f32)],
    /// The symbols of each phrase in quotes.
    phrases: Vec<Vec<u32>>,
}

impl<'a> Bonus<'a> {
    pub fn of(query: &'a SearchQuery, snapshot: &'a Snapshot) -> Self {
        let names = names_in(&query.text);
        let is_named = |(name, first): &(u64, Option<u64>)| {
            names.contains(name) || first.is_some_and(|first| names.contains(&first))
        };
        let named: Vec<bool> = snapshot.state.entities.all().iter().map(is_named).collect();
        let any_named = named.contains(&true);
        Self { snapshot, named, any_named, near: &query.near, phrases: phrases::quoted(&query.text, snapshot) }
    }

    /// The most that any document can gain.
    pub fn most(&self) -> f32 {
        let fusion = &self.snapshot.options.fusion;
        let near = self.near.iter().fold(0.0_f32, |most, (_, weight)| most.max(*weight));
        let entity = if self.any_named { fusion.entity } else { 0.0 };
        let phrase = if self.phrases.is_empty() { 0.0 } else { fusion.phrase };
        entity.max(0.0) + (fusion.near * near).max(0.0) + phrase.max(0.0)
    }

    pub fn of_document(&self, ordinal: u32) -> f32 {
        let (fusion, state) = (&self.snapshot.options.fusion, &self.snapshot.state);
        let mut bonus = 0.0;
        if self.any_named && state.entries.entity(ordinal).is_some_and(|entity| self.named[entity as usize]) {
            bonus += fusion.entity;
        }
        if !self.near.is_empty() {
            let span = state.entries.span(ordinal);
            let inside = self.near.iter().filter(|(near, _)| near.overlaps(span));
            bonus += fusion.near * inside.fold(0.0_f32, |most, (_, weight)| most.max(*weight));
        }
        if self.phrases.iter().any(|phrase| phrases::holds(self.snapshot, ordinal, phrase)) {
            bonus += fusion.phrase;
        }
        bonus
    }
}

/// Hashes of every run of words of the question that could be a name.
fn names_in(question: &str) -> HashSet<u64> {
    let words: Vec<String> = words(question).collect();
    let mut names = HashSet::new();
    for start in 0..words.len() {
        for end in start + 1..=words.len().min(start + LONGEST_NAME) {
            if end > start + 1 || !is_stop_word(&words[start]) {
                names.insert(name_hash(words[start..end].iter().map(String::as_str)));
            }
        }
    }
    names
}
