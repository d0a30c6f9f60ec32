//! Answers why something happened without the word "because": by an explaining statement near the event.

use std::time::Duration;

use crate::language::english::question::AnswerKind;
use crate::language::english::states::state_of_word;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::answerers::causes::{explaining_clause, faulty_thing};
use crate::recall::answerers::quote::quotation;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::clause_selection::{has_other_actor, lacks_asked_deed};
use crate::recall::content::verb_similarity;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_anaphor, is_person};
use crate::{Kind, ReadError, TimeSpan};

/// Time before and after an event in which people talk about it.
const WINDOW_BEFORE: Duration = Duration::from_secs(900);
const WINDOW_AFTER: Duration = Duration::from_secs(2_700);
/// Minimum coverage of the question by the event to explain.
const MIN_EVENT_COVERAGE: f32 = 0.55;
/// Minimum similarity of an event to the thing.
const MIN_THING_SIMILARITY: f32 = 0.7;
/// Maximum number of texts near the event that are read.
const MAX_NEARBY_TEXTS: usize = 24;
/// Minimum weight of a reason.
const MIN_REASON_WEIGHT: f32 = 1.25;
/// As [`MIN_REASON_WEIGHT`], if the event itself says more than the question.
const MIN_REASON_WEIGHT_OF_DETAILED_EVENT: f32 = 2.0;

/// Answers with a statement near the event that explains it.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    found: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if question.ask() != AnswerKind::Reason && faulty_thing(question).is_none() {
        return Ok(None);
    }
    let tells = found.iter().filter(|found| !found.reading.only_asks());
    let Some(event) = tells.max_by(|a, b| a.fitness().total_cmp(&b.fitness()).then(b.id().cmp(&a.id()))) else {
        return Ok(None);
    };
    let mut more = stating_clauses(&event.reading)
        .filter(|clause| clause.verb.is_some() && !is_asked_event(question, clause))
        .peekable();
    let likely = if more.peek().is_some() && event.reading.event.kind == Kind::Text {
        MIN_REASON_WEIGHT_OF_DETAILED_EVENT
    } else {
        MIN_REASON_WEIGHT
    };
    let mut own = || more.any(states_constraint);
    let known = lacks_asked_deed(question, &event.reading) || has_other_actor(question, &event.reading);
    if event.coverage.of_content < MIN_EVENT_COVERAGE || known || gives_reason(&event.reading) || own() {
        return Ok(None);
    }
    let window = TimeSpan {
        start: event.span().start.saturating_sub(WINDOW_BEFORE),
        end: event.span().end.saturating_add(WINDOW_AFTER),
    };
    let mut beside =
        pool.events_in_time_order(Some(window), None, vec![Kind::Text], false, MAX_NEARBY_TEXTS, &question.content)?;
    beside.sort_by_key(|found| (found.span().start, found.id()));
    let own = |said: &RetrievedEvent| said.id() == event.id();
    // A fault is reported where the thing is mentioned.
    let of_it = |said: &RetrievedEvent| {
        faulty_thing(question).is_none_or(|thing| best_phrase_similarity(thing, &said.reading) >= MIN_THING_SIMILARITY)
    };
    let weighed =
        beside.iter().enumerate().filter(|(_, said)| !own(said) && !said.reading.only_asks() && of_it(said)).map(
            |(at, said)| {
                let next = beside[..at].last().is_some_and(own) || beside.get(at + 1).is_some_and(own);
                (reason_weight(question, event, said, next), said)
            },
        );
    let best = weighed.reduce(|a, b| if b.0 > a.0 { b } else { a });
    let Some((_, reason)) = best.filter(|(weight, _)| *weight >= likely) else { return Ok(None) };
    let text = quotation(reason, question);
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: text.clone(),
        value: CandidateValue::Text(text),
        signals: Signals {
            coverage: event.coverage.of_content,
            cosine: event.cosine.unwrap_or(0.0),
            margin: 0.5,
            fits: 0.8,
            thing: question.named.first().map_or(0.5, |thing| best_phrase_similarity(thing, &event.reading)),
            known: question.content.known_share(),
        },
        evidence: vec![reason.clone(), event.clone()],
        confidence: 0.0,
        computed: false,
        reason: "what was said beside it".into(),
    }))
}

/// Returns whether a clause reports the event to explain.
fn is_asked_event(question: &Question<'_>, clause: &Clause) -> bool {
    let asked = question.asked.clause.verb.as_ref().zip(clause.verb.as_ref());
    asked.is_some_and(|(asked, told)| verb_similarity(asked, told) >= MIN_THING_SIMILARITY)
}

/// Returns the weight of a statement as the reason.
fn reason_weight(question: &Question<'_>, event: &RetrievedEvent, said: &RetrievedEvent, next: bool) -> f32 {
    let reading = &said.reading;
    let mut weight = 0.0;
    if gives_reason(reading) || explaining_clause(reading).is_some() {
        weight += 1.5;
    }
    if stating_clauses(reading).any(states_constraint) {
        weight += 1.0;
    }
    if event.reading.event.entity.is_some() && reading.event.entity == event.reading.event.entity {
        weight += 0.75;
    }
    if question
        .named
        .iter()
        .any(|thing| !is_person(thing) && best_phrase_similarity(thing, reading) >= MIN_THING_SIMILARITY)
    {
        weight += 0.75;
    }
    // "It needs a new one", "she can't eat it": of what was spoken of before.
    let anaphor = |clause: &Clause| clause.subject.iter().chain(&clause.objects).any(is_anaphor);
    if stating_clauses(reading).any(anaphor) {
        weight += 0.25;
    }
    if next {
        weight += 0.5;
    }
    let (a, b) = (event.span(), said.span());
    let apart = if b.start >= a.end { b.start.since(a.end) } else { a.start.since(b.end) };
    weight - 0.5 * apart.as_secs_f32() / WINDOW_AFTER.as_secs_f32()
}

fn stating_clauses(reading: &ParsedEvent) -> impl Iterator<Item = &Clause> {
    reading.told_clauses()
}

/// Returns whether a clause states what prevents or forces somebody: "the battery is flat", "I can't eat quince", "I
/// have to go".
fn states_constraint(clause: &Clause) -> bool {
    let Some(verb) = &clause.verb else { return false };
    let unable = verb.negated && matches!(verb.modal.as_deref(), Some("can" | "could" | "will" | "would"));
    let must =
        matches!(verb.modal.as_deref(), Some("must")) || matches!(verb.lemma.as_str(), "need" | "lack" | "require");
    let bad = |word: &str| state_of_word(word).is_some_and(|(_, good)| !good);
    let ill = verb.auxiliary_only && !verb.negated && clause.complements.iter().any(|(word, _)| bad(word))
        || bad(&verb.lemma);
    let too = clause.objects.iter().chain(&clause.subject).any(is_excess);
    unable || must || ill || too
}

fn is_excess(noun: &NounPhrase) -> bool {
    noun.kind == NounKind::Common && noun.modifiers.first().is_some_and(|word| word == "too")
}

/// Returns whether a text gives a reason itself: "because", "no wonder", "that's why".
fn gives_reason(reading: &ParsedEvent) -> bool {
    let words: Vec<String> = crate::index::words(&reading.event.text).collect();
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window.iter().eq(phrase));
    has(&["because"]) || has(&["no", "wonder"]) || has(&["why"]) || has(&["due", "to"]) || has(&["so", "that"])
}
