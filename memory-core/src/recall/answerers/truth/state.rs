//! Answers whether a thing is in a state: by a later repair, else by the newest event that reports the state.

use super::{MIN_THING_SIMILARITY, MIN_YES_COVERAGE, verdict_candidate};
use crate::language::english::states::{StateScale, same_state, state_of_word};
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::language::english::tag::Tag;
use crate::language::english::time::Tense;
use crate::recall::answerers::repairs;
use crate::recall::candidate::Candidate;
use crate::recall::likeness::{best_phrase_similarity, phrase_similarity};
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::recall::stance::{
    asked_predicate, asks_about_use, concerns, is_intransitive, stance, stance_on_it, subject_leaves,
};
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// How long a speaker keeps talking about a deed.
const TOPIC_WINDOW: std::time::Duration = std::time::Duration::from_secs(1_800);

/// Returns the subject of a question.
fn subject_of(question: &Question<'_>) -> Option<NounPhrase> {
    let subject = question.asked.clause.subject.clone();
    subject
        .filter(|subject| !subject.is_pronoun() && subject.head != "one")
        .or_else(|| question.named.iter().find(|noun| noun.head != "one").cloned())
}

/// Returns the thing and the state of a question.
fn asked_state(question: &Question<'_>) -> Option<(NounPhrase, String)> {
    let asked = &question.asked.clause;
    match returned_thing(asked) {
        Some(thing) => Some((thing.clone(), "back".to_owned())),
        None => subject_of(question)
            .zip(asked_predicate(asked, question).filter(|_| is_intransitive(asked) || asks_about_use(asked))),
    }
}

/// Answers by what was done about the fault since.
pub(super) fn verdict_by_repair(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(thing) = subject_of(question) else { return Ok(None) };
    let Some(mended) = repairs::repair_status(pool, &thing, asked_state(question).as_ref(), pooled)? else {
        return Ok(None);
    };
    let yes = mended.well != question.asked.has_negated_verb();
    let mut said =
        verdict_candidate(pool, &mended.evidence[0], yes, pooled, "what was done since about what was wrong");
    said.evidence = merge(mended.evidence, said.evidence);
    said.signals.coverage = said.signals.coverage.max(MIN_YES_COVERAGE);
    said.signals.thing = MIN_THING_SIMILARITY;
    Ok(Some(said))
}

/// Answers by the newest event that reports the state.
pub(super) fn verdict_by_state(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some((thing, predicate)) = &asked_state(question) else { return Ok(None) };
    let bound = span_of_state(question);
    let listed = merge(
        pool.events_about(thing, bound, true, 80, &question.content)?,
        pool.events_mentioning(thing, bound, true, 80, &question.content)?,
    );
    let mut all = merge(listed, pooled.to_vec());
    // Later reports say nothing about the time in question.
    all.retain(|found| bound.is_none_or(|bound| found.span().start <= bound.end));
    all.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    // "Was he out on Thursday?": at any time of that day.
    if question.tense == Tense::Past
        && let Some(bound) = question.bound().filter(|_| question.has_time_bound())
    {
        let holds =
            |found: &&RetrievedEvent| found.span().overlaps(bound) && has_state(question, predicate, thing, found);
        if let Some(found) = all.iter().find(holds) {
            let yes = !question.asked.has_negated_verb();
            let mut said = verdict_candidate(pool, found, yes, pooled, "it was so at a time in question");
            said.signals.coverage = said.signals.coverage.max(state_coverage(question, predicate, &found.reading));
            said.signals.known = said.signals.known.max(said.signals.coverage);
            said.computed = true;
            return Ok(Some(said));
        }
    }
    for found in &all {
        let allowed = state_of_word(predicate).is_some_and(|(scale, _)| scale == StateScale::Allowed);
        let follows = || spoken_after_deed(thing, found, &all);
        if let Some(holds) =
            stance_on_it(predicate, &found.reading).filter(|_| !concerns(thing, &found.reading) && follows())
        {
            let yes = holds != question.asked.has_negated_verb();
            let mut said =
                verdict_candidate(pool, found, yes, pooled, "what was said of it after something was done to it");
            said.signals.coverage = said.signals.coverage.max(MIN_YES_COVERAGE);
            said.signals.thing = MIN_THING_SIMILARITY;
            return Ok(Some(said));
        }
        let at_the_time = question.bound().is_none_or(|bound| found.span().overlaps(bound));
        if let Some(here) = seen_presence(predicate, thing, &found.reading).filter(|_| at_the_time) {
            let yes = here != question.asked.has_negated_verb();
            let mut said = verdict_candidate(pool, found, yes, pooled, "who is seen is here");
            said.signals.coverage = said.signals.coverage.max(MIN_YES_COVERAGE);
            return Ok(Some(said));
        }
        if !concerns(thing, &found.reading) || allowed && found.coverage.of_content < MIN_YES_COVERAGE {
            continue;
        }
        if let Some(holds) = stance(predicate, thing, &question.asked.clause, &found.reading) {
            // "Was she ill?": that it is over says that it was so.
            let earlier = || all.iter().find(|found| has_state(question, predicate, thing, found));
            let former = if holds || !question.asks_former_state() { None } else { earlier() };
            let reason = if former.is_some() { "it was so once" } else { "the newest that was told of its state" };
            let (found, holds) = former.map_or((found, holds), |former| (former, true));
            let yes = holds != question.asked.has_negated_verb();
            let mut said = verdict_candidate(pool, found, yes, pooled, reason);
            said.signals.coverage = said.signals.coverage.max(state_coverage(question, predicate, &found.reading));
            said.signals.known = said.signals.known.max(said.signals.coverage);
            return Ok(Some(said));
        }
    }
    Ok(None)
}

