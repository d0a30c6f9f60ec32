//! Candidates and passages for a language model that chooses an answer.
//!
//! A model chooses one of the proposals, or reads the answer in passages, and names its evidence. The words of the
//! answer are those of the proposal or of the named evidence (`language::english::wording`). An instruction that was
//! heard, read or told can therefore only be quoted, together with its sentence.

use std::time::Duration;

use jiff::Zoned;

use super::answerers::quote;
use super::candidate::{Candidate, Layer, Signals};
use super::likeness::best_phrase_similarity;
use super::pool::{EventPool, RetrievedEvent};
use super::question::{Question, intersection};
use super::retrieval::RetrievedEvents;
use super::{calibration, evidence_item, route_of};
use crate::language::english::time::say_moment;
use crate::language::english::wording;
use crate::{Answer, EventId, Evidence, Kind, ReadError, Route, TimeSpan};

/// Maximum number of proposals of an open question.
const MAX_PROPOSALS: usize = 8;
/// Maximum number of evidence items of one proposal.
const MAX_PROPOSAL_EVIDENCE: usize = 4;
/// Maximum number of retrieved events that become passages.
const MAX_FOUND_PASSAGES: usize = 16;
/// Maximum number of passages, with the events around the retrieved ones.
const MAX_PASSAGES: usize = 36;
/// Maximum number of evidence items that an answer is read from.
const MAX_READ_EVIDENCE: usize = 6;
/// Time before and after a sentence in which other sentences belong to the same conversation.
const CONVERSATION_WINDOW: Duration = Duration::from_secs(120);

/// An answer that the memory can give.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The answer in words.
    pub text: String,
    /// The option that it is, where there are options.
    pub choice: Option<usize>,
    /// Which part of the memory it comes from.
    pub route: Route,
    /// The probability that it is right, without a language model.
    pub confidence: f32,
    /// Supporting evidence, best first; never empty.
    pub evidence: Vec<Evidence>,
}

/// An answer together with what it was chosen from.
#[derive(Debug, Clone, PartialEq)]
pub struct Deliberation {
    /// The answer without a language model.
    pub answer: Answer,
    /// The answers that the memory can give, best first. With options: one per option, in their order.
    pub proposals: Vec<Proposal>,
    /// Events that may contain the answer, best first: retrieved events, each with the sentences before and after it.
    /// Empty with options, or if no proposals were requested.
    pub passages: Vec<Evidence>,
    /// The question as text.
    pub question: String,
    /// Maximum number of evidence items of an answer.
    pub limit: usize,
    /// When it was asked, in the memory's time zone.
    pub now: Zoned,
}

/// Why a verdict was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub enum VerdictError {
    /// The proposal does not exist.
    NotProposed,
    /// No evidence was named.
    NoEvidence,
    /// Evidence was named that was not given.
    NotGiven,
    /// An answer was written that the named evidence does not hold.
    NotRead,
}

impl VerdictError {
    /// Returns the error in words, for a model that may answer once more.
    pub const fn message(self) -> &'static str {
        match self {
            Self::NotProposed => "it chose an answer that was not proposed",
            Self::NoEvidence => "it named no evidence",
            Self::NotGiven => "it named evidence that it was not given",
            Self::NotRead => "its answer has words that neither the evidence which it named nor the question has",
        }
    }
}

impl Deliberation {
    /// Returns the answer of a proposal, with `named` as its first evidence. The words of the proposal are kept unless
    /// `wording` is a paraphrase of it. The flag is whether it is.
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
        let evidence = self.merge_evidence(self.find_evidence(named)?, &proposal.evidence);
        let reworded = wording.filter(|_| proposal.choice.is_none());
        let reworded = reworded.filter(|text| wording::is_paraphrase(text, &proposal.text, &self.question));
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

    /// Returns an answer that a model reads in `named`. Its words must occur there, or in the time of an event. Its
    /// confidence is that of the best proposal with the same event.
    ///
    /// # Errors
    /// If the evidence is not among what was given, or does not have the words of the answer.
    pub fn read(&self, named: &[EventId], text: &str) -> Result<Answer, VerdictError> {
        let text = text.trim();
        let first = self.find_evidence(named)?;
        let told: Vec<String> =
            first.iter().take(MAX_READ_EVIDENCE).flat_map(|item| self.evidence_texts(item)).collect();
        if self.passages.is_empty() || !wording::is_in_words_of(text, &told, &self.question) {
            return Err(VerdictError::NotRead);
        }
        let of_it = |proposal: &&Proposal| proposal.evidence.iter().any(|item| item.event == first[0].event);
        let confidence = self.proposals.iter().filter(of_it).map(|proposal| proposal.confidence).reduce(f32::max);
        Ok(Answer {
            answer: Some(text.to_owned()),
            choice: None,
            confidence: confidence.unwrap_or(self.answer.confidence),
            route: Route::Detailed,
            evidence: self.merge_evidence(first, &[]),
            ..self.answer.clone()
        })
    }

    /// Returns the text, the speaker and the time of an evidence item in words.
    fn evidence_texts(&self, item: &Evidence) -> Vec<String> {
        let begin = item.span.start.to_jiff().to_zoned(self.now.time_zone().clone());
        vec![
            item.text.clone(),
            item.entity.clone().unwrap_or_default(),
            say_moment(item.span.start, &self.now),
            begin.strftime("%A %-d %B %Y %-H:%M").to_string(),
        ]
    }

