//! Width of text, and line breaks.

/// Most lines of a label; what does not fit ends in an ellipsis.
const MOST_LINES: usize = 5;

/// The width of a text in pixels at a font size, by classes of letters: near enough for boxes, and the same everywhere.
/// Leans to the wide side (DejaVu Sans), since the viewer's font is not known.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em = |character: char| match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' => 0.32,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '/' | ' ' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.95,
        'A'..='Z' => 0.72,
        '\u{0300}'..='\u{036f}' => 0.0,
        // Scripts whose letters fill a square.
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{ffef}' | '\u{1f000}'..='\u{3ffff}' => 1.05,
        _ => 0.62,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// The lines of a text, none wider than `most` pixels. Words that are too long for a line are cut.
pub(super) fn wrap(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        for piece in pieces(word, size, most) {
            let longer = if line.is_empty() { piece.clone() } else { format!("{line} {piece}") };
            if line.is_empty() || width(&longer, size) <= most {
                line = longer;
            } else {
                lines.push(std::mem::replace(&mut line, piece));
            }
        }
    }
    lines.push(line);
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        if let Some(last) = lines.last_mut() {
            while width(&format!("{last}…"), size) > most && last.pop().is_some() {}
            last.push('…');
        }
    }
    lines
}

/// A word in pieces that fit a line; usually one.
fn pieces(word: &str, size: f64, most: f64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0.0;
    for character in word.chars() {
        let wide = width(character.encode_utf8(&mut [0; 4]), size);
        if used + wide > most && used > 0.0 {
            pieces.push(String::new());
            used = 0.0;
        }
        used += wide;
        if let Some(piece) = pieces.last_mut() {
            piece.push(character);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_labels_break_between_words_and_too_long_words_within() {
        assert_eq!(wrap("pour the water", 14.0, 400.0), ["pour the water"]);
        let lines = wrap("put the screws into the holes of the new shelf", 14.0, 150.0);
        assert!(lines.len() > 1 && lines.join(" ") == "put the screws into the holes of the new shelf", "{lines:?}");
        assert!(wrap(&"x".repeat(40), 14.0, 100.0).len() > 1);
        assert!(wrap(&"word ".repeat(100), 14.0, 100.0).last().is_some_and(|line| line.ends_with('…')));
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_allowed(text in "\\PC{0,200}", most in 60.0..300.0_f64) {
            for line in wrap(&text, 14.0, most) {
                prop_assert!(width(&line, 14.0) <= most + 1e-6, "{line:?}");
            }
        }
    }
}
