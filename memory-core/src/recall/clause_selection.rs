//! Selects the clauses of an event that answer the question. In "I had bread, and Ivo had soup" the second clause says
//! who had soup.

use super::content::{ContentItem, verb_similarity, word_similarity};
use super::likeness::phrase_similarity;
use super::question::Question;
use super::reading::{ParsedEvent, arguments, is_elliptic, is_person};
use super::stance::stance;
use crate::Kind;
use crate::index::{stem, words};
use crate::language::english::closed::SPEECH_VERBS;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::states::{StateScale, same_state, state_of_word};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::Tag;

/// Share of its uses, in 255ths, from which a verb belongs to a lexical category.
const MIN_VERB_CATEGORY_SHARE: u8 = 60;
/// Minimum similarity of two names of one person.
const MIN_SAME_NAME_SIMILARITY: f32 = 0.7;
/// Minimum similarity of a word of an event to the name in the question.
const MIN_NAME_SIMILARITY: f32 = 0.5;
/// Words for no person in particular.
const ANYBODY: &[&str] = &["anybody", "anyone", "somebody", "someone"];

/// Returns the clauses that cover most of the question, in text order. Returns every clause if none covers more than
/// the others.
pub(super) fn relevant_clauses<'r>(question: &Question<'_>, reading: &'r ParsedEvent) -> Vec<&'r Clause> {
    let wanted: Vec<(String, f32)> =
        question.content.items.iter().map(|item| (stem(&item.lemma), item.weight)).collect();
    let told = reading.told_clauses();
    let held: Vec<(&Clause, f32)> = told
        .map(|clause| {
            let mut stems: Vec<String> = words(reading.text(&clause.range)).map(|word| stem(&word)).collect();
            // "She took the case and put it away": its second clause tells of the case, too.
            let own = clause.subject.iter().chain(arguments(clause));
            let meant = own
                .filter(|noun| noun.is_pronoun() || clause.inherited || is_elliptic(noun))
                .filter_map(|noun| reading.resolve(noun));
            for noun in meant {
                stems.extend(noun.lemmas().into_iter().map(stem));
            }
            (clause, wanted.iter().filter(|(stem, _)| stems.contains(stem)).map(|(_, weight)| weight).sum())
        })
        .collect();
    let most = held.iter().map(|(_, held)| *held).fold(0.0, f32::max);
    held.into_iter().filter(|(_, held)| *held >= most - 1e-3).map(|(clause, _)| clause).collect()
}

/// Returns whether an event states what somebody other than the person in question does, and does not name that person.
pub(super) fn has_other_actor(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let clause = &question.asked.clause;
    let acts = clause.verb.as_ref().is_some_and(|verb| !verb.auxiliary_only && !verb.passive);
    let Some(actor) = clause.subject.as_ref().filter(|subject| acts && subject.kind == NounKind::Name) else {
        return false;
    };
    // By name, by the role of a name, or as the speaker.
    let held = question.content.item_similarities(reading);
    let named = question
        .content
        .items
        .iter()
        .zip(held)
        .any(|(item, held)| item.lemma == actor.head && held >= MIN_NAME_SIMILARITY);
    let own =
        reading.lemmas[..reading.own_words.min(reading.lemmas.len())].iter().any(|(lemma, _)| *lemma == actor.head);
    let is_other = |noun: &NounPhrase| {
        noun.kind == NounKind::Name
            && is_person(noun)
            && phrase_similarity(actor, noun, reading) < MIN_SAME_NAME_SIMILARITY
    };
    let somebody: Vec<NounPhrase> = relevant_clauses(question, reading)
        .into_iter()
        .filter_map(|clause| clause.subject.as_ref())
        .filter_map(|noun| reading.resolve(noun))
        .collect();
    // A speaker who reports another person's deed does not do it.
    let speaks = named && !own && reading.event.kind == Kind::Text && !somebody.is_empty();
    if speaks {
        return somebody.iter().all(is_other);
    }
    !named && is_person(actor) && somebody.iter().any(is_other)
}

/// Returns whether an event does not name the thing that the deed in question was done to. That butter was added to the
/// soup does not answer "when was salt added to the soup?".
pub(super) fn lacks_asked_thing(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let clause = &question.asked.clause;
    let passive = clause.verb.as_ref().is_some_and(|verb| verb.passive);
    // "What was the quantity of salt?"
    let measured = clause.subject.as_ref().filter(|subject| {
        lexicon::category(&subject.head, PartOfSpeech::Noun) == Some(Category::Attribute)
            || matches!(subject.head.as_str(), "amount" | "quantity")
    });
    let done_to = clause.subject.as_ref().filter(|_| passive);
    let thing = measured.and_then(|subject| subject.of.as_deref()).or(done_to);
    let Some(thing) = thing.filter(|thing| thing.kind == NounKind::Common) else { return false };
    let held = |word: &str| reading.lemmas.iter().any(|(lemma, _)| word_similarity(word, lemma) >= MIN_NAME_SIMILARITY);
    !thing.is_pronoun() && !is_person(thing) && !held(&thing.head)
}

