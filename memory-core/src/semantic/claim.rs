//! A claim: what one event says about one attribute of one subject.

use serde::{Deserialize, Serialize};

use super::text::Noun;
use crate::EventId;

/// What kind of knowledge a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactKind {
    /// Where something is. One at a time.
    Place,
    /// How something is: its colour, its state, any attribute with one value at a time.
    Property,
    /// What somebody or something stands to; several at a time.
    Relation,
    /// Who did something, occurrence by occurrence.
    Deed,
}

/// What a fact tells of its subject.
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

    /// As it is shown.
    pub fn name(&self) -> &str {
        match self {
            Self::Place => "place",
            Self::Colour => "colour",
            Self::State(_) => "state",
            Self::Named(name) | Self::Relation(name, _) | Self::Deed(name) => name,
        }
    }
}

/// What a claim is about: facts of one topic are learnt from its claims and from nothing else.
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
    /// It is so.
    Affirms,
    /// It is not so.
    Denies,
    /// It was so and is no more.
    Ends,
}

/// What one event says about a topic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Claim {
    /// From when on it holds, microseconds.
    pub from: i64,
    pub event: EventId,
    /// Until when, where the event says so.
    pub until: Option<i64>,
    /// The event that tells who "he" is.
    pub context: Option<EventId>,
    pub stance: Stance,
    /// The value as it is shown; of a deed, who did it, or nothing.
    pub value: Box<str>,
    /// Where it was, if the event says so.
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
