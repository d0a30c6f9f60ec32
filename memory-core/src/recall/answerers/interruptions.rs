//! Answers why the robot stopped an activity: the state that it reported meanwhile.

use std::time::Duration;

use crate::language::english::question::AnswerKind;
use crate::recall::answerers::quote::quotation;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::ROBOT_ENTITY;
use crate::{Kind, ReadError, TimeSpan};

/// Minimum coverage of the question by the stopped activity.
const MIN_ACTIVITY_COVERAGE: f32 = 0.4;
/// Longest time after its start at which an activity without a reported end may have been stopped.
const MAX_ACTIVITY: Duration = Duration::from_secs(1_800);
/// Maximum number of states of the robot that are read.
const MAX_STATES: usize = 50;

/// Answers "why did you stop mopping?".
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let verb = question.asked.clause.verb.as_ref();
    let stops = verb.is_some_and(|verb| matches!(verb.lemma.as_str(), "stop" | "pause" | "interrupt" | "halt"));
    let itself = question.named.iter().any(|noun| noun.head == ROBOT_ENTITY);
    if !stops || !itself || question.ask() != AnswerKind::Reason {
        return Ok(None);
    }
    let own = |found: &&RetrievedEvent| {
        let event = &found.reading.event;
        event.kind == Kind::Action
            && event.entity.as_deref() == Some(ROBOT_ENTITY)
            && found.coverage.of_content >= MIN_ACTIVITY_COVERAGE
    };
    let mut works: Vec<&RetrievedEvent> = pooled.iter().filter(own).collect();
    works.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    for work in works {
        let span = work.span();
        let window = match span.end > span.start {
            true => span,
            false => TimeSpan { start: span.start, end: span.end.saturating_add(MAX_ACTIVITY) },
        };
        let states =
            pool.events_in_time_order(Some(window), None, vec![Kind::State], false, MAX_STATES, &question.content)?;
        // A battery level does not explain a stop.
        let told = states.into_iter().find(|found| {
            found.reading.event.entity.as_deref() == Some(ROBOT_ENTITY) && found.reading.quantities().is_empty()
        });
        let Some(told) = told else { continue };
        let text = quotation(&told, question);
        let known = question.content.known_share().max(MIN_ACTIVITY_COVERAGE);
        let evidence = vec![told, work.clone()];
        let reason = "what the robot told of itself while it was at it";
        return Ok(Some(Candidate::computed(
            Layer::Episodes,
            text.clone(),
            CandidateValue::Text(text),
            evidence,
            known,
            reason.into(),
        )));
    }
    Ok(None)
}
