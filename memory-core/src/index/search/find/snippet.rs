//! The words around what was found.

use std::ops::Range;

use super::compiled::Shapes;
use crate::index::Language;
use crate::word_search::{Snippet, WordQuery};

/// Approximate length of a snippet, in characters.
const SNIPPET_CHARS: usize = 200;
/// Number of characters kept before the first match.
const LEADING_CHARS: usize = 60;

/// The part of a text that holds the most of what was asked for, with its marks.
pub(in crate::index::search) fn snippet(text: &str, query: &WordQuery, language: Language) -> Snippet {
    let marks = Shapes::compile(query, language).map(|shapes| marks(text, &shapes, language)).unwrap_or_default();
    let window = window(text, &marks);
    let inside: Vec<Range<usize>> = marks
        .into_iter()
        .map(|(_, mark)| mark)
        .filter(|mark| window.start <= mark.start && mark.end <= window.end)
        .collect();
    cut(text, window, &joined(inside))
}

/// What was asked for, by its number in the query, with its place in the text in bytes, in order of places.
fn marks(text: &str, shapes: &Shapes, language: Language) -> Vec<(usize, Range<usize>)> {
    let (mut held, mut places) = (Vec::new(), Vec::new());
    for place in word_places(text) {
        if let Some(term) = language.term_of(&text[place.clone()].to_lowercase()) {
            held.push(shapes.terms.iter().position(|known| *known == term));
            places.push(place);
        }
    }
    let mut marks: Vec<(usize, Range<usize>)> = Vec::new();
    for (number, shape) in shapes.wanted.iter().enumerate() {
        let found = shape.places(&held).into_iter();
        marks.extend(found.map(|run| (number, places[run.start].start..places[run.end - 1].end)));
    }
    marks.sort_unstable_by_key(|(number, mark)| (mark.start, mark.end, *number));
    marks
}

/// Returns the positions of the words of a text, as [`words`](crate::index::words) splits it.
fn word_places(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(char::is_alphanumeric)?;
        let length = text[start..].find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len() - start);
        at = start + length;
        Some(start..at)
    })
}

/// The part that is shown, in bytes: it begins a little before one of the marks, the one from which on the most different parts of the
/// query follow, and then the most marks.
fn window(text: &str, marks: &[(usize, Range<usize>)]) -> Range<usize> {
    if text.len() <= SNIPPET_CHARS {
        return 0..text.len();
    }
    let mut best = (0, 0, 0);
    let mut end = 0;
    for (at, (_, first)) in marks.iter().enumerate() {
        end = end.max(at);
        while end < marks.len() && marks[end].1.end <= first.start + SNIPPET_CHARS - LEADING_CHARS {
            end += 1;
        }
        let inside = &marks[at..end];
        // A query has at most 32 parts.
        let parts = inside.iter().fold(0_u64, |parts, (number, _)| parts | 1 << (number % 64)).count_ones() as usize;
        if (parts, inside.len()) > (best.0, best.1) {
            best = (parts, inside.len(), first.start);
        }
    }
    let long = marks.iter().find(|(_, mark)| mark.start == best.2).map_or(0, |(_, mark)| mark.len());
    let start = best.2.saturating_sub(LEADING_CHARS);
    let end = text.len().min((start + SNIPPET_CHARS).max(best.2 + long));
    // A text that ends in the window leaves room before it.
    let start = start.min(text.len().saturating_sub(SNIPPET_CHARS));
    // No mark is cut.
    word_start(text, start).min(best.2)..word_end(text, end).max(best.2 + long)
}

/// The begin of the first word at or after `at`, if it is near.
fn word_start(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    if at == 0 {
        return 0;
    }
    let blank = text[at..].char_indices().take(LEADING_CHARS / 2).find(|(_, c)| c.is_whitespace());
    blank.map_or(at, |(blank, c)| at + blank + c.len_utf8())
}

/// The end of the last word before `at`, if it is near.
fn word_end(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at);
    if at == text.len() {
        return at;
    }
    let blank = text[..at].char_indices().rev().take(LEADING_CHARS / 2).find(|(_, c)| c.is_whitespace());
    blank.map_or(at, |(blank, _)| blank)
}

/// Marks without overlaps.
fn joined(marks: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for mark in marks {
        match joined.last_mut() {
            Some(last) if mark.start < last.end => last.end = last.end.max(mark.end),
            _ => joined.push(mark),
        }
    }
    joined
}

/// The window on one line; marks in characters.
fn cut(text: &str, window: Range<usize>, marks: &[Range<usize>]) -> Snippet {
    let mut snippet = Snippet::default();
    let mut length = 0;
    let mut push = |text: &mut String, c: char| {
        text.push(c);
        length += 1;
        length
    };
    if window.start > 0 {
        push(&mut snippet.text, '…');
        push(&mut snippet.text, ' ');
    }
    let mut marks = marks.iter().peekable();
    let mut open = None;
    let mut blank = true;
    let mut shown = snippet.text.chars().count();
    for (at, c) in text[window.clone()].char_indices() {
        let at = window.start + at;
        if marks.peek().is_some_and(|mark| mark.start == at) {
            open = Some(shown);
        }
        let space = c.is_whitespace() || c.is_control();
        if !(space && blank) {
            shown = push(&mut snippet.text, if space { ' ' } else { c });
        }
        blank = space;
        if let Some(mark) = marks.peek()
            && at + c.len_utf8() >= mark.end
            && let Some(start) = open.take()
        {
            snippet.marks.push(start..shown);
            marks.next();
        }
    }
    if window.end < text.len() {
        snippet.text.push_str(if blank { "…" } else { " …" });
    } else if blank && snippet.text.ends_with(' ') {
        snippet.text.pop();
    }
    snippet
}
