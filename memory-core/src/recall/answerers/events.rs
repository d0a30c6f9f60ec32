//! Who, what, whose, why: the part of the best event that the question leaves open.

use std::collections::{BTreeMap, HashMap};

use crate::index::{stem, words};
use crate::language::english::closed::{PLACING, SAYING};
use crate::language::english::lexicon::{self, Category, PartOfSpeech};
use crate::language::english::question::{Ask, Occurrence};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::recall::answerers::counts::holds_counted;
use crate::recall::answerers::places::capitalised;
use crate::recall::answerers::times::margin;
use crate::recall::answerers::truth::{is_opposed, stance};
use crate::recall::candidate::{Candidate, Layer, Signals, Value};
use crate::recall::content::word_likeness;
use crate::recall::corrections::TakenBack;
use crate::recall::likeness::{best_in, is_colour, likeness};
use crate::recall::pool::{Found, Pool};
use crate::recall::question::Question;
use crate::recall::reading::{Reading, arguments, is_person};
use crate::recall::telling::{is_of_another, telling};
use crate::{EventId, Kind, Modality, ReadError};

/// Events this near to the best may tell it as well.
const NEAR: f32 = 0.12;
/// The same of what somebody said.
const NEAR_SAID: f32 = 0.4;
/// What is left of its rank of an event that tells nothing of the time to come that is asked for.
const OUT_OF_TIME: f32 = 0.6;
/// What is left of its rank of an event that says the opposite of what the question takes for granted.
const OPPOSED: f32 = 0.7;
/// What is left where somebody else does it.
const OF_ANOTHER: f32 = 0.8;
/// How much more an event counts that tells of a fault where one is asked for.
const FAULT: f32 = 1.2;
/// What is left of the rank of a reason that says nothing but what is to be explained.
const SAID_AGAIN: f32 = 0.3;
/// What a text loses of its rank that only asks what the question asks.
const ASKED_BACK: f32 = 0.25;
/// How well a quotation fits that may hold what is asked for.
const MAY_TELL: f32 = 0.1;
/// From here a name is that of the one who is asked about.
const SPEAKER: f32 = 0.7;
/// Most items of a list.
const LISTED: usize = 8;

