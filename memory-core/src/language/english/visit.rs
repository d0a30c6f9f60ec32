//! Parses the words that bound a question to one of several visits to a place: "on the second visit to the lab", "the first
//! time it was shown", "when you came back to the yard".

use std::ops::Range;

use super::closed::is_one_of;
use super::question::Occurrence;
use super::syntax::{NounKind, NounPhrase, parse};
use super::tag::{Tag, Word};

/// Nouns for one of several times that a place was seen.
const VISIT_NOUNS: &[&str] = &["visit", "time", "look", "stay", "stop", "appearance", "occasion", "glimpse", "pass"];
/// Verbs for being at a place, or for seeing it.
const VISIT_VERBS: &[&str] = &[
    "visit", "see", "show", "enter", "come", "go", "be", "appear", "return", "turn", "film", "get", "reach", "drive",
    "look",
];
/// What a visit phrase may begin with.
const VISIT_PREPOSITIONS: &[&str] = &["on", "at", "during", "by", "in", "upon"];

/// Words in front of a visit that place something outside of it.
const OTHER_TIME_WORDS: &[&str] = &["before", "after", "until", "till", "since", "between", "for", "from", "than"];

/// Words that name one of several visits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VisitPhrase {
    pub range: Range<usize>,
    pub which: Occurrence,
    /// The noun phrases in it, of which one may name the place.
    pub nouns: Vec<NounPhrase>,
}

/// Returns the words of a question that name one of several visits.
pub(crate) fn visit_phrase(text: &str, words: &[Word]) -> Option<VisitPhrase> {
    (0..words.len()).find_map(|at| counted_visit(text, words, at).or_else(|| repeated_visit(text, words, at)))
}

/// Parses "(on) the second visit (to the lab)" and "the first time (that) it was shown".
fn counted_visit(text: &str, words: &[Word], at: usize) -> Option<VisitPhrase> {
    let skipped = usize::from(words[at].tag == Tag::Preposition && is_one_of(&words[at].text, VISIT_PREPOSITIONS));
    let first = at + skipped;
    // "Before the first visit" is another time, and "for the first time" says only which time it was.
    if at.checked_sub(1).is_some_and(|before| is_one_of(&words[before].text, OTHER_TIME_WORDS)) {
        return None;
    }
    if !matches!(words.get(first)?.text.as_str(), "the" | "your" | "its" | "our") {
        return None;
    }
    let which = occurrence(&words.get(first + 1)?.text)?;
    let noun = words.get(first + 2).filter(|noun| VISIT_NOUNS.contains(&noun.lemma.as_str()))?;
    // "The first time she swam" is no visit.
    let end = clause_end(words, first + 3);
    let behind = &words[first + 3..end];
    let is_deed = |word: &&Word| word.tag == Tag::Verb && !VISIT_VERBS.contains(&word.lemma.as_str());
    if behind.iter().any(|word| is_deed(&word)) || !behind.iter().all(may_visit) {
        return None;
    }
    // "By the third time" alone says when, and "the last stop" alone is a place.
    if behind.is_empty() && !matches!(noun.lemma.as_str(), "visit" | "time" | "look") {
        return None;
    }
    Some(phrase(text, words, at..end, which))
}

/// Parses "when you came back to the yard", "when the yard was seen again" and "when it was first shown".
fn repeated_visit(text: &str, words: &[Word], at: usize) -> Option<VisitPhrase> {
    if !matches!(words[at].text.as_str(), "when" | "once" | "as") {
        return None;
    }
    let end = clause_end(words, at + 1);
    let inside = &words[at + 1..end];
    let subject = inside.first()?;
    // "When the smith came back" tells of the baker, and "when the yard was shown again" of what the recording shows.
    let known: &[&str] = match subject.text.as_str() {
        "you" | "we" | "it" => VISIT_VERBS,
        "the" => &["see", "show", "film", "visit", "appear"],
        _ => return None,
    };
    let mut verbs = inside.iter().filter(|word| word.tag == Tag::Verb).peekable();
    let visits = verbs.peek().is_some() && verbs.all(|verb| known.contains(&verb.lemma.as_str()));
    if !visits || !inside.iter().all(may_visit) {
        return None;
    }
    let again = inside.iter().any(|word| is_one_of(&word.text, &["again", "back"]) || word.lemma == "return");
    let which = inside.iter().find_map(|word| occurrence(&word.text));
    let which = which.or_else(|| again.then_some(Occurrence::Nth(2)))?;
    Some(phrase(text, words, at..end, which))
}

