//! Answers how long a state lasted: from the event that reports its start to the one that reports its end.

use crate::language::english::time::{say_length, say_moment};
use crate::recall::answerers::quote::join_list;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::stance::{asked_predicate, concerns, stance};
use crate::{ReadError, Timestamp};

/// Maximum number of events of the thing that are read.
const MAX_THING_EVENTS: usize = 200;

/// Answers "how long was the printer jammed?" for its last occurrence.
pub(super) fn answer(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let subject = clause.subject.as_ref().filter(|subject| !subject.is_pronoun());
    let (Some(thing), Some(state)) = (subject, asked_predicate(clause, question)) else { return Ok(None) };
    let told = merge(
        pool.events_about(thing, question.hard, true, MAX_THING_EVENTS, &question.content)?,
        pool.events_mentioning(thing, question.hard, true, MAX_THING_EVENTS, &question.content)?,
    );
    let mut told = merge(told, pooled.to_vec());
    told.retain(|found| concerns(thing, &found.reading));
    told.sort_by_key(|found| (found.span().start, found.id()));
    let mut began: Option<&RetrievedEvent> = None;
    let mut lasted: Option<(&RetrievedEvent, &RetrievedEvent)> = None;
    for found in &told {
        match stance(&state, thing, clause, &found.reading) {
            Some(true) => began = began.or(Some(found)),
            Some(false) => lasted = began.take().map(|began| (began, found)).or(lasted),
            None => {}
        }
    }
    let bound = question.bound();
    let within = |from: Timestamp, to: Timestamp| bound.is_none_or(|bound| from <= bound.end && bound.start <= to);
    let now = Timestamp::from(question.now.timestamp());
    let at = |at: Timestamp| say_moment(at, &question.now);
    let (text, evidence) = match (began, lasted) {
        (Some(began), _) if within(began.span().start, now) => {
            let from = began.span().start;
            (format!("{} so far, since {}", say_length(now.since(from)), at(from)), vec![began.clone()])
        }
        (_, Some((began, ended))) if within(began.span().start, ended.span().start) => {
            let (from, to) = (began.span().start, ended.span().start);
            let between = join_list(&[at(from), at(to)]);
            (format!("{}, between {between}", say_length(to.since(from))), vec![began.clone(), ended.clone()])
        }
        _ => return Ok(None),
    };
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text.clone(),
        CandidateValue::Text(text),
        evidence,
        question.content.known_share(),
        "from what was told of its begin to what was told of its end".into(),
    )))
}
