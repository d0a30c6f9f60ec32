//! Parts of a question that do not change its meaning: the source, and the form of the answer.

use std::ops::Range;

use crate::language::english::closed::{BE_FORMS, DO_FORMS, HAVE_FORMS, MODALS, is_one_of};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};

/// Fillers that do not change a question.
const FILLERS: &[&str] = &[
    "by any chance",
    "by the way",
    "as far as you know",
    "as far as you can tell",
    "as far as you remember",
    "if you remember",
    "if you happen to know",
    "if i may ask",
    "to your knowledge",
    "out of curiosity",
];
/// Words of a request that opens an indirect question: "could you please tell me when …", "I'd like to know who …".
const REQUEST_WORDS: &[&str] = &[
    "a",
    "able",
    "any",
    "anybody",
    "anyone",
    "ask",
    "be",
    "can",
    "chance",
    "clue",
    "could",
    "curious",
    "d",
    "did",
    "do",
    "does",
    "glad",
    "happen",
    "happens",
    "have",
    "hear",
    "i",
    "i'd",
    "i'm",
    "idea",
    "interested",
    "is",
    "just",
    "kindly",
    "know",
    "knows",
    "learn",
    "let",
    "like",
    "love",
    "m",
    "may",
    "maybe",
    "me",
    "might",
    "need",
    "perhaps",
    "please",
    "possible",
    "possibly",
    "recall",
    "remember",
    "remind",
    "say",
    "somebody",
    "someone",
    "still",
    "tell",
    "there",
    "to",
    "us",
    "want",
    "wanted",
    "was",
    "we",
    "we'd",
    "will",
    "wonder",
    "wondering",
    "would",
    "you",
];
/// Words of which such a request has one.
const REQUEST_HEADS: &[&str] = &[
    "ask",
    "clue",
    "curious",
    "hear",
    "idea",
    "know",
    "knows",
    "learn",
    "recall",
    "remember",
    "remind",
    "say",
    "tell",
    "wonder",
    "wondering",
];
/// Words that begin the question inside.
const QUESTION_WORDS: &[&str] =
    &["how", "what", "when", "where", "whereabouts", "which", "who", "whom", "whose", "why"];
/// Words that begin a question for yes or no inside, which is a statement without them.
const WHETHER: &[&str] = &["if", "whether"];
/// Words for the length of the answer: "in a few words".
const COUNT_WORDS: &[&str] = &["a", "one", "two", "three", "few", "a few", "some"];

/// Returns whether an indirect question asks for yes or no: "could you tell me whether the stove is on?".
pub(super) fn asks_whether(text: &str) -> bool {
    let rest = blank_fillers(text).to_ascii_lowercase();
    find_request(&rest).is_some_and(|request| {
        let last = rest[request].split_whitespace().next_back();
        last.is_some_and(|word| WHETHER.contains(&word))
    })
}

/// Returns the question with its asides blanked out, so that positions stay valid. `None` without asides.
pub(super) fn without_asides(text: &str) -> Option<String> {
    let mut rest = blank_fillers(text);
    if let Some(called) = leading_address(&rest) {
        rest.replace_range(called.clone(), &" ".repeat(called.len()));
    }
    if let Some(request) = find_request(&rest.to_ascii_lowercase()) {
        rest.replace_range(request.clone(), &" ".repeat(request.len()));
    }
    (rest != text && !rest.trim_matches(|c: char| !c.is_alphanumeric()).is_empty()).then_some(rest)
}

/// Returns the range of a name that a question begins with, and its comma: "Ada, can I open the window?"
pub(super) fn leading_address(text: &str) -> Option<Range<usize>> {
    let comma = text.find(',')?;
    let name = text[..comma].trim();
    let one_name = name.starts_with(char::is_uppercase) && name.chars().all(char::is_alphanumeric);
    let next: String = text[comma + 1..].trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
    let asks = [BE_FORMS, HAVE_FORMS, DO_FORMS, MODALS, QUESTION_WORDS]
        .iter()
        .any(|forms| is_one_of(&next.to_ascii_lowercase(), forms));
    let lower = name.to_ascii_lowercase();
    let parts = lexicon::parts_of_speech(&lower);
    let other = parts.can_be(PartOfSpeech::Adverb)
        || lexicon::category(&lower, PartOfSpeech::Noun) == Some(Category::Time)
        || !parts.is_empty() && !parts.can_be(PartOfSpeech::Noun);
    (one_name && asks && !other).then_some(0..comma + 1)
}

