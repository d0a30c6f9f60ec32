//! Answers how many are left: a number that was told or seen, with what was added and taken away since.

use crate::language::english::closed::is_one_of;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::language::english::time::{Tense, say_moment};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::{Kind, ReadError};

/// Maximum number of events of the things that are read, the latest ones.
const MAX_EVENTS: usize = 200;
/// Minimum similarity of two phrases for things of one kind.
const MIN_THING_SIMILARITY: f32 = 0.8;

/// Verbs after which there are more.
const ADDING_VERBS: &[&str] =
    &["add", "bring", "buy", "deliver", "get", "lay", "place", "put", "set", "stack", "unload", "unpack"];
/// Verbs of getting things that are put somewhere afterwards.
const GETTING_VERBS: &[&str] = &["bring", "buy", "deliver", "get", "unload", "unpack"];
/// Verbs after which there are fewer.
const TAKING_VERBS: &[&str] = &[
    "break", "burn", "consume", "crack", "drink", "drop", "eat", "finish", "give", "hand", "pass", "remove", "sell",
    "send", "take", "throw", "use",
];
/// Words that ask for what remains.
const REMAINING: &[&str] = &["left", "remaining", "still", "now", "remain"];

/// What a clause tells of the number of the things.
#[derive(Debug, Clone, Copy, PartialEq)]
enum StockChange {
    /// So many there are.
    Total(f64),
    /// So many came, and whether they were only got.
    More(f64, bool),
    /// So many went.
    Less(f64),
}

/// Answers "how many eggs are left?" where the number follows from several events.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some(things) = asked_things(question) else { return Ok(None) };
    let mut events =
        pool.events_mentioning(&things.head_alone(), question.hard, true, MAX_EVENTS, &question.content)?;
    events.sort_by_key(|found| (found.span().start, found.id()));
    let place =
        question.asked.clause.adjuncts.iter().map(|adjunct| &adjunct.noun).find(|noun| !is_same(things, noun, None));
    let mut number: Option<f64> = None;
    let mut told: Vec<(String, RetrievedEvent)> = Vec::new();
    let mut last_got: Option<f64> = None;
    for found in events.iter().filter(|found| !found.reading.only_asks()) {
        let Some(change) = change_in(things, &found.reading) else { continue };
        // What lies elsewhere does not count, but whoever takes some need not say from where.
        let here = place.is_none_or(|place| names_all(place, &found.reading));
        let moment = say_moment(found.span().start, &question.now);
        let say = |number: f64, word: &str| format!("{word}{number} {moment}");
        match (change, number) {
            (StockChange::Total(total), _) if here => {
                (number, last_got) = (Some(total), None);
                told = vec![(say(total, ""), found.clone())];
            }
            // What was bought is what is then put away.
            (StockChange::More(more, false), _) if last_got == Some(more) => last_got = None,
            (StockChange::More(more, got), None) if here || got => {
                (number, last_got) = (Some(more), got.then_some(more));
                told = vec![(say(more, ""), found.clone())];
            }
            (StockChange::More(more, got), Some(known)) if here || got => {
                (number, last_got) = (Some(known + more), got.then_some(more));
                told.push((say(more, "plus "), found.clone()));
            }
            (StockChange::Less(less), Some(known)) if less <= known => {
                number = Some(known - less);
                told.push((say(less, "less "), found.clone()));
            }
            _ => {}
        }
    }
    let Some(number) = number.filter(|_| told.len() > 1) else { return Ok(None) };
    let (parts, mut evidence): (Vec<String>, Vec<RetrievedEvent>) = told.into_iter().unzip();
    evidence.reverse();
    let text = format!("{number}: {}", parts.join(", "));
    let value = CandidateValue::Number(number, String::new());
    let reason = "what was told, with what came and went since";
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, 1.0, reason.into())))
}

