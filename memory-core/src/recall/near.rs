//! Restricts a memory to the events near a position, for questions about a part of a map.

use std::sync::Arc;

use super::{LookInside, Reader};
use crate::episodic::consolidation::PlaceSpace;
use crate::index::{Hit, Holding, PlaceMap, PositionIndex, Search, SearchQuery, TermStatistics};
use crate::ports::{AnswerExtractor, TextEmbedder};
use crate::word_search::{Snippet, WordMatches, WordPlan, WordQuery, WordQueryError};
use crate::{AbsentRole, Clock, Episode, EpisodeId, Event, EventId, ReadError, Sensed, TimeSpan};

/// A reader that shows only some events. It hides what was learnt and summarised from all events.
pub(super) struct NearReader<'a> {
    reader: &'a dyn Reader,
    search: NearSearch<'a>,
}

struct NearSearch<'a> {
    search: &'a dyn Search,
    /// Ids in ascending order.
    only: Arc<[EventId]>,
}

impl<'a> NearReader<'a> {
    pub(super) fn new(reader: &'a dyn Reader, only: Arc<[EventId]>) -> Self {
        Self { reader, search: NearSearch { search: reader.search(), only } }
    }

    fn shows(&self, id: EventId) -> bool {
        self.search.only.binary_search(&id).is_ok()
    }
}

impl Reader for NearReader<'_> {
    fn search(&self) -> &dyn Search {
        &self.search
    }

    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError> {
        if self.shows(id) { self.reader.event(id) } else { Ok(None) }
    }

    fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, ReadError> {
        let episode = self.reader.episode(id)?;
        Ok(episode.map(|mut episode| {
            episode.events.retain(|event| self.shows(*event));
            episode
        }))
    }

    fn embedder(&self) -> Option<&dyn TextEmbedder> {
        self.reader.embedder()
    }

    fn extractor(&self) -> Option<&dyn AnswerExtractor> {
        self.reader.extractor()
    }

    fn picture_texts(&self) -> Option<&dyn TextEmbedder> {
        self.reader.picture_texts()
    }

    fn vector(&self, id: EventId) -> Option<Vec<i16>> {
        self.reader.vector(id)
    }

    fn place_spaces(&self) -> &[PlaceSpace] {
        self.reader.place_spaces()
    }

    fn sensed_vectors(&self, ids: &[EventId], sensed: Sensed, space: &str) -> Vec<Option<Vec<i16>>> {
        self.reader.sensed_vectors(ids, sensed, space)
    }

    fn looks(&self, id: EventId, space: &str, wanted: &[f32]) -> Vec<LookInside> {
        self.reader.looks(id, space, wanted)
    }

    fn positions(&self) -> Option<&PositionIndex> {
        self.reader.positions()
    }

    fn places(&self) -> Option<&PlaceMap> {
        self.reader.places()
    }

    fn place_namings(&self) -> Result<Vec<(String, TimeSpan)>, ReadError> {
        self.reader.place_namings()
    }

    fn absent_roles(&self) -> &[AbsentRole] {
        self.reader.absent_roles()
    }

    fn pending_embeddings(&self) -> u64 {
        self.reader.pending_embeddings()
    }

    fn pending_lessons(&self) -> u64 {
        self.reader.pending_lessons()
    }

    fn zone(&self) -> &jiff::tz::TimeZone {
        self.reader.zone()
    }

    fn clock(&self) -> &dyn Clock {
        self.reader.clock()
    }
}

impl NearSearch<'_> {
    fn intersect(&self, also: Option<&Arc<[EventId]>>) -> Option<Arc<[EventId]>> {
        Some(match also {
            None => Arc::clone(&self.only),
            Some(also) => also.iter().filter(|id| self.only.binary_search(id).is_ok()).copied().collect(),
        })
    }
}

impl Search for NearSearch<'_> {
    fn search(&self, query: &SearchQuery) -> Vec<Hit> {
        self.search.search(&SearchQuery { only: self.intersect(query.only.as_ref()), ..query.clone() })
    }

    fn terms(&self, text: &str) -> Vec<TermStatistics> {
        self.search.terms(text)
    }

    fn session(&self, within: Option<TimeSpan>) -> Option<TimeSpan> {
        self.search.session(within)
    }

    fn find(&self, query: &WordQuery, plan: Option<WordPlan>) -> Result<WordMatches, WordQueryError> {
        let mut found = self.search.find(&WordQuery { limit: usize::MAX, ..query.clone() }, plan)?;
        found.hits.retain(|hit| self.only.binary_search(&hit.id).is_ok());
        found.total = found.hits.len();
        found.hits.truncate(query.limit);
        Ok(found)
    }

    fn snippet(&self, text: &str, query: &WordQuery) -> Snippet {
        self.search.snippet(text, query)
    }

    fn holding(&self, query: &Holding) -> Vec<EventId> {
        self.search.holding(&Holding { only: self.intersect(query.only.as_ref()), ..query.clone() })
    }

    fn text(&self, id: EventId) -> Option<String> {
        if self.only.binary_search(&id).is_ok() { self.search.text(id) } else { None }
    }

    fn write_snapshot(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        self.search.write_snapshot(out)
    }

    fn for_each_visible(&self, visit: &mut dyn FnMut(EventId, bool)) {
        self.search.for_each_visible(&mut |id, embedded| {
            if self.only.binary_search(&id).is_ok() {
                visit(id, embedded);
            }
        });
    }

    fn len(&self) -> usize {
        self.only.len()
    }

    fn embedded(&self) -> usize {
        self.search.embedded()
    }
}
