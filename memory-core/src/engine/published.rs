//! The state that readers see; it is replaced as a whole after every commit.

use std::sync::Arc;

use super::poses::Positions;
use crate::episodic::consolidation::PlaceSpace;
use crate::index::Search;
use crate::learning::Learnt;
use crate::ports::{AnswerExtractor, TextEmbedder};
use crate::{AbsentRole, Stats};

/// Immutable; readers load a pointer to it and wait for nobody.
pub(crate) struct Published {
    pub search: Arc<dyn Search>,
    /// Positions of visible events.
    pub positions: Positions,
    /// All but the bytes on disk, which are looked up when they are asked for.
    pub stats: Stats,
    /// Time span of all segments, in microseconds.
    pub longest_segment: u64,
    /// Number and dimensions of φ's space, once it has vectors.
    pub space: Option<(u32, u32)>,
    pub embedder: Option<Arc<dyn TextEmbedder>>,
    /// Texts in the space of pictures.
    pub picture_texts: Option<Arc<dyn TextEmbedder>>,
    /// Reader that extracts answers from texts.
    pub extractor: Option<Arc<dyn AnswerExtractor>>,
    /// Spaces of pictures in which places can be told apart.
    pub place_spaces: Arc<[PlaceSpace]>,
    pub absent: Arc<[AbsentRole]>,
    pub learnt: Arc<Learnt>,
}
