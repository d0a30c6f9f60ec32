//! Parses numbers in digits and in words.

use super::tokens::TimeToken;
use crate::language::english::closed::{NUMBER_WORDS_OF_TENS, NUMBER_WORDS_TO_NINETEEN};

const ORDINALS: [&str; 20] = [
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];

/// Parses a number: a lower-case word or digits.
pub(crate) fn parse_number(word: &str) -> Option<i64> {
    if word.len() <= 6 && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return word.parse().ok();
    }
    if let Some(place) = index_of(&NUMBER_WORDS_TO_NINETEEN, word) {
        return Some(place);
    }
    if let Some(place) = index_of(&NUMBER_WORDS_OF_TENS, word) {
        return Some(20 + 10 * place);
    }
    match word {
        "once" => Some(1),
        "twice" => Some(2),
        "dozen" => Some(12),
        _ => None,
    }
}

fn index_of(words: &[&str], word: &str) -> Option<i64> {
    words.iter().position(|other| *other == word).and_then(|place| i64::try_from(place).ok())
}

/// Parses the number at the start of some words ("25", "twenty-five"). Returns the number of words and the value.
pub(super) fn leading_number(tokens: &[TimeToken]) -> Option<(usize, i64)> {
    let first = parse_number(&tokens.first()?.text)?;
    let tens = first >= 20 && first % 10 == 0 && !tokens[0].text.as_bytes()[0].is_ascii_digit();
    let units = tokens.get(1).filter(|_| tens).and_then(|token| index_of(&NUMBER_WORDS_TO_NINETEEN, &token.text));
    match units {
        Some(units @ 1..10) => Some((2, first + units)),
        _ => Some((1, first)),
    }
}

/// Parses the ordinal at the start of some words ("25th", "twenty-fifth"). Returns the number of words and the value.
pub(super) fn leading_ordinal(tokens: &[TimeToken]) -> Option<(usize, i64)> {
    let first = tokens.first()?;
    let second = tokens.get(1).map_or("", |token| token.text.as_str());
    if matches!(second, "st" | "nd" | "rd" | "th") && tokens[1].start == first.end {
        return parse_number(&first.text).map(|value| (2, value));
    }
    if let Some(value) = index_of(&ORDINALS, &first.text) {
        return Some((1, value));
    }
    match first.text.as_str() {
        "twentieth" => return Some((1, 20)),
        "thirtieth" => return Some((1, 30)),
        _ => {}
    }
    let tens = 20 + 10 * index_of(&NUMBER_WORDS_OF_TENS, &first.text)?;
    index_of(&ORDINALS, second).filter(|units| (1..10).contains(units)).map(|units| (2, tens + units))
}
