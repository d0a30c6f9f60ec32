//! Words with their places, and numbers in words.

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Lower case.
    pub text: String,
    pub start: usize,
    pub end: usize,
}

/// Splits into words; `:` and `-` between digits belong to them (15:30, 2023-05-07), and digits are parted from the letters
/// that follow ("3pm", "7th").
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut open: Option<usize> = None;
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    for (place, (at, character)) in characters.iter().copied().enumerate() {
        let digit = |place: usize| characters.get(place).is_some_and(|(_, other)| other.is_ascii_digit());
        let joins = matches!(character, ':' | '-') && place > 0 && digit(place - 1) && digit(place + 1);
        let inside = character.is_alphanumeric() || joins;
        let parts = place > 0 && digit(place - 1) && character.is_alphabetic();
        if let Some(start) = open.filter(|_| !inside || parts) {
            tokens.push(Token { text: text[start..at].to_lowercase(), start, end: at });
            open = None;
        }
        if inside && open.is_none() {
            open = Some(at);
        }
    }
    if let Some(start) = open {
        tokens.push(Token { text: text[start..].to_lowercase(), start, end: text.len() });
    }
    tokens
}

/// The number that a lower-case word or a run of digits means.
pub(in crate::recall) fn number(word: &str) -> Option<i64> {
    const WORDS: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    const TENS: [(&str, i64); 8] = [
        ("thirty", 30),
        ("forty", 40),
        ("fifty", 50),
        ("sixty", 60),
        ("ninety", 90),
        ("once", 1),
        ("twice", 2),
        ("dozen", 12),
    ];
    if word.len() <= 6 && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return word.parse().ok();
    }
    let place = WORDS.iter().position(|other| *other == word).and_then(|place| i64::try_from(place).ok());
    place.or_else(|| TENS.iter().find(|(other, _)| *other == word).map(|(_, value)| *value))
}
