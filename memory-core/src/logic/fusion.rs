//! Knowledge fusion (NS-Mem 4.2.3): merges procedures that are the same, and splits wordings that turn out to be two steps.
//!
//! Fusion pools observations, not conclusions. Sessions move with their actions, so transition counts add up, a step's Beta
//! parameters become α₁ + α₂ − α₀ (appendix A.4), and the graph is that of all sessions, without new edges. Every session
//! keeps its original words, so a fusion can be undone exactly.

use super::alignment::Alignment;
use super::memory::Phi;
use super::rows::RowKey;
use super::{Procedure, ProcedureId, Procedures, StepId};
use crate::EventId;
use crate::shared::Shared;

/// Why two procedures are not fused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FusionError {
    /// One of them is not there, both are the same, or the second one has a goal of its own that somebody told.
    #[error("{1} is no procedure without a told goal that {0} can take in")]
    Unknown(ProcedureId, ProcedureId),
    /// Too few steps of the smaller one have a partner in the other.
    #[error("{share:.2} of the steps of {from} are steps of {into}, and {least:.2} are needed: they are not one procedure",
        least = Alignment::MIN_OVERLAP)]
    BadAlignment {
        /// The procedure that is absorbed.
        from: ProcedureId,
        /// The procedure that absorbs it.
        into: ProcedureId,
        /// The share of common steps.
        share: f64,
    },
}

impl Procedures {
    /// Takes the sessions of `from` into `into`, if their steps align; `from` is gone afterwards, and `into` keeps its goal.
    /// Sessions in another order are variants and no hindrance.
    ///
    /// # Errors
    /// If one of them is unknown, `from` has a told goal, or too few steps correspond.
    pub(super) fn fuse(
        &mut self,
        into: ProcedureId,
        from: ProcedureId,
        phi: &Phi<'_>,
    ) -> Result<Alignment, FusionError> {
        let unknown = FusionError::Unknown(into, from);
        let (Some(one), Some(other)) = (self.procedures.get(&into), self.procedures.get(&from)) else {
            return Err(unknown);
        };
        if into == from || other.named {
            return Err(unknown);
        }
        let alignment = Alignment::between(one, other, self.options.alignment);
        if !alignment.is_good() {
            return Err(FusionError::BadAlignment { from, into, share: alignment.overlap });
        }
        self.pool(into, from, &alignment, phi);
        Ok(alignment)
    }

    /// Moves every session over, and joins the steps that the alignment says are one.
    pub(super) fn pool(&mut self, into: ProcedureId, from: ProcedureId, alignment: &Alignment, phi: &Phi<'_>) {
        let Some(other) = self.procedures.get(&from) else { return };
        let name = |id: StepId| other.step(id).map(|step| step.wordings.clone()).unwrap_or_default();
        let aliases: Vec<(StepId, Vec<String>)> = alignment.pairs.iter().map(|(to, of)| (*to, name(*of))).collect();
        let runs: Vec<EventId> = other.runs.keys().copied().collect();
        let Some(one) = self.procedures.get_mut(&into).map(Shared::change) else { return };
        for (step, wordings) in aliases {
            one.alias(step, wordings);
        }
        for run in runs {
            self.transfer(run, from, into, phi);
        }
        if let Some(empty) = self.procedures.remove(&from) {
            self.dirty.extend(RowKey::all_of(&empty));
        }
        if let Some(one) = self.procedures.get(&into) {
            self.dirty.extend(RowKey::all_of(one));
        }
        self.review(into, phi);
    }

    /// Parts wordings that were taken for one step, once a session does both: in one run they are two actions.
    pub(super) fn part_wordings(&mut self, id: ProcedureId, run: EventId, phi: &Phi<'_>) {
        let Some(procedure) = self.procedures.get_mut(&id).map(Shared::change) else { return };
        let before: Vec<(String, u32)> = weights(procedure);
        if !procedure.part(run, phi) {
            return;
        }
        for (key, sessions) in before {
            for number in 0..sessions {
                self.lexicon.remove(&key, id, number + 1 == sessions);
            }
        }
        for (key, sessions) in weights(procedure) {
            self.lexicon.add(&key, id, sessions);
        }
        self.dirty.extend(RowKey::all_of(procedure));
    }
}

/// Per step in use its key and its number of sessions.
fn weights(procedure: &Procedure) -> Vec<(String, u32)> {
    let used = procedure.steps.iter().filter(|step| step.sessions > 0);
    used.map(|step| (step.key().to_owned(), step.sessions)).collect()
}