/// The answer from single events.
pub(in crate::recall) fn answer(pool: &Pool<'_>, pooled: &[Found]) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let mut ranked: Vec<&Found> = pooled.iter().collect();
    // What lies in time as asked comes before what only suits the words; what places it is no answer.
    if ranked.iter().any(|found| found.placed > 0.0) {
        ranked.retain(|found| found.placed > 0.0);
    }
    // Nothing that is over answers what a day to come will bring, where something tells of that day.
    if ranked.iter().any(|found| ahead(question, &found.reading) > 0.0) {
        ranked.retain(|found| ahead(question, &found.reading) > 0.0);
    }
    // That all is well again does not say what was wrong.
    if let Some(thing) = faulty(question) {
        let over = |found: &Found| stance("broken", thing, &question.asked.clause, &found.reading) == Some(false);
        if ranked.iter().any(|found| !over(found) && best_in(thing, &found.reading) >= SPEAKER) {
            ranked.retain(|found| !over(found));
        }
    }
    let ranks: HashMap<EventId, f32> = ranked.iter().map(|found| (found.id(), rank(question, found))).collect();
    let rank = |found: &Found| found.placed + ranks.get(&found.id()).copied().unwrap_or_default();
    ranked.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.id().cmp(&b.id())));
    if let Some(occurrence) = question.asked.occurrence {
        prefer(occurrence, &mut ranked, rank);
    }
    let Some(best) = ranked.first().copied() else { return Ok(None) };
    let top = rank(best);
    let near: Vec<&Found> = ranked.iter().copied().filter(|found| rank(found) >= top - NEAR).take(8).collect();
    // What somebody said is told by them, or by who tells of them.
    let near: Vec<&Found> = match said_by(question) {
        Some(speaker) => near.into_iter().filter(|found| may_be_said_by(speaker, &found.reading)).collect(),
        None => near,
    };
    let unsaid = near.is_empty();
    let mut chosen: Option<(Vec<String>, &Found)> = None;
    for found in &near {
        let parts = parts(question, found);
        if !parts.is_empty() {
            chosen = Some((parts, found));
            break;
        }
    }
    let mut computed = false;
    if let Some((names, found)) = tasks(question, pooled) {
        chosen = Some((names, found));
        computed = true;
    }
    if question.asked.habitual
        && matches!(question.ask(), Ask::Person | Ask::Thing)
        && let Some(usual) = usual(question, &near)
    {
        chosen = Some(usual);
    }
    let wants_list = question.asked.class.as_ref().is_some_and(|class| class.plural);
    if wants_list && let Some((items, _)) = &mut chosen {
        for found in &near {
            for part in parts(question, found) {
                if !items.iter().any(|known| known.eq_ignore_ascii_case(&part)) && items.len() < LISTED {
                    items.push(part);
                }
            }
        }
    }
    let (text, value, fits, first) = match chosen {
        Some((parts, found)) => (capitalised(&list(&parts)), Value::List(parts), 1.0, found),
        None => {
            // Nothing in them tells more than that: of those that suit the words about as well, the one that the search finds. Of
            // sentences that somebody said it knows best, for they say one thing in many words.
            let said = |found: &&Found| found.reading.event.kind == Kind::Text && rank(found) >= top - NEAR_SAID;
            let near: Vec<&Found> =
                if !unsaid && said(&best) { ranked.iter().copied().filter(said).collect() } else { near };
            let best = near.iter().copied().reduce(|a, b| if b.score > a.score { b } else { a }).unwrap_or(best);
            let text = quote(best, question);
            let told = quoted(question).max(if may_tell(question, &best.reading) { MAY_TELL } else { 0.0 });
            let fits = if unsaid || is_of_another(question, &best.reading) { 0.0 } else { told };
            (text.clone(), Value::Text(text), fits, best)
        }
    };
    let mut evidence = vec![first.clone()];
    // Behind what answers, the search knows best what else is worth a look: it weighs every word of the question.
    let mut rest: Vec<&Found> = ranked.iter().copied().filter(|found| found.id() != first.id()).collect();
    if rest.iter().all(|found| found.placed == 0.0) && question.asked.occurrence.is_none() {
        rest.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    evidence.extend(rest.into_iter().cloned());
    let thing = question.named.iter().map(|thing| best_in(thing, &first.reading)).fold(0.0, f32::max);
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text,
        value,
        signals: Signals {
            coverage: if computed { 1.0 } else { timely(question, first) },
            cosine: first.cosine.unwrap_or(0.0),
            // Where a question names nothing and nothing places it, an event stands out by chance alone.
            margin: if question.content.is_empty() && first.placed == 0.0 { 0.0 } else { margin(pooled) },
            fits,
            thing: if computed {
                1.0
            } else if question.named.is_empty() {
                0.5
            } else {
                thing
            },
            known: question.content.known(),
        },
        evidence,
        confidence: 0.0,
        reason: if fits >= 1.0 {
            "the part of the event that was asked for".into()
        } else {
            "the event nearest to the question".into()
        },
    }))
}

/// The share of a question that an event holds, of which a day to come that it names is half.
fn timely(question: &Question<'_>, found: &Found) -> f32 {
    let coverage = found.coverage.of_content;
    if ahead(question, &found.reading) > 0.0 { f32::midpoint(coverage, 1.0) } else { coverage }
}

/// What is different from before: what was told last of the thing, where several were told.
pub(in crate::recall) fn changed(pool: &Pool<'_>, found: &[Found]) -> Option<Candidate> {
    let question = pool.question;
    if let Some(pair) = pool.taken_back.iter().max_by_key(|pair| (pair.later.span().start, pair.later.id())) {
        return Some(corrected(question, pair));
    }
    let told: Vec<&Found> = found.iter().filter(|found| !found.reading.only_asks()).collect();
    let best = told.iter().map(|found| found.fitness()).fold(0.0, f32::max);
    let mut near: Vec<&Found> = told.into_iter().filter(|found| found.fitness() >= 0.6 * best).take(12).collect();
    near.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    let newest = (*near.first()?).clone();
    let text = quote(&newest, question);
    Some(Candidate {
        layer: Layer::Episodes,
        text: text.clone(),
        value: Value::Text(text),
        signals: Signals {
            coverage: newest.coverage.of_content,
            cosine: newest.cosine.unwrap_or(0.0),
            margin: 0.0,
            fits: if near.len() > 1 { 0.8 } else { 0.2 },
            thing: named_in(question, &newest.reading),
            known: question.content.known(),
        },
        evidence: near.into_iter().cloned().collect(),
        confidence: 0.0,
        reason: "what was told last of it".into(),
    })
}

