//! New folds of what was learnt, in slices behind the commit: of the procedures from which something was withdrawn, or of
//! everything.
//!
//! A fold reads visible events alone. What is hidden while it goes on is taken back from it, or stays concealed until the next
//! fold; so it always comes to its end. It lives in memory: after a kill the marks in the table are there, and it begins
//! again.
//!
//! What it found is written in pieces, so that nobody waits for the writer's lock longer than a piece takes. Until the last
//! one is written, a row under `REPLACING` says that rows of procedures are partly old; whoever finds it on opening has
//! everything folded anew.

use std::collections::BTreeMap;
use std::sync::Arc;

use redb::ReadableTable;

use super::handle::Engine;
use super::learned::record;
use crate::EventId;
use crate::learning::{Learnt, LearntPart, LearntRow, REPLACING};
use crate::logic::{Phi, Procedures, actions_of};
use crate::ports::LongWork;
use crate::store::envelope;
use crate::store::failure::{Result, if_sound};
use crate::store::tables::LEARNT;

/// Maximum number of rows and of bytes in one piece.
const MAX_PIECE: (usize, usize) = (256, 128 << 10);

/// Number of events in a slice while a caller waits for the end of the fold.
const AWAITED_SLICE: usize = 1024;

/// New folds under way.
#[derive(Default)]
pub(crate) struct Refolds {
    procedures: Option<ProcedureFold>,
    everything: Option<Fold>,
}

/// Refold of everything.
struct Fold {
    learnt: Learnt,
    /// The writer's epoch up to which it knows of withdrawals.
    epoch: u64,
}

/// Refold of the procedures alone.
struct ProcedureFold {
    procedures: Procedures,
    /// Events that are still to be read, ascending.
    rest: std::vec::IntoIter<EventId>,
    /// The last event that was ever in `rest`.
    last: EventId,
    /// How often the writer had read what was learnt when the fold began.
    openings: u64,
}

impl Engine {
    /// Does a slice of the folds that are due. Learning goes first while it is behind, but for what was withdrawn.
    pub(super) fn refold(&self, refolds: &mut Refolds, caught_up: bool, limit: usize, phi: &Phi<'_>) -> Result<()> {
        let (learnt, epoch, openings) = {
            let writer = self.writer();
            (Arc::clone(&writer.learnt), writer.withdrawals.epoch(), writer.learnt_openings)
        };
        if learnt.has_withdrawn() {
            self.refold_procedures(&mut refolds.procedures, &learnt, openings, limit, phi)?;
        } else {
            refolds.procedures = None;
        }
        if !learnt.is_stale() {
            refolds.everything = None;
        } else if caught_up && self.refold_everything(&mut refolds.everything, epoch, limit, phi)? {
            // It took the marks of what it left out with it. A fold of the procedures that has read some of that, when it was
            // still visible, would bring it back and nobody would conceal it.
            refolds.procedures = None;
        }
        Ok(())
    }

