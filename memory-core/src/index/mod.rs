//! The search behind recall.
//!
//! One writer appends, embeds and hides; readers search an immutable snapshot and wait for nobody. [`CompressedIndex`] is
//! the implementation: a stream of terms in a wavelet matrix, postings derived from it, signatures of the embeddings, and the
//! neighbours in time as context of both. Documents are held in segments of 65,536 that are packed once they are full.

mod analysis;
pub mod bits;
mod codec;
mod compressed;
pub mod content;
mod entries;
mod fusion;
mod irregular;
pub mod matrix;
pub mod measure;
mod packing;
mod place_map;
mod place_names;
mod positions;
mod postings;
mod search;
pub mod section;
pub mod signature;
mod terms;
mod token_signatures;
mod vocabulary;

#[cfg(test)]
mod tests;

/// The visible events that hold a phrase, in order.
#[cfg(test)]
pub(crate) fn holding_phrase(search: &dyn Search, phrase: &str, limit: usize) -> Vec<EventId> {
    use crate::word_search::{WordPart, WordPattern};
    let part = WordPart { pattern: WordPattern::Phrase(phrase.to_owned()), excluded: false };
    let query = WordQuery { parts: vec![part], limit, ..WordQuery::default() };
    let mut ids: Vec<EventId> =
        search.find(&query, None).map(|found| found.hits.iter().map(|hit| hit.id).collect()).unwrap_or_default();
    ids.sort_unstable();
    ids
}

use std::sync::Arc;

pub use crate::words::{Words, words};
pub use analysis::{Analyzer, Language, TermId, is_stop_word, stem, term_of};
pub use compressed::{CompressedIndex, IndexBytes, IndexOptions};
pub use fusion::Fusion;
pub use place_map::{MappedPlace, PlaceMap};
pub use place_names::{PlaceNames, Rename};
pub use positions::PositionIndex;
pub use token_signatures::TokenSignatureOptions;

use crate::word_search::{Snippet, WordMatches, WordPlan, WordQuery, WordQueryError};
use crate::{EpisodeId, Event, EventId, Kind, Modality, StreamSpan, TimeSpan};

/// The part of an event that the index keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The event; documents are appended in growing order of ids.
    pub id: EventId,
    /// Its episode.
    pub episode: EpisodeId,
    /// Kind of the event.
    pub kind: Kind,
    /// Sense of the event.
    pub modality: Modality,
    /// When.
    pub span: TimeSpan,
    /// When, in the time of its capture session.
    pub stream: Option<StreamSpan>,
    /// The program or source it came from.
    pub source: String,
    /// Person or thing that the event is about; findable as a word, and as a name in the question.
    pub entity: Option<String>,
    /// Every text that must be findable: the event's own and those of its attributes.
    pub text: String,
}

impl Document {
    /// The document of an event: its own text and every text in its attributes (a picture's caption, a place) but the
    /// name of the session, which only groups.
    pub fn of(event: &Event) -> Self {
        let mut text = event.text.clone();
        for_each_attribute_text(event, &mut |attribute| {
            text.push('\n');
            text.push_str(attribute);
        });
        Self {
            id: event.id,
            episode: event.episode,
            kind: event.kind,
            modality: event.modality,
            span: event.span,
            stream: event.stream,
            source: event.source.clone(),
            entity: event.entity.clone(),
            text,
        }
    }
}

/// What φ embeds of an event: who, what, and in brackets what its attributes say. Identifiers among the attributes (one
/// word with a digit) carry no meaning and are left out.
pub fn passage(event: &Event) -> String {
    let mut passage = String::with_capacity(event.text.len() + 32);
    if let Some(entity) = &event.entity {
        passage.push_str(entity);
        passage.push_str(": ");
    }
    passage.push_str(&event.text);
    for_each_attribute_text(event, &mut |attribute| {
        let identifier = !attribute.contains(char::is_whitespace) && attribute.contains(|c: char| c.is_ascii_digit());
        if !identifier {
            passage.push_str(" [");
            passage.push_str(attribute);
            passage.push(']');
        }
    });
    passage
}

fn for_each_attribute_text(event: &Event, visit: &mut impl FnMut(&str)) {
    for (name, value) in &event.attributes {
        if event.tells(name) {
            value.for_each_text(&mut |text| {
                if !text.is_empty() {
                    visit(text);
                }
            });
        }
    }
}

/// A search request.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// Words of the question. Without words and embedding every document that passes the filters is a hit, in order of
    /// time.
    pub text: String,
    /// Groups of words of which any stands for all: each group counts as one more word of the question.
    pub alternatives: Vec<Vec<String>>,
    /// The question in φ's space, if φ is there.
    pub embedding: Option<Vec<f32>>,
    /// Only events that overlap this.
    pub span: Option<TimeSpan>,
    /// Only events of this sense.
    pub modality: Option<Modality>,
    /// Only events of these kinds; all if empty.
    pub kinds: Vec<Kind>,
    /// Only events about this entity; case is ignored.
    pub entity: Option<String>,
    /// Only events of this source.
    pub source: Option<String>,
    /// Only these events, in order of ids.
    pub only: Option<Arc<[EventId]>>,
    /// Spans that the question names, with how much (0 to 1) an event inside gains by it. Nothing is excluded.
    pub near: Vec<(TimeSpan, f32)>,
    /// Whether a search without words returns the latest instead of the earliest.
    pub latest: bool,
    /// How many at most.
    pub limit: usize,
    /// Score every document, also those that are unlikely to be among the best: what the search is measured against.
    pub exhaustive: bool,
}

