//! Text to tokens: words, numbers and marks, contractions taken apart.

use std::ops::Range;

/// Longest text that is read, in bytes; the rest is ignored.
const LONGEST_TEXT: usize = 16 * 1024;

/// What kind of token it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    /// Digits, with decimals ("38.4") or a clock ("18:40").
    Number,
    /// Anything else that is not white space.
    Mark,
}

/// One token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Lower case, a contraction written out ("n't" is "not", "'ll" is "will").
    pub text: String,
    pub kind: TokenKind,
    /// Where it stands in the text, in bytes.
    pub range: Range<usize>,
    /// Whether it begins with a capital letter.
    pub capital: bool,
    /// Whether no white space stands before it.
    pub attached: bool,
}

/// The tokens of a text, in order.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    let mut found = Vec::with_capacity(text.len() / 5 + 1);
    let mut rest = text.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        if first.is_whitespace() {
            continue;
        }
        let mut end = start + first.len_utf8();
        if first.is_alphanumeric() {
            while let Some((at, next)) = rest.peek().copied() {
                let inside = next.is_alphanumeric() || joins(text, start, at, next);
                if !inside {
                    break;
                }
                end = at + next.len_utf8();
                rest.next();
            }
            push_word(text, start..end, &mut found);
        } else {
            push(text, start..end, text[start..end].into(), TokenKind::Mark, &mut found);
        }
    }
    found
}

/// Whether a mark inside a run of letters or digits belongs to it: "don't", "well-known", "38.4", "18:40".
fn joins(text: &str, start: usize, at: usize, mark: char) -> bool {
    let before = text[start..at].chars().next_back();
    let after = text[at + mark.len_utf8()..].chars().next();
    let (Some(before), Some(after)) = (before, after) else { return false };
    match mark {
        '\'' | '\u{2019}' => before.is_alphabetic() && after.is_alphabetic(),
        '-' => before.is_alphanumeric() && after.is_alphanumeric(),
        '.' | ':' | ',' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => false,
    }
}

fn push(text: &str, range: Range<usize>, lower: String, kind: TokenKind, found: &mut Vec<Token>) {
    let capital = text[range.clone()].chars().next().is_some_and(char::is_uppercase);
    let attached = found.last().is_some_and(|last| last.range.end == range.start);
    found.push(Token { text: lower, kind, range, capital, attached });
}

/// A word, or the two that a contraction stands for.
fn push_word(text: &str, range: Range<usize>, found: &mut Vec<Token>) {
    let lower = text[range.clone()].to_lowercase().replace('\u{2019}', "'");
    let digits = lower.starts_with(|c: char| c.is_ascii_digit());
    if digits && lower.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ':' | ',')) {
        return push(text, range, lower, TokenKind::Number, found);
    }
    // Lower case may be longer than what stands in the text, so the cut is made in the text itself.
    let apostrophe = text[range.clone()].char_indices().rev().find(|(_, c)| matches!(c, '\'' | '\u{2019}'));
    let Some((at, mark)) = apostrophe else { return push(text, range, lower, TokenKind::Word, found) };
    let cut = range.start + at;
    let tail = text[cut + mark.len_utf8()..range.end].to_lowercase();
    let head = text[range.start..cut].to_lowercase();
    let (stem_end, second) = match tail.as_str() {
        "s" => (cut, "'s"),
        "ll" => (cut, "will"),
        "re" => (cut, "are"),
        "ve" => (cut, "have"),
        "m" => (cut, "am"),
        "d" => (cut, "would"),
        "t" if head.ends_with('n') => (cut - 1, "not"),
        _ => return push(text, range, lower, TokenKind::Word, found),
    };
    let first = match text[range.start..stem_end].to_lowercase().as_str() {
        "ca" if second == "not" => "can".to_owned(),
        "wo" if second == "not" => "will".to_owned(),
        "sha" if second == "not" => "shall".to_owned(),
        other => other.to_owned(),
    };
    if first.is_empty() {
        return push(text, range, lower, TokenKind::Word, found);
    }
    push(text, range.start..stem_end, first, TokenKind::Word, found);
    push(text, stem_end..range.end, second.into(), TokenKind::Word, found);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn contractions_are_taken_apart() {
        assert_eq!(
            read("Don't move Ben's cup, I'll come."),
            ["do", "not", "move", "ben", "'s", "cup", ",", "i", "will", "come", "."]
        );
        assert_eq!(read("It can't; they won't."), ["it", "can", "not", ";", "they", "will", "not", "."]);
    }

    #[test]
    fn numbers_keep_decimals_and_clocks() {
        assert_eq!(
            read("At 18:40 it had 38.4 °C, 1,200 m."),
            ["at", "18:40", "it", "had", "38.4", "°", "c", ",", "1,200", "m", "."]
        );
    }

    #[test]
    fn ranges_lie_on_character_boundaries() {
        for text in ["İn't’s", "’t n’t", "don’t 3.", "a-b- c", "ßn't", "\u{1F600}'s"] {
            for token in tokens(text) {
                assert!(text.get(token.range.clone()).is_some(), "{text:?}: {token:?}");
            }
        }
    }
}
