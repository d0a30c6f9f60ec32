//! The procedures of the reader's memory.

use crate::Event;
use crate::logic::{Embedding, Procedure, ProcedureId, Procedures};
use crate::recall::Reader;

/// The procedures of one consistent view. Empty without learning.
pub(super) struct KnownProcedures<'a> {
    procedures: Option<&'a Procedures>,
    reader: &'a dyn Reader,
}

impl<'a> KnownProcedures<'a> {
    pub fn new(reader: &'a dyn Reader) -> Self {
        Self { procedures: reader.procedures(), reader }
    }

    pub fn is_empty(&self) -> bool {
        self.established().next().is_none()
    }

    /// Returns the established procedures, by id.
    pub fn established(&self) -> impl Iterator<Item = &'a Procedure> + use<'a> {
        self.procedures.into_iter().flat_map(Procedures::iter)
    }

    /// Returns every group of sessions, including candidates.
    pub fn all(&self) -> impl Iterator<Item = &'a Procedure> + use<'a> {
        self.established().chain(self.procedures.into_iter().flat_map(Procedures::candidates))
    }

    /// Returns the procedures that are listed: the established ones, and candidates that were told or observed more
    /// than once.
    pub fn listed(&self) -> impl Iterator<Item = &'a Procedure> + use<'a> {
        self.all().filter(is_listed)
    }

    pub fn by_id(&self, id: ProcedureId) -> Option<&'a Procedure> {
        self.procedures?.get(id).filter(is_listed)
    }

    pub fn by_goal(&self, goal: &str) -> Option<&'a Procedure> {
        self.procedures?.by_goal(goal)
    }

    /// Returns φ of a text, if φ is available and works.
    pub fn embedding(&self, text: &str) -> Option<Embedding> {
        let vectors = self.reader.embedder()?.embed(&[text]).ok()?;
        Embedding::from_vector(vectors.first()?)
    }
}

/// Returns whether a procedure is listed. A deed that was observed once and has no name is no procedure.
fn is_listed(procedure: &&Procedure) -> bool {
    procedure.is_established() || procedure.is_named() || procedure.sessions() > 1
}

/// Returns the sender's id of an observation, else the id of the event.
pub(super) fn sender_id(event: &Event) -> String {
    event.sender_id.clone().unwrap_or_else(|| event.id.to_string())
}
