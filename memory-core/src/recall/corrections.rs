//! What was taken back since: told statements that a later one corrects answer no question of how things are.
//!
//! A later statement takes back an earlier one if both speak of what the question asks about, and the later one admits a mistake,
//! denies what the earlier one says, or calls off or moves what the earlier one announces.

use std::ops::Range;

use super::content::{Coverage, Item, word_likeness};
use super::likeness::likeness;
use super::pool::{Found, Pool};
use super::quantities::Quantity;
use super::question::Question;
use super::reading::{Reading, arguments, is_person};
use crate::index::{stem, words};
use crate::language::english::correction::{Correction, may_correct};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::{Ask, Occurrence};
use crate::language::english::syntax::{NounKind, NounPhrase, Sentence, parse};
use crate::language::english::tag::Tag;
use crate::{Kind, ReadError};

/// Events about the thing that are looked through.
const LOOKED_THROUGH: usize = 80;
/// The least share of what an earlier statement holds of the question that a later one must hold to speak of the same.
const SAME_TOPIC: f32 = 0.4;
/// How much of the question an earlier number holds that another one takes back without naming what it counts.
const ASKED: f32 = 0.5;
/// The same where the later one denies the very number that the earlier one tells.
const SAME_NUMBER: f32 = 0.15;
/// The least likeness of two words for one thing.
const ALIKE: f32 = 0.7;
/// The least likeness of one thing.
const SAME_THING: f32 = 0.9;
/// The least share of the question that an earlier statement holds.
const ABOUT: f32 = 0.2;

/// A statement and the later one that takes it back.
#[derive(Debug, Clone)]
pub(super) struct TakenBack {
    pub earlier: Found,
    pub later: Found,
}

/// A statement with how well it holds each item of the question.
struct Told<'a> {
    found: &'a Found,
    held: Vec<f32>,
}

/// Everything about what a question asks that was taken back since, in the order of the telling.
pub(super) fn taken_back(pool: &Pool<'_>, found: &[Found]) -> Result<Vec<TakenBack>, ReadError> {
    let question = pool.question;
    if question.content.is_empty() || asks_for_the_past(question) {
        return Ok(Vec::new());
    }
    let mut all: Vec<Found> = found.iter().filter(|one| is_told(one)).cloned().collect();
    // What is said of a person takes back nothing by that alone.
    let thing = question.named.iter().find(|noun| !noun.is_pronoun() && !is_person(noun));
    let mut mentioned = thing.map_or_else(Vec::new, |thing| pool.mentioned(thing, None, true, LOOKED_THROUGH));
    mentioned.retain(|id| found.iter().all(|one| one.id() != *id));
    // Few texts may be corrections. Only where one is, the grammar of the others is worth reading.
    let mut rest = Vec::new();
    for id in mentioned {
        let Some(event) = pool.reader.event(id)? else { continue };
        match event.kind == Kind::Text && may_correct(&event.text) {
            true => all.extend(pool.read(&[id], &question.content)?.into_iter().filter(is_told)),
            false => rest.push(id),
        }
    }
    if all.iter().all(|one| correction(&one.reading).is_none()) {
        return Ok(Vec::new());
    }
    all.extend(pool.read(&rest, &question.content)?.into_iter().filter(is_told));
    if let Some(bound) = question.bound() {
        // What was said afterwards was not known then.
        all.retain(|one| one.span().start <= bound.end);
    }
    all.sort_by_key(|one| (one.span().start, one.id()));
    let corrections: Vec<Option<Correction>> = all.iter().map(|one| correction(&one.reading)).collect();
    let told: Vec<Told<'_>> =
        all.iter().map(|found| Told { found, held: question.content.held(&found.reading) }).collect();
    let mut pairs = Vec::new();
    for (place, earlier) in all.iter().enumerate() {
        let later = (place + 1..all.len()).rev().find(|later| {
            corrections[*later]
                .as_ref()
                .is_some_and(|correction| takes_back(question, correction, &told[*later], &told[place]))
        });
        if let Some(later) = later {
            pairs.push(TakenBack { earlier: earlier.clone(), later: all[later].clone() });
        }
    }
    Ok(pairs)
}

