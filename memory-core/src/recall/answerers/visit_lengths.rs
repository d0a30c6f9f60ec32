//! Answers how long somebody was here: from when they were first seen or told of to when they left.

use crate::language::english::closed::is_one_of;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::language::english::time::{Tense, say_length_of};
use crate::recall::answerers::parts::MIN_PERSON_SIMILARITY;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, can_be_place, is_person};
use crate::recall::stance::subject_leaves;
use crate::{Kind, ReadError};

/// Maximum number of events of the person that are read, the latest ones.
const MAX_EVENTS: usize = 200;
/// Longest visit.
const MAX_VISIT: std::time::Duration = std::time::Duration::from_secs(12 * 3_600);

/// Answers "how long was the plumber here?" for the last visit that was seen to end.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(visitor) = asked_visitor(question) else { return Ok(None) };
    let mut events = merge(
        pool.events_about(visitor, question.bound(), true, MAX_EVENTS, &question.content)?,
        pool.events_mentioning(visitor, question.bound(), true, MAX_EVENTS, &question.content)?,
    );
    events.retain(|found| found.reading.event.kind != Kind::Text && acts(visitor, &found.reading).is_some());
    events.sort_by_key(|found| (found.span().start, found.id()));
    let leaves = |found: &RetrievedEvent| acts(visitor, &found.reading) == Some(true);
    let Some(end) = events.iter().rposition(leaves) else { return Ok(None) };
    // The visit before ended when they left then.
    let earlier = events[..end].iter().rposition(leaves).map_or(0, |last| last + 1);
    let until = events[end].span().start;
    let begin = events[earlier..end].iter().find(|found| until.since(found.span().start) <= MAX_VISIT);
    let Some(begin) = begin else { return Ok(None) };
    let text = say_length_of(begin.span().start, Some(until), &question.now);
    let evidence = vec![begin.clone(), events[end].clone()];
    let value = CandidateValue::Text(text.clone());
    let reason = "from when they were first seen to when they left";
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, 1.0, reason.into())))
}

/// Returns whose visit a question asks for: "how long was the plumber here?", "how long did Ivo stay?".
fn asked_visitor<'q>(question: &'q Question<'_>) -> Option<&'q NounPhrase> {
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref()?;
    let here = clause.complements.iter().any(|(word, _)| is_one_of(word, &["here", "there", "around"]));
    // "How long did she stay in Riga?" asks of a journey.
    let with_us = clause.adjuncts.iter().all(|adjunct| adjunct.noun.is_pronoun());
    let visits = verb.lemma == "be" && here || is_one_of(&verb.lemma, &["stay", "visit"]) && with_us;
    let visits = visits && clause.objects.iter().all(NounPhrase::is_pronoun);
    let plain = question.ask() == AnswerKind::Length && question.tense == Tense::Past && question.asked.cue.is_none();
    clause.subject.as_ref().filter(|who| plain && visits && is_person(who) && !who.is_pronoun())
}

/// Returns whether somebody leaves in what they are seen to do. `None` if they do nothing.
fn acts(who: &NounPhrase, reading: &ParsedEvent) -> Option<bool> {
    let own: Vec<&Clause> = reading
        .clauses()
        .filter(|clause| {
            let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject));
            subject.is_some_and(|told| phrase_similarity(who, &told, reading) >= MIN_PERSON_SIMILARITY)
        })
        .collect();
    (!own.is_empty()).then(|| own.into_iter().any(|clause| subject_leaves(clause) || leaves_place(clause)))
}

/// Returns whether a clause says that its subject leaves where they are: "she leaves the flat", and not "leaves the key on
/// the table".
fn leaves_place(clause: &Clause) -> bool {
    let leaves = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "leave" && !verb.negated);
    let [place] = clause.objects.as_slice() else { return false };
    leaves && clause.adjuncts.is_empty() && place.determiner.as_deref() == Some("the") && can_be_place(place)
}
