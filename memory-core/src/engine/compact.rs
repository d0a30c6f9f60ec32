//! Compaction: the live records are copied to a new generation of the store, which takes the place of the old one.
//!
//! 1. Under the writer's lock: a snapshot is taken, and from now on the keys of written rows are noted.
//! 2. The live rows of the snapshot are copied, in order of keys, while readers and writer continue.
//! 3. The noted rows are brought up to date, in rounds that become shorter, and all of it is synced.
//! 4. Under the writer's lock: the last round, the counters, a sync; then the manifest is renamed.
//! 5. The old file is removed. The index is rebuilt from the new file in the background, because it too contains forgotten
//!    words. Then it is saved; the saved index of the old generation was removed with it.
//!
//! Whatever fails before the manifest is renamed leaves the old generation as it was and removes the new one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::time::Duration;

use redb::{ReadTransaction, ReadableTableMetadata};

use super::handle::Engine;
use super::index_seat::IndexChange;
use super::vectors::SpaceInUse;
use super::writer::Writer;
use crate::index::Document;
use crate::ports::LongWork;
use crate::store::copy::{self, Filling, TABLES};
use crate::store::database::ChangedKeys;
use crate::store::envelope;
use crate::store::failure::{Failure, Result};
use crate::store::live_rows::LiveRows;
use crate::store::records::{HEAD, Head};
use crate::store::tables::{self, EVENTS, MEMBERS, META};
use crate::{CompactReply, MaintenanceError, SaveIndex};

/// Maximum number of rows in the last round. They are copied while the writer waits.
const MAX_LAST_ROUND_ROWS: usize = 2_000;

/// Maximum number of rounds. What is left after them is copied while the writer waits.
const MAX_ROUNDS: usize = 12;

/// Number of changed keys above which compaction gives up, because writes outrun it.
const MAX_NOTED_KEYS: usize = 4_000_000;

type NotedKeys = BTreeMap<String, BTreeSet<Vec<u8>>>;

