//! Who was not there: those who are usually together, without those who were.

use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::recall::answerers::quote::list;
use crate::recall::candidate::{Candidate, Layer, Value};
use crate::recall::content::word_similarity;
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::{Question, asks_absent};
use crate::recall::reading::{ParsedEvent, is_person, name_phrase};
use crate::{Kind, ReadError};

/// How much of the question a gathering holds.
const SAYS_IT: f32 = 0.6;
/// Events that are gone through for a meal.
const LISTED: usize = 300;
/// Below this somebody else is meant.
const SAME: f32 = 0.7;

/// "Who was not at the table on Sunday?", "who was missing at the rehearsal?".
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
    let meal = |found: &RetrievedEvent| bound.is_some() && asks_meal(question) && tells_meal(&found.reading);
    let gathers = |found: &&RetrievedEvent| {
        let meant = found.coverage.of_content >= SAYS_IT || meal(found);
        meant && !found.reading.only_asks() && together(&found.reading).len() > 1
    };
    let inside = |found: &&RetrievedEvent| bound.is_none_or(|bound| found.span().overlaps(bound));
    let listed = match (bound, asks_meal(question)) {
        (Some(bound), true) => pool.events_in_time_order(
            Some(bound),
            None,
            vec![Kind::Caption, Kind::Text],
            true,
            LISTED,
            &question.content,
        )?,
        _ => Vec::new(),
    };
    let all = merge(pooled.to_vec(), listed);
    let best = all.iter().filter(gathers).filter(inside).max_by(|a, b| {
        a.coverage.of_content.total_cmp(&b.coverage.of_content).then(a.span().start.cmp(&b.span().start))
    });
    let Some(gathering) = best else { return Ok(None) };
    let there = persons(&gathering.reading, |clause| is_there(clause, &gathering.reading));
    // Who is told to be elsewhere meanwhile.
    let mut missing: Vec<String> = persons(&gathering.reading, |clause| !is_there(clause, &gathering.reading));
    missing.retain(|name| !there.contains(name));
    let mut evidence = vec![gathering.clone()];
    if missing.is_empty() {
        let others =
            pool.search(&question.timeless, pool.embedding.as_ref(), &question.content, question.hard, None)?;
        let others = match asks_meal(question) {
            true => merge(
                others,
                pool.events_in_time_order(
                    None,
                    None,
                    vec![Kind::Caption, Kind::Text],
                    true,
                    LISTED,
                    &question.content,
                )?,
            ),
            false => others,
        };
        let others = others.iter().filter(gathers).filter(|found| found.id() != gathering.id());
        for found in others {
            for name in together(&found.reading) {
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
    let text = list(&missing);
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text,
        Value::List(missing),
        evidence,
        // What people do at a meal is seldom told in the words of the question.
        question.content.known_share().max(SAYS_IT),
        "those who are there at other times".into(),
    )))
}

/// "Was Ida at dinner?": yes if she is named among those who were there.
pub(super) fn attended(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Option<(bool, RetrievedEvent)> {
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
        .filter(|found| found.reading.lemmas.iter().any(|(lemma, _)| word_similarity(&meal.head, lemma) >= SAME))
        .filter(|found| together(&found.reading).len() > 1)
        .max_by_key(|found| (found.span().start, found.id()))?;
    let is_them = |name: &String| phrase_similarity(person, &name_phrase(name), &gathering.reading) >= SAME;
    let whole = crate::index::words(question.part(&person.range)).collect::<Vec<_>>();
    let elsewhere = persons(&gathering.reading, |clause| !is_there(clause, &gathering.reading));
    // Of two with one family name the one who is named in full is meant.
    let away = elsewhere.iter().any(|name| crate::index::words(name).collect::<Vec<_>>() == whole);
    let named = !away && together(&gathering.reading).iter().any(is_them);
    Some((named, gathering.clone()))
}

/// Whether a question is about a meal, or about the table at which it is eaten.
fn asks_meal(question: &Question<'_>) -> bool {
    question.named.iter().any(|noun| noun.head == "table" || is_meal(&noun.head))
}

fn is_meal(word: &str) -> bool {
    lexicon::is_a_as(word, "meal", PartOfSpeech::Noun).is_some()
}

/// Whether an event tells of a meal by its first words: "Lunch: …".
fn tells_meal(reading: &ParsedEvent) -> bool {
    reading.lemmas.first().is_some_and(|(lemma, tag)| *tag == Tag::Noun && is_meal(lemma))
}

/// The persons whom the clauses of an event are about, those that a filter takes.
fn persons(reading: &ParsedEvent, is: impl Fn(&Clause) -> bool) -> Vec<String> {
    let mut found: Vec<(NounPhrase, String)> = Vec::new();
    for clause in reading.clauses().filter(|clause| is(clause)) {
        let with =
            clause.adjuncts.iter().filter(|adjunct| is_together(&adjunct.preposition)).map(|adjunct| &adjunct.noun);
        let persons = clause.subject.iter().chain(with).flat_map(NounPhrase::all);
        for noun in persons.filter(|noun| is_person(noun) && noun.kind == NounKind::Name) {
            if !found.iter().any(|(known, _)| phrase_similarity(known, noun, reading) >= SAME) {
                found.push((noun.clone(), reading.phrase_text(noun)));
            }
        }
    }
    found.into_iter().map(|(_, name)| name).collect()
}

/// The persons who are together as an event tells it: none if it names only one.
fn together(reading: &ParsedEvent) -> Vec<String> {
    persons(reading, |clause| is_there(clause, reading))
}

/// Whether a clause tells who is there: those that name several, and what comes before them. What one does somewhere else is told
/// behind.
fn is_there(clause: &Clause, reading: &ParsedEvent) -> bool {
    let with = |clause: &Clause| {
        let mut nouns = clause.adjuncts.iter().filter(|adjunct| is_together(&adjunct.preposition));
        nouns.any(|adjunct| !adjunct.noun.also.is_empty() && adjunct.noun.all().any(is_person))
    };
    let several =
        |clause: &Clause| clause.subject.as_ref().is_some_and(|subject| !subject.also.is_empty()) || with(clause);
    let last = reading.clauses().filter(|clause| several(clause)).map(|clause| clause.range.start).max();
    last.is_some_and(|last| clause.range.start <= last)
}

/// "With Ivo and Mia", "serves soup to Ivo and Mia": they are there as well.
fn is_together(preposition: &str) -> bool {
    matches!(preposition, "to" | "with" | "for")
}
