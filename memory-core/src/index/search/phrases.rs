//! Finds adjacent words, ignoring stop words, in the term stream.

use super::Snapshot;
use crate::index::analysis::words;

/// The symbols of the words of a phrase; `None` if one of them is held nowhere or if all are stop words.
fn symbols(phrase: &str, snapshot: &Snapshot) -> Option<Vec<u32>> {
    let terms = words(phrase).filter_map(|word| snapshot.options.language.term_of(&word));
    let symbols: Vec<u32> = terms.map(|term| snapshot.state.vocabulary.get(term)).collect::<Option<_>>()?;
    (!symbols.is_empty()).then_some(symbols)
}

/// The phrases of two words and more that stand in double quotes.
pub(super) fn quoted(text: &str, snapshot: &Snapshot) -> Vec<Vec<u32>> {
    let inside = text.split(['"', '\u{201c}', '\u{201d}']).skip(1).step_by(2);
    inside.filter_map(|phrase| symbols(phrase, snapshot)).filter(|symbols| symbols.len() > 1).collect()
}

/// Whether a document holds a phrase.
pub(super) fn holds(snapshot: &Snapshot, ordinal: u32, phrase: &[u32]) -> bool {
    let held = snapshot.terms.symbols(snapshot.state.terms_of(ordinal, &snapshot.terms));
    held.windows(phrase.len()).any(|run| run == phrase)
}
