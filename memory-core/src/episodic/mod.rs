//! Episodic memory: how events are grouped in episodes.
//!
//! 1. A segment that Engram perceived is an episode.
//! 2. A told observation joins the segment that contains its `at`: one of its own source before others, and else the one
//!    that began last.
//! 3. Where no segment contains it, consecutive ones of a session (the attribute `session`) or else of a source, at most
//!    [`MAX_GAP`] apart, form an episode.
//! 4. A segment closes some seconds after what was told meanwhile. When it arrives it takes in the told events in its
//!    span: an episode told entirely within it becomes the segment's and keeps its id; from one that reaches beyond it
//!    the events inside move. An episode that is left empty is found under its id all the same: it leads to the segment.
//! 5. A corrected event stays in its episode.

pub mod anchors;
mod grouping;
mod summary;

pub use grouping::{MAX_EVENTS, MAX_GAP};
pub(crate) use grouping::{StreamKey, continues};
pub(crate) use summary::{SUMMARY_EVENTS, summarize};
