//! Answers what condition a thing is in: "how is the pump now?", "what state is the roof in?", by the newest event that
//! tells one.

use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::states::{CONDITION_NOUNS, state_of_word};
use crate::language::english::syntax::NounPhrase;
use crate::language::english::time::Tense;
use crate::recall::answerers::keep_if_any;
use crate::recall::answerers::places::reference_certainty;
use crate::recall::answerers::quote::quotation;
use crate::recall::answerers::repairs::is_repair;
use crate::recall::candidate::{Candidate, CandidateValue, Layer, Signals};
use crate::recall::likeness::best_phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::{Kind, ReadError};

/// Minimum similarity of an event to the thing in question.
const MIN_THING_SIMILARITY: f32 = 0.7;
/// Maximum number of events of the thing that are read.
const MAX_THING_EVENTS: usize = 100;

/// Answers with the newest event that tells the condition of the thing in question.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(thing) = asked_thing(question) else { return Ok(None) };
    let bound = question.bound();
    // Whoever talks of a thing again leaves out what tells it apart.
    let mut all = merge(
        pool.events_about(thing, bound, true, MAX_THING_EVENTS, &question.content)?,
        pool.events_mentioning(&thing.head_alone(), bound, true, MAX_THING_EVENTS, &question.content)?,
    );
    all.retain(|found| {
        best_phrase_similarity(thing, &found.reading) >= MIN_THING_SIMILARITY && !found.reading.only_asks()
    });
    let mentions = all.clone();
    all.retain(|found| tells_condition(&found.reading));
    // An event that is about something else may mention the thing, and tell what that is like.
    keep_if_any(&mut all, |found| is_condition_of(thing, found, &mentions));
    all.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    let Some(newest) = all.first() else { return Ok(None) };
    let text = quotation(newest, question);
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        value: CandidateValue::Text(text.clone()),
        text,
        signals: signals(question, thing, newest),
        evidence: all,
        confidence: 0.0,
        computed: false,
        reason: "what was told last of its condition".into(),
    }))
}

fn signals(question: &Question<'_>, thing: &NounPhrase, newest: &RetrievedEvent) -> Signals {
    Signals {
        coverage: newest.coverage.of_content,
        cosine: newest.cosine.unwrap_or(0.0),
        margin: 1.0,
        fits: 0.9,
        thing: best_phrase_similarity(thing, &newest.reading),
        known: question.content.known_share(),
    }
}

/// Returns whether a question asks for the condition of a thing.
pub(in crate::recall) fn asks_condition(question: &Question<'_>) -> bool {
    asked_thing(question).is_some()
}

/// Returns the thing whose condition is asked for.
fn asked_thing<'q>(question: &'q Question<'_>) -> Option<&'q NounPhrase> {
    let asked = &question.asked;
    let clause = &asked.clause;
    let asking = clause.asking.as_ref()?;
    if question.tense == Tense::Future || !matches!(question.ask(), AnswerKind::Thing | AnswerKind::Description) {
        return None;
    }
    let names_condition = |noun: &NounPhrase| CONDITION_NOUNS.contains(&noun.head.as_str());
    let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    let is_thing =
        |noun: &&NounPhrase| !noun.is_pronoun() && !is_person(noun) && !names_condition(noun) && !is_time(noun);
    let subject = clause.subject.as_ref();
    let class = asking.noun.as_ref().is_some_and(names_condition);
    let of_condition = subject.filter(|subject| is && names_condition(subject));
    // "How is the pump now?"
    let how = is && asking.word == "how" && asking.degree.is_none() && clause.complements.is_empty();
    // "What about the pump?"
    let about =
        clause.verb.is_none() && asked.words.windows(2).any(|two| two[0].has_text("what") && two[1].has_text("about"));
    if let Some(of) = of_condition {
        let named = of.of.as_deref().or_else(|| question.named.iter().find(is_thing));
        return named.filter(is_thing);
    }
    let thing = subject.filter(is_thing).or_else(|| question.named.iter().find(is_thing));
    thing.filter(|_| class || how || about)
}

fn is_time(noun: &NounPhrase) -> bool {
    lexicon::category(&noun.head, PartOfSpeech::Noun) == Some(lexicon::Category::Time)
}

/// Returns whether a clause of an event is about the thing: what it is, does or does no more, or its repair.
fn is_condition_of(thing: &NounPhrase, found: &RetrievedEvent, mentions: &[RetrievedEvent]) -> bool {
    let reading = &found.reading;
    let is = |noun: &NounPhrase| reference_certainty(thing, noun, found, mentions) >= MIN_THING_SIMILARITY;
    if reading.event.kind == Kind::State && reading.entity_phrase().is_some_and(|entity| is(&entity)) {
        return true;
    }
    reading.clauses().any(|clause| {
        let subject = clause.subject.as_ref().and_then(|subject| reading.resolve(subject));
        let mut placed = clause.adjuncts.iter().map(|adjunct| &adjunct.noun);
        subject.is_some_and(|subject| is(&subject))
            || is_repair(clause) && (clause.objects.iter().any(is) || placed.any(is))
    })
}

/// Returns whether an event tells what something is like now: a state, a repair, or that it does something again.
fn tells_condition(reading: &ParsedEvent) -> bool {
    let states = || reading.lemmas.iter().any(|(lemma, _)| state_of_word(lemma).is_some() || lemma == "again");
    let described = || {
        let mut clauses = reading.clauses().filter(|clause| !clause.complements.is_empty());
        clauses.any(|clause| clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only))
    };
    let fails = || reading.clauses().filter_map(|clause| clause.verb.as_ref()).any(|verb| verb.negated && !verb.past);
    states() || described() || fails() || reading.clauses().any(is_repair)
}
