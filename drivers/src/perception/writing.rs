//! Reads the writing in the pictures of a segment.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use memory_core::segment::Segment;

use crate::encoders::ReadText;

/// Minimum confidence of a line that is reported.
const MIN_CONFIDENCE: f32 = 0.5;
/// Minimum number of characters of a line. Fewer are a pattern that looks like letters.
const MIN_CHARACTERS: usize = 2;
/// Maximum number of lines that wait for the end of their segment.
const MAX_LINES: usize = 256;

/// Lines read in the pictures of segments that are still open.
#[derive(Default)]
pub(super) struct WritingLog {
    lines: VecDeque<(Duration, ReadText)>,
}

/// One writing, once, however often it was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Written {
    pub text: String,
    pub start: Duration,
    pub end: Duration,
    /// The surest reading.
    pub confidence: f32,
}

impl WritingLog {
    pub fn push(&mut self, at: Duration, read: ReadText) {
        let Some(read) = legible(read) else { return };
        if self.lines.len() >= MAX_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back((at, read));
    }

    /// Returns the lines of `segment`, in order of time; its lines, and any before it, are dropped.
    pub fn take(&mut self, segment: &Segment) -> Vec<Written> {
        let inside = self.lines.partition_point(|(at, _)| *at < segment.end);
        let mut found: BTreeMap<String, Written> = BTreeMap::new();
        for (at, ReadText { text, confidence }) in self.lines.drain(..inside) {
            let written = found.entry(text.to_lowercase()).or_insert(Written { text, start: at, end: at, confidence });
            written.end = at;
            written.confidence = written.confidence.max(confidence);
        }
        let mut found: Vec<Written> = found.into_values().collect();
        found.sort_by(|a, b| (a.start, a.end).cmp(&(b.start, b.end)).then(a.text.cmp(&b.text)));
        found
    }
}

/// Normalises the spaces of a line; `None` if it is hardly legible.
pub(super) fn legible(read: ReadText) -> Option<ReadText> {
    let text = read.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters = text.chars().filter(|letter| letter.is_alphanumeric()).count();
    (letters >= MIN_CHARACTERS && read.confidence >= MIN_CONFIDENCE).then_some(ReadText { text, ..read })
}

/// The sentence about a line of writing.
pub(super) fn in_view(text: &str) -> String {
    format!("The writing \"{text}\" is in view.")
}

#[cfg(test)]
mod tests {
    use memory_core::Boundary;

    use super::*;

    #[test]
    fn a_sign_is_told_once_and_what_is_hardly_read_is_not() {
        let mut log = WritingLog::default();
        for (second, text, confidence) in [
            (1, "EXIT", 0.7),
            (2, "exit", 0.9),
            (2, "l", 0.9),
            (3, "xqz", 0.2),
            (4, " no  entry ", 0.8),
            (9, "late", 0.9),
        ] {
            log.push(Duration::from_secs(second), ReadText { text: text.to_owned(), confidence });
        }
        let segment = Segment { start: Duration::ZERO, end: Duration::from_secs(5), boundary: Boundary::Length };
        let rows: Vec<_> = log
            .take(&segment)
            .into_iter()
            .map(|w| (w.text, w.start.as_secs(), w.end.as_secs(), w.confidence))
            .collect();
        assert_eq!(rows, [("EXIT".to_owned(), 1, 2, 0.9), ("no entry".to_owned(), 4, 4, 0.8)]);
        assert_eq!(log.lines.len(), 1, "the next segment's waits");
    }
}
