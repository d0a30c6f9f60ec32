//! The first letter of a text.

/// Returns a text with a capital first letter.
pub(crate) fn capitalised(text: &str) -> String {
    with_first(text, |first| first.to_uppercase().collect())
}

/// Returns a text with a lower-case first letter, also if its first word is a name.
pub(crate) fn lowercase_first(text: &str) -> String {
    with_first(text, |first| first.to_lowercase().collect())
}

fn with_first(text: &str, change: impl FnOnce(char) -> String) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| change(first) + letters.as_str())
}