impl Engine {
    pub(crate) fn stop_compaction(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Called now and then while rows are copied.
    fn may_go_on(&self, changed: &ChangedKeys) -> Result<()> {
        self.step(LongWork::Compaction);
        if self.is_stopping() {
            return Err(Failure::Store("the program ends; compact again when it is back".into()));
        }
        if changed.len() > MAX_NOTED_KEYS {
            return Err(Failure::Store("too much is being written at the same time; compact again later".into()));
        }
        Ok(())
    }

    pub(crate) fn compact(&self) -> Result<CompactReply, MaintenanceError> {
        let _alone = self.alone()?;
        let begin = self.clock.monotonic();
        self.settle_procedures(LongWork::Compaction)?;
        let bytes_before = self.database.disk_bytes();
        let outcome = self.copy_to_next_generation();
        self.database.forget_changes();
        let (rows, blocked) = outcome?;
        self.reindex()?;
        self.save_index_if_due(SaveIndex::AtEnd);
        Ok(CompactReply {
            bytes_before,
            bytes_after: self.database.disk_bytes(),
            rows,
            took: self.clock.monotonic().saturating_sub(begin),
            blocked,
        })
    }

    fn copy_to_next_generation(&self) -> Result<(u64, Duration), MaintenanceError> {
        let next = self.database.generation().next();
        self.database.discard(next);
        let (changed, snapshot) = {
            let mut writer = self.writer.lock();
            // A database that an I/O error has closed must be open before anything is noted.
            drop(self.begin(&mut writer)?);
            (self.database.note_changes(), self.database.read()?)
        };
        copy::expect_known_tables(&snapshot)?;
        let base = tables::head(&snapshot.open_table(META).map_err(Failure::from)?)?;
        let made = self.database.make_generation(next)?;
        let live = LiveRows::read(&snapshot);
        let copied = live.and_then(|live| {
            let rows = copy_rows(&snapshot, &live, &made, &|| self.may_go_on(&changed))?;
            drop(snapshot);
            self.catch_up(&made, &changed)?;
            Ok((rows, live))
        });
        let (rows, live) = match copied {
            Ok(copied) => copied,
            Err(failure) => {
                drop(made);
                self.database.discard(next);
                return Err(failure.into());
            }
        };

        let mut writer = self.writer.lock();
        let begin = self.clock.monotonic();
        let finished = self.finish(&made, &changed, &live, &base);
        let head = match finished {
            Ok(head) => head,
            Err(failure) => {
                drop(made);
                self.database.discard(next);
                return Err(failure.into());
            }
        };
        let replaced = self.database.replace(next, made);
        if self.database.generation() != next {
            self.database.discard(next);
        } else {
            writer.head = head;
        }
        replaced?;
        Ok((rows, self.clock.monotonic().saturating_sub(begin)))
    }

    /// Brings the copy up to date until little is left, and syncs it, so that the last round is short.
    fn catch_up(&self, made: &redb::Database, changed: &ChangedKeys) -> Result<()> {
        for _ in 0..MAX_ROUNDS {
            let few = changed.len() <= MAX_LAST_ROUND_ROWS;
            let (noted, snapshot) = self.take_noted(changed)?;
            follow(made, &noted, &snapshot, None)?;
            self.step(LongWork::Compaction);
            if few {
                break;
            }
        }
        Ok(())
    }

    /// What was noted, and a snapshot that has all of it: nothing may be committed in between.
    fn take_noted(&self, changed: &ChangedKeys) -> Result<(NotedKeys, ReadTransaction)> {
        let _writer = self.writer.lock();
        Ok((changed.take(), self.database.read()?))
    }

    /// The last round; the writer waits.
    fn finish(&self, made: &redb::Database, changed: &ChangedKeys, live: &LiveRows, base: &Head) -> Result<Head> {
        let snapshot = self.database.read()?;
        let mut head = tables::head(&snapshot.open_table(META)?)?;
        head.hidden = head.hidden.saturating_sub(live.hidden_left_out);
        head.stale_bytes = head.stale_bytes.saturating_sub(base.stale_bytes);
        // What was forgotten while the copy was made has left its words in it.
        head.forgotten_since = (head.stale_bytes > 0).then(|| self.clock.now().as_micros());
        follow(made, &changed.take(), &snapshot, Some(&head))?;

        let copy = redb::ReadableDatabase::begin_read(made)?;
        let visible = copy.open_table(MEMBERS)?.len()?;
        let rows = copy.open_table(EVENTS)?.len()?;
        if (visible, rows) != (head.events, head.events + head.hidden) && self.is_consistent(&snapshot)? {
            let message = format!(
                "the copy has {visible} visible events in {rows} rows instead of {} and {}; it is not used",
                head.events, head.hidden
            );
            return Err(Failure::Store(message));
        }
        Ok(head)
    }

    /// Whether the counters of the present generation agree with its rows; of a damaged one they may not.
    fn is_consistent(&self, snapshot: &ReadTransaction) -> Result<bool> {
        let head = tables::head(&snapshot.open_table(META)?)?;
        let (visible, rows) = (snapshot.open_table(MEMBERS)?.len()?, snapshot.open_table(EVENTS)?.len()?);
        Ok((visible, rows) == (head.events, head.events + head.hidden))
    }

    /// Builds the index anew from the tables while readers and writer go on, and puts it in the place of the old one.
    pub(crate) fn reindex(&self) -> Result<()> {
        let (snapshot, embedder, generation) = {
            let mut writer = self.writer.lock();
            writer.index.record();
            let embedder = writer.space.as_ref().map(|space| std::sync::Arc::clone(&space.embedder));
            (self.database.read()?, embedder, self.database.generation())
        };
        let mut step = |_: &Document| self.step(LongWork::Compaction);
        let rebuilt = Writer::rebuild(&snapshot, self.clock.as_ref(), generation, self.options.index, &mut step)
            .and_then(|mut fresh| {
                if let Some(embedder) = embedder {
                    fresh.use_space(SpaceInUse::new(embedder), &snapshot)?;
                }
                Ok(fresh)
            });
        let mut writer = self.writer.lock();
        let recorded = writer.index.stop_recording();
        let mut fresh = rebuilt?;
        // Of a space that was taken into use meanwhile, the writer knows.
        if !recorded.iter().any(|change| matches!(change, IndexChange::UseSpace(_))) {
            writer.indexed_space = fresh.indexed_space.take();
        }
        let mut fresh = fresh.index;
        fresh.replay(recorded);
        writer.index = fresh;
        writer.saved = None;
        self.publish(&writer);
        Ok(())
    }
}

/// Copies the live rows of a snapshot and says how many.
fn copy_rows(
    snapshot: &ReadTransaction,
    live: &LiveRows,
    made: &redb::Database,
    may_go_on: &dyn Fn() -> Result<()>,
) -> Result<u64> {
    let mut filling = Filling::new(made);
    let mut rows = 0_u64;
    for table in TABLES.iter().copied() {
        filling.begin(table)?;
        table.for_each(snapshot, &mut |key, value| {
            if let Some((key, value)) = live.row(table.name(), key, value) {
                filling.put(&key, &value)?;
                rows += 1;
            }
            if rows.is_multiple_of(16_384) { may_go_on() } else { Ok(()) }
        })?;
    }
    filling.finish()?;
    Ok(rows)
}

/// Brings rows to where they are in the snapshot, durably.
fn follow(made: &redb::Database, noted: &NotedKeys, snapshot: &ReadTransaction, head: Option<&Head>) -> Result<()> {
    let mut transaction = made.begin_write()?;
    transaction.set_quick_repair(true);
    for (table, keys) in noted {
        copy::table(table)?.follow(keys, snapshot, &transaction)?;
    }
    if let Some(head) = head {
        transaction.open_table(META)?.insert("head", envelope::seal(HEAD, b"head", head).as_slice())?;
    }
    transaction.commit()?;
    Ok(())
}
