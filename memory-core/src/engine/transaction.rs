//! The engine's write transactions, and what happens when one fails.

use std::sync::Arc;

use super::draft::{Draft, Drafted};
use super::handle::Engine;
use super::learned;
use super::saved_index::SavedIndexPlace;
use super::vectors::SpaceInUse;
use super::writer::Writer;
use crate::store::database::Write;
use crate::store::failure::{Failure, Result};
use crate::store::tables::{self, META, WriteTables};

impl Engine {
    /// One write transaction: all of it or nothing, in the tables and in memory. Nothing, and `None`, if it would hide
    /// something before what was learnt is prepared for that, unless it `must` be done.
    pub(super) fn transact<T>(
        &self,
        writer: &mut Writer,
        must: bool,
        work: impl FnOnce(&mut Draft<'_>, &Writer) -> Result<T>,
    ) -> Result<Option<T>> {
        let transaction = self.begin(writer)?;
        let drafted = || {
            let mut draft = Draft::new(WriteTables::open(&transaction)?, self.wall.moment())?;
            let value = work(&mut draft, writer)?;
            if !draft.dirty {
                return Ok(Drafted::Unchanged { value: Some(value), duplicates: draft.changes.duplicates });
            }
            if !must && draft.withdraws() && !writer.learnt.is_prepared() {
                return Ok(Drafted::Unchanged { value: None, duplicates: 0 });
            }
            let learnt = draft.withdraw(&writer.learnt, *self.learning_options.lock())?;
            let (head, changes) = draft.finish()?;
            Ok(Drafted::Changed { value, head, changes, learnt })
        };
        let value = match drafted() {
            Ok(Drafted::Changed { value, head, changes, learnt }) => {
                transaction.commit().map_err(|error| self.failed(writer, error.into()))?;
                if let Some((mut learnt, withdrawal)) = learnt {
                    // What became of procedures is told when they were folded anew.
                    self.news.lock().add_entities(learnt.take_news());
                    writer.learnt = Arc::new(learnt);
                    writer.withdrawals.push(withdrawal);
                }
                writer.apply(head, changes, self.clock.monotonic());
                Some(value)
            }
            Ok(Drafted::Unchanged { value, duplicates }) => {
                transaction.abort().map_err(|error| self.failed(writer, error.into()))?;
                writer.note_duplicates(duplicates);
                value
            }
            Err(failure) => {
                // The transaction rolls back as it is dropped, before the database is looked after.
                drop(transaction);
                return Err(self.failed(writer, failure));
            }
        };
        self.published.store(Arc::new(writer.publish()));
        Ok(value)
    }

    pub(super) fn begin(&self, writer: &mut Writer) -> Result<Write> {
        match self.database.write() {
            Ok(transaction) => Ok(transaction),
            // An earlier I/O error, also one of a reader, has closed the database for writing.
            Err(_) => {
                self.heal(writer)?;
                self.database.write()
            }
        }
    }

    /// A transaction of its own for what `work` writes: all of it is committed, or nothing.
    pub(super) fn commit<T>(
        &self,
        writer: &mut Writer,
        work: impl FnOnce(&mut Write, &mut Writer) -> Result<T>,
    ) -> Result<T> {
        let mut transaction = self.begin(writer)?;
        match work(&mut transaction, writer) {
            Ok(value) => {
                transaction.commit().map_err(|error| self.failed(writer, error.into()))?;
                Ok(value)
            }
            Err(failure) => {
                // It rolls back as it is dropped, before the database is looked after.
                drop(transaction);
                Err(self.failed(writer, failure))
            }
        }
    }

    /// Sees to the database after a failed write and says what the failure means.
    pub(super) fn failed(&self, writer: &mut Writer, failure: Failure) -> Failure {
        let failure = self.database.explain(failure);
        if !matches!(failure, Failure::Damaged { .. })
            && let Err(healing) = self.heal(writer)
        {
            tracing::error!(problem = tables::describe(healing), "the store stays closed after an I/O error for now");
        }
        failure
    }

    /// Reopens the database, for reading only where the disk takes no writes; then the error says why.
    pub(super) fn heal(&self, writer: &mut Writer) -> Result<()> {
        let reopened = self.database.reopen();
        self.follow_tables(writer)?;
        reopened.map_err(|error| self.database.explain(Failure::Store(error.to_string())))
    }

    /// Brings memory in step with the tables: a commit that failed half-way may turn out to have happened.
    fn follow_tables(&self, writer: &mut Writer) -> Result<()> {
        let transaction = self.database.read()?;
        let head = tables::head(&transaction.open_table(META)?)?;
        if head != writer.head {
            let place = SavedIndexPlace::in_generation(&self.database, &self.instance);
            let mut recovered = Writer::open(&transaction, self.clock.as_ref(), &place, self.options.index)?;
            recovered.absent = Arc::clone(&writer.absent);
            recovered.picture_texts.clone_from(&writer.picture_texts);
            recovered.extractor.clone_from(&writer.extractor);
            recovered.place_spaces = Arc::clone(&writer.place_spaces);
            if let Some(space) = writer.space.take() {
                recovered.use_space(SpaceInUse::new(space.embedder), &transaction)?;
            }
            recovered.follow_learnt(writer);
            *writer = recovered;
            self.published.store(Arc::new(writer.publish()));
        } else {
            // Slices of learning wait for no disk: those since the last durable commit may be gone.
            writer.learnt = Arc::new(learned::load(&transaction)?);
            writer.withdrawals.restart();
            writer.learnt_openings += 1;
            self.published.store(Arc::new(writer.publish()));
        }
        Ok(())
    }
}
