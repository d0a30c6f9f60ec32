//! What the index keeps of every document beside its terms: columns of metadata, links between neighbours in time, names,
//! and which documents are hidden.

mod block;
mod hidden;
mod lines;
mod links;
mod names;
mod table;

pub(super) use block::{BLOCK, EntryBlock, PackedEntries};
pub(super) use hidden::HiddenSet;
pub(super) use lines::{Lines, MARGIN, REACH, RUN, RUNS, RunLengths, STRIP, padded, reach};
pub(super) use links::{Links, SegmentLinks};
pub(super) use names::{EntityNames, SourceNames};
pub(super) use table::EntryTable;

use crate::{EpisodeId, EventId, Kind, Modality, TimeSpan, Timestamp};

/// No document.
pub(super) const NONE: u32 = u32::MAX;

/// The fixed part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub id: EventId,
    pub episode: EpisodeId,
    pub kind: Kind,
    pub modality: Modality,
    pub span: TimeSpan,
    /// Begin of the capture session, where there is one.
    pub session_start: Option<Timestamp>,
    /// Its source's number among [`SourceNames`].
    pub source: u32,
    /// Its entity's number among [`EntityNames`], if it has one.
    pub entity: Option<u32>,
    /// Begin of its terms in the term stream.
    pub terms_at: u64,
}
