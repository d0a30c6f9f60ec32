//! The search behind recall, as a small interface that the compressed index will fill.
//!
//! One writer appends and hides; readers search an immutable snapshot.

use std::sync::Arc;

use crate::{EpisodeId, EventId, Kind, Modality, TimeSpan};

/// What the index keeps of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The event; documents are appended in growing order of ids.
    pub id: EventId,
    /// Its episode.
    pub episode: EpisodeId,
    /// What kind of thing it is.
    pub kind: Kind,
    /// By which sense.
    pub modality: Modality,
    /// When.
    pub span: TimeSpan,
    /// The program or source it came from.
    pub source: String,
    /// Whom it is about.
    pub entity: Option<String>,
    /// Every text that must be findable: the event's own and those of its attributes.
    pub text: String,
}

/// What to search for.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// Words of the question.
    pub text: String,
    /// The question in φ's space, if φ is there.
    pub embedding: Option<Vec<f32>>,
    /// Only events that overlap this.
    pub span: Option<TimeSpan>,
    /// Only events of this sense.
    pub modality: Option<Modality>,
    /// How many at most.
    pub limit: usize,
}

/// One hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The event.
    pub id: EventId,
    /// Its episode.
    pub episode: EpisodeId,
    /// Fused score; higher is better; comparable within one search.
    pub score: f32,
    /// The words' share, before fusion.
    pub lexical: f32,
    /// Cosine with the question, if both have an embedding.
    pub cosine: Option<f32>,
}

/// The write side.
pub trait Index: Send {
    /// Makes documents findable in the next snapshot.
    fn append(&mut self, documents: &[Document]);
    /// Adds unit vectors of φ for documents that are there, in the space named last.
    fn embed(&mut self, vectors: &[(EventId, Vec<i16>)]);
    /// Hides documents from every later snapshot.
    fn hide(&mut self, ids: &[EventId]);
    /// Moves documents to another episode: a segment takes in what was told while it was still open.
    fn regroup(&mut self, moves: &[(EventId, EpisodeId)]);
    /// The current state, immutable.
    fn snapshot(&self) -> Arc<dyn Search>;
}

/// The read side: one consistent state.
pub trait Search: Send + Sync {
    /// Hits, best first, ties by id.
    fn search(&self, query: &SearchQuery) -> Vec<Hit>;
    /// How many visible documents there are.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
