//! Yes or no: from the newest event that says something of the thing, with the reason.

use crate::language::english::closed::PLACING;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::Ask;
use crate::language::english::states::{FINE, PAINING, Scale, is_ailment, same, state};
use crate::language::english::syntax::{Clause, NounPhrase, VerbGroup};
use crate::language::english::tag::{Tag, Word};
use crate::language::english::time::{Tense, ToldTime};
use crate::recall::answerers::began::goes_away;
use crate::recall::answerers::quote::quote;
use crate::recall::answerers::times::margin;
use crate::recall::candidate::{Candidate, Layer, Signals, Value};
use crate::recall::content::{verb_likeness, word_likeness};
use crate::recall::corrections::TakenBack;
use crate::recall::likeness::{best_in, likeness};
use crate::recall::pool::{Found, Pool, merged};
use crate::recall::question::Question;
use crate::recall::reading::{Reading, arguments, can_be_place, is_anaphor, is_person};
use crate::recall::telling::{is_done_by_another, is_of_another, is_untold};
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// Below this another thing is meant.
const SAME_THING: f32 = 0.55;
/// A told time up to this length is one of the clock.
const EXACT: std::time::Duration = std::time::Duration::from_secs(3_600);
/// So near, in minutes, two times of the clock are one.
const NEAR_THE_HOUR: i32 = 10;
/// How long somebody speaks of what they did.
const TOPIC: std::time::Duration = std::time::Duration::from_secs(1_800);
/// From here something was done with the thing that is asked about.
const SAID_OF_IT: f32 = 0.8;
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
    let tells = |found: &&Found| {
        !found.reading.only_asks()
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
    let denied = without.is_some() || denies(&newest.reading, &verb, clause);
    let chosen = if denied { newest } else { best };
    let yes = denied == question.asked.negated_verb();
    Ok(Some(said(pool, chosen, yes, pooled, "what was told of it")))
}

/// The event in which one does without the other what the question takes both to do: "Ida goes sailing without Bo", for "did Bo go
/// sailing with Ida?".
fn left_out<'p>(question: &Question<'_>, pooled: &'p [Found]) -> Option<&'p Found> {
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only)?;
    let subject = clause.subject.as_ref().filter(|subject| !subject.is_pronoun())?;
    // "Did he go | jogging with her?" is two clauses.
    let clauses = question.asked.sentences.iter().flat_map(|sentence| &sentence.clauses);
    let mut adjuncts = clauses.flat_map(|clause| &clause.adjuncts);
    let with = adjuncts.find(|adjunct| adjunct.preposition == "with").map(|adjunct| &adjunct.noun)?;
    let bound = question.bound();
    let alone = |found: &&Found| {
        let reading = &found.reading;
        let is = |asked: &NounPhrase, told: &NounPhrase| likeness(asked, told, reading) >= SAME_THING;
        let deed = |told: &Clause| told.verb.as_ref().is_some_and(|told| verb_likeness(verb, told) >= SAME_THING);
        let doers =
            || reading.clauses().filter_map(|told| told.subject.as_ref()).filter_map(|doer| reading.resolve(doer));
        let mut without = reading
            .clauses()
            .flat_map(|told| &told.adjuncts)
            .filter(|adjunct| adjunct.preposition == "without")
            .map(|adjunct| &adjunct.noun);
        bound.is_none_or(|bound| found.span().overlaps(bound))
            && reading.clauses().any(deed)
            && without.any(|noun| {
                let other = if is(subject, noun) { Some(with) } else { is(with, noun).then_some(subject) };
                other.is_some_and(|other| doers().any(|doer| is(other, &doer)))
            })
    };
    pooled.iter().filter(alone).max_by_key(|found| (found.span().start, found.id()))
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

/// What an event says of a state of what it calls "it".
fn of_it(predicate: &str, reading: &Reading) -> Option<bool> {
    let told = reading.sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses);
    let of_it: Vec<&Clause> = told.filter(|clause| clause.subject.as_ref().is_some_and(is_anaphor)).collect();
    of_it.into_iter().rev().find_map(|clause| {
        let meant = reading.resolve(clause.subject.as_ref()?)?;
        of_clause(predicate, &meant, clause, reading)
    })
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