    /// Takes out of the procedures what was withdrawn before now, however long that takes: a copy of the store is about to
    /// be made, and it is to hold nothing of it.
    pub(super) fn settle_procedures(&self, work: LongWork) -> Result<()> {
        let mut refolds = self.refold.lock();
        let embedder = self.writer().space.as_ref().map(|space| Arc::clone(&space.embedder));
        let phi = |text: &str| super::learned::phi(embedder.as_deref(), text);
        while self.writer().learnt.has_withdrawn() && !self.is_stopping() {
            self.refold(&mut refolds, false, AWAITED_SLICE, &phi)?;
            self.step(work);
            // One fold takes out all that was withdrawn before it; who goes on correcting is not waited for.
            if refolds.procedures.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn refold_procedures(
        &self,
        refold: &mut Option<ProcedureFold>,
        learnt: &Arc<Learnt>,
        openings: u64,
        limit: usize,
        phi: &Phi<'_>,
    ) -> Result<()> {
        let known = learnt.procedures();
        let mut fold = match refold.take() {
            Some(fold) if fold.openings == openings => fold,
            _ => ProcedureFold {
                procedures: known.begin_again(),
                rest: Vec::new().into_iter(),
                last: EventId(0),
                openings,
            },
        };
        // What has a vector keeps it: no model need run for it again.
        let phi = |text: &str| known.vector_of(text).or_else(|| phi(text));
        let view = self.view()?;
        for event in fold.rest.by_ref().take(limit) {
            // A damaged record taught nothing.
            let Some(event) = if_sound(view.find_event(event))?.flatten() else { continue };
            for action in actions_of(&event) {
                fold.procedures.observe(&action, &phi);
            }
            self.step(LongWork::Learning);
        }
        drop(view);
        if fold.rest.len() == 0 {
            // What was learnt since the list was made; all of it, in the beginning.
            let more = known.events_after(fold.last);
            fold.last = more.last().copied().unwrap_or(fold.last);
            fold.rest = more.into_iter();
        }
        if fold.rest.len() > 0 {
            *refold = Some(fold);
            return Ok(());
        }
        let mut procedures = fold.procedures;
        let rows = procedures.replace(known).into_iter().map(|key| LearntRow {
            part: LearntPart::Procedure,
            key: key.to_bytes().to_vec(),
            payload: procedures.row(key),
        });
        let rows = rows.collect();
        let Some(mut rows) = self.write_in_pieces(rows, openings)? else { return Ok(()) };
        let news = procedures.news_since(known);

        let mut writer = self.writer();
        if writer.learnt_openings != openings {
            return Ok(());
        }
        let mut next = (*writer.learnt).clone();
        next.take_procedures(procedures);
        rows.extend(next.take_rows());
        self.write_learnt(&mut writer, &rows, false)?;
        writer.learnt = Arc::new(next);
        self.news.lock().add_procedures(news);
        self.publish(&writer);
        Ok(())
    }

    /// Whether it came to its end.
    fn refold_everything(&self, refold: &mut Option<Fold>, epoch: u64, limit: usize, phi: &Phi<'_>) -> Result<bool> {
        let (withdrawals, learnt, openings) = {
            let writer = self.writer();
            let known = refold.as_ref().and_then(|fold| writer.withdrawals.since(fold.epoch));
            let withdrawals = known.map(|known| known.take(usize::MAX).map(Arc::clone).collect::<Vec<_>>());
            (withdrawals, Arc::clone(&writer.learnt), writer.learnt_openings)
        };
        let mut fold = match (refold.take(), withdrawals) {
            (Some(mut fold), Some(withdrawals)) => {
                for withdrawal in withdrawals {
                    fold.learnt.withdraw(&withdrawal);
                    fold.epoch += 1;
                }
                fold
            }
            _ => Fold { learnt: learnt.begin_again(), epoch },
        };
        fold.learnt.follow(*self.learning_options.lock());
        fold.learnt.judge_by(self.procedure_judge.lock().as_ref());
        let lessons = self.read_lessons(fold.learnt.cursor(), limit)?;
        for lesson in &lessons {
            fold.learnt.learn(lesson, phi);
            self.step(LongWork::Learning);
        }
        if lessons.len() == limit {
            *refold = Some(fold);
            return Ok(false);
        }
        fold.learnt.finish_fold();
        let rows = self.differences(&fold.learnt)?;
        let Some(rows) = self.write_in_pieces(rows, openings)? else { return Ok(false) };
        fold.learnt.take_rows();
        // What is found again is no news.
        fold.learnt.take_news();
        self.commit_learnt(fold.learnt, fold.epoch, rows)?;
        Ok(true)
    }

    /// Returns the changes after which the table holds the rows of `learnt` and no others.
    fn differences(&self, learnt: &Learnt) -> Result<Vec<LearntRow>> {
        let mut new: BTreeMap<(u8, Vec<u8>), LearntRow> =
            learnt.all_rows().map(|row| ((row.part.number(), row.key.clone()), row)).collect();
        let transaction = self.database.read()?;
        let table = match transaction.open_table(LEARNT) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(new.into_values().collect()),
            Err(error) => return Err(error.into()),
        };
        let mut rows = Vec::new();
        for entry in table.iter()? {
            let (place, sealed) = entry?;
            let (number, key) = place.value();
            let Some(part) = LearntPart::from_number(number) else { continue };
            let old = envelope::open_bytes(record(part), key, sealed.value()).ok();
            match new.remove(&(number, key.to_vec())) {
                Some(row) if row.payload.as_deref() == old => {}
                Some(row) => rows.push(row),
                None => rows.push(LearntRow { part, key: key.to_vec(), payload: None }),
            }
        }
        rows.extend(new.into_values());
        Ok(rows)
    }

    /// Writes rows until few enough are left for the transaction that ends it, and returns those; `None` if the writer has
    /// read the table anew meanwhile. Head and marks come last.
    fn write_in_pieces(&self, mut rows: Vec<LearntRow>, openings: u64) -> Result<Option<Vec<LearntRow>>> {
        let is_last = |row: &LearntRow| matches!(row.part, LearntPart::Head | LearntPart::Withdrawn);
        rows.sort_by_key(is_last);
        let replacing = |there: bool| LearntRow::new(LearntPart::Withdrawn, &REPLACING, there.then_some(&()));
        let mut rest = rows.into_iter().peekable();
        let mut begun = false;
        loop {
            let mut piece = Vec::new();
            let mut bytes = 0;
            while piece.len() < MAX_PIECE.0 && bytes < MAX_PIECE.1 {
                let Some(row) = rest.next_if(|row| !is_last(row)) else { break };
                bytes += row.key.len() + row.payload.as_ref().map_or(0, Vec::len);
                piece.push(row);
            }
            if rest.peek().is_none_or(is_last) {
                piece.extend(rest);
                piece.extend(begun.then(|| replacing(false)));
                return Ok(Some(piece));
            }
            if !begun {
                piece.push(replacing(true));
                begun = true;
            }
            let mut writer = self.writer();
            if writer.learnt_openings != openings {
                return Ok(None);
            }
            self.write_learnt(&mut writer, &piece, false)?;
            drop(writer);
            self.step(LongWork::Learning);
        }
    }
}
