//! What somebody does again and again: the deeds that come back on most days.

use std::collections::BTreeSet;

use crate::language::english::question::Ask;
use crate::language::english::syntax::NounPhrase;
use crate::language::english::tag::Tag;
use crate::recall::answerers::quote::quote;
use crate::recall::candidate::{Candidate, Layer, Value};
use crate::recall::content::word_similarity;
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, name_phrase};
use crate::{Kind, ReadError};

/// Events of the person that are gone through.
const EVENTS: usize = 500;
/// On so many days at least something is done that is a habit.
const DAYS: usize = 2;
/// The least share of its words that two tellings of one deed have in common.
const SAME_DEED: f32 = 0.6;
/// Below this somebody else is meant.
const SAME_PERSON: f32 = 0.7;
/// Most habits that an answer names.
const NAMED: usize = 3;

/// A deed with the days on which it was done.
struct Habit {
    words: Vec<String>,
    days: BTreeSet<jiff::civil::Date>,
    found: Vec<RetrievedEvent>,
}

/// "What does he do every morning?"
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if !question.asked.habitual || question.ask() != Ask::Action || question.has_time_bound() {
        return Ok(None);
    }
    let Some(person) = question.named.first() else { return Ok(None) };
    let hours = hours(question);
    let mut all = merge(
        pool.events_about(person, question.hard, true, EVENTS, &question.content)?,
        pool.events_mentioning(person, question.hard, true, EVENTS, &question.content)?,
    );
    all.sort_by_key(|found| (found.span().start, found.id()));
    let zone = question.now.time_zone();
    let mut habits: Vec<Habit> = Vec::new();
    for found in all {
        if !matches!(found.reading.event.kind, Kind::Action | Kind::Caption) || !is_of(person, &found.reading) {
            continue;
        }
        let at = found.span().start.to_jiff().to_zoned(zone.clone());
        if hours.as_ref().is_some_and(|hours| !hours.contains(&at.hour())) {
            continue;
        }
        let words = deed(person, &found.reading);
        match habits.iter_mut().find(|habit| is_same(&habit.words, &words)) {
            Some(habit) => {
                habit.days.insert(at.date());
                habit.found.push(found);
            }
            None => habits.push(Habit { words, days: BTreeSet::from([at.date()]), found: vec![found] }),
        }
    }
    let most = habits.iter().map(|habit| habit.days.len()).max().unwrap_or_default();
    if most < DAYS {
        return Ok(None);
    }
    habits.retain(|habit| habit.days.len() == most);
    let shown: Vec<&RetrievedEvent> = habits.iter().filter_map(|habit| habit.found.first()).take(NAMED).collect();
    let text = shown.iter().map(|found| quote(found, question)).collect::<Vec<_>>().join(" ");
    let evidence = habits.into_iter().flat_map(|habit| habit.found).collect();
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text.clone(),
        Value::Text(text),
        evidence,
        question.content.known_share(),
        format!("done on {most} days"),
    )))
}

/// The hours of the part of the day that is named.
fn hours(question: &Question<'_>) -> Option<std::ops::Range<i8>> {
    question.asked.words.iter().find_map(|word| match word.text.as_str() {
        "morning" | "mornings" => Some(4..12),
        "noon" | "lunchtime" => Some(11..14),
        "afternoon" | "afternoons" => Some(12..18),
        "evening" | "evenings" => Some(17..24),
        "night" | "nights" => Some(20..24),
        _ => None,
    })
}

/// Whether an event tells what a person does.
fn is_of(person: &NounPhrase, reading: &ParsedEvent) -> bool {
    let is_person = |noun: &NounPhrase| phrase_similarity(person, noun, reading) >= SAME_PERSON;
    let entity = reading.event.entity.as_deref().map(name_phrase);
    let subjects = reading.clauses().filter_map(|clause| clause.subject.as_ref()).filter_map(|it| reading.resolve(it));
    entity.as_ref().is_some_and(is_person)
        || subjects.flat_map(|it| it.all().cloned().collect::<Vec<_>>()).any(|it| is_person(&it))
}

/// The words of what is done, without who does it.
fn deed(person: &NounPhrase, reading: &ParsedEvent) -> Vec<String> {
    let own = &reading.lemmas[..reading.own_words.min(reading.lemmas.len())];
    let told = own.iter().filter(|(lemma, tag)| matches!(tag, Tag::Noun | Tag::Verb) && *lemma != person.head);
    told.map(|(lemma, _)| lemma.clone()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "words of a text")]
fn is_same(a: &[String], b: &[String]) -> bool {
    if a.is_empty() || b.is_empty() {
        return false;
    }
    let held = |from: &[String], of: &[String]| {
        of.iter().filter(|word| from.iter().any(|other| word_similarity(word, other) >= 0.8)).count() as f32
            / of.len() as f32
    };
    held(a, b).min(held(b, a)) >= SAME_DEED || held(a, b).max(held(b, a)) >= 0.99 && a.len().min(b.len()) >= 2
}
