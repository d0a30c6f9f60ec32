//! Wordings of a question that are read as a plainer one: "the number of times that" as "how many times".

use std::ops::Range;

use crate::language::english::closed::{BE_FORMS, DO_FORMS, HAVE_FORMS, MODALS, is_one_of, number_word};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounPhrase, VerbGroup};

/// Words that may stand before a requested number: "what is the total number of".
const BEFORE_NUMBER: &[&str] =
    &["what", "what's", "which", "give", "me", "is", "was", "are", "were", "the", "a", "total", "exact", "overall"];
/// Determiners behind "number of" with which it is a name and no count: "the number of his flat".
const OF_ONE_THING: &[&str] = &["the", "a", "an", "this", "that", "my", "your", "his", "her", "its", "our", "their"];

/// Returns the range of a question tag: ", isn't it?" asks whether what stands before it is so.
pub(super) fn question_tag(text: &str) -> Option<Range<usize>> {
    let comma = text.rfind(',')?;
    let tag = text[comma + 1..].trim_end_matches(|c: char| !c.is_alphanumeric()).trim();
    let (verb, pronoun) = tag.split_once(' ')?;
    let verb = verb.to_ascii_lowercase().replace('’', "'");
    let forms = [BE_FORMS, HAVE_FORMS, DO_FORMS, MODALS];
    // "Won't" and "can't" are no form with an ending.
    let negated = verb
        .strip_suffix("n't")
        .is_some_and(|verb| matches!(verb, "wo" | "ca") || forms.iter().any(|forms| is_one_of(verb, forms)));
    let about = ["it", "he", "she", "they", "we", "you", "i", "there"];
    let tags = negated && is_one_of(&pronoun.to_ascii_lowercase(), &about);
    (tags && text[..comma].contains(char::is_alphanumeric))
        .then(|| comma..comma + 1 + text[comma + 1..].trim_end_matches(['?', '!', ' ']).len())
}

/// Returns the question without its tag, with spaces in its place.
pub(super) fn without_tag(text: &str) -> Option<String> {
    let tag = question_tag(text)?;
    let mut plain = text.to_owned();
    replace(&mut plain, tag, "");
    Some(plain)
}

/// Returns the question in plainer words of the same length, so that positions stay valid. `None` if it has none of the
/// wordings.
pub(super) fn reworded(text: &str) -> Option<String> {
    let mut plain = text.to_owned();
    if let Some(range) = find_at_start(&plain, "how come ") {
        replace(&mut plain, range, "why");
    }
    // "Is there anything she mustn't eat?" asks what she must not eat.
    for phrase in ["is there anything that ", "is there something that ", "is there anything ", "is there something "] {
        let range = find_at_start(&plain, phrase);
        if let Some(range) = range.filter(|range| begins_with_subject(&plain[range.end..])) {
            replace(&mut plain, range, "what");
        }
    }
    // "When did he end up coming?" asks when he finally came.
    if let Some(range) = find_word(&plain, "end up ") {
        let deed = first_word(&plain[range.end..]).to_ascii_lowercase();
        if deed.ends_with("ing")
            && let Some(verb) = lexicon::lemma(&deed, PartOfSpeech::Verb)
        {
            replace(&mut plain, range.start..range.end + deed.len(), &format!("finally {verb}"));
        }
    }
    // "Has the plumber been yet?" asks whether he came.
    if ["has ", "have "].iter().any(|begin| find_at_start(&plain, begin).is_some())
        && let Some(range) = find_word(&plain, "been")
        && is_one_of(
            plain[range.end..].trim_matches(|c: char| !c.is_alphabetic()),
            &["", "yet", "already", "here", "round"],
        )
    {
        replace(&mut plain, range, "come");
    }
    if let Some(range) = find_word(&plain, "how frequently") {
        replace(&mut plain, range, "how often");
    }
    // "Box number seven" is called box 7.
    if let Some(range) = find_word(&plain, "number ").filter(|range| range.start > 0) {
        let next = first_word(&plain[range.end..]).to_ascii_lowercase();
        if let Some(value) = number_word(&next).filter(|_| !next.is_empty()) {
            replace(&mut plain, range.start..range.end + next.len(), &value.to_string());
        }
    }
    for phrase in ["number of ", "count of "] {
        if let Some(range) = find_word(&plain, phrase) {
            replace_number(&mut plain, range);
        }
    }
    // "Count the moves", and not "count the money".
    if let Some(range) = find_at_start(&plain, "count the ")
        && first_word(&plain[range.end..]).ends_with('s')
    {
        replace(&mut plain, range, "how many");
    }
    (plain != text).then_some(plain)
}

