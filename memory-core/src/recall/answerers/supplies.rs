//! Answers what has to be bought: everything that was needed or had run out when it was last spoken of.

use crate::language::english::closed::{HAVE_FORMS, MODALS, is_one_of};
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase, VerbGroup};
use crate::language::english::time::Tense;
use crate::recall::answerers::harmful_food::phrase_in_lower_case;
use crate::recall::answerers::quote::{join_list, quotation};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::{Kind, ReadError};

/// Maximum number of events that are read, the latest ones.
const MAX_EVENTS: usize = 600;
/// Maximum number of things in an answer, those told last.
const MAX_THINGS: usize = 12;
/// Minimum similarity of two phrases for one thing.
const MIN_THING_SIMILARITY: f32 = 0.8;

/// Verbs of getting something for a household.
const GETTING_VERBS: &[&str] = &["buy", "get", "order", "purchase"];
/// Verbs after which something is there.
const BRINGING_VERBS: &[&str] = &["buy", "get", "bring", "purchase", "deliver", "unpack", "restock", "refill"];
/// Words of a question that only ask what is needed.
const NEED_WORDS: &[&str] = &["need", "run", "shop", "shopping", "list", "store", "require", "low", "short", "out"];
/// Words for all that was needed.
const EVERYTHING: &[&str] = &["everything", "all", "rest"];

/// What a question asks about supplies.
enum SupplyQuestion<'q> {
    /// "What do we need to buy?", "what are we out of?"
    All,
    /// "Do we still need salt?", "are we out of salt?"
    One(&'q NounPhrase),
    /// "Is there any salt left?", "do we have any salt?"
    Left(&'q NounPhrase),
}

/// What a clause tells of a thing.
enum SupplyReport<'t> {
    Needed(&'t NounPhrase),
    /// It was not to be had. That says nothing of a thing that nobody needed: "he had no gloves".
    Missing(&'t NounPhrase),
    There(&'t NounPhrase),
    /// All that was needed, except what the same text denies.
    AllThere,
}

/// A thing that was needed once.
struct Supply {
    thing: NounPhrase,
    name: String,
    needed: bool,
    /// What told so last.
    found: RetrievedEvent,
}

/// Answers "what do we need to buy?" or "do we still need salt?".
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(asked) = asked_supplies(question) else { return Ok(None) };
    let kinds = vec![Kind::Text, Kind::Caption, Kind::Action, Kind::State];
    let mut events = pool.events_in_time_order(question.hard, None, kinds, true, MAX_EVENTS, &question.content)?;
    events.sort_by_key(|found| (found.span().start, found.id()));
    let mut supplies: Vec<Supply> = Vec::new();
    for found in &events {
        update(&mut supplies, found);
    }
    if let SupplyQuestion::One(thing) | SupplyQuestion::Left(thing) = asked {
        let same = |supply: &&Supply| is_same(thing, &supply.thing, &supply.found.reading);
        let Some(supply) = supplies.iter().find(same) else { return Ok(None) };
        let yes = supply.needed == matches!(asked, SupplyQuestion::One(_));
        let word = if yes { "Yes" } else { "No" };
        let text = format!("{word}: {}", quotation(&supply.found, question));
        let evidence = vec![supply.found.clone()];
        let reason = "what was told last of whether it is needed".into();
        let value = CandidateValue::Truth(yes);
        return Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, 1.0, reason)));
    }
    let (needed, there): (Vec<Supply>, Vec<Supply>) = supplies.into_iter().partition(|supply| supply.needed);
    if needed.is_empty() {
        let Some(last) = there.into_iter().max_by_key(|supply| supply.found.span().start) else { return Ok(None) };
        let text = format!("Nothing any more: {}", quotation(&last.found, question));
        let value = CandidateValue::List(Vec::new());
        let reason = "all that was needed is there".into();
        return Ok(Some(Candidate::computed(Layer::Episodes, text, value, vec![last.found], 1.0, reason)));
    }
    let needed = &needed[needed.len().saturating_sub(MAX_THINGS)..];
    let names: Vec<String> = needed.iter().map(|supply| supply.name.clone()).collect();
    let mut evidence: Vec<RetrievedEvent> = Vec::new();
    for supply in needed {
        if evidence.iter().all(|other| other.id() != supply.found.id()) {
            evidence.push(supply.found.clone());
        }
    }
    let text = capitalised(&join_list(&names));
    let reason = "what was needed and has not been brought since".into();
    Ok(Some(Candidate::computed(Layer::Episodes, text, CandidateValue::List(names), evidence, 1.0, reason)))
}

