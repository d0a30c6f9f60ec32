//! Answers who has a thing that was lent or handed over, and whether and when it comes back: "who borrowed the drill?",
//! "has Ivo returned it?", "when do we get it back?", "how long did he have it?".

use super::parts::MIN_PERSON_SIMILARITY;
use super::quote::quotation;
use crate::language::english::closed::is_one_of;
use crate::language::english::letters::capitalised;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::time::{Tense, ToldTime, say_length_of, say_period};
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::recall::stance::contains_time;
use crate::{Kind, ReadError, TimeSpan};

/// Maximum number of events of the thing that are read, the latest ones.
const MAX_EVENTS: usize = 200;
/// Minimum similarity of two phrases for one thing.
const MIN_THING_SIMILARITY: f32 = 0.8;

/// Time within which a thing that was asked for is handed over.
const HANDING_TIME: std::time::Duration = std::time::Duration::from_secs(3_600);

/// Verbs of giving something for a time.
const LENDING_VERBS: &[&str] = &["lend", "loan"];
/// Verbs whose object goes from the subject to somebody.
const GIVING_VERBS: &[&str] = &["give", "hand", "pass", "lend", "loan"];
/// Verbs that bring something back together with "back".
const BACK_VERBS: &[&str] =
    &["bring", "give", "hand", "get", "take", "have", "be", "come", "go", "send", "put", "pass"];
/// Verbs with which a borrower says that a thing comes back.
const RETURNING_VERBS: &[&str] = &["bring", "drop", "return", "give", "send", "take"];
/// Verbs with which whoever has a thing lays it down.
const LAYING_VERBS: &[&str] = &["put", "set", "place", "lay", "leave", "hang", "stand", "lean", "drop"];

/// What a clause tells of a thing.
enum Handover {
    /// Somebody has it from somebody else; lent, if that was said.
    To { receiver: NounPhrase, lent: bool },
    /// Somebody would like to have it for a time.
    Requested { by: NounPhrase },
    /// Somebody goes on having it, or is allowed to have it.
    Kept,
    /// It is back.
    Back,
    /// Somebody lays it down.
    Laid { by: NounPhrase },
}

/// A time during which somebody had a thing that was lent to them.
struct Loan {
    receiver: NounPhrase,
    giver: Option<NounPhrase>,
    lent: RetrievedEvent,
    back: Option<RetrievedEvent>,
}

/// What a question asks of a thing.
enum LoanQuestion {
    /// "Who has the drill?"
    Holder,
    /// "Who borrowed the drill?"
    Borrower,
    /// "Who lent us the drill?"
    Lender,
    /// "Is the drill back?", "did Ivo return the drill?"
    Returned,
    /// "When do we get the drill back?"
    Due,
    /// "Where is the drill?"
    Whereabouts,
    /// "How long did Ivo have the drill?"
    Length,
}

