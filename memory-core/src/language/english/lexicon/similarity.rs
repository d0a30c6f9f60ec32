//! Similarity of two words in meaning.

use std::cell::RefCell;
use std::rc::Rc;

use super::memo::Memo;
use super::morphology::{LemmaCandidate, lemma_candidates};
use super::part_of_speech::PartOfSpeech;
use super::relations::{class_synsets, first_senses, hypernyms};
use super::table::{Table, table};

const MAX_SENSES: usize = 3;
const SYNONYM_SIMILARITY: f32 = 0.9;
const DERIVATION_SIMILARITY: f32 = 0.85;
const SYNONYM_DERIVATION_SIMILARITY: f32 = 0.8;
/// Minimum similarity of a word and its direct hypernym.
const MIN_PARENT_SIMILARITY: f32 = 0.6;
/// Weight of lin in the similarity of a word and its direct hypernym.
const PARENT_LIN_WEIGHT: f32 = 0.1;
/// Weight of lin in the similarity of a word and a farther hypernym.
const ANCESTOR_LIN_WEIGHT: f32 = 0.6;
/// Weight of lin in the similarity of two words with a common hypernym.
const SIBLING_LIN_WEIGHT: f32 = 0.3;
/// Minimum lin of two similar words.
const MIN_LIN: f32 = 0.5;
/// Weight of a sense by its rank.
const RANK_WEIGHTS: [f32; 4] = [1.0, 0.9, 0.8, 0.7];

/// Number of word pairs whose similarity is cached, by thread.
const MAX_CACHED_PAIRS: usize = 16_384;
/// Maximum length of a cached pair, in bytes.
const MAX_CACHED_PAIR_BYTES: usize = 64;
/// Number of words whose senses are cached, by thread.
const MAX_CACHED_MEANINGS: usize = 4_096;

thread_local! {
    static MEANINGS_CACHE: RefCell<Memo<Box<str>, WordMeanings>> = RefCell::new(Memo::new(MAX_CACHED_MEANINGS));
    static SIMILARITY_CACHE: RefCell<Memo<Box<str>, f32>> = RefCell::new(Memo::new(MAX_CACHED_PAIRS));
}

/// Returns the similarity of `a` and `b` in meaning, in 0..=1. It is symmetric, and 0 for unknown words.
///
/// | relation | value |
/// |---|---|
/// | forms of one lemma | 1 |
/// | synonyms | 0.9 |
/// | derived from each other ("arrive", "arrival") | 0.85 |
/// | derived from a synonym ("fly", "flight" through "flying") | 0.8 |
/// | one is the direct hypernym of the other, lin ≥ 0.5 | 0.6 + 0.1 · lin |
/// | one is a hypernym of the other | 0.6 · lin |
/// | both have a common hypernym | 0.3 · lin, 0 below lin = 0.5 |
///
/// lin = 2 · ic(c) / (ic(a) + ic(b)), where c is the common hypernym (Lin, *An information-theoretic definition of
/// similarity*, 1998). ic is the intrinsic information content of Seco, Veale and Hayes (ECAI 2004): ic(c) = 1 -
/// log(hypo(c) + 1) / log(N). hypo(c) is the number of senses below c, and N the number of all senses of its part of
/// speech, so a class with very many members says little. The script counts over the whole of WordNet, not only over
/// the table. A sense of an adjective counts as a kind of the sense that WordNet says it is similar to.
///
/// The first three senses of each word are compared, and the best pair counts, weighted by `RANK_WEIGHTS`. Derivation
/// is looked for among all senses, because WordNet orders those of the two words differently.
pub(crate) fn similarity(a: &str, b: &str) -> f32 {
    if a.len() + b.len() > MAX_CACHED_PAIR_BYTES {
        return compute_similarity(a, b);
    }
    // No word contains a line break, so it separates the two.
    let (first, second) = if a <= b { (a, b) } else { (b, a) };
    let pair = format!("{first}\n{second}");
    SIMILARITY_CACHE
        .with_borrow_mut(|known| known.get_or_insert_with(pair.as_str(), || compute_similarity(first, second)))
}

