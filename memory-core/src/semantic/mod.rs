//! Semantic memory: what is held to be so, with the time for which it was (NS-Mem 4.1, the semantic layer).
//!
//! ```text
//! event ─▶ rules (`extract`, `context`) ─▶ claims ─▶ topics (`facts`) ─▶ facts with intervals (`fact`) ─▶ `lookup`
//! ```
//!
//! A *claim* is what one event says of one attribute of one subject. Claims of one subject and attribute are a *topic*, and a
//! topic's *facts* follow from its claims alone. So a repeated claim can only reinforce; a corrected or forgotten one takes
//! all that it did with it; a late one with an old time falls into its place; and what comes back after an interruption is a
//! second interval, not one that never ended.

mod claim;
mod context;
mod extract;
mod fact;
mod facts;
mod lexicon;
mod lookup;
mod text;

#[cfg(test)]
mod tests;

pub use claim::FactKind;
pub use fact::Fact;

pub(crate) use claim::TopicKey;
pub(crate) use context::Context;
pub(crate) use extract::{conclusions, stated};
pub(crate) use facts::{Facts, Topic};
pub(crate) use lookup::{Ask, FactQuestion, FactsFound, same_state};
pub(crate) use text::Noun;
