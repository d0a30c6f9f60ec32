//! Numbers in digits and in words.

use std::ops::Range;

use super::tokens::{Gap, Token, tokens};

const UNITS: [&str; 20] = [
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
];

const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

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

/// The number that a lower-case word or a run of digits means.
pub(crate) fn number(word: &str) -> Option<i64> {
    if word.len() <= 6 && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) {
        return word.parse().ok();
    }
    if let Some(place) = place_in(&UNITS, word) {
        return Some(place);
    }
    if let Some(place) = place_in(&TENS, word) {
        return Some(20 + 10 * place);
    }
    match word {
        "once" => Some(1),
        "twice" => Some(2),
        "dozen" => Some(12),
        _ => None,
    }
}

fn place_in(words: &[&str], word: &str) -> Option<i64> {
    words.iter().position(|other| *other == word).and_then(|place| i64::try_from(place).ok())
}

/// The whole number at the begin of some words ("25", "twenty-five"): how many words it takes, and its value.
pub(super) fn whole_number(tokens: &[Token]) -> Option<(usize, i64)> {
    let first = number(&tokens.first()?.text)?;
    let tens = first >= 20 && first % 10 == 0 && !tokens[0].text.as_bytes()[0].is_ascii_digit();
    let units = tokens.get(1).filter(|_| tens).and_then(|token| place_in(&UNITS, &token.text));
    match units {
        Some(units @ 1..10) => Some((2, first + units)),
        _ => Some((1, first)),
    }
}

/// The ordinal at the begin of some words ("25th", "twenty-fifth"): how many words it takes, and its value.
pub(super) fn ordinal(tokens: &[Token]) -> Option<(usize, i64)> {
    let first = tokens.first()?;
    let second = tokens.get(1).map_or("", |token| token.text.as_str());
    if matches!(second, "st" | "nd" | "rd" | "th") && tokens[1].start == first.end {
        return number(&first.text).map(|value| (2, value));
    }
    if let Some(value) = place_in(&ORDINALS, &first.text) {
        return Some((1, value));
    }
    match first.text.as_str() {
        "twentieth" => return Some((1, 20)),
        "thirtieth" => return Some((1, 30)),
        _ => {}
    }
    let tens = 20 + 10 * place_in(&TENS, &first.text)?;
    place_in(&ORDINALS, second).filter(|units| (1..10).contains(units)).map(|units| (2, tens + units))
}

/// The numbers of a text with their places: digits with decimals, and words ("two", "twenty-five", "two hundred", "a
/// dozen", "half a", "two and a half"). Times of day and dates are none.
#[cfg_attr(not(test), expect(dead_code, reason = "recall reads the numbers of a text with their units so far"))]
pub(crate) fn numbers(text: &str) -> Vec<(Range<usize>, f64)> {
    let tokens = tokens(text);
    let mut numbers = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        match amount(text, &tokens[place..]) {
            Some((taken, value)) => {
                let taken = taken.min(tokens.len() - place).max(1);
                let mut start = tokens[place].start;
                let mut value = value;
                if is_negative(text, start) {
                    start -= 1;
                    value = -value;
                }
                numbers.push((start..tokens[place + taken - 1].end, value));
                place += taken;
            }
            None => place += 1,
        }
    }
    numbers
}

/// Whether a minus stands in front of a place and nothing but white space before it.
fn is_negative(text: &str, start: usize) -> bool {
    let before = &text[..start];
    before.strip_suffix('-').is_some_and(|rest| rest.chars().next_back().is_none_or(char::is_whitespace))
        && text[start..].starts_with(|first: char| first.is_ascii_digit())
}

