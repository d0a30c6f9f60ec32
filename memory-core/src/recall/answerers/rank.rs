//! How well an event suits a question, beyond its words and meaning.

use crate::index::{stem, words};
use crate::language::english::closed::SAYING;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::Ask;
use crate::language::english::syntax::{Clause, NounPhrase, VerbGroup};
use crate::recall::answerers::causes::{explaining_clause, faulty_thing};
use crate::recall::answerers::parts::parts;
use crate::recall::content::verb_similarity;
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::RetrievedEvent;
use crate::recall::question::Question;
use crate::recall::reading::ParsedEvent;
use crate::recall::stance::{contradicts_premise, stance};
use crate::recall::telling::has_other_actor;
use crate::{Kind, TimeSpan, Timestamp};

/// How much more an event counts that tells what a deed was done to.
const WITH_OBJECT: f32 = 0.3;
/// From here two verbs tell of one deed.
const SAME_DEED: f32 = 0.8;
/// What is left of its rank of an event that tells nothing of the time to come that is asked for.
const OUT_OF_TIME: f32 = 0.6;
/// What is left of its rank of an event that says the opposite of what the question takes for granted.
const OPPOSED: f32 = 0.7;
/// What is left where somebody else does it.
const OF_ANOTHER: f32 = 0.8;
/// How much more an event counts that holds something of the class that is asked for.
const OF_CLASS: f32 = 0.2;
/// The same of what somebody said.
const OF_CLASS_SAID: f32 = 0.03;
/// How much more an event counts that tells of a fault where one is asked for.
const FAULT: f32 = 1.2;
/// The same of an event that explains the fault.
const EXPLANATION: f32 = 1.45;
/// From here the thing that is explained is the one that is asked about.
const EXPLAINED: f32 = 0.7;
/// What is left of the rank of a reason that says nothing but what is to be explained.
const SAID_AGAIN: f32 = 0.3;
/// What a text loses of its rank that only asks what the question asks.
const ASKED_BACK: f32 = 0.25;

/// How well an event suits the question: its words and meaning, its sense, its being an answer and no question.
pub(in crate::recall) fn rank(question: &Question<'_>, found: &RetrievedEvent) -> f32 {
    let event = &found.reading.event;
    let sense = match question.sense {
        Some(sense) if event.modality != sense => 0.75,
        _ => 1.0,
    };
    let speech = match (question.speech, event.kind) {
        (Some(true), Kind::Text) | (None, _) => 1.0,
        // Nobody says anything there.
        (Some(true), Kind::Object | Kind::State | Kind::Sound) => 0.5,
        (Some(true), _) if found.reading.verbs.iter().all(|verb| !SAYING.contains(&verb.as_str())) => 0.5,
        (Some(true), _) => 0.75,
        (Some(false), Kind::Text) => 0.8,
        (Some(false), Kind::Sound) => 1.05,
        (Some(false), _) => 0.9,
    };
    let asked_back = asked_back(question, &found.reading);
    // "Who asked about the keys?" is answered by who only asks.
    let asks = 1.0 - ASKED_BACK * if of_asking(question) { 1.0 - asked_back } else { asked_back };
    // What only says again that it happened is no reason for it.
    let again = question.ask() == Ask::Reason && found.coverage.unmatched_words < 1.0 && found.coverage.of_event > 0.0;
    let asks = if again { asks * SAID_AGAIN } else { asks };
    let opposed = if contradicts_premise(question, &found.reading) { OPPOSED } else { 1.0 };
    let opposed = if has_other_actor(question, &found.reading) { opposed * OF_ANOTHER } else { opposed };
    let opposed = opposed * of_a_fault(question, &found.reading);
    let other = conflict(question, &found.reading) * denial(question, &found.reading) * opposed;
    (found.fitness()
        + 0.15 * does(question, &found.reading)
        + 0.35 * ahead(question, &found.reading)
        + WITH_OBJECT * with_object(question, &found.reading)
        + of_class(question, found))
        * in_time(question, &found.reading)
        * sense
        * speech
        * asks
        * other
}

/// More where the event holds something of the class that is asked for.
fn of_class(question: &Question<'_>, found: &RetrievedEvent) -> f32 {
    let asked = question.ask() == Ask::Thing && question.asked.class.is_some();
    if !asked || found.reading.only_asks() || parts(question, found).is_empty() {
        return 0.0;
    }
    // What people say names many things; what was noticed names what it is about.
    if found.reading.event.kind == Kind::Text { OF_CLASS_SAID } else { OF_CLASS }
}

/// Whether the question is about somebody's asking.
pub(in crate::recall) fn of_asking(question: &Question<'_>) -> bool {
    question.asked.clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "ask" | "inquire" | "wonder"))
}

/// The share of what suits the question that the speaker asks instead of telling, 0 to 1.
pub(super) fn asked_back(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
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

/// More where both deny what the verb says: "what does she not eat?", less where only one does.
fn denial(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let Some(verb) = question.asked.clause.verb.as_ref().filter(|verb| verb.negated) else { return 1.0 };
    let denied = reading.clauses().filter_map(|clause| clause.verb.as_ref()).any(|told| {
        told.negated && (verb.lemma == "manage" || is_taken(verb, told) || verb_similarity(verb, told) >= 0.6)
    });
    if denied { 1.15 } else { 0.9 }
}

/// "He cannot have nuts": what somebody has is what they eat or drink.
fn is_taken(asked: &VerbGroup, told: &VerbGroup) -> bool {
    lexicon::category(&asked.lemma, PartOfSpeech::Verb) == Some(Category::ConsumptionVerb)
        && matches!(told.lemma.as_str(), "have" | "take" | "touch")
}

/// More where "what was wrong with it?" is told.
fn of_a_fault(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let Some(thing) = faulty_thing(question) else { return 1.0 };
    if explaining_clause(reading).is_some() && best_phrase_similarity(thing, reading) >= EXPLAINED {
        return EXPLANATION;
    }
    if stance("broken", thing, &question.asked.clause, reading) == Some(true) { FAULT } else { 1.0 }
}

/// Whether the event says what the deed was done to, where that is asked: "what did you sweep?" is not answered by "I have swept".
fn with_object(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !verb.passive && verb.lemma != "do");
    let open = question.ask() == Ask::Thing
        && question.asked.class.is_none()
        && clause.subject.is_some()
        && clause.objects.is_empty();
    let Some(verb) = verb.filter(|_| open) else { return 0.0 };
    let tells = |told: &Clause| {
        !told.objects.is_empty() && told.verb.as_ref().is_some_and(|told| verb_similarity(verb, told) >= SAME_DEED)
    };
    if reading.clauses().any(tells) { 1.0 } else { 0.0 }
}

/// How well the event does what the verb of the question says.
fn does(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
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

/// Whether the event tells of the time to come that the question names.
pub(in crate::recall) fn ahead(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
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

/// Less where the question is bound to a time to come of which the event tells nothing.
fn in_time(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
    let future = question.tense == crate::language::english::time::Tense::Future && question.has_time_bound();
    if future && ahead(question, reading) == 0.0 { OUT_OF_TIME } else { 1.0 }
}

/// Less where the event speaks of another one of the things that are named.
fn conflict(question: &Question<'_>, reading: &ParsedEvent) -> f32 {
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
