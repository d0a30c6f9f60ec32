//! Words with opposite meanings.

use super::morphology::lemma_candidates;
use super::part_of_speech::PartOfSpeech;
use super::relations::first_senses;
use super::table::{Table, table};

const MAX_SENSES: usize = 3;

/// Returns the senses opposite to `sense`: those that WordNet names. If it names none, those of synonyms are taken
/// ("purchase" through "buy"), and for an adjective those of similar adjectives ("huge" through "large").
fn direct_opposites(table: &Table, sense: u32) -> Vec<u32> {
    let named = table.opposites(sense);
    if !named.is_empty() {
        return named.to_vec();
    }
    let synset = table.sense(sense).synset;
    let of = |synset: &u32| -> Vec<u32> {
        table.members(*synset).iter().flat_map(|s| table.opposites(*s)).copied().collect()
    };
    let of_synonyms = of(&synset);
    if !of_synonyms.is_empty() || table.part(synset) != PartOfSpeech::Adjective {
        return of_synonyms;
    }
    table.parents(synset).iter().flat_map(of).collect()
}

/// Returns the opposites of the first three senses of `word` in any part of speech, the most common sense first. A
/// sense without opposites takes those of the words that it is derived from: "liveliness" those of "lively", "arrival"
/// those of "arrive".
pub(crate) fn opposites(word: &str) -> Vec<&'static str> {
    let table = table();
    let mut found: Vec<u32> = Vec::new();
    for part in parts_of_speech_of(word) {
        for (sense, _) in first_senses(table, word, part, MAX_SENSES) {
            let mut here = direct_opposites(table, sense);
            if here.is_empty() {
                let derived = table.derivations(sense).iter().filter(|derived| can_replace(part, table, **derived));
                here = derived.flat_map(|derived| direct_opposites(table, *derived)).collect();
            }
            for lemma in here.into_iter().map(|sense| table.lemma_of(sense)) {
                if !found.contains(&lemma) {
                    found.push(lemma);
                }
            }
        }
    }
    found.into_iter().map(|lemma| table.lemma(lemma)).collect()
}

/// Returns whether `a` and `b` are opposites, in either direction. Lemmas are compared, so "unlocked" and "lock" are.
pub(crate) fn are_opposites(a: &str, b: &str) -> bool {
    let one_way = |a: &str, b: &str| {
        let others = lemma_candidates(b);
        let table = table();
        opposites(a).iter().any(|opposite| others.iter().any(|other| table.lemma(other.lemma) == *opposite))
    };
    one_way(a, b) || one_way(b, a)
}

/// Returns whether a derived word can stand for its source: an adverb for its adjective, a noun for its verb or
/// adjective. The other direction would lead from "work" to "nonworker".
fn can_replace(part: PartOfSpeech, table: &Table, derived: u32) -> bool {
    let other = table.part(table.sense(derived).synset);
    match part {
        PartOfSpeech::Noun | PartOfSpeech::Adverb => matches!(other, PartOfSpeech::Verb | PartOfSpeech::Adjective),
        PartOfSpeech::Adjective => other == PartOfSpeech::Verb,
        PartOfSpeech::Verb => false,
    }
}

fn parts_of_speech_of(word: &str) -> Vec<PartOfSpeech> {
    super::morphology::parts_of_speech(word).iter().map(|(part, _)| part).collect()
}
