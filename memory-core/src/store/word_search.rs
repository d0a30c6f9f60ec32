//! Search for words, with the events that were found.

use super::view::View;
use crate::ReadError;
use crate::index::Document;
use crate::word_search::{WordFound, WordPage, WordQuery, WordSearchError};

impl View {
    /// The events that match. Their texts come from the index; the rows are read for the names of the entity and the source, which the
    /// index keeps as hashes only, and for the recording.
    pub(crate) fn search_words(&self, query: &WordQuery) -> Result<WordPage, WordSearchError> {
        let search = &*self.published.search;
        let matches = search.find(query, None)?;
        let mut found = Vec::with_capacity(matches.hits.len());
        for hit in matches.hits {
            // What was forgotten since the index was published has no row.
            let Some(event) = self.find_event(hit.id).map_err(ReadError::from)? else { continue };
            // The content has no text of events that came after it was full.
            let text = search.text(hit.id).unwrap_or_else(|| Document::of(&event).text);
            found.push(WordFound { snippet: search.snippet(&text, query), score: hit.score, event });
        }
        let (total, words, ignored, plan) = (matches.total, matches.words, matches.ignored, matches.plan);
        Ok(WordPage { total, found, words, ignored, plan })
    }
}
