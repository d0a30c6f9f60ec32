//! Denials: a deed that is denied, given up, only planned, or done without the person in question.

use super::content::{verb_similarity, word_similarity};
use super::likeness::{is_colour, phrase_similarity};
use super::pool::RetrievedEvent;
use super::question::Question;
use super::reading::{ParsedEvent, arguments};
use super::stance::{MIN_THING_SIMILARITY, contains_time, is_nobody, refers_to_future};
use crate::Kind;
use crate::language::english::closed::is_one_of;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::states::COMING_VERBS;
use crate::language::english::syntax::{Clause, NounPhrase, VerbGroup};
use crate::language::english::time::{Tense, ToldTime};

/// Returns the event in which one person acts without the other, where the question asks about both: "Ida goes sailing
/// without Bo", for "did Bo go sailing with Ida?".
pub(super) fn excluding_event<'p>(question: &Question<'_>, pooled: &'p [RetrievedEvent]) -> Option<&'p RetrievedEvent> {
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only)?;
    let subject = clause.subject.as_ref().filter(|subject| !subject.is_pronoun())?;
    // "Did he go | jogging with her?" is two clauses.
    let clauses = question.asked.sentences.iter().flat_map(|sentence| &sentence.clauses);
    let mut adjuncts = clauses.flat_map(|clause| &clause.adjuncts);
    let with = adjuncts.find(|adjunct| adjunct.preposition == "with").map(|adjunct| &adjunct.noun)?;
    let bound = question.bound();
    let alone = |found: &&RetrievedEvent| {
        let reading = &found.reading;
        let is =
            |asked: &NounPhrase, told: &NounPhrase| phrase_similarity(asked, told, reading) >= MIN_THING_SIMILARITY;
        let deed =
            |told: &Clause| told.verb.as_ref().is_some_and(|told| verb_similarity(verb, told) >= MIN_THING_SIMILARITY);
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

/// Minimum similarity of two words for one state or colour.
const MIN_STATE_SIMILARITY: f32 = 0.9;
/// Verbs that are also denied if somebody does not eat a thing.
const LIKING_VERBS: &[&str] = &["like", "love", "enjoy", "want", "fancy"];

/// Returns whether a text only plans the deed in question, for another time than that of the question.
pub(super) fn only_plans(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only);
    let Some(verb) = verb.filter(|_| reading.event.kind == Kind::Text) else { return false };
    let is_deed =
        |clause: &Clause| clause.verb.as_ref().is_some_and(|told| verb_similarity(verb, told) >= MIN_THING_SIMILARITY);
    // "Did she do the dishes?", "did she mend the fence?": any deed with them, where none is told in like words.
    // "Has the plumber come?": any deed of his.
    let asked = &question.asked.clause;
    let comes = is_one_of(&verb.lemma, COMING_VERBS);
    let done_to = if comes { asked.subject.as_slice() } else { asked.objects.as_slice() };
    let with_object = |clause: &Clause| {
        let is = |told: &NounPhrase| {
            done_to.iter().any(|asked| phrase_similarity(asked, told, reading) >= MIN_THING_SIMILARITY)
        };
        clause.verb.is_some() && clause.nouns().any(is)
    };
    let any_deed = reading.clauses().any(is_deed);
    let same = |clause: &&Clause| if any_deed { is_deed(clause) } else { with_object(clause) };
    let mut deeds = reading.clauses().filter(same).peekable();
    let bound = question.bound();
    let elsewhere = |clause: &Clause| {
        let inside = |time: &&ToldTime| contains_time(clause, time);
        let mut times = reading.times.iter().filter(inside);
        times.all(|time| bound.is_none_or(|bound| !time.span.overlaps(bound)))
    };
    let done = |clause: &Clause| clause.verb.as_ref().is_some_and(|told| told.past || told.perfect);
    deeds.peek().is_some()
        && deeds
            .all(|clause| is_undone(clause) || !done(clause) && refers_to_future(clause, reading) && elsewhere(clause))
}

/// Returns whether a question asks whether something was done.
pub(super) fn asks_of_deed_done(question: &Question<'_>) -> bool {
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && verb.modal.is_none());
    verb.is_some_and(|verb| question.tense == Tense::Past || verb.perfect)
}

/// Returns whether an event tells only of some of the things of which all are asked about: "opens two of the boxes".
pub(super) fn tells_of_some(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let all = |noun: &&NounPhrase| {
        let words = question.part(&noun.range).to_lowercase();
        ["all ", "every ", "each "].iter().any(|word| words.starts_with(word))
    };
    let some = |asked: &NounPhrase| {
        reading.clauses().flat_map(Clause::nouns).any(|told| {
            let of = told.of.as_deref().filter(|_| told.number.is_some());
            of.is_some_and(|of| word_similarity(&asked.head, &of.head) >= MIN_STATE_SIMILARITY)
        })
    };
    question.named.iter().filter(all).any(some)
}

/// Returns whether a clause only promises, demands or supposes a deed: "I'll mend it", "he has to mend it", "if I get it
/// back".
fn is_undone(clause: &Clause) -> bool {
    let supposed = clause.link.as_deref().is_some_and(|link| matches!(link, "if" | "unless"));
    // "He was meant to come", "he was supposed to".
    let expected = |verb: &VerbGroup| verb.passive && matches!(verb.lemma.as_str(), "mean" | "suppose" | "schedule");
    clause.verb.as_ref().is_some_and(|verb| supposed || verb.future || verb.infinitive && !verb.past || expected(verb))
}