/// The numbers that a text states. "I said six euros. That was wrong, it is seven": it states seven, and of euros.
pub(super) fn stated(reading: &Reading) -> Vec<Quantity> {
    let mut all = reading.quantities();
    if all.len() < 2 || !may_correct(&reading.event.text) {
        return all;
    }
    let (words, _) = parse(&reading.event.text, &[]);
    let admits = |sentence: &&Sentence| {
        Correction::of(&words, std::slice::from_ref(*sentence)).is_some_and(|found| found.admits.is_some())
    };
    let Some(from) = reading.sentences.iter().find(admits).map(|sentence| sentence.range.start) else { return all };
    if !all.iter().any(|quantity| quantity.range.start >= from) {
        return all;
    }
    let before = all.iter().rfind(|quantity| quantity.range.start < from).cloned();
    all.retain(|quantity| quantity.range.start >= from);
    if let Some(before) = before {
        for quantity in all.iter_mut().filter(|quantity| quantity.unit.is_empty()) {
            quantity.unit.clone_from(&before.unit);
            quantity.of.clone_from(&before.of);
        }
    }
    all
}

/// Puts what takes back in the place of what was taken back.
pub(super) fn replaced(found: Vec<Found>, pairs: &[TakenBack]) -> Vec<Found> {
    if pairs.is_empty() {
        return found;
    }
    let mut kept: Vec<Found> = Vec::with_capacity(found.len() + pairs.len());
    for one in found {
        let mut one = one;
        // What corrects may itself be corrected.
        for _ in 0..pairs.len() {
            let Some(pair) = pairs.iter().find(|pair| pair.earlier.id() == one.id()) else { break };
            // It speaks of what the earlier one named, though it does not name all of it again.
            let fuller = |a: Coverage, b: Coverage| if a.of_content > b.of_content { a } else { b };
            one = Found {
                score: one.score.max(pair.later.score),
                relevance: one.relevance.max(pair.later.relevance),
                placed: one.placed,
                coverage: fuller(one.coverage, pair.later.coverage),
                ..pair.later.clone()
            };
        }
        match kept.iter_mut().find(|known| known.id() == one.id()) {
            Some(known) => known.score = known.score.max(one.score),
            None => kept.push(one),
        }
    }
    kept
}

/// Shows what was taken back behind what takes it back.
pub(super) fn shown(mut evidence: Vec<Found>, pairs: &[TakenBack]) -> Vec<Found> {
    for pair in pairs {
        let known = evidence.iter().any(|one| one.id() == pair.earlier.id());
        let place = evidence.iter().position(|one| one.id() == pair.later.id());
        if let Some(place) = place.filter(|_| !known) {
            evidence.insert(place + 1, pair.earlier.clone());
        }
    }
    evidence
}

/// Somebody's statement, or what a sense or a program says of how something is; a deed that was seen is not taken back.
fn is_told(found: &Found) -> bool {
    matches!(found.reading.event.kind, Kind::Text | Kind::State | Kind::Entity) && !found.reading.only_asks()
}

/// "Where was it before?", "what did she say first?": what was taken back since is what is asked for.
fn asks_for_the_past(question: &Question<'_>) -> bool {
    let before =
        matches!(question.asked.occurrence, Some(Occurrence::First | Occurrence::Previous | Occurrence::Nth(_)));
    let main = &question.asked.main;
    let said =
        question.asked.words.iter().filter(|word| main.start <= word.range.start && word.range.end <= main.end).any(
            |word| match word.lemma.as_str() {
                "originally" | "initially" | "formerly" | "previously" | "before" | "first" => true,
                "say" | "tell" | "think" | "believe" | "claim" | "announce" | "mention" => word.tag == Tag::Verb,
                _ => false,
            },
        );
    question.ask() != Ask::Change && (before || said)
}

fn correction(reading: &Reading) -> Option<Correction> {
    if reading.event.kind != Kind::Text || !may_correct(&reading.event.text) {
        return None;
    }
    let ranges: Vec<_> = reading.times.iter().map(|time| time.range.clone()).collect();
    let (words, _) = parse(&reading.event.text, &ranges);
    Correction::of(&words, &reading.sentences)
}