/// Returns whether an event tells that a thing is in a state.
fn has_state(question: &Question<'_>, predicate: &str, thing: &NounPhrase, found: &RetrievedEvent) -> bool {
    concerns(thing, &found.reading) && stance(predicate, thing, &question.asked.clause, &found.reading) == Some(true)
}

/// Returns whether seeing somebody do something shows that they are here.
fn seen_presence(predicate: &str, thing: &NounPhrase, reading: &ParsedEvent) -> Option<bool> {
    let (scale, here) = state_of_word(predicate)?;
    let seen =
        matches!(reading.event.kind, Kind::Action | Kind::Caption) && scale == StateScale::There && is_person(thing);
    let acts = |clause: &Clause| {
        let subjects = clause.subject.iter().flat_map(NounPhrase::coordinated);
        let own = subjects
            .filter_map(|noun| reading.resolve(noun))
            .any(|noun| phrase_similarity(thing, &noun, reading) >= MIN_THING_SIMILARITY);
        own && clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && !verb.negated) && !subject_leaves(clause)
    };
    (seen && reading.clauses().any(acts) && !reading.clauses().any(subject_leaves)).then_some(here)
}

/// Returns whether somebody speaks soon after doing something with a thing. "It" then refers to that thing.
fn spoken_after_deed(thing: &NounPhrase, said: &RetrievedEvent, all: &[RetrievedEvent]) -> bool {
    let event = &said.reading.event;
    event.kind == Kind::Text
        && all.iter().any(|deed| {
            let done = matches!(deed.reading.event.kind, Kind::Action | Kind::Caption);
            let own = event.entity.is_some() && deed.reading.event.entity == event.entity;
            let (end, at) = (deed.span().end, said.span().start);
            done && own
                && end <= at
                && at.since(end) <= TOPIC_WINDOW
                && best_phrase_similarity(thing, &deed.reading) >= MIN_THING_SIMILARITY
        })
}

/// Returns the time span in which a state may have been reported. A state lasts: an earlier report holds in the time in
/// question. A deed does not last.
fn span_of_state(question: &Question<'_>) -> Option<TimeSpan> {
    let bound = question.bound()?;
    let is = question.asked.clause.verb.as_ref().is_some_and(|verb| verb.auxiliary_only);
    let lasts = is || question.tense != Tense::Past;
    let from = question.hard.map_or(Timestamp::from_micros(i64::MIN), |hard| hard.start);
    Some(if lasts { TimeSpan { start: from, end: bound.end } } else { bound })
}

/// Returns the coverage of the question by an event that reports the state, in any words.
fn state_coverage(question: &Question<'_>, predicate: &str, reading: &ParsedEvent) -> f32 {
    let mut held = question.content.item_similarities(reading);
    let having = !question.asked.clause.objects.is_empty();
    for (held, item) in held.iter_mut().zip(&question.content.items) {
        if same_state(predicate, &item.lemma) == Some(true) || having && item.tag == Tag::Verb {
            *held = 1.0;
        }
    }
    question.content.covered_share(&held)
}

/// Returns the thing that was given back: "has he returned the saw yet?" asks whether it is back.
fn returned_thing(clause: &Clause) -> Option<&NounPhrase> {
    let verb = clause.verb.as_ref().filter(|verb| !verb.negated)?;
    let back = verb.lemma == "return"
        || verb.particle.as_deref() == Some("back") && matches!(verb.lemma.as_str(), "bring" | "give" | "hand");
    clause.objects.first().filter(|object| back && !object.is_pronoun() && !is_person(object))
}
