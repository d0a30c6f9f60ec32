//! Semantic memory: facts with the intervals in which they hold (NS-Mem 4.1, the semantic layer).
//!
//! ```text
//! event ─▶ rules (`extract`, `context`) ─▶ claims ─▶ topics (`facts`) ─▶ facts with intervals (`fact`) ─▶ `lookup`
//! ```
//!
//! A *claim* is what one event says of one attribute of one subject. Claims of one subject and attribute are a *topic*, and a
//! topic's *facts* follow from its claims alone. So a repeated claim can only reinforce. A corrected or forgotten claim loses
//! its whole effect. A late claim with an old time goes to its place. A value that returns after an interruption starts a
//! second interval.

mod claim;
mod context;
#[cfg(test)]
mod context_tests;
mod edges;
mod extract;
mod fact;
mod facts;
mod lexicon;
mod lookup;
mod text;

#[cfg(test)]
mod edges_tests;
#[cfg(test)]
mod tests;

pub use claim::FactKind;
pub use edges::EdgeRole;
pub use fact::Fact;

pub(crate) use claim::TopicKey;
pub(crate) use context::{Context1, MentionContext};
pub(crate) use extract::{conclusions, is_read, stated};
pub(crate) use facts::{FactTopic, Facts};
pub(crate) use lookup::{Ask, FactQuestion, FactsFound, same_state};
pub(crate) use text::Noun;