/// Whether it is asked for something's use: "can one use it?".
fn uses(clause: &Clause) -> bool {
    clause.verb.as_ref().is_some_and(|verb| verb.lemma == "use" && verb.modal.is_some())
}

/// What is asked to have been given back: "has he returned the saw yet?" asks whether it is back.
fn returned(clause: &Clause) -> Option<&NounPhrase> {
    let verb = clause.verb.as_ref().filter(|verb| !verb.negated)?;
    let back = verb.lemma == "return"
        || verb.particle.as_deref() == Some("back") && matches!(verb.lemma.as_str(), "bring" | "give" | "hand");
    clause.objects.first().filter(|object| back && !object.is_pronoun() && !is_person(object))
}

/// Whether a clause does nothing to another thing: "does it run?", "is he running a temperature?", and not "did she run a shop?".
fn of_states(clause: &Clause) -> bool {
    clause.objects.iter().all(|object| state(&object.head).is_some() || is_ailment(&object.head))
}

/// The state or deed that is asked about: "locked", "work", "in the hallway" is none.
pub(super) fn predicate(clause: &Clause, question: &Question<'_>) -> Option<String> {
    // "Is there a new cup?" does not ask whether it is there, and "is it there?" does.
    let behind = |at: usize| clause.subject.as_ref().is_none_or(|subject| subject.range.start < at);
    let complements = clause.complements.iter().filter(|(word, range)| word != "there" || behind(range.start));
    let complement = complements.map(|(word, _)| word.as_str()).find(|word| state(word).is_some());
    let verb = clause.verb.as_ref();
    // "Is he going there?" asks for no state.
    let main = verb.filter(|verb| !verb.auxiliary_only).map(|verb| verb.lemma.as_str()).filter(|verb| *verb != "go");
    let participle = question
        .asked
        .words
        .iter()
        .filter(|word| word.range.start >= clause.range.start && word.range.end <= clause.range.end)
        // "Is the new cup here?" does not ask whether something is new.
        // "Did she go sailing?" does not ask whether she is gone.
        .filter(|word| !describes(clause, word) && !word.is("there"))
        .filter(|word| {
            word.lemma != "go" || word.is("gone") || clause.adjuncts.iter().any(|it| it.preposition == "to")
        });
    let mut participle = participle
        .filter(|word| matches!(word.tag, Tag::Verb | Tag::Adjective | Tag::Noun))
        .map(|word| word.text.as_str());
    let object = clause.objects.iter().map(|object| object.head.as_str()).find(|head| state(head).is_some());
    // "Has he still got a headache?" asks whether he is ill.
    let object = object.or_else(|| clause.objects.iter().any(|object| is_ailment(&object.head)).then_some("ill"));
    // "Is it all right?"
    let right = || clause.complements.iter().any(|(word, _)| word == "right" || word == "alright");
    complement
        .or(object)
        .or_else(|| right().then_some("ok"))
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

/// Whether a word stands inside a noun phrase, before its head.
fn describes(clause: &Clause, word: &Word) -> bool {
    let nouns = clause.subject.iter().chain(&clause.objects).flat_map(NounPhrase::all);
    nouns
        .chain(clause.adjuncts.iter().map(|adjunct| &adjunct.noun))
        .any(|noun| noun.range.start <= word.range.start && word.range.end < noun.range.end && word.lemma != noun.head)
}

const LIKING: &[&str] = &["like", "love", "enjoy", "want", "fancy"];
/// What somebody does with a thing that works, or to make it work.
const DEALS_WITH: &[&str] = &["do", "use", "fix", "repair", "mend", "replace", "start", "run", "operate"];

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
pub(in crate::recall) fn stance(
    predicate: &str,
    thing: &NounPhrase,
    asked: &Clause,
    reading: &Reading,
) -> Option<bool> {
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
    let ails = |noun: &NounPhrase| {
        is_ailment(&noun.head)
            && state(predicate).is_some_and(|(scale, _)| scale == Scale::Well)
            && noun.owner.as_deref().is_none_or(is_it)
    };
    let of_state =
        clause.subject.as_ref().is_some_and(|subject| same(predicate, &subject.head) == Some(true) || ails(subject));
    // "My throat is sore": who has it is ill.
    let of_body = |noun: &NounPhrase| {
        let part = lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(Category::Body);
        part && noun.owner.as_deref().is_some_and(is_it)
    };
    let of_thing = clause.subject.iter().chain(&clause.objects).any(is_it)
        || clause.subject.as_ref().is_some_and(of_body)
        || clause.adjuncts.iter().any(|adjunct| is_it(&adjunct.noun))
        || clause.subject.is_none();
    if !of_thing && !of_state {
        return None;
    }
    // "My ear hurts", "my ear is all right again".
    if let Some((Scale::Well, well)) = state(predicate)
        && clause.subject.as_ref().is_some_and(of_body)
        && let Some(verb) = verb.filter(|verb| verb.modal.is_none() && !verb.future)
    {
        let pains = PAINING.contains(&verb.lemma.as_str());
        let is_fine = |word: &str| FINE.contains(&word);
        let right = || reading.text(&clause.range).to_lowercase().contains("all right");
        let fine = !pains && (clause.complements.iter().any(|(word, _)| is_fine(word)) || right());
        if pains || fine {
            return Some((fine != verb.negated) == well);
        }
    }
    if let Some(verb) = verb.filter(|verb| verb.modal.is_some() || verb.future) {
        // "I can't fix it": what nobody can deal with does not work.
        let useless = matches!(verb.modal.as_deref(), Some("can" | "could"))
            && verb.negated
            && DEALS_WITH.contains(&verb.lemma.as_str());
        return state(predicate).filter(|(scale, _)| useless && *scale == Scale::Working).map(|(_, end)| !end);
    }
    // Who drives off is here no more.
    if let Some((Scale::There, here)) = state(predicate)
        && is_person(thing)
        && clause.subject.as_ref().is_some_and(|subject| subject.all().any(is_it))
        && goes_away(clause)
    {
        return (!is_to_come(clause, reading)).then_some(!here);
    }
    // What is called off is not on.
    let takes_place = || {
        let category = lexicon::category(&thing.head, PartOfSpeech::Noun);
        matches!(
            category,
            Some(Category::Act | Category::Event | Category::Time | Category::Communication | Category::Group)
        )
    };
    if let (Some((Scale::On, on)), Some(verb)) = (state(predicate), verb)
        && takes_place()
    {
        let off = verb.lemma == "cancel" || verb.lemma == "call" && verb.particle.as_deref() == Some("off");
        return off.then_some(on == verb.negated);
    }
    let gone = of_state && (ends(clause) || clause.verb.as_ref().is_some_and(|verb| verb.lemma == "go"));
    let nobody = clause.subject.as_ref().is_some_and(is_nobody);
    let ended = gone || nobody || is_stopped(clause, reading);
    let negated = verb.is_some_and(|verb| verb.negated) != ended;
    let mut words: Vec<&str> = clause.complements.iter().map(|(word, _)| word.as_str()).collect();
    if let Some(verb) = verb {
        // "They are still missing" is no missing of somebody.
        words.push(match verb.lemma.as_str() {
            "miss" if verb.progressive => "missing",
            "light" if verb.passive => "lit",
            lemma => lemma,
        });
        words.extend(verb.particle.as_deref());
    }
    for noun in clause.objects.iter().chain(clause.subject.iter()) {
        words.extend(noun.modifiers.iter().map(String::as_str));
        words.push(&noun.head);
    }
    words.extend(clause.adjuncts.iter().map(|adjunct| adjunct.noun.head.as_str()));
    // "In service again", "out of order".
    words.extend(clause.adjuncts.iter().filter_map(|adjunct| {
        let use_of = matches!(adjunct.noun.head.as_str(), "service" | "order" | "operation" | "use" | "action");
        let out = reading.text(&clause.range).contains("out of ");
        (use_of && adjunct.noun.modifiers.is_empty()).then_some(if out { "broken" } else { "work" })
    }));
    for word in words {
        let word = if is_ailment(word) && state(word).is_none() { "ill" } else { word };
        if let Some(alike) = same(predicate, word) {
            return Some(alike != negated);
        }
        // What is lit or runs works; what is off may work as well.
        if let (Some((Scale::Working, works)), Some((Scale::On, true))) = (state(predicate), state(word)) {
            return Some(works != negated);
        }
        // A flat tyre or torch does not do.
        if let (Some((Scale::Working, works)), Some((Scale::Charged, false))) = (state(predicate), state(word)) {
            return Some(works == negated);
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

/// Whether all that a text says of the deed that is asked about is when it is to be, which is not the time of the question.
fn only_plans(question: &Question<'_>, reading: &Reading) -> bool {
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only);
    let Some(verb) = verb.filter(|_| reading.event.kind == Kind::Text) else { return false };
    let same = |clause: &&Clause| clause.verb.as_ref().is_some_and(|told| verb_likeness(verb, told) >= SAME_THING);
    let mut deeds = reading.clauses().filter(same).peekable();
    let bound = question.bound();
    let elsewhere = |clause: &Clause| {
        let inside = |time: &&ToldTime| is_inside(clause, time);
        let mut times = reading.times.iter().filter(inside);
        times.all(|time| bound.is_none_or(|bound| !time.span.overlaps(bound)))
    };
    deeds.peek().is_some() && deeds.all(|clause| is_to_come(clause, reading) && elsewhere(clause))
}

/// Whether a time stands in a clause, or right behind it.
fn is_inside(clause: &Clause, time: &ToldTime) -> bool {
    clause.range.start <= time.range.start && time.range.start <= clause.range.end + 1
}

/// Whether a clause names a time after its telling: "I move out on Sunday".
fn is_to_come(clause: &Clause, reading: &Reading) -> bool {
    let inside = |time: &&ToldTime| is_inside(clause, time);
    reading.times.iter().filter(inside).any(|time| time.span.start > reading.event.span.end)
}

fn is_nobody(noun: &NounPhrase) -> bool {
    matches!(noun.head.as_str(), "nobody" | "none" | "nothing") || noun.determiner.as_deref() == Some("no")
}

/// "He has given up skating", "she quit skating".
fn gives_up(verb: &VerbGroup) -> bool {
    let up = verb.lemma == "give" && verb.particle.as_deref() == Some("up");
    !verb.negated && (up || matches!(verb.lemma.as_str(), "stop" | "quit" | "cease"))
}

/// Whether an event says that something is not done, or no more.
/// "No lesson tomorrow", for "is there a lesson tomorrow?".
fn is_without(reading: &Reading, verb: &str, asked: &Clause) -> bool {
    let meant = |noun: &NounPhrase| {
        asked.subject.iter().chain(&asked.objects).any(|thing| likeness(thing, noun, reading) >= SAME_THING)
    };
    let told = reading.sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses);
    matches!(verb, "be" | "have")
        && told.flat_map(arguments).any(|noun| noun.determiner.as_deref() == Some("no") && meant(noun))
}

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
            // Who does not eat it does not like it.
            let taste = LIKING.contains(&verb)
                && told.negated
                && lexicon::category(&told.lemma, PartOfSpeech::Verb) == Some(Category::ConsumptionVerb)
                && clause
                    .objects
                    .iter()
                    .any(|told| asked.objects.iter().any(|asked| likeness(asked, told, reading) >= SAME_THING));
            (alike && clause.subject.as_ref().is_some_and(is_nobody))
                || taste
                || not_there
                || (told.negated && permits && told.modal.is_some())
                || (told.negated && !told.lemma.is_empty() && (alike || verb == "be" || verb == "have"))
                || gives_up(told) && reading.lemmas.iter().any(|(lemma, _)| word_likeness(verb, lemma) >= 0.8)
                || told.particle.as_deref() == Some("off") && matches!(told.lemma.as_str(), "call")
                || matches!(told.lemma.as_str(), "cancel" | "postpone" | "refuse")
        })
    })
}
