//! The learned state in the table `learnt`, and the slices of learning.

use std::sync::Arc;

use redb::{ReadTransaction, ReadableTable};

use super::draft::Draft;
use super::handle::Engine;
use super::shared;
use super::vectors::{open_space, sensed_of};
use super::view::View;
use super::writer::Writer;
use crate::episodic::anchors::{EntityNews, NamingRequest, Person};
use crate::learning::{LearningOptions, Learnt, LearntPart, LearntRow, Withdrawal};
use crate::lesson::{Lesson, SensedVector};
use crate::logic::Phi;
use crate::ports::{FactExtractor, LongWork, ProcedureJudge, TextEmbedder};
use crate::store::envelope::{self, MAX_PAYLOAD, RecordType};
use crate::store::failure::{Failure, Result, if_sound};
use crate::store::noted::Noted;
use crate::store::records::Space;
use crate::store::tables::{LEARNT, SPACES, VECTORS};
use crate::{EventId, Kind, NamingError, ObserveError, Origin, PendingWork, ProcedureNews, ReadError};

/// Maximum length of a row of what was learnt, in bytes.
#[cfg(test)]
pub(crate) const MAX_LEARNT_ROW: usize = MAX_PAYLOAD;

/// The record type of a part. The version is that of the payload.
pub(super) const fn record(part: LearntPart) -> RecordType {
    let version = if matches!(part, LearntPart::Head) { 2 } else { 1 };
    RecordType { table: "learnt", tag: 16 + part.number(), version }
}

/// The head of programs up to 0.1, which noted no unsettled pronouns.
pub(super) const HEAD_1: RecordType = RecordType { version: 1, ..record(LearntPart::Head) };

/// Reads what was learnt. It follows from the events, so damage is told and learnt again.
pub(crate) fn load(transaction: &ReadTransaction) -> Result<Learnt> {
    let mut learnt = Learnt::default();
    let table = match transaction.open_table(LEARNT) {
        Ok(table) => table,
        // A store from before there was learning: it begins with the first event.
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(learnt),
        Err(error) => return Err(error.into()),
    };
    let mut damaged = false;
    for entry in table.iter()? {
        let (key, value) = entry?;
        let (part, key) = key.value();
        if let Err(detail) = restore(&mut learnt, part, key, value.value()) {
            tracing::error!(part, detail, "a learnt record is damaged; everything is learnt again");
            damaged = true;
        }
    }
    if let Err(detail) = learnt.finish_restoring() {
        tracing::error!(detail, "learnt procedures are damaged; everything is learnt again");
        damaged = true;
    }
    if damaged {
        learnt.set_stale();
    }
    Ok(learnt)
}

fn restore(learnt: &mut Learnt, part: u8, key: &[u8], sealed: &[u8]) -> std::result::Result<(), String> {
    let part = LearntPart::from_number(part).ok_or_else(|| format!("there is no part {part}"))?;
    if part == LearntPart::Head
        && let Ok(payload) = envelope::open_bytes(HEAD_1, key, sealed)
    {
        return learnt.restore_head_1(payload);
    }
    learnt.restore(part, key, envelope::open_bytes(record(part), key, sealed)?)
}

/// Verifies every row and says what is wrong.
pub(crate) fn check(transaction: &ReadTransaction, problem: &mut impl FnMut(String)) -> Result<u64> {
    let table = match transaction.open_table(LEARNT) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let mut learnt = Learnt::default();
    let mut records = 0;
    for entry in table.iter()? {
        let (key, value) = entry?;
        let (part, key) = key.value();
        records += 1;
        if let Err(detail) = restore(&mut learnt, part, key, value.value()) {
            problem(format!("record ({part}, {key:02x?}) of learnt: {detail}; it is learnt again on the next start"));
        }
    }
    if let Err(detail) = learnt.finish_restoring() {
        problem(format!("learnt: {detail}"));
    }
    let events = transaction.open_table(crate::store::tables::EVENTS)?;
    let procedures = learnt.procedures();
    let held = procedures.events_after(EventId(0)).into_iter().filter(|event| !procedures.withdrawn().contains(event));
    for event in learnt.evidence().into_iter().chain(held) {
        if !matches!(
            crate::store::tables::event_row(&events, event.0),
            Ok(Some(crate::store::records::EventRow::Live(_)))
        ) {
            problem(format!("learnt: something goes back to event {event}, which is not visible"));
        }
    }
    Ok(records)
}

