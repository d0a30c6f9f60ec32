//! The logic layer (NS-Mem 4.1, 4.2): procedures learned from actions.
//!
//! Actions become sessions, sessions of one goal become a [`Procedure`], and a procedure holds a [`Dag`] of steps with
//! counts, posterior probabilities and the evidence behind them. Everything here is pure: no store, no thread, no clock,
//! no model. The same actions in the same order give the same procedures, byte for byte.

mod action;
mod alignment;
mod beta;
mod bounds;
mod chain;
mod dag;
pub mod draw;
mod embedding;
mod evidence;
mod extract;
mod fusion;
mod grouping;
mod lexicon;
mod memory;
mod options;
mod parting;
mod prefix_span;
mod procedure;
mod prototype;
pub mod query;
pub(crate) mod requests;
mod rows;
mod run;
mod sessions;
mod step;
mod traces;
mod verify;

#[cfg(test)]
mod maintenance_tests;
#[cfg(test)]
mod tests;

pub use action::{Action, ActionOutcome, normalise};
pub use alignment::{Alignment, assign};
pub use beta::Beta;
pub use chain::Absorption;
pub use dag::{Dag, Edge, Node, NodeId};
pub use embedding::Embedding;
pub use evidence::GoalLikeness;
pub use extract::actions_of;
pub use fusion::FusionError;
pub use memory::{Phi, Procedures};
pub use options::LogicOptions;
pub use prefix_span::{Mining, Output, Pattern, Patterns};
pub use procedure::{Procedure, ProcedureId, Variant};
pub use prototype::{Prototype, PrototypeIndex};
pub use rows::{RowError, RowKey};
pub use run::Run;
pub use step::{Step, StepAttributes, StepId};
pub use verify::{ACCEPT_SCORE, Verification};
