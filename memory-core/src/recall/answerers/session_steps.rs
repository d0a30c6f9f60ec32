//! Answers how something was done by the steps of one session: "how did Tove clean the pump, step by step?", where no
//! procedure is known because it was done only once.

use std::time::Duration;

use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{NounPhrase, parse};
use crate::language::english::tag::Tag;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::content::word_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::is_person;
use crate::{Event, Kind, ReadError, TimeSpan, Value};

/// Minimum share of the content of the question that a session covers.
const MIN_COVERAGE: f32 = 0.7;
/// Minimum similarity of a word of the task to a word of the question.
const MIN_WORD_SIMILARITY: f32 = 0.9;
/// Time before and after a step in which the other steps of its session are searched for.
const SESSION_WINDOW: Duration = Duration::from_secs(2 * 3_600);
/// Maximum number of actions in that time that are read.
const MAX_ACTIONS: usize = 200;
/// Maximum number of steps in an answer.
const MAX_STEPS: usize = 12;

/// Answers with the steps of the session whose task is asked for. If a procedure is known for it, a session only tells how a
/// certain person does it.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    found: &[RetrievedEvent],
    has_procedure: bool,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let person = question.asked.clause.subject.as_ref().is_some_and(|who| is_person(who) && !who.is_pronoun());
    if !asks_how_it_is_done(question) || has_procedure && !person {
        return Ok(None);
    }
    let mut best: Option<Vec<RetrievedEvent>> = None;
    let mut seen: Vec<String> = Vec::new();
    for step in found {
        let event = &step.reading.event;
        let Some((session, task)) = text_attribute(event, "session").zip(text_attribute(event, "task")) else {
            continue;
        };
        if seen.contains(&session.to_owned()) || !is_asked_task(question, task) {
            continue;
        }
        seen.push(session.to_owned());
        let steps = steps_of(pool, step, session)?;
        let told = steps.iter().flat_map(|step| step.reading.lemmas.iter().cloned());
        let lemmas: Vec<(String, Tag)> = words_of(task).chain(told).collect();
        let covers = question.content.share_of_lemmas(&lemmas) >= MIN_COVERAGE;
        let key = |steps: &[RetrievedEvent]| (steps.len(), steps.first().map(|step| step.span().start));
        if steps.len() > 1 && covers && best.as_deref().is_none_or(|known| key(known) < key(&steps)) {
            best = Some(steps);
        }
    }
    let Some(steps) = best else { return Ok(None) };
    let texts: Vec<String> = steps.iter().take(MAX_STEPS).enumerate().map(|(at, step)| said(step, at == 0)).collect();
    let text = format!("{}.", texts.join(", then "));
    let reason = format!("the {} steps of one session", steps.len());
    let known = question.content.known_share();
    Ok(Some(Candidate::computed(Layer::Episodes, text, CandidateValue::List(texts), steps, known, reason)))
}

/// Returns whether a question asks how something is or was done: "how did she clean the pump?", and not "how was it?".
fn asks_how_it_is_done(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    let acts = clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && !verb.passive);
    let how = clause.asking.as_ref().is_some_and(|asking| asking.word == "how" && asking.degree.is_none());
    acts && !clause.objects.is_empty()
        && (question.ask() == AnswerKind::Way || question.ask() == AnswerKind::Description && how)
}

/// Returns whether a task is the one in question: the thing that something is done to, and the deed.
fn is_asked_task(question: &Question<'_>, task: &str) -> bool {
    let clause = &question.asked.clause;
    let words: Vec<(String, Tag)> = words_of(task).collect();
    let says = |word: &str| words.iter().any(|(told, _)| word_similarity(word, told) >= MIN_WORD_SIMILARITY);
    let things = || clause.objects.iter().flat_map(NounPhrase::coordinated).filter(|thing| !thing.is_pronoun());
    things().any(|thing| says(&thing.head)) && clause.verb.as_ref().is_some_and(|verb| says(&verb.lemma))
}

/// Returns the actions of a session in the order of time, given one of them. If the question names somebody, only theirs.
fn steps_of(pool: &EventPool<'_>, step: &RetrievedEvent, session: &str) -> Result<Vec<RetrievedEvent>, ReadError> {
    let span = step.span();
    let around = TimeSpan::new(span.start.saturating_sub(SESSION_WINDOW), span.end.saturating_add(SESSION_WINDOW));
    let content = &pool.question.content;
    let mut steps = pool.events_in_time_order(Some(around), None, vec![Kind::Action], false, MAX_ACTIONS, content)?;
    steps.retain(|other| text_attribute(&other.reading.event, "session") == Some(session));
    steps.sort_by_key(|step| (step.span().start, step.id()));
    let actor = pool.question.asked.clause.subject.as_ref().filter(|who| is_person(who) && !who.is_pronoun());
    let by_another = |step: &RetrievedEvent| {
        let entity = step.reading.event.entity.as_deref();
        actor.is_some_and(|actor| entity.is_some_and(|entity| !entity.eq_ignore_ascii_case(&actor.head)))
    };
    if steps.iter().all(by_another) {
        steps.clear();
    }
    Ok(steps)
}

/// Returns a step in words. Who does it is said once.
fn said(step: &RetrievedEvent, first: bool) -> String {
    let event = &step.reading.event;
    let text = event.text.trim_end_matches('.');
    let actor = event.entity.as_deref().filter(|_| !first);
    let alone = actor.and_then(|actor| text.strip_prefix(actor)).and_then(|rest| rest.strip_prefix(' '));
    alone.unwrap_or(text).to_owned()
}

fn words_of(task: &str) -> impl Iterator<Item = (String, Tag)> {
    parse(task, &[]).0.into_iter().map(|word| (word.lemma, word.tag))
}

fn text_attribute<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    event.attributes.get(name).and_then(Value::as_text)
}
