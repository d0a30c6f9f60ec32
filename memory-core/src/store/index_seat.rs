//! The index, and what happens to it while another one is built to take its place.

use std::sync::Arc;

use crate::index::{Document, Index, Search};
use crate::{EpisodeId, EventId};

/// Passes every change on to the index, and records it while that is asked for.
pub(crate) struct IndexSeat {
    index: Box<dyn Index>,
    recorded: Option<Vec<Change>>,
}

/// One change of an index.
pub(crate) enum Change {
    Append(Vec<Document>),
    UseSpace(usize),
    Embed(Vec<(EventId, Vec<i16>)>),
    Hide(Vec<EventId>),
    Regroup(Vec<(EventId, EpisodeId)>),
}

impl IndexSeat {
    pub(crate) fn new(index: Box<dyn Index>) -> Self {
        Self { index, recorded: None }
    }

    /// Records every change from now on.
    pub(crate) fn record(&mut self) {
        self.recorded = Some(Vec::new());
    }

    /// What was recorded, in order.
    pub(crate) fn stop_recording(&mut self) -> Vec<Change> {
        self.recorded.take().unwrap_or_default()
    }

    /// Makes changes that were recorded elsewhere.
    pub(crate) fn replay(&mut self, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::Append(documents) => self.append(&documents),
                Change::UseSpace(dimensions) => self.use_space(dimensions),
                Change::Embed(vectors) => self.embed(&vectors),
                Change::Hide(ids) => self.hide(&ids),
                Change::Regroup(moves) => self.regroup(&moves),
            }
        }
    }

    fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(recorded) = &mut self.recorded {
            recorded.push(change());
        }
    }

    pub(crate) fn append(&mut self, documents: &[Document]) {
        self.note(|| Change::Append(documents.to_vec()));
        self.index.append(documents);
    }

    pub(crate) fn use_space(&mut self, dimensions: usize) {
        self.note(|| Change::UseSpace(dimensions));
        self.index.use_space(dimensions);
    }

    pub(crate) fn embed(&mut self, vectors: &[(EventId, Vec<i16>)]) {
        self.note(|| Change::Embed(vectors.to_vec()));
        self.index.embed(vectors);
    }

    pub(crate) fn hide(&mut self, ids: &[EventId]) {
        self.note(|| Change::Hide(ids.to_vec()));
        self.index.hide(ids);
    }

    pub(crate) fn regroup(&mut self, moves: &[(EventId, EpisodeId)]) {
        self.note(|| Change::Regroup(moves.to_vec()));
        self.index.regroup(moves);
    }

    pub(crate) fn snapshot(&self) -> Arc<dyn Search> {
        self.index.snapshot()
    }
}
