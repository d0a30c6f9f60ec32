//! The memory as its users see it, on storages that can be stopped, cut off and filled up.

// The functions that the tests share are test code too.
#![allow(clippy::unwrap_used)]

mod support;
mod way;

mod alike;
mod asking;
mod backup;
mod compaction;
mod consolidating;
mod crash;
mod disks;
mod embeddings;
mod episodes;
mod forget;
mod format;
mod house;
mod index_options;
mod inside;
mod learning;
mod looked;
mod looked_places;
mod observe;
mod place_names;
mod places;
mod poses;
mod progress;
mod properties;
mod reading;
mod reconciling;
mod sight;
mod topics;