/// Answers from the last loan of a thing. Nothing if the thing was never lent.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some((asked, thing)) = asked_handover(question) else { return Ok(None) };
    let mut events = pool.events_mentioning(&thing.head_alone(), question.hard, true, MAX_EVENTS, &question.content)?;
    events.sort_by_key(|found| (found.span().start, found.id()));
    let mut loans = loans_of(thing, &events);
    if let (Some(bound), true) = (question.bound(), question.has_time_bound()) {
        loans.retain(|loan| bound.start <= loan.lent.span().start && loan.lent.span().start <= bound.end);
    }
    let of_person = |loan: &Loan| {
        let person = question.named.iter().find(|noun| noun.kind == NounKind::Name && is_person(noun));
        person.is_none_or(|person| {
            let is = |noun: &NounPhrase| phrase_similarity(person, noun, &loan.lent.reading) >= MIN_PERSON_SIMILARITY;
            is(&loan.receiver) || loan.giver.as_ref().is_some_and(is)
        })
    };
    loans.retain(of_person);
    let Some(loan) = loans.pop() else { return Ok(None) };
    let name = |noun: &NounPhrase| {
        let words = loan.lent.reading.in_third_person(&loan.lent.reading.phrase_text(noun));
        capitalised(&words)
    };
    let at = |found: &RetrievedEvent| found.span().start;
    let (text, value, reason) = match (asked, &loan.back) {
        (LoanQuestion::Holder, Some(back)) => {
            let text = format!("Nobody any more: {}", quotation(back, question));
            (text.clone(), CandidateValue::Text(text), "it was lent and is back")
        }
        (LoanQuestion::Holder | LoanQuestion::Borrower, _) => {
            let text = name(&loan.receiver);
            (text.clone(), CandidateValue::Text(text), "who got it last")
        }
        (LoanQuestion::Lender, _) => {
            let Some(giver) = &loan.giver else { return Ok(None) };
            let text = name(giver);
            (text.clone(), CandidateValue::Text(text), "who lent it last")
        }
        (LoanQuestion::Returned, back) => {
            let yes = back.is_some() != question.asked.has_negated_verb();
            let word = if yes { "Yes" } else { "No" };
            let text = format!("{word}: {}", quotation(back.as_ref().unwrap_or(&loan.lent), question));
            (text, CandidateValue::Truth(yes), "what was told of it since it was lent")
        }
        (LoanQuestion::Due, Some(_)) => return Ok(None),
        (LoanQuestion::Due, None) => {
            let Some((found, due)) = told_due(&loan, thing, &events) else { return Ok(None) };
            let text = capitalised(&say_period(due, &question.now));
            let reason = "the time until which it is lent".to_owned();
            let evidence = vec![found, loan.lent];
            return Ok(Some(Candidate::computed(
                Layer::Episodes,
                text,
                CandidateValue::Times(vec![due]),
                evidence,
                1.0,
                reason,
            )));
        }
        // Where it was seen since may be where it is.
        (LoanQuestion::Whereabouts, back)
            if back.is_some() || events.iter().any(|found| at(found) > at(&loan.lent).saturating_add(HANDING_TIME)) =>
        {
            return Ok(None);
        }
        (LoanQuestion::Whereabouts, _) => {
            let text = format!("With {}", name(&loan.receiver));
            (text.clone(), CandidateValue::Text(text), "it was lent and is not back")
        }
        (LoanQuestion::Length, back) => {
            let text = say_length_of(at(&loan.lent), back.as_ref().map(at), &question.now);
            (text.clone(), CandidateValue::Text(text), "from when it was lent to when it was back")
        }
    };
    let mut evidence = vec![loan.lent];
    if let Some(back) = loan.back {
        evidence.insert(0, back);
    }
    Ok(Some(Candidate::computed(Layer::Episodes, text, value, evidence, 1.0, reason.into())))
}

/// Returns what a question asks of whom a thing was lent to, and the thing.
fn asked_handover<'q>(question: &'q Question<'_>) -> Option<(LoanQuestion, &'q NounPhrase)> {
    let asked = &question.asked;
    let clause = &asked.clause;
    let verb = clause.verb.as_ref()?;
    if asked.cue.is_some() || asked.occurrence.is_some() || asked.habitual {
        return None;
    }
    let is_thing = |noun: &&NounPhrase| noun.kind == NounKind::Common && !is_person(noun);
    let thing = clause.objects.iter().chain(&clause.subject).find(is_thing)?;
    let us = |noun: &NounPhrase| is_one_of(&noun.head, &["we", "i", "us", "me"]);
    let back = is_back(clause);
    let asks = match question.ask() {
        // "Who has the drill?", "who's got it?"
        AnswerKind::Person
            if !verb.negated
                && (verb.lemma == "have" && question.tense == Tense::Present
                    || verb.lemma == "get" && verb.perfect && verb.particle.is_none()) =>
        {
            LoanQuestion::Holder
        }
        AnswerKind::Person if verb.lemma == "borrow" && asked.subject_is_asked => LoanQuestion::Borrower,
        AnswerKind::Person if verb.lemma == "borrow" => LoanQuestion::Lender,
        AnswerKind::Person if is_one_of(&verb.lemma, LENDING_VERBS) && asked.subject_is_asked => LoanQuestion::Lender,
        AnswerKind::Person if is_one_of(&verb.lemma, LENDING_VERBS) => LoanQuestion::Borrower,
        AnswerKind::Truth if verb.modal.is_none() && (verb.lemma == "return" || back) => LoanQuestion::Returned,
        AnswerKind::Time if verb.lemma == "return" || back => LoanQuestion::Due,
        AnswerKind::Time if is_to_be_returned(question) => LoanQuestion::Due,
        AnswerKind::Place if question.tense == Tense::Present && is_one_of(&verb.lemma, &["be", "go"]) => {
            LoanQuestion::Whereabouts
        }
        AnswerKind::Length
            if is_one_of(&verb.lemma, &["have", "borrow", "keep"])
                && clause.subject.as_ref().is_some_and(|subject| is_person(subject) && !us(subject)) =>
        {
            LoanQuestion::Length
        }
        _ => return None,
    };
    Some((asks, thing))
}

