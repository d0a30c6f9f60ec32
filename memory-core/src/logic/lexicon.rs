//! Which procedures know a step, and how telling it is.

use std::collections::{BTreeMap, BTreeSet};

use super::ProcedureId;

/// Steps by their normalised text. Derived from the procedures, never stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Lexicon {
    entries: BTreeMap<String, Entry>,
    /// Number of sessions.
    pub sessions: u32,
}

#[derive(Debug, Clone, PartialEq, Default)]
struct Entry {
    sessions: u32,
    procedures: BTreeSet<ProcedureId>,
}

impl Lexicon {
    /// ln(1 + sessions / sessions with the step); that of a single session for a step that none has.
    pub fn idf(&self, key: &str) -> f64 {
        let with = self.entries.get(key).map_or(1, |entry| entry.sessions.max(1));
        (1.0 + f64::from(self.sessions) / f64::from(with)).ln()
    }

    /// The procedures with a step of that wording.
    pub fn procedures(&self, key: &str) -> impl Iterator<Item = ProcedureId> + '_ {
        self.entries.get(key).into_iter().flat_map(|entry| entry.procedures.iter().copied())
    }

    /// `sessions` more sessions have the step, in `procedure`.
    pub fn add(&mut self, key: &str, procedure: ProcedureId, sessions: u32) {
        let entry = self.entries.entry(key.to_owned()).or_default();
        entry.sessions += sessions;
        entry.procedures.insert(procedure);
    }

    /// One session less has the step; `last`: it was the last one of `procedure`.
    pub fn remove(&mut self, key: &str, procedure: ProcedureId, last: bool) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.sessions = entry.sessions.saturating_sub(1);
        if last {
            entry.procedures.remove(&procedure);
            if entry.procedures.is_empty() && entry.sessions == 0 {
                self.entries.remove(key);
            }
        }
    }
}