/// What of a later statement takes back: in which part of its text it names its topic (none: anywhere), and what it denies of it.
#[derive(Default)]
struct Said<'a> {
    part: Option<&'a Range<usize>>,
    denied: &'a [String],
}

/// Whether two statements hold the same of what the question speaks of, some words left out.
fn same_topic(question: &Question<'_>, earlier: &Told<'_>, later: &Told<'_>, said: &Said<'_>, persons: bool) -> bool {
    let content = &question.content;
    let (mut own, mut both, mut thing) = (0.0, 0.0, false);
    for (place, item) in content.items.iter().enumerate() {
        if said.denied.iter().any(|word| word_likeness(&item.lemma, word) >= ALIKE) {
            continue;
        }
        let common = earlier.held[place].min(later.held[place]);
        own += item.weight * earlier.held[place];
        let shared = common > 0.0 && same_word(item, &earlier.found.reading, &later.found.reading, said);
        if shared {
            both += item.weight * common;
            thing |= is_thing(question, item);
        }
    }
    // "37, not 36" takes back the very number that was said, however little else it repeats.
    let exact =
        !said.denied.is_empty() && said.denied.iter().all(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let enough = if exact { SAME_NUMBER } else { SAME_TOPIC };
    own > 0.0 && own >= ABOUT * content.total() && both >= enough * own && (thing || persons)
}

/// Whether a word of the question names a thing, and neither a deed nor a person.
fn is_thing(question: &Question<'_>, item: &Item) -> bool {
    let name = |noun: &NounPhrase| {
        noun.kind == NounKind::Name && (noun.head == item.lemma || noun.modifiers.contains(&item.lemma))
    };
    item.tag == Tag::Noun
        && lexicon::category(&item.lemma, PartOfSpeech::Noun).is_some()
        && !question.named.iter().any(name)
}

/// Whether two statements hold a word of the question in words that are alike themselves, and in its sense: a bill is no charge
/// of a battery.
fn same_word(item: &Item, earlier: &Reading, later: &Reading, said: &Said<'_>) -> bool {
    let alike = |reading: &Reading| -> Vec<String> {
        let suits = |tag: Tag| !matches!((item.tag, tag), (Tag::Verb, Tag::Noun) | (Tag::Noun, Tag::Verb));
        let of_item = |lemma: &str| word_likeness(&item.lemma, lemma) >= ALIKE || item.other.as_deref() == Some(lemma);
        // Two statements of one speaker need not speak of one thing.
        let told = if item.tag == Tag::Name { reading.own.min(reading.lemmas.len()) } else { reading.lemmas.len() };
        reading.lemmas[..told]
            .iter()
            .filter(|(lemma, tag)| suits(*tag) && of_item(lemma))
            .map(|(lemma, _)| lemma.clone())
            .collect()
    };
    let (one, mut other) = (alike(earlier), alike(later));
    if let Some(part) = said.part {
        let said: Vec<String> = words(later.text(part)).map(|word| stem(&word)).collect();
        other.retain(|word| said.contains(&stem(word)));
    }
    one.iter().any(|a| other.iter().any(|b| word_likeness(a, b) >= ALIKE))
}

/// Whether the later statement names the very thing that the question names and that the earlier one is about.
fn same_thing(question: &Question<'_>, earlier: &Reading, later: &Reading, part: Option<&Range<usize>>) -> bool {
    let named: Vec<NounPhrase> = later
        .clauses()
        .flat_map(arguments)
        .filter(|noun| part.is_none_or(|part| part.start <= noun.range.start && noun.range.end <= part.end))
        .filter_map(|noun| later.resolve(noun))
        .collect();
    let subjects =
        earlier.clauses().filter_map(|clause| clause.subject.as_ref()).filter_map(|subject| earlier.resolve(subject));
    let mut things = subjects.filter(|thing| thing.kind == NounKind::Common && !is_person(thing));
    things.any(|thing| {
        question.named.iter().any(|named| likeness(named, &thing, earlier) >= SAME_THING)
            && named.iter().any(|noun| likeness(&thing, noun, later) >= SAME_THING)
    })
}

fn takes_back(question: &Question<'_>, correction: &Correction, later: &Told<'_>, earlier: &Told<'_>) -> bool {
    let (new, old) = (&later.found.reading, &earlier.found.reading);
    let speaks_of = |said: &Said<'_>, persons: bool| {
        same_topic(question, earlier, later, said, persons) || same_thing(question, old, new, said.part)
    };
    let anywhere = Said::default();
    // "Correction: she needs 39": of what she said that she needs, if that is what is asked about.
    let about = earlier.found.coverage.of_content >= ASKED && tells_of(new, old.event.entity.as_deref());
    if correction.admits.is_some() && about && tells_anew(old, new) {
        return true;
    }
    if let Some(part) = &correction.admits
        && tells_asked(question, new, old)
        && speaks_of(&Said { part: Some(part), denied: &[] }, false)
    {
        return true;
    }
    if correction.called_off && announces(old, new) && speaks_of(&anywhere, false) {
        return true;
    }
    // Of an appointment the person alone may be named.
    let arranged = matches!(question.ask(), Ask::Change | Ask::Time | Ask::Truth);
    // What is moved comes at another time, and is otherwise as it was told.
    let of_time = arranged || question.is_bounded();
    if correction.moved && of_time && !new.times.is_empty() && announces(old, new) && speaks_of(&anywhere, arranged) {
        return true;
    }
    correction.denied.iter().any(|denial| {
        let own = !denial.of_speaker || tells_of(old, new.event.entity.as_deref());
        let said = Said { part: Some(&denial.sentence), denied: &denial.words };
        own && asserts(old, &denial.words) && same_topic(question, earlier, later, &said, false)
    })
}

