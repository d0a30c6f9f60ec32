//! What was told, in its own words, and how well that answers.

use crate::language::english::closed::PLACING;
use crate::language::english::question::Ask;
use crate::language::english::syntax::NounPhrase;
use crate::language::english::tag::Tag;
use crate::recall::answerers::counts::holds_counted;
use crate::recall::content::word_likeness;
use crate::recall::pool::Found;
use crate::recall::question::Question;
use crate::recall::reading::Reading;
use crate::{Kind, Modality};

/// How well a mere quotation answers the question: a question for a place, a number or a thing of a class wants more.
pub(in crate::recall) fn quoted(question: &Question<'_>) -> f32 {
    if asks_for_a_name(question) {
        return 0.0;
    }
    match question.ask() {
        Ask::Description | Ask::Reason | Ask::Action => 0.8,
        Ask::Thing if question.asked.class.is_none() => 0.5,
        Ask::Thing | Ask::Person | Ask::Owner | Ask::Change => 0.2,
        _ => 0.0,
    }
}

/// Whether a sentence has what is asked for somewhere, though nothing took it out: a place, a number, a stretch of time.
pub(in crate::recall) fn may_tell(question: &Question<'_>, reading: &Reading) -> bool {
    if asks_for_a_name(question) {
        return false;
    }
    let numbers = || !reading.quantities().is_empty() || reading.lemmas.iter().any(|(_, tag)| *tag == Tag::Number);
    match question.ask() {
        Ask::Place => {
            let mut adjuncts = reading.clauses().flat_map(|clause| &clause.adjuncts);
            adjuncts.any(|adjunct| PLACING.contains(&adjunct.preposition.as_str()))
        }
        Ask::Amount | Ask::Count | Ask::Times => numbers() && holds_counted(question, reading),
        Ask::Length => numbers() || !reading.times.is_empty(),
        _ => true,
    }
}

/// What was told, with who told it.
pub(in crate::recall) fn quote(found: &Found, question: &Question<'_>) -> String {
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
        Some(entity) if !event.text.contains(entity.as_str()) && event.kind != Kind::Object => {
            format!("{entity}: {}", closed(&text))
        }
        _ => closed(&text),
    }
}

/// A short text whole; of a long one the sentence that holds most of the question.
fn best_sentences(found: &Found, question: &Question<'_>) -> String {
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
            .filter(|item| words.iter().any(|word| word_likeness(&item.lemma, word) > 0.6))
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

pub(in crate::recall) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Whether a name or a number is asked for, which no sentence around it can stand for: "what is he called?", "what's her number?".
pub(in crate::recall) fn asks_for_a_name(question: &Question<'_>) -> bool {
    let asked = &question.asked;
    let of_name = |noun: &NounPhrase| matches!(noun.head.as_str(), "name" | "number" | "age" | "address");
    let clause = &asked.clause;
    let named = clause.subject.iter().chain(&clause.objects).chain(&asked.class).any(of_name);
    let called =
        clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "call" | "name") && verb.passive);
    question.ask() == Ask::Thing && (named || called)
}
