//! Yes or no: from the newest event that says something of the thing, with the reason.

use crate::language::english::closed::PLACING;
use crate::language::english::question::Ask;
use crate::language::english::states::{Scale, same, state};
use crate::language::english::syntax::{Clause, NounPhrase};
use crate::language::english::tag::Tag;
use crate::language::english::time::Tense;
use crate::recall::answerers::quote::quote;
use crate::recall::answerers::times::margin;
use crate::recall::candidate::{Candidate, Layer, Signals, Value};
use crate::recall::content::word_likeness;
use crate::recall::corrections::TakenBack;
use crate::recall::likeness::{best_in, likeness};
use crate::recall::pool::{Found, Pool, merged};
use crate::recall::question::Question;
use crate::recall::reading::{Reading, arguments, can_be_place, is_person};
use crate::{ReadError, TimeSpan, Timestamp};

/// Below this another thing is meant.
const SAME_THING: f32 = 0.55;
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
        .filter(|subject| !subject.is_pronoun())
        .or_else(|| question.named.first().cloned());
    if let (Some(thing), Some(predicate)) =
        (&thing, predicate(&question.asked.clause, question).filter(|_| of_states(&question.asked.clause)))
    {
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
            let allowed = state(&predicate).is_some_and(|(scale, _)| scale == Scale::Allowed);
            if !concerns(thing, &found.reading) || allowed && found.coverage.of_content < SAYS_IT {
                continue;
            }
            if let Some(holds) = stance(&predicate, thing, &question.asked.clause, &found.reading) {
                let yes = holds != question.asked.negated_verb();
                let mut said = said(pool, found, yes, pooled, "the newest that was told of its state");
                said.signals.coverage = said.signals.coverage.max(told_of_state(question, &predicate, &found.reading));
                said.signals.known = said.signals.known.max(said.signals.coverage);
                return Ok(Some(said));
            }
        }
    }
    if let Some(candidate) = whereabouts(pool, pooled)? {
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
    let mut ranked: Vec<&Found> = pooled.iter().filter(|found| !found.reading.only_asks() && names(found)).collect();
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
    let denied = denies(&newest.reading, &verb, clause);
    let chosen = if denied { newest } else { best };
    let yes = denied == question.asked.negated_verb();
    Ok(Some(said(pool, chosen, yes, pooled, "what was told of it")))
}