/// Returns what a question asks about supplies, if it does.
fn asked_supplies<'q>(question: &'q Question<'_>) -> Option<SupplyQuestion<'q>> {
    let asked = &question.asked;
    let texts: Vec<&str> = asked.words.iter().map(|word| word.text.as_str()).collect();
    let has_pair = |one: &str, next: &str| texts.windows(2).any(|two| two[0] == one && two[1] == next);
    let subject = asked.clause.subject.as_ref();
    let ours = subject.is_some_and(|subject| is_one_of(&subject.head, &["we", "i"]));
    let out = has_pair("out", "of") && ours;
    // "What have we run out of?" asks of now.
    if question.tense == Tense::Past && !(out && asked.words.iter().any(|word| is_one_of(&word.text, HAVE_FORMS)))
        || asked.negated
        || question.has_time_bound()
        || asked.cue.is_some()
        || asked.occurrence.is_some()
    {
        return None;
    }
    let needs = ours && asked.words.iter().any(|word| word.lemma == "need");
    let must_get = || {
        let obliged = texts.iter().any(|word| is_one_of(word, &["must", "should"])) || has_pair("have", "to");
        ours && obliged && asked.words.iter().any(|word| is_one_of(&word.lemma, GETTING_VERBS))
    };
    match question.ask() {
        AnswerKind::Truth => {
            let thing = question.named.iter().find(|noun| is_supply(noun))?;
            let any = thing.determiner.as_deref().is_some_and(|word| is_one_of(word, &["any", "some", "enough"]));
            let is_left = any && (ours || subject.is_none_or(|subject| subject.head == "there" || subject == thing));
            let has =
                asked.clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "have" | "be" | "leave"));
            match needs || out {
                true => Some(SupplyQuestion::One(thing)),
                false => (is_left && has).then_some(SupplyQuestion::Left(thing)),
            }
        }
        AnswerKind::Thing | AnswerKind::Action | AnswerKind::Description
            if (needs || out || must_get()) && asked.class.is_none() =>
        {
            let only =
                question.content.items.iter().all(|item| {
                    item.light || is_one_of(&item.lemma, NEED_WORDS) || is_one_of(&item.lemma, GETTING_VERBS)
                });
            only.then_some(SupplyQuestion::All)
        }
        _ => None,
    }
}

/// Takes in what an event tells.
fn update(supplies: &mut Vec<Supply>, found: &RetrievedEvent) {
    let reading = &found.reading;
    let needed_here = |supply: &Supply| supply.needed && supply.found.id() == found.id();
    let all: Vec<SupplyReport<'_>> = reading.clauses().filter_map(|clause| told_in(clause, reading)).collect();
    // "They had no salt, I got everything else": it was needed, whether that was understood or not.
    let rest_is_there = all.iter().any(|told| matches!(told, SupplyReport::AllThere));
    for told in all {
        let told = match told {
            SupplyReport::Missing(noun) if rest_is_there => SupplyReport::Needed(noun),
            told => told,
        };
        match told {
            SupplyReport::Needed(noun) => {
                for thing in noun.coordinated().filter(|thing| is_supply(thing)) {
                    let Some(thing) = reading.resolve(thing) else { continue };
                    supplies.retain(|supply| !is_same(&thing, &supply.thing, reading));
                    let name = name_of(&thing, reading);
                    supplies.push(Supply { thing, name, needed: true, found: found.clone() });
                }
            }
            SupplyReport::Missing(noun) | SupplyReport::There(noun) => {
                let missing = matches!(told, SupplyReport::Missing(_));
                for thing in noun.coordinated().filter_map(|thing| reading.resolve(thing)) {
                    for supply in &mut *supplies {
                        if is_same(&thing, &supply.thing, reading) && !needed_here(supply) {
                            (supply.needed, supply.found) = (missing, found.clone());
                        }
                    }
                }
            }
            SupplyReport::AllThere => {
                for supply in supplies.iter_mut().filter(|supply| supply.needed) {
                    if !needed_here(supply) {
                        (supply.needed, supply.found) = (false, found.clone());
                    }
                }
            }
        }
    }
}

