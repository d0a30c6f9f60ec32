//! Answers what somebody does regularly: the deeds that recur on most days, and the hour of one that recurs.

use std::collections::BTreeSet;

use super::keep_if_any;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::NounPhrase;
use crate::language::english::tag::Tag;
use crate::language::english::time::Tense;
use crate::recall::answerers::quote::quotation;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::clause_selection::{has_other_actor, lacks_asked_deed, lacks_asked_thing};
use crate::recall::content::word_similarity;
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, name_phrase};
use crate::{Kind, ReadError};

/// Maximum number of events of the person that are read.
const MAX_PERSON_EVENTS: usize = 500;
/// Minimum number of days on which a habit occurs.
const MIN_HABIT_DAYS: usize = 2;
/// Minimum share of common words of two reports of one deed.
const MIN_DEED_OVERLAP: f32 = 0.6;
/// Similarity below which a phrase names another person.
const MIN_PERSON_SIMILARITY: f32 = 0.7;
/// Minimum coverage of the question by a deed that recurs, and the same relative to the best.
const MIN_HABIT_COVERAGE: f32 = 0.4;
const MIN_RELATIVE_COVERAGE: f32 = 0.75;
/// Maximum distance of a deed from the usual time, in minutes.
const MAX_HABIT_MINUTES: i32 = 60;
/// Maximum number of habits in an answer.
const MAX_HABITS: usize = 3;

/// A deed with the days on which it was done.
struct Habit {
    words: Vec<String>,
    days: BTreeSet<jiff::civil::Date>,
    found: Vec<RetrievedEvent>,
}

/// "What does he do every morning?"
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if !question.asked.habitual || question.ask() != AnswerKind::Action || question.has_time_bound() {
        return Ok(None);
    }
    let Some(person) = question.named.first() else { return Ok(None) };
    let hours = asked_hours(question);
    let mut all = merge(
        pool.events_about(person, question.hard, true, MAX_PERSON_EVENTS, &question.content)?,
        pool.events_mentioning(person, question.hard, true, MAX_PERSON_EVENTS, &question.content)?,
    );
    all.sort_by_key(|found| (found.span().start, found.id()));
    let zone = question.now.time_zone();
    let mut habits: Vec<Habit> = Vec::new();
    for found in all {
        if !matches!(found.reading.event.kind, Kind::Action | Kind::Caption) || !is_deed_of(person, &found.reading) {
            continue;
        }
        let at = found.span().start.to_jiff().to_zoned(zone.clone());
        if hours.as_ref().is_some_and(|hours| !hours.contains(&at.hour())) {
            continue;
        }
        let words = deed_words(person, &found.reading);
        match habits.iter_mut().find(|habit| is_same_deed(&habit.words, &words)) {
            Some(habit) => {
                habit.days.insert(at.date());
                habit.found.push(found);
            }
            None => habits.push(Habit { words, days: BTreeSet::from([at.date()]), found: vec![found] }),
        }
    }
    let most = habits.iter().map(|habit| habit.days.len()).max().unwrap_or_default();
    if most < MIN_HABIT_DAYS {
        return Ok(None);
    }
    habits.retain(|habit| habit.days.len() == most);
    let shown: Vec<&RetrievedEvent> = habits.iter().filter_map(|habit| habit.found.first()).take(MAX_HABITS).collect();
    let text = shown.iter().map(|found| quotation(found, question)).collect::<Vec<_>>().join(" ");
    let evidence = habits.into_iter().flat_map(|habit| habit.found).collect();
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text.clone(),
        CandidateValue::Text(text),
        evidence,
        question.content.known_share(),
        format!("done on {most} days"),
    )))
}

