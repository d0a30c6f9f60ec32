//! The view of the memory that answers are made from.

use crate::episodic::consolidation::PlaceSpace;
use crate::episodic::gist::{Line, MOST_EVENTS, joined};
use crate::index::{PlaceMap, PositionIndex, Search, SearchQuery};
use crate::learning::Learnt;
use crate::logic::Procedures;
use crate::ports::{AnswerExtractor, TextEmbedder};
use crate::{AbsentRole, Clock, Episode, EpisodeId, Event, EventId, ReadError, Sensed, StreamSpan, TimeSpan};

/// A part of an event with similar pictures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LookInside {
    /// Time by the wall clock.
    pub span: TimeSpan,
    /// Time in the stream.
    pub stream: StreamSpan,
    /// Estimated cosine of its first picture to the query.
    pub cosine: f32,
}

/// Returns the look with the greatest cosine, the first one if several are equal.
pub(crate) fn most_similar_look(looks: Vec<LookInside>) -> Option<LookInside> {
    looks.into_iter().reduce(|best, look| if look.cosine > best.cosine { look } else { best })
}

/// One consistent view of the memory, taken for one question and dropped with it.
///
/// The store implements it; recall knows nothing else of the store. No method takes a lock that ingest waits for. The
/// index is published after the commit and before the observation is acknowledged, so a hit always has its records;
/// what was forgotten between the search and the reading has none, and recall passes over it.
pub trait Reader: Send + Sync {
    /// The index at the time when the view was taken.
    fn search(&self) -> &dyn Search;

    /// Returns an event with its stream time and media. `None` if it does not exist or is hidden.
    ///
    /// # Errors
    /// If the store cannot be read or the record is damaged.
    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError>;

    /// Returns an episode with the ids of its visible events. `None` if it does not exist or is hidden.
    ///
    /// # Errors
    /// If the store cannot be read or the record is damaged.
    fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, ReadError>;

    /// Returns φ, if it is available.
    fn embedder(&self) -> Option<&dyn TextEmbedder>;

    /// Returns the text encoder of the space of pictures, if a model maps both into one space.
    fn picture_texts(&self) -> Option<&dyn TextEmbedder> {
        None
    }

    /// Returns the reader that extracts answers from texts, if there is one.
    fn extractor(&self) -> Option<&dyn AnswerExtractor> {
        None
    }

    /// Returns the picture spaces in which places can be told apart.
    fn place_spaces(&self) -> &[PlaceSpace] {
        &[]
    }

    /// Returns the stored embedding of an event in φ's space. `None` if there is none, or if it cannot be read.
    fn vector(&self, id: EventId) -> Option<Vec<i16>>;

    /// Returns the vectors of one sense and space that came with events. `None` for an event without one.
    fn sensed_vectors(&self, ids: &[EventId], sensed: Sensed, space: &str) -> Vec<Option<Vec<i16>>> {
        let (_, _) = (sensed, space);
        vec![None; ids.len()]
    }

    /// Returns the looks inside an event in time order, each with its cosine to a vector of the space. Empty if the
    /// event has a single look, which its own vector represents (E_i of HippoMM 4.2.2).
    fn looks(&self, id: EventId, space: &str, wanted: &[f32]) -> Vec<LookInside> {
        let (_, _, _) = (id, space, wanted);
        Vec::new()
    }

    /// Returns the positions of events. `None` if no event has a pose.
    fn positions(&self) -> Option<&PositionIndex> {
        None
    }

    /// Returns the named places. `None` if no event has a pose.
    fn places(&self) -> Option<&PlaceMap> {
        None
    }

    /// Returns the names that places were given on the spot, each with its time: what is seen then is the place.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn place_namings(&self) -> Result<Vec<(String, TimeSpan)>, ReadError> {
        Ok(Vec::new())
    }

    /// Returns the lines of a span, each thing once: few enough for a summary to choose among them.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn lines(&self, span: TimeSpan) -> Result<Vec<Line>, ReadError> {
        let query = SearchQuery { span: Some(span), limit: MOST_EVENTS, ..SearchQuery::default() };
        let mut lines = Vec::new();
        for hit in self.search().search(&query) {
            lines.extend(self.event(hit.id)?.as_ref().and_then(Line::of));
        }
        Ok(joined(lines))
    }

    /// Encoder roles without a model.
    fn absent_roles(&self) -> &[AbsentRole];

    /// Number of visible events without an embedding in φ's space.
    fn pending_embeddings(&self) -> u64;

    /// Returns what was learnt from the events so far. `None` without learning.
    fn learnt(&self) -> Option<&Learnt> {
        None
    }

    /// Returns the learnt procedures.
    fn procedures(&self) -> Option<&Procedures> {
        self.learnt().map(Learnt::procedures)
    }

    /// Number of visible events that nothing was learnt from yet.
    fn pending_lessons(&self) -> u64 {
        0
    }

    /// The time zone in which time words are interpreted.
    fn zone(&self) -> &jiff::tz::TimeZone;

    /// The clock for the current time and for deadlines.
    fn clock(&self) -> &dyn Clock;
}
