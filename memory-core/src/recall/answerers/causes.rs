//! Answers why something went wrong, if somebody found the cause later: "It was a coin. It drains again." Answers why
//! something sounded, if somebody said it right then: "It's only the toast."

use std::time::Duration;

use crate::language::english::question::AnswerKind;
use crate::language::english::states::state_of_word;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::answerers::quote::quotation;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::recall::stance::stance;
use crate::{Kind, ReadError, TimeSpan};

/// Minimum similarity of an event to the thing in question.
const MIN_THING_SIMILARITY: f32 = 0.7;
/// Minimum coverage of the question by an event that reports the trouble.
const MIN_TROUBLE_COVERAGE: f32 = 0.6;
/// Time after the trouble within which a cause is found.
const DIAGNOSIS_WINDOW: Duration = Duration::from_secs(48 * 3_600);
/// Time for which somebody works on the thing before they report the cause.
const REPAIR_WINDOW: Duration = Duration::from_secs(2_700);
/// Time after a sound within which somebody says what it is.
const EXPLANATION_WINDOW: Duration = Duration::from_secs(900);
/// Nouns for a cause.
const CAUSE_NOUNS: &[&str] = &["culprit", "cause", "reason", "fault"];
/// Maximum number of texts and deeds after the trouble that are read.
const MAX_LATER_EVENTS: usize = 400;

/// Answers with the cause of the trouble that a question names.
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    found: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(thing) = troubled_thing(question) else { return Ok(None) };
    if let Some(found) = cause_of_sound(pool, thing, found)? {
        return Ok(Some(found));
    }
    let Some(trouble) = trouble_event(question, thing, found) else { return Ok(None) };
    let span = TimeSpan { start: trouble.span().start, end: trouble.span().end.saturating_add(DIAGNOSIS_WINDOW) };
    let span = question.hard.and_then(|hard| crate::recall::question::intersection(span, hard)).unwrap_or(span);
    let kinds = vec![Kind::Text, Kind::Caption, Kind::Action];
    let behind = pool.events_in_time_order(Some(span), None, kinds, false, MAX_LATER_EVENTS, &question.content)?;
    let concerned = |at: usize| {
        let said = &behind[at];
        best_phrase_similarity(thing, &said.reading) >= MIN_THING_SIMILARITY
            || behind[..at].iter().rev().any(|before| {
                said.span().start.since(before.span().end) <= REPAIR_WINDOW
                    && best_phrase_similarity(thing, &before.reading) >= MIN_THING_SIMILARITY
            })
    };
    let cause = behind.iter().enumerate().find(|(at, said)| {
        said.reading.event.kind == Kind::Text
            && said.id() != trouble.id()
            && explaining_clause(&said.reading).is_some()
            && concerned(*at)
    });
    Ok(cause.map(|(_, cause)| cause_candidate(question, thing, trouble, cause)))
}

/// Returns the thing in trouble of a question "why".
fn troubled_thing<'q>(question: &'q Question<'_>) -> Option<&'q NounPhrase> {
    let clause = &question.asked.clause;
    let caused = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "cause") && question.asked.subject_is_asked;
    let caused = clause.objects.first().filter(|_| caused);
    let why = clause.subject.as_ref().filter(|_| question.ask() == AnswerKind::Reason);
    let thing = faulty_thing(question).or(caused).or(why)?;
    (thing.kind == NounKind::Common && !thing.is_pronoun() && !is_person(thing)).then_some(thing)
}

/// Answers why something sounded with what somebody said of it within minutes: "it's only my toast".
fn cause_of_sound(
    pool: &EventPool<'_>,
    thing: &NounPhrase,
    found: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let is_meant = |found: &&RetrievedEvent| {
        found.reading.event.kind == Kind::Sound && best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY
    };
    let Some(sound) = found.iter().filter(is_meant).max_by_key(|found| found.span().start) else { return Ok(None) };
    let span = TimeSpan { start: sound.span().start, end: sound.span().end.saturating_add(EXPLANATION_WINDOW) };
    let said =
        pool.events_in_time_order(Some(span), None, vec![Kind::Text], false, MAX_LATER_EVENTS, &question.content)?;
    let explains = |clause: &Clause| {
        let it = clause.subject.as_ref().is_some_and(|it| matches!(it.head.as_str(), "it" | "that" | "this"));
        let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only && !verb.negated);
        let only = clause.complements.iter().any(|(word, _)| matches!(word.as_str(), "only" | "just"));
        it && is && only && !clause.objects.is_empty()
    };
    let told = |said: &&RetrievedEvent| {
        let mut told = said.reading.told_clauses();
        told.any(explains)
    };
    Ok(said.iter().find(told).map(|cause| cause_candidate(question, thing, sound, cause)))
}

