//! The index from steps to procedures, with the idf weight of each step.

use std::collections::BTreeSet;

use super::ProcedureId;
use crate::sharded::{Sharded, spread_bytes};

/// Steps by their normalised text. Derived from the procedures, never stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Lexicon {
    /// Clones share what neither has changed: learning begins each slice with one.
    entries: Sharded<String, LexiconEntry>,
    /// Number of sessions.
    pub sessions: u32,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct LexiconEntry {
    sessions: u32,
    procedures: BTreeSet<ProcedureId>,
}

impl Lexicon {
    fn entry(&self, key: &str) -> Option<&LexiconEntry> {
        self.entries.shard(spread_bytes(key.as_bytes())).get(key)
    }

    /// ln(1 + sessions / sessions with the step); that of a single session for a step that none has.
    pub fn idf(&self, key: &str) -> f64 {
        let with = self.entry(key).map_or(1, |entry| entry.sessions.max(1));
        (1.0 + f64::from(self.sessions) / f64::from(with)).ln()
    }

    /// The procedures with a step of that wording.
    pub fn procedures(&self, key: &str) -> impl Iterator<Item = ProcedureId> + '_ {
        self.entry(key).into_iter().flat_map(|entry| entry.procedures.iter().copied())
    }

    /// `sessions` more sessions have the step, in `procedure`.
    pub fn add(&mut self, key: &str, procedure: ProcedureId, sessions: u32) {
        let entry = self.entries.shard_mut(spread_bytes(key.as_bytes())).entry(key.to_owned()).or_default();
        entry.sessions += sessions;
        entry.procedures.insert(procedure);
    }

    /// One session less has the step; `last`: it was the last one of `procedure`.
    pub fn remove(&mut self, key: &str, procedure: ProcedureId, last: bool) {
        let shard = self.entries.shard_mut(spread_bytes(key.as_bytes()));
        let Some(entry) = shard.get_mut(key) else { return };
        entry.sessions = entry.sessions.saturating_sub(1);
        if last {
            entry.procedures.remove(&procedure);
            if entry.procedures.is_empty() && entry.sessions == 0 {
                shard.remove(key);
            }
        }
    }
}
