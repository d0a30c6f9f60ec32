//! What a language model may say: an answer in other words that do not change it, or an answer of its own in the words of the
//! evidence.
//!
//! The checks are strict on purpose. Around an answer of the memory only words of the question may stand. An answer of the model's own
//! has no word that neither the evidence which it names nor the question has. A sentence that fails is not wrong; it is not taken.

use std::collections::BTreeSet;

use crate::words::words;

/// Longest sentence around an answer, bytes.
const LONGEST_AROUND: usize = 400;
/// Longest answer in the words of the evidence, bytes.
const LONGEST_READ: usize = 240;
/// What may stand between the words around an answer.
const PUNCTUATION: &str = ",.;:'’\"";
/// Words that join others and say nothing of the world.
const JOINTS: [&str; 40] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "it", "its",
    "they", "them", "their", "he", "she", "his", "her", "him", "and", "of", "to", "at", "in", "on", "by", "for",
    "from", "with", "as", "that", "there", "you", "your",
];
/// Words that deny or restrict, which the question may have and the answer may not get from it, and words that name
/// alternatives, between which the sentence would choose.
const TURNING: [&str; 18] = [
    "not", "no", "never", "none", "nobody", "nothing", "nowhere", "without", "neither", "nor", "cannot", "t", "except",
    "only", "instead", "or", "but", "yes",
];

/// Whether `sentence` says what `answer` says, as an answer to `question`.
pub(crate) fn says_the_same(sentence: &str, answer: &str, question: &str) -> bool {
    let (sentence, answer) = (sentence.to_lowercase(), answer.to_lowercase());
    let meant = answer.trim().trim_end_matches('.');
    if sentence.len() > answer.len() + LONGEST_AROUND || words(meant).next().is_none() {
        return false;
    }
    let Some((before, after)) = sentence.split_once(meant) else { return false };
    let asked: BTreeSet<String> = words(question).collect();
    if asked.iter().any(|word| TURNING.contains(&word.as_str())) {
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
            .all(|word| asked.contains(&word) || JOINTS.contains(&word.as_str()))
}

/// Whether `answer` has no words but those of `evidence` and of the question, and at least one that the question lacks. "Yes" and
/// "no" may begin it, which is the model's to judge; whatever else denies, restricts or names alternatives must stand in the
/// evidence.
pub(crate) fn is_in_words_of(answer: &str, evidence: &[String], question: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == ' ' || PUNCTUATION.contains(c) || "-–/%°€£$()?!".contains(c);
    if answer.len() > LONGEST_READ || !answer.chars().all(plain) {
        return false;
    }
    let told: BTreeSet<String> = evidence.iter().flat_map(|text| words(text)).collect();
    let asked: BTreeSet<String> = words(question).collect();
    let mut says = words(answer).peekable();
    let verdict = says.next_if(|word| matches!(word.as_str(), "yes" | "no")).is_some();
    let mut adds = verdict;
    for word in says {
        if told.contains(&word) {
            adds = adds || !asked.contains(&word) && !JOINTS.contains(&word.as_str());
        } else if TURNING.contains(&word.as_str()) || !asked.contains(&word) && !JOINTS.contains(&word.as_str()) {
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
            assert!(says_the_same(sentence, ANSWER, QUESTION), "{sentence}");
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
            assert!(!says_the_same(sentence, ANSWER, QUESTION), "{sentence}");
        }
    }

    #[test]
    fn a_question_with_alternatives_or_a_denial_lends_no_words() {
        assert!(!says_the_same("The wug and the dax", "The dax", "Is it the wug or the dax?"));
        assert!(!says_the_same("The gate is locked.", "locked", "Is the gate not locked?"));
        assert!(!says_the_same("", "", "Is the gate locked?"));
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
