//! The write side.

use std::collections::HashMap;
use std::sync::Arc;

use super::analysis::Analyzer;
use super::documents::{DocumentTable, Entry, NONE};
use super::fusion::{Fusion, TERM_WINDOW};
use super::hidden::HiddenSet;
use super::postings::{Chunk, Postings};
use super::snapshot::Snapshot;
use super::vectors::VectorTable;
use super::{Document, Index, Search};
use crate::{EpisodeId, EventId};

/// How an index is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct IndexOptions {
    /// Weights of the signals.
    pub fusion: Fusion,
}

/// An index in memory whose postings are merged by the logarithmic method.
///
/// Everything a snapshot holds is immutable or filled once, so a snapshot is a few pointers, readers take no lock, and
/// appending waits for no reader. It is rebuilt from the store when the memory is opened.
pub struct LogIndex {
    options: IndexOptions,
    analyzer: Analyzer,
    documents: DocumentTable,
    postings: Postings,
    vectors: VectorTable,
    hidden: HiddenSet,
    lengths: Lengths,
    /// The last document of every source.
    last_of_source: HashMap<u64, u32>,
}

/// Sums of lengths, for BM25's mean.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lengths {
    /// Terms of all documents.
    pub own: f64,
    /// The same, weighted, of all documents with their neighbours.
    pub context: f64,
}

impl LogIndex {
    /// An empty index.
    pub fn new(options: IndexOptions) -> Self {
        Self {
            options,
            analyzer: Analyzer::new(),
            documents: DocumentTable::default(),
            postings: Postings::default(),
            vectors: VectorTable::default(),
            hidden: HiddenSet::default(),
            lengths: Lengths::default(),
            last_of_source: HashMap::new(),
        }
    }

    fn append_one(&mut self, document: &Document, occurrences: &mut Vec<(super::TermId, u32)>) {
        let ordinal = self.documents.len();
        let mut entry = Entry::of(document);
        let before = occurrences.len();
        let mut push = |term| occurrences.push((term, ordinal));
        if let Some(entity) = &document.entity {
            self.analyzer.for_each_term(entity, &mut push);
        }
        self.analyzer.for_each_term(&document.text, &mut push);
        entry.length = u16::try_from(occurrences.len() - before).unwrap_or(u16::MAX);

        let last = self.last_of_source.insert(entry.source, ordinal).unwrap_or(NONE);
        if last != NONE && self.documents.get(last).is_near(&entry) {
            entry.previous = last;
        }
        self.count_lengths(&entry);
        self.documents.push(entry, document.episode);
    }

    fn count_lengths(&mut self, entry: &Entry) {
        let own = f64::from(entry.length);
        self.lengths.own += own;
        self.lengths.context += f64::from(TERM_WINDOW[0]) * own;
        let mut neighbour = entry.previous;
        for weight in &TERM_WINDOW[1..] {
            if neighbour == NONE {
                break;
            }
            let other = self.documents.get(neighbour);
            self.lengths.context += f64::from(*weight) * (own + f64::from(other.length));
            neighbour = other.previous;
        }
    }
}

impl Index for LogIndex {
    fn append(&mut self, documents: &[Document]) {
        let base = self.documents.len();
        let mut occurrences = Vec::with_capacity(documents.len() * 16);
        for document in documents {
            debug_assert!(
                self.documents.len() == 0 || self.documents.get(self.documents.len() - 1).id < document.id,
                "documents are appended in growing order of ids"
            );
            self.append_one(document, &mut occurrences);
        }
        let len = self.documents.len() - base;
        if len > 0 {
            self.postings.push(Chunk::build(base, len, occurrences));
        }
    }

    fn use_space(&mut self, dimensions: usize) {
        self.vectors = VectorTable::new(dimensions);
    }

    fn embed(&mut self, vectors: &[(EventId, Vec<i16>)]) {
        for (id, vector) in vectors {
            if let Some(ordinal) = self.documents.find(*id) {
                self.vectors.set(ordinal, vector);
            }
        }
    }

    fn hide(&mut self, ids: &[EventId]) {
        for id in ids {
            if let Some(ordinal) = self.documents.find(*id) {
                self.hidden.insert(ordinal);
            }
        }
    }

    fn regroup(&mut self, moves: &[(EventId, EpisodeId)]) {
        for (id, episode) in moves {
            if let Some(ordinal) = self.documents.find(*id) {
                self.documents.regroup(ordinal, *episode);
            }
        }
    }

    fn snapshot(&self) -> Arc<dyn Search> {
        Arc::new(Snapshot {
            fusion: self.options.fusion,
            documents: self.documents.clone(),
            postings: self.postings.clone(),
            vectors: self.vectors.clone(),
            hidden: self.hidden.clone(),
            lengths: self.lengths,
        })
    }
}