/// Writes rows; a table holds what the state holds.
pub(crate) fn write(table: &mut Noted<'_, (u8, &'static [u8]), &'static [u8]>, rows: &[LearntRow]) -> Result<()> {
    for LearntRow { part, key, payload } in rows {
        let place = (part.number(), key.as_slice());
        match payload {
            Some(payload) if payload.len() <= MAX_PAYLOAD => {
                table.insert(place, envelope::seal_bytes(record(*part), key, payload).as_slice())?;
            }
            Some(payload) => {
                return Err(Failure::Store(format!("a learnt record has {} bytes", payload.len())));
            }
            None => drop(table.remove(place)?),
        }
    }
    Ok(())
}

impl Draft<'_> {
    /// Whether this transaction hides anything that may have been learnt from.
    pub(crate) fn withdraws(&self) -> bool {
        !self.changes.hidden.is_empty() || !self.forgotten_names.is_empty()
    }

    /// Takes back what the events taught that this transaction hides; the state without them, if there are any.
    pub(crate) fn withdraw(
        &mut self,
        learnt: &Learnt,
        options: LearningOptions,
    ) -> Result<Option<(Learnt, Withdrawal)>> {
        if !self.withdraws() {
            return Ok(None);
        }
        let mut vectors = Vec::new();
        for (number, event, sealed) in std::mem::take(&mut self.hidden_vectors) {
            let Some(space) = self.tables.spaces.get(number)? else { continue };
            let Some(space) = if_sound(open_space(number, space.value()))? else { continue };
            let Some(sensed) = sensed_of(&space) else { continue };
            let vector = if_sound(shared::stored(number, event, space.dimensions, &sealed))?;
            if let Some(shared::Stored::Own(vector)) = vector {
                vectors.push((EventId(event), SensedVector { sensed, space: space.name, vector }));
            }
        }
        let mut withdrawal = Withdrawal {
            events: self.changes.hidden.clone(),
            first_of_source: std::mem::take(&mut self.changes.first_hidden),
            vectors,
            names: std::mem::take(&mut self.forgotten_names),
        };
        withdrawal.sort();
        let mut next = learnt.clone();
        next.follow(options);
        next.withdraw(&withdrawal);
        write(&mut self.tables.learnt, &next.take_rows())?;
        Ok(Some((next, withdrawal)))
    }
}

impl Engine {
    /// Learns from the next events after the cursor, at most `limit`, and goes on with a new fold.
    pub(crate) fn learn_pending(&self, limit: usize) -> Result<PendingWork, ObserveError> {
        // Two threads at a time would only learn the same.
        let mut refold = self.refold.lock();
        let embedder = self.writer().space.as_ref().map(|space| Arc::clone(&space.embedder));
        let phi = |text: &str| phi(embedder.as_deref(), text);
        let caught_up = self.learn_next(limit, &phi)?;
        self.refold(&mut refold, caught_up, limit, &phi)?;
        Ok(self.writer().pending_work())
    }

    /// Learns one slice; `true` if it reached the last event.
    fn learn_next(&self, limit: usize, phi: &Phi<'_>) -> Result<bool> {
        let (learnt, epoch) = {
            let writer = self.writer();
            (Arc::clone(&writer.learnt), writer.withdrawals.epoch())
        };
        let lessons = self.read_lessons(learnt.cursor(), limit)?;
        if !lessons.is_empty() {
            let mut next = (*learnt).clone();
            next.follow(*self.learning_options.lock());
            next.judge_by(self.procedure_judge.lock().as_ref());
            for lesson in &lessons {
                next.learn(lesson, phi);
                self.step(LongWork::Learning);
            }
            let rows = next.take_rows();
            self.commit_learnt(next, epoch, rows)?;
        }
        Ok(lessons.len() < limit)
    }

