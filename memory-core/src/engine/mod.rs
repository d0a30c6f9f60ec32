//! The engine: one writer and many readers over the [store](crate::store), with the work behind the commit.
//!
//! # The path of a batch
//!
//! [`Memory::observe`](crate::Memory::observe) takes the writer's lock and opens one write transaction. Every observation
//! is admitted or refused (`admit`), recognised or new (`told`, `perceived`), given an episode (`episodic`) and written
//! through a `Draft`, the only place that adds, removes and moves events. The commit makes all of it durable at once. Then
//! the index receives the same changes, and a new state is published for the readers. Only then does the call return:
//! acknowledged means durable and findable.
//!
//! Readers load the published pointer and begin a read transaction. They wait for no commit.
//!
//! # Invariants
//!
//! 1. *One transaction.* Every change of the tables that must be seen together is one transaction; nothing outside of the
//!    file has to agree with it. What memory holds besides (index, pending embeddings, journal, counts) is computed from
//!    the tables when they are opened, by the same functions that keep it up to date; or read from where the index was saved
//!    (`saved_index`), and brought up to date from the tables.
//! 2. *Ids.* Events and episodes are numbered from 1 in order of commit. A number is never used twice: a hidden event
//!    keeps its row.
//! 3. *Visible.* An event is visible if its row is `Live`. `members`, `facets`, `told_times` and the vectors name visible
//!    events only. A told episode is visible while it has a visible event; a perceived one until it is forgotten.
//! 4. *Content goes with visibility.* The transaction that hides an event replaces its row by a tombstone without content:
//!    `Superseded` keeps a digest, `Forgotten` the time. Freed pages keep their old bytes until redb uses them again or a
//!    compaction (`compact`) leaves the file behind.
//! 5. *Identity.* `identity` leads from (`source`, `id`, `at`) to the newest event of that key, which is `Live`; of a key
//!    that was forgotten only a hash is kept. What was forgotten stays forgotten however often its sender repeats it.
//! 6. *Order.* Nothing is decided by comparing wall clocks but what the contract says in times (the 24 h, the gap, the
//!    segment that contains `at`). The ten minutes of the journal are monotonic time;
//!    what is read back after a restart counts from the restart.
//! 7. *Sealed.* Every value that is more than a number is in an envelope with magic, type, version, length and a checksum
//!    that covers its key. Damage is reported with table and key, costs its record, and never panics.
//!
//! # After a crash
//!
//! - *Before the commit:* the transaction never was. The sender was told nothing, and its broker redelivers.
//! - *During the commit:* redb's two-phase commit leaves the old state or the new one. If it is the new one, the redelivery
//!   is found to be a duplicate by its key or by the journal.
//! - *After the commit, before the acknowledgement:* as the case above.
//! - *On opening:* the allocator's state was saved with the commit (quick repair), so no page is walked. The index is
//!   read from its file and learns what came after it; where there is none that fits, it is rebuilt from the visible events. Events
//!   without a vector in φ's space are pending again.
//! - *While the index is saved:* the old file is there, or the new one. Neither is needed.
//! - *While it is compacted, or a backup is restored:* the new generation is a file of its own, which nothing names until it
//!   is whole and synced. Then the manifest is renamed, and only when that is durable the old file is removed.
//! - *While the file is made:* a file without redb's magic number was never written to and is made anew.
//! - *Disk full, or any I/O error:* nothing of the batch is visible and nothing is acknowledged. redb refuses all work
//!   after an I/O error, so the database is reopened in place; where even that needs a write that fails, it is opened with
//!   its writes held in memory, so that questions are answered until there is space. If the error was that of the last sync,
//!   nobody can know whether the commit is durable: it is not acknowledged, and what the tables say holds.

mod admit;
mod alike;
mod alike_pictures;
mod backup;
mod changes;
mod check;
mod compact;
mod consolidation;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod decoding_tests;
mod draft;
mod embedding;
mod export;
mod forget;
mod forget_damaged;
mod forget_search;
mod forgotten_spans;
#[cfg(test)]
mod fuzz_tests;
mod gists;
mod handle;
mod index_seat;
mod inside;
mod learned;
mod looked;
mod perceived;
mod places;
mod poses;
mod published;
mod refold;
#[cfg(test)]
mod refold_tests;
#[cfg(test)]
mod reopening_tests;
mod resume;
mod saved_index;
#[cfg(test)]
mod saved_tests;
mod saving;
mod sequences;
mod shared;
#[cfg(test)]
mod test_bench;
mod told;
mod told_places;
mod transaction;
mod vectors;
mod view;
mod wall;
mod withdrawals;
mod word_search;
mod writer;

pub(crate) use backup::verify as verify_backup;
pub(crate) use handle::Engine;
#[cfg(test)]
pub(crate) use learned::MAX_LEARNT_ROW;
