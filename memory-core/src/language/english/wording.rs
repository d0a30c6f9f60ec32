//! Whether a sentence says the same as an answer, so that a language model may word an answer and not change it.
//!
//! The check is strict on purpose: the answer must stand in the sentence as it is, but for its capitals and its full stop, and
//! whatever stands around it must be words of the question. A sentence that fails is not wrong; the answer keeps its own words.

use std::collections::BTreeSet;

use crate::words::words;

/// Longest sentence around an answer, bytes.
const LONGEST_AROUND: usize = 400;
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
}
