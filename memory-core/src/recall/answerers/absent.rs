//! Answers who was absent: the persons who are usually together, without those who were there.

use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::recall::answerers::quote::join_list;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::content::word_similarity;
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::{Question, asks_absent};
use crate::recall::reading::{ParsedEvent, is_person, name_phrase};
use crate::{Kind, ReadError};

/// Minimum coverage of the question by an event that reports a gathering.
const MIN_GATHERING_COVERAGE: f32 = 0.6;
/// Maximum number of events that are searched for a meal.
const MAX_MEAL_EVENTS: usize = 300;
/// Similarity below which a phrase names another person.
const MIN_PERSON_SIMILARITY: f32 = 0.7;

/// Answers "who was not at the table on Sunday?" or "who was missing at the rehearsal?".
pub(in crate::recall) fn answer(
    pool: &EventPool<'_>,
    pooled: &[RetrievedEvent],
) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if !asks_absent(&question.asked) {
        return Ok(None);
    }
    // "Who did not sit at the table this evening?": any meal of that time.
    let bound = question.bound().or_else(|| question.boosted_spans().first().map(|(span, _)| *span));
    let meal = |found: &RetrievedEvent| bound.is_some() && asks_about_meal(question) && reports_meal(&found.reading);
    let gathers = |found: &&RetrievedEvent| {
        let meant = found.coverage.of_content >= MIN_GATHERING_COVERAGE || meal(found);
        meant && !found.reading.only_asks() && persons_together(&found.reading).len() > 1
    };
    let inside = |found: &&RetrievedEvent| bound.is_none_or(|bound| found.span().overlaps(bound));
    let listed = match (bound, asks_about_meal(question)) {
        (Some(bound), true) => pool.events_in_time_order(
            Some(bound),
            None,
            vec![Kind::Caption, Kind::Text],
            true,
            MAX_MEAL_EVENTS,
            &question.content,
        )?,
        _ => Vec::new(),
    };
    let all = merge(pooled.to_vec(), listed);
    let best = all.iter().filter(gathers).filter(inside).max_by(|a, b| {
        a.coverage.of_content.total_cmp(&b.coverage.of_content).then(a.span().start.cmp(&b.span().start))
    });
    let Some(gathering) = best else { return Ok(None) };
    let there = persons_in_clauses(&gathering.reading, |clause| names_attendees(clause, &gathering.reading));
    // A person reported to be elsewhere at that time.
    let mut missing: Vec<String> =
        persons_in_clauses(&gathering.reading, |clause| !names_attendees(clause, &gathering.reading));
    missing.retain(|name| !there.contains(name));
    let mut evidence = vec![gathering.clone()];
    if missing.is_empty() {
        let others =
            pool.search(&question.timeless, pool.embedding.as_ref(), &question.content, question.hard, None)?;
        let others = match asks_about_meal(question) {
            true => merge(
                others,
                pool.events_in_time_order(
                    None,
                    None,
                    vec![Kind::Caption, Kind::Text],
                    true,
                    MAX_MEAL_EVENTS,
                    &question.content,
                )?,
            ),
            false => others,
        };
        let others = others.iter().filter(gathers).filter(|found| found.id() != gathering.id());
        for found in others {
            for name in persons_together(&found.reading) {
                if !there.contains(&name) && !missing.contains(&name) {
                    missing.push(name);
                    evidence.push(found.clone());
                }
            }
        }
    }
    if missing.is_empty() {
        return Ok(None);
    }
    let text = join_list(&missing);
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text,
        CandidateValue::List(missing),
        evidence,
        // Reports of a meal seldom use the words of the question.
        question.content.known_share().max(MIN_GATHERING_COVERAGE),
        "those who are there at other times".into(),
    )))
}