/// Whether an event speaks of a thing or a person, or of what is theirs: "Ivo's fever".
pub(super) fn concerns(thing: &NounPhrase, reading: &Reading) -> bool {
    let mut owners = reading.clauses().flat_map(arguments).filter_map(|noun| noun.owner.as_deref());
    best_in(thing, reading) >= SAME_THING || owners.any(|owner| likeness(thing, owner, reading) >= SAME_THING)
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

/// "Is the ladder in the hall?": by the place where it is.
fn whereabouts(pool: &Pool<'_>, pooled: &[Found]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let being = clause.verb.as_ref().is_some_and(|verb| {
        matches!(
            verb.lemma.as_str(),
            "be" | "stand" | "lie" | "hang" | "sit" | "stay" | "park" | "leave" | "keep" | "put"
        ) && clause.objects.is_empty()
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

/// Whether a clause does nothing to another thing: "does it run?", "is he running a temperature?", and not "did she run a shop?".
fn of_states(clause: &Clause) -> bool {
    clause.objects.iter().all(|object| state(&object.head).is_some())
}

/// The state or deed that is asked about: "locked", "work", "in the hallway" is none.
pub(super) fn predicate(clause: &Clause, question: &Question<'_>) -> Option<String> {
    let complement = clause.complements.iter().map(|(word, _)| word.as_str()).find(|word| state(word).is_some());
    let verb = clause.verb.as_ref();
    // "Is he going there?" asks for no state.
    let main = verb.filter(|verb| !verb.auxiliary_only).map(|verb| verb.lemma.as_str()).filter(|verb| *verb != "go");
    let participle = question
        .asked
        .words
        .iter()
        .filter(|word| word.range.start >= clause.range.start && word.range.end <= clause.range.end);
    let mut participle = participle
        .filter(|word| matches!(word.tag, Tag::Verb | Tag::Adjective | Tag::Noun))
        .map(|word| word.text.as_str());
    let object = clause.objects.iter().map(|object| object.head.as_str()).find(|head| state(head).is_some());
    complement
        .or(object)
        .map(str::to_owned)
        .or_else(|| main.filter(|verb| state(verb).is_some()).map(str::to_owned))
        .or_else(|| participle.find(|word| state(word).is_some()).map(str::to_owned))
        .or_else(|| {
            // "Can I use it?" asks whether it works.
            let uses = main.is_some_and(|verb| matches!(verb, "use" | "ring" | "function" | "light" | "start"));
            uses.then(|| "work".to_owned())
        })
        .or_else(|| {
            let on = clause.complements.iter().any(|(word, _)| word == "on")
                || verb.is_some_and(|verb| verb.particle.as_deref() == Some("on"));
            on.then(|| "work".to_owned())
        })
}

/// What somebody does with a thing that works, or to make it work.
const DEALS_WITH: &[&str] = &["do", "use", "fix", "repair", "mend", "start", "run", "operate"];

/// Whether a clause says of its subject that it is over.
fn ends(clause: &Clause) -> bool {
    let is_end = |word: &str| matches!(word, "gone" | "over" | "past" | "away");
    // "It is over since Monday": the preposition is what is said of it.
    let being = clause.verb.as_ref().is_some_and(|verb| verb.auxiliary_only);
    let mut prepositions = clause.adjuncts.iter().filter_map(|adjunct| adjunct.preposition.split(' ').next());
    clause.complements.iter().any(|(word, _)| is_end(word)) || being && prepositions.any(is_end)
}

/// Whether an event says the opposite of a state that the question takes for granted: "when was it opened?", "they close it".
pub(super) fn is_opposed(question: &Question<'_>, reading: &Reading) -> bool {
    let main = &question.asked.main;
    let mut states = question.asked.words.iter().filter(|word| {
        main.start <= word.range.start
            && word.range.end <= main.end
            && matches!(word.tag, Tag::Verb | Tag::Adjective | Tag::Noun)
            && state(&word.lemma).is_some()
    });
    let Some(word) = states.next() else { return false };
    let thing = question.asked.clause.subject.as_ref().filter(|subject| !subject.is_pronoun());
    let Some(thing) = thing.or(question.named.first()) else { return false };
    if question.asked.negated_verb() {
        return false;
    }
    let told = reading.sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses);
    let held: Vec<bool> = told
        .filter(|clause| clause.verb.is_some() && clause.subject.is_some())
        .filter(|clause| !is_elsewhere(&question.asked.clause, clause, reading))
        .filter_map(|clause| of_clause(&word.lemma, thing, clause, reading))
        .collect();
    !held.is_empty() && held.iter().all(|held| !held)
}

/// What an event says of a state of a thing: that it holds, that it does not, or nothing.
pub(super) fn stance(predicate: &str, thing: &NounPhrase, asked: &Clause, reading: &Reading) -> Option<bool> {
    let mut found: Option<bool> = None;
    for sentence in reading.sentences.iter().filter(|sentence| !sentence.asks) {
        for clause in sentence.clauses.iter().filter(|clause| !is_elsewhere(asked, clause, reading)) {
            if let Some(holds) = of_clause(predicate, thing, clause, reading) {
                found = Some(holds);
            }
        }
    }
    found
}

/// Whether a clause tells of another place than the one that is asked about: "allowed in the yard" says nothing of the hall.
fn is_elsewhere(asked: &Clause, told: &Clause, reading: &Reading) -> bool {
    let places = |clause: &Clause| -> Vec<NounPhrase> {
        let placing = clause.adjuncts.iter().filter(|adjunct| PLACING.contains(&adjunct.preposition.as_str()));
        placing.map(|adjunct| adjunct.noun.clone()).filter(|noun| can_be_place(noun) && !is_person(noun)).collect()
    };
    let (asked, told) = (places(asked), places(told));
    let alike = |asked: &NounPhrase| told.iter().any(|told| likeness(asked, told, reading) >= 0.5);
    !asked.is_empty() && !told.is_empty() && !asked.iter().any(alike)
}

/// Whether a clause says what the clause before it says is over: "it has stopped working".
fn is_stopped(clause: &Clause, reading: &Reading) -> bool {
    let before = reading.clauses().filter(|other| other.range.end <= clause.range.start);
    let stops = |other: &Clause| {
        let verb = other.verb.as_ref().filter(|verb| !verb.negated && other.objects.is_empty());
        verb.is_some_and(|verb| matches!(verb.lemma.as_str(), "stop" | "cease" | "quit"))
    };
    let goes_on = clause.inherited && clause.verb.as_ref().is_some_and(|verb| verb.progressive);
    goes_on && before.last().is_some_and(|other| other.range.end + 1 >= clause.range.start && stops(other))
}

fn of_clause(predicate: &str, thing: &NounPhrase, clause: &Clause, reading: &Reading) -> Option<bool> {
    let verb = clause.verb.as_ref();
    let is_it = |noun: &NounPhrase| reading.resolve(noun).is_some_and(|noun| likeness(thing, &noun, reading) >= 0.5);
    // "The fever is gone": a state may itself be what is told of.
    let of_state = clause.subject.as_ref().is_some_and(|subject| same(predicate, &subject.head) == Some(true));
    let of_thing = clause.subject.iter().chain(&clause.objects).any(is_it)
        || clause.adjuncts.iter().any(|adjunct| is_it(&adjunct.noun))
        || clause.subject.is_none();
    if !of_thing && !of_state {
        return None;
    }
    if let Some(verb) = verb.filter(|verb| verb.modal.is_some() || verb.future) {
        // "I can't fix it": what nobody can deal with does not work.
        let useless = verb.modal.as_deref() == Some("can") && verb.negated && DEALS_WITH.contains(&verb.lemma.as_str());
        return state(predicate).filter(|(scale, _)| useless && *scale == Scale::Working).map(|(_, end)| !end);
    }
    let gone = of_state && (ends(clause) || clause.verb.as_ref().is_some_and(|verb| verb.lemma == "go"));
    let nobody = clause.subject.as_ref().is_some_and(is_nobody);
    let ended = gone || nobody || is_stopped(clause, reading);
    let negated = verb.is_some_and(|verb| verb.negated) != ended;
    let mut words: Vec<&str> = clause.complements.iter().map(|(word, _)| word.as_str()).collect();
    if let Some(verb) = verb {
        // "They are still missing" is no missing of somebody.
        words.push(if verb.progressive && verb.lemma == "miss" { "missing" } else { &verb.lemma });
        words.extend(verb.particle.as_deref());
    }
    for noun in clause.objects.iter().chain(clause.subject.iter()) {
        words.extend(noun.modifiers.iter().map(String::as_str));
        words.push(&noun.head);
    }
    words.extend(clause.adjuncts.iter().map(|adjunct| adjunct.noun.head.as_str()));
    for word in words {
        if let Some(alike) = same(predicate, word) {
            return Some(alike != negated);
        }
    }
    // "It does not ring", "it runs again": what a thing does tells whether it works.
    let (scale, end) = state(predicate)?;
    if scale != Scale::Working {
        return None;
    }
    let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject))?;
    let about = likeness(thing, &subject, reading) >= SAME_THING;
    let acts =
        verb.is_some_and(|verb| !verb.auxiliary_only && !verb.past && clause.objects.is_empty() && !verb.passive);
    (about && acts).then_some(end != negated)
}

