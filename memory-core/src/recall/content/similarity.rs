//! Similarity of words: stems, derivations and the lexicon.

use std::cell::RefCell;

use super::MIN_WORD_SIMILARITY;
use super::frame::DERIVATIONAL_ENDINGS;
use crate::index::{TermId, term_of};
use crate::language::english::closed::number_word;
use crate::language::english::lexicon::{self, Memo, PartOfSpeech};
use crate::language::english::syntax::VerbGroup;

/// Number of words whose stems are cached, by thread.
const MAX_CACHED_STEMS: usize = 16_384;

thread_local! {
    static STEM_CACHE: RefCell<Memo<Box<str>, TermId>> = RefCell::new(Memo::new(MAX_CACHED_STEMS));
}

/// Returns the term id of the stem of a word.
fn stem_id(word: &str) -> TermId {
    STEM_CACHE.with_borrow_mut(|known| known.get_or_insert_with(word, || term_of(word)))
}

/// Similarity of two words, from 0 to 1: the same word, the same stem, or similar in the lexicon.
pub(in crate::recall) fn word_similarity(a: &str, b: &str) -> f32 {
    if a == b {
        return 1.0;
    }
    let digits = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    match (digits(a), digits(b)) {
        (false, false) => {}
        (true, true) => return 0.0,
        // "Room five" is room 5.
        (one, _) => {
            let (figures, word) = if one { (a, b) } else { (b, a) };
            let same = number_word(word).is_some_and(|value| figures.parse() == Ok(value));
            return f32::from(u8::from(same));
        }
    }
    if a.len() > 2 && b.len() > 2 && stem_id(a) == stem_id(b) {
        return 0.97;
    }
    // "prep" for "preparation", "fridge" is in the lexicon: a short form of at least four letters.
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    // A compound is less similar to its first part: a doorbell is a bell.
    if short.len() >= 4 && long.len() >= short.len() + 4 && long.starts_with(short) {
        let rest = &long[short.len()..];
        let compound = lexicon::category(rest, PartOfSpeech::Noun).is_some();
        return if compound { 0.6 } else { 0.75 };
    }
    // "dentist" and "dental": one root with two endings.
    let root = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if root >= 4
        && let (Some(one), Some(other)) = (a.get(root..), b.get(root..))
        && DERIVATIONAL_ENDINGS.contains(&one)
        && DERIVATIONAL_ENDINGS.contains(&other)
    {
        return 0.7;
    }
    let likeness = lexicon::similarity(a, b);
    if likeness >= MIN_WORD_SIMILARITY { likeness } else { 0.0 }
}

/// Similarity of two verbs with their particles: "switch off" and "turn off", "come back" and "return".
pub(in crate::recall) fn verb_similarity(a: &VerbGroup, b: &VerbGroup) -> f32 {
    let whole = |verb: &VerbGroup| verb.phrasal().unwrap_or_else(|| verb.lemma.clone());
    let plain = word_similarity(&a.lemma, &b.lemma);
    if a.particle.is_none() && b.particle.is_none() { plain } else { plain.max(word_similarity(&whole(a), &whole(b))) }
}
