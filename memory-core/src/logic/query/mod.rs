//! Symbolic queries over procedures (NS-Mem 4.3.3): a question with an exact answer, read off the graph and the sessions
//! behind it.
//!
//! Every query is a pure function of the procedures and its input: no model, no clock, no order of hashing (Theorem 3 of
//! the paper). Each is bounded: best first, and cut short rather than exponential.
//!
//! | query | answers |
//! |---|---|
//! | [`Goals`], [`list`] | which procedure a goal means |
//! | [`paths`], [`paths_from`] | the ways to a goal under constraints (`queryStepSequence`) |
//! | [`next_steps`] | what comes next |
//! | [`missing`] | what is still to be done, and with what |
//! | [`stand_ins`] | replacements for a thing that is not available |
//! | [`behaviours`] | what a person does (`aggregateCharacterBehaviors`) |
//!
//! `getProcedureWithEvidence` is [`Goals::find`] with the procedure's own graph and runs.

mod behaviours;
mod constraint;
mod find;
mod missing;
mod next;
mod paths;
mod search;
mod stand_ins;
mod words;

#[cfg(test)]
mod tests;

pub use behaviours::{Behaviour, behaviours};
pub use constraint::{ConstraintError, Constraints};
pub use find::{Goals, Match, list};
pub use missing::{Missing, Needed, missing, things};
pub use next::{NextStep, next_steps, next_steps_besides};
pub use paths::{Path, Paths, paths, paths_from};
pub use stand_ins::{StandIns, Swap, stand_ins};
pub use words::{Part, Phrase};
pub(crate) use words::{Stems, StepWords};