/// Which documents to list by the words that they hold.
#[derive(Debug, Clone, Default)]
pub struct Holding {
    /// Groups of words: a document must hold at least one word of every group, as the index stems them.
    pub groups: Vec<Vec<String>>,
    /// Only events that overlap this.
    pub span: Option<TimeSpan>,
    /// Only events of this sense.
    pub modality: Option<Modality>,
    /// Only events of these kinds; all if empty.
    pub kinds: Vec<Kind>,
    /// Only events about this entity; case is ignored.
    pub entity: Option<String>,
    /// Only these events, in order of ids.
    pub only: Option<Arc<[EventId]>>,
    /// The latest instead of the earliest ones.
    pub latest: bool,
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
    /// The words' share, before fusion: BM25 of the event itself over the most that the question's words can give, 0 to 1.
    pub lexical: f32,
    /// The same of the event with its neighbours in time.
    pub context: f32,
    /// Cosine with the question, if both have an embedding, as their signatures tell it.
    pub cosine: Option<f32>,
    /// How much the score changes with that cosine.
    pub of_cosine: f32,
}

impl Hit {
    /// Puts a better known cosine in the place of the signature's.
    pub fn correct(&mut self, cosine: f32) {
        if let Some(estimate) = self.cosine.replace(cosine) {
            self.score += self.of_cosine * (cosine - estimate);
        }
    }
}

/// An event whose signature lies in a Hamming ball.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BallHit {
    /// The event.
    pub id: EventId,
    /// Its episode.
    pub episode: EpisodeId,
}

/// How common a term is.
#[derive(Debug, Clone, PartialEq)]
pub struct TermStatistics {
    /// The word as it stands in the text.
    pub word: String,
    /// Its term, as [`term_of`] tells it.
    pub term: TermId,
    /// How many documents hold it.
    pub documents: u32,
    /// Inverse document frequency, as BM25 weighs it; highest for a term that no document holds.
    pub idf: f32,
}

/// The write side.
pub trait Index: Send {
    /// Makes documents findable in the next snapshot.
    fn append(&mut self, documents: &[Document]);
    /// Drops every vector: those that follow are of another space, `dimensions` long.
    fn use_space(&mut self, dimensions: usize);
    /// Adds unit vectors of φ (scaled by 32,767) for documents that are there. Vectors of another length than the
    /// space's, and of documents that are not there, are ignored.
    fn embed(&mut self, vectors: &[(EventId, Vec<i16>)]);
    /// Hides documents from every later snapshot.
    fn hide(&mut self, ids: &[EventId]);
    /// Moves documents to another episode: a segment takes in what was told while it was still open. Earlier snapshots
    /// may see the move, as the store's records do.
    fn regroup(&mut self, moves: &[(EventId, EpisodeId)]);
    /// The current state, immutable. Cheap: a few pointers.
    fn snapshot(&self) -> Arc<dyn Search>;
}

/// The read side: one consistent state.
pub trait Search: Send + Sync {
    /// Hits, best first, ties by id.
    fn search(&self, query: &SearchQuery) -> Vec<Hit>;
    /// The distinct terms of a text that are no stop words, in order of appearance.
    fn terms(&self, text: &str) -> Vec<TermStatistics>;
    /// The wall-clock span of the latest capture session that has an event in `within`.
    fn session(&self, within: Option<TimeSpan>) -> Option<TimeSpan>;
    /// The visible events that hold what a query for words asks for, found by `plan` or else by the cheaper one.
    ///
    /// # Errors
    /// If the index keeps no word of what must be found.
    fn find(&self, query: &WordQuery, plan: Option<WordPlan>) -> Result<WordMatches, WordQueryError>;
    /// The part of a text that holds what a query asks for.
    fn snippet(&self, text: &str, query: &WordQuery) -> Snippet;
    /// The episodes of visible events, which are given in order of ids: one for each.
    fn episodes_of(&self, ids: &[EventId]) -> Vec<EpisodeId> {
        let query = SearchQuery { only: Some(ids.into()), limit: usize::MAX, ..SearchQuery::default() };
        self.search(&query).into_iter().map(|hit| hit.episode).collect()
    }
    /// The visible events that hold a word of every group, in order of time, the latest first if so asked.
    fn holding(&self, query: &Holding) -> Vec<EventId>;

    /// The visible events whose signatures lie in the Hamming ball of `cosine` round a vector of the space in use (HIPPOCAMPUS,
    /// Appendix F), nearest first: nearly all that are as like as that, and some that are less. Only the index itself has
    /// signatures; a search that wraps another has none.
    fn in_ball(&self, vector: &[i16], cosine: f32) -> Vec<BallHit> {
        let (_, _) = (vector, cosine);
        Vec::new()
    }

    /// Every text of a visible event that is findable, as it was given; its own and those of its attributes, one a line.
    fn text(&self, id: EventId) -> Option<String>;
    /// Writes this state, as [`CompressedIndex::read_snapshot`] reads it.
    ///
    /// # Errors
    /// What the writer says.
    fn write_snapshot(&self, out: &mut dyn std::io::Write) -> std::io::Result<()>;
    /// Calls `visit` with every visible document, in order of ids, and whether it has a vector.
    fn for_each_visible(&self, visit: &mut dyn FnMut(EventId, bool));
    /// How many visible documents there are.
    fn len(&self) -> usize;
    /// How many of them have a vector.
    fn embedded(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
