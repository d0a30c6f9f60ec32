//! What is a kind of what, what means the same, and what means the opposite.

use super::category::Category;
use super::morphology::candidates;
use super::part_of_speech::PartOfSpeech;
use super::table::{Table, table};

/// How many meanings of a word are looked at.
const WORD_SENSES: usize = 3;
/// How many meanings of a class are looked at in any case, and how many if each has a tenth of the uses of the commonest: "sound" has
/// four that are about equally common, and the third of "drink" is a beverage.
const CLASS_SENSES: usize = 2;
const COMMON_CLASS_SENSES: usize = 4;
const COMMON_SHARE: f32 = 0.1;
/// A meaning that has less than this share of the uses of the word's commonest one is not looked at, if there are enough uses to tell.
const LEAST_SHARE: f32 = 0.05;
const ENOUGH_USES: u16 = 10;
/// No chain of WordNet is longer.
const MOST_STEPS: usize = 24;

/// The senses of `word` as `part` that a reader thinks of, at most `most`, with their ranks. The likeliest lemma comes first.
pub(super) fn first_senses(table: &Table, word: &str, part: PartOfSpeech, most: usize) -> Vec<(u32, usize)> {
    let mut found: Vec<(u32, usize)> = Vec::new();
    let mut commonest = 0;
    for candidate in candidates(word).into_iter().filter(|candidate| candidate.part == part) {
        for (rank, sense) in table.senses_as(candidate.lemma, part).enumerate().take(most) {
            let count = table.sense(sense).count;
            commonest = commonest.max(count);
            let rare = commonest >= ENOUGH_USES && f32::from(count) < LEAST_SHARE * f32::from(commonest);
            if !rare && found.len() < most + 1 {
                found.push((sense, rank));
            }
        }
    }
    found
}

/// The synsets that `class` stands for, with their ranks.
pub(super) fn class_synsets(table: &Table, class: &str, part: PartOfSpeech) -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    for candidate in candidates(class).into_iter().filter(|candidate| candidate.part == part).take(2) {
        let senses: Vec<_> = table.senses_as(candidate.lemma, part).map(|sense| table.sense(sense)).collect();
        let enough = COMMON_SHARE * f32::from(senses.first().map_or(0, |sense| sense.count).max(1));
        let ranked = senses.iter().enumerate();
        // "Musical instrument" is a full name of what people call an instrument.
        let full = |synset: u32| {
            let mut names = table.members(synset).iter().map(|sense| table.lemma(table.lemma_of(*sense)));
            names.any(|name| name.rsplit_once(' ').is_some_and(|(_, head)| head == table.lemma(candidate.lemma)))
        };
        let wanted = ranked.filter(|(rank, sense)| {
            *rank < CLASS_SENSES
                || *rank < COMMON_CLASS_SENSES && f32::from(sense.count) >= enough
                || full(sense.synset)
        });
        found.extend(wanted.map(|(rank, sense)| (sense.synset, rank)));
    }
    found
}

/// Everything above `synset` with the number of steps, itself first; each once, by its shortest way.
pub(super) fn above(table: &Table, synset: u32) -> Vec<(u32, u8)> {
    let mut found = vec![(synset, 0_u8)];
    let mut next = 0;
    while let Some((at, steps)) = found.get(next).copied() {
        next += 1;
        if usize::from(steps) == MOST_STEPS {
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

/// The number of steps from `word` up to `class`, both nouns or both verbs, or `None` if it is not of that class.
///
/// "dog" is an "animal" and "walk" is a "move"; a word is of its own class in 0 steps, and so are synonyms. The first three meanings
/// of the word are tried, without those that hardly anybody uses, each later one counting as a step more; and the first two of
/// the class, or four that are common enough, one step more for any but the first. The smallest number wins.
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
    for (sense, rank) in first_senses(table, word, part, WORD_SENSES) {
        for (synset, steps) in above(table, table.sense(sense).synset) {
            for (_, class_rank) in classes.iter().filter(|(wanted, _)| *wanted == synset) {
                let steps = steps.saturating_add((rank + class_rank.min(&1)) as u8);
                best = Some(best.map_or(steps, |best| best.min(steps)));
            }
        }
    }
    best
}

/// The field of meaning of the commonest sense of `word` as `part`.
pub(crate) fn category(word: &str, part: PartOfSpeech) -> Option<Category> {
    let table = table();
    let (sense, _) = *first_senses(table, word, part, 1).first()?;
    Some(table.category(table.sense(sense).synset))
}

/// The fields of meaning of all senses of `word` as `part`, the commonest first, each with its share of the uses in 255ths.
pub(crate) fn categories(word: &str, part: PartOfSpeech) -> Vec<(Category, u8)> {
    let table = table();
    let mut weights: Vec<(Category, f32)> = Vec::new();
    for candidate in candidates(word).into_iter().filter(|candidate| candidate.part == part) {
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

/// Words with the same meaning as one of the first two of `word` as `part`, without the word itself; the commonest first.
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