    /// Commits a state that was learnt while the writer's epoch was `epoch`. What was hidden meanwhile is taken back from it
    /// too; `false` if it cannot take the place of the present state.
    pub(super) fn commit_learnt(&self, mut next: Learnt, epoch: u64, mut rows: Vec<LearntRow>) -> Result<bool> {
        // Dropped after the lock: it may be the last one to hold what is replaced.
        let before;
        let mut writer = self.writer();
        let Some(withdrawals) = writer.withdrawals.since(epoch) else { return Ok(false) };
        for withdrawal in withdrawals {
            next.withdraw(withdrawal);
            rows.extend(next.take_rows());
        }
        self.write_learnt(&mut writer, &rows, false)?;
        before = Arc::clone(&writer.learnt);
        self.add_news(&before, &mut next);
        writer.learnt = Arc::new(next);
        self.publish(&writer);
        Ok(true)
    }

    /// One transaction for rows alone.
    pub(super) fn write_learnt(&self, writer: &mut Writer, rows: &[LearntRow], durable: bool) -> Result<()> {
        self.commit(writer, |transaction, _| {
            if !durable {
                transaction.wait_for_no_disk()?;
            }
            write(&mut transaction.open_table(LEARNT)?, rows)
        })
    }

    /// Whether something can be taken back in no time; not so for a while after the memory was opened.
    pub(super) fn prepare_learnt(&self) {
        let before = Arc::clone(&self.writer().learnt);
        if before.is_prepared() {
            return;
        }
        let mut next = (*before).clone();
        next.prepare();
        let mut writer = self.writer();
        // Otherwise a slice was learnt meanwhile, which prepares too.
        if Arc::ptr_eq(&before, &writer.learnt) {
            writer.learnt = Arc::new(next);
            self.publish(&writer);
        }
    }

    /// Has everything learnt anew from the events.
    pub(crate) fn relearn(&self) -> Result<(), ObserveError> {
        let mut writer = self.writer();
        let mut next = (*writer.learnt).clone();
        next.set_stale();
        let rows = next.take_rows();
        self.write_learnt(&mut writer, &rows, true)?;
        writer.learnt = Arc::new(next);
        writer.withdrawals.restart();
        self.publish(&writer);
        Ok(())
    }

    /// Takes in what a person tells about an entity, durably.
    pub(crate) fn name_entity(&self, request: &NamingRequest) -> Result<Vec<Person>, NamingError> {
        let mut events = Vec::new();
        if let NamingRequest::Split { others, .. } = request {
            events.extend(others.iter().filter_map(|other| other.strip_prefix("ev-")?.parse().ok()).map(EventId));
        }
        let mut vectors = Vec::new();
        for event in events {
            let before = EventId(event.0.saturating_sub(1));
            let lesson =
                self.lessons(before, 1).map_err(ReadError::from)?.into_iter().find(|one| one.event.id == event);
            vectors.extend(lesson.into_iter().flat_map(|one| one.vectors).map(|vector| (event, vector)));
        }
        let mut writer = self.writer();
        let mut next = (*writer.learnt).clone();
        let persons = next.name(request, &vectors).map_err(NamingError::Invalid)?;
        let rows = next.take_rows();
        self.write_learnt(&mut writer, &rows, true).map_err(ObserveError::from)?;
        self.add_news(&writer.learnt, &mut next);
        writer.learnt = Arc::new(next);
        writer.withdrawals.restart();
        self.publish(&writer);
        Ok(persons)
    }

    /// Notes what listeners should hear of when `next` takes the place of `before`.
    pub(super) fn add_news(&self, before: &Learnt, next: &mut Learnt) {
        let (entities, procedures) = (next.take_news(), next.procedure_news(before));
        let mut news = self.news.lock();
        news.add_entities(entities);
        news.add_procedures(procedures);
    }

