//! Lemmatisation by WordNet's morphy (morphy(7WN)): irregular forms first, then endings that leave a known lemma.

use std::cell::RefCell;

use super::memo::Memo;
use super::part_of_speech::{PartOfSpeech, PartShares};
use super::table::{Table, table};

/// Maximum length of a word, in bytes. No lemma or form of the table is longer.
const MAX_WORD_BYTES: usize = 64;

/// An ending, its replacement in the lemma, and the share of a lemma's uses in this form. The shares are coarse: about
/// two of three uses of a noun are singular; most uses of a verb are its base form, past or participle.
const ENDINGS: &[(PartOfSpeech, &str, &str, f32)] = &[
    (PartOfSpeech::Noun, "s", "", 0.3),
    (PartOfSpeech::Noun, "ses", "s", 0.3),
    (PartOfSpeech::Noun, "xes", "x", 0.3),
    (PartOfSpeech::Noun, "zes", "z", 0.3),
    (PartOfSpeech::Noun, "ches", "ch", 0.3),
    (PartOfSpeech::Noun, "shes", "sh", 0.3),
    (PartOfSpeech::Noun, "men", "man", 0.3),
    (PartOfSpeech::Noun, "ies", "y", 0.3),
    (PartOfSpeech::Noun, "ves", "f", 0.3),
    (PartOfSpeech::Verb, "s", "", 0.1),
    (PartOfSpeech::Verb, "ies", "y", 0.1),
    (PartOfSpeech::Verb, "es", "e", 0.1),
    (PartOfSpeech::Verb, "es", "", 0.1),
    (PartOfSpeech::Verb, "ed", "e", 0.35),
    (PartOfSpeech::Verb, "ed", "", 0.35),
    (PartOfSpeech::Verb, "ied", "y", 0.35),
    (PartOfSpeech::Verb, "ing", "e", 0.2),
    (PartOfSpeech::Verb, "ing", "", 0.2),
    (PartOfSpeech::Adjective, "er", "", 0.1),
    (PartOfSpeech::Adjective, "est", "", 0.1),
    (PartOfSpeech::Adjective, "er", "e", 0.1),
    (PartOfSpeech::Adjective, "est", "e", 0.1),
    (PartOfSpeech::Adjective, "ier", "y", 0.1),
    (PartOfSpeech::Adjective, "iest", "y", 0.1),
];
const IRREGULAR_SHARE: f32 = 0.35;

/// Returns the share of a lemma's uses in its base form.
fn base_share(part: PartOfSpeech) -> f32 {
    match part {
        PartOfSpeech::Noun => 0.7,
        PartOfSpeech::Verb => 0.35,
        PartOfSpeech::Adjective => 0.9,
        PartOfSpeech::Adverb => 1.0,
    }
}

/// A possible lemma of a word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LemmaCandidate {
    pub(super) part: PartOfSpeech,
    pub(super) lemma: u32,
    /// Relative likelihood among the candidates of the word; not a probability.
    pub(super) weight: f32,
}

/// Number of words whose candidates are cached, by thread. A question compares its few words with those of up to forty
/// events.
const MAX_CACHED_WORDS: usize = 8_192;

thread_local! {
    static CANDIDATE_CACHE: RefCell<Memo<Box<str>, Vec<LemmaCandidate>>> = RefCell::new(Memo::new(MAX_CACHED_WORDS));
}

/// Returns all possible lemmas of `word`, by part of speech, the most likely first within each.
pub(super) fn lemma_candidates(word: &str) -> Vec<LemmaCandidate> {
    let word = word.trim();
    if word.is_empty() || word.len() > MAX_WORD_BYTES {
        return Vec::new();
    }
    CANDIDATE_CACHE.with_borrow_mut(|known| known.get_or_insert_with(word, || find_candidates(word)))
}

fn find_candidates(word: &str) -> Vec<LemmaCandidate> {
    let mut found = Vec::new();
    add_single_word_candidates(word, &mut found);
    if word.contains([' ', '_']) {
        add_phrase_candidates(word, &mut found);
    }
    if found.is_empty() && word.contains('-') {
        let mut joined = Vec::new();
        add_single_word_candidates(&word.replace('-', " "), &mut found);
        add_single_word_candidates(&word.replace('-', ""), &mut joined);
        // "A round-up" is a roundup, and nobody rounds up.
        let as_noun = |candidate: &LemmaCandidate| candidate.part == PartOfSpeech::Noun;
        let only_verbs = found.iter().all(|candidate| candidate.part == PartOfSpeech::Verb);
        if found.is_empty() {
            found = joined;
        } else if only_verbs && joined.iter().any(as_noun) {
            joined.retain(as_noun);
            found = joined;
        }
    }
    if let Some(owner) = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).or_else(|| word.strip_suffix('\''))
        && found.is_empty()
    {
        add_single_word_candidates(owner, &mut found);
        found.retain(|candidate| candidate.part == PartOfSpeech::Noun);
    }
    found.sort_by(|a, b| a.part.cmp(&b.part).then(b.weight.total_cmp(&a.weight)));
    found
}

/// Returns the number of uses of a lemma. Senses of an untagged lemma count a little, so that it has a share.
pub(super) fn usage_count(table: &Table, lemma: u32, part: PartOfSpeech) -> f32 {
    table.senses_as(lemma, part).map(|sense| f32::from(table.sense(sense).count) + 0.3).sum()
}