    /// Returns the evidence with these ids, without duplicates.
    fn find_evidence(&self, ids: &[EventId]) -> Result<Vec<Evidence>, VerdictError> {
        if ids.is_empty() {
            return Err(VerdictError::NoEvidence);
        }
        let known = || self.proposals.iter().flat_map(|one| &one.evidence).chain(&self.passages);
        let mut evidence: Vec<Evidence> = Vec::new();
        for id in ids {
            let item = known().find(|item| item.event == *id).ok_or(VerdictError::NotGiven)?;
            if evidence.iter().all(|one| one.event != *id) {
                evidence.push(item.clone());
            }
        }
        Ok(evidence)
    }

    /// Returns `first`, then `own`, then the evidence of the answer without a model, up to the limit.
    fn merge_evidence(&self, first: Vec<Evidence>, own: &[Evidence]) -> Vec<Evidence> {
        let mut evidence = first;
        for item in own.iter().chain(&self.answer.evidence) {
            if evidence.iter().all(|one| one.event != item.event) {
                evidence.push(item.clone());
            }
        }
        evidence.truncate(self.limit);
        for (rank, item) in evidence.iter_mut().enumerate() {
            item.score = super::rank_score(rank);
        }
        evidence
    }

    /// Returns the answer if no proposal answers the question.
    pub fn declined(&self, reason: String) -> Answer {
        Answer { answer: None, choice: None, route: Route::None, reason, ..self.answer.clone() }
    }
}

/// Returns the proposals of an open question: the candidates of every layer, then the retrieved events.
pub(super) fn proposals_from_candidates(
    candidates: &[Candidate],
    gathered: &RetrievedEvents,
    question: &Question<'_>,
) -> Vec<Proposal> {
    let mut proposals: Vec<Proposal> = Vec::new();
    let quotes = gathered.found.iter().map(|found| quotation_candidate(found, question));
    for candidate in candidates.iter().cloned().chain(quotes) {
        if proposals.len() == MAX_PROPOSALS {
            break;
        }
        let known = proposals.iter().any(|one| one.text == candidate.text);
        if !known && !candidate.evidence.is_empty() && !candidate.text.is_empty() {
            proposals.push(Proposal {
                text: candidate.text,
                choice: None,
                route: route_of(candidate.layer),
                confidence: candidate.confidence,
                evidence: as_evidence(candidate.evidence),
            });
        }
    }
    proposals
}

/// Returns the retrieved events in order of relevance, each with the sentences before and after it.
pub(super) fn passages(pool: &EventPool<'_>, gathered: &RetrievedEvents) -> Result<Vec<Evidence>, ReadError> {
    let mut found: Vec<&RetrievedEvent> = gathered.found.iter().collect();
    found.sort_by(|a, b| b.relevance.total_cmp(&a.relevance));
    let mut passages: Vec<RetrievedEvent> = Vec::new();
    for one in found.into_iter().take(MAX_FOUND_PASSAGES) {
        let mut near = vec![one.clone()];
        if one.reading.event.kind == Kind::Text {
            let span = one.span();
            let before = TimeSpan { start: span.start.saturating_sub(CONVERSATION_WINDOW), end: span.start };
            let after = TimeSpan { start: span.end, end: span.end.saturating_add(CONVERSATION_WINDOW) };
            for (span, latest) in [(before, true), (after, false)] {
                // The other half of a conversation may lie outside of the time bound.
                let Some(span) = pool.question.hard.map_or(Some(span), |bound| intersection(span, bound)) else {
                    continue;
                };
                near.extend(pool.events_in_time_order(
                    Some(span),
                    None,
                    vec![Kind::Text],
                    latest,
                    2,
                    &pool.question.content,
                )?);
            }
        }
        for one in near {
            if passages.len() < MAX_PASSAGES && passages.iter().all(|known| known.id() != one.id()) {
                passages.push(one);
            }
        }
    }
    Ok(as_evidence_up_to(passages, MAX_PASSAGES))
}

/// Returns one proposal per option. Any of the evidence may support any option.
pub(super) fn proposals_from_options(
    options: &[String],
    confidences: &[f32],
    evidence: &[RetrievedEvent],
    layer: Option<Layer>,
) -> Vec<Proposal> {
    let evidence: Vec<Evidence> = as_evidence_up_to(evidence.to_vec(), 2 * MAX_PROPOSAL_EVIDENCE);
    if evidence.is_empty() {
        return Vec::new();
    }
    let proposed = options.iter().enumerate().map(|(choice, option)| Proposal {
        text: option.clone(),
        choice: Some(choice),
        route: route_of(layer.unwrap_or(Layer::Episodes)),
        confidence: confidences.get(choice).copied().unwrap_or(0.0),
        evidence: evidence.clone(),
    });
    proposed.collect()
}

fn as_evidence(evidence: Vec<RetrievedEvent>) -> Vec<Evidence> {
    as_evidence_up_to(evidence, MAX_PROPOSAL_EVIDENCE)
}

fn as_evidence_up_to(evidence: Vec<RetrievedEvent>, most: usize) -> Vec<Evidence> {
    evidence.into_iter().take(most).enumerate().map(|(rank, found)| evidence_item(found, rank)).collect()
}

/// Returns an event as a candidate of its own.
fn quotation_candidate(found: &RetrievedEvent, question: &Question<'_>) -> Candidate {
    let text = quote::quotation(found, question);
    let signals = Signals {
        coverage: found.coverage.of_content,
        cosine: found.cosine.unwrap_or(0.0),
        margin: 0.0,
        fits: quote::quotation_fit(question),
        thing: question.named.iter().map(|thing| best_phrase_similarity(thing, &found.reading)).fold(0.0, f32::max),
        known: question.content.known_share(),
    };
    Candidate {
        layer: Layer::Episodes,
        value: super::candidate::CandidateValue::Text(text.clone()),
        text,
        evidence: vec![found.clone()],
        confidence: calibration::candidate_confidence(Layer::Episodes, &signals),
        signals,
        computed: false,
        reason: String::new(),
    }
}
