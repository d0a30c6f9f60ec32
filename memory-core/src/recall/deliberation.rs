//! What a question was decided among, for a language model that decides among the same.
//!
//! A model chooses one of the proposals and names the evidence that it goes by. It adds nothing: the words of the answer are
//! those of the proposal, or pass the check of `language::english::wording`. So nothing that was heard, read or told can put
//! words into an answer by giving orders to a model.

use super::answerers::quote;
use super::candidate::{Candidate, Layer, Signals};
use super::gather::Gathered;
use super::likeness::best_in;
use super::pool::Found;
use super::question::Question;
use super::{calibration, cited, route};
use crate::language::english::wording;
use crate::{Answer, EventId, Evidence, Route};

/// Most proposals, options apart.
const MOST_PROPOSALS: usize = 8;
/// Most items of evidence of one proposal.
const MOST_EVIDENCE: usize = 4;

/// An answer that the memory can give.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// As it is told.
    pub text: String,
    /// The option that it is, where there are options.
    pub choice: Option<usize>,
    /// Which part of the memory it comes from.
    pub route: Route,
    /// The probability that it is right, without a language model.
    pub confidence: f32,
    /// What speaks for it, best first; never empty.
    pub evidence: Vec<Evidence>,
}

/// An answer together with what it was chosen from.
#[derive(Debug, Clone, PartialEq)]
pub struct Deliberation {
    /// The answer without a language model.
    pub answer: Answer,
    /// The answers that the memory can give, best first. With options: one per option, in their order.
    pub proposals: Vec<Proposal>,
    /// The question in plain words.
    pub question: String,
    /// Items of evidence that an answer carries.
    pub limit: usize,
}

/// Why a verdict was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerdictError {
    /// The proposal does not exist.
    #[error("it chose an answer that was not proposed")]
    NotProposed,
    /// No evidence was named.
    #[error("it named no evidence")]
    NoEvidence,
    /// Evidence was named that does not belong to the proposal.
    #[error("it named evidence that it was not given")]
    NotGiven,
}

impl Deliberation {
    /// The answer that a proposal makes, with `named` as its first evidence. The words of the proposal are kept unless
    /// `wording` says the same in other words; the flag is whether it does.
    ///
    /// # Errors
    /// If the proposal or the evidence was not among what was proposed.
    pub fn chosen(
        &self,
        proposal: usize,
        named: &[EventId],
        wording: Option<&str>,
    ) -> Result<(Answer, bool), VerdictError> {
        let proposal = self.proposals.get(proposal).ok_or(VerdictError::NotProposed)?;
        if named.is_empty() {
            return Err(VerdictError::NoEvidence);
        }
        let known: Vec<&Evidence> = self.proposals.iter().flat_map(|one| &one.evidence).collect();
        let mut evidence: Vec<Evidence> = Vec::new();
        for id in named {
            let item = known.iter().find(|item| item.event == *id).ok_or(VerdictError::NotGiven)?;
            if evidence.iter().all(|one| one.event != *id) {
                evidence.push((*item).clone());
            }
        }
        for item in proposal.evidence.iter().chain(&self.answer.evidence) {
            if evidence.iter().all(|one| one.event != item.event) {
                evidence.push(item.clone());
            }
        }
        evidence.truncate(self.limit);
        for (rank, item) in evidence.iter_mut().enumerate() {
            item.score = super::score(rank);
        }
        let reworded = wording.filter(|_| proposal.choice.is_none());
        let reworded = reworded.filter(|text| wording::says_the_same(text, &proposal.text, &self.question));
        let answer = Answer {
            answer: Some(reworded.unwrap_or(&proposal.text).to_owned()),
            choice: proposal.choice,
            confidence: proposal.confidence,
            route: proposal.route,
            evidence,
            ..self.answer.clone()
        };
        Ok((answer, reworded.is_some()))
    }

    /// The answer where none of the proposals answers the question.
    pub fn declined(&self, reason: String) -> Answer {
        Answer { answer: None, choice: None, route: Route::None, reason, ..self.answer.clone() }
    }
}

/// The proposals of an open question: the candidates of every layer, then what the search found, as it stands.
pub(super) fn of_candidates(candidates: &[Candidate], gathered: &Gathered, question: &Question<'_>) -> Vec<Proposal> {
    let mut proposals: Vec<Proposal> = Vec::new();
    let quotes = gathered.found.iter().map(|found| quote(found, question));
    for candidate in candidates.iter().cloned().chain(quotes) {
        if proposals.len() == MOST_PROPOSALS {
            break;
        }
        let known = proposals.iter().any(|one| one.text == candidate.text);
        if !known && !candidate.evidence.is_empty() && !candidate.text.is_empty() {
            proposals.push(Proposal {
                text: candidate.text,
                choice: None,
                route: route(candidate.layer),
                confidence: candidate.confidence,
                evidence: shown(candidate.evidence),
            });
        }
    }
    proposals
}

/// One proposal per option. Any of the evidence may speak for any of them, which is for the model to say.
pub(super) fn of_options(
    options: &[String],
    confidences: &[f32],
    evidence: &[Found],
    layer: Option<Layer>,
) -> Vec<Proposal> {
    let evidence: Vec<Evidence> = shown_up_to(evidence.to_vec(), 2 * MOST_EVIDENCE);
    if evidence.is_empty() {
        return Vec::new();
    }
    let proposed = options.iter().enumerate().map(|(choice, option)| Proposal {
        text: option.clone(),
        choice: Some(choice),
        route: route(layer.unwrap_or(Layer::Episodes)),
        confidence: confidences.get(choice).copied().unwrap_or(0.0),
        evidence: evidence.clone(),
    });
    proposed.collect()
}

fn shown(evidence: Vec<Found>) -> Vec<Evidence> {
    shown_up_to(evidence, MOST_EVIDENCE)
}

fn shown_up_to(evidence: Vec<Found>, most: usize) -> Vec<Evidence> {
    evidence.into_iter().take(most).enumerate().map(|(rank, found)| cited(found, rank)).collect()
}

/// An event as an answer of its own.
fn quote(found: &Found, question: &Question<'_>) -> Candidate {
    let text = quote::quote(found, question);
    let signals = Signals {
        coverage: found.coverage.of_content,
        cosine: found.cosine.unwrap_or(0.0),
        margin: 0.0,
        fits: quote::quoted(question),
        thing: question.named.iter().map(|thing| best_in(thing, &found.reading)).fold(0.0, f32::max),
        known: question.content.known(),
    };
    Candidate {
        layer: Layer::Episodes,
        value: super::candidate::Value::Text(text.clone()),
        text,
        evidence: vec![found.clone()],
        confidence: calibration::probability(Layer::Episodes, &signals),
        signals,
        reason: String::new(),
    }
}
