//! Answers what is broken or who is ill: everything whose latest report says so.

use crate::Kind;
use crate::ReadError;
use crate::language::english::letters::capitalised;
use crate::language::english::question::AnswerKind;
use crate::language::english::states::{StateScale, state_of_word};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::answerers::quote::join_list;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::is_person;
use crate::recall::stance::{asked_predicate, stance};

/// Maximum number of events that are read, the latest ones.
const MAX_EVENTS: usize = 600;
/// Maximum number of things in an answer.
const MAX_THINGS: usize = 6;
/// Minimum similarity of two phrases for one thing.
const MIN_THING_SIMILARITY: f32 = 0.8;

/// Answers "what is still broken?" or "what hasn't been repaired yet?".
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if let Some(state) = asked_state_of_persons(question) {
        return persons_in_state(pool, &state);
    }
    if !asks_for_broken_things(question) {
        return Ok(None);
    }
    let kinds = vec![Kind::Text, Kind::State, Kind::Caption, Kind::Entity];
    let mut events = pool.events_in_time_order(question.bound(), None, kinds, true, MAX_EVENTS, &question.content)?;
    events.sort_by_key(|found| (found.span().start, found.id()));
    let mut known: Vec<(NounPhrase, RetrievedEvent)> = Vec::new();
    let mut broken: Vec<(String, RetrievedEvent)> = Vec::new();
    // Latest first: earlier reports about a thing no longer hold.
    for found in events.iter().rev().filter(|found| !found.reading.only_asks()) {
        for clause in found.reading.clauses() {
            for thing in things_with_state(clause) {
                let Some(thing) = found.reading.resolve(thing).filter(|thing| thing.kind == NounKind::Common) else {
                    continue;
                };
                let told = known.iter().any(|(other, at)| {
                    phrase_similarity(other, &thing, &at.reading).max(phrase_similarity(&thing, other, &found.reading))
                        >= MIN_THING_SIMILARITY
                });
                if told || is_person(&thing) {
                    continue;
                }
                let Some(bad) = stance("broken", &thing, clause, &found.reading) else { continue };
                if bad {
                    let told = found.reading.phrase_text(&thing);
                    let begins =
                        told.split(' ').next().is_some_and(|first| matches!(first, "The" | "A" | "An" | "My" | "Our"));
                    let text = if begins { told[..1].to_lowercase() + &told[1..] } else { told };
                    broken.push((text, found.clone()));
                }
                known.push((thing, found.clone()));
            }
        }
    }
    if broken.is_empty() {
        return Ok(None);
    }
    broken.truncate(MAX_THINGS);
    broken.reverse();
    let names: Vec<String> = broken.iter().map(|(name, _)| name.clone()).collect();
    let text = capitalised(&join_list(&names));
    let evidence = broken.into_iter().map(|(_, found)| found).collect();
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text,
        CandidateValue::List(names),
        evidence,
        1.0,
        "what was told last of each thing".into(),
    )))
}