fn phrase(text: &str, words: &[Word], of: Range<usize>, which: Occurrence) -> VisitPhrase {
    let range = words[of.start].range.start..words[of.end - 1].range.end;
    let (_, sentences) = parse(text.get(range.clone()).unwrap_or_default(), &[]);
    let all = sentences.iter().flat_map(|sentence| &sentence.clauses).flat_map(|clause| clause.nouns());
    let names = |noun: &&NounPhrase| {
        noun.kind == NounKind::Common && !VISIT_NOUNS.contains(&noun.head.as_str()) && occurrence(&noun.head).is_none()
    };
    VisitPhrase { range, which, nouns: all.filter(names).cloned().collect() }
}

/// Returns the end of a clause: the next mark, or a word that asks.
fn clause_end(words: &[Word], from: usize) -> usize {
    let ends = |word: &Word| word.tag == Tag::Mark || word.tag == Tag::Wh && !word.has_text("that");
    (from..words.len()).find(|at| ends(&words[*at])).unwrap_or(words.len())
}

/// Returns whether a word may stand in a phrase about visits of the recording, and not of somebody else.
fn may_visit(word: &Word) -> bool {
    word.tag != Tag::Name
        && !is_one_of(&word.text, &["he", "she", "they", "i", "his", "her", "their", "my", "and", "or"])
}

/// Returns which of several an adjective or adverb names.
fn occurrence(word: &str) -> Option<Occurrence> {
    const ORDINALS: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "sixth"];
    match word {
        "first" | "initial" | "earlier" => Some(Occurrence::First),
        "last" | "final" | "latest" => Some(Occurrence::Last),
        "later" | "other" => Some(Occurrence::Nth(2)),
        _ => ORDINALS.iter().position(|ordinal| *ordinal == word).map(|at| Occurrence::Nth(at + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(String, Occurrence, Vec<String>)> {
        let (words, _) = parse(text, &[]);
        let phrase = visit_phrase(text, &words)?;
        let nouns = phrase.nouns.into_iter().map(|noun| noun.head).collect();
        Some((text[phrase.range].to_owned(), phrase.which, nouns))
    }

    #[test]
    fn the_words_for_one_of_several_visits_are_found() {
        for (text, words, which, noun) in [
            (
                "What stood on the table on the second visit to the loft?",
                "on the second visit to the loft",
                Occurrence::Nth(2),
                "loft",
            ),
            (
                "The last time you saw the yard, who swept it?",
                "The last time you saw the yard",
                Occurrence::Last,
                "yard",
            ),
            (
                "Who was there when you came back to the smithy?",
                "when you came back to the smithy",
                Occurrence::Nth(2),
                "smithy",
            ),
            ("When the loft was seen again, was it tidy?", "When the loft was seen again", Occurrence::Nth(2), "loft"),
        ] {
            assert_eq!(found(text), Some((words.to_owned(), which, vec![noun.to_owned()])), "{text}");
        }
        let without = found("What was baked in the smithy the first time it was shown?").unwrap();
        assert_eq!((without.0.as_str(), without.1), ("the first time it was shown", Occurrence::First));
    }

    #[test]
    fn what_somebody_did_once_is_no_visit() {
        for text in [
            "What did Oda say the first time she swam?",
            "When did you last see the yard?",
            "What happened when the smith came back?",
            "What did the doctor say on his second visit?",
            "Who came first?",
            "What was in view before the first visit to the loft?",
            "Who spoke when the bell rang for the first time?",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
