//! What says no: a deed that is denied, given up, only planned, or done without the one who is asked about.

use super::content::{verb_likeness, word_likeness};
use super::likeness::{is_colour, likeness};
use super::pool::Found;
use super::question::Question;
use super::reading::{Reading, arguments};
use super::stance::{SAME_THING, is_inside, is_nobody, is_to_come};
use crate::Kind;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounPhrase, VerbGroup};
use crate::language::english::time::ToldTime;

/// The event in which one does without the other what the question takes both to do: "Ida goes sailing without Bo", for "did Bo go
/// sailing with Ida?".
pub(super) fn left_out<'p>(question: &Question<'_>, pooled: &'p [Found]) -> Option<&'p Found> {
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only)?;
    let subject = clause.subject.as_ref().filter(|subject| !subject.is_pronoun())?;
    // "Did he go | jogging with her?" is two clauses.
    let clauses = question.asked.sentences.iter().flat_map(|sentence| &sentence.clauses);
    let mut adjuncts = clauses.flat_map(|clause| &clause.adjuncts);
    let with = adjuncts.find(|adjunct| adjunct.preposition == "with").map(|adjunct| &adjunct.noun)?;
    let bound = question.bound();
    let alone = |found: &&Found| {
        let reading = &found.reading;
        let is = |asked: &NounPhrase, told: &NounPhrase| likeness(asked, told, reading) >= SAME_THING;
        let deed = |told: &Clause| told.verb.as_ref().is_some_and(|told| verb_likeness(verb, told) >= SAME_THING);
        let doers =
            || reading.clauses().filter_map(|told| told.subject.as_ref()).filter_map(|doer| reading.resolve(doer));
        let mut without = reading
            .clauses()
            .flat_map(|told| &told.adjuncts)
            .filter(|adjunct| adjunct.preposition == "without")
            .map(|adjunct| &adjunct.noun);
        bound.is_none_or(|bound| found.span().overlaps(bound))
            && reading.clauses().any(deed)
            && without.any(|noun| {
                let other = if is(subject, noun) { Some(with) } else { is(with, noun).then_some(subject) };
                other.is_some_and(|other| doers().any(|doer| is(other, &doer)))
            })
    };
    pooled.iter().filter(alone).max_by_key(|found| (found.span().start, found.id()))
}

/// From here two words for a state or a colour are one.
const SAME_STATE: f32 = 0.9;
/// What nobody does who does not eat it.
const LIKING: &[&str] = &["like", "love", "enjoy", "want", "fancy"];

/// Whether all that a text says of the deed that is asked about is when it is to be, which is not the time of the question.
pub(super) fn only_plans(question: &Question<'_>, reading: &Reading) -> bool {
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only);
    let Some(verb) = verb.filter(|_| reading.event.kind == Kind::Text) else { return false };
    let same = |clause: &&Clause| clause.verb.as_ref().is_some_and(|told| verb_likeness(verb, told) >= SAME_THING);
    let mut deeds = reading.clauses().filter(same).peekable();
    let bound = question.bound();
    let elsewhere = |clause: &Clause| {
        let inside = |time: &&ToldTime| is_inside(clause, time);
        let mut times = reading.times.iter().filter(inside);
        times.all(|time| bound.is_none_or(|bound| !time.span.overlaps(bound)))
    };
    deeds.peek().is_some() && deeds.all(|clause| is_to_come(clause, reading) && elsewhere(clause))
}

/// "He has given up skating", "she quit skating".
pub(super) fn gives_up(verb: &VerbGroup) -> bool {
    let up = verb.lemma == "give" && verb.particle.as_deref() == Some("up");
    !verb.negated && (up || matches!(verb.lemma.as_str(), "stop" | "quit" | "cease"))
}

/// "No lesson tomorrow", for "is there a lesson tomorrow?".
pub(super) fn is_without(reading: &Reading, verb: &str, asked: &Clause) -> bool {
    let meant = |noun: &NounPhrase| {
        asked.subject.iter().chain(&asked.objects).any(|thing| likeness(thing, noun, reading) >= SAME_THING)
    };
    let told = reading.sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses);
    matches!(verb, "be" | "have")
        && told.flat_map(arguments).any(|noun| noun.determiner.as_deref() == Some("no") && meant(noun))
}

/// Whether an event says of the thing that it has another colour: "it is going to be green", for "will it be red?".
pub(super) fn is_of_another_colour(reading: &Reading, asked: &Clause) -> bool {
    let colour =
        |clause: &Clause| clause.complements.iter().map(|(word, _)| word).find(|word| is_colour(word)).cloned();
    let (Some(wanted), Some(thing)) = (colour(asked), &asked.subject) else { return false };
    let told = reading.sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses);
    told.filter(|clause| {
        let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject));
        subject.is_some_and(|subject| likeness(thing, &subject, reading) >= SAME_THING)
    })
    .any(|clause| {
        let words = crate::index::words(reading.text(&clause.range));
        let mut colours = words.filter(|word| is_colour(word)).peekable();
        colours.peek().is_some() && colours.all(|word| word_likeness(&wanted, &word) < SAME_STATE)
    })
}

/// Whether an event says that something is not done, or no more.
pub(super) fn denies(reading: &Reading, verb: &str, asked: &Clause) -> bool {
    let permits = matches!(verb, "allow" | "permit" | "let");
    reading.sentences.iter().filter(|sentence| !sentence.asks).flat_map(|sentence| &sentence.clauses).any(|clause| {
        clause.verb.as_ref().is_some_and(|told| {
            // Who was never ill did not get ill.
            let of_state = |word: &str| {
                let asked =
                    asked.complements.iter().map(|(word, _)| word).chain(asked.objects.iter().map(|noun| &noun.head));
                asked.into_iter().any(|asked| word_likeness(asked, word) >= SAME_STATE)
            };
            let becomes = matches!(verb, "get" | "become" | "fall" | "feel")
                && told.lemma == "be"
                && clause
                    .complements
                    .iter()
                    .map(|(word, _)| word)
                    .chain(clause.objects.iter().map(|noun| &noun.head))
                    .any(|word| of_state(word));
            let alike = word_likeness(verb, &told.lemma) >= 0.6 || becomes;
            // "Only in the yard, not on the stairs".
            let not_there = told.negated
                && told.lemma.is_empty()
                && clause.adjuncts.iter().any(|told| {
                    asked.adjuncts.iter().any(|asked| likeness(&asked.noun, &told.noun, reading) >= SAME_THING)
                });
            // Who does not eat it does not like it.
            let taste = LIKING.contains(&verb)
                && told.negated
                && lexicon::category(&told.lemma, PartOfSpeech::Verb) == Some(Category::ConsumptionVerb)
                && clause
                    .objects
                    .iter()
                    .any(|told| asked.objects.iter().any(|asked| likeness(asked, told, reading) >= SAME_THING));
            (alike && clause.subject.as_ref().is_some_and(is_nobody))
                || taste
                || not_there
                || (told.negated && permits && told.modal.is_some())
                || (told.negated && !told.lemma.is_empty() && (alike || verb == "be" || verb == "have"))
                || gives_up(told) && reading.lemmas.iter().any(|(lemma, _)| word_likeness(verb, lemma) >= 0.8)
                || told.particle.as_deref() == Some("off") && matches!(told.lemma.as_str(), "call")
                || matches!(told.lemma.as_str(), "cancel" | "postpone" | "refuse")
        })
    })
}