/// Returns what a clause tells of supplies.
fn told_in<'t>(clause: &'t Clause, reading: &'t ParsedEvent) -> Option<SupplyReport<'t>> {
    let speech = reading.event.kind == Kind::Text;
    let asks = reading.sentences.iter().any(|sentence| {
        let holds = sentence.range.start <= clause.range.start && clause.range.end <= sentence.range.end;
        // "We're out of salt, could you get some?" says the one and asks the other.
        let question_behind = || {
            let mut behind = sentence.clauses.iter().filter(|other| other.range.start > clause.range.start);
            !clause.inverted && clause.asking.is_none() && behind.any(|other| other.inverted)
        };
        sentence.asks && holds && !question_behind()
    });
    // "We're out of salt", "we have run out of salt"
    let out = clause.adjuncts.iter().find(|adjunct| {
        adjunct.preposition == "out of"
            || adjunct.preposition == "of" && is_out_before(clause, reading, adjunct.range.start)
    });
    if let Some(out) = out.filter(|_| speech && !asks)
        && clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "be" | "run") && !verb.negated)
    {
        return Some(SupplyReport::Needed(&out.noun));
    }
    let verb = clause.verb.as_ref()?;
    let exhausted = |subject: &&NounPhrase| {
        let is = |words: &[&str]| {
            is_one_of(&verb.lemma, words) || clause.complements.iter().any(|(word, _)| is_one_of(word, words))
        };
        let used_up = verb.lemma == "use" && verb.particle.as_deref() == Some("up") && verb.passive;
        let none_left = verb.lemma == "leave" && verb.passive && is_denied(subject, verb);
        let runs_out = verb.lemma == "run" && verb.particle.as_deref() == Some("out");
        none_left
            || (used_up || runs_out || is_consumed(subject) && is(&["finish", "finished", "empty"])) && !verb.negated
    };
    if let Some(subject) = clause.subject.as_ref().filter(exhausted).filter(|_| speech && !asks) {
        return Some(SupplyReport::Needed(subject));
    }
    let object = clause.objects.first()?;
    let denied = is_denied(object, verb);
    let there = clause.subject.as_ref().is_none_or(|subject| is_one_of(&subject.head, &["there", "we"]));
    // "There is no salt left", "we don't have any salt"
    if matches!(verb.lemma.as_str(), "be" | "have") && there && speech && !asks {
        return Some(match denied {
            true if is_consumed(object) => SupplyReport::Needed(object),
            true => SupplyReport::Missing(object),
            false => SupplyReport::There(object),
        });
    }
    // "She needs six chairs" is a wish of her own.
    let of_us = |words: &[&str]| clause.subject.as_ref().is_none_or(|subject| is_one_of(&subject.head, words));
    if verb.lemma == "need" && speech && !verb.past && of_us(&["we"]) && !asks {
        let told = if verb.negated { SupplyReport::There(object) } else { SupplyReport::Needed(object) };
        return Some(told);
    }
    if is_one_of(&verb.lemma, GETTING_VERBS) || is_one_of(&verb.lemma, BRINGING_VERBS) || denied && verb.lemma == "have"
    {
        let done = verb.past || verb.perfect || !speech && !verb.future && verb.modal.is_none();
        if denied && done {
            return speech.then_some(SupplyReport::Missing(object));
        }
        if done && !asks {
            let all = is_one_of(&object.head, EVERYTHING);
            return Some(if all { SupplyReport::AllThere } else { SupplyReport::There(object) });
        }
        // "Buy salt", "someone should get some salt"
        let indefinite =
            object.determiner.as_deref().is_none_or(|word| is_one_of(word, &["some", "a", "an", "more", "new"]));
        // "Rolf, please buy salt", and not "Rolf buys salt"
        let base = reading.text(&verb.range).eq_ignore_ascii_case(&verb.lemma);
        let told_to =
            clause.subject.as_ref().filter(|subject| subject.kind == NounKind::Name && subject.also.is_empty());
        let wanted = verb.infinitive && clause.subject.is_none()
            || base && told_to.is_some()
            || verb.modal.as_deref().is_some_and(|modal| is_one_of(modal, MODALS) && modal != "will")
            || asks && clause.subject.as_ref().is_some_and(|subject| subject.head == "you");
        let gets = is_one_of(&verb.lemma, GETTING_VERBS) && (verb.lemma != "get" || indefinite);
        let us = told_to.is_some() || of_us(&["we", "i", "someone", "somebody", "you"]);
        return (speech && wanted && gets && !denied && us).then_some(SupplyReport::Needed(object));
    }
    None
}

