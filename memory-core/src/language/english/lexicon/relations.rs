//! Hypernyms, synonyms and categories of words.

use super::category::Category;
use super::morphology::lemma_candidates;
use super::part_of_speech::PartOfSpeech;
use super::table::{Table, table};

/// Maximum number of senses of a word that are used.
const MAX_WORD_SENSES: usize = 3;
/// Number of senses of a class that are always used.
const MIN_CLASS_SENSES: usize = 2;
/// Maximum number of senses of a class. The further ones need [`MIN_CLASS_SENSE_SHARE`]: "sound" has four about equally
/// common senses, and the third of "drink" is a beverage.
const MAX_CLASS_SENSES: usize = 4;
/// Minimum uses of a further sense of a class, relative to the most common one.
const MIN_CLASS_SENSE_SHARE: f32 = 0.1;
/// Minimum uses of a sense relative to the most common one, if there are [`MIN_USES_FOR_SHARE`].
const MIN_SENSE_SHARE: f32 = 0.05;
/// Minimum number of uses for a meaningful share.
const MIN_USES_FOR_SHARE: u16 = 10;
/// Maximum number of hypernym steps. No chain of WordNet is longer.
const MAX_HYPERNYM_STEPS: usize = 24;

/// Returns the common senses of `word` as `part`, at most `most`, with their ranks. The most likely lemma comes first.
pub(super) fn first_senses(table: &Table, word: &str, part: PartOfSpeech, most: usize) -> Vec<(u32, usize)> {
    let mut found: Vec<(u32, usize)> = Vec::new();
    let mut commonest = 0;
    for candidate in lemma_candidates(word).into_iter().filter(|candidate| candidate.part == part) {
        for (rank, sense) in table.senses_as(candidate.lemma, part).enumerate().take(most) {
            let count = table.sense(sense).count;
            commonest = commonest.max(count);
            let rare = commonest >= MIN_USES_FOR_SHARE && f32::from(count) < MIN_SENSE_SHARE * f32::from(commonest);
            if !rare && found.len() < most + 1 {
                found.push((sense, rank));
            }
        }
    }
    found
}

/// Returns the synsets of `class`, with their ranks.
pub(super) fn class_synsets(table: &Table, class: &str, part: PartOfSpeech) -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    for candidate in lemma_candidates(class).into_iter().filter(|candidate| candidate.part == part).take(2) {
        let senses: Vec<_> = table.senses_as(candidate.lemma, part).map(|sense| table.sense(sense)).collect();
        let enough = MIN_CLASS_SENSE_SHARE * f32::from(senses.first().map_or(0, |sense| sense.count).max(1));
        let ranked = senses.iter().enumerate();
        // "Musical instrument" is a full name of what people call an instrument.
        let full = |synset: u32| {
            let mut names = table.members(synset).iter().map(|sense| table.lemma(table.lemma_of(*sense)));
            names.any(|name| name.rsplit_once(' ').is_some_and(|(_, head)| head == table.lemma(candidate.lemma)))
        };
        let wanted = ranked.filter(|(rank, sense)| {
            *rank < MIN_CLASS_SENSES
                || *rank < MAX_CLASS_SENSES && f32::from(sense.count) >= enough
                || full(sense.synset)
        });
        found.extend(wanted.map(|(rank, sense)| (sense.synset, rank)));
    }
    found
}

/// Returns all hypernyms of `synset` with their distances, itself first, each once by its shortest path.
pub(super) fn hypernyms(table: &Table, synset: u32) -> Vec<(u32, u8)> {
    let mut found = vec![(synset, 0_u8)];
    let mut next = 0;
    while let Some((at, steps)) = found.get(next).copied() {
        next += 1;
        if usize::from(steps) == MAX_HYPERNYM_STEPS {
            break;
        }
        for parent in table.parents(at) {
            if !found.iter().any(|(known, _)| known == parent) {
                found.push((*parent, steps + 1));
            }
        }
    }
    found
}

/// Returns the number of steps from `word` up to `class`, both nouns or both verbs, or `None` if it is not of that
/// class.
///
/// "dog" is an "animal" and "walk" is a "move". A word is of its own class in 0 steps, and so are its synonyms. The
/// first three senses of the word are tried, without rare ones; each rank adds one step. The first two senses of the
/// class are tried, or four that are common enough; any but the first adds one step. The smallest number wins.
pub(crate) fn is_a(word: &str, class: &str) -> Option<u8> {
    [PartOfSpeech::Noun, PartOfSpeech::Verb].into_iter().filter_map(|part| is_a_as(word, class, part)).min()
}

/// As [`is_a`], for one part of speech.
pub(crate) fn is_a_as(word: &str, class: &str, part: PartOfSpeech) -> Option<u8> {
    let table = table();
    let classes = class_synsets(table, class, part);
    if classes.is_empty() {
        return None;
    }
    let mut best: Option<u8> = None;
    for (sense, rank) in first_senses(table, word, part, MAX_WORD_SENSES) {
        for (synset, steps) in hypernyms(table, table.sense(sense).synset) {
            for (_, class_rank) in classes.iter().filter(|(wanted, _)| *wanted == synset) {
                let steps = steps.saturating_add((rank + class_rank.min(&1)) as u8);
                best = Some(best.map_or(steps, |best| best.min(steps)));
            }
        }
    }
    best
}

/// Returns the category of the most common sense of `word` as `part`.
pub(crate) fn category(word: &str, part: PartOfSpeech) -> Option<Category> {
    let table = table();
    let (sense, _) = *first_senses(table, word, part, 1).first()?;
    Some(table.category(table.sense(sense).synset))
}

/// Returns the categories of all senses of `word` as `part`, the most common first, each with its share of the uses in
/// 255ths.
pub(crate) fn categories(word: &str, part: PartOfSpeech) -> Vec<(Category, u8)> {
    let table = table();
    let mut weights: Vec<(Category, f32)> = Vec::new();
    for candidate in lemma_candidates(word).into_iter().filter(|candidate| candidate.part == part) {
        for sense in table.senses_as(candidate.lemma, part).map(|sense| table.sense(sense)) {
            let (category, weight) = (table.category(sense.synset), f32::from(sense.count) + 0.3);
            match weights.iter_mut().find(|(known, _)| *known == category) {
                Some((_, sum)) => *sum += weight,
                None => weights.push((category, weight)),
            }
        }
    }
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total: f32 = weights.iter().map(|(_, weight)| weight).sum();
    weights.into_iter().map(|(category, weight)| (category, (weight / total * 255.0).round() as u8)).collect()
}

/// Returns the synonyms of the first two senses of `word` as `part`, without the word itself, the most common first.
pub(crate) fn synonyms(word: &str, part: PartOfSpeech) -> Vec<&'static str> {
    let table = table();
    let mut found = Vec::new();
    for (sense, _) in first_senses(table, word, part, 2) {
        let own = table.lemma_of(sense);
        for member in table.members(table.sense(sense).synset) {
            let lemma = table.lemma_of(*member);
            if lemma != own && !found.contains(&lemma) {
                found.push(lemma);
            }
        }
    }
    found.into_iter().map(|lemma| table.lemma(lemma)).collect()
}
