//! The learned state as rows of the store, and back.

use serde::{Deserialize, Serialize};

use super::{Learnt, LearntHead};
use crate::episodic::anchors::{AnchorRow, Margin};
use crate::learning::rows::{LearntPart, LearntRow, REPLACING, decode};
use crate::logic::{LogicOptions, Procedures, RowKey};
use crate::semantic::{Context1, FactTopic, TopicKey};
use crate::shared::Shared;
use crate::{AnchorId, EventId};

/// The first version of [`LearntHead`].
#[derive(Serialize, Deserialize)]
struct Head1 {
    cursor: EventId,
    stale: bool,
    next_naming: u64,
    context: Context1,
    margin: Margin,
}

impl From<Head1> for LearntHead {
    fn from(Head1 { cursor, stale, next_naming, context, margin }: Head1) -> Self {
        Self { cursor, stale, next_naming, context: context.up_to(cursor), margin }
    }
}
impl Learnt {
    fn head_row(&self) -> LearntRow {
        let head = LearntHead { margin: self.anchors.margin(), ..self.head.clone() };
        LearntRow::new(LearntPart::Head, &(), Some(&head))
    }

    /// The rows that changed since the last call.
    pub(crate) fn take_rows(&mut self) -> Vec<LearntRow> {
        let topics = self.facts.take_changed();
        let mut rows: Vec<LearntRow> =
            topics.iter().map(|(key, topic)| LearntRow::new(LearntPart::Topic, &**key, topic.as_deref())).collect();
        let (anchors, tracks) = self.anchors.take_changed();
        rows.extend(anchors.iter().map(|(id, row)| LearntRow::new(LearntPart::Anchor, id, row.as_deref())));
        rows.extend(tracks.iter().map(|(track, anchor)| LearntRow::new(LearntPart::Track, track, anchor.as_ref())));
        for number in std::mem::take(&mut self.changed_namings) {
            rows.push(LearntRow::new(LearntPart::Naming, &number, self.namings.get(&number)));
        }
        for event in std::mem::take(&mut self.changed_withdrawn) {
            rows.push(LearntRow::new(
                LearntPart::Withdrawn,
                &event,
                self.procedures.withdrawn().contains(&event).then_some(&()),
            ));
        }
        if self.procedures.has_changed() {
            for key in self.procedures.change().changed() {
                let payload = self.procedures.row(key);
                rows.push(LearntRow { part: LearntPart::Procedure, key: key.to_bytes().to_vec(), payload });
            }
        }
        if std::mem::take(&mut self.head_changed) {
            rows.push(self.head_row());
        }
        rows
    }

    /// Every row of this state.
    pub(crate) fn all_rows(&self) -> impl Iterator<Item = LearntRow> {
        let topics =
            self.facts.all().into_iter().map(|(key, topic)| LearntRow::new(LearntPart::Topic, key, Some(topic)));
        let anchors = self.anchors.rows().map(|(id, row)| LearntRow::new(LearntPart::Anchor, id, Some(row)));
        let tracks =
            self.anchors.track_rows().map(|(track, anchor)| LearntRow::new(LearntPart::Track, track, Some(anchor)));
        let namings =
            self.namings.iter().map(|(number, naming)| LearntRow::new(LearntPart::Naming, number, Some(naming)));
        let procedures = self.procedures.rows().into_iter().map(|key| LearntRow {
            part: LearntPart::Procedure,
            key: key.to_bytes().to_vec(),
            payload: self.procedures.row(key),
        });
        let withdrawn =
            self.procedures.withdrawn().iter().map(|event| LearntRow::new(LearntPart::Withdrawn, event, Some(&())));
        let rows = topics.chain(anchors).chain(tracks).chain(namings).chain(procedures).chain(withdrawn);
        std::iter::once(self.head_row()).chain(rows)
    }

    /// The head as its first version was stored.
    #[cfg(test)]
    pub(crate) fn head_1(&self) -> Vec<u8> {
        let LearntHead { cursor, stale, next_naming, context, .. } = self.head.clone();
        let margin = self.anchors.margin();
        crate::learning::rows::encode(&Head1 { cursor, stale, next_naming, context: context.into(), margin })
    }

    /// Takes in the head as its first version was stored.
    pub(crate) fn restore_head_1(&mut self, payload: &[u8]) -> Result<(), String> {
        self.head = decode::<Head1>(payload)?.into();
        self.anchors.restore_margin(std::mem::take(&mut self.head.margin));
        Ok(())
    }

    /// Takes in a row that was stored; the error says what is wrong with it. After the last one comes
    /// [`finish_restoring`](Self::finish_restoring).
    pub(crate) fn restore(&mut self, part: LearntPart, key: &[u8], payload: &[u8]) -> Result<(), String> {
        match part {
            LearntPart::Head => {
                decode::<()>(key)?;
                self.head = decode(payload)?;
                self.anchors.restore_margin(std::mem::take(&mut self.head.margin));
            }
            LearntPart::Topic => {
                let (key, topic): (TopicKey, FactTopic) = (decode(key)?, decode(payload)?);
                self.facts.restore(key, topic);
            }
            LearntPart::Anchor => {
                let (id, row): (AnchorId, AnchorRow) = (decode(key)?, decode(payload)?);
                self.anchors.restore(id, row)?;
            }
            LearntPart::Track => self.anchors.restore_track(decode(key)?, decode(payload)?),
            LearntPart::Naming => drop(self.namings.change().insert(decode(key)?, decode(payload)?)),
            LearntPart::Procedure => {
                let key = RowKey::from_bytes(key).map_err(|error| error.to_string())?;
                self.procedure_rows.push((key, payload.to_vec()));
            }
            LearntPart::Withdrawn => {
                decode::<()>(payload)?;
                self.withdrawn_rows.insert(decode(key)?);
            }
        }
        Ok(())
    }

    /// Puts procedures together from their rows. Where a new fold was about to replace them, some are of the one and some of
    /// the other: then everything is folded anew.
    pub(crate) fn finish_restoring(&mut self) -> Result<(), String> {
        let rows = std::mem::take(&mut self.procedure_rows);
        let withdrawn = std::mem::take(&mut self.withdrawn_rows);
        if withdrawn.contains(&REPLACING) {
            self.set_stale();
            return Ok(());
        }
        // Those of which nothing is held are not kept.
        self.changed_withdrawn.extend(withdrawn.iter().copied());
        if !rows.is_empty() {
            let procedures = Procedures::from_rows(LogicOptions::default(), rows);
            self.procedures = Shared::new(procedures.map_err(|error| error.to_string())?);
        }
        if !withdrawn.is_empty() {
            self.procedures.change().conceal(withdrawn);
        }
        Ok(())
    }
}