/// Answers "was Ida at dinner?": yes if an event names her among the persons who were there.
pub(super) fn attendance_of(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Option<(bool, RetrievedEvent)> {
    let question = pool.question;
    let clause = &question.asked.clause;
    let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    let eats = clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "have" | "eat"));
    let person = clause.subject.as_ref().filter(|subject| subject.kind == NounKind::Name && is_person(subject))?;
    let joins = clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "take" | "join" | "participate"));
    let at = clause
        .adjuncts
        .iter()
        .filter(|adjunct| {
            is && adjunct.preposition == "at" || joins && matches!(adjunct.preposition.as_str(), "in" | "at")
        })
        .map(|adjunct| &adjunct.noun);
    let meal = at.chain(clause.objects.iter().filter(|_| eats)).find(|noun| is_meal(&noun.head))?;
    let bound = question.bound().or_else(|| question.boosted_spans().first().map(|(span, _)| *span));
    let gathering = pooled
        .iter()
        .filter(|found| !found.reading.only_asks() && bound.is_none_or(|bound| found.span().overlaps(bound)))
        .filter(|found| {
            found.reading.lemmas.iter().any(|(lemma, _)| word_similarity(&meal.head, lemma) >= MIN_PERSON_SIMILARITY)
        })
        .filter(|found| persons_together(&found.reading).len() > 1)
        .max_by_key(|found| (found.span().start, found.id()))?;
    let is_them =
        |name: &String| phrase_similarity(person, &name_phrase(name), &gathering.reading) >= MIN_PERSON_SIMILARITY;
    let whole = crate::index::words(question.part(&person.range)).collect::<Vec<_>>();
    let elsewhere = persons_in_clauses(&gathering.reading, |clause| !names_attendees(clause, &gathering.reading));
    // Of two persons with one family name, the full name decides.
    let away = elsewhere.iter().any(|name| crate::index::words(name).collect::<Vec<_>>() == whole);
    let named = !away && persons_together(&gathering.reading).iter().any(is_them);
    Some((named, gathering.clone()))
}

/// Returns whether a question is about a meal, or about the table at which it is eaten.
fn asks_about_meal(question: &Question<'_>) -> bool {
    question.named.iter().any(|noun| noun.head == "table" || is_meal(&noun.head))
}

fn is_meal(word: &str) -> bool {
    lexicon::is_a_as(word, "meal", PartOfSpeech::Noun).is_some()
}

/// Returns whether the first words of an event report a meal: "Lunch: …".
fn reports_meal(reading: &ParsedEvent) -> bool {
    reading.lemmas.first().is_some_and(|(lemma, tag)| *tag == Tag::Noun && is_meal(lemma))
}

/// Returns the subjects of the clauses of an event that a filter accepts.
fn persons_in_clauses(reading: &ParsedEvent, is: impl Fn(&Clause) -> bool) -> Vec<String> {
    let mut found: Vec<(NounPhrase, String)> = Vec::new();
    for clause in reading.clauses().filter(|clause| is(clause)) {
        let with = clause
            .adjuncts
            .iter()
            .filter(|adjunct| is_accompaniment(&adjunct.preposition))
            .map(|adjunct| &adjunct.noun);
        let persons = clause.subject.iter().chain(with).flat_map(NounPhrase::coordinated);
        for noun in persons.filter(|noun| is_person(noun) && noun.kind == NounKind::Name) {
            if !found.iter().any(|(known, _)| phrase_similarity(known, noun, reading) >= MIN_PERSON_SIMILARITY) {
                found.push((noun.clone(), reading.phrase_text(noun)));
            }
        }
    }
    found.into_iter().map(|(_, name)| name).collect()
}

/// Returns the persons who are together in an event. Empty if it names only one.
fn persons_together(reading: &ParsedEvent) -> Vec<String> {
    persons_in_clauses(reading, |clause| names_attendees(clause, reading))
}

/// Returns whether a clause names attendees: a clause that names several, and the clauses before it. What one person
/// does elsewhere comes after.
fn names_attendees(clause: &Clause, reading: &ParsedEvent) -> bool {
    let with = |clause: &Clause| {
        let mut nouns = clause.adjuncts.iter().filter(|adjunct| is_accompaniment(&adjunct.preposition));
        nouns.any(|adjunct| !adjunct.noun.also.is_empty() && adjunct.noun.coordinated().any(is_person))
    };
    let several =
        |clause: &Clause| clause.subject.as_ref().is_some_and(|subject| !subject.also.is_empty()) || with(clause);
    let last = reading.clauses().filter(|clause| several(clause)).map(|clause| clause.range.start).max();
    last.is_some_and(|last| clause.range.start <= last)
}

/// Returns whether a preposition adds attendees: "with Ivo and Mia", "serves soup to Ivo and Mia".
fn is_accompaniment(preposition: &str) -> bool {
    matches!(preposition, "to" | "with" | "for")
}
