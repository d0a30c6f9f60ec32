//! Learning: computes persons, facts and procedures from events, in the background.
//!
//! The learned state is a fold over the visible events in order of commit. The same events give the same anchors, facts and
//! procedures, on every machine and however the work was cut into slices. The fold continues from a cursor, in slices that the
//! agent's job thread requests while the memory is idle. Observations and questions never wait for it.
//!
//! - *Outside the lock.* A slice is learned on a clone of the state (clones share unchanged parts) and then committed with its
//!   cursor in one transaction, which does not wait for the disk. After a kill the cursor is only older, and the same slice is
//!   learned again.
//! - *Withdrawn at once.* The transaction that hides an event withdraws what the event taught, as far as this takes no longer
//!   than hiding it. Facts and anchors lose what depends on it, and procedures that contain something of it are concealed. If
//!   the result differs from what would have been learned without the event, the state is marked, durably, and folded again
//!   in the background, in slices: the procedures alone, or everything. Then rows that differ are swapped one by one. Events
//!   that are hidden while a fold runs are withdrawn from it too; no number of them can keep it from finishing.
//! - *Snapshot.* Readers see one immutable state, published with the index.

mod learnt;
pub mod measure;
mod news;
mod options;
mod rows;

pub use learnt::Learnt;
pub(crate) use learnt::Withdrawal;
pub(crate) use news::News;
pub use options::LearningOptions;
pub(crate) use rows::{LearntPart, LearntRow, REPLACING};
#[cfg(test)]
mod ceiling_tests;
