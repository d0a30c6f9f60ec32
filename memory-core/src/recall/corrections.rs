//! Statements that a later statement corrects. They answer no question about how things are.
//!
//! A later statement corrects an earlier one if both are about the subject of the question, and the later one admits a
//! mistake, denies the earlier statement, or cancels or reschedules what it announces.

mod by_speaker;

use std::ops::Range;

use self::by_speaker::corrected_by_speaker;
use super::content::{ContentItem, Coverage, word_similarity};
use super::likeness::phrase_similarity;
use super::pool::{EventPool, RetrievedEvent};
use super::quantities::Quantity;
use super::question::Question;
use super::reading::{ParsedEvent, arguments, is_person};
use crate::index::{stem, words};
use crate::language::english::correction::{Correction, begins_self_correction, is_put_right_at_once, may_correct};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::{AnswerKind, Occurrence};
use crate::language::english::syntax::{NounKind, NounPhrase, Sentence, parse};
use crate::language::english::tag::Tag;
use crate::{Kind, ReadError};

/// Maximum number of events about the thing that are searched for corrections.
const MAX_EVENTS_SEARCHED: usize = 80;
/// Share of the question that the later statement must cover, relative to the earlier one, to have the same topic.
const MIN_SHARED_TOPIC: f32 = 0.4;
/// Coverage of the question from which another number corrects an earlier number without naming what it counts.
const MIN_NUMBER_COVERAGE: f32 = 0.5;
/// As [`MIN_NUMBER_COVERAGE`], if the later statement denies the very number of the earlier one.
const MIN_DENIED_NUMBER_COVERAGE: f32 = 0.15;
/// Minimum similarity of two words for one thing.
const MIN_WORD_SIMILARITY: f32 = 0.7;
/// Minimum similarity of two phrases for one thing.
const MIN_THING_SIMILARITY: f32 = 0.9;
/// Minimum coverage of the question by a statement that can be corrected.
const MIN_COVERAGE: f32 = 0.2;

/// A statement and the later one that corrects it.
#[derive(Debug, Clone)]
pub(super) struct CorrectedStatement {
    pub earlier: RetrievedEvent,
    pub later: RetrievedEvent,
}

/// A statement with its coverage of each item of the question.
struct ScoredStatement<'a> {
    found: &'a RetrievedEvent,
    held: Vec<f32>,
}

/// Returns the statements about the subject of the question that were corrected later, in the order in which they were
/// told.
pub(super) fn corrected_statements(
    pool: &EventPool<'_>,
    found: &[RetrievedEvent],
) -> Result<Vec<CorrectedStatement>, ReadError> {
    let question = pool.question;
    if question.content.is_empty() || asks_for_earlier_state(question) {
        return Ok(Vec::new());
    }
    let mut all: Vec<RetrievedEvent> = found.iter().filter(|one| is_correctable(one)).cloned().collect();
    // That two statements are about one person makes neither a correction.
    let thing = question.named.iter().find(|noun| !noun.is_pronoun() && !is_person(noun));
    let mut mentioned =
        thing.map_or_else(Vec::new, |thing| pool.ids_mentioning(thing, None, true, MAX_EVENTS_SEARCHED));
    mentioned.retain(|id| found.iter().all(|one| one.id() != *id));
    // Few texts are corrections. The others are parsed only if one is.
    let mut rest = Vec::new();
    for id in mentioned {
        let Some(event) = pool.reader.event(id)? else { continue };
        match event.kind == Kind::Text && may_correct(&event.text) {
            true => all.extend(pool.read(&[id], &question.content)?.into_iter().filter(is_correctable)),
            false => rest.push(id),
        }
    }
    let by_speaker = corrected_by_speaker(pool, found)?;
    if all.iter().all(|one| correction_in(&one.reading).is_none()) {
        return Ok(by_speaker);
    }
    all.extend(pool.read(&rest, &question.content)?.into_iter().filter(is_correctable));
    if let Some(bound) = question.bound() {
        // Later statements were not known at the time in question.
        all.retain(|one| one.span().start <= bound.end);
    }
    all.sort_by_key(|one| (one.span().start, one.id()));
    let corrections: Vec<Option<Correction>> = all.iter().map(|one| correction_in(&one.reading)).collect();
    let told: Vec<ScoredStatement<'_>> = all
        .iter()
        .map(|found| ScoredStatement { found, held: question.content.item_similarities(&found.reading) })
        .collect();
    let mut pairs = by_speaker;
    for (place, earlier) in all.iter().enumerate() {
        if pairs.iter().any(|pair| pair.earlier.id() == earlier.id()) {
            continue;
        }
        let later = (place + 1..all.len()).rev().find(|later| {
            corrections[*later]
                .as_ref()
                .is_some_and(|correction| corrects(question, correction, &told[*later], &told[place]))
        });
        if let Some(later) = later {
            pairs.push(CorrectedStatement { earlier: earlier.clone(), later: all[later].clone() });
        }
    }
    Ok(pairs)
}

