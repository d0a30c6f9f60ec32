//! Yes or no: from the newest event that says something of the thing, with the reason.

use crate::language::english::closed::PLACING;
use crate::language::english::question::Ask;
use crate::language::english::states::{Scale, same, state};
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::language::english::tag::Tag;
use crate::language::english::time::Tense;
use crate::recall::answerers::mended;
use crate::recall::answerers::quote::quote;
use crate::recall::answerers::times::margin;
use crate::recall::candidate::{Candidate, Layer, Signals, Value};
use crate::recall::content::word_likeness;
use crate::recall::corrections::TakenBack;
use crate::recall::denial::{denies, is_of_another_colour, is_without, left_out, only_plans};
use crate::recall::likeness::{best_in, likeness};
use crate::recall::pool::{Found, Pool, merged};
use crate::recall::question::Question;
use crate::recall::reading::{Reading, is_person};
use crate::recall::stance::{concerns, goes_away, is_nobody, of_it, of_states, predicate, stance, uses};
use crate::recall::telling::{is_done_by_another, is_of_another, is_untold, telling};
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// A told time up to this length is one of the clock.
const EXACT: std::time::Duration = std::time::Duration::from_secs(3_600);
/// So near, in minutes, two times of the clock are one.
const NEAR_THE_HOUR: i32 = 10;
/// How long somebody speaks of what they did.
const TOPIC: std::time::Duration = std::time::Duration::from_secs(1_800);
/// From here something was done with the thing that is asked about.
const SAID_OF_IT: f32 = 0.8;
/// From here an event speaks of a thing of which it is asked whether there is any.
const EXISTS: f32 = 0.5;
/// How much of a question memory must have heard of to say no because nothing tells it.
const KNOWN: f32 = 0.6;
/// How much of a question an event must hold to say yes to it.
const SAYS_IT: f32 = 0.55;