/// How well the best of the things that the question names suits what the event tells of.
fn named_in(question: &Question<'_>, reading: &Reading) -> f32 {
    let named = question.named.iter().map(|thing| best_in(thing, reading));
    named.reduce(f32::max).unwrap_or(0.5)
}

/// What a later statement says instead of an earlier one.
fn corrected(question: &Question<'_>, pair: &TakenBack) -> Candidate {
    let text = quote(&pair.later, question);
    Candidate {
        layer: Layer::Episodes,
        text: text.clone(),
        value: Value::Text(text),
        signals: Signals {
            coverage: pair.earlier.coverage.of_content.max(pair.later.coverage.of_content),
            cosine: pair.later.cosine.or(pair.earlier.cosine).unwrap_or(0.0),
            margin: 1.0,
            fits: 1.0,
            thing: named_in(question, &pair.earlier.reading),
            known: question.content.known(),
        },
        evidence: vec![pair.later.clone(), pair.earlier.clone()],
        confidence: 0.0,
        reason: "what was told since takes back what was told before".into(),
    }
}

/// Everything of a class that memory holds in the question's time, where nothing else is named: "which animals did you
/// see?".
pub(in crate::recall) fn of_class(pool: &Pool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    // What somebody is called is no kind of a name.
    if asks_for_a_name(question) {
        return Ok(None);
    }
    let class = match (question.ask(), &question.asked.class) {
        (Ask::Thing, Some(class)) if class.kind == NounKind::Common => class.head.clone(),
        (Ask::Truth, _) => match question.named.first() {
            Some(noun) if noun.determiner.as_deref() == Some("any") || noun.plural => noun.head.clone(),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let alone = question
        .content
        .items
        .iter()
        .all(|item| item.lemma == class || item.light || item.documents == 0 || item.tag == Tag::Verb);
    if !alone || question.asked.cue.is_some() {
        return Ok(None);
    }
    let kinds = vec![Kind::Caption, Kind::Object, Kind::Sound, Kind::Entity, Kind::Action, Kind::State];
    let events = pool.listing(question.bound(), question.sense, kinds, true, 600, &question.content)?;
    let mut items: Vec<(String, usize, Found)> = Vec::new();
    let mut nearest = u8::MAX;
    for found in events {
        for (lemma, tag) in &found.reading.lemmas[..found.reading.own.min(found.reading.lemmas.len())] {
            let steps = lexicon::is_a_as(lemma, &class, PartOfSpeech::Noun).filter(|steps| *steps > 0);
            if let Some(steps) = steps.filter(|_| *tag == Tag::Noun) {
                nearest = nearest.min(steps);
                match items.iter_mut().find(|(known, ..)| known == lemma) {
                    Some((_, count, _)) => *count += 1,
                    None => items.push((lemma.clone(), 1, found.clone())),
                }
            }
        }
    }
    // Asked for one ("which animal walked by?"), the one that is nearest in meaning comes first; asked for all, the most frequent.
    let plural = question.asked.class.as_ref().is_none_or(|class| class.plural);
    let near = |found: &Found| {
        let cosine = pool.embedding.as_ref().and_then(|vector| pool.cosine(vector, found.id()));
        if plural { 0.0 } else { cosine.unwrap_or(0.0) }
    };
    items.sort_by(|a, b| near(&b.2).total_cmp(&near(&a.2)).then(b.1.cmp(&a.1)).then_with(|| a.0.cmp(&b.0)));
    items.truncate(LISTED);
    if items.is_empty() {
        return Ok(None);
    }
    let names: Vec<String> = items.iter().map(|(name, ..)| name.clone()).collect();
    let yes = if question.ask() == Ask::Truth { "Yes: " } else { "" };
    Ok(Some(Candidate {
        layer: Layer::Episodes,
        text: capitalised(&format!("{yes}{}", list(&names))),
        value: Value::List(names),
        signals: Signals {
            coverage: 1.0,
            fits: 1.0,
            // A drink is nearer to "drink" than to "thing".
            thing: 1.0 / f32::from(nearest),
            known: question.content.known(),
            ..Signals::default()
        },
        evidence: items.into_iter().map(|(.., found)| found).collect(),
        confidence: 0.0,
        reason: format!("everything of the class {class}"),
    }))
}

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
fn may_tell(question: &Question<'_>, reading: &Reading) -> bool {
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

/// Who is asked about as having said something: "what did the guard say about the gate?".
fn said_by<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let clause = &question.asked.clause;
    let says = clause.verb.as_ref().is_some_and(|verb| SAYING.contains(&verb.lemma.as_str()) && !verb.passive);
    let open = matches!(question.ask(), Ask::Thing | Ask::Description | Ask::Action);
    clause.subject.as_ref().filter(|subject| says && open && !subject.is_pronoun() && is_person(subject))
}

/// Whether an event may hold what a person said: where the speaker is not known, anybody may be it.
fn may_be_said_by(speaker: &NounPhrase, reading: &Reading) -> bool {
    let event = &reading.event;
    let unknown = event.entity.is_none() && event.kind == Kind::Text;
    let own = event.entity.as_deref().is_some_and(|entity| {
        let name = crate::recall::reading::name_phrase(entity);
        likeness(speaker, &name, reading) >= SPEAKER || kind_of(&name, &speaker.head).is_some()
    });
    let told = reading.clauses().any(|clause| {
        let says = clause.verb.as_ref().is_some_and(|verb| SAYING.contains(&verb.lemma.as_str()));
        says && clause.subject.as_ref().is_some_and(|subject| likeness(speaker, subject, reading) >= SPEAKER)
    });
    unknown || own || told
}

/// Whether a name or a number is asked for, which no sentence around it can stand for: "what is he called?", "what's her number?".
fn asks_for_a_name(question: &Question<'_>) -> bool {
    let asked = &question.asked;
    let of_name = |noun: &NounPhrase| matches!(noun.head.as_str(), "name" | "number" | "age" | "address");
    let clause = &asked.clause;
    let named = clause.subject.iter().chain(&clause.objects).chain(&asked.class).any(of_name);
    let called =
        clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "call" | "name") && verb.passive);
    question.ask() == Ask::Thing && (named || called)
}

