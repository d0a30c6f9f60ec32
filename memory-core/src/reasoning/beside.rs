//! The memory together with found events. Recall decides again over both; the store is unchanged.

use std::io::Write;

use crate::episodic::consolidation::PlaceSpace;
use crate::episodic::gist::Line;
use crate::index::signature::quantise;
use crate::index::{
    CompressedIndex, Document, Hit, Holding, Index, IndexOptions, PlaceMap, PositionIndex, Search, SearchQuery,
    TermStatistics, passage,
};
use crate::learning::Learnt;
use crate::ports::{AnswerExtractor, TextEmbedder};
use crate::recall::{LookInside, Reader};
use crate::word_search::{Snippet, WordMatches, WordPlan, WordQuery, WordQueryError};
use crate::{AbsentRole, Clock, Episode, EpisodeId, Event, EventId, ReadError, Sensed, TimeSpan};

/// First id of found events that are not in the store.
pub(super) const FIRST_FOUND_ID: u64 = 1 << 62;

/// A reader that adds events which are not stored.
pub(super) struct OverlayReader<'a> {
    base: &'a dyn Reader,
    search: OverlaySearch<'a>,
    events: &'a [Event],
    vectors: &'a [Option<Vec<i16>>],
}

struct OverlaySearch<'a> {
    base: &'a dyn Search,
    own: std::sync::Arc<dyn Search>,
}

impl<'a> OverlayReader<'a> {
    /// `events` have ids from [`FIRST_FOUND_ID`] on, in order.
    ///
    /// `vectors` are those of [`embed`].
    pub fn new(base: &'a dyn Reader, events: &'a [Event], vectors: &'a [Option<Vec<i16>>]) -> Self {
        let mut index = CompressedIndex::new(IndexOptions::default());
        let documents: Vec<Document> = events.iter().map(Document::of).collect();
        index.append(&documents);
        let known: Vec<(EventId, Vec<i16>)> =
            events.iter().zip(vectors).filter_map(|(event, vector)| Some((event.id, vector.clone()?))).collect();
        if let Some(embedder) = base.embedder().filter(|_| !known.is_empty()) {
            index.use_space(embedder.dimensions());
            index.embed(&known);
        }
        Self { base, search: OverlaySearch { base: base.search(), own: index.snapshot() }, events, vectors }
    }

    fn index_of(&self, id: EventId) -> Option<usize> {
        let place = usize::try_from(id.0.checked_sub(FIRST_FOUND_ID)?).ok()?;
        (place < self.events.len()).then_some(place)
    }
}

/// Computes φ of found events. Without φ the search finds them by words only.
pub(super) fn embed_events(base: &dyn Reader, events: &[Event]) -> Vec<Option<Vec<i16>>> {
    let Some(embedder) = base.embedder().filter(|_| base.search().embedded() > 0 && !events.is_empty()) else {
        return vec![None; events.len()];
    };
    let passages: Vec<String> = events.iter().map(passage).collect();
    let borrowed: Vec<&str> = passages.iter().map(String::as_str).collect();
    let made = embedder.embed(&borrowed).unwrap_or_default();
    let mut vectors: Vec<Option<Vec<i16>>> = made.iter().map(|vector| quantise(vector)).collect();
    vectors.resize(events.len(), None);
    vectors
}