/// Returns whether the most common sense of `word` is a kind of `class`: a piano is an instrument, but an instrument is
/// not a piano.
pub(crate) fn is_kind_of(word: &str, class: &str) -> bool {
    if word.len() + class.len() > MAX_CACHED_PAIR_BYTES {
        return false;
    }
    let table = table();
    let classes = class_synsets(table, class, PartOfSpeech::Noun);
    let is_noun = |sense: u32| table.part(table.sense(sense).synset) == PartOfSpeech::Noun;
    let kinds = word_meanings(table, word);
    let mut kinds = kinds.iter().filter(|(sense, rank, _)| *rank == 0 && is_noun(*sense));
    kinds.any(|(_, _, over)| {
        over.iter().any(|(synset, steps)| *steps > 0 && classes.iter().any(|(class, _)| class == synset))
    })
}

fn compute_similarity(a: &str, b: &str) -> f32 {
    let (of_a, of_b) = (lemma_candidates(a), lemma_candidates(b));
    if of_a.is_empty() || of_b.is_empty() {
        return if a.trim().eq_ignore_ascii_case(b.trim()) && !a.trim().is_empty() { 1.0 } else { 0.0 };
    }
    if of_a.iter().any(|x| of_b.iter().any(|y| (x.part, x.lemma) == (y.part, y.lemma))) {
        return 1.0;
    }
    let table = table();
    let mut best = derivation_similarity(table, &of_a, &of_b).max(derivation_similarity(table, &of_b, &of_a));
    let (of_a, of_b) = (word_meanings(table, a), word_meanings(table, b));
    for (x, x_rank, over_x) in of_a.iter() {
        for (y, y_rank, over_y) in of_b.iter() {
            let weight = RANK_WEIGHTS[*x_rank] * RANK_WEIGHTS[*y_rank];
            if weight * SYNONYM_SIMILARITY > best {
                best = best.max(weight * sense_similarity(table, (*x, over_x), (*y, over_y)));
            }
        }
    }
    best
}

/// Returns the similarity of two words of which one is derived from the other, or from a synonym of it.
fn derivation_similarity(table: &Table, of_a: &[LemmaCandidate], of_b: &[LemmaCandidate]) -> f32 {
    let of_b: Vec<u32> = of_b.iter().flat_map(|y| table.senses_as(y.lemma, y.part)).collect();
    let means = |synset: u32| of_b.iter().any(|sense| table.sense(*sense).synset == synset);
    let mut best = 0.0;
    for sense in of_a.iter().flat_map(|x| table.senses_as(x.lemma, x.part)) {
        for other in table.derivations(sense) {
            if of_b.contains(other) {
                return DERIVATION_SIMILARITY;
            }
            if means(table.sense(*other).synset) {
                best = SYNONYM_DERIVATION_SIMILARITY;
            }
        }
    }
    best
}

/// The first senses of a word, with their ranks and hypernyms.
type WordMeanings = Rc<[(u32, usize, Rc<[(u32, u8)]>)]>;

fn word_meanings(table: &Table, word: &str) -> WordMeanings {
    let make = || {
        let senses = PartOfSpeech::ALL.into_iter().flat_map(|part| first_senses(table, word, part, MAX_SENSES));
        senses.map(|(sense, rank)| (sense, rank, hypernyms(table, table.sense(sense).synset).into())).collect()
    };
    MEANINGS_CACHE.with_borrow_mut(|known| known.get_or_insert_with(word, make))
}

fn sense_similarity(table: &Table, (x, over_x): (u32, &[(u32, u8)]), (y, over_y): (u32, &[(u32, u8)])) -> f32 {
    let (sense_x, sense_y) = (table.sense(x).synset, table.sense(y).synset);
    if sense_x == sense_y {
        return SYNONYM_SIMILARITY;
    }
    if table.part(sense_x) != table.part(sense_y) {
        return 0.0;
    }
    let common = over_x.iter().filter(|(synset, _)| over_y.iter().any(|(other, _)| other == synset));
    let informative = common.max_by(|(a, _), (b, _)| table.information(*a).total_cmp(&table.information(*b)));
    let Some((class, _)) = informative.copied() else { return 0.0 };
    let sum = table.information(sense_x) + table.information(sense_y);
    let lin = if sum > 0.0 { (2.0 * table.information(class) / sum).min(1.0) } else { 0.0 };
    let next = table.parents(sense_x).contains(&sense_y) || table.parents(sense_y).contains(&sense_x);
    if next && lin >= MIN_LIN {
        MIN_PARENT_SIMILARITY + PARENT_LIN_WEIGHT * lin
    } else if class == sense_x || class == sense_y {
        ANCESTOR_LIN_WEIGHT * lin
    } else if lin >= MIN_LIN {
        SIBLING_LIN_WEIGHT * lin
    } else {
        0.0
    }
}
