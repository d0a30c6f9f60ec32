//! Answers how long a state lasted: from the event that reports its start to the one that reports its end.

use crate::language::english::question::Order;
use crate::language::english::states::{StateScale, state_of_word};
use crate::language::english::syntax::Clause;
use crate::language::english::time::say_length_of;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::reading::is_person;
use crate::recall::stance::{asked_predicate, concerns, stance};
use crate::{ReadError, TimeSpan, Timestamp};

/// Maximum number of events of the thing that are read.
const MAX_THING_EVENTS: usize = 200;

/// A span in which something was in a state: the events that report its begin, and its end if it is over.
struct StateSpan {
    began: RetrievedEvent,
    ended: Option<RetrievedEvent>,
}

impl StateSpan {
    /// Returns the span. What is not over lasts until now.
    fn span(&self, now: Timestamp) -> TimeSpan {
        TimeSpan::new(self.began.span().start, self.ended.as_ref().map_or(now, |ended| ended.span().start))
    }
}

/// Answers "how long was the printer jammed?" for its last occurrence.
pub(super) fn answer(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(spans) = state_spans(pool, &question.asked.clause, pooled)? else { return Ok(None) };
    let now = Timestamp::from(question.now.timestamp());
    let Some(state) = last_within(question.bound(), spans, now) else { return Ok(None) };
    let span = state.span(now);
    let text = say_length_of(span.start, state.ended.as_ref().map(|_| span.end), &question.now);
    let evidence = std::iter::once(state.began).chain(state.ended).collect();
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text.clone(),
        CandidateValue::Text(text),
        evidence,
        question.content.known_share(),
        "from what was told of its begin to what was told of its end".into(),
    )))
}

/// Returns the span in which somebody was away, if that is the cue of a question: "what happened while Ivo was out?"
pub(super) fn absence_in_cue(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<TimeSpan>, ReadError> {
    let question = pool.question;
    let Some(cue) = question.asked.cue.as_ref().filter(|cue| cue.order == Order::During) else { return Ok(None) };
    let clauses = question.asked.sentences.iter().flat_map(|sentence| &sentence.clauses);
    let mut inside =
        clauses.filter(|clause| cue.range.start <= clause.range.start && clause.range.end <= cue.range.end);
    let is_absence = |clause: &&Clause| {
        clause.subject.as_ref().is_some_and(is_person)
            && asked_predicate(clause, question)
                .is_some_and(|state| state_of_word(&state) == Some((StateScale::There, false)))
    };
    let Some(clause) = inside.find(is_absence) else { return Ok(None) };
    let now = Timestamp::from(question.now.timestamp());
    let spans = state_spans(pool, clause, pooled)?.unwrap_or_default();
    Ok(last_within(question.bound(), spans, now).map(|state| state.span(now)))
}

/// Returns the last span that overlaps the time of a question.
fn last_within(bound: Option<TimeSpan>, spans: Vec<StateSpan>, now: Timestamp) -> Option<StateSpan> {
    spans.into_iter().rev().find(|state| bound.is_none_or(|bound| bound.overlaps(state.span(now))))
}

/// Returns the spans in which the subject of a clause was in the state that the clause asks for, the latest last. `None`
/// if it asks for no state.
fn state_spans(
    pool: &EventPool<'_>,
    clause: &Clause,
    pooled: &[RetrievedEvent],
) -> Result<Option<Vec<StateSpan>>, ReadError> {
    let question = pool.question;
    let subject = clause.subject.as_ref().filter(|subject| !subject.is_pronoun());
    let (Some(thing), Some(state)) = (subject, asked_predicate(clause, question)) else { return Ok(None) };
    let told = merge(
        pool.events_about(thing, question.hard, true, MAX_THING_EVENTS, &question.content)?,
        pool.events_mentioning(thing, question.hard, true, MAX_THING_EVENTS, &question.content)?,
    );
    let mut told = merge(told, pooled.to_vec());
    told.retain(|found| concerns(thing, &found.reading));
    told.sort_by_key(|found| (found.span().start, found.id()));
    let mut spans: Vec<StateSpan> = Vec::new();
    for found in told {
        let open = spans.last_mut().filter(|span| span.ended.is_none());
        match (stance(&state, thing, clause, &found.reading), open) {
            (Some(true), None) => spans.push(StateSpan { began: found, ended: None }),
            (Some(false), Some(span)) => span.ended = Some(found),
            _ => {}
        }
    }
    Ok(Some(spans))
}