fn is_nobody(noun: &NounPhrase) -> bool {
    matches!(noun.head.as_str(), "nobody" | "none" | "nothing") || noun.determiner.as_deref() == Some("no")
}

/// Whether an event says that something is not done, or no more.
fn denies(reading: &Reading, verb: &str, asked: &Clause) -> bool {
    let permits = matches!(verb, "allow" | "permit" | "let");
    reading.sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses).any(|clause| {
        clause.verb.as_ref().is_some_and(|told| {
            let alike = word_likeness(verb, &told.lemma) >= 0.6;
            // "Only in the yard, not on the stairs".
            let not_there = told.negated
                && told.lemma.is_empty()
                && clause.adjuncts.iter().any(|told| {
                    asked.adjuncts.iter().any(|asked| likeness(&asked.noun, &told.noun, reading) >= SAME_THING)
                });
            (alike && clause.subject.as_ref().is_some_and(is_nobody))
                || not_there
                || (told.negated && permits && told.modal.is_some())
                || (told.negated && !told.lemma.is_empty() && (alike || verb == "be" || verb == "have"))
                || told.particle.as_deref() == Some("off") && matches!(told.lemma.as_str(), "call")
                || matches!(told.lemma.as_str(), "cancel" | "postpone" | "refuse")
        })
    })
}
