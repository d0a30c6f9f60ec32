//! Extracts the numbers of a text with their units and measured nouns.

use std::ops::Range;

use crate::language::english::closed::{combine_numbers, is_one_of, number_word};
use crate::language::english::tag::{Tag, lemma};
use crate::language::english::token::{Token, TokenKind, tokenise};

/// A number with its unit and the noun that it measures.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    pub value: f64,
    /// The unit or the noun after the number: "g", "kcal", "books". May be empty.
    pub unit: String,
    /// The noun that the unit measures: "fat" in "g fat".
    pub measured: String,
    pub range: Range<usize>,
}

/// Extracts the quantities of a text.
pub(super) fn quantities(text: &str) -> Vec<Quantity> {
    let tokens = tokenise(text);
    let mut found = Vec::new();
    let mut consumed = 0;
    for (at, token) in tokens.iter().enumerate() {
        if at < consumed {
            continue;
        }
        let start = token.range.start;
        let value = match token.kind {
            TokenKind::Number if !token.text.contains(':') => token.text.replace(',', "").parse::<f64>().ok(),
            TokenKind::Word => number_word(&token.text),
            _ => None,
        };
        // "28g" is one token.
        let (value, glued) = match value {
            Some(value) => (value, String::new()),
            None => {
                let digits: String = token.text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
                match digits.parse::<f64>() {
                    Ok(value) if token.kind == TokenKind::Word && !digits.is_empty() => {
                        (value, token.text[digits.len()..].to_owned())
                    }
                    _ => continue,
                }
            }
        };
        // "Two hundred" is one number.
        let spoken = |at: usize| {
            tokens.get(at).filter(|token| token.kind == TokenKind::Word).and_then(|token| number_word(&token.text))
        };
        let (mut value, mut at) = (value, at);
        let joined = |at: usize, value: f64| {
            // "Four hundred and twelve".
            let hundreds = spoken(at).filter(|last| *last >= 100.0 && value >= 100.0);
            let and = tokens.get(at + 1).is_some_and(|token| token.text == "and");
            spoken(at + 2).filter(|next| hundreds.is_some() && and && *next < 100.0)
        };
        loop {
            if glued.is_empty() && continue_number(Some(value), spoken(at + 1)) {
                value = combine_numbers(value, spoken(at + 1).unwrap_or(value));
                at += 1;
            } else if let Some(next) = joined(at, value) {
                value += next;
                at += 2;
            } else {
                break;
            }
        }
        // "Thirty-eight point four".
        if tokens.get(at + 1).is_some_and(|token| token.text == "point") {
            let mut place = 1.0;
            let digit = |at: usize| spoken(at).filter(|digit| *digit < 10.0 && digit.fract() == 0.0);
            let mut next = at + 2;
            while let Some(digit) = digit(next) {
                place /= 10.0;
                value += digit * place;
                at = next;
                next += 1;
            }
        }
        let mut last = at;
        // "Two and a half".
        let half = ["and", "a", "half"].iter().zip(at + 1..);
        if half.clone().all(|(word, at)| tokens.get(at).is_some_and(|token| token.text == *word)) {
            value += 0.5;
            last = at + 3;
        }
        let (at, token) = (last, &tokens[last]);
        consumed = at + 1;
        let word = |at: usize| {
            tokens.get(at).filter(|token| token.kind == TokenKind::Word || token.text == "%" || token.text == "°")
        };
        let mut next = at + 1;
        let mut end = token.range.end;
        let mut unit = glued;
        if unit.is_empty()
            && let Some(token) = word(next)
            && !is_one_of(&token.text, &["and", "or", "of", "for", "to", "in", "at", "on", "is", "was", "were", "are"])
        {
            unit = token.text.clone();
            end = token.range.end;
            next += 1;
        }
        // "Four pounds twenty", "2 euros 80".
        if UNITS_WITH_CENTS.contains(&canonical_unit(&unit).as_str())
            && let Some((small, last)) = hundredths_after(&tokens, next)
        {
            value += small / 100.0;
            end = tokens[last].range.end;
            consumed = last + 1;
            next = last + 1;
        }
        if tokens.get(next).is_some_and(|token| token.text == "of") {
            next += 1;
        }
        let mut of = Vec::new();
        while let Some(token) = word(next)
            && of.len() < 4
            && !is_one_of(
                &token.text,
                &["and", "or", "for", "to", "in", "at", "on", "is", "was", "were", "are", "with", "from"],
            )
        {
            of.push(lemma(&token.text, Tag::Noun));
            next += 1;
        }
        found.push(Quantity { value, unit: canonical_unit(&unit), measured: of.join(" "), range: start..end });
    }
    found
}

/// Units of money that may be followed by hundredths.
const UNITS_WITH_CENTS: &[&str] = &["euro", "pound", "dollar", "franc", "crown"];

/// Returns the hundredths after a unit of money, and the index of their last token.
fn hundredths_after(tokens: &[Token], at: usize) -> Option<(f64, usize)> {
    let number = |at: usize| {
        let token = tokens.get(at)?;
        match token.kind {
            TokenKind::Number if token.text.len() == 2 => token.text.parse().ok(),
            TokenKind::Word => number_word(&token.text),
            _ => None,
        }
    };
    let is_change = |value: &f64| (5.0..100.0).contains(value) && value.fract() == 0.0;
    let at = if tokens.get(at).is_some_and(|token| token.text == "and") { at + 1 } else { at };
    let small = number(at).filter(is_change)?;
    // "Two euros twenty times" counts something else.
    let counts = tokens.get(at + 1).is_some_and(|token| token.kind == TokenKind::Word && token.text == "times");
    (!counts).then_some((small, at))
}

/// Returns whether two number words in a row are one number.
fn continue_number(first: Option<f64>, second: Option<f64>) -> bool {
    first.zip(second).is_some_and(|(first, second)| (combine_numbers(first, second) - second).abs() > 0.0)
}

/// Returns how many base units a unit has: seconds, grams, metres, litres.
pub(super) fn base_units(unit: &str) -> f64 {
    match unit {
        "minute" | "min" => 60.0,
        "hour" | "h" => 3_600.0,
        "day" => 86_400.0,
        "week" => 604_800.0,
        "month" => 2_629_800.0,
        "year" => 31_557_600.0,
        "kg" | "km" | "kilometre" | "kilometer" => 1_000.0,
        "ml" => 0.001,
        "cm" | "centimetre" | "centimeter" | "cent" => 0.01,
        _ => 1.0,
    }
}

/// Returns the canonical name of a unit.
fn canonical_unit(unit: &str) -> String {
    match unit {
        "gram" | "grams" | "gr" => "g".into(),
        "kilogram" | "kilograms" | "kilos" | "kilo" => "kg".into(),
        "litre" | "litres" | "liter" | "liters" => "l".into(),
        "millilitre" | "millilitres" => "ml".into(),
        "percent" => "%".into(),
        "calorie" | "calories" | "kilocalories" => "kcal".into(),
        other => lemma(other, Tag::Noun),
    }
}
