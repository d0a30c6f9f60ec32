//! How alike two words are in meaning.

use std::cell::RefCell;
use std::rc::Rc;

use super::memo::Memo;
use super::morphology::{Candidate, candidates};
use super::part_of_speech::PartOfSpeech;
use super::relations::{above, class_synsets, first_senses};
use super::table::{Table, table};

const SENSES: usize = 3;
const SYNONYM: f32 = 0.9;
const DERIVED: f32 = 0.85;
const DERIVED_FROM_SYNONYM: f32 = 0.8;
/// A word and its next class, at least, and how much more at most.
const NEXT_CLASS: f32 = 0.6;
const NEXT_CLASS_MORE: f32 = 0.1;
/// The most that a word and a farther class are alike, and the most that two words of one class are.
const CLASS: f32 = 0.6;
const SIBLING: f32 = 0.3;
/// Two words whose class tells less than this about them are not alike at all.
const LEAST_LIN: f32 = 0.5;
/// A later meaning of a word counts less.
const RANK_WEIGHT: [f32; 4] = [1.0, 0.9, 0.8, 0.7];

/// Pairs whose likeness is kept, by thread, and the longest of them in bytes.
const KEPT: usize = 16_384;
const LONGEST_PAIR: usize = 64;
/// Words whose meanings are kept, by thread.
const KEPT_MEANINGS: usize = 4_096;

thread_local! {
    static MEANINGS: RefCell<Memo<Box<str>, Meanings>> = RefCell::new(Memo::new(KEPT_MEANINGS));
    static KNOWN: RefCell<Memo<Box<str>, f32>> = RefCell::new(Memo::new(KEPT));
}

/// How alike `a` and `b` are in meaning, in 0..=1; symmetric, and 0 for unknown words.
///
/// | what they are | value |
/// |---|---|
/// | forms of one lemma | 1 |
/// | synonyms | 0.9 |
/// | derived from each other ("arrive", "arrival") | 0.85 |
/// | derived from a synonym ("fly", "flight" through "flying") | 0.8 |
/// | one is the next class of the other, lin ≥ 0.5 | 0.6 + 0.1 · lin |
/// | one is a class of the other | 0.6 · lin |
/// | both are kinds of one class | 0.3 · lin, 0 below lin = 0.5 |
///
/// lin = 2 · ic(c) / (ic(a) + ic(b)), c being the class (Lin, *An information-theoretic definition of similarity*, 1998). The information
/// content is the intrinsic one of Seco, Veale and Hayes (ECAI 2004): ic(c) = 1 - log(hypo(c) + 1) / log(N), hypo(c) being the number of
/// meanings below c and N that of all of its part of speech: a class of very many things says little. It is counted over the whole of
/// WordNet by the script, not over what the table keeps. For adjectives, a meaning counts as a kind of that which WordNet says it is
/// similar to.
///
/// The first three meanings of each word are compared, and the best pair counts, times 0.9 for each place that a meaning is not the first.
/// Derivation is looked for among all meanings, because WordNet orders those of the two words differently.
pub(crate) fn similarity(a: &str, b: &str) -> f32 {
    if a.len() + b.len() > LONGEST_PAIR {
        return compare(a, b);
    }
    // A line break, which no word holds, parts the two.
    let (first, second) = if a <= b { (a, b) } else { (b, a) };
    let pair = format!("{first}\n{second}");
    KNOWN.with_borrow_mut(|known| known.get(pair.as_str(), || compare(first, second)))
}

/// Whether what `word` commonly means is a kind of what `class` means: a piano is an instrument, and an instrument no piano.
pub(crate) fn is_kind_of(word: &str, class: &str) -> bool {
    if word.len() + class.len() > LONGEST_PAIR {
        return false;
    }
    let table = table();
    let classes = class_synsets(table, class, PartOfSpeech::Noun);
    let is_noun = |sense: u32| table.part(table.sense(sense).synset) == PartOfSpeech::Noun;
    let kinds = meanings(table, word);
    let mut kinds = kinds.iter().filter(|(sense, rank, _)| *rank == 0 && is_noun(*sense));
    kinds.any(|(_, _, over)| {
        over.iter().any(|(synset, steps)| *steps > 0 && classes.iter().any(|(class, _)| class == synset))
    })
}

fn compare(a: &str, b: &str) -> f32 {
    let (of_a, of_b) = (candidates(a), candidates(b));
    if of_a.is_empty() || of_b.is_empty() {
        return if a.trim().eq_ignore_ascii_case(b.trim()) && !a.trim().is_empty() { 1.0 } else { 0.0 };
    }
    if of_a.iter().any(|x| of_b.iter().any(|y| (x.part, x.lemma) == (y.part, y.lemma))) {
        return 1.0;
    }
    let table = table();
    let mut best = derived(table, &of_a, &of_b).max(derived(table, &of_b, &of_a));
    let (of_a, of_b) = (meanings(table, a), meanings(table, b));
    for (x, x_rank, over_x) in of_a.iter() {
        for (y, y_rank, over_y) in of_b.iter() {
            let weight = RANK_WEIGHT[*x_rank] * RANK_WEIGHT[*y_rank];
            if weight * SYNONYM > best {
                best = best.max(weight * of_senses(table, (*x, over_x), (*y, over_y)));
            }
        }
    }
    best
}

/// How alike two words are because one is derived from the other, or from a word that means the same.
fn derived(table: &Table, of_a: &[Candidate], of_b: &[Candidate]) -> f32 {
    let of_b: Vec<u32> = of_b.iter().flat_map(|y| table.senses_as(y.lemma, y.part)).collect();
    let means = |synset: u32| of_b.iter().any(|sense| table.sense(*sense).synset == synset);
    let mut best = 0.0;
    for sense in of_a.iter().flat_map(|x| table.senses_as(x.lemma, x.part)) {
        for other in table.derivations(sense) {
            if of_b.contains(other) {
                return DERIVED;
            }
            if means(table.sense(*other).synset) {
                best = DERIVED_FROM_SYNONYM;
            }
        }
    }
    best
}

/// The first meanings of a word, with their ranks and with everything that is above each.
type Meanings = Rc<[(u32, usize, Rc<[(u32, u8)]>)]>;

fn meanings(table: &Table, word: &str) -> Meanings {
    let make = || {
        let senses = PartOfSpeech::ALL.into_iter().flat_map(|part| first_senses(table, word, part, SENSES));
        senses.map(|(sense, rank)| (sense, rank, above(table, table.sense(sense).synset).into())).collect()
    };
    MEANINGS.with_borrow_mut(|known| known.get(word, make))
}

fn of_senses(table: &Table, (x, over_x): (u32, &[(u32, u8)]), (y, over_y): (u32, &[(u32, u8)])) -> f32 {
    let (sense_x, sense_y) = (table.sense(x).synset, table.sense(y).synset);
    if sense_x == sense_y {
        return SYNONYM;
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
    if next && lin >= LEAST_LIN {
        NEXT_CLASS + NEXT_CLASS_MORE * lin
    } else if class == sense_x || class == sense_y {
        CLASS * lin
    } else if lin >= LEAST_LIN {
        SIBLING * lin
    } else {
        0.0
    }
}
