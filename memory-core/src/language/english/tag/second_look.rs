//! Corrects the tags of a question after tagging: a question about somebody's deed has one verb.

use super::{OpenClassShares, Tag, Word};
use crate::language::english::closed::{DO_FORMS, is_one_of};
use crate::language::english::gender::gender;
use crate::language::english::lexicon::{self, PartOfSpeech};

/// Verbs before a bare infinitive: "did she help carry it?".
const VERBS_WITH_BARE_INFINITIVE: &[&str] =
    &["help", "go", "come", "let", "make", "have", "see", "hear", "watch", "get", "keep", "start", "want"];

/// Corrects the tags of a text sentence by sentence. `shares` has the frequencies of its words.
pub(super) fn correct_tags(words: &mut [Word], shares: &[OpenClassShares]) {
    tag_all_right(words);
    tag_owned_things(words, shares);
    tag_deed_of_described(words, shares);
    let mut first = 0;
    while first < words.len() {
        let end = (first..words.len()).find(|at| matches!(words[*at].text.as_str(), "." | "!" | "?" | ";" | ","));
        let end = end.unwrap_or(words.len());
        let clause = &mut words[first..end];
        if let Some(auxiliary) = inverted_auxiliary(clause) {
            let shares = &shares[first..end];
            if is_one_of(&clause[auxiliary].text, DO_FORMS) {
                keep_one_verb(clause, shares, auxiliary);
            } else {
                keep_progressive_verb(clause, shares, auxiliary);
            }
        }
        first = end + 1;
    }
}

/// Returns the auxiliary before the subject of a question: at the start, or directly after the question words.
fn inverted_auxiliary(words: &[Word]) -> Option<usize> {
    let at = words.iter().position(|word| word.tag == Tag::Auxiliary)?;
    let before = &words[..at];
    let asks = before.iter().any(|word| word.tag == Tag::Wh);
    let begins = before.iter().all(|word| matches!(word.tag, Tag::Conjunction | Tag::Adverb | Tag::Time));
    let own = before.iter().any(|word| matches!(word.tag, Tag::Verb | Tag::Modal | Tag::Pronoun));
    (!own && (asks || begins)).then_some(at)
}

/// Tags a verb after a person who is described first, if a sentence has none: "a man with grey hair saws planks".
fn tag_deed_of_described(words: &mut [Word], shares: &[OpenClassShares]) {
    let mut sentences: Vec<usize> = vec![0];
    sentences
        .extend((0..words.len()).filter(|at| matches!(words[*at].text.as_str(), "." | "!" | "?")).map(|at| at + 1));
    for start in sentences {
        let rest = &words[start.min(words.len())..];
        let end = start + rest.iter().position(|word| word.tag == Tag::Mark).unwrap_or(rest.len());
        let is_person = |word: &Word| gender(&word.lemma).is_some();
        let person = (start..end).find(|at| !matches!(words[*at].tag, Tag::Determiner | Tag::Adjective));
        let Some(with) = person.filter(|at| *at > start && is_person(&words[*at])).map(|at| at + 1) else { continue };
        let acts = |word: &Word| matches!(word.tag, Tag::Verb | Tag::Auxiliary | Tag::Modal | Tag::Wh);
        if with >= end || !matches!(words[with].text.as_str(), "with" | "in") || words[start..end].iter().any(acts) {
            continue;
        }
        let deed = (with + 2..end).find(|at| {
            let verb = lexicon::lemma(&words[*at].text, PartOfSpeech::Verb);
            let third = words[*at].text.ends_with('s') && verb.is_some_and(|verb| verb != words[*at].text);
            third && shares[*at].verb > 0 && words[*at].tag == Tag::Noun && words[*at - 1].tag == Tag::Noun
        });
        if let Some(at) = deed {
            words[at].tag = Tag::Verb;
            words[at].lemma = super::lemma(&words[at].text, Tag::Verb);
        }
    }
}

