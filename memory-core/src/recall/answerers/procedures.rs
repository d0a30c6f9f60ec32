//! Answers from procedures: paths, steps, missing steps and habits, by symbolic queries of the logic layer.

use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::pool::EventPool;
use crate::recall::symbolic;
use crate::{Intent, ReadError, Timestamp};

/// Answers from procedures, and returns the intent that the grammar determined.
pub(in crate::recall) fn answer(pool: &EventPool<'_>, limit: usize) -> Result<Option<(Candidate, Intent)>, ReadError> {
    let question = pool.question;
    let now = Timestamp::from(question.now.timestamp());
    let Some(said) = symbolic::answer(question.text, pool.reader, pool.embedding.as_deref(), now, limit)? else {
        return Ok(None);
    };
    let evidence = pool.read(&said.events, &question.content)?;
    let Some(first) = evidence.first() else { return Ok(None) };
    let signals = Signals {
        // What the whole procedure speaks of, not one of its steps alone.
        coverage: question.content.share_of_lemmas(&said.words).max(first.coverage.of_content),
        cosine: 0.0,
        margin: said.agreement,
        fits: said.support,
        thing: said.goal,
        known: question.content.known_share(),
    };
    let value =
        if said.list.is_empty() { CandidateValue::Text(said.answer.clone()) } else { CandidateValue::List(said.list) };
    let candidate = Candidate {
        layer: Layer::Procedures,
        value,
        text: said.answer,
        signals,
        evidence,
        confidence: 0.0,
        computed: false,
        reason: format!("what is known of how it is done: {}", said.trace),
    };
    Ok(Some((candidate, said.intent)))
}
