//! Replies to yes-or-no questions.

use super::token::tokenise;

const YES_WORDS: &[&str] = &[
    "yes",
    "yeah",
    "yep",
    "aye",
    "sure",
    "certainly",
    "definitely",
    "absolutely",
    "indeed",
    "exactly",
    "gladly",
    "right",
    "course",
];
const NO_WORDS: &[&str] = &["no", "nope", "nah", "not", "never", "none", "nobody", "nothing", "hardly", "neither"];
/// Words before the decisive one: "oh no", "I'm afraid not", "of course".
const LEADING_WORDS: &[&str] =
    &["oh", "ah", "well", "of", "i", "am", "'m", "afraid", "sorry", "erm", "hm", "um", "but"];

/// Returns whether a reply starts with yes or no. `None` if it starts with neither.
pub(crate) fn is_yes(text: &str) -> Option<bool> {
    let words: Vec<String> = tokenise(text).into_iter().map(|token| token.text.to_lowercase()).collect();
    let first = words
        .iter()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .find(|word| !LEADING_WORDS.contains(&word.as_str()))?;
    // "Not only that" and "no idea" say neither.
    let second = words.iter().skip_while(|word| *word != first).nth(1).map(String::as_str);
    if matches!(second, Some("only" | "idea" | "clue" | "matter" | "problem" | "sure" | "yet")) && first != "not" {
        return None;
    }
    if YES_WORDS.contains(&first.as_str()) {
        return Some(true);
    }
    (NO_WORDS.contains(&first.as_str()) && !matches!(second, Some("only" | "sure"))).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn a_reply_says_yes_or_no_by_its_first_words() {
        for text in ["Yes, twice.", "Of course you can.", "Sure!", "Oh yes."] {
            assert_eq!(is_yes(text), Some(true), "{text}");
        }
        for text in ["No, they are neighbours.", "Not a single one.", "Never.", "I'm afraid not.", "Not yet."] {
            assert_eq!(is_yes(text), Some(false), "{text}");
        }
        for text in ["No idea.", "Not sure.", "On the shelf.", ""] {
            assert_eq!(is_yes(text), None, "{text}");
        }
    }
}