/// Whether a later statement tells anew what the question asks for and the earlier one tells: a number, a time.
fn tells_asked(question: &Question<'_>, later: &Reading, earlier: &Reading) -> bool {
    match question.ask() {
        Ask::Count | Ask::Amount => earlier.quantities().is_empty() || !later.quantities().is_empty(),
        Ask::Time => earlier.times.is_empty() || !later.times.is_empty(),
        _ => true,
    }
}

/// Whether a correction tells another number with the same verb: "she needs 39", after "I need size 38".
fn tells_anew(earlier: &Reading, later: &Reading) -> bool {
    let verbs = |reading: &Reading| -> Vec<String> {
        let verbs = reading.clauses().filter_map(|clause| clause.verb.as_ref()).filter(|verb| !verb.auxiliary_only);
        verbs.map(|verb| verb.lemma.clone()).collect()
    };
    let (old, new) = (verbs(earlier), verbs(later));
    let numbers = !earlier.quantities().is_empty() && !later.quantities().is_empty();
    numbers && new.iter().any(|verb| old.contains(verb))
}

/// Whether the earlier statement tells of something to come that had not come yet when the later one was made.
fn announces(earlier: &Reading, later: &Reading) -> bool {
    let (told, since) = (earlier.event.span.start, later.event.span.start);
    earlier.times.iter().any(|time| time.span.end >= told && time.span.end >= since)
}

/// Whether one sentence says all of some words without denying anything.
fn asserts(reading: &Reading, denied: &[String]) -> bool {
    reading.sentences.iter().filter(|sentence| !sentence.asks).any(|sentence| {
        let stems: Vec<String> = words(reading.text(&sentence.range)).map(|word| stem(&word)).collect();
        let denies = sentence.clauses.iter().any(|clause| clause.verb.as_ref().is_some_and(|verb| verb.negated));
        !denies && denied.iter().all(|word| stems.contains(&stem(word)))
    })
}

/// Whether an event is of a person, or names them.
fn tells_of(reading: &Reading, person: Option<&str>) -> bool {
    let Some(person) = person else { return false };
    let named = |word: String| reading.lemmas.iter().any(|(lemma, _)| *lemma == word);
    reading.event.entity.as_deref() == Some(person) || words(person).all(named)
}
