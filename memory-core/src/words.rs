//! The words of a text, before any stemming.

/// A name as it is compared: without case and without the blanks around it.
pub(crate) fn fold_name(name: &str) -> String {
    name.trim().to_lowercase()
}

/// The words of a text, lower case, in order: runs of letters and digits; an apostrophe ends one.
#[derive(Debug, Clone)]
pub struct Words<'a> {
    rest: &'a str,
}

/// The words of a text.
pub fn words(text: &str) -> Words<'_> {
    Words { rest: text }
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let start = self.rest.find(char::is_alphanumeric)?;
        let tail = &self.rest[start..];
        let end = tail.find(|c: char| !c.is_alphanumeric()).unwrap_or(tail.len());
        let (word, rest) = tail.split_at(end);
        self.rest = rest;
        Some(word.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_runs_of_letters_and_digits() {
        assert_eq!(words("Anna's café, No. 7!").collect::<Vec<_>>(), ["anna", "s", "café", "no", "7"]);
        assert_eq!(words(" … ").next(), None);
    }
}
