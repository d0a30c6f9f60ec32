//! Answers what has changed.

use crate::Kind;
use crate::recall::answerers::events::MIN_THING_SIMILARITY;
use crate::recall::answerers::keep_if_any;
use crate::recall::answerers::quote::quotation;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::corrections::CorrectedStatement;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::ParsedEvent;

/// Answers what has changed: the latest of several statements about the thing.
pub(in crate::recall) fn answer(pool: &EventPool<'_>, found: &[RetrievedEvent]) -> Option<Candidate> {
    let question = pool.question;
    if let Some(pair) = pool.taken_back.iter().max_by_key(|pair| (pair.later.span().start, pair.later.id())) {
        return Some(correction_candidate(question, pair));
    }
    let told: Vec<&RetrievedEvent> = found.iter().filter(|found| !found.reading.only_asks()).collect();
    let best = told.iter().map(|found| found.fitness()).fold(0.0, f32::max);
    let mut near: Vec<&RetrievedEvent> =
        told.into_iter().filter(|found| found.fitness() >= 0.6 * best).take(12).collect();
    keep_if_any(&mut near, |found| best_thing_similarity(question, &found.reading) >= MIN_THING_SIMILARITY);
    // Speech contains plans; observations do not.
    keep_if_any(&mut near, |found| found.reading.event.kind == Kind::Text && !found.reading.times.is_empty());
    near.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    let newest = (*near.first()?).clone();
    let text = quotation(&newest, question);
    Some(Candidate {
        layer: Layer::Episodes,
        text: text.clone(),
        value: CandidateValue::Text(text),
        signals: Signals {
            coverage: newest.coverage.of_content,
            cosine: newest.cosine.unwrap_or(0.0),
            margin: 0.0,
            fits: if near.len() > 1 { 0.8 } else { 0.2 },
            thing: best_thing_similarity(question, &newest.reading),
            known: question.content.known_share(),
        },
        evidence: near.into_iter().cloned().collect(),
        confidence: 0.0,
        computed: false,
        reason: "what was told last of it".into(),
    })
}

/// Returns the best similarity of an event to the things that the question names.
fn best_thing_similarity(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let named = question.named.iter().map(|thing| best_phrase_similarity(thing, reading));
    named.reduce(f32::max).unwrap_or(0.5)
}

/// Returns a correction as a candidate.
fn correction_candidate(question: &Question<'_>, pair: &CorrectedStatement) -> Candidate {
    let text = quotation(&pair.later, question);
    Candidate {
        layer: Layer::Episodes,
        text: text.clone(),
        value: CandidateValue::Text(text),
        signals: Signals {
            coverage: pair.earlier.coverage.of_content.max(pair.later.coverage.of_content),
            cosine: pair.later.cosine.or(pair.earlier.cosine).unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing: best_thing_similarity(question, &pair.earlier.reading),
            known: question.content.known_share(),
        },
        evidence: vec![pair.later.clone(), pair.earlier.clone()],
        confidence: 0.0,
        computed: false,
        reason: "what was told since takes back what was told before".into(),
    }
}