/// How well an event suits the question: its words and meaning, its sense, its being an answer and no question.
pub(in crate::recall) fn rank(question: &Question<'_>, found: &Found) -> f32 {
    let event = &found.reading.event;
    let sense = match question.sense {
        Some(sense) if event.modality != sense => 0.75,
        _ => 1.0,
    };
    let speech = match (question.speech, event.kind) {
        (Some(true), Kind::Text) | (None, _) => 1.0,
        (Some(true), _) => 0.75,
        (Some(false), Kind::Text) => 0.8,
        (Some(false), Kind::Sound) => 1.05,
        (Some(false), _) => 0.9,
    };
    let asked_back = asked_back(question, &found.reading);
    // "Who asked about the keys?" is answered by who only asks.
    let asks = 1.0 - ASKED_BACK * if of_asking(question) { 1.0 - asked_back } else { asked_back };
    // What only says again that it happened is no reason for it.
    let again = question.ask() == Ask::Reason && found.coverage.others < 1.0 && found.coverage.of_event > 0.0;
    let asks = if again { asks * SAID_AGAIN } else { asks };
    let opposed = if is_opposed(question, &found.reading) { OPPOSED } else { 1.0 };
    let opposed = if is_of_another(question, &found.reading) { opposed * OF_ANOTHER } else { opposed };
    let opposed = opposed * of_a_fault(question, &found.reading);
    let other = conflict(question, &found.reading) * denial(question, &found.reading) * opposed;
    (found.fitness() + 0.15 * does(question, &found.reading) + 0.35 * ahead(question, &found.reading))
        * in_time(question, &found.reading)
        * sense
        * speech
        * asks
        * other
}