/// Yes or no.
pub(in crate::recall) fn answer(pool: &Pool<'_>, pooled: &[Found]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    debug_assert_eq!(question.ask(), Ask::Truth);
    let thing = question
        .asked
        .clause
        .subject
        .clone()
        .filter(|subject| !subject.is_pronoun() && subject.head != "one")
        .or_else(|| question.named.iter().find(|noun| noun.head != "one").cloned());
    let asked = &question.asked.clause;
    let of_state = || predicate(asked, question).filter(|_| of_states(asked) || uses(asked));
    let stated = match returned(asked) {
        Some(thing) => Some((thing.clone(), "back".to_owned())),
        None => thing.clone().zip(of_state()),
    };
    if let Some(mended) =
        thing.as_ref().map(|thing| mended::since(pool, thing, stated.as_ref(), pooled)).transpose()?.flatten()
    {
        let yes = mended.well != question.asked.negated_verb();
        let mut said = said(pool, &mended.evidence[0], yes, pooled, "what was done since about what was wrong");
        said.evidence = merged(mended.evidence, said.evidence);
        said.signals.coverage = said.signals.coverage.max(SAYS_IT);
        said.signals.thing = SAID_OF_IT;
        return Ok(Some(said));
    }
    if let Some((thing, predicate)) = &stated {
        let bound = holding_at(question);
        let listed = merged(
            pool.about(thing, bound, true, 80, &question.content)?,
            pool.mentions(thing, bound, true, 80, &question.content)?,
        );
        let mut all = merged(listed, pooled.to_vec());
        // What was told afterwards says nothing of how it was then.
        all.retain(|found| bound.is_none_or(|bound| found.span().start <= bound.end));
        all.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
        for found in &all {
            let allowed = state(predicate).is_some_and(|(scale, _)| scale == Scale::Allowed);
            let follows = || spoken_after_deed(thing, found, &all);
            if let Some(holds) =
                of_it(predicate, &found.reading).filter(|_| !concerns(thing, &found.reading) && follows())
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
    }
    if let Some(candidate) = super::apart::answer(pool)? {
        return Ok(Some(candidate));
    }
    if let Some(candidate) = super::kin::truth(pool)? {
        return Ok(Some(candidate));
    }
    if let Some((there, gathering)) = super::absent::attended(pool, pooled) {
        let yes = there != question.asked.negated_verb();
        let mut said = said(pool, &gathering, yes, pooled, "by those who are named as there");
        said.signals.coverage = said.signals.coverage.max(SAYS_IT);
        said.signals.thing = 1.0;
        return Ok(Some(said));
    }
    if let Some(alone) = left_out(question, pooled) {
        let mut said = said(pool, alone, question.asked.negated_verb(), pooled, "one of the two was left out");
        said.signals.coverage = said.signals.coverage.max(SAYS_IT);
        said.signals.thing = 1.0;
        return Ok(Some(said));
    }
    if let Some(candidate) = whereabouts(pool, pooled)? {
        return Ok(Some(candidate));
    }
    if let Some(candidate) = at_the_time(pool, pooled)? {
        return Ok(Some(candidate));
    }
    if let Some(pair) = denied_since(pool, pooled) {
        let yes = question.asked.negated_verb();
        let mut candidate = said(pool, &pair.later, yes, pooled, "what was told since takes it back");
        candidate.signals.coverage = pair.earlier.coverage.of_content;
        return Ok(Some(candidate));
    }
    // Otherwise what happened says yes, and what was told not to happen says no; of a state, only what names one.
    let clause = &question.asked.clause;
    let is = clause.verb.as_ref().is_some_and(|verb| verb.auxiliary_only || verb.passive) && of_states(clause);
    // That somebody must not do it says as well that it is not allowed.
    let named = |word: &String| state(word).is_none_or(|(scale, _)| scale != Scale::Allowed);
    let state = predicate(clause, question).filter(|_| is).filter(named);
    let names = |found: &Found| {
        let mut told = found.reading.lemmas.iter();
        state.as_ref().is_none_or(|state| told.any(|(lemma, _)| same(state, lemma).is_some()))
    };
    let planned = |found: &Found| question.tense == Tense::Past && only_plans(question, &found.reading);
    // "Was there any salt in it?" is not answered by what it is in.
    let existing = clause.subject.as_ref().filter(|subject| {
        subject.determiner.as_deref() == Some("any") && clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be")
    });
    let holds = |found: &Found| existing.is_none_or(|thing| best_in(thing, &found.reading) >= EXISTS);
    let tells = |found: &&Found| {
        !found.reading.only_asks()
            && holds(found)
            && names(found)
            && !planned(found)
            && !is_untold(question, &found.reading)
            && !is_of_another(question, &found.reading)
            && !is_done_by_another(question, &found.reading)
    };
    let mut ranked: Vec<&Found> = pooled.iter().filter(tells).collect();
    ranked.sort_by(|a, b| b.fitness().total_cmp(&a.fitness()).then(b.span().start.cmp(&a.span().start)));
    let Some(best) = ranked.first() else { return Ok(None) };
    if best.coverage.of_content < SAYS_IT {
        return Ok(None);
    }
    let verb = question.asked.clause.verb.as_ref().map(|verb| verb.lemma.clone()).unwrap_or_default();
    // Of events that suit about as well, the newest holds.
    let near = ranked
        .iter()
        .filter(|found| found.fitness() >= best.fitness() - 0.15 && found.coverage.of_content >= SAYS_IT - 0.1);
    let Some(newest) = near.max_by_key(|found| (denies(&found.reading, &verb, clause), found.span().start, found.id()))
    else {
        return Ok(None);
    };
    let latest = ranked.iter().filter(|found| found.coverage.of_content >= SAYS_IT - 0.1);
    let latest = latest.max_by_key(|found| (found.span().start, found.id()));
    let without = latest.filter(|found| is_without(&found.reading, &verb, clause));
    let newest = without.unwrap_or(newest);
    // "I never posted it", for "has it gone off?".
    let never = |found: &Found| {
        let told = telling(question, &found.reading);
        let never = |clause: &&Clause| {
            let verb = clause.verb.as_ref().filter(|verb| verb.negated && !verb.auxiliary_only && verb.modal.is_none());
            verb.is_some() && !clause.subject.as_ref().is_some_and(is_nobody)
        };
        found.reading.event.kind == Kind::Text && !told.is_empty() && told.iter().all(never)
    };
    let denied = without.is_some()
        || never(newest)
        || denies(&newest.reading, &verb, clause)
        || is_of_another_colour(&newest.reading, clause);
    let chosen = if denied { newest } else { best };
    let yes = denied == question.asked.negated_verb();
    Ok(Some(said(pool, chosen, yes, pooled, "what was told of it")))
}

/// No, where what is asked about would have been noticed and was not: of somebody or something that memory knows, at a time that is
/// past. Nothing is said of what memory never heard of.
pub(super) fn unheard_of(pool: &Pool<'_>, pooled: &[Found]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !verb.negated && verb.modal.is_none());
    let subject =
        clause.subject.as_ref().filter(|subject| !subject.is_pronoun() && subject.determiner.as_deref() != Some("any"));
    let (Some(_), Some(subject)) = (verb, subject) else { return Ok(None) };
    let plain = question.tense == Tense::Past && question.query.options.is_empty() && !question.asked.habitual;
    if !plain || question.asked.negated || question.asked.cue.is_some() || question.content.known() < KNOWN {
        return Ok(None);
    }
    let mut about = pool.about(subject, question.hard, true, 20, &question.content)?;
    about.sort_by(|a, b| b.fitness().total_cmp(&a.fitness()).then(b.span().start.cmp(&a.span().start)));
    let Some(nearest) = about.first().cloned() else { return Ok(None) };
    let mut said = said(pool, &nearest, false, pooled, "nothing was seen or told of it");
    said.text = "No: nothing was seen or told of it".to_owned();
    said.evidence = merged(about, said.evidence);
    said.signals.coverage = said.signals.coverage.max(SAYS_IT);
    said.signals.thing = 1.0;
    Ok(Some(said))
}

/// Whether a question whether somebody is here is answered by seeing them do something.
fn is_seen(predicate: &str, thing: &NounPhrase, reading: &Reading) -> Option<bool> {
    let (scale, here) = state(predicate)?;
    let seen = matches!(reading.event.kind, Kind::Action | Kind::Caption) && scale == Scale::There && is_person(thing);
    let acts = |clause: &Clause| {
        let subjects = clause.subject.iter().flat_map(NounPhrase::all);
        let own =
            subjects.filter_map(|noun| reading.resolve(noun)).any(|noun| likeness(thing, &noun, reading) >= SAID_OF_IT);
        own && clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && !verb.negated) && !goes_away(clause)
    };
    (seen && reading.clauses().any(acts) && !reading.clauses().any(goes_away)).then_some(here)
}

