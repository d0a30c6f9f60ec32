//! Append-only bits with select, and the storage they share with the wavelet matrix.
//!
//! One writer appends; a reader holds a clone of the pointers and the length that it may see. Everything below that length
//! was written before the clone was made and never changes, so readers copy nothing, lock nothing and wait for nobody:
//!
//! - a [`BitVector`] is written, [`BitVector::snapshot`] gives a [`BitView`], which is a few pointers;
//! - storage grows in chunks that never move ([`Chunks`]);
//! - places in a chunk are atomics, because the writer adds to a word of which a reader sees the lower bits. All accesses
//!   are relaxed: whatever hands a snapshot to another thread orders them.

mod block;
mod chunks;
mod samples;
mod vector;
mod word;

pub(super) use block::{BLOCK_WORDS, Block};
pub(super) use chunks::Chunks;
pub use vector::{BitVector, BitView};
pub(super) use word::select_in_word;

#[cfg(test)]
mod tests;
