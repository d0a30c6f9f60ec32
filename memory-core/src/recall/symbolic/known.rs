//! The procedures that a reader's memory holds.

use crate::Event;
use crate::logic::{Embedding, Procedure, ProcedureId, Procedures};
use crate::recall::Reader;

/// The procedures of one consistent state; none where nothing learns.
pub(super) struct Known<'a> {
    procedures: Option<&'a Procedures>,
    reader: &'a dyn Reader,
}

impl<'a> Known<'a> {
    pub fn of(reader: &'a dyn Reader) -> Self {
        Self { procedures: reader.procedures(), reader }
    }

    pub fn is_empty(&self) -> bool {
        self.procedures().next().is_none()
    }

    /// The established ones, by id.
    pub fn procedures(&self) -> impl Iterator<Item = &'a Procedure> + use<'a> {
        self.procedures.into_iter().flat_map(Procedures::iter)
    }

    /// Every group of sessions, candidates included.
    pub fn all(&self) -> impl Iterator<Item = &'a Procedure> + use<'a> {
        self.procedures().chain(self.procedures.into_iter().flat_map(Procedures::candidates))
    }

    /// Those that are listed: the established ones, and candidates that were told or were seen more than once.
    pub fn listed(&self) -> impl Iterator<Item = &'a Procedure> + use<'a> {
        self.all().filter(is_listed)
    }

    pub fn by_id(&self, id: ProcedureId) -> Option<&'a Procedure> {
        self.procedures?.get(id).filter(is_listed)
    }

    pub fn by_goal(&self, goal: &str) -> Option<&'a Procedure> {
        self.procedures?.by_goal(goal)
    }

    /// φ of a text, if φ is there and works.
    pub fn embedding(&self, text: &str) -> Option<Embedding> {
        let vectors = self.reader.embedder()?.embed(&[text]).ok()?;
        Embedding::from_vector(vectors.first()?)
    }
}

/// What was seen once and nobody named is no more than what somebody did.
fn is_listed(procedure: &&Procedure) -> bool {
    procedure.is_established() || procedure.is_named() || procedure.sessions() > 1
}

/// The sender's own id of an observation, or the event's.
pub(super) fn sender(event: &Event) -> String {
    event.sender_id.clone().unwrap_or_else(|| event.id.to_string())
}
