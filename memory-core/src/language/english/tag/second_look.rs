//! A second look at the word classes of a question, once all of its words have one: a question for what somebody does has one verb.

use super::{Shares, Tag, Word};
use crate::language::english::closed::{DO, is_one_of};

/// Verbs before which another verb may stand in a question without "to": "did she help carry it?".
const BEFORE_VERBS: &[&str] =
    &["help", "go", "come", "let", "make", "have", "see", "hear", "watch", "get", "keep", "start", "want"];

/// Mends the classes of a text's words, sentence by sentence. `shares` has those of the words.
pub(super) fn second_look(words: &mut [Word], shares: &[Shares]) {
    all_right(words);
    let mut first = 0;
    while first < words.len() {
        let end = (first..words.len()).find(|at| matches!(words[*at].text.as_str(), "." | "!" | "?" | ";" | ","));
        let end = end.unwrap_or(words.len());
        let clause = &mut words[first..end];
        if let Some(auxiliary) = auxiliary(clause) {
            let shares = &shares[first..end];
            if is_one_of(&clause[auxiliary].text, DO) {
                one_verb(clause, shares, auxiliary);
            } else {
                progressive(clause, shares, auxiliary);
            }
        }
        first = end + 1;
    }
}

/// The auxiliary that stands before the subject of a question: at the begin, or right behind the words that ask.
fn auxiliary(words: &[Word]) -> Option<usize> {
    let at = words.iter().position(|word| word.tag == Tag::Auxiliary)?;
    let before = &words[..at];
    let asks = before.iter().any(|word| word.tag == Tag::Wh);
    let begins = before.iter().all(|word| matches!(word.tag, Tag::Conjunction | Tag::Adverb | Tag::Time));
    let own = before.iter().any(|word| matches!(word.tag, Tag::Verb | Tag::Modal | Tag::Pronoun));
    (!own && (asks || begins)).then_some(at)
}

/// "Does the bilge pump make a noise?": a pump. "When does the train to the fair leave?": leaves.
fn one_verb(words: &mut [Word], shares: &[Shares], auxiliary: usize) {
    let end = (auxiliary + 1..words.len())
        .find(|at| matches!(words[*at].tag, Tag::Conjunction | Tag::To | Tag::Mark) && !words[*at].is("and"))
        .unwrap_or(words.len());
    let verbs: Vec<usize> = (auxiliary + 1..end).filter(|at| words[*at].tag == Tag::Verb).collect();
    if let [one, other, ..] = verbs[..]
        && words[one - 1].tag == Tag::Noun
        && shares[one].noun > 0
        && words[one].text == words[one].lemma
        && words[other].text == words[other].lemma
        && !is_one_of(&words[one].text, BEFORE_VERBS)
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

/// "Is that hose joint in the shed still dripping?"
fn progressive(words: &mut [Word], shares: &[Shares], auxiliary: usize) {
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

/// "Is it all right?" says how it is, and "all right hands" would be things.
fn all_right(words: &mut [Word]) {
    for at in 1..words.len() {
        let ends = words.get(at + 1).is_none_or(|next| !matches!(next.tag, Tag::Noun | Tag::Name | Tag::Adjective));
        if words[at].is("right") && words[at - 1].is("all") && ends {
            words[at - 1].tag = Tag::Adverb;
            words[at].tag = Tag::Adjective;
        }
    }
}
