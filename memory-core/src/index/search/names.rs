//! The score for what the question names: an entity, a span of time, a quoted phrase.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::words::WordGroup;
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
    /// The question's groups of words of which whatever the named entities did holds one; empty if that cannot be told.
    of_names: Vec<usize>,
    near: &'a [(TimeSpan, f32)],
    /// The symbols of each phrase in quotes.
    phrases: Vec<Vec<u32>>,
}

impl<'a> Bonus<'a> {
    pub fn from_query(query: &'a SearchQuery, snapshot: &'a Snapshot, groups: &[WordGroup]) -> Self {
        let asked: Vec<String> = words(&query.text).collect();
        let names = names_in(&asked);
        let (mut named, mut runs) = (Vec::new(), BTreeSet::new());
        for (name, first) in snapshot.state.entities.all() {
            let run = names.get(name).or_else(|| names.get(first.as_ref()?));
            named.push(run.is_some());
            runs.extend(run.map(|run| (run.start, run.end)));
        }
        // An entity's name is among the terms of what it did, unless all of its words are stop words.
        let group_of = |word: &String| {
            let symbol = snapshot.state.vocabulary.get(snapshot.options.language.term_of(word)?)?;
            groups.iter().position(|group| group.symbols.contains(&symbol))
        };
        let of_names: Option<Vec<usize>> =
            runs.iter().map(|(start, end)| asked[*start..*end].iter().find_map(group_of)).collect();
        Self {
            snapshot,
            any_named: !runs.is_empty(),
            named,
            of_names: of_names.unwrap_or_default(),
            near: &query.near,
            phrases: phrases::quoted(&query.text, snapshot),
        }
    }

    /// Returns the maximum bonus of a named entity for a document that holds one of these groups of words, by their numbers.
    pub fn of_names(&self) -> (&[usize], f32) {
        (&self.of_names, self.snapshot.options.fusion.entity.max(0.0))
    }

    /// The most that a document can gain that holds none of those.
    pub fn most_elsewhere(&self) -> f32 {
        let fusion = &self.snapshot.options.fusion;
        let near = self.near.iter().fold(0.0_f32, |most, (_, weight)| most.max(*weight));
        let entity = if self.any_named && self.of_names.is_empty() { fusion.entity } else { 0.0 };
        let phrase = if self.phrases.is_empty() { 0.0 } else { fusion.phrase };
        entity.max(0.0) + (fusion.near * near).max(0.0) + phrase.max(0.0)
    }

    /// The most that any document can gain.
    pub fn most(&self) -> f32 {
        self.most_elsewhere()
            + if self.of_names.is_empty() { 0.0 } else { self.snapshot.options.fusion.entity.max(0.0) }
    }

    /// Returns the bonus of a document that holds one of those groups, or does not.
    pub fn of_document(&self, ordinal: u32, holds_name: bool) -> f32 {
        let (fusion, state) = (&self.snapshot.options.fusion, &self.snapshot.state);
        let mut bonus = 0.0;
        if self.any_named
            && (holds_name || self.of_names.is_empty())
            && state.entries.entity(ordinal).is_some_and(|entity| self.named[entity as usize])
        {
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

/// Every run of words of the question that could be a name, by its hash.
fn names_in(words: &[String]) -> HashMap<u64, Range<usize>> {
    let mut names = HashMap::new();
    for start in 0..words.len() {
        for end in start + 1..=words.len().min(start + LONGEST_NAME) {
            if end > start + 1 || !is_stop_word(&words[start]) {
                names.insert(name_hash(words[start..end].iter().map(String::as_str)), start..end);
            }
        }
    }
    names
}