/// Blanks out the source, the form of the answer, and fillers.
fn blank_fillers(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut aside: Vec<Range<usize>> = FILLERS.iter().filter_map(|filler| find_phrase(&lower, filler)).collect();
    aside.extend(find_attribution(&lower));
    aside.extend(find_answer_form(&lower));
    let mut rest = text.to_owned();
    for range in aside {
        // A comma that parted it parts nothing now.
        let from = lower[..range.start].trim_end().strip_suffix(',').map_or(range.start, str::len);
        let behind = lower[range.end..].find(|c: char| c != ' ').map_or(range.end, |at| range.end + at);
        let to = if lower[behind..].starts_with(',') { behind + 1 } else { range.end };
        rest.replace_range(from..to, &" ".repeat(to - from));
    }
    rest
}

/// Returns the range of some words as whole words.
fn find_phrase(lower: &str, words: &str) -> Option<Range<usize>> {
    let at = lower.find(words)?;
    let end = at + words.len();
    let parted = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    (parted(lower[..at].chars().next_back()) && parted(lower[end..].chars().next())).then_some(at..end)
}

/// Returns the range of the request before an indirect question: "do you happen to know" before "where the key is".
/// What a person knows or said is no request: "does Ada know where the key is?" names her.
fn find_request(lower: &str) -> Option<Range<usize>> {
    let starts =
        std::iter::once(0).chain(lower.match_indices(['.', '!', '?', ';', ':']).map(|(at, mark)| at + mark.len()));
    starts.into_iter().find_map(|start| {
        let mut asks = false;
        let mut at = start;
        for word in lower[start..].split_inclusive([' ', ',', '\'', '’', '-']) {
            let plain = word.trim_matches(|c: char| !c.is_alphanumeric());
            if asks && QUESTION_WORDS.contains(&plain) {
                return Some(start..at);
            }
            if asks && WHETHER.contains(&plain) {
                return Some(start..at + word.len());
            }
            if !plain.is_empty() && !REQUEST_WORDS.contains(&plain) {
                return None;
            }
            asks |= REQUEST_HEADS.contains(&plain);
            at += word.len();
        }
        None
    })
}

/// Returns the range of an attribution up to the next mark: "according to the narrator", "in the words of the reader".
fn find_attribution(lower: &str) -> Option<Range<usize>> {
    let begins = ["according to ", "in the words of "].iter().find_map(|begin| find_phrase(lower, begin.trim_end()))?;
    let end = lower[begins.end..].find([',', '?', '.', '!', ';', ':']).map_or(lower.len(), |at| begins.end + at);
    // At the front it ends at a comma; without one nobody knows where.
    let fronted = lower[..begins.start].trim().is_empty();
    (!fronted || lower[end..].starts_with(',')).then_some(begins.start..end)
}

/// Returns the range of a form of answer: "in a few words", "in one sentence", "in your own words".
fn find_answer_form(lower: &str) -> Option<Range<usize>> {
    let own = ["in your own words", "in your words"].iter().find_map(|own| find_phrase(lower, own));
    let short = || {
        let sizes = ["word", "words", "sentence", "sentences"];
        let all = COUNT_WORDS.iter().flat_map(|few| sizes.map(|size| format!("in {few} {size}")));
        all.into_iter().find_map(|extent| find_phrase(lower, &extent))
    };
    own.or_else(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asides_are_left_blank_and_nothing_else_moves() {
        for (text, before, behind) in [
            ("Where is the mill, according to the guide?", "Where is the mill", "?"),
            ("According to the guide, where is the mill?", "", "where is the mill?"),
            ("What was the barn like, in a few words?", "What was the barn like", "?"),
            ("Do you by any chance know who rang?", "", "who rang?"),
            ("Could you please tell me when the train leaves?", "", "when the train leaves?"),
            ("Can you tell me whether the train has left?", "", "the train has left?"),
            ("I'd be glad to know what we owe.", "", "what we owe."),
            ("Ben is asking. Any idea where his hat went?", "Ben is asking.", "where his hat went?"),
        ] {
            let blanks = " ".repeat(text.len() - before.len() - behind.len());
            assert_eq!(without_asides(text), Some(format!("{before}{blanks}{behind}")));
        }
        for text in [
            "Where is the mill?",
            "What did he say in the words?",
            "According to whom?",
            "In a few words?",
            "Does Ada know where the key is?",
            "What did I tell you about the mill?",
            "Did you say that?",
        ] {
            assert_eq!(without_asides(text), None, "{text}");
        }
    }
}
