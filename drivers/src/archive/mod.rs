//! The media archive: what live sources showed and said, as playable Matroska chunks within a disk budget.
//!
//! ```text
//! capture pipeline ─ tee ─┬─▶ perception
//!                         └─ leaky queue ─ parse or encode ─▶ Recorder (a thread) ─▶ one small pipeline per chunk ─▶ FILE
//! ```
//!
//! A compressed stream (a network camera, a USB camera that sends JPEG or H.264) is written as it came; a raw one is encoded
//! with the best encoder there is. Recording never disturbs capture: its branch drops when it is slow, and a chunk has a
//! pipeline of its own, so that a full disk ends a chunk and nothing else.
//!
//! `<directory>/<source>/<session>-<begin>.mkv`: the wall-clock time of the session's stream time 0 in microseconds, and the
//! stream time at which the chunk begins in milliseconds. Nothing else is written down: the index is read from the names when
//! the archive is opened, and a chunk that a kill cut short plays up to there. A file that a source plays is its own
//! recording and is never copied, moved or deleted.
//!
//! Memories outlive recordings: what points into the archive names source and session ([`recording`]), and which chunk has
//! the moment, if any still has, is looked up when it is asked for.

mod clip;
mod encode;
mod library;
mod name;
mod recorder;
mod tap;
mod writer;

pub use clip::{ClipError, Part, clip};
pub use library::{Archive, ArchiveLimits, ArchiveStatus, Located};
pub use name::{ChunkName, Recording, recording};
pub use recorder::Recorder;
pub(crate) use tap::{tap_sink, watch};
