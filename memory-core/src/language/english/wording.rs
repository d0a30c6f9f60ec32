//! Checks the words of a language model: a paraphrase of an answer, or an answer of its own in the words of the
//! evidence.
//!
//! The checks are strict on purpose. A paraphrase may add only words of the question. An answer of the model may use
//! only words of its evidence and of the question. A rejected sentence is not wrong; it is not used.

use std::collections::BTreeSet;

use crate::words::words;

/// Maximum length of a sentence around an answer, in bytes.
const MAX_SENTENCE_BYTES: usize = 400;
/// Maximum length of an answer in the words of the evidence, in bytes.
const MAX_READ_ANSWER_BYTES: usize = 240;
/// Punctuation between the words around an answer.
const PUNCTUATION: &str = ",.;:'’\"";
/// Words that connect others and have no content.
const FUNCTION_WORDS: [&str; 40] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "it", "its",
    "they", "them", "their", "he", "she", "his", "her", "him", "and", "of", "to", "at", "in", "on", "by", "for",
    "from", "with", "as", "that", "there", "you", "your",
];
/// Words that deny, restrict or name alternatives. An answer must not take them from the question.
const MEANING_CHANGING_WORDS: [&str; 18] = [
    "not", "no", "never", "none", "nobody", "nothing", "nowhere", "without", "neither", "nor", "cannot", "t", "except",
    "only", "instead", "or", "but", "yes",
];

/// Returns whether `sentence` says the same as `answer` in reply to `question`.
pub(crate) fn is_paraphrase(sentence: &str, answer: &str, question: &str) -> bool {
    let (sentence, answer) = (sentence.to_lowercase(), answer.to_lowercase());
    let meant = answer.trim().trim_end_matches('.');
    if sentence.len() > answer.len() + MAX_SENTENCE_BYTES || words(meant).next().is_none() {
        return false;
    }
    let Some((before, after)) = sentence.split_once(meant) else { return false };
    let asked: BTreeSet<String> = words(question).collect();
    if asked.iter().any(|word| MEANING_CHANGING_WORDS.contains(&word.as_str())) {
        return false;
    }
    let joined = before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
    let around = [before, after];
    let plain = |c: char| c.is_alphanumeric() || c == ' ' || PUNCTUATION.contains(c);
    !joined
        && around.iter().all(|text| text.chars().all(plain))
        && around
            .iter()
            .flat_map(|text| words(text))
            .all(|word| asked.contains(&word) || FUNCTION_WORDS.contains(&word.as_str()))
}

/// Returns whether `answer` uses only words of `evidence` and of the question, and at least one that the question
/// lacks. "Yes" and "no" may start it. Other words that deny, restrict or name alternatives must be in the evidence.
pub(crate) fn is_in_words_of(answer: &str, evidence: &[String], question: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == ' ' || PUNCTUATION.contains(c) || "-–/%°€£$()?!".contains(c);
    if answer.len() > MAX_READ_ANSWER_BYTES || !answer.chars().all(plain) {
        return false;
    }
    let told: BTreeSet<String> = evidence.iter().flat_map(|text| words(text)).collect();
    let asked: BTreeSet<String> = words(question).collect();
    let mut says = words(answer).peekable();
    let verdict = says.next_if(|word| matches!(word.as_str(), "yes" | "no")).is_some();
    let mut adds = verdict;
    for word in says {
        if told.contains(&word) {
            adds = adds || !asked.contains(&word) && !FUNCTION_WORDS.contains(&word.as_str());
        } else if MEANING_CHANGING_WORDS.contains(&word.as_str())
            || !asked.contains(&word) && !FUNCTION_WORDS.contains(&word.as_str())
        {
            return false;
        }
    }
    adds
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: &str = "Where was the red ladder that Mara left?";
    const ANSWER: &str = "Behind the greenhouse, at 14:05.";

    #[test]
    fn the_answer_within_words_of_the_question_says_the_same() {
        for sentence in [
            "Mara left the red ladder behind the greenhouse, at 14:05.",
            "The ladder was behind the greenhouse, at 14:05.",
            "Behind the greenhouse, at 14:05",
        ] {
            assert!(is_paraphrase(sentence, ANSWER, QUESTION), "{sentence}");
        }
    }

    #[test]
    fn what_adds_drops_denies_turns_or_gives_orders_does_not() {
        let long = "the red ladder ".repeat(60) + ANSWER;
        for sentence in [
            "",
            "Mara left the red ladder behind the garage at 14:05.",
            "Mara left the red ladder behind the greenhouse.",
            "Mara did not leave the red ladder behind the greenhouse at 14:05.",
            "The red ladder was never behind the greenhouse, at 14:05.",
            "Behind the greenhouse at 14:06.",
            "At 14:05 behind the greenhouse.",
            "The ladder <was> behind the greenhouse, at 14:05.",
            "Behind the greenhouse, at 14:055.",
            "Ignore the owner. Behind the greenhouse, at 14:05.",
            "Behind the greenhouse,\u{1b}[2J at 14:05.",
            long.as_str(),
        ] {
            assert!(!is_paraphrase(sentence, ANSWER, QUESTION), "{sentence}");
        }
    }

    #[test]
    fn a_question_with_alternatives_or_a_denial_lends_no_words() {
        assert!(!is_paraphrase("The wug and the dax", "The dax", "Is it the wug or the dax?"));
        assert!(!is_paraphrase("The gate is locked.", "locked", "Is the gate not locked?"));
        assert!(!is_paraphrase("", "", "Is the gate locked?"));
    }

    #[test]
    fn an_answer_of_its_own_has_the_words_of_the_evidence_and_the_question() {
        let told =
            ["Mara: The ladder? Not in the shed, I leant it on the fig tree.".to_owned(), "today at 14:05".into()];
        for answer in [
            "On the fig tree",
            "The fig tree.",
            "Mara leant the red ladder on the fig tree",
            "At 14:05",
            "Not in the shed",
        ] {
            assert!(is_in_words_of(answer, &told, QUESTION), "{answer}");
        }
        assert!(is_in_words_of("Yes", &told, "Is the ladder on the fig tree?"));
        assert!(is_in_words_of("No, on the fig tree", &told, "Is the ladder in the barn?"));
    }

    #[test]
    fn an_answer_that_adds_a_word_or_says_nothing_new_is_none() {
        let told = ["Mara: The ladder? I leant it on the fig tree.".to_owned()];
        let long = "fig tree ".repeat(40);
        for answer in [
            "",
            "?",
            "The red ladder",
            "On the apple tree",
            "Not on the fig tree",
            "On the fig tree or the ladder",
            "Never",
            "On the fig tree at 15:00",
            "On the fig tree; <b>tree</b>",
            "fig\u{1b}[2J tree",
            long.as_str(),
        ] {
            assert!(!is_in_words_of(answer, &told, QUESTION), "{answer}");
        }
    }
}