/// Whether the question is about somebody's asking.
fn of_asking(question: &Question<'_>) -> bool {
    question.asked.clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma.as_str(), "ask" | "inquire" | "wonder"))
}

/// The share of what suits the question that the speaker asks instead of telling, 0 to 1.
fn asked_back(question: &Question<'_>, reading: &Reading) -> f32 {
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

/// More where "what was wrong with it?" is told.
fn of_a_fault(question: &Question<'_>, reading: &Reading) -> f32 {
    let told = faulty(question).and_then(|thing| stance("broken", thing, &question.asked.clause, reading));
    if told == Some(true) { FAULT } else { 1.0 }
}

/// The thing of which the question asks what is wrong with it.
fn faulty<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let clause = &question.asked.clause;
    let mut nouns = clause.subject.iter().chain(&clause.objects);
    let wrong = clause.complements.iter().any(|(word, _)| word == "wrong")
        || nouns.any(|noun| matches!(noun.head.as_str(), "matter" | "problem"));
    let adjunct = clause.adjuncts.iter().find(|adjunct| wrong && adjunct.preposition == "with");
    adjunct.map(|adjunct| &adjunct.noun)
}

/// More where both deny what the verb says: "what does she not eat?", less where only one does.
fn denial(question: &Question<'_>, reading: &Reading) -> f32 {
    let Some(verb) = question.asked.clause.verb.as_ref().filter(|verb| verb.negated) else { return 1.0 };
    let denied = reading
        .clauses()
        .filter_map(|clause| clause.verb.as_ref())
        .any(|told| told.negated && word_likeness(&verb.lemma, &told.lemma) >= 0.6);
    if denied { 1.15 } else { 0.9 }
}

/// How well the event does what the verb of the question says.
fn does(question: &Question<'_>, reading: &Reading) -> f32 {
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
        .map(|told| word_likeness(&verb.lemma, &told.lemma))
        .fold(0.0, f32::max)
}

/// Whether the event tells of the time to come that the question names.
fn ahead(question: &Question<'_>, reading: &Reading) -> f32 {
    if question.tense != crate::language::english::time::Tense::Future || !question.is_bounded() {
        return 0.0;
    }
    let Some(bound) = question.bound() else { return 0.0 };
    if reading.times.iter().any(|time| time.span.overlaps(bound) && time.span.end >= reading.event.span.start) {
        1.0
    } else {
        0.0
    }
}

/// Less where the question is bound to a time to come of which the event tells nothing.
fn in_time(question: &Question<'_>, reading: &Reading) -> f32 {
    let future = question.tense == crate::language::english::time::Tense::Future && question.is_bounded();
    if future && ahead(question, reading) == 0.0 { OUT_OF_TIME } else { 1.0 }
}

/// Less where the event speaks of another one of the things that are named.
fn conflict(question: &Question<'_>, reading: &Reading) -> f32 {
    let mut share = 1.0_f32;
    for thing in question.named.iter().filter(|thing| !thing.modifiers.is_empty()) {
        let head = NounPhrase { modifiers: Vec::new(), owner: None, of: None, ..thing.clone() };
        let (exact, same_head) = (best_in(thing, reading), best_in(&head, reading));
        if same_head >= 0.8 && exact < 0.4 {
            share *= 0.6;
        }
    }
    share
}

fn prefer(occurrence: Occurrence, ranked: &mut [&Found], rank: impl Fn(&Found) -> f32) {
    let top = ranked.first().map_or(0.0, |best| rank(best));
    let strong = |found: &Found| rank(found) >= top - NEAR;
    ranked.sort_by(|a, b| match (strong(a), strong(b)) {
        (true, true) => {
            let time = a.span().start.cmp(&b.span().start);
            if occurrence == Occurrence::Last { time.reverse() } else { time }
        }
        (a, b) => b.cmp(&a),
    });
}

