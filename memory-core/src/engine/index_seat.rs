//! The current index, and its updates while another one is built to replace it.

use std::sync::Arc;

use crate::index::{Document, Index, Search};
use crate::store::generation::Generation;
use crate::{EpisodeId, EventId};

/// Passes every change to the index, and records the changes while another index needs them.
pub(crate) struct IndexSeat {
    index: Box<dyn Index>,
    recorded: Option<Vec<IndexChange>>,
    /// Identity of the store whose rows the index was built from, and which holds everything in it.
    generation: Generation,
    /// How many changes no file has.
    unsaved: u64,
}

/// One change of an index.
pub(crate) enum IndexChange {
    Append(Vec<Document>),
    UseSpace(usize),
    Embed(Vec<(EventId, Vec<i16>)>),
    Hide(Vec<EventId>),
    Regroup(Vec<(EventId, EpisodeId)>),
}

impl IndexSeat {
    pub(crate) fn new(index: Box<dyn Index>, generation: Generation) -> Self {
        Self { index, recorded: None, generation, unsaved: 0 }
    }

    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    /// How many changes no file has.
    pub(crate) fn unsaved(&self) -> u64 {
        self.unsaved
    }

    /// Takes the number of unsaved changes, because a save begins.
    pub(crate) fn take_unsaved(&mut self) -> u64 {
        std::mem::take(&mut self.unsaved)
    }

    /// Adds changes again whose save failed.
    pub(crate) fn add_unsaved(&mut self, changes: u64) {
        self.unsaved += changes;
    }

    /// Whether changes are recorded for another index.
    pub(crate) fn is_recording(&self) -> bool {
        self.recorded.is_some()
    }

    /// Records every change from now on.
    pub(crate) fn record(&mut self) {
        self.recorded = Some(Vec::new());
    }

    /// Stops recording and returns the changes in order.
    pub(crate) fn stop_recording(&mut self) -> Vec<IndexChange> {
        self.recorded.take().unwrap_or_default()
    }

    /// Makes changes that were recorded elsewhere.
    pub(crate) fn replay(&mut self, changes: Vec<IndexChange>) {
        for change in changes {
            match change {
                IndexChange::Append(documents) => self.append(&documents),
                IndexChange::UseSpace(dimensions) => self.use_space(dimensions),
                IndexChange::Embed(vectors) => self.embed(&vectors),
                IndexChange::Hide(ids) => self.hide(&ids),
                IndexChange::Regroup(moves) => self.regroup(&moves),
            }
        }
    }

    fn note(&mut self, count: usize, change: impl FnOnce() -> IndexChange) {
        self.unsaved += count as u64;
        if let Some(recorded) = &mut self.recorded {
            recorded.push(change());
        }
    }

    pub(crate) fn append(&mut self, documents: &[Document]) {
        self.note(documents.len(), || IndexChange::Append(documents.to_vec()));
        self.index.append(documents);
    }

    pub(crate) fn use_space(&mut self, dimensions: usize) {
        self.note(0, || IndexChange::UseSpace(dimensions));
        self.index.use_space(dimensions);
    }

    pub(crate) fn embed(&mut self, vectors: &[(EventId, Vec<i16>)]) {
        self.note(vectors.len(), || IndexChange::Embed(vectors.to_vec()));
        self.index.embed(vectors);
    }

    pub(crate) fn hide(&mut self, ids: &[EventId]) {
        self.note(ids.len(), || IndexChange::Hide(ids.to_vec()));
        self.index.hide(ids);
    }

    pub(crate) fn regroup(&mut self, moves: &[(EventId, EpisodeId)]) {
        self.note(moves.len(), || IndexChange::Regroup(moves.to_vec()));
        self.index.regroup(moves);
    }

    pub(crate) fn snapshot(&self) -> Arc<dyn Search> {
        self.index.snapshot()
    }
}