/// Returns whether a question asks for when something is to be returned: "by when was it supposed to be returned?".
fn is_to_be_returned(question: &Question<'_>) -> bool {
    let lemmas = |lemma: &str| question.asked.words.iter().any(|word| word.lemma == lemma);
    let back = lemmas("return") || question.asked.clause.has_back();
    back && ["suppose", "mean", "promise", "agree"].iter().any(|expected| lemmas(expected))
}

/// Returns the time that was told last of when a thing that is lent comes back, with the event that tells it.
fn told_due(loan: &Loan, thing: &NounPhrase, events: &[RetrievedEvent]) -> Option<(RetrievedEvent, TimeSpan)> {
    let since = events.iter().filter(|found| found.span().start >= loan.lent.span().start);
    let due = |found: &RetrievedEvent| {
        let reading = &found.reading;
        let tells = |clause: &Clause| {
            let keeps =
                matches!(handover_in(clause, thing, reading), Some(Handover::Kept | Handover::Requested { .. }));
            keeps || clause.verb.as_ref().is_some_and(|verb| verb.lemma == "return") || is_back(clause)
        };
        // "I'll drop it round on Saturday", says the borrower.
        let promises = |clause: &Clause| {
            let by = clause.subject.as_ref().and_then(|subject| reading.resolve(subject));
            let is = |by: &NounPhrase| phrase_similarity(&loan.receiver, by, reading) >= MIN_PERSON_SIMILARITY;
            let verb = clause.verb.as_ref().filter(|verb| is_one_of(&verb.lemma, RETURNING_VERBS) && !verb.negated);
            let it = |noun: &NounPhrase| noun.head == "it" || is_thing(thing, noun, reading);
            verb.is_some() && by.as_ref().is_some_and(is) && clause.objects.iter().any(it)
        };
        let told = |time: &&ToldTime| {
            time.span.end > found.span().start
                && reading.clauses().any(|clause| contains_time(clause, time) && (tells(clause) || promises(clause)))
        };
        reading.times.iter().find(told).map(|time| (found.clone(), time.span))
    };
    since.rev().find_map(due)
}

/// Returns the loans of a thing in the order of their times.
fn loans_of(thing: &NounPhrase, events: &[RetrievedEvent]) -> Vec<Loan> {
    let mut loans: Vec<Loan> = Vec::new();
    let mut requested: Option<(NounPhrase, &RetrievedEvent)> = None;
    for found in events {
        let reading = &found.reading;
        // Whoever carries it off soon after it was asked for has it.
        if let Some((receiver, request)) = requested.take_if(|(_, request)| {
            reading.event.kind == Kind::Caption
                && !only_stands(reading)
                && found.span().start <= request.span().start.saturating_add(HANDING_TIME)
        }) {
            loans.push(Loan { receiver, giver: None, lent: request.clone(), back: None });
        }
        for clause in reading.clauses() {
            let Some(told) = handover_in(clause, thing, reading) else { continue };
            match told {
                Handover::Requested { by } => {
                    requested = Some((by, found));
                    continue;
                }
                Handover::Kept => {
                    if let Some((receiver, request)) = requested.take() {
                        loans.push(Loan { receiver, giver: None, lent: request.clone(), back: None });
                    }
                    continue;
                }
                _ if reading.only_asks() => continue,
                _ => {}
            }
            let is =
                |one: &NounPhrase, other: &NounPhrase| phrase_similarity(one, other, reading) >= MIN_PERSON_SIMILARITY;
            let open = loans.last_mut().filter(|loan| loan.back.is_none());
            let ends = open.as_ref().is_some_and(|loan| match &told {
                // Who borrowed it hands it to somebody else, or it is lent anew.
                Handover::To { receiver, .. } => !is(&loan.receiver, receiver),
                Handover::Laid { by } => is(&loan.receiver, by),
                Handover::Back => true,
                Handover::Requested { .. } | Handover::Kept => false,
            });
            let begins = ends || open.is_none();
            if let Some(loan) = open.filter(|_| ends) {
                loan.back = Some(found.clone());
            }
            if let Handover::To { receiver, lent: true } = told
                && begins
            {
                let giver = giver_in(clause, reading);
                loans.push(Loan { receiver, giver, lent: found.clone(), back: None });
            }
        }
    }
    loans
}

/// Returns who lends something in a clause: the subject, or from whom it was borrowed.
fn giver_in(clause: &Clause, reading: &ParsedEvent) -> Option<NounPhrase> {
    let borrows = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "borrow");
    let from = clause.adjuncts.iter().find(|adjunct| adjunct.preposition == "from").map(|adjunct| &adjunct.noun);
    let giver = if borrows { from } else { clause.subject.as_ref() };
    giver.and_then(|giver| reading.resolve(giver))
}