/// Returns whether a thing is of a kind that is used up.
fn is_consumed(noun: &NounPhrase) -> bool {
    ["food", "substance"].iter().any(|class| lexicon::is_a(&noun.head, class).is_some())
}

/// Returns whether a clause denies that there is a thing.
fn is_denied(noun: &NounPhrase, verb: &VerbGroup) -> bool {
    verb.negated || noun.determiner.as_deref() == Some("no")
}

/// Returns whether "out" stands right before a place in a clause.
fn is_out_before(clause: &Clause, reading: &ParsedEvent, at: usize) -> bool {
    let before = reading.event.text.get(clause.range.start..at).unwrap_or_default();
    before.trim_end().rsplit(' ').next().is_some_and(|last| last.eq_ignore_ascii_case("out"))
}

/// Returns whether a phrase may name something that is bought.
fn is_supply(noun: &NounPhrase) -> bool {
    let category = lexicon::category(&noun.head, PartOfSpeech::Noun);
    noun.kind == NounKind::Common
        && !is_person(noun)
        && !is_one_of(&noun.head, EVERYTHING)
        // "The one in the hall"
        && !is_one_of(&noun.head, &["one", "ones"])
        && !matches!(
            category,
            Some(
                Category::Act
                    | Category::Attribute
                    | Category::Cognition
                    | Category::Event
                    | Category::Feeling
                    | Category::Phenomenon
                    | Category::State
                    | Category::Time
            )
        )
}

/// Returns whether two phrases name one thing.
fn is_same(one: &NounPhrase, other: &NounPhrase, reading: &ParsedEvent) -> bool {
    // Not by what they are named beside, and "no salt" is salt.
    let alone = |noun: &NounPhrase| NounPhrase { also: Vec::new(), determiner: None, ..noun.clone() };
    let (one, other) = (alone(one), alone(other));
    phrase_similarity(&one, &other, reading).max(phrase_similarity(&other, &one, reading)) >= MIN_THING_SIMILARITY
}

/// Returns the words for a thing, without "the" or "some".
fn name_of(thing: &NounPhrase, reading: &ParsedEvent) -> String {
    let text = phrase_in_lower_case(thing, reading);
    let article = text.split_once(' ').filter(|(first, _)| is_one_of(first, &["the", "some", "any", "no", "more"]));
    article.map_or(text.clone(), |(_, rest)| rest.to_owned())
}
