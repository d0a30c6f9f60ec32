//! Ways, next steps, what is missing, what somebody usually does: symbolic queries of the logic layer.

use crate::recall::candidate::{Candidate, Layer, Signals, Value};
use crate::recall::pool::Pool;
use crate::recall::symbolic;
use crate::{Intent, ReadError, Timestamp};

/// An answer from procedures, with the intent that its grammar read.
pub(in crate::recall) fn answer(pool: &Pool<'_>, limit: usize) -> Result<Option<(Candidate, Intent)>, ReadError> {
    let question = pool.question;
    let now = Timestamp::from(question.now.timestamp());
    let Some(said) = symbolic::answer(question.text, pool.reader, pool.embedding.as_deref(), now, limit)? else {
        return Ok(None);
    };
    let evidence = pool.read(&said.events, &question.content)?;
    if evidence.is_empty() {
        return Ok(None);
    }
    let candidate = Candidate {
        layer: Layer::Procedures,
        value: Value::Text(said.answer.clone()),
        text: said.answer,
        signals: Signals {
            coverage: evidence[0].coverage.of_content,
            cosine: 0.0,
            margin: 1.0,
            fits: 1.0,
            thing: said.confidence,
            known: question.content.known(),
        },
        evidence,
        confidence: 0.0,
        reason: said.trace,
    };
    Ok(Some((candidate, said.intent)))
}
