//! What a layer of the memory proposes as an answer.

use super::pool::RetrievedEvent;
use crate::TimeSpan;

/// The layer that a candidate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    Episodes,
    Facts,
    Procedures,
    Gists,
    CrossModal,
    /// A choice among options, whatever layer speaks for it.
    Options,
}

impl Layer {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Episodes => "episodes",
            Self::Facts => "facts",
            Self::Procedures => "procedures",
            Self::Gists => "gists",
            Self::CrossModal => "cross_modal",
            Self::Options => "options",
        }
    }
}

/// What an answer says, in a form that can be compared with an option.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Words.
    Text(String),
    /// Times, in order.
    Times(Vec<TimeSpan>),
    /// A number with its unit, which may be empty.
    Number(f64, String),
    /// Yes or no.
    Truth(bool),
    /// Several things.
    List(Vec<String>),
}

/// What speaks for a candidate; each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Signals {
    /// The share of the question's content that its evidence holds.
    pub coverage: f32,
    /// How near in meaning the evidence is; 0 without φ.
    pub cosine: f32,
    /// How far it stands out from the next.
    pub margin: f32,
    /// Whether it has the kind of answer that was asked for, or only quotes.
    pub fits: f32,
    /// How surely the thing that was named is the thing that was found.
    pub thing: f32,
    /// The share of the question's content that any memory holds.
    pub known: f32,
}

impl Candidate {
    /// An answer that was computed from several events, and is no part of one: how well a single one suits says nothing of it.
    pub fn computed(
        layer: Layer,
        text: String,
        value: Value,
        evidence: Vec<RetrievedEvent>,
        known: f32,
        reason: String,
    ) -> Self {
        let signals = Signals { coverage: 1.0, cosine: 0.5, margin: 1.0, fits: 1.0, thing: 1.0, known };
        Self { layer, text, value, evidence, signals, confidence: 0.0, reason }
    }
}

/// A proposed answer.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub layer: Layer,
    /// As it is told.
    pub text: String,
    pub value: Value,
    /// Best first.
    pub evidence: Vec<RetrievedEvent>,
    pub signals: Signals,
    /// The probability that it is right, once it is calibrated.
    pub confidence: f32,
    /// Why it was proposed, in a few words.
    pub reason: String,
}