/// Returns whether somebody else did what the question asks of a person: "Ben is ill, I had to light it myself", for
/// "did Ben light it?".
pub(super) fn is_done_by_another(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let clause = &question.asked.clause;
    let verb = clause.verb.as_ref().filter(|verb| !verb.auxiliary_only && !verb.passive);
    let actor = clause.subject.as_ref().filter(|subject| subject.kind == NounKind::Name && is_person(subject));
    let (Some(verb), Some(actor)) = (verb, actor) else { return false };
    let same_deed =
        |told: &&Clause| told.verb.as_ref().is_some_and(|told| verb_similarity(verb, told) >= MIN_SAME_NAME_SIMILARITY);
    let doers: Vec<NounPhrase> = reading
        .clauses()
        .filter(same_deed)
        .filter_map(|told| told.subject.as_ref())
        .filter_map(|subject| reading.resolve(subject))
        .filter(|doer| is_person(doer) && doer.kind == NounKind::Name)
        .collect();
    let is_other = |doer: &NounPhrase| {
        doer.coordinated().all(|one| phrase_similarity(actor, one, reading) < MIN_SAME_NAME_SIMILARITY)
    };
    // A person called by a role in the question has a name in the text. Only a text that contains both distinguishes
    // them.
    let named =
        reading.lemmas[..reading.own_words.min(reading.lemmas.len())].iter().any(|(lemma, _)| *lemma == actor.head);
    named && !doers.is_empty() && doers.iter().all(is_other)
}

/// Returns whether a question asks for anybody's deed, and an event names neither a person nor the deed. "The door slams"
/// does not say that anybody came to it.
pub(super) fn lacks_anybody(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let clause = &question.asked.clause;
    let anybody = clause.subject.as_ref().is_some_and(|who| ANYBODY.contains(&who.head.as_str()));
    let Some(verb) = clause.verb.as_ref().filter(|verb| anybody && !verb.auxiliary_only) else { return false };
    let is_somebody = |noun: &NounPhrase| {
        let person = || lexicon::is_a_as(&noun.head, "person", PartOfSpeech::Noun).is_some();
        is_person(noun) || noun.is_pronoun() && noun.head != "it" || noun.kind == NounKind::Common && person()
    };
    let same_deed =
        |told: &Clause| told.verb.as_ref().is_some_and(|told| verb_similarity(verb, told) >= MIN_SAME_NAME_SIMILARITY);
    // "A knock at the door" names the deed of "did anybody knock?".
    let named = || reading.lemmas.iter().any(|(own, _)| *own == verb.lemma);
    reading.event.entity.is_none()
        && !reading.clauses().flat_map(Clause::nouns).any(is_somebody)
        && !reading.clauses().any(same_deed)
        && !named()
}

/// Returns whether an event does not state the deed that a question presupposes, and no other event does: "who won the
/// race?", where the memory only states when the race begins.
pub(super) fn lacks_asked_deed(question: &Question<'_>, reading: &ParsedEvent) -> bool {
    let verb = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only);
    let item_of = |lemma: &str| question.content.items.iter().find(|item| item.lemma == lemma);
    // "When did she fall ill?", "why is he angry?": what somebody becomes or is.
    let clause = &question.asked.clause;
    let becomes = clause.verb.as_ref().is_some_and(|verb| {
        verb.lemma == "be" && verb.auxiliary_only
            || matches!(verb.lemma.as_str(), "become" | "get" | "fall" | "go" | "feel")
    });
    let complement =
        clause.complements.iter().filter(|_| becomes && clause.objects.is_empty()).find_map(|(word, _)| item_of(word));
    if let Some(item) = complement.filter(|item| item.documents == 0) {
        let tells = |lemma: &str| {
            word_similarity(&item.lemma, lemma) >= MIN_NAME_SIMILARITY || same_state(&item.lemma, lemma).is_some()
        };
        return reading.lemmas.iter().all(|(lemma, _)| !tells(lemma));
    }
    // A person who misses a thing has not found it.
    if verb.is_some_and(|verb| matches!(verb.lemma.as_str(), "find" | "discover")) {
        let missing = |thing: &NounPhrase| stance("there", thing, clause, reading) == Some(false);
        return clause.objects.iter().any(missing);
    }
    let item = verb.and_then(|verb| item_of(&verb.lemma));
    // Exceptions: a question does not report asking, a repair implies "works", and living there implies "from there".
    let shown = |lemma: &str| {
        SPEECH_VERBS.contains(&lemma)
            || matches!(lemma, "ask" | "wonder" | "live" | "reside")
            || state_of_word(lemma).is_some_and(|(scale, good)| good || scale != StateScale::Working)
    };
    // "Why did she give it up?": giving is told of much.
    let whole =
        |item: &ContentItem| matches!(question.ask(), AnswerKind::Reason | AnswerKind::Truth) && item.phrasal.is_some();
    let wanted = |item: &&ContentItem| {
        (item.documents == 0 && !item.light || whole(item)) && item.tag == Tag::Verb && !shown(&item.lemma)
    };
    let Some(item) = item.filter(wanted) else { return false };
    // An observed deed may be the same in another word: "pull out", "remove".
    let seen = matches!(reading.event.kind, Kind::Action | Kind::Caption);
    let fields = |verb: &str| -> Vec<Category> {
        let all = lexicon::categories(verb, PartOfSpeech::Verb).into_iter();
        all.filter(|(_, share)| *share >= MIN_VERB_CATEGORY_SHARE).map(|(category, _)| category).collect()
    };
    let asked = fields(&item.lemma);
    let told = || reading.clauses().filter_map(|clause| clause.verb.as_ref()).filter(|verb| !verb.auxiliary_only);
    if seen && told().any(|verb| fields(&verb.lemma).iter().any(|field| asked.contains(field))) {
        return false;
    }
    let with_particle = |told: &String| {
        item.phrasal.iter().chain([&item.lemma]).any(|asked| word_similarity(asked, told) >= MIN_NAME_SIMILARITY)
    };
    if whole(item) {
        let same = |told: &String| {
            item.phrasal.as_ref().is_some_and(|asked| word_similarity(asked, told) >= MIN_NAME_SIMILARITY)
        };
        return !reading.verbs.iter().any(same);
    }
    !reading.verbs.iter().any(with_particle)
        && reading.lemmas.iter().all(|(lemma, _)| word_similarity(&item.lemma, lemma) < MIN_NAME_SIMILARITY)
}
