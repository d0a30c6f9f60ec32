//! Ranks events for a question beyond words and meaning.

use crate::index::{stem, words};
use crate::language::english::closed::SPEECH_VERBS;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounPhrase, VerbGroup};
use crate::recall::answerers::causes::{explaining_clause, faulty_thing};
use crate::recall::answerers::parts::answer_parts;
use crate::recall::clause_selection::has_other_actor;
use crate::recall::content::verb_similarity;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;
use crate::recall::reading::ParsedEvent;
use crate::recall::stance::{contradicts_premise, stance};
use crate::{Kind, TimeSpan, Timestamp};

/// Bonus for an event that states the object of the deed.
const OBJECT_BONUS: f32 = 0.3;
/// Minimum similarity of two verbs for one deed.
const MIN_VERB_SIMILARITY: f32 = 0.8;
/// Factor for an event that says nothing about the future time in question.
const OUT_OF_TIME_FACTOR: f32 = 0.6;
/// Factor for an event that contradicts a premise of the question.
const CONTRADICTION_FACTOR: f32 = 0.7;
/// Factor for an event with another actor.
const OTHER_ACTOR_FACTOR: f32 = 0.8;
/// Bonus for an event that names a member of the class in question.
const CLASS_MEMBER_BONUS: f32 = 0.2;
/// As [`CLASS_MEMBER_BONUS`], for speech.
const SPEECH_CLASS_MEMBER_BONUS: f32 = 0.03;
/// Factor for an event that reports a fault, if the question asks for one.
const FAULT_FACTOR: f32 = 1.2;
/// Factor for an event that explains the fault.
const EXPLANATION_FACTOR: f32 = 1.45;
/// Minimum similarity of the explained thing to the one in question.
const MIN_EXPLAINED_SIMILARITY: f32 = 0.7;
/// Factor for a reason that only repeats what is to be explained.
const REPETITION_FACTOR: f32 = 0.3;
/// Share of its rank that a text loses if it only asks the question itself.
const QUESTION_PENALTY: f32 = 0.25;

/// Returns the rank of an event for a question: words and meaning, modality, and whether it states something or asks.
pub(in crate::recall) fn rank(question: &Question<'_>, found: &RetrievedEvent) -> f32 {
    let event = &found.reading.event;
    let sense = match question.sense {
        Some(sense) if event.modality != sense => 0.75,
        _ => 1.0,
    };
    let speech = match (question.speech, event.kind) {
        (Some(true), Kind::Text) | (None, _) => 1.0,
        // The event contains no speech.
        (Some(true), Kind::Object | Kind::State | Kind::Sound) => 0.5,
        (Some(true), _) if found.reading.verbs.iter().all(|verb| !SPEECH_VERBS.contains(&verb.as_str())) => 0.5,
        (Some(true), _) => 0.75,
        (Some(false), Kind::Text) => 0.8,
        (Some(false), Kind::Sound) => 1.05,
        (Some(false), _) => 0.9,
    };
    let asked_back = asked_share(question, &found.reading);
    // "Who asked about the keys?" is answered by who only asks.
    let asks = 1.0 - QUESTION_PENALTY * if asks_about_asking(question) { 1.0 - asked_back } else { asked_back };
    // A repetition of the event is no reason for it.
    let again =
        question.ask() == AnswerKind::Reason && found.coverage.unmatched_words < 1.0 && found.coverage.of_event > 0.0;
    let asks = if again { asks * REPETITION_FACTOR } else { asks };
    let opposed = if contradicts_premise(question, &found.reading) { CONTRADICTION_FACTOR } else { 1.0 };
    let opposed = if has_other_actor(question, &found.reading) { opposed * OTHER_ACTOR_FACTOR } else { opposed };
    let opposed = opposed * fault_factor(question, &found.reading);
    let other = conflict_factor(question, &found.reading) * denial_factor(question, &found.reading) * opposed;
    (found.fitness()
        + 0.15 * verb_match(question, &found.reading)
        + 0.35 * refers_to_asked_future(question, &found.reading)
        + OBJECT_BONUS * object_bonus(question, &found.reading)
        + class_bonus(question, found))
        * time_factor(question, &found.reading)
        * sense
        * speech
        * asks
        * other
}

/// Returns the bonus for an event that names a member of the class in question.
fn class_bonus(question: &Question<'_>, found: &RetrievedEvent) -> f32 {
    let asked = question.ask() == AnswerKind::Thing && question.asked.class.is_some();
    if !asked || found.reading.only_asks() || answer_parts(question, found).is_empty() {
        return 0.0;
    }
    // Speech names many things; a perceived event names its subject.
    if found.reading.event.kind == Kind::Text { SPEECH_CLASS_MEMBER_BONUS } else { CLASS_MEMBER_BONUS }
}

/// Returns whether the question is about somebody's asking.
pub(in crate::recall) fn asks_about_asking(question: &Question<'_>) -> bool {
    question.asked.clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "ask" | "inquire" | "wonder"))
}

