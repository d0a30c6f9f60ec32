//! Episodic memory: how events are grouped in episodes.
//!
//! 1. A segment that Engram perceived is an episode.
//! 2. A told observation joins the segment that contains its `at`: one of its own source before others, and else the one
//!    that began last.
//! 3. If no segment contains it, consecutive told observations of a session (the attribute `session`), or else of a source,
//!    form an episode if they are at most [`MAX_GAP`] apart.
//! 4. A segment closes some seconds after the observations that were told during it. When it arrives, it takes over the told
//!    events in its span. A told episode entirely within it becomes the segment's and keeps its id. From one that extends
//!    beyond it, the events inside move. An episode that becomes empty points to the segment.
//! 5. A corrected event stays in its episode.
//! 6. Later, segments that show one place without a break become one episode ([`consolidation`]).

pub mod anchors;
pub(crate) mod consolidation;
pub mod gist;
mod grouping;
mod summary;
mod visits;

pub use grouping::{MAX_EVENTS, MAX_GAP};
pub(crate) use grouping::{StreamKey, continues};
pub(crate) use summary::{SUMMARY_EVENTS, summarize};
pub(crate) use visits::visited;
pub use visits::{VISIT_SOURCE, VisitTracker};