/// Replaces "number of" with the words that ask for it by "how many", if it is at the start of a clause and counts.
fn replace_number(plain: &mut String, range: Range<usize>) {
    let counted = first_word(&plain[range.end..]).to_ascii_lowercase();
    if counted.is_empty() || OF_ONE_THING.contains(&counted.as_str()) {
        return;
    }
    let mut start = range.start;
    for word in plain[..range.start].split_inclusive(' ').rev() {
        if !is_one_of(&word.trim().to_ascii_lowercase(), BEFORE_NUMBER) && !word.trim().is_empty() {
            break;
        }
        start -= word.len();
    }
    let before = plain[..start].trim_end();
    if !before.is_empty() && !before.ends_with([',', ':', ';', '.', '?', '!']) {
        return;
    }
    replace(plain, start..range.end, "how many");
    for with_clause in ["times that ", "times when "] {
        let behind = range.end..range.end + with_clause.len();
        if plain.get(behind.clone()).is_some_and(|words| words.eq_ignore_ascii_case(with_clause)) {
            replace(plain, behind, "times");
        }
    }
}

/// Replaces a range by at most as many bytes, and spaces.
fn replace(text: &mut String, range: Range<usize>, by: &str) {
    let width = range.len();
    text.replace_range(range, &format!("{by:width$}"));
}

/// Returns the range of a phrase that the text begins with.
fn find_at_start(text: &str, phrase: &str) -> Option<Range<usize>> {
    let start = text.len() - text.trim_start().len();
    let range = start..start + phrase.len();
    text.get(range.clone()).is_some_and(|begin| begin.eq_ignore_ascii_case(phrase)).then_some(range)
}

/// Returns the range of the first occurrence of a phrase that begins with a whole word.
fn find_word(text: &str, phrase: &str) -> Option<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let mut found = lower.match_indices(phrase);
    found.find(|(at, _)| !lower[..*at].ends_with(char::is_alphanumeric)).map(|(at, _)| at..at + phrase.len())
}

/// Returns whether a clause begins with its subject: "she mustn't eat", and not "left to eat".
fn begins_with_subject(text: &str) -> bool {
    let first = first_word(text);
    let pronoun = ["i", "we", "you", "he", "she", "it", "they", "somebody", "someone", "anybody", "anyone"];
    let named = first.starts_with(char::is_uppercase);
    named
        || is_one_of(&first.to_ascii_lowercase(), &pronoun)
        || is_one_of(&first.to_ascii_lowercase(), &["the", "my", "our"])
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()
}

/// Reads "how many moves of the pan were there?" as "how many times was the pan moved?".
pub(super) fn count_deed(clause: &mut Clause) {
    let Some(asking) = clause.asking.as_mut().filter(|asking| asking.degree.as_deref() == Some("many")) else { return };
    let Some((deed, thing)) = asking.noun.as_ref().and_then(|noun| Some((noun, noun.of.as_deref()?))) else { return };
    let is_deed = lexicon::category(&deed.head, PartOfSpeech::Noun) == Some(Category::Act);
    let Some(lemma) = lexicon::lemma(&deed.head, PartOfSpeech::Verb).filter(|_| is_deed) else { return };
    let only_exists = |verb: &VerbGroup| {
        verb.auxiliary_only && verb.lemma == "be" || matches!(verb.lemma.as_str(), "happen" | "occur")
    };
    if clause.verb.as_ref().is_some_and(|verb| !only_exists(verb)) || !clause.objects.is_empty() {
        return;
    }
    clause.objects = vec![thing.clone()];
    let times = NounPhrase { plural: true, range: deed.range.clone(), ..NounPhrase::common_noun("time") };
    let verb = clause.verb.take().unwrap_or_default();
    clause.verb = Some(VerbGroup { lemma: lemma.to_owned(), auxiliary_only: false, passive: true, ..verb });
    clause.subject = None;
    asking.noun = Some(times);
}
