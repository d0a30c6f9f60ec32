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
        let matches = match &query.near {
            None => search.find(query, None)?,
            Some(near) => {
                let inside = self.published.positions.index.near(near);
                let mut matches = search.find(&WordQuery { limit: usize::MAX, ..query.clone() }, None)?;
                matches.hits.retain(|hit| inside.binary_search(&hit.id).is_ok());
                matches.total = matches.hits.len();
                matches.hits.truncate(query.limit);
                matches
            }
        };
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