/// The parts of an event that can fill what the question leaves open.
pub(in crate::recall) fn parts(question: &Question<'_>, found: &Found) -> Vec<String> {
    match question.ask() {
        Ask::Person => persons(question, &found.reading),
        Ask::Owner => owners(question, &found.reading),
        Ask::Thing => things(question, &found.reading),
        _ => Vec::new(),
    }
}

/// Persons who act in the event, those that the question names left out.
fn persons(question: &Question<'_>, reading: &Reading) -> Vec<String> {
    let related = |asked: &NounPhrase| asked.owner.clone().or_else(|| asked.of.clone());
    let named = |noun: &NounPhrase| {
        let whose: Vec<NounPhrase> = question.named.iter().filter_map(related).map(|noun| *noun).collect();
        question.named.iter().chain(&whose).any(|asked| likeness(asked, noun, reading) >= 0.7)
    };
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !name.is_empty() && !found.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            found.push(name);
        }
    };
    let subject_asked = question.asked.subject_is_asked;
    if let Some(name) = asks_who_one_is(question) {
        reading.clauses().flat_map(arguments).filter_map(|noun| role(name, noun, reading)).for_each(&mut add);
        reading.clauses().filter_map(|clause| equated(name, clause, reading)).for_each(&mut add);
        return found;
    }
    if let Some(asked) = question.asked.clause.subject.as_ref().filter(|subject| is_person(subject))
        && let Some(name) = reading.clauses().flat_map(arguments).find_map(|noun| in_role(asked, noun, reading))
    {
        return vec![name];
    }
    if question.asked.negated_verb() {
        // "Who did not have any …?": who does without it, or of whom that is denied.
        for clause in reading.clauses().filter(|clause| lacks(question, clause, reading)) {
            for noun in clause.subject.iter().filter(|noun| reading.resolve(noun).as_ref().is_some_and(is_person)) {
                let speaker = || reading.event.entity.clone().unwrap_or_default();
                add(if noun.is_pronoun() { speaker() } else { reading.phrase_text(noun) });
            }
        }
        return found;
    }
    // Who does what is asked is told by the clause that tells of it; only where it names nobody do the others count.
    let telling = telling(question, reading);
    for clause in telling.into_iter().chain(reading.clauses()) {
        let acting = clause.subject.iter().flat_map(NounPhrase::all);
        let others =
            clause.objects.iter().flat_map(NounPhrase::all).chain(clause.adjuncts.iter().map(|adjunct| &adjunct.noun));
        let chosen: Vec<&NounPhrase> = if subject_asked { acting.collect() } else { others.collect() };
        for noun in chosen {
            if let Some(meant) = reading.resolve(noun).filter(|meant| is_person(meant) && !named(meant)) {
                add(name_of(noun, &meant, reading));
            }
        }
    }
    let entity = reading
        .event
        .entity
        .as_deref()
        .filter(|_| !matches!(reading.event.kind, Kind::Object | Kind::State | Kind::Sound));
    if let Some(entity) = entity {
        let phrase = crate::recall::reading::name_phrase(entity);
        if !named(&phrase) && found.is_empty() {
            found.push(entity.to_owned());
        }
    }
    found.truncate(if question.asked.class.as_ref().is_some_and(|class| class.plural) { LISTED } else { 1 });
    found
}

/// What a person is called whom a phrase means.
fn name_of(noun: &NounPhrase, meant: &NounPhrase, reading: &Reading) -> String {
    match noun.head.as_str() {
        _ if !noun.is_pronoun() => reading.phrase_text(noun),
        "nobody" | "somebody" | "someone" | "everybody" | "everyone" => capitalised(&noun.head),
        // What a pronoun means without words of its own is who speaks.
        _ if meant.range.is_empty() || meant.is_pronoun() => reading.event.entity.clone().unwrap_or_default(),
        _ => reading.phrase_text(meant),
    }
}

/// "Who is Lena?": the name.
fn asks_who_one_is<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let clause = &question.asked.clause;
    let is = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.auxiliary_only);
    clause.subject.as_ref().filter(|subject| is && subject.kind == NounKind::Name && clause.objects.is_empty())
}

