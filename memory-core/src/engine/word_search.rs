//! Search for words and for what is like an event, with the events that were found.

use std::collections::HashSet;

use super::view::View;
use crate::index::Document;
use crate::recall::LookInside;
use crate::word_search::{AlikeTo, Example, WordFound, WordMatches, WordPage, WordQuery, WordSearchError};
use crate::{EventId, ReadError};

impl View {
    /// The events that match. Their texts come from the index; the rows are read for the names of the entity and the source, which the
    /// index keeps as hashes only, and for the recording.
    pub(crate) fn search_words(&self, query: &WordQuery) -> Result<WordPage, WordSearchError> {
        if let Some(alike_to) = &query.similar_to {
            return self.search_alike(query, alike_to);
        }
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
        let hits: Vec<(EventId, f32)> = matches.hits.iter().map(|hit| (hit.id, hit.score)).collect();
        self.page(query, &hits, matches.total, Some(matches))
    }

    /// Finds what is like the example, and holds the words if some are given.
    fn search_alike(&self, query: &WordQuery, alike_to: &AlikeTo) -> Result<WordPage, WordSearchError> {
        let everything = WordQuery { limit: usize::MAX, ..query.clone() };
        let find = || self.published.search.find(&everything, None);
        let matches = query.asks_for_words_or_fields().then(find).transpose()?;
        let mut admitted: Option<HashSet<EventId>> =
            matches.as_ref().map(|matches| matches.hits.iter().map(|hit| hit.id).collect());
        if let Some(near) = &query.near {
            let mut inside = self.published.positions.index.near(near);
            inside.retain(|id| admitted.as_ref().is_none_or(|admitted| admitted.contains(id)));
            admitted = Some(inside.into_iter().collect());
        }
        if let Example::Picture(event) = alike_to.example {
            let alike = self.alike_pictures(event, alike_to, admitted.as_ref())?;
            let shown = &alike[..alike.len().min(query.limit)];
            let hits: Vec<(EventId, f32)> = shown.iter().map(|scene| (scene.id, scene.cosine)).collect();
            let mut page = self.page(query, &hits, alike.len(), matches)?;
            for found in &mut page.found {
                let part = shown.iter().find(|scene| scene.id == found.event.id).and_then(|scene| scene.part);
                if let Some(LookInside { span, stream, .. }) = part {
                    (found.event.span, found.event.stream) = (span, Some(stream));
                }
            }
            return Ok(page);
        }
        let alike = self.alike(alike_to, admitted.as_ref())?;
        self.page(query, &alike[..alike.len().min(query.limit)], alike.len(), matches)
    }

    fn page(
        &self,
        query: &WordQuery,
        hits: &[(EventId, f32)],
        total: usize,
        matches: Option<WordMatches>,
    ) -> Result<WordPage, WordSearchError> {
        let search = &*self.published.search;
        let mut found = Vec::with_capacity(hits.len());
        for (id, score) in hits {
            // What was forgotten since the index was published has no row.
            let Some(event) = self.find_event(*id).map_err(ReadError::from)? else { continue };
            // The content has no text of events that came after it was full.
            let text = search.text(*id).unwrap_or_else(|| Document::of(&event).text);
            found.push(WordFound { snippet: search.snippet(&text, query), score: *score, event });
        }
        let plan = matches.as_ref().map(|matches| matches.plan);
        let (words, ignored) = matches.map(|matches| (matches.words, matches.ignored)).unwrap_or_default();
        Ok(WordPage { total, found, words, ignored, plan })
    }
}
