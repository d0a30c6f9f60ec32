//! Words with their positions and separators.

use super::calendar::{month_number, weekday_named};

/// What separates a word from the word before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// White space, or a mark that does not separate.
    Space,
    /// A comma, a bracket or a slash.
    Comma,
    /// A dash, as in "9:15 – 10:45".
    Dash,
    /// The end of a sentence or of a clause.
    Stop,
}

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TimeToken {
    /// Lower case.
    pub text: String,
    /// First byte in the text.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
    /// The separator before it.
    pub gap: Separator,
}

/// Splits a text into words. `:`, `.` and `/` between digits belong to a word (15:30, 25.03.2026), and so do the dashes
/// of a date (2026-03-25). Digits are separated from the letters that follow ("3pm", "7th").
pub(super) fn tokenise(text: &str) -> Vec<TimeToken> {
    let mut tokens: Vec<TimeToken> = Vec::new();
    let mut open: Option<usize> = None;
    let bytes = text.as_bytes();
    let digit = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_digit);
    for (at, character) in text.char_indices() {
        let after_digit = at > 0 && digit(at - 1);
        let between_digits = after_digit && digit(at + character.len_utf8());
        let joins = between_digits
            && match character {
                ':' | '.' | '/' => true,
                '-' => open.is_some_and(|start| starts_date(&bytes[start..at])),
                _ => false,
            };
        // The "T" of 2026-03-25T10:00 stands between a date and a time.
        let parts_date = between_digits && matches!(character, 't' | 'T') && open.is_some_and(|start| at - start >= 8);
        let inside = (character.is_alphanumeric() && !parts_date) || joins;
        let parted = after_digit && character.is_alphabetic();
        if let Some(start) = open.filter(|_| !inside || parted) {
            push(&mut tokens, text, start, at);
            open = None;
        }
        if inside && open.is_none() {
            open = Some(at);
        }
    }
    if let Some(start) = open {
        push(&mut tokens, text, start, text.len());
    }
    tokens
}

/// Returns whether the digits before a dash are a year, or a year and a month.
fn starts_date(word: &[u8]) -> bool {
    match word {
        year if year.len() == 4 => year.iter().all(u8::is_ascii_digit),
        [year @ .., b'-', _] | [year @ .., b'-', _, _] => year.len() == 4 && year.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

fn push(tokens: &mut Vec<TimeToken>, text: &str, start: usize, end: usize) {
    let between = tokens.last().map_or("", |last| &text[last.end..start]);
    // "a.m.", "p.m.", "Mon." and "Sept." do not end a sentence. "You did." does before a capital letter.
    let begins = text[start..end].starts_with(char::is_uppercase);
    let is_short = |word: &str| {
        word.len() == 1
            || weekday_named(word).is_some()
            || month_number(word).is_some()
            || matches!(word, "am" | "pm" | "mr" | "mrs" | "ms" | "dr" | "st" | "prof" | "approx" | "ca")
    };
    let abbreviated = tokens.last().is_some_and(|last| {
        last.text.len() <= 4 && !last.text.as_bytes()[0].is_ascii_digit() && (!begins || is_short(&last.text))
    });
    let mut gap = Separator::Space;
    for character in between.chars() {
        gap = match character {
            '.' if abbreviated => gap,
            '.' | '!' | '?' | ';' | ':' | '\n' => Separator::Stop,
            '-' | '–' | '—' if gap == Separator::Space => Separator::Dash,
            ',' | '(' | ')' | '/' | '&' if gap == Separator::Space => Separator::Comma,
            _ => gap,
        };
    }
    tokens.push(TimeToken { text: text[start..end].to_lowercase(), start, end, gap });
}
