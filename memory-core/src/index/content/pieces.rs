//! How a text is cut: words with the blank before them, groups of digits, marks, runs of white space.

/// Bytes in a piece at most.
pub const MAX_PIECE: usize = 32;

/// Digits in a piece at most, so that numbers are made of a thousand pieces and do not fill the vocabulary.
const MAX_DIGITS: usize = 3;

/// Kind of a run of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Letters of scripts that put blanks between words.
    Letter,
    Digit,
    /// A letter of a script without blanks, which is a piece of its own.
    Sign,
    Space,
    /// Everything else: runs of one and the same character.
    Mark,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' => Class::Letter,
        '0'..='9' => Class::Digit,
        _ if c.is_whitespace() => Class::Space,
        // Thai, Lao, Myanmar, Khmer; kana, Han, Hangul and what follows them.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'.. => Class::Sign,
        _ if c.is_alphabetic() => Class::Letter,
        _ => Class::Mark,
    }
}

/// The pieces of a text. Together they are the text.
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    rest: &'a str,
}

/// Cuts a text into pieces of at most [`MAX_PIECE`] bytes that together are the text.
pub fn pieces(text: &str) -> Pieces<'_> {
    Pieces { rest: text }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let mut chars = self.rest.chars();
        let first = chars.next()?;
        let after = chars.next();
        // A blank goes with what follows it, and an apostrophe with the letters that follow it ("don't" is "don", "'t").
        let joins = match (first, after.map(class)) {
            (' ', Some(next)) => next != Class::Space,
            ('\'' | '’', Some(next)) => next == Class::Letter,
            _ => false,
        };
        let (start, head) = match after {
            Some(after) if joins => (first.len_utf8(), after),
            _ => (0, first),
        };
        let length = start + run(&self.rest[start..], head);
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(piece)
    }
}

/// Bytes in the run at the begin of `text`, whose first character is `head`.
fn run(text: &str, head: char) -> usize {
    let class_of_run = class(head);
    let longest = match class_of_run {
        Class::Digit => MAX_DIGITS,
        // Room for an apostrophe of three bytes.
        _ => MAX_PIECE - 3,
    };
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let belongs = match class_of_run {
            Class::Letter | Class::Digit => class(c) == class_of_run,
            Class::Sign => at == 0,
            Class::Space | Class::Mark => c == head,
        };
        if !belongs || at + c.len_utf8() > longest {
            break;
        }
        end = at + c.len_utf8();
    }
    // Of several blanks the last one goes with what follows.
    let followed = text[end..].chars().next().is_some_and(|next| class(next) != Class::Space);
    if head == ' ' && end > 1 && followed { end - 1 } else { end }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_take_the_blank_before_them_and_numbers_fall_in_groups() {
        let cut = |text| pieces(text).collect::<Vec<_>>();
        assert_eq!(cut("Anna doesn't wait."), ["Anna", " doesn", "'t", " wait", "."]);
        assert_eq!(cut("at 12345 (noon)"), ["at", " 123", "45", " (", "noon", ")"]);
        assert_eq!(cut("a   b\n\n c \t"), ["a", "  ", " b", "\n\n", " c", " ", "\t"]);
        assert_eq!(cut("wait... 'so'"), ["wait", "...", " '", "so", "'"]);
        assert_eq!(cut("東京 ก"), ["東", "京", " ก"]);
        assert_eq!(cut(""), [""; 0]);
    }

    #[test]
    fn a_long_run_is_cut_between_characters() {
        for text in ["x".repeat(1_000), "ß".repeat(500), " ".repeat(77), "🙂".repeat(99), "\u{301}".repeat(99)] {
            assert!(pieces(&text).all(|piece| !piece.is_empty() && piece.len() <= MAX_PIECE));
            assert_eq!(pieces(&text).collect::<String>(), text);
        }
    }

    proptest! {
        #[test]
        fn pieces_are_the_text(text in prop_oneof!["\\PC{0,200}", "[ a'’0\n…é東.]{0,80}", any::<String>()]) {
            prop_assert_eq!(pieces(&text).collect::<String>(), text.as_str());
            prop_assert!(pieces(&text).all(|piece| (1..=MAX_PIECE).contains(&piece.len())));
        }
    }
}