/// Whether somebody says something soon after doing something with a thing: what they call "it" is that.
fn spoken_after_deed(thing: &NounPhrase, said: &Found, all: &[Found]) -> bool {
    let event = &said.reading.event;
    event.kind == Kind::Text
        && all.iter().any(|deed| {
            let done = matches!(deed.reading.event.kind, Kind::Action | Kind::Caption);
            let own = event.entity.is_some() && deed.reading.event.entity == event.entity;
            let (end, at) = (deed.span().end, said.span().start);
            done && own && end <= at && at.since(end) <= TOPIC && best_in(thing, &deed.reading) >= SAID_OF_IT
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
fn told_of_state(question: &Question<'_>, predicate: &str, reading: &Reading) -> f32 {
    let mut held = question.content.held(reading);
    let having = !question.asked.clause.objects.is_empty();
    for (held, item) in held.iter_mut().zip(&question.content.items) {
        if same(predicate, &item.lemma) == Some(true) || having && item.tag == Tag::Verb {
            *held = 1.0;
        }
    }
    question.content.covered_by(&held)
}

/// Of the statements that say what is asked, one that was taken back since.
fn denied_since<'a>(pool: &'a Pool<'_>, pooled: &[Found]) -> Option<&'a TakenBack> {
    let corrects = |found: &&Found| pool.taken_back.iter().all(|pair| pair.later.id() != found.id());
    let others = pooled.iter().filter(corrects).map(|found| found.coverage.of_content).fold(SAYS_IT, f32::max);
    let said = pool.taken_back.iter().filter(|pair| pair.earlier.coverage.of_content >= others);
    said.max_by_key(|pair| (pair.later.span().start, pair.later.id()))
}

/// "Is the meeting still at ten?": by the time that was told last of what is to come.
fn at_the_time(pool: &Pool<'_>, pooled: &[Found]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().map_or("", |verb| verb.lemma.as_str());
    let takes_place =
        matches!(verb, "be" | "start" | "begin" | "take" | "come" | "arrive" | "leave" | "open" | "close");
    let [asked] = question.phrases.as_slice() else { return Ok(None) };
    let alone =
        clause.objects.is_empty() && clause.complements.iter().all(|(word, _)| word == "still" || word == "now");
    let to_come = question.tense != Tense::Past && clause.subject.as_ref().is_some_and(|it| !is_person(it));
    if !takes_place || !alone || !to_come {
        return Ok(None);
    }
    let Some(told) = super::times::told(pool, pooled)? else { return Ok(None) };
    let (Value::Times(spans), Some(event)) = (&told.value, told.evidence.first().cloned()) else { return Ok(None) };
    let Some(span) = spans.first() else { return Ok(None) };
    let zone = question.now.time_zone();
    let minute = |at: Timestamp| {
        let time = at.to_jiff().to_zoned(zone.clone());
        (i32::from(time.hour()) * 60 + i32::from(time.minute()), time.date())
    };
    let middle = |span: TimeSpan| span.start.saturating_add(span.end.since(span.start) / 2);
    let ((asked_at, asked_on), (told_at, told_on)) = (minute(middle(asked.named)), minute(span.start));
    let hours = asked.named.end.since(asked.named.start) <= EXACT;
    if hours && span.end.since(span.start) > EXACT {
        return Ok(None);
    }
    // A time of the clock is meant of any day, and either half of it where none is said.
    let apart = (asked_at - told_at).rem_euclid(12 * 60);
    let same = if hours {
        apart.min(12 * 60 - apart) <= NEAR_THE_HOUR
    } else {
        asked_on == told_on || asked.named.overlaps(*span)
    };
    let yes = same != question.asked.negated_verb();
    let mut said = said(pool, &event, yes, pooled, "by the time that was told last");
    said.text = format!("{}: {}", if yes { "Yes" } else { "No" }, told.text);
    Ok(Some(said))
}

/// "Is the ladder in the hall?": by the place where it is.
fn whereabouts(pool: &Pool<'_>, pooled: &[Found]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let being = clause.verb.as_ref().is_some_and(|verb| {
        matches!(
            verb.lemma.as_str(),
            "be" | "stand" | "lie" | "hang" | "sit" | "stay" | "park" | "leave" | "keep" | "put"
        ) && clause.objects.is_empty()
            // Who "has been to the town" need not be there now.
            && !(verb.perfect && clause.adjuncts.iter().any(|adjunct| adjunct.preposition == "to"))
    });
    let asked: Vec<&str> = clause
        .adjuncts
        .iter()
        .filter(|adjunct| PLACING.contains(&adjunct.preposition.as_str()))
        .map(|adjunct| adjunct.noun.head.as_str())
        .collect();
    let Some(place) = asked.first().filter(|_| being) else { return Ok(None) };
    let Some(found) = super::places::answer(pool, pooled, None)? else { return Ok(None) };
    let words: Vec<String> = crate::index::words(&found.text).collect();
    let there = words.iter().any(|word| word_likeness(place, word) >= 0.8);
    let Some(event) = found.evidence.first().cloned() else { return Ok(None) };
    let yes = there != question.asked.negated_verb();
    let mut said = said(pool, &event, yes, pooled, "by the latest place that was told");
    said.signals.thing = found.signals.thing;
    Ok(Some(said))
}

fn said(pool: &Pool<'_>, found: &Found, yes: bool, pooled: &[Found], reason: &str) -> Candidate {
    let question = pool.question;
    let mut evidence = vec![found.clone()];
    evidence.extend(pooled.iter().filter(|other| other.id() != found.id()).cloned());
    let thing = question.named.first().map_or(0.5, |thing| best_in(thing, &found.reading));
    Candidate {
        layer: Layer::Episodes,
        text: format!("{}: {}", if yes { "Yes" } else { "No" }, quote(found, question)),
        value: Value::Truth(yes),
        signals: Signals {
            coverage: found.coverage.of_content,
            cosine: found.cosine.unwrap_or(0.0),
            margin: margin(pooled),
            fits: 1.0,
            thing,
            known: question.content.known(),
        },
        evidence,
        confidence: 0.0,
        reason: reason.into(),
    }
}

/// What is asked to have been given back: "has he returned the saw yet?" asks whether it is back.
fn returned(clause: &Clause) -> Option<&NounPhrase> {
    let verb = clause.verb.as_ref().filter(|verb| !verb.negated)?;
    let back = verb.lemma == "return"
        || verb.particle.as_deref() == Some("back") && matches!(verb.lemma.as_str(), "bring" | "give" | "hand");
    clause.objects.first().filter(|object| back && !object.is_pronoun() && !is_person(object))
}
