//! Answers whether a lost thing was found, and by whom: "did my gloves ever turn up?", "who found the key?". Whatever shows
//! the thing or tells where it is, after somebody missed it, has found it.

use super::mishaps::actor;
use super::quote::quotation;
use crate::language::english::closed::is_one_of;
use crate::language::english::letters::capitalised;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, Placement, is_person};
use crate::{Kind, ReadError, TimeSpan, Timestamp};

/// Maximum number of events of the thing that are read, the latest ones.
const MAX_EVENTS: usize = 200;
/// Maximum number of texts since the thing was missed that are read.
const MAX_LATER_EVENTS: usize = 400;
/// Minimum similarity of two phrases for one thing.
const MIN_THING_SIMILARITY: f32 = 0.8;

/// Verbs whose object is gone then.
const LOSING_VERBS: &[&str] = &["lose", "misplace", "mislay"];
/// Verbs whose subject is gone then.
const VANISHING_VERBS: &[&str] = &["miss", "disappear", "vanish"];
/// Words for a thing that nobody finds.
const MISSING_WORDS: &[&str] = &["missing", "lost", "gone", "nowhere"];
/// Verbs of whoever finds something.
const FINDING_VERBS: &[&str] = &["find", "recover", "locate"];

/// What a question asks of a lost thing.
enum LostQuestion {
    /// "Has the key been found?", "did the key turn up?"
    Found,
    /// "Is the key still missing?"
    Missing,
    /// "Who found the key?"
    Finder,
}

/// Answers from the last time that somebody missed the thing. Nothing if nobody did.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some((asked, thing)) = asked_of_lost(question) else { return Ok(None) };
    // Whose it is need not be said again, and that it is missing was not said before.
    let mut thing = NounPhrase { owner: None, ..thing.clone() };
    thing.modifiers.retain(|word| !is_one_of(word, MISSING_WORDS));
    let mut events = pool.events_mentioning(&thing.head_alone(), question.hard, true, MAX_EVENTS, &question.content)?;
    events.sort_by_key(|found| (found.span().start, found.id()));
    let Some(at) = events.iter().rposition(|found| is_missed(&found.reading, &thing)) else { return Ok(None) };
    let (missed, later) = (&events[at], &events[at + 1..]);
    let mut found = later.iter().find(|found| is_found(&found.reading, &thing)).cloned();
    if found.is_none() {
        found = found_without_name(pool, missed)?;
    }
    let evidence: Vec<RetrievedEvent> = found.iter().chain([missed]).cloned().collect();
    let (text, value, reason) = match asked {
        LostQuestion::Finder => {
            let Some(finder) = found.as_ref().and_then(|found| finder(found, &thing)) else { return Ok(None) };
            let finder = capitalised(&finder);
            (finder.clone(), CandidateValue::Text(finder), "who had it first after it was missed")
        }
        LostQuestion::Found | LostQuestion::Missing => {
            let is_so = found.is_some() == matches!(asked, LostQuestion::Found);
            let yes = is_so != question.asked.has_negated_verb();
            let shown = found.as_ref().or(later.last()).unwrap_or(missed);
            let text = format!("{}: {}", if yes { "Yes" } else { "No" }, quotation(shown, question));
            (text, CandidateValue::Truth(yes), "what was seen or told of it since it was missed")
        }
    };
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, 1.0, reason.into())))
}

/// Returns the event in which whoever missed something says that they found it, and does not name it: "Found it!"
fn found_without_name(pool: &EventPool<'_>, missed: &RetrievedEvent) -> Result<Option<RetrievedEvent>, ReadError> {
    let question = pool.question;
    let end = question.hard.map_or_else(|| Timestamp::from(question.now.timestamp()), |hard| hard.end);
    let start = missed.span().end;
    if end <= start || missed.reading.event.entity.is_none() {
        return Ok(None);
    }
    let span = Some(TimeSpan { start, end });
    let said = pool.events_in_time_order(span, None, vec![Kind::Text], false, MAX_LATER_EVENTS, &question.content)?;
    let finds_it = |said: &RetrievedEvent| {
        let reading = &said.reading;
        let it = |noun: &NounPhrase| {
            let another = || reading.resolve(noun).is_some_and(|meant| !meant.is_pronoun() && !meant.range.is_empty());
            is_one_of(&noun.head, &["it", "them"]) && !another()
        };
        let mut told = reading.told_clauses();
        said.id() != missed.id()
            && reading.event.entity == missed.reading.event.entity
            && told.any(|clause| finds(clause, &it))
    };
    Ok(said.into_iter().find(finds_it))
}

