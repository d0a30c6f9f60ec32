//! A claim: what one event says about one attribute of one subject.

use serde::{Deserialize, Serialize};

use super::text::Noun;
use crate::EventId;

/// Kind of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// Place of a thing or a person. One at a time.
    Place,
    /// How something is: its colour, its state, any attribute with one value at a time.
    Property,
    /// Relation of the subject to something; several at a time.
    Relation,
    /// Deed, occurrence by occurrence; the value is who did it.
    Deed,
}

/// Attribute of a subject.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Attribute {
    Place,
    Colour,
    /// A group of states that exclude each other.
    State(Box<str>),
    /// Any attribute with one value at a time, by its stems.
    Named(Box<str>),
    /// A verb's stem and the value's stems: several hold at a time, each for itself.
    Relation(Box<str>, Box<str>),
    /// A verb's stem; the subject is what it was done to.
    Deed(Box<str>),
}

impl Attribute {
    pub fn kind(&self) -> FactKind {
        match self {
            Self::Place => FactKind::Place,
            Self::Colour | Self::State(_) | Self::Named(_) => FactKind::Property,
            Self::Relation(..) => FactKind::Relation,
            Self::Deed(_) => FactKind::Deed,
        }
    }

    /// Returns the displayed name.
    pub fn name(&self) -> &str {
        match self {
            Self::Place => "place",
            Self::Colour => "colour",
            Self::State(_) => "state",
            Self::Named(name) | Self::Relation(name, _) | Self::Deed(name) => name,
        }
    }
}

/// Key of a topic. The facts of a topic are learnt from its claims and from nothing else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct TopicKey {
    /// The stem by which the subject is looked up; first, so that topics of one head lie together.
    pub head: Box<str>,
    /// All stems of the subject.
    pub subject: Box<str>,
    pub attribute: Attribute,
}

/// How a claim stands to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Stance {
    /// The value holds.
    Affirms,
    /// The value does not hold.
    Denies,
    /// The value held and holds no more.
    Ends,
}

/// Statement of one event about a topic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Claim {
    /// Begin of its validity, in microseconds.
    pub from: i64,
    pub event: EventId,
    /// End of its validity, if the event tells it.
    pub until: Option<i64>,
    /// The event that tells who "he" is.
    pub context: Option<EventId>,
    pub stance: Stance,
    /// The value as it is shown; of a deed, who did it, or nothing.
    pub value: Box<str>,
    /// Place of the deed, if the event tells it.
    pub place: Option<Box<str>>,
}

/// A claim and what it is about, as the rules read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conclusion {
    pub subject: Noun,
    pub attribute: Attribute,
    pub claim: Claim,
}

impl Conclusion {
    pub fn topic(&self) -> TopicKey {
        TopicKey {
            head: self.subject.head.as_str().into(),
            subject: self.subject.key.as_str().into(),
            attribute: self.attribute.clone(),
        }
    }
}
