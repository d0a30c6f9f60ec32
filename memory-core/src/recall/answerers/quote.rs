//! Quotations as answers, and how well they fit.

use crate::language::english::closed::PLACE_PREPOSITIONS;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::recall::answerers::amounts::{has_asked_unit, unit_class};
use crate::recall::answerers::counts::names_counted;
use crate::recall::content::word_similarity;
use crate::recall::likeness::is_colour;
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, arguments, is_person};
use crate::{Kind, Modality};

/// Returns the `fits` signal of a mere quotation. Questions for a place, a number or a thing of a class need more.
pub(in crate::recall) fn quotation_fit(question: &Question<'_>) -> f32 {
    if asks_for_name_or_number(question) {
        return 0.0;
    }
    match question.ask() {
        AnswerKind::Thing if asks_colour(question) => 0.0,
        AnswerKind::Description | AnswerKind::Reason | AnswerKind::Action => 0.8,
        AnswerKind::Thing if question.asked.class.is_none() => 0.5,
        AnswerKind::Person if question.asked.subject_is_asked => 0.0,
        AnswerKind::Thing | AnswerKind::Person | AnswerKind::Owner | AnswerKind::Change => 0.2,
        // The view shows where the robot was.
        AnswerKind::Place if asks_where_robot_was(question) => 0.5,
        _ => 0.0,
    }
}

/// Returns whether a question for a place asks for the place of the robot, at the time of another event.
fn asks_where_robot_was(question: &Question<'_>) -> bool {
    question.asked.cue.is_some() && question.asked.clause.subject.as_ref().is_some_and(|subject| subject.head == "you")
}

/// Returns whether a sentence may contain an answer that was not extracted: a place, a number, a time span.
pub(in crate::recall) fn may_contain_answer(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    if asks_for_name_or_number(question) {
        return false;
    }
    let numbers = || match unit_class(question) {
        Some(_) => reading.quantities().iter().any(|quantity| has_asked_unit(question, quantity, reading)),
        None => !reading.quantities().is_empty() || reading.lemmas.iter().any(|(_, tag)| *tag == Tag::Number),
    };
    match question.ask() {
        AnswerKind::Place => {
            let mut adjuncts = reading.clauses().flat_map(|clause| &clause.adjuncts);
            adjuncts.any(|adjunct| PLACE_PREPOSITIONS.contains(&adjunct.preposition.as_str()))
        }
        AnswerKind::Amount | AnswerKind::Count | AnswerKind::Times => numbers() && names_counted(question, reading),
        AnswerKind::Length => numbers() || !reading.times.is_empty(),
        AnswerKind::Thing if asks_colour(question) => reading.lemmas.iter().any(|(lemma, _)| is_colour(lemma)),
        // An event without a person does not name the actor.
        AnswerKind::Person if question.asked.subject_is_asked => {
            let acts = |noun: &NounPhrase| noun.kind == NounKind::Name || is_person(noun);
            reading.clauses().flat_map(arguments).any(acts)
                || !matches!(reading.event.kind, Kind::State | Kind::Object | Kind::Sound)
        }
        _ => true,
    }
}

fn asks_colour(question: &Question<'_>) -> bool {
    question.asked.class.as_ref().is_some_and(|class| matches!(class.head.as_str(), "colour" | "color"))
}

/// Returns the text of an event with its speaker.
pub(in crate::recall) fn quotation(found: &RetrievedEvent, question: &Question<'_>) -> String {
    let event = &found.reading.event;
    let text = best_sentences(found, question);
    let closed = |text: &str| {
        let text = text.trim();
        if text.ends_with(['.', '!', '?', '…', '"', '”']) { text.to_owned() } else { format!("{text}.") }
    };
    match &event.entity {
        Some(entity) if event.kind == Kind::Text && event.modality == Modality::Audio => {
            format!("{entity}: {}", closed(&text))
        }
        Some(entity) if !names_entity(&event.text, entity) && event.kind != Kind::Object => {
            format!("{entity}: {}", closed(&text))
        }
        _ => closed(&text),
    }
}

/// Returns whether a text already names an entity, in any word order: "the lamp above the desk" is the desk lamp.
fn names_entity(text: &str, entity: &str) -> bool {
    let held: Vec<String> = crate::index::words(text).collect();
    text.contains(entity) || crate::index::words(entity).all(|word| held.contains(&word))
}

/// Returns a short text as a whole. Of a long text, returns the sentence that covers most of the question.
fn best_sentences(found: &RetrievedEvent, question: &Question<'_>) -> String {
    let event = &found.reading.event;
    if event.text.len() <= 160 || found.reading.sentences.len() < 2 {
        return event.text.clone();
    }
    let value = |text: &str| {
        let words: Vec<String> = crate::index::words(text).collect();
        question
            .content
            .items
            .iter()
            .filter(|item| words.iter().any(|word| word_similarity(&item.lemma, word) > 0.6))
            .map(|item| item.weight)
            .sum::<f32>()
    };
    let best = found
        .reading
        .sentences
        .iter()
        .max_by(|a, b| value(found.reading.text(&a.range)).total_cmp(&value(found.reading.text(&b.range))));
    best.map_or_else(|| event.text.clone(), |sentence| found.reading.text(&sentence.range).to_owned())
}

pub(in crate::recall) fn join_list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Returns whether a name or a number is asked for, which a whole sentence cannot answer: "what is he called?", "what's
/// her number?".
pub(in crate::recall) fn asks_for_name_or_number(question: &Question<'_>) -> bool {
    let asked = &question.asked;
    let identifies =
        |noun: &NounPhrase| lexicon::is_a_as(&noun.head, "positive identification", PartOfSpeech::Noun).is_some();
    let of_name =
        |noun: &NounPhrase| matches!(noun.head.as_str(), "name" | "number" | "age" | "address") || identifies(noun);
    let clause = &asked.clause;
    let named = clause.subject.iter().chain(&clause.objects).chain(&asked.class).any(of_name);
    let called =
        clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "call" | "name") && verb.passive);
    question.ask() == AnswerKind::Thing && (named || called)
}