/// What somebody is to whom, as a phrase says it beside the name: "my daughter Lena".
fn role(name: &NounPhrase, noun: &NounPhrase, reading: &Reading) -> Option<String> {
    let owner = noun.owner.as_deref().filter(|_| noun.kind == NounKind::Name && noun.head == name.head)?;
    let role =
        noun.modifiers.iter().find(|word| lexicon::category(word, PartOfSpeech::Noun) == Some(Category::Person))?;
    let owner = if owner.is_pronoun() { reading.event.entity.clone()? } else { reading.phrase_text(owner) };
    Some(format!("{owner}'s {role}"))
}

/// What a clause says that somebody is: "their trainer is Mrs Aalto", "Mrs Aalto is a trainer".
fn equated(name: &NounPhrase, clause: &Clause, reading: &Reading) -> Option<String> {
    let verb = clause.verb.as_ref().filter(|verb| !verb.negated)?;
    let called = verb.passive && matches!(verb.lemma.as_str(), "call" | "name");
    let is = called || verb.lemma == "be" && verb.auxiliary_only;
    let (subject, object) = (clause.subject.as_ref()?, clause.objects.first().filter(|_| is)?);
    let meant = |noun: &NounPhrase| noun.kind == NounKind::Name && likeness(name, noun, reading) >= SPEAKER;
    let role = match (meant(subject), meant(object)) {
        (true, false) => object,
        (false, true) => subject,
        _ => return None,
    };
    (role.kind == NounKind::Common && (called || is_person(role))).then(|| reading.phrase_text(role))
}

/// The name of who is something to somebody: "my daughter Lena" for "Ivo's daughter", where Ivo says it.
fn in_role(asked: &NounPhrase, noun: &NounPhrase, reading: &Reading) -> Option<String> {
    let whose = asked.owner.as_deref().or(asked.of.as_deref())?;
    let owner = noun.owner.as_deref().filter(|_| noun.kind == NounKind::Name)?;
    let is_role = noun.modifiers.iter().any(|word| word_likeness(word, &asked.head) >= 0.8);
    let owner = reading.resolve(owner)?;
    (is_role && likeness(whose, &owner, reading) >= SPEAKER)
        .then(|| reading.phrase_text(noun).split_whitespace().next_back().unwrap_or_default().to_owned())
}

/// Whether a clause says that somebody is without what the question names.
fn lacks(question: &Question<'_>, clause: &Clause, reading: &Reading) -> bool {
    let meant = |noun: &NounPhrase| question.named.iter().any(|named| likeness(named, noun, reading) >= 0.7);
    let without = clause.adjuncts.iter().any(|adjunct| adjunct.preposition == "without" && meant(&adjunct.noun));
    let denied = clause.verb.as_ref().is_some_and(|verb| verb.negated)
        && clause.objects.iter().flat_map(NounPhrase::all).any(meant);
    without || denied
}

fn owners(question: &Question<'_>, reading: &Reading) -> Vec<String> {
    let class = question.asked.class.as_ref().or(question.named.first());
    let Some(class) = class else { return Vec::new() };
    let owner = reading.clauses().flat_map(arguments).find_map(|noun| {
        let owner = noun.owner.as_ref().filter(|_| likeness(class, noun, reading) >= 0.6)?;
        Some(if owner.is_pronoun() { reading.event.entity.clone()? } else { reading.phrase_text(owner) })
    });
    owner.into_iter().collect()
}

/// Things of the class that the question names; colours of the thing that it names.
fn things(question: &Question<'_>, reading: &Reading) -> Vec<String> {
    let Some(class) = &question.asked.class else { return Vec::new() };
    let head = class.head.as_str();
    if matches!(head, "colour" | "color") {
        return colours(question, reading);
    }
    let mut found: Vec<String> = Vec::new();
    for noun in reading.clauses().flat_map(arguments) {
        for noun in std::iter::once(noun).chain(noun.of.as_deref()) {
            let is = noun.kind != NounKind::Pronoun
                && kind_of(noun, head).is_some_and(|steps| steps > 0 || noun.modifiers.len() > class.modifiers.len());
            let asked = question.named.iter().any(|known| known.head == noun.head);
            if is && !asked {
                // "Which tools": what a tool is named with is one, too, whether the lexicon knows it or not.
                let beside = noun.also.iter().filter(|_| class.plural);
                for noun in std::iter::once(noun).chain(beside) {
                    let text = reading.phrase_text(noun);
                    if !found.contains(&text) {
                        found.push(text);
                    }
                }
            }
        }
    }
    // What an event is about is a thing of the class, where it does what the question says.
    if found.is_empty()
        && let Some(entity) = &reading.event.entity
        && matches!(reading.event.kind, Kind::Action | Kind::Object | Kind::State)
        && let Some(verb) = question.asked.clause.verb.as_ref().filter(|verb| !verb.auxiliary_only)
        && reading
            .clauses()
            .filter_map(|clause| clause.verb.as_ref())
            .any(|told| word_likeness(&verb.lemma, &told.lemma) >= 0.8)
        && !is_person(&crate::recall::reading::name_phrase(entity))
    {
        found.push(entity.clone());
    }
    found
}

