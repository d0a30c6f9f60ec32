//! Candidates: the answers that the layers of the memory propose.

use super::pool::RetrievedEvent;
use crate::TimeSpan;

/// The layer that proposed a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    Episodes,
    Facts,
    Procedures,
    Gists,
    CrossModal,
    /// What a trained reader marked in a text.
    Read,
    /// A choice among options, on the evidence of any layer.
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
            Self::Read => "read",
            Self::Options => "options",
        }
    }
}

/// The content of an answer in a form that can be compared with an option.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CandidateValue {
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

/// Features of a candidate, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Signals {
    /// Share of the question's content that its evidence covers.
    pub coverage: f32,
    /// Similarity of the evidence in meaning. 0 without φ.
    pub cosine: f32,
    /// Lead over the next candidate.
    pub margin: f32,
    /// Fit to the requested kind of answer. Low for a mere quotation.
    pub fits: f32,
    /// Certainty that the thing in the evidence is the named one.
    pub thing: f32,
    /// Share of the question's content that the memory holds.
    pub known: f32,
}

impl Candidate {
    /// Returns an answer that was computed from several events. The fit of a single event says nothing about it.
    pub fn computed(
        layer: Layer,
        text: String,
        value: CandidateValue,
        evidence: Vec<RetrievedEvent>,
        known: f32,
        reason: String,
    ) -> Self {
        let signals = Signals { coverage: 1.0, cosine: 0.5, margin: 1.0, fits: 1.0, thing: 1.0, known };
        Self { layer, text, value, evidence, signals, confidence: 0.0, computed: true, reason }
    }
}

/// A proposed answer.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub layer: Layer,
    /// The answer in words.
    pub text: String,
    pub value: CandidateValue,
    /// Supporting events, best first.
    pub evidence: Vec<RetrievedEvent>,
    pub signals: Signals,
    /// Probability that the answer is right, once calibrated.
    pub confidence: f32,
    /// Whether it follows from the order of several events, or from comparing them: no single event says it. A mere count
    /// does not: in speech it is often wrong, and a reader of the single events notices.
    pub computed: bool,
    /// Why it was proposed, in a few words.
    pub reason: String,
}