/// Answers "who is ill?": the persons whose latest report says so.
fn persons_in_state(pool: &EventPool<'_>, wanted: &str) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let kinds = vec![Kind::Text, Kind::State, Kind::Caption];
    let mut events = pool.events_in_time_order(question.bound(), None, kinds, true, MAX_EVENTS, &question.content)?;
    events.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    let mut known: Vec<(NounPhrase, bool, RetrievedEvent)> = Vec::new();
    for found in events.iter().filter(|found| !found.reading.only_asks()) {
        let subjects =
            found.reading.clauses().filter_map(|clause| clause.subject.as_ref()).flat_map(NounPhrase::coordinated);
        for noun in subjects {
            let owner = noun.owner.as_deref().unwrap_or(noun);
            let Some(person) = found.reading.resolve(owner).filter(|it| it.kind == NounKind::Name && is_person(it))
            else {
                continue;
            };
            if known.iter().any(|(other, ..)| phrase_similarity(other, &person, &found.reading) >= MIN_THING_SIMILARITY)
            {
                continue;
            }
            if let Some(holds) = stance(wanted, &person, &question.asked.clause, &found.reading) {
                known.push((person, holds, found.clone()));
            }
        }
    }
    if known.is_empty() {
        return Ok(None);
    }
    let held: Vec<&(NounPhrase, bool, RetrievedEvent)> = known.iter().filter(|(_, holds, _)| *holds).collect();
    let name = |person: &NounPhrase| capitalised(&person.lemmas().join(" "));
    let names: Vec<String> = held.iter().map(|(person, ..)| name(person)).collect();
    let text = if names.is_empty() { "Nobody".to_owned() } else { join_list(&names) };
    let evidence = match held.is_empty() {
        true => known.into_iter().map(|(.., found)| found).take(MAX_THINGS).collect(),
        false => held.into_iter().map(|(.., found)| found.clone()).collect(),
    };
    let reason = "what was told last of each person";
    Ok(Some(Candidate::computed(Layer::Episodes, text, CandidateValue::List(names), evidence, 1.0, reason.into())))
}

/// Returns the state of persons that a question asks for and nothing else: "who is ill?", "who is still asleep?".
fn asked_state_of_persons(question: &Question<'_>) -> Option<String> {
    let clause = &question.asked.clause;
    let is = clause
        .verb
        .as_ref()
        .is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only && !verb.negated && !verb.past);
    let bare = clause.objects.is_empty() && clause.adjuncts.is_empty() && question.named.is_empty();
    let wanted = asked_predicate(clause, question).filter(|_| is && bare && question.ask() == AnswerKind::Person)?;
    state_of_word(&wanted).filter(|(scale, _)| matches!(scale, StateScale::Well | StateScale::Awake)).map(|_| wanted)
}

/// Returns whether a question asks which things are broken and names none.
fn asks_for_broken_things(question: &Question<'_>) -> bool {
    let clause = &question.asked.clause;
    let nothing = question
        .named
        .iter()
        .all(|noun| matches!(noun.head.as_str(), "order" | "house" | "home" | "repair" | "moment"));
    let open = question.ask() == AnswerKind::Thing && question.asked.subject_is_asked && clause.objects.is_empty();
    if !open || !nothing {
        return false;
    }
    let texts: Vec<&str> = question.asked.words.iter().map(|word| word.text.as_str()).collect();
    let out_of_order = texts.windows(3).any(|three| three == ["out", "of", "order"]);
    let told = asked_predicate(clause, question).and_then(|word| state_of_word(&word));
    // "What broke?" asks what happened.
    let is = clause.verb.as_ref().is_some_and(|verb| verb.auxiliary_only || verb.passive || verb.negated);
    let bad = told
        .is_some_and(|(scale, works)| scale == StateScale::Working && works == question.asked.has_negated_verb())
        && is;
    // "What has to be repaired?"
    let due = clause.verb.as_ref().is_some_and(|verb| {
        verb.passive
            && !verb.negated
            && matches!(verb.modal.as_deref(), Some("must" | "should"))
            && matches!(state_of_word(&verb.lemma), Some((StateScale::Working, true)))
    });
    let needs = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "need")
        && texts
            .iter()
            .any(|text| matches!(*text, "repair" | "repairing" | "fixing" | "mending" | "repaired" | "fixed"));
    out_of_order || bad || due || needs
}

/// Returns the things whose state a clause may report: an intransitive subject, and what somebody cannot deal with.
fn things_with_state(clause: &Clause) -> impl Iterator<Item = &NounPhrase> {
    let about = clause.adjuncts.iter().filter(|adjunct| adjunct.preposition == "about").map(|adjunct| &adjunct.noun);
    let cannot = clause.verb.as_ref().is_some_and(|verb| verb.negated && verb.modal.is_some());
    let intransitive = clause.objects.is_empty();
    let dealt = clause.objects.iter().chain(about).filter(move |_| cannot);
    clause.subject.iter().filter(move |_| intransitive).chain(dealt)
}