/// How many steps a noun phrase is below a class: by its last two words, else by its head.
fn kind_of(noun: &NounPhrase, class: &str) -> Option<u8> {
    let two = noun.modifiers.last().map(|last| format!("{last} {}", noun.head));
    two.and_then(|two| lexicon::is_a(&two, class)).or_else(|| lexicon::is_a(&noun.head, class))
}

/// The tasks of the events of a stretch of time, the most frequent first, where the question asks which were done.
fn tasks<'a>(question: &Question<'_>, pooled: &'a [Found]) -> Option<(Vec<String>, &'a Found)> {
    let class = question.asked.class.as_ref()?;
    if !matches!(
        class.head.as_str(),
        "recipe" | "task" | "job" | "chore" | "procedure" | "dish" | "programme" | "project"
    ) || question.ask() != Ask::Thing
    {
        return None;
    }
    let bound = question.bound()?;
    let mut counts: Vec<(String, usize, &Found)> = Vec::new();
    for found in pooled.iter().filter(|found| found.span().overlaps(bound)) {
        let Some(task) = found.reading.event.attributes.get("task").and_then(crate::Value::as_text) else { continue };
        match counts.iter_mut().find(|(known, ..)| known == task) {
            Some((_, count, _)) => *count += 1,
            None => counts.push((task.to_owned(), 1, found)),
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let first = counts.first()?.2;
    Some((counts.into_iter().map(|(task, ..)| task).take(LISTED).collect(), first))
}

fn colours(question: &Question<'_>, reading: &Reading) -> Vec<String> {
    let thing = question.asked.clause.subject.as_ref().or(question.named.first());
    let mut found: Vec<String> = Vec::new();
    for clause in reading.clauses() {
        for noun in arguments(clause) {
            let about = thing.is_none_or(|thing| {
                let head = NounPhrase { modifiers: Vec::new(), owner: None, of: None, ..thing.clone() };
                likeness(&head, noun, reading) >= 0.6
            });
            if about {
                let before = reading.event.text.get(..noun.range.start).unwrap_or_default().trim_end();
                // "Red and blue blocks".
                let also = before.strip_suffix("and").map(str::trim_end).and_then(|text| text.split(' ').next_back());
                found.extend(also.filter(|word| is_colour(word)).map(str::to_owned));
                found.extend(noun.modifiers.iter().filter(|word| is_colour(word)).cloned());
            }
        }
        let subject = clause
            .subject
            .as_ref()
            .is_some_and(|subject| thing.is_none_or(|thing| word_likeness(&thing.head, &subject.head) >= 0.6));
        if subject {
            found.extend(clause.complements.iter().map(|(word, _)| word.clone()).filter(|word| is_colour(word)));
        }
    }
    found.dedup();
    found
}

/// What most of the near events have.
fn usual<'a>(question: &Question<'_>, near: &[&'a Found]) -> Option<(Vec<String>, &'a Found)> {
    let mut counts: BTreeMap<String, (usize, &Found)> = BTreeMap::new();
    for found in near {
        for part in parts(question, found) {
            counts.entry(part).or_insert((0, found)).0 += 1;
        }
    }
    let (part, (_, found)) =
        counts.into_iter().max_by_key(|(part, (count, _))| (*count, std::cmp::Reverse(part.clone())))?;
    Some((vec![part], found))
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