/// Returns the event that reports the trouble, the earliest match.
fn trouble_event<'f>(
    question: &Question<'_>,
    thing: &NounPhrase,
    found: &'f [RetrievedEvent],
) -> Option<&'f RetrievedEvent> {
    let clause = &question.asked.clause;
    let tells = |found: &&RetrievedEvent| {
        let reading = &found.reading;
        !reading.only_asks()
            && best_phrase_similarity(thing, reading) >= MIN_THING_SIMILARITY
            && (stance("broken", thing, clause, reading) == Some(true)
                || found.coverage.of_content >= MIN_TROUBLE_COVERAGE)
    };
    found.iter().filter(tells).min_by_key(|found| (found.span().start, found.id()))
}

/// Returns the clause that explains a fault: "it was the fuse", "it was only a loose wire", "it just needed oil".
pub(in crate::recall) fn explaining_clause(reading: &ParsedEvent) -> Option<&Clause> {
    let told = || reading.told_clauses();
    let has = |all: &[&str]| crate::index::words(&reading.event.text).any(|word| all.contains(&word.as_str()));
    let restored = has(&["again", "back"]);
    let well = restored || has(&["now"]) && told().any(says_all_well);
    let only = |clause: &Clause| clause.complements.iter().any(|(word, _)| matches!(word.as_str(), "only" | "just"));
    told().find(|clause| {
        let Some(verb) = clause.verb.as_ref().filter(|verb| !verb.negated) else { return false };
        let named = clause.subject.iter().chain(&clause.objects).any(|noun| CAUSE_NOUNS.contains(&noun.head.as_str()));
        if named && verb.lemma == "be" {
            return true;
        }
        if !verb.past {
            return false;
        }
        // "It works again, a mouse had gnawed through the wire."
        if verb.perfect && !verb.auxiliary_only && restored {
            return true;
        }
        let be = verb.lemma == "be" && verb.auxiliary_only;
        let it = clause.subject.as_ref().is_some_and(|subject| matches!(subject.head.as_str(), "it" | "that"));
        // "A wire was burnt through, it is fine now", "it was full of air".
        let common = |noun: &NounPhrase| noun.kind == NounKind::Common && !noun.is_pronoun() && !is_person(noun);
        let in_a_state = (be && !clause.complements.is_empty() || verb.passive) && clause.objects.is_empty();
        let of_a_part = clause.subject.as_ref().is_some_and(common) && well;
        let held = clause.adjuncts.iter().any(|adjunct| matches!(adjunct.preposition.as_str(), "of" | "with" | "in"));
        if in_a_state && (of_a_part || it && held) {
            return true;
        }
        let object = clause.objects.first().is_some_and(common);
        object && (be && it || only(clause) && matches!(verb.lemma.as_str(), "need" | "want" | "lack"))
    })
}

/// Returns whether a clause says that all is well with something.
fn says_all_well(clause: &Clause) -> bool {
    let good = |word: &str| state_of_word(word).is_some_and(|(_, good)| good);
    clause.verb.as_ref().is_some_and(|verb| !verb.negated && !verb.past && (good(&verb.lemma) || verb.lemma == "be"))
        && (clause.complements.iter().any(|(word, _)| good(word))
            || clause.verb.as_ref().is_some_and(|verb| good(&verb.lemma)))
}

/// Returns the thing whose fault the question asks for.
pub(in crate::recall) fn faulty_thing<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let clause = &question.asked.clause;
    let mut nouns = clause.subject.iter().chain(&clause.objects);
    let wrong = clause.complements.iter().any(|(word, _)| word == "wrong")
        || nouns.any(|noun| matches!(noun.head.as_str(), "matter" | "problem"));
    let adjunct = clause.adjuncts.iter().find(|adjunct| wrong && adjunct.preposition == "with");
    // "What made him ill?"
    let made = clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "make" | "get" | "cause"));
    let bad = clause.complements.iter().any(|(word, _)| state_of_word(word).is_some_and(|(_, good)| !good));
    let made = clause.objects.first().filter(|_| made && bad && question.asked.subject_is_asked);
    // "Why was it dead?", "why did it not work?"
    let why = question.ask() == AnswerKind::Reason
        && (bad
            || clause
                .verb
                .as_ref()
                .is_some_and(|verb| verb.negated && state_of_word(&verb.lemma).is_some_and(|(_, good)| good)));
    let why = clause.subject.as_ref().filter(|subject| why && !subject.is_pronoun());
    adjunct.map(|adjunct| &adjunct.noun).or(made).or(why)
}

fn cause_candidate(
    question: &Question<'_>,
    thing: &NounPhrase,
    trouble: &RetrievedEvent,
    cause: &RetrievedEvent,
) -> Candidate {
    let text = quotation(cause, question);
    Candidate {
        layer: Layer::Episodes,
        text: text.clone(),
        value: CandidateValue::Text(text),
        signals: Signals {
            coverage: trouble.coverage.of_content.max(MIN_THING_SIMILARITY),
            cosine: trouble.cosine.unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing: best_phrase_similarity(thing, &trouble.reading),
            known: question.content.known_share(),
        },
        evidence: vec![cause.clone(), trouble.clone()],
        confidence: 0.0,
        computed: false,
        reason: "what was found out afterwards".into(),
    }
}
