//! A small pattern language for questions and remarks, so that rules are as readable as the texts that they match.
//!
//! `how (do|can) (i|we) *` matches word by word: `(a|b)` any of these words, `[a|b]` any of these or nothing, `*` one
//! or more words, which are captured. The whole text must match. Words are lower case; `'s` is a word of its own.

/// Splits a text into clauses of words at `, ; : . ? !` and dashes, and spells out contractions.
pub(super) fn split_clauses(text: &str) -> Vec<Vec<String>> {
    let mut clauses = vec![Vec::new()];
    let mut word = String::new();
    let text = text.replace('’', "'").to_lowercase();
    for character in text.chars().chain([' ']) {
        if character.is_alphanumeric() || character == '\'' || character == '-' && !word.is_empty() {
            word.push(character);
            continue;
        }
        if !word.is_empty() {
            let clause = clauses.last_mut().expect("there is always a clause");
            spell_out(word.trim_end_matches(['-', '\'']), clause);
            word.clear();
        }
        if matches!(character, ',' | ';' | ':' | '.' | '?' | '!' | '–' | '—')
            && clauses.last().is_some_and(|last| !last.is_empty())
        {
            clauses.push(Vec::new());
        }
    }
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

fn spell_out(word: &str, clause: &mut Vec<String>) {
    let mut push = |words: &[&str]| clause.extend(words.iter().map(|word| (*word).to_owned()));
    match word {
        "can't" | "cannot" => push(&["can", "not"]),
        "won't" => push(&["will", "not"]),
        "what's" | "there's" | "here's" | "that's" | "it's" | "where's" | "who's" => {
            push(&[&word[..word.len() - 2], "is"]);
        }
        _ => {
            let endings =
                [("n't", "not"), ("'ve", "have"), ("'re", "are"), ("'ll", "will"), ("'m", "am"), ("'s", "'s")];
            match endings.iter().find_map(|(ending, full)| Some((word.strip_suffix(ending)?, *full))) {
                Some((stem, full)) if !stem.is_empty() => push(&[stem, full]),
                _ if word.is_empty() || word.chars().all(|c| c == '\'') => {}
                _ => push(&[word]),
            }
        }
    }
}

/// Returns the captures of a pattern, or `None` if it does not match the words. Captures are as short as possible.
pub(super) fn match_pattern<'a>(pattern: &str, words: &'a [String]) -> Option<Vec<&'a [String]>> {
    let pattern: Vec<&str> = pattern.split(' ').collect();
    let mut found = Vec::new();
    matches(&pattern, words, &mut found).then(|| {
        found.reverse();
        found
    })
}

/// Returns the captures of the first pattern that matches.
pub(super) fn first_match<'a>(patterns: &[&str], words: &'a [String]) -> Option<Vec<&'a [String]>> {
    patterns.iter().find_map(|pattern| match_pattern(pattern, words))
}

fn matches<'a>(pattern: &[&str], words: &'a [String], found: &mut Vec<&'a [String]>) -> bool {
    let Some((part, rest)) = pattern.split_first() else { return words.is_empty() };
    if *part == "*" {
        return (1..=words.len()).any(|length| {
            let (taken, left) = words.split_at(length);
            let matched = matches(rest, left, found);
            if matched {
                found.push(taken);
            }
            matched
        });
    }
    let one_of = |choices: &str| words.first().is_some_and(|word| choices.split('|').any(|choice| choice == word));
    if let Some(choices) = part.strip_prefix('[').and_then(|part| part.strip_suffix(']')) {
        return one_of(choices) && matches(rest, &words[1..], found) || matches(rest, words, found);
    }
    let choices = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')).unwrap_or(part);
    one_of(choices) && matches(rest, &words[1..], found)
}

/// Joins words to a text.
pub(super) fn join_words(words: &[String]) -> String {
    words.join(" ").replace(" 's", "'s")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        split_clauses(text).into_iter().flatten().collect()
    }

    #[test]
    fn texts_become_clauses_with_contractions_spelled_out() {
        assert_eq!(
            split_clauses("The bowl's broken; what's next? I can't, don't and won't."),
            [
                vec!["the", "bowl", "'s", "broken"],
                vec!["what", "is", "next"],
                vec!["i", "can", "not"],
                vec!["do", "not", "and", "will", "not"],
            ]
        );
        assert!(split_clauses(" … ?! ").is_empty());
    }

    #[test]
    fn patterns_capture_what_stands_for_the_star() {
        let found = |pattern: &str, question: &str| -> Option<Vec<String>> {
            let words = words(question);
            match_pattern(pattern, &words).map(|found| found.into_iter().map(join_words).collect())
        };
        assert_eq!(found("how (do|can) (i|we) *", "How can we make tea?"), Some(vec!["make tea".into()]));
        assert_eq!(found("what does * [usually] do", "What does Anna Lee do?"), Some(vec!["anna lee".into()]));
        assert_eq!(found("what should * do next [to] *", "what should jack do next"), None);
        assert_eq!(found("* is * now", "the bowl is broken now"), Some(vec!["the bowl".into(), "broken".into()]));
        assert_eq!(found("how (do|can) (i|we) *", "how do I"), None, "a star is at least a word");
    }
}