    /// News of persons since the last call.
    pub(crate) fn take_entity_news(&self) -> Vec<EntityNews> {
        self.news.lock().take_entities()
    }

    /// News of procedures since the last call.
    pub(crate) fn take_procedure_news(&self) -> Vec<ProcedureNews> {
        self.news.lock().take_procedures()
    }

    /// Lessons with what a language model reads out of them.
    pub(super) fn read_lessons(&self, after: EventId, limit: usize) -> Result<Vec<Lesson>> {
        let mut lessons = self.lessons(after, limit)?;
        let extractor = self.fact_extractor.lock().clone();
        if let Some(extractor) = extractor {
            for lesson in lessons.iter_mut().filter(|lesson| matches!(lesson.event.kind, Kind::Text | Kind::Caption)) {
                match extractor.extract(&lesson.event) {
                    Ok(statements) => lesson.statements = statements,
                    Err(error) => tracing::warn!(%error, event = %lesson.event.id, "only the rules read this event"),
                }
                // A model takes seconds.
                self.step(LongWork::Learning);
            }
        }
        Ok(lessons)
    }

    pub(crate) fn set_fact_extractor(&self, extractor: Option<Arc<dyn FactExtractor>>) {
        *self.fact_extractor.lock() = extractor;
    }

    pub(crate) fn set_procedure_judge(&self, judge: Option<Arc<dyn ProcedureJudge>>) {
        *self.procedure_judge.lock() = judge;
    }

    pub(crate) fn set_learning_options(&self, options: LearningOptions) {
        *self.learning_options.lock() = options;
    }

    /// Visible events after `after` with their vectors of the senses.
    fn lessons(&self, after: EventId, limit: usize) -> Result<Vec<Lesson>> {
        let view = self.view()?;
        let events = view.list_events(Some(after), limit)?;
        if events.iter().all(|event| event.origin == Origin::Told) {
            return Ok(events
                .into_iter()
                .map(|event| Lesson { event, vectors: Vec::new(), statements: Vec::new() })
                .collect());
        }
        let transaction = self.database.read()?;
        let spaces = sensed_spaces(&transaction)?;
        let table = transaction.open_table(VECTORS)?;
        let mut lessons = Vec::with_capacity(events.len());
        for event in events {
            let mut vectors = Vec::new();
            for (number, sensed, space) in &spaces {
                let Some(value) = table.get((*number, event.id.0))? else { continue };
                let vector =
                    if_sound(shared::open(&table, *number, event.id.0, space.dimensions, value.value()))?.flatten();
                vectors.extend(vector.map(|vector| SensedVector {
                    sensed: *sensed,
                    space: space.name.clone(),
                    vector,
                }));
            }
            lessons.push(Lesson { event, vectors, statements: Vec::new() });
        }
        Ok(lessons)
    }
}

/// One text's vector; none if φ is away or fails, which costs the procedures a little of their grouping.
pub(super) fn phi(embedder: Option<&dyn TextEmbedder>, text: &str) -> Option<Vec<f32>> {
    let vectors = embedder?.embed(&[text]);
    match vectors {
        Ok(mut vectors) => vectors.pop(),
        Err(error) => {
            tracing::debug!(%error, "a step is learnt without its vector");
            None
        }
    }
}

/// The numbered spaces of the senses.
fn sensed_spaces(transaction: &ReadTransaction) -> Result<Vec<(u32, crate::Sensed, Space)>> {
    let mut spaces = Vec::new();
    for entry in transaction.open_table(SPACES)?.iter()? {
        let (key, value) = entry?;
        let space = open_space(key.value(), value.value())?;
        spaces.extend(sensed_of(&space).map(|sensed| (key.value(), sensed, space)));
    }
    Ok(spaces)
}

impl View {
    /// Returns the learnt state as this reader sees it.
    pub(crate) fn learnt(&self) -> &Learnt {
        &self.published.learnt
    }
}
