//! The media archive: recordings of live sources, as playable Matroska chunks within a disk budget.
//!
//! ```text
//! capture pipeline ─ tee ─┬─▶ perception
//!                         └─ leaky queue ─ parse or encode ─▶ Recorder (a thread) ─▶ one small pipeline per chunk ─▶ FILE
//! ```
//!
//! A compressed stream (a network camera, a USB camera that sends JPEG or H.264) is written unchanged; a raw one is encoded
//! with the best encoder available. Recording never disturbs capture: its branch drops when it is slow, and a chunk has a
//! pipeline of its own, so that a full disk ends a chunk and nothing else.
//!
//! `<directory>/<source>/<session>-<begin>.mkv`: the wall-clock time of the session's stream time 0 in microseconds, and the
//! stream time at which the chunk begins in milliseconds. There is no other record: the index is read from the names when the
//! archive is opened. A chunk that a kill cut short plays up to that point. A file that a source plays is its own
//! recording and is never copied, moved or deleted.
//!
//! Memories outlive recordings. So references into the archive name source and session ([`recording`]); the chunk with the
//! moment, if it still exists, is looked up when somebody asks.

mod clip;
mod encode;
mod frames;
mod jpeg;
mod library;
mod name;
mod recorder;
mod still;
mod tap;
mod writer;

pub use clip::{ClipError, ClipPart, clip};
pub use frames::{Decoded, FrameOptions, RecordingPart, pictures, sound};
pub use jpeg::jpeg;
pub use library::{Archive, ArchiveLimits, ArchiveStatus, Located};
pub use name::{ChunkName, Recording, recording};
pub use recorder::Recorder;
pub use still::{Still, still};
pub(crate) use tap::{tap_sink, watch};