fn amount(text: &str, tokens: &[Token]) -> Option<(usize, f64)> {
    let word = |place: usize| tokens.get(place).map_or("", |token| token.text.as_str());
    match (word(0), word(1), word(2)) {
        ("half", "a" | "an", _) | ("a", "half", _) => return Some((2, 0.5)),
        ("half", "past", _) => return None,
        ("half", ..) => return Some((1, 0.5)),
        ("a", "dozen", _) => return Some((2, 12.0)),
        ("a", "hundred" | "thousand" | "million", _) => {}
        ("a", "couple", "of") => return Some((3, 2.0)),
        _ => {}
    }
    let (mut taken, mut value) = digits(text, tokens).or_else(|| in_words(tokens))?;
    if (word(taken), word(taken + 1), word(taken + 2)) == ("and", "a", "half") {
        taken += 3;
        value += 0.5;
    }
    if word(taken) == "dozen" {
        taken += 1;
        value *= 12.0;
    }
    Some((taken, value))
}

/// "12", "3.5", "1/2", "1,200".
fn digits(text: &str, tokens: &[Token]) -> Option<(usize, f64)> {
    let first = tokens.first()?;
    if !first.text.as_bytes()[0].is_ascii_digit() || first.text.contains([':', '-']) {
        return None;
    }
    if let Some((over, under)) = first.text.split_once('/') {
        let (over, under) = (over.parse::<f64>().ok()?, under.parse::<f64>().ok()?);
        return (under > 0.0).then(|| (1, over / under));
    }
    let mut written = first.text.clone();
    let mut taken = 1;
    while let Some(next) = tokens.get(taken)
        && written.len() <= 15
        && !written.contains('.')
        && first.text.len() <= 3
        && next.text.split('.').next().is_some_and(|whole| whole.len() == 3)
        && &text[tokens[taken - 1].end..next.start] == ","
        && next.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        written.push_str(&next.text);
        taken += 1;
    }
    let value = written.parse::<f64>().ok().filter(|value| value.is_finite())?;
    Some((taken, value))
}

/// "twenty-five", "two hundred and ten", "a thousand".
fn in_words(tokens: &[Token]) -> Option<(usize, f64)> {
    let (mut sum, mut part, mut taken) = (0_i64, 0_i64, 0);
    while let Some(token) = tokens.get(taken) {
        if taken > 8 || (taken > 0 && matches!(token.gap, Gap::Stop | Gap::Comma)) {
            break;
        }
        let scale = match token.text.as_str() {
            "hundred" => 100,
            "thousand" => 1_000,
            "million" => 1_000_000,
            _ => 1,
        };
        if scale > 1 && (taken > 0 || tokens.len() == 1) {
            part = part.max(1) * scale;
            if scale > 100 {
                sum += part;
                part = 0;
            }
            taken += 1;
            continue;
        }
        let follows_scale = part == 0 || part % 100 == 0;
        match token.text.as_str() {
            "a" if taken == 0 => {
                let next = tokens.get(1).map_or("", |next| next.text.as_str());
                if !matches!(next, "hundred" | "thousand" | "million") {
                    return None;
                }
                part = 1;
                taken += 1;
                continue;
            }
            // "and" joins only what follows a hundred or a thousand.
            "and" if taken > 0 && matches!(tokens[taken - 1].text.as_str(), "hundred" | "thousand") => {
                match whole_number(&tokens[taken + 1..]) {
                    Some((more, value)) if value < 100 => {
                        part += value;
                        taken += 1 + more;
                        continue;
                    }
                    _ => break,
                }
            }
            _ => {}
        }
        match whole_number(&tokens[taken..]) {
            Some((more, value)) if follows_scale && !token.text.as_bytes()[0].is_ascii_digit() => {
                if taken > 0 && part == 0 && sum == 0 {
                    break;
                }
                part += value;
                taken += more;
                if !tokens
                    .get(taken)
                    .is_some_and(|next| matches!(next.text.as_str(), "hundred" | "thousand" | "million" | "and"))
                {
                    break;
                }
            }
            _ => break,
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let value = (sum + part) as f64;
    (taken > 0).then_some((taken, value))
}