/// Returns the things whose present number a question asks for.
fn asked_things<'q>(question: &'q Question<'_>) -> Option<&'q NounPhrase> {
    let asked = &question.asked;
    let clause = &asked.clause;
    // "How many of the bulbs?"
    let of = || clause.adjuncts.iter().find(|adjunct| adjunct.preposition == "of").map(|adjunct| &adjunct.noun);
    let things = asked.class.as_ref().or_else(of);
    // Persons come and go by themselves.
    let things =
        things.filter(|class| question.ask() == AnswerKind::Count && !class.is_pronoun() && !is_person(class))?;
    let remains = asked.words.iter().any(|word| is_one_of(&word.text, REMAINING));
    let verb = clause.verb.as_ref()?;
    let is = matches!(verb.lemma.as_str(), "be" | "have" | "leave" | "remain");
    let unused = verb.negated && is_one_of(&verb.lemma, TAKING_VERBS);
    let open = !question.has_time_bound() && asked.cue.is_none();
    let now = question.tense != Tense::Past && is && (remains || clause.adjuncts.len() == 1);
    (open && (now || unused)).then_some(things)
}

/// Returns what an event tells of the number of the things.
fn change_in(things: &NounPhrase, reading: &ParsedEvent) -> Option<StockChange> {
    let seen = reading.event.kind != Kind::Text;
    reading.clauses().find_map(|clause| {
        let verb = clause.verb.as_ref().filter(|verb| !verb.negated && verb.modal.is_none() && !verb.infinitive)?;
        let done = verb.past || verb.perfect || verb.passive || seen;
        let nouns = clause.objects.iter().chain(&clause.subject).flat_map(NounPhrase::coordinated);
        let (number, partly) = nouns.filter_map(|noun| number_of(things, noun, reading)).next()?;
        let has = |words: &[&str]| is_one_of(&verb.lemma, words);
        let out = clause.adjuncts.iter().any(|it| is_one_of(&it.preposition, &["from", "off", "out of", "of", "out"]));
        let left = clause.complements.iter().any(|(word, _)| is_one_of(word, &["left", "now"]));
        let are_left = left || verb.lemma == "leave" && verb.passive || verb.lemma == "remain";
        if has(&["be", "have"]) && !verb.past || are_left {
            return Some(StockChange::Total(number));
        }
        // "One of the new bulbs" is one less, whatever becomes of it.
        if done && (has(TAKING_VERBS) || partly || out && !has(GETTING_VERBS)) {
            return Some(StockChange::Less(number));
        }
        (done && has(ADDING_VERBS)).then(|| StockChange::More(number, has(GETTING_VERBS)))
    })
}

/// Returns how many of the things a phrase names, and whether it says that they are some of them: "three eggs", "a carton
/// of twelve eggs", "one of the eggs".
fn number_of(things: &NounPhrase, noun: &NounPhrase, reading: &ParsedEvent) -> Option<(f64, bool)> {
    let single = |noun: &NounPhrase| {
        let one = noun.determiner.as_deref().is_some_and(|word| is_one_of(word, &["a", "an", "another"]));
        one.then_some(1.0)
    };
    if noun.kind != NounKind::Number && noun.head != "one" && is_same(things, noun, Some(reading)) {
        return noun.number.or_else(|| single(noun)).map(|number| (number, false));
    }
    let of = noun.of.as_deref().filter(|of| is_same(things, of, Some(reading)))?;
    if noun.kind == NounKind::Number || noun.head == "one" {
        return noun.number.or(Some(1.0)).map(|number| (number, true));
    }
    of.number.map(|number| (number, false))
}

/// Returns whether a phrase names things of the kind in question.
fn is_same(things: &NounPhrase, noun: &NounPhrase, reading: Option<&ParsedEvent>) -> bool {
    let alone = |noun: &NounPhrase| NounPhrase { also: Vec::new(), ..noun.clone() };
    let (things, noun) = (alone(things), alone(noun));
    let of = |noun: &NounPhrase| noun.of.as_ref().map(|of| of.head.clone());
    match reading {
        None => things.head == noun.head,
        // A box of pads is no box of screws.
        Some(reading) => {
            (of(&things).is_none() || of(&noun).is_none() || of(&things) == of(&noun))
                && phrase_similarity(&things.head_alone(), &noun.head_alone(), reading) >= MIN_THING_SIMILARITY
                && phrase_similarity(&NounPhrase { of: None, ..things }, &noun, reading) >= MIN_THING_SIMILARITY
        }
    }
}

/// Returns whether an event names a place with all its words.
fn names_all(place: &NounPhrase, reading: &ParsedEvent) -> bool {
    place.lemmas().iter().all(|word| reading.lemmas.iter().any(|(told, _)| told == word))
}
