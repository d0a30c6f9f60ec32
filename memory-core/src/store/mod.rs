//! Durable records.

mod admit;
mod backend;
mod check;
mod database;
#[cfg(test)]
mod decoding_tests;
mod draft;
mod envelope;
mod event_set;
mod failure;
pub mod fault;
mod forget;
mod journal;
mod perceived;
mod published;
mod records;
mod storage;
#[allow(clippy::module_inception)]
mod store;
mod tables;
mod told;
mod vectors;
mod view;
mod writer;

pub use admit::{
    MAX_ATTRIBUTE_BYTES, MAX_ATTRIBUTE_DEPTH, MAX_FUTURE, MAX_NAME_BYTES, MAX_SEGMENT_EVENTS, MAX_TEXT_BYTES,
};
pub use storage::{DirStorage, FILE_NAME, MemoryStorage, Storage};

pub(crate) use records::{EpisodeBody, EventBody, decode_attributes};
pub(crate) use store::Store;