/// Returns whether a verb means giving something up: "he has given up skating", "she quit skating".
pub(super) fn gives_up(verb: &VerbGroup) -> bool {
    let up = verb.lemma == "give" && verb.particle.as_deref() == Some("up");
    !verb.negated && (up || matches!(verb.lemma.as_str(), "stop" | "quit" | "cease"))
}

/// Returns whether a verb means not doing something: "he forgot it", "he forgot to lock it".
fn omits(verb: &VerbGroup) -> bool {
    !verb.negated && matches!(verb.lemma.as_str(), "forget" | "omit" | "neglect" | "skip" | "fail")
}

/// Returns whether an event says that what was asked was not done, by the deed or by something with the thing: "he
/// forgot the string", for "has he bought a string?".
pub(super) fn omits_asked_deed(reading: &ParsedEvent, verb: &str, asked: &Clause) -> bool {
    let things = || asked.objects.iter().chain(asked.subject.iter().filter(|subject| !subject.is_pronoun()));
    let is_thing =
        |told: &NounPhrase| things().any(|thing| phrase_similarity(thing, told, reading) >= MIN_THING_SIMILARITY);
    let is_deed = |told: &VerbGroup| word_similarity(verb, &told.lemma) >= 0.6;
    let told = || reading.told_clauses();
    told().any(|clause| {
        let omitted = clause.verb.as_ref().is_some_and(|told| omits(told) && !is_deed(told));
        let behind = || told().filter(|other| other.range.start > clause.range.start);
        let deed = || behind().filter_map(|other| other.verb.as_ref()).any(is_deed);
        omitted && (clause.objects.iter().any(is_thing) || deed())
    })
}

/// Returns whether an event denies that there is something: "no lesson tomorrow", for "is there a lesson tomorrow?".
pub(super) fn denies_existence(reading: &ParsedEvent, verb: &str, asked: &Clause) -> bool {
    let meant = |noun: &NounPhrase| {
        asked
            .subject
            .iter()
            .chain(&asked.objects)
            .any(|thing| phrase_similarity(thing, noun, reading) >= MIN_THING_SIMILARITY)
    };
    let told = reading.told_clauses();
    matches!(verb, "be" | "have")
        && told.flat_map(arguments).any(|noun| noun.determiner.as_deref() == Some("no") && meant(noun))
}

/// Returns whether an event states another colour of the thing: "it is going to be green", for "will it be red?".
pub(super) fn states_other_colour(reading: &ParsedEvent, asked: &Clause) -> bool {
    let colour =
        |clause: &Clause| clause.complements.iter().map(|(word, _)| word).find(|word| is_colour(word)).cloned();
    let (Some(wanted), Some(thing)) = (colour(asked), &asked.subject) else { return false };
    let told = reading.told_clauses();
    told.filter(|clause| {
        let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject));
        subject.is_some_and(|subject| phrase_similarity(thing, &subject, reading) >= MIN_THING_SIMILARITY)
    })
    .any(|clause| {
        let words = crate::index::words(reading.text(&clause.range));
        let mut colours = words.filter(|word| is_colour(word)).peekable();
        colours.peek().is_some() && colours.all(|word| word_similarity(&wanted, &word) < MIN_STATE_SIMILARITY)
    })
}

/// Returns whether an event states that something is not done, or no longer.
pub(super) fn denies(reading: &ParsedEvent, verb: &str, asked: &Clause) -> bool {
    if omits_asked_deed(reading, verb, asked) {
        return true;
    }
    let permits = matches!(verb, "allow" | "permit" | "let");
    reading.told_clauses().any(|clause| {
        clause.verb.as_ref().is_some_and(|told| {
            // "Was never ill" implies "did not get ill".
            let of_state = |word: &str| {
                let asked =
                    asked.complements.iter().map(|(word, _)| word).chain(asked.objects.iter().map(|noun| &noun.head));
                asked.into_iter().any(|asked| word_similarity(asked, word) >= MIN_STATE_SIMILARITY)
            };
            let becomes = matches!(verb, "get" | "become" | "fall" | "feel")
                && told.lemma == "be"
                && clause
                    .complements
                    .iter()
                    .map(|(word, _)| word)
                    .chain(clause.objects.iter().map(|noun| &noun.head))
                    .any(|word| of_state(word));
            let alike = word_similarity(verb, &told.lemma) >= 0.6 || becomes;
            // "Only in the yard, not on the stairs".
            let not_there = told.negated
                && told.lemma.is_empty()
                && clause.adjuncts.iter().any(|told| {
                    asked
                        .adjuncts
                        .iter()
                        .any(|asked| phrase_similarity(&asked.noun, &told.noun, reading) >= MIN_THING_SIMILARITY)
                });
            // "Does not eat it" implies "does not like it".
            let taste = LIKING_VERBS.contains(&verb)
                && told.negated
                && lexicon::category(&told.lemma, PartOfSpeech::Verb) == Some(Category::ConsumptionVerb)
                && clause.objects.iter().any(|told| {
                    asked.objects.iter().any(|asked| phrase_similarity(asked, told, reading) >= MIN_THING_SIMILARITY)
                });
            (alike && clause.subject.as_ref().is_some_and(is_nobody))
                || taste
                || not_there
                || (told.negated && permits && told.modal.is_some())
                || (told.negated && !told.lemma.is_empty() && (alike || verb == "be" || verb == "have"))
                || gives_up(told) && reading.lemmas.iter().any(|(lemma, _)| word_similarity(verb, lemma) >= 0.8)
                || told.particle.as_deref() == Some("off") && matches!(told.lemma.as_str(), "call")
                || matches!(told.lemma.as_str(), "cancel" | "postpone" | "refuse")
        })
    })
}