/// Returns whether an event only tells where things stand.
fn only_stands(reading: &ParsedEvent) -> bool {
    let mut verbs = reading.clauses().filter_map(|clause| clause.verb.as_ref());
    verbs.all(|verb| is_one_of(&verb.lemma, &["be", "stand", "lie", "lean", "hang", "sit", "rest"]))
}

/// Returns whether a phrase of an event means the thing.
fn is_thing(thing: &NounPhrase, noun: &NounPhrase, reading: &ParsedEvent) -> bool {
    reading.resolve(noun).is_some_and(|told| {
        let alone = NounPhrase { also: Vec::new(), ..told };
        phrase_similarity(thing, &alone, reading).max(phrase_similarity(&alone, thing, reading)) >= MIN_THING_SIMILARITY
    })
}

/// Returns what a clause tells of who has the thing.
fn handover_in(clause: &Clause, thing: &NounPhrase, reading: &ParsedEvent) -> Option<Handover> {
    let seen = reading.event.kind != Kind::Text;
    let is_thing = |noun: &NounPhrase| is_thing(thing, noun, reading);
    let subject = || clause.subject.as_ref().and_then(|subject| reading.resolve(subject)).filter(is_person);
    let object = clause.objects.iter().flat_map(NounPhrase::coordinated).any(is_thing);
    let verb = clause.verb.as_ref()?;
    let lets = |modal: &str| is_one_of(modal, &["can", "could", "may"]);
    let hangs_on = verb.lemma == "hang" && verb.particle.as_deref() == Some("on");
    if hangs_on && clause.adjuncts.iter().any(|it| it.preposition == "to" && is_thing(&it.noun)) {
        return Some(Handover::Kept);
    }
    // "Rolf, could I borrow it?": the modal stands in a clause of its own.
    if verb.lemma == "borrow" && verb.infinitive && object && !seen {
        return subject().map(|by| Handover::Requested { by });
    }
    if verb.modal.as_deref().is_some_and(lets) && !verb.negated && !seen {
        return match verb.lemma.as_str() {
            "borrow" if object => subject().map(|by| Handover::Requested { by }),
            "keep" | "have" if object => Some(Handover::Kept),
            _ => None,
        };
    }
    if verb.lemma == "ask" && clause.adjuncts.iter().any(|it| it.preposition == "for" && is_thing(&it.noun)) {
        return subject().map(|by| Handover::Requested { by });
    }
    // "Here's your drill!"
    let yours = |noun: &NounPhrase| noun.owner.as_ref().is_some_and(|owner| is_one_of(&owner.head, &["you", "your"]));
    let here = clause.complements.iter().any(|(word, _)| word == "here");
    if here && !seen && clause.subject.iter().chain(&clause.objects).any(|noun| yours(noun) && is_thing(noun)) {
        return Some(Handover::Back);
    }
    // "I'll lend it to her": not yet.
    if verb.negated || verb.modal.is_some() || verb.infinitive || verb.future {
        return None;
    }
    let back = is_back(clause);
    if (verb.lemma == "return" || back) && (object || clause.subject.as_ref().is_some_and(is_thing)) {
        return Some(Handover::Back);
    }
    if !object {
        return None;
    }
    if verb.lemma == "borrow" {
        return subject().map(|receiver| Handover::To { receiver, lent: true });
    }
    if is_one_of(&verb.lemma, GIVING_VERBS) {
        let to = clause.adjuncts.iter().find(|it| it.preposition == "to" && is_person(&it.noun)).map(|it| &it.noun);
        let whom = to.or_else(|| clause.objects.iter().find(|noun| is_person(noun) && !is_thing(noun)));
        let receiver = whom.and_then(|whom| reading.resolve(whom)).filter(is_person);
        let lent = is_one_of(&verb.lemma, LENDING_VERBS);
        if let Some(receiver) = receiver {
            return Some(Handover::To { receiver, lent });
        }
    }
    // "I've put it in your shed": whoever says so has it no more.
    let with_you = clause.adjuncts.iter().any(|adjunct| yours(&adjunct.noun));
    let lays = (seen || with_you) && is_one_of(&verb.lemma, LAYING_VERBS);
    subject().filter(|_| lays).map(|by| Handover::Laid { by })
}

/// Returns whether a clause tells of something that comes back.
fn is_back(clause: &Clause) -> bool {
    clause.has_back() && clause.verb.as_ref().is_some_and(|verb| is_one_of(&verb.lemma, BACK_VERBS))
}