/// Keeps one main verb in a question: "does the bilge pump make a noise?" (a pump), "when does the train to the fair
/// leave?" (leaves).
fn keep_one_verb(words: &mut [Word], shares: &[OpenClassShares], auxiliary: usize) {
    let end = (auxiliary + 1..words.len())
        .find(|at| matches!(words[*at].tag, Tag::Conjunction | Tag::To | Tag::Mark) && !words[*at].has_text("and"))
        .unwrap_or(words.len());
    let verbs: Vec<usize> = (auxiliary + 1..end).filter(|at| words[*at].tag == Tag::Verb).collect();
    if let [one, other, ..] = verbs[..]
        && words[one - 1].tag == Tag::Noun
        && shares[one].noun > 0
        && words[one].text == words[one].lemma
        && words[other].text == words[other].lemma
        && !is_one_of(&words[one].text, VERBS_WITH_BARE_INFINITIVE)
    {
        words[one].tag = Tag::Noun;
    }
    // An auxiliary may itself be the verb: "who did that?".
    let subject = (auxiliary + 1..end).any(|at| matches!(words[at].tag, Tag::Noun | Tag::Name));
    if verbs.is_empty() && subject && end - auxiliary > 2 {
        let base = |at: &usize| {
            let word = &words[*at];
            let free = matches!(words[at - 1].tag, Tag::Noun | Tag::Name | Tag::Adjective | Tag::Adverb | Tag::Number);
            matches!(word.tag, Tag::Noun | Tag::Adjective) && free && shares[*at].verb > 0 && word.text == word.lemma
        };
        if let Some(at) = (auxiliary + 2..end).rev().find(base) {
            words[at].tag = Tag::Verb;
            // "The trade fair": what stands before a verb is a noun.
            if words[at - 1].tag == Tag::Adjective && shares[at - 1].noun > 0 {
                words[at - 1].tag = Tag::Noun;
            }
        }
    }
}

/// Keeps the participle of a progressive question as its verb: "is that hose joint in the shed still dripping?"
fn keep_progressive_verb(words: &mut [Word], shares: &[OpenClassShares], auxiliary: usize) {
    let Some(last) = words.len().checked_sub(1).filter(|last| *last > auxiliary + 2) else { return };
    let since = matches!(words[last - 1].text.as_str(), "still" | "already" | "yet" | "now" | "always");
    if words[auxiliary].lemma != "be" || !since || !words[last].is_gerund() || shares[last].verb == 0 {
        return;
    }
    if words[last].tag != Tag::Verb {
        words[last].tag = Tag::Verb;
        words[last].lemma = super::lemma(&words[last].text, Tag::Verb);
    }
    for at in auxiliary + 1..last {
        if words[at].tag == Tag::Adjective && words[at - 1].tag == Tag::Noun && shares[at].noun > 0 {
            words[at].tag = Tag::Noun;
        }
    }
}

/// Tags "all right" as an adjective: "is it all right?". "All right hands" are things.
fn tag_all_right(words: &mut [Word]) {
    for at in 1..words.len() {
        let ends = words.get(at + 1).is_none_or(|next| !matches!(next.tag, Tag::Noun | Tag::Name | Tag::Adjective));
        if words[at].has_text("right") && words[at - 1].has_text("all") && ends {
            words[at - 1].tag = Tag::Adverb;
            words[at].tag = Tag::Adjective;
        }
    }
}

/// Tags "'s" as the mark of an owner where what follows cannot be a verb: "where Mum's drops are", "the boy's or the
/// girl's?".
fn tag_owned_things(words: &mut [Word], shares: &[OpenClassShares]) {
    for at in 1..words.len() {
        let mark = matches!(words[at].text.as_str(), "'s" | "’s") && words[at].tag == Tag::Auxiliary;
        if !mark || !matches!(words[at - 1].tag, Tag::Noun | Tag::Name) {
            continue;
        }
        let is = words.get(at + 2).is_some_and(|next| next.tag == Tag::Auxiliary && next.lemma == "be");
        match words.get(at + 1) {
            Some(next) if is && next.tag == Tag::Verb && shares[at + 1].noun > 0 => {
                words[at].tag = Tag::Possessive;
                words[at + 1].tag = Tag::Noun;
                words[at + 1].lemma = super::lemma(&words[at + 1].text, Tag::Noun);
            }
            Some(next) if !(next.has_text("or") || next.has_text("?")) => {}
            _ => words[at].tag = Tag::Possessive,
        }
    }
}
