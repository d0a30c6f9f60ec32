//! What an answer is made from.

use crate::episodic::consolidation::PlaceSpace;
use crate::episodic::gist::{Line, MOST_EVENTS, joined};
use crate::index::{PlaceMap, PositionIndex, Search, SearchQuery};
use crate::learning::Learnt;
use crate::logic::Procedures;
use crate::ports::TextEmbedder;
use crate::{AbsentRole, Clock, Episode, EpisodeId, Event, EventId, ReadError, Sensed, StreamSpan, TimeSpan};

/// A part of an event whose pictures are alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LookInside {
    /// When, by the wall clock.
    pub span: TimeSpan,
    /// When, in stream time.
    pub stream: StreamSpan,
    /// Estimated cosine of its first picture to what was looked for.
    pub cosine: f32,
}

/// The look that is most alike, of equals the first.
pub(crate) fn most_alike(looks: Vec<LookInside>) -> Option<LookInside> {
    looks.into_iter().reduce(|best, look| if look.cosine > best.cosine { look } else { best })
}

/// One consistent view of the memory, taken for one question and dropped with it.
///
/// The store implements it; recall knows nothing else of the store. No method takes a lock that ingest waits for. The
/// index is published after the commit and before the observation is acknowledged, so a hit always has its records;
/// what was forgotten between the search and the reading has none, and recall passes over it.
pub trait Reader: Send + Sync {
    /// The index as it stood when the view was taken.
    fn search(&self) -> &dyn Search;

    /// An event, complete with stream time and media; `None` if there is none or it is hidden.
    ///
    /// # Errors
    /// If the store cannot be read or the record is damaged.
    fn event(&self, id: EventId) -> Result<Option<Event>, ReadError>;

    /// An episode with the ids of its visible events; `None` if there is none or it is hidden.
    ///
    /// # Errors
    /// If the store cannot be read or the record is damaged.
    fn episode(&self, id: EpisodeId) -> Result<Option<Episode>, ReadError>;

    /// φ, if there is one.
    fn embedder(&self) -> Option<&dyn TextEmbedder>;

    /// Texts in the space of pictures, if a model places both in one.
    fn picture_texts(&self) -> Option<&dyn TextEmbedder> {
        None
    }

    /// Spaces of pictures in which places can be told apart.
    fn place_spaces(&self) -> &[PlaceSpace] {
        &[]
    }

    /// The stored embedding of an event in φ's space; `None` if there is none, or it cannot be read.
    fn vector(&self, id: EventId) -> Option<Vec<i16>>;

    /// The vectors of one sense and space that came with events; `None` for an event that has none there.
    fn sensed_vectors(&self, ids: &[EventId], sensed: Sensed, space: &str) -> Vec<Option<Vec<i16>>> {
        let (_, _) = (sensed, space);
        vec![None; ids.len()]
    }

    /// The looks of the pictures inside an event, in order of time, each with its cosine to a vector of the space; none where the
    /// event shows one look, which its own vector tells (E_i of HippoMM 4.2.2).
    fn looks(&self, id: EventId, space: &str, wanted: &[f32]) -> Vec<LookInside> {
        let (_, _, _) = (id, space, wanted);
        Vec::new()
    }

    /// Where events were; `None` where no event has a pose.
    fn positions(&self) -> Option<&PositionIndex> {
        None
    }

    /// Which places were named where; `None` where no event has a pose.
    fn places(&self) -> Option<&PlaceMap> {
        None
    }

    /// The names that places were given where they are, with when that was: what is seen then is the place.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn place_namings(&self) -> Result<Vec<(String, TimeSpan)>, ReadError> {
        Ok(Vec::new())
    }

    /// What happened in a span, each told once: at most so many words that a summary can choose among them.
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

    /// Encoder roles that no model fills.
    fn absent_roles(&self) -> &[AbsentRole];

    /// Visible events that have no embedding in φ's space yet.
    fn pending_embeddings(&self) -> u64;

    /// What was learnt from the events, up to some event; `None` where nothing learns.
    fn learnt(&self) -> Option<&Learnt> {
        None
    }

    /// The procedures among it.
    fn procedures(&self) -> Option<&Procedures> {
        self.learnt().map(Learnt::procedures)
    }

    /// Visible events that nothing was learnt from yet.
    fn pending_lessons(&self) -> u64 {
        0
    }

    /// The zone in which time words are understood.
    fn zone(&self) -> &jiff::tz::TimeZone;

    /// The time, and the deadline.
    fn clock(&self) -> &dyn Clock;
}