/// "What time does she have her tea?" Answers with the hour of a deed that was seen at about the same time on several days.
pub(in crate::recall) fn usual_time(pool: &EventPool<'_>, pooled: &[RetrievedEvent]) -> Option<Candidate> {
    let question = pool.question;
    if !asks_usual_time(question) {
        return None;
    }
    let seen = |found: &&RetrievedEvent| matches!(found.reading.event.kind, Kind::Caption | Kind::Action);
    let mut found: Vec<RetrievedEvent> = pooled.iter().filter(seen).cloned().collect();
    // What is called otherwise counts where nothing is called so.
    keep_if_any(&mut found, |found| !has_other_actor(question, &found.reading));
    keep_if_any(&mut found, |found| !lacks_asked_deed(question, &found.reading));
    keep_if_any(&mut found, |found| !lacks_asked_thing(question, &found.reading));
    let best = found.iter().map(|found| found.coverage.of_content).fold(0.0, f32::max);
    let least = MIN_HABIT_COVERAGE.max(MIN_RELATIVE_COVERAGE * best);
    found.retain(|found| found.coverage.of_content >= least);
    found.sort_by_key(|found| (found.span().start, found.id()));
    let zone = question.now.time_zone();
    let minute = |found: &RetrievedEvent| {
        let at = found.span().start.to_jiff().to_zoned(zone.clone());
        (at.date(), i32::from(at.hour()) * 60 + i32::from(at.minute()))
    };
    let mut minutes: Vec<i32> = found.iter().map(|found| minute(found).1).collect();
    minutes.sort_unstable();
    let middle = *minutes.get(minutes.len() / 2)?;
    found.retain(|found| (minute(found).1 - middle).abs() <= MAX_HABIT_MINUTES);
    let days: BTreeSet<jiff::civil::Date> = found.iter().map(|found| minute(found).0).collect();
    if days.len() < MIN_HABIT_DAYS {
        return None;
    }
    let clock = format!("{:02}:{:02}", middle / 60, middle % 60);
    let same = found.iter().all(|found| minute(found).1 == middle);
    let text = if same { format!("At {clock}") } else { format!("About {clock}") };
    let value = CandidateValue::Times(found.iter().map(RetrievedEvent::span).collect());
    let reason = format!("at about this time on {} days", days.len());
    Some(Candidate::computed(Layer::Episodes, text, value, found, question.content.known_share(), reason))
}

/// Returns whether a question asks at what time something is done as a rule. A plain present may also ask for an
/// appointment.
fn asks_usual_time(question: &Question<'_>) -> bool {
    let verb = question.asked.clause.verb.as_ref();
    let does = verb.is_some_and(|verb| {
        !verb.auxiliary_only && !verb.past && !verb.perfect && !verb.progressive && verb.modal.is_none()
    });
    let open = question.asked.cue.is_none() && !question.has_time_bound() && question.asked.occurrence.is_none();
    question.ask() == AnswerKind::Time && open && (question.asked.habitual || does && question.tense != Tense::Past)
}

/// Returns the hours of the named part of the day.
fn asked_hours(question: &Question<'_>) -> Option<std::ops::Range<i8>> {
    question.asked.words.iter().find_map(|word| match word.text.as_str() {
        "morning" | "mornings" => Some(4..12),
        "noon" | "lunchtime" => Some(11..14),
        "afternoon" | "afternoons" => Some(12..18),
        "evening" | "evenings" => Some(17..24),
        "night" | "nights" => Some(20..24),
        _ => None,
    })
}

/// Returns whether an event reports what a person does.
fn is_deed_of(person: &NounPhrase, reading: &ParsedEvent) -> bool {
    let is_person = |noun: &NounPhrase| phrase_similarity(person, noun, reading) >= MIN_PERSON_SIMILARITY;
    let entity = reading.event.entity.as_deref().map(name_phrase);
    let subjects = reading.clauses().filter_map(|clause| clause.subject.as_ref()).filter_map(|it| reading.resolve(it));
    entity.as_ref().is_some_and(is_person)
        || subjects.flat_map(|it| it.coordinated().cloned().collect::<Vec<_>>()).any(|it| is_person(&it))
}

/// Returns the words of a deed without its actor.
fn deed_words(person: &NounPhrase, reading: &ParsedEvent) -> Vec<String> {
    let own = &reading.lemmas[..reading.own_words.min(reading.lemmas.len())];
    let told = own.iter().filter(|(lemma, tag)| matches!(tag, Tag::Noun | Tag::Verb) && *lemma != person.head);
    told.map(|(lemma, _)| lemma.clone()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "words of a text")]
fn is_same_deed(a: &[String], b: &[String]) -> bool {
    if a.is_empty() || b.is_empty() {
        return false;
    }
    let held = |from: &[String], of: &[String]| {
        of.iter().filter(|word| from.iter().any(|other| word_similarity(word, other) >= 0.8)).count() as f32
            / of.len() as f32
    };
    held(a, b).min(held(b, a)) >= MIN_DEED_OVERLAP || held(a, b).max(held(b, a)) >= 0.99 && a.len().min(b.len()) >= 2
}
