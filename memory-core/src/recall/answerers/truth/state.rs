//! Whether a thing is in a state: by what was put right since, else by the newest event that tells of the state.

use super::{SAID_OF_IT, SAYS_IT, said};
use crate::language::english::states::{Scale, same, state};
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::language::english::tag::Tag;
use crate::language::english::time::Tense;
use crate::recall::answerers::mended;
use crate::recall::candidate::Candidate;
use crate::recall::likeness::{best_phrase_similarity, phrase_similarity};
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::recall::stance::{
    asked_predicate, asks_about_use, concerns, is_intransitive, stance, stance_on_it, subject_leaves,
};
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// How long somebody speaks of what they did.
const TOPIC: std::time::Duration = std::time::Duration::from_secs(1_800);

/// What a question is about.
fn thing_of(question: &Question<'_>) -> Option<NounPhrase> {
    let subject = question.asked.clause.subject.clone();
    subject
        .filter(|subject| !subject.is_pronoun() && subject.head != "one")
        .or_else(|| question.named.iter().find(|noun| noun.head != "one").cloned())
}

/// The thing and the state in which a question asks whether it is.
fn stated(question: &Question<'_>) -> Option<(NounPhrase, String)> {
    let asked = &question.asked.clause;
    match returned(asked) {
        Some(thing) => Some((thing.clone(), "back".to_owned())),
        None => thing_of(question)
            .zip(asked_predicate(asked, question).filter(|_| is_intransitive(asked) || asks_about_use(asked))),
    }
}

/// By what was done since about what was wrong with the thing.
pub(super) fn mended(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(thing) = thing_of(question) else { return Ok(None) };
    let Some(mended) = mended::repair_status(pool, &thing, stated(question).as_ref(), pooled)? else { return Ok(None) };
    let yes = mended.well != question.asked.negated_verb();
    let mut said = said(pool, &mended.evidence[0], yes, pooled, "what was done since about what was wrong");
    said.evidence = merge(mended.evidence, said.evidence);
    said.signals.coverage = said.signals.coverage.max(SAYS_IT);
    said.signals.thing = SAID_OF_IT;
    Ok(Some(said))
}

/// By the newest event that tells of the state.
pub(super) fn told(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some((thing, predicate)) = &stated(question) else { return Ok(None) };
    let bound = holding_at(question);
    let listed = merge(
        pool.events_about(thing, bound, true, 80, &question.content)?,
        pool.events_mentioning(thing, bound, true, 80, &question.content)?,
    );
    let mut all = merge(listed, pooled.to_vec());
    // What was told afterwards says nothing of how it was then.
    all.retain(|found| bound.is_none_or(|bound| found.span().start <= bound.end));
    all.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    for found in &all {
        let allowed = state(predicate).is_some_and(|(scale, _)| scale == Scale::Allowed);
        let follows = || spoken_after_deed(thing, found, &all);
        if let Some(holds) =
            stance_on_it(predicate, &found.reading).filter(|_| !concerns(thing, &found.reading) && follows())
        {
            let yes = holds != question.asked.negated_verb();
            let mut said = said(pool, found, yes, pooled, "what was said of it after something was done to it");
            said.signals.coverage = said.signals.coverage.max(SAYS_IT);
            said.signals.thing = SAID_OF_IT;
            return Ok(Some(said));
        }
        let at_the_time = question.bound().is_none_or(|bound| found.span().overlaps(bound));
        if let Some(here) = is_seen(predicate, thing, &found.reading).filter(|_| at_the_time) {
            let yes = here != question.asked.negated_verb();
            let mut said = said(pool, found, yes, pooled, "who is seen is here");
            said.signals.coverage = said.signals.coverage.max(SAYS_IT);
            return Ok(Some(said));
        }
        if !concerns(thing, &found.reading) || allowed && found.coverage.of_content < SAYS_IT {
            continue;
        }
        if let Some(holds) = stance(predicate, thing, &question.asked.clause, &found.reading) {
            let yes = holds != question.asked.negated_verb();
            let mut said = said(pool, found, yes, pooled, "the newest that was told of its state");
            said.signals.coverage = said.signals.coverage.max(told_of_state(question, predicate, &found.reading));
            said.signals.known = said.signals.known.max(said.signals.coverage);
            return Ok(Some(said));
        }
    }
    Ok(None)
}

/// Whether a question whether somebody is here is answered by seeing them do something.
fn is_seen(predicate: &str, thing: &NounPhrase, reading: &ParsedEvent) -> Option<bool> {
    let (scale, here) = state(predicate)?;
    let seen = matches!(reading.event.kind, Kind::Action | Kind::Caption) && scale == Scale::There && is_person(thing);
    let acts = |clause: &Clause| {
        let subjects = clause.subject.iter().flat_map(NounPhrase::all);
        let own = subjects
            .filter_map(|noun| reading.resolve(noun))
            .any(|noun| phrase_similarity(thing, &noun, reading) >= SAID_OF_IT);
        own && clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && !verb.negated) && !subject_leaves(clause)
    };
    (seen && reading.clauses().any(acts) && !reading.clauses().any(subject_leaves)).then_some(here)
}

/// Whether somebody says something soon after doing something with a thing: what they call "it" is that.
fn spoken_after_deed(thing: &NounPhrase, said: &RetrievedEvent, all: &[RetrievedEvent]) -> bool {
    let event = &said.reading.event;
    event.kind == Kind::Text
        && all.iter().any(|deed| {
            let done = matches!(deed.reading.event.kind, Kind::Action | Kind::Caption);
            let own = event.entity.is_some() && deed.reading.event.entity == event.entity;
            let (end, at) = (deed.span().end, said.span().start);
            done && own
                && end <= at
                && at.since(end) <= TOPIC
                && best_phrase_similarity(thing, &deed.reading) >= SAID_OF_IT
        })
}

/// The time from which a state may have been told: it lasts, so that what was told before the time that is asked for holds in it; a
/// deed does not.
fn holding_at(question: &Question<'_>) -> Option<TimeSpan> {
    let bound = question.bound()?;
    let is = question.asked.clause.verb.as_ref().is_some_and(|verb| verb.auxiliary_only);
    let lasts = is || question.tense != Tense::Past;
    let from = question.hard.map_or(Timestamp::from_micros(i64::MIN), |hard| hard.start);
    Some(if lasts { TimeSpan { start: from, end: bound.end } } else { bound })
}

/// The share of a question that an event holds which tells of the state, in whatever words.
fn told_of_state(question: &Question<'_>, predicate: &str, reading: &ParsedEvent) -> f32 {
    let mut held = question.content.item_similarities(reading);
    let having = !question.asked.clause.objects.is_empty();
    for (held, item) in held.iter_mut().zip(&question.content.items) {
        if same(predicate, &item.lemma) == Some(true) || having && item.tag == Tag::Verb {
            *held = 1.0;
        }
    }
    question.content.share_of_similarities(&held)
}

/// What is asked to have been given back: "has he returned the saw yet?" asks whether it is back.
fn returned(clause: &Clause) -> Option<&NounPhrase> {
    let verb = clause.verb.as_ref().filter(|verb| !verb.negated)?;
    let back = verb.lemma == "return"
        || verb.particle.as_deref() == Some("back") && matches!(verb.lemma.as_str(), "bring" | "give" | "hand");
    clause.objects.first().filter(|object| back && !object.is_pronoun() && !is_person(object))
}
