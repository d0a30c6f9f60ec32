//! Tokenisation: words, numbers and marks, with contractions expanded.

use std::ops::Range;

use super::closed::{DETERMINERS, is_one_of};

/// Maximum length of a text, in bytes. The rest is ignored.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    /// Digits, with decimals ("38.4") or a colon ("18:40").
    Number,
    /// Any other character that is not white space.
    Mark,
}

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// Lower case, contractions expanded ("n't" is "not", "'ll" is "will").
    pub text: String,
    pub kind: TokenKind,
    /// Byte range in the text.
    pub range: Range<usize>,
    /// Whether it starts with a capital letter.
    pub capital: bool,
    /// Whether no white space is before it.
    pub attached: bool,
}

/// Splits a text into tokens.
pub(crate) fn tokenise(text: &str) -> Vec<Token> {
    let mut end = text.len().min(MAX_TEXT_BYTES);
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
                let inside = next.is_alphanumeric() || is_inside_token(text, start, at, next);
                if !inside {
                    break;
                }
                end = at + next.len_utf8();
                rest.next();
            }
            push_word(text, start..end, &mut found);
        } else if !is_mark_of_title(text, start, &found) {
            push(text, start..end, text[start..end].into(), TokenKind::Mark, &mut found);
        }
    }
    found
}

/// Returns whether a full stop belongs to the title before a name: "Dr. Falk", and not "I asked the Dr. He knew."
fn is_mark_of_title(text: &str, at: usize, found: &[Token]) -> bool {
    const TITLES: &[&str] = &["mr", "mrs", "ms", "dr", "prof"];
    let Some((word, before)) = found.split_last() else { return false };
    let title = word.range.end == at && word.capital && TITLES.contains(&word.text.as_str());
    let stands_alone = before.last().is_some_and(|before| is_one_of(&before.text, DETERMINERS));
    let named = || text[at..].strip_prefix(". ").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    title && !stands_alone && named()
}

/// Returns whether a mark within letters or digits belongs to the token: "don't", "well-known", "38.4", "18:40".
fn is_inside_token(text: &str, start: usize, at: usize, mark: char) -> bool {
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

/// Pushes a word, or the two words of a contraction.
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
        tokenise(text).into_iter().map(|token| token.text).collect()
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
    fn a_title_before_a_name_ends_no_sentence() {
        assert_eq!(read("Dr. Falk came."), ["dr", "falk", "came", "."]);
        assert_eq!(read("I saw the Dr. He left."), ["i", "saw", "the", "dr", ".", "he", "left", "."]);
        assert_eq!(read("Ask the dr. now."), ["ask", "the", "dr", ".", "now", "."]);
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
            for token in tokenise(text) {
                assert!(text.get(token.range.clone()).is_some(), "{text:?}: {token:?}");
            }
        }
    }
}