fn add_candidate(found: &mut Vec<LemmaCandidate>, part: PartOfSpeech, lemma: u32, share: f32) {
    let weight = usage_count(table(), lemma, part) * share;
    if weight > 0.0 && !found.iter().any(|other| other.part == part && other.lemma == lemma) {
        found.push(LemmaCandidate { part, lemma, weight });
    }
}

fn add_single_word_candidates(word: &str, found: &mut Vec<LemmaCandidate>) {
    let table = table();
    if let Some(lemma) = table.find(word) {
        PartOfSpeech::ALL.into_iter().for_each(|part| add_candidate(found, part, lemma, base_share(part)));
    }
    let mut irregular = [false; 4];
    for (part, lemma) in table.irregular(word) {
        irregular[part as usize] = true;
        add_candidate(found, part, lemma, IRREGULAR_SHARE);
    }
    for (part, ending, instead, share) in ENDINGS {
        if irregular[*part as usize] {
            continue;
        }
        let Some(stem) = without_ending(word, ending) else { continue };
        let lemma = if instead.is_empty() { table.find(stem) } else { table.find(&format!("{stem}{instead}")) };
        let lemma = lemma.or_else(|| undoubled(stem, ending).and_then(|stem| table.find(stem)));
        if let Some(lemma) = lemma {
            add_candidate(found, *part, lemma, *share);
        }
    }
}

fn without_ending<'a>(word: &'a str, ending: &str) -> Option<&'a str> {
    let cut = word.len().checked_sub(ending.len())?;
    // "ss" is not a plural ending, and "is" and "red" have no stem.
    let (stem, tail) = (word.get(..cut)?, word.get(cut..)?);
    let plausible = stem.len() >= 2 && !(ending == "s" && stem.ends_with(['s', 'S']));
    (plausible && tail.eq_ignore_ascii_case(ending)).then_some(stem)
}

/// Returns a stem without its doubled consonant: "stop" of "stopp" before "-ing".
fn undoubled<'a>(stem: &'a str, ending: &str) -> Option<&'a str> {
    let doubles = matches!(ending, "ed" | "ing" | "er" | "est");
    let [.., a, b] = stem.as_bytes() else { return None };
    (doubles && a == b && a.is_ascii_alphabetic() && stem.len() > 3).then(|| &stem[..stem.len() - 1])
}

/// Adds the candidates of a phrase. Verb phrases inflect the first word ("picked up"), noun phrases the last ("washing
/// machines").
fn add_phrase_candidates(word: &str, found: &mut Vec<LemmaCandidate>) {
    let table = table();
    if let Some((first, rest)) = word.split_once([' ', '_']) {
        let mut inner = Vec::new();
        add_single_word_candidates(first, &mut inner);
        for candidate in inner.iter().filter(|candidate| candidate.part == PartOfSpeech::Verb) {
            if let Some(lemma) = table.find(&format!("{} {rest}", table.lemma(candidate.lemma))) {
                add_candidate(found, PartOfSpeech::Verb, lemma, IRREGULAR_SHARE);
            }
        }
    }
    if let Some((before, last)) = word.rsplit_once([' ', '_']) {
        let mut inner = Vec::new();
        add_single_word_candidates(last, &mut inner);
        for candidate in inner.iter().filter(|candidate| candidate.part == PartOfSpeech::Noun) {
            if let Some(lemma) = table.find(&format!("{before} {}", table.lemma(candidate.lemma))) {
                add_candidate(found, PartOfSpeech::Noun, lemma, 0.3);
            }
        }
    }
}

/// Returns the possible parts of speech of `word`, the most likely first, each with its share of the uses. The word may
/// be inflected ("ran", "mice", "wider").
///
/// The shares come from WordNet's tag counts, distributed over the forms of a lemma. Function words are not
/// distinguished from rare homographs ("in" the unit); see [`PartOfSpeech`].
pub(crate) fn parts_of_speech(word: &str) -> PartShares {
    let mut weights = [0.0; 4];
    for candidate in lemma_candidates(word) {
        weights[candidate.part as usize] += candidate.weight;
    }
    PartShares::from_weights(weights)
}

/// Returns the most likely lemma of `word` as `part`: "mouse" for "mice", "run" for "ran", "washing machine" for
/// "washing machines".
pub(crate) fn lemma(word: &str, part: PartOfSpeech) -> Option<&'static str> {
    let found = lemma_candidates(word);
    found.iter().find(|candidate| candidate.part == part).map(|candidate| table().lemma(candidate.lemma))
}

/// Returns all lemmas of `word` with their parts of speech, the most likely first: "saw" is the verb "see", the noun
/// "saw" and the verb "saw".
pub(crate) fn lemmas(word: &str) -> Vec<(&'static str, PartOfSpeech)> {
    let mut found = lemma_candidates(word);
    found.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    found.iter().map(|candidate| (table().lemma(candidate.lemma), candidate.part)).collect()
}

/// Returns how often `word` or a lemma of it occurs in WordNet's concordance, over all senses: at least 1 for a known
/// word, and 0 for an unknown one. The concordance has 230,000 tagged words, so many everyday words have 1.
pub(crate) fn frequency(word: &str) -> u32 {
    let table = table();
    let mut lemmas: Vec<_> = lemma_candidates(word).iter().map(|candidate| candidate.lemma).collect();
    lemmas.sort_unstable();
    lemmas.dedup();
    let counted: u32 =
        lemmas.iter().flat_map(|lemma| table.senses_of(*lemma)).map(|sense| u32::from(table.sense(sense).count)).sum();
    if lemmas.is_empty() { 0 } else { counted.max(1) }
}
