//! Learning: what follows from events, behind the commit.
//!
//! What is learnt is a fold over the visible events in order of commit: the same events give the same anchors, facts and
//! procedures, on every machine and however the work was cut into slices. The fold goes on from a cursor, in slices that the
//! agent's job thread asks for while it is quiet; ingest and questions never wait for it.
//!
//! - *Outside of the lock.* A slice is learnt on a clone of the state (clones share what neither has changed) and then
//!   committed with its cursor in one transaction, which waits for no disk: after a kill the cursor is only older, and the
//!   same slice is learnt again.
//! - *Withdrawn at once.* The transaction that hides an event takes back what it taught, as far as that takes no longer than
//!   hiding it: facts and anchors lose what rests on it, and the procedures that hold something of it are concealed. Where
//!   that leaves something else than would have been learnt without the event, the state is marked, durably, and folded
//!   anew behind the commit, in slices: the procedures alone, or everything. Then it is swapped, row by row where rows
//!   differ. Events that are hidden while a fold goes on are taken back from it too; no number of them keeps it from its end.
//! - *Snapshot.* Readers see one immutable state, published with the index.

mod learnt;
pub mod measure;
mod news;
mod options;
mod rows;
mod sharded;

pub use learnt::Learnt;
pub(crate) use learnt::{Lesson, SensedVector, Withdrawal};
pub(crate) use news::News;
pub use options::LearningOptions;
pub(crate) use rows::{Part, REPLACING, Row};
#[cfg(test)]
mod ceiling_tests;

pub(crate) use sharded::{Sharded, Spread, spread_bytes};