/// Returns the share of the matching words that the speaker uses in questions, from 0 to 1.
pub(super) fn asked_share(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    if reading.only_asks() {
        return 1.0;
    }
    if reading.sentences.iter().all(|sentence| !sentence.asks) {
        return 0.0;
    }
    let wanted: Vec<(String, f32)> =
        question.content.items.iter().map(|item| (stem(&item.lemma), item.weight)).collect();
    let held = |asks: bool| -> f32 {
        let sentences = reading.sentences.iter().filter(|sentence| sentence.asks == asks);
        let stems: Vec<String> =
            sentences.flat_map(|sentence| words(reading.text(&sentence.range))).map(|word| stem(&word)).collect();
        wanted.iter().filter(|(stem, _)| stems.contains(stem)).map(|(_, weight)| weight).sum()
    };
    let (asked, told) = (held(true), held(false));
    if asked + told > 0.0 { asked / (asked + told) } else { 0.0 }
}

/// Returns a factor above 1 if both question and event deny the verb ("what does she not eat?"), below 1 if only one
/// does.
fn denial_factor(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let Some(verb) = question.asked.clause.verb.as_ref().filter(|verb| verb.negated) else { return 1.0 };
    let denied = reading.clauses().filter_map(|clause| clause.verb.as_ref()).any(|told| {
        told.negated && (verb.lemma == "manage" || is_consumption(verb, told) || verb_similarity(verb, told) >= 0.6)
    });
    if denied { 1.15 } else { 0.9 }
}

/// Returns whether "have" means eat or drink: "he cannot have nuts".
fn is_consumption(asked: &VerbGroup, told: &VerbGroup) -> bool {
    lexicon::category(&asked.lemma, PartOfSpeech::Verb) == Some(Category::ConsumptionVerb)
        && matches!(told.lemma.as_str(), "have" | "take" | "touch")
}

/// Returns the factor for the report of a fault, for "what was wrong with it?".
fn fault_factor(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let Some(thing) = faulty_thing(question) else { return 1.0 };
    if explaining_clause(reading).is_some() && best_phrase_similarity(thing, reading) >= MIN_EXPLAINED_SIMILARITY {
        return EXPLANATION_FACTOR;
    }
    if stance("broken", thing, &question.asked.clause, reading) == Some(true) { FAULT_FACTOR } else { 1.0 }
}

/// Returns the bonus for an event that states the object of the deed: "I have swept" does not answer "what did you
/// sweep?".
fn object_bonus(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !verb.passive && verb.lemma != "do");
    let open = question.ask() == AnswerKind::Thing
        && question.asked.class.is_none()
        && clause.subject.is_some()
        && clause.objects.is_empty();
    let Some(verb) = verb.filter(|_| open) else { return 0.0 };
    let tells = |told: &Clause| {
        !told.objects.is_empty()
            && told.verb.as_ref().is_some_and(|told| verb_similarity(verb, told) >= MIN_VERB_SIMILARITY)
    };
    if reading.clauses().any(tells) { 1.0 } else { 0.0 }
}

/// Returns how well the event matches the verb of the question.
fn verb_match(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let Some(verb) = question
        .asked
        .clause
        .verb
        .as_ref()
        .filter(|verb| !verb.auxiliary_only && !matches!(verb.lemma.as_str(), "be" | "do" | "have" | "get"))
    else {
        return 0.0;
    };
    reading
        .clauses()
        .filter_map(|clause| clause.verb.as_ref())
        .map(|told| verb_similarity(verb, told))
        .fold(0.0, f32::max)
}

/// Returns whether the event refers to the future time that the question names.
pub(in crate::recall) fn refers_to_asked_future(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    if question.tense != crate::language::english::time::Tense::Future || !question.has_time_bound() {
        return 0.0;
    }
    let Some(bound) = question.bound() else { return 0.0 };
    // "At six" is either half of the day.
    let half = std::time::Duration::from_secs(12 * 3_600);
    let other = |by: fn(Timestamp, std::time::Duration) -> Timestamp| TimeSpan {
        start: by(bound.start, half),
        end: by(bound.end, half),
    };
    let hour = bound.end.since(bound.start) <= std::time::Duration::from_secs(3_600);
    let meant = |span: TimeSpan| {
        span.overlaps(bound)
            || hour
                && (span.overlaps(other(Timestamp::saturating_add)) || span.overlaps(other(Timestamp::saturating_sub)))
    };
    if reading.times.iter().any(|time| meant(time.span) && time.span.end >= reading.event.span.start) {
        1.0
    } else {
        0.0
    }
}

/// Returns the factor for an event that says nothing about the future time in question.
fn time_factor(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let future = question.tense == crate::language::english::time::Tense::Future && question.has_time_bound();
    if future && refers_to_asked_future(question, reading) == 0.0 { OUT_OF_TIME_FACTOR } else { 1.0 }
}

/// Returns the factor for an event about another one of the named things.
fn conflict_factor(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let mut share = 1.0_f32;
    for thing in question.named.iter().filter(|thing| !thing.modifiers.is_empty()) {
        let head = NounPhrase { modifiers: Vec::new(), owner: None, of: None, ..thing.clone() };
        let (exact, same_head) = (best_phrase_similarity(thing, reading), best_phrase_similarity(&head, reading));
        if same_head >= 0.8 && exact < 0.4 {
            share *= 0.6;
        }
    }
    share
}