impl Reader for OverlayReader<'_> {
    fn search(&self) -> &dyn Search {
        &self.search
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        match self.index_of(id) {
            Some(place) => Ok(Some(self.events[place].clone())),
            None => self.base.event(id),
        }
    }

    fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, ReadError> {
        self.base.episode(id)
    }

    fn embedder(&self) -> Option<&dyn TextEmbedder> {
        self.base.embedder()
    }

    fn extractor(&self) -> Option<&dyn AnswerExtractor> {
        self.base.extractor()
    }

    fn picture_texts(&self) -> Option<&dyn TextEmbedder> {
        self.base.picture_texts()
    }

    fn vector(&self, id: EventId) -> Option<Vec<i16>> {
        match self.index_of(id) {
            Some(place) => self.vectors.get(place).cloned().flatten(),
            None => self.base.vector(id),
        }
    }

    fn place_spaces(&self) -> &[PlaceSpace] {
        self.base.place_spaces()
    }

    fn sensed_vectors(&self, ids: &[EventId], sensed: Sensed, space: &str) -> Vec<Option<Vec<i16>>> {
        self.base.sensed_vectors(ids, sensed, space)
    }

    fn looks(&self, id: EventId, space: &str, wanted: &[f32]) -> Vec<LookInside> {
        self.base.looks(id, space, wanted)
    }

    fn positions(&self) -> Option<&PositionIndex> {
        self.base.positions()
    }

    fn places(&self) -> Option<&PlaceMap> {
        self.base.places()
    }

    fn place_namings(&self) -> Result<Vec<(String, TimeSpan)>, ReadError> {
        self.base.place_namings()
    }

    fn lines(&self, span: TimeSpan) -> Result<Vec<Line>, ReadError> {
        self.base.lines(span)
    }

    fn absent_roles(&self) -> &[AbsentRole] {
        self.base.absent_roles()
    }

    fn pending_embeddings(&self) -> u64 {
        self.base.pending_embeddings()
    }

    fn learnt(&self) -> Option<&Learnt> {
        self.base.learnt()
    }

    fn pending_lessons(&self) -> u64 {
        self.base.pending_lessons()
    }

    fn zone(&self) -> &jiff::tz::TimeZone {
        self.base.zone()
    }

    fn clock(&self) -> &dyn Clock {
        self.base.clock()
    }
}

impl Search for OverlaySearch<'_> {
    fn search(&self, query: &SearchQuery) -> Vec<Hit> {
        let mut hits = self.base.search(query);
        let own = self.own.search(query);
        if query.text.is_empty() && query.embedding.is_none() {
            // In order of time, which hits do not tell: behind the others, so that none is lost to the limit.
            hits.truncate(query.limit.saturating_sub(own.len()));
            hits.extend(own);
            return hits;
        }
        // Both scores are sums of shares of what the question's words can give, and of cosines.
        hits.extend(own);
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        hits.truncate(query.limit);
        hits
    }

    fn terms(&self, text: &str) -> Vec<TermStatistics> {
        let mut terms = self.base.terms(text);
        for own in self.own.terms(text) {
            if let Some(term) = terms.iter_mut().find(|term| term.word == own.word) {
                term.documents += own.documents;
            }
        }
        terms
    }

    fn session(&self, within: Option<TimeSpan>) -> Option<TimeSpan> {
        self.base.session(within)
    }

    fn find(&self, query: &WordQuery, plan: Option<WordPlan>) -> Result<WordMatches, WordQueryError> {
        // A person searches what is remembered.
        self.base.find(query, plan)
    }

    fn snippet(&self, text: &str, query: &WordQuery) -> Snippet {
        self.base.snippet(text, query)
    }

    fn holding(&self, query: &Holding) -> Vec<EventId> {
        let own = self.own.holding(query);
        let mut ids = self.base.holding(query);
        ids.truncate(query.limit.saturating_sub(own.len()));
        ids.extend(own);
        ids
    }

    fn text(&self, id: EventId) -> Option<String> {
        if id.0 >= FIRST_FOUND_ID { self.own.text(id) } else { self.base.text(id) }
    }

    fn write_snapshot(&self, out: &mut dyn Write) -> std::io::Result<()> {
        self.base.write_snapshot(out)
    }

    fn for_each_visible(&self, visit: &mut dyn FnMut(EventId, bool)) {
        self.base.for_each_visible(visit);
        self.own.for_each_visible(visit);
    }

    fn len(&self) -> usize {
        self.base.len() + self.own.len()
    }

    fn embedded(&self) -> usize {
        self.base.embedded() + self.own.embedded()
    }
}
