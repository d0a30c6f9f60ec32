//! Answers from facts: where something is, who did something last, what something is like.
//!
//! Facts answer only questions that the rules parse completely. The evidence is the events of the fact, newest first.

use jiff::Zoned;

use crate::index::{Holding, is_stop_word, words};
use crate::language::english::letters::capitalised;
use crate::language::english::time::say_moment;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::pool::EventPool;
use crate::semantic::{Ask, Fact, FactQuestion, FactsFound, same_state};
use crate::{EventId, ReadError, Timestamp};

/// Maximum number of events of a subject that are searched for one which nothing was learnt from yet.
const MAX_RECENT_EVENTS: usize = 64;
/// Maximum number of events that are shown as evidence of one fact.
const MAX_FACT_EVENTS: usize = 3;

/// Answers from facts.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    degraded: &mut Vec<String>,
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(learnt) = pool.reader.learnt() else { return Ok(None) };
    if question.asked.cue.is_some() {
        return Ok(None);
    }
    let Some(asked) = FactQuestion::of(&question.timeless) else { return Ok(None) };
    let pending = pool.reader.pending_lessons();
    if pending > 0 {
        degraded.push(format!("learning: pending for {pending} {}", if pending == 1 { "event" } else { "events" }));
    }
    // As of an earlier time, the fact that was in force then answers, and none that was before.
    let bounded = question.has_time_bound() || question.query.since.is_some() || question.query.until.is_some();
    let bound = question.bound().filter(|_| bounded);
    let at = Timestamp::from(question.now.timestamp());
    let called = learnt.also_called(&asked.subject);
    if pending > 0 && is_outdated(pool, &asked.subject.shown, learnt.cursor()) {
        return Ok(None);
    }
    let Some(found) = learnt.facts().answer(&asked, bound, at, &called) else { return Ok(None) };
    let mut ids: Vec<EventId> = Vec::new();
    for fact in &found.facts {
        for id in fact.evidence.iter().rev().take(MAX_FACT_EVENTS) {
            if !ids.contains(id) {
                ids.push(*id);
            }
        }
    }
    let evidence = pool.read(&ids, &question.content)?;
    // A fact without visible evidence is hidden too.
    if evidence.len() < ids.len() || evidence.is_empty() {
        return Ok(None);
    }
    let text = learnt.with_names(&describe_facts(&asked, &found, bound.is_some(), &question.now));
    let value = match &asked.ask {
        Ask::State { state, .. } => {
            CandidateValue::Truth(found.facts.iter().all(|fact| same_state(&fact.value, state)))
        }
        _ => CandidateValue::List(found.facts.iter().map(|fact| fact.value.clone()).collect()),
    };
    // That it is no longer so does not say that it was not.
    if question.asks_former_state() && value == CandidateValue::Truth(false) {
        return Ok(None);
    }
    let told = found.facts[0].last;
    let least = found.facts.iter().map(|fact| fact.weight).min().unwrap_or(1);
    #[expect(clippy::cast_precision_loss, reason = "clamped")]
    let repeated = 1.0 - 0.5_f32.powf(least.clamp(1, 16) as f32);
    Ok(Some(Candidate {
        layer: Layer::Facts,
        text,
        value,
        signals: Signals {
            coverage: evidence[0].coverage.of_content,
            cosine: repeated,
            margin: if found.facts.len() == 1 { 1.0 } else { 0.0 },
            fits: 1.0,
            thing: if found.precise { 1.0 } else { 0.5 },
            // A fact is one statement: synonyms found in other events do not count.
            known: question.content.literally_known_share(),
        },
        evidence,
        confidence: 0.0,
        computed: false,
        reason: format!("a fact that was learnt, told {}", say_moment(told, &question.now)),
    }))
}

/// Returns whether a newer event about the subject exists that nothing was learnt from yet.
fn is_outdated(pool: &EventPool<'_>, subject: &str, learnt: EventId) -> bool {
    let groups = words(subject).filter(|word| !is_stop_word(word)).map(|word| vec![word]).collect();
    let newest = Holding { groups, latest: true, limit: MAX_RECENT_EVENTS, ..Holding::default() };
    pool.reader.search().holding(&newest).into_iter().any(|event| event > learnt)
}

fn describe_facts(asked: &FactQuestion, found: &FactsFound, bounded: bool, now: &Zoned) -> String {
    if matches!(asked.ask, Ask::Relation(_)) {
        let values: Vec<&str> = found.facts.iter().map(|fact| fact.value.as_str()).collect();
        let first = &found.facts[0];
        return format!("{}: {}", capitalised(&first.subject), values.join(", "));
    }
    let sentences: Vec<String> = found.facts.iter().map(|fact| fact_sentence(asked, fact, bounded, now)).collect();
    sentences.join("; ")
}

fn fact_sentence(asked: &FactQuestion, fact: &Fact, bounded: bool, now: &Zoned) -> String {
    let at = Timestamp::from(now.timestamp());
    let over = fact.until.is_some_and(|until| until <= at);
    let plural = fact.subject.rsplit(' ').next().is_some_and(|last| last.ends_with('s') && !last.ends_with("ss"))
        && !fact.subject.contains("'s ")
        && fact.subject.starts_with(char::is_lowercase);
    let being = match (over || bounded, plural) {
        (true, true) => "were",
        (true, false) => "was",
        (false, true) => "are",
        (false, false) => "is",
    };
    let subject = with_article(&fact.subject);
    let until = fact
        .until
        .filter(|until| *until <= at)
        .map(|until| format!(", until {}", say_moment(until, now).trim_start_matches("on ")));
    let until = until.unwrap_or_default();
    match &asked.ask {
        Ask::Who(_) => format!("{}, {}", capitalised(&fact.value), say_moment(fact.last, now)),
        Ask::When(..) => {
            let who = if fact.value.is_empty() { String::new() } else { format!(" by {}", fact.value) };
            format!("{}{who}", capitalised(&say_moment(fact.last, now)))
        }
        Ask::State { state, .. } => {
            let yes = if same_state(&fact.value, state) { "Yes" } else { "No" };
            format!("{yes}: {subject} {being} {}{until}", fact.value)
        }
        Ask::Place | Ask::Colour | Ask::Relation(_) | Ask::Named(_) => {
            format!("{}{until}", capitalised(&fact.value))
        }
    }
}

/// Returns a subject with its article: "The blue mug", "Anna", "Anna's mug".
fn with_article(subject: &str) -> String {
    let name = subject.split(' ').next().is_some_and(|first| first.starts_with(char::is_uppercase));
    if name { subject.to_owned() } else { format!("the {subject}") }
}