/// Returns the quantities that a text states. "I said six euros. That was wrong, it is seven" states seven euros.
pub(super) fn stated_quantities(reading: &ParsedEvent) -> Vec<Quantity> {
    let mut all = reading.quantities();
    // "Eight, make that six."
    all.retain(|quantity| !is_put_right_at_once(&reading.event.text[quantity.range.end..]));
    if all.len() < 2 || !may_correct(&reading.event.text) {
        return all;
    }
    let (words, _) = parse(&reading.event.text, &[]);
    let admits = |sentence: &&Sentence| {
        begins_self_correction(reading.text(&sentence.range))
            || Correction::find(&words, std::slice::from_ref(*sentence)).is_some_and(|found| found.admits.is_some())
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
            quantity.measured.clone_from(&before.measured);
        }
    }
    all
}

/// Replaces corrected statements by their corrections.
pub(super) fn with_corrections(found: Vec<RetrievedEvent>, pairs: &[CorrectedStatement]) -> Vec<RetrievedEvent> {
    if pairs.is_empty() {
        return found;
    }
    let mut kept: Vec<RetrievedEvent> = Vec::with_capacity(found.len() + pairs.len());
    for one in found {
        let mut one = one;
        // A correction may itself be corrected.
        for _ in 0..pairs.len() {
            let Some(pair) = pairs.iter().find(|pair| pair.earlier.id() == one.id()) else { break };
            // The correction inherits the coverage of the earlier statement, which it does not repeat in full.
            let fuller = |a: Coverage, b: Coverage| if a.of_content > b.of_content { a } else { b };
            one = RetrievedEvent {
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

/// Moves corrected statements behind their corrections.
pub(super) fn order_corrections_first(
    mut evidence: Vec<RetrievedEvent>,
    pairs: &[CorrectedStatement],
) -> Vec<RetrievedEvent> {
    for pair in pairs {
        let known = evidence.iter().any(|one| one.id() == pair.earlier.id());
        let place = evidence.iter().position(|one| one.id() == pair.later.id());
        if let Some(place) = place.filter(|_| !known) {
            evidence.insert(place + 1, pair.earlier.clone());
        }
    }
    evidence
}

/// Returns whether an event is somebody's statement, or a state that was observed. An observed deed is never corrected.
fn is_correctable(found: &RetrievedEvent) -> bool {
    matches!(found.reading.event.kind, Kind::Text | Kind::State | Kind::Entity) && !found.reading.only_asks()
}

/// Returns whether the question asks for a statement before its correction: "where was it before?", "what did she say
/// first?".
fn asks_for_earlier_state(question: &Question<'_>) -> bool {
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
    question.ask() != AnswerKind::Change && (before || said)
}

/// Returns what a text corrects of earlier ones.
pub(super) fn correction_in(reading: &ParsedEvent) -> Option<Correction> {
    if reading.event.kind != Kind::Text || !may_correct(&reading.event.text) {
        return None;
    }
    let ranges: Vec<_> = reading.times.iter().map(|time| time.range.clone()).collect();
    let (words, _) = parse(&reading.event.text, &ranges);
    Correction::find(&words, &reading.sentences)
}

/// The part of a later statement that names its topic (`None`: all of it), and what it denies.
#[derive(Default)]
struct CorrectionScope<'a> {
    part: Option<&'a Range<usize>>,
    denied: &'a [String],
}

/// Returns whether two statements cover the same items of the question, except for some words.
fn have_same_topic(
    question: &Question<'_>,
    earlier: &ScoredStatement<'_>,
    later: &ScoredStatement<'_>,
    said: &CorrectionScope<'_>,
    persons: bool,
) -> bool {
    let content = &question.content;
    let (mut own, mut both, mut thing) = (0.0, 0.0, false);
    for (place, item) in content.items.iter().enumerate() {
        if said.denied.iter().any(|word| word_similarity(&item.lemma, word) >= MIN_WORD_SIMILARITY) {
            continue;
        }
        let common = earlier.held[place].min(later.held[place]);
        own += item.weight * earlier.held[place];
        let shared = common > 0.0 && share_word(item, &earlier.found.reading, &later.found.reading, said);
        if shared {
            both += item.weight * common;
            thing |= names_thing(question, item);
        }
    }
    // "37, not 36" takes back the very number that was said, however little else it repeats.
    let exact =
        !said.denied.is_empty() && said.denied.iter().all(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let enough = if exact { MIN_DENIED_NUMBER_COVERAGE } else { MIN_SHARED_TOPIC };
    own > 0.0 && own >= MIN_COVERAGE * content.total_weight() && both >= enough * own && (thing || persons)
}

/// Returns whether a word of the question names a thing, and no deed or person.
fn names_thing(question: &Question<'_>, item: &ContentItem) -> bool {
    let name = |noun: &NounPhrase| {
        noun.kind == NounKind::Name && (noun.head == item.lemma || noun.modifiers.contains(&item.lemma))
    };
    item.tag == Tag::Noun
        && lexicon::category(&item.lemma, PartOfSpeech::Noun).is_some()
        && !question.named.iter().any(name)
}

/// Returns whether two statements contain a word of the question in the same sense: an invoice is no charge of a
/// battery.
fn share_word(item: &ContentItem, earlier: &ParsedEvent, later: &ParsedEvent, said: &CorrectionScope<'_>) -> bool {
    let alike = |reading: &ParsedEvent| -> Vec<String> {
        let suits = |tag: Tag| !matches!((item.tag, tag), (Tag::Verb, Tag::Noun) | (Tag::Noun, Tag::Verb));
        let of_item = |lemma: &str| {
            word_similarity(&item.lemma, lemma) >= MIN_WORD_SIMILARITY || item.alias.as_deref() == Some(lemma)
        };
        // Two statements of one speaker may be about different things.
        let told =
            if item.tag == Tag::Name { reading.own_words.min(reading.lemmas.len()) } else { reading.lemmas.len() };
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
    one.iter().any(|a| other.iter().any(|b| word_similarity(a, b) >= MIN_WORD_SIMILARITY))
}

/// Returns whether the later statement names the thing that the question names and that the earlier statement is about.
fn names_same_thing(
    question: &Question<'_>,
    earlier: &ParsedEvent,
    later: &ParsedEvent,
    part: Option<&Range<usize>>,
) -> bool {
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
        question.named.iter().any(|named| phrase_similarity(named, &thing, earlier) >= MIN_THING_SIMILARITY)
            && named.iter().any(|noun| phrase_similarity(&thing, noun, later) >= MIN_THING_SIMILARITY)
    })
}

fn corrects(
    question: &Question<'_>,
    correction: &Correction,
    later: &ScoredStatement<'_>,
    earlier: &ScoredStatement<'_>,
) -> bool {
    let (new, old) = (&later.found.reading, &earlier.found.reading);
    let speaks_of = |said: &CorrectionScope<'_>, persons: bool| {
        have_same_topic(question, earlier, later, said, persons) || names_same_thing(question, old, new, said.part)
    };
    let anywhere = CorrectionScope::default();
    // "Correction: she needs 39": of what she said that she needs, if that is what is asked about.
    let about = earlier.found.coverage.of_content >= MIN_NUMBER_COVERAGE && tells_of(new, old.event.entity.as_deref());
    if correction.admits.is_some() && about && restates_number(old, new) {
        return true;
    }
    if let Some(part) = &correction.admits
        && restates_answer(question, new, old)
        && speaks_of(&CorrectionScope { part: Some(part), denied: &[] }, false)
    {
        return true;
    }
    if correction.called_off && announces(old, new) && speaks_of(&anywhere, false) {
        return true;
    }
    // A statement about an appointment may name the person only.
    let arranged = matches!(question.ask(), AnswerKind::Change | AnswerKind::Time | AnswerKind::Truth);
    // A rescheduled event keeps everything but its time.
    let of_time = arranged || question.has_time_bound();
    if correction.moved && of_time && !new.times.is_empty() && announces(old, new) && speaks_of(&anywhere, arranged) {
        return true;
    }
    correction.denied.iter().any(|denial| {
        let own = !denial.of_speaker || tells_of(old, new.event.entity.as_deref());
        let said = CorrectionScope { part: Some(&denial.sentence), denied: &denial.words };
        // "It isn't on the 26th that she lands, it's the 28th": who denies the very number that they told means that.
        let own_number = !denial.words.is_empty()
            && denial.words.iter().all(|word| word.starts_with(|c: char| c.is_ascii_digit()))
            && new.event.entity.is_some()
            && old.event.entity == new.event.entity
            && earlier.found.coverage.of_content >= MIN_COVERAGE;
        own && asserts(old, &denial.words) && (own_number || have_same_topic(question, earlier, later, &said, false))
    })
}

/// Returns whether a later statement gives a new value for what the question asks and the earlier statement gave: a
/// number or a time.
fn restates_answer(question: &Question<'_>, later: &ParsedEvent, earlier: &ParsedEvent) -> bool {
    match question.ask() {
        AnswerKind::Count | AnswerKind::Amount => earlier.quantities().is_empty() || !later.quantities().is_empty(),
        AnswerKind::Time => earlier.times.is_empty() || !later.times.is_empty(),
        _ => true,
    }
}

/// Returns whether a correction states another number with the same verb: "she needs 39", after "I need size 38".
fn restates_number(earlier: &ParsedEvent, later: &ParsedEvent) -> bool {
    let verbs = |reading: &ParsedEvent| -> Vec<String> {
        let verbs = reading.clauses().filter_map(|clause| clause.verb.as_ref()).filter(|verb| !verb.auxiliary_only);
        verbs.map(|verb| verb.lemma.clone()).collect()
    };
    let (old, new) = (verbs(earlier), verbs(later));
    let numbers = !earlier.quantities().is_empty() && !later.quantities().is_empty();
    numbers && new.iter().any(|verb| old.contains(verb))
}

/// Returns whether the earlier statement announces an event that was still in the future at the later statement.
fn announces(earlier: &ParsedEvent, later: &ParsedEvent) -> bool {
    let (told, since) = (earlier.event.span.start, later.event.span.start);
    earlier.times.iter().any(|time| time.span.end >= told && time.span.end >= since)
}

/// Returns whether one sentence says all of some words without denying anything.
fn asserts(reading: &ParsedEvent, denied: &[String]) -> bool {
    reading.sentences.iter().filter(|sentence| !sentence.asks).any(|sentence| {
        let stems: Vec<String> = words(reading.text(&sentence.range)).map(|word| stem(&word)).collect();
        let denies = sentence.clauses.iter().any(|clause| clause.verb.as_ref().is_some_and(|verb| verb.negated));
        !denies && denied.iter().all(|word| stems.contains(&stem(word)))
    })
}

/// Returns whether an event is of a person, or names them.
fn tells_of(reading: &ParsedEvent, person: Option<&str>) -> bool {
    let Some(person) = person else { return false };
    let named = |word: String| reading.lemmas.iter().any(|(lemma, _)| *lemma == word);
    reading.event.entity.as_deref() == Some(person) || words(person).all(named)
}
