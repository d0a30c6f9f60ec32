//! Durable records: one redb file and the manifest that names it. `docs/memory-format.md` describes their format.
//!
//! - Files: [`Storage`] is a directory, memory, or one that injects crashes ([`fault`]). `generation` and its manifest name the
//!   present file; `database` opens it, and reopens it after a failure; `backend` counts its failures.
//! - Records: `records` and `tables` are the rows, `envelope` their checksums, `container` the format of backups.
//! - `noted`, `live_rows` and `copy` follow and copy rows to another file.
//!
//! What is written when, and what holds after a crash, is the `engine`'s business and described there.

pub(crate) mod backend;
pub(crate) mod container;
pub(crate) mod copy;
pub(crate) mod database;
pub(crate) mod envelope;
pub(crate) mod event_set;
pub(crate) mod failure;
pub mod fault;
pub(crate) mod generation;
pub(crate) mod journal;
pub(crate) mod live_rows;
pub(crate) mod memory_storage;
pub(crate) mod noted;
pub(crate) mod records;
pub(crate) mod storage;
pub(crate) mod tables;

pub use memory_storage::{Image, MemoryStorage};
pub use storage::{Blob, DirStorage, FILE_NAME, Storage};

pub(crate) use records::{EpisodeBody, EventBody, decode_attributes, encode_attributes};