/// Returns what a question asks of a lost thing, and the thing.
fn asked_of_lost<'q>(question: &'q Question<'_>) -> Option<(LostQuestion, &'q NounPhrase)> {
    let asked = &question.asked;
    let clause = &asked.clause;
    let verb = clause.verb.as_ref()?;
    if asked.cue.is_some() || question.has_time_bound() || verb.modal.is_some() || !clause.adjuncts.is_empty() {
        return None;
    }
    let is_thing = |noun: &&NounPhrase| noun.kind == NounKind::Common && !noun.is_pronoun() && !is_person(noun);
    let (subject, object) = (clause.subject.as_ref().filter(is_thing), clause.objects.first().filter(is_thing));
    let finds = is_one_of(&verb.lemma, FINDING_VERBS);
    match question.ask() {
        AnswerKind::Person if finds && asked.subject_is_asked => Some((LostQuestion::Finder, object?)),
        AnswerKind::Truth if finds && verb.passive => Some((LostQuestion::Found, subject?)),
        AnswerKind::Truth if finds && (verb.past || verb.perfect) => Some((LostQuestion::Found, object?)),
        AnswerKind::Truth if clause.turns_up(question.text) => Some((LostQuestion::Found, subject?)),
        AnswerKind::Truth if is_gone(clause) => Some((LostQuestion::Missing, subject?)),
        _ => None,
    }
}

/// "Is missing", "has gone missing", "has disappeared".
fn is_gone(clause: &Clause) -> bool {
    let missing = || clause.complements.iter().any(|(word, _)| is_one_of(word, MISSING_WORDS));
    clause.verb.as_ref().filter(|verb| !verb.negated).is_some_and(|verb| {
        is_one_of(&verb.lemma, VANISHING_VERBS)
            || verb.passive && verb.lemma == "lose"
            || matches!(verb.lemma.as_str(), "be" | "go") && missing()
    })
}

/// Returns whether somebody says in an event that they miss a thing, or asks for it.
fn is_missed(reading: &ParsedEvent, thing: &NounPhrase) -> bool {
    let is_thing = |noun: &NounPhrase| is_thing(reading, thing, noun);
    let misses = |clause: &Clause| {
        let Some(verb) = clause.verb.as_ref() else { return false };
        let has = clause.objects.iter().any(is_thing);
        let not = verb.negated || verb.modal.as_deref().is_some_and(|modal| modal.ends_with("n't"));
        is_one_of(&verb.lemma, LOSING_VERBS) && !not && !verb.future && has
            || is_one_of(&verb.lemma, FINDING_VERBS) && not && has
            || is_gone(clause) && clause.subject.as_ref().is_some_and(is_thing)
    };
    let looks = |clause: &Clause| {
        clause.verb.as_ref().is_some_and(|verb| is_one_of(&verb.lemma, &["see", "find"]))
            && clause.objects.iter().any(is_thing)
    };
    let mut asked = reading.sentences.iter().filter(|sentence| sentence.asks).flat_map(|sentence| &sentence.clauses);
    reading.event.kind == Kind::Text && (reading.clauses().any(misses) || asked.any(looks))
}

/// Returns whether an event shows a thing, says that it was found, or where it is.
fn is_found(reading: &ParsedEvent, thing: &NounPhrase) -> bool {
    let is_thing = |noun: &NounPhrase| is_thing(reading, thing, noun);
    if reading.event.kind != Kind::Text {
        return reading.clauses().flat_map(Clause::nouns).any(is_thing);
    }
    let placed = reading.places().into_iter().any(|place| place.placement == Placement::At && is_thing(&place.thing));
    placed && !is_missed(reading, thing)
        || reading.told_clauses().any(|clause| {
            let turned_up = clause.turns_up(&reading.event.text) && clause.subject.as_ref().is_some_and(is_thing);
            turned_up || finds(clause, &is_thing)
        })
}

/// Returns whether a clause tells that somebody found something.
fn finds(clause: &Clause, is_thing: &impl Fn(&NounPhrase) -> bool) -> bool {
    let verb = clause.verb.as_ref().filter(|verb| !verb.negated && verb.modal.is_none() && !verb.future);
    // "I've got it back."
    let gets_back = |lemma: &str| matches!(lemma, "get" | "have") && clause.has_back();
    let finds = verb.is_some_and(|verb| is_one_of(&verb.lemma, FINDING_VERBS) || gets_back(&verb.lemma));
    finds && clause.objects.iter().chain(&clause.subject).any(is_thing)
}

/// Returns who finds a thing, or handles it first.
fn finder(found: &RetrievedEvent, thing: &NounPhrase) -> Option<String> {
    let reading = &found.reading;
    let is_thing = |noun: &NounPhrase| is_thing(reading, thing, noun);
    let told = found.reading.event.kind == Kind::Text;
    let handles = |clause: &&Clause| match told {
        true => finds(clause, &is_thing),
        false => clause.objects.iter().chain(clause.adjuncts.iter().map(|it| &it.noun)).any(is_thing),
    };
    match reading.clauses().find(handles) {
        Some(clause) if clause.subject.as_ref().is_some_and(|subject| is_person(subject) || subject.is_pronoun()) => {
            actor(found, clause)
        }
        // "Found it!"
        Some(clause) if told && clause.subject.is_none() => reading.event.entity.clone(),
        _ => None,
    }
}

/// Returns whether a noun of an event is the thing, or stands for it.
fn is_thing(reading: &ParsedEvent, thing: &NounPhrase, noun: &NounPhrase) -> bool {
    noun.coordinated().any(|one| {
        reading.resolve(one).is_some_and(|told| {
            let whole = phrase_similarity(thing, &told, reading);
            let of = told.of.as_deref().map_or(0.0, |of| phrase_similarity(thing, of, reading));
            whole.max(of) >= MIN_THING_SIMILARITY
        })
    })
}
