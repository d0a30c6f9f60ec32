//! Answers how old somebody is and when that changes: "Emil turns five on Friday", "I am nine".

use crate::language::english::closed::is_one_of;
use crate::language::english::letters::capitalised;
use crate::language::english::lexicon::scales::is_unit;
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::{Tag, lemma};
use crate::language::english::time::{Tense, ToldTime, say_period};
use crate::recall::answerers::parts::MIN_PERSON_SIMILARITY;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, merge};
use crate::recall::quantities::Quantity;
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person};
use crate::{ReadError, Timestamp};

/// Maximum number of texts by and about a person that are searched for the age.
const MAX_TEXTS: usize = 200;
/// Least share of the question that memory is said to know where an age was told.
const MIN_KNOWN_SHARE: f32 = 0.7;

/// Answers "how old is Emil?" and "when is Emil's birthday?" from what was told last of his age.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let day = person_with_birthday(question);
    let Some(whose) = day.or_else(|| person_of_age(question)) else { return Ok(None) };
    let mut texts = merge(
        pool.events_about(whose, question.hard, true, MAX_TEXTS, &question.content)?,
        pool.events_mentioning(whose, question.hard, true, MAX_TEXTS, &question.content)?,
    );
    texts.sort_by_key(|found| std::cmp::Reverse((found.span().start, found.id())));
    let told = texts.into_iter().filter(|found| !found.reading.only_asks()).find_map(|found| {
        let all = found.reading.quantities().into_iter();
        let mut ages =
            all.filter_map(|quantity| Some((told_age(question, whose, &quantity, &found.reading)?, quantity)));
        let (clause, quantity) = ages.find(|(clause, _)| day.is_none() || changes(clause))?;
        let turns = changes(clause).then(|| birthday_in(clause, &found.reading)).flatten();
        let turns = turns.cloned();
        (day.is_none() || turns.is_some()).then_some((quantity, turns, found))
    });
    let Some((age, turns, found)) = told else { return Ok(None) };
    let when = turns.as_ref().map(|time| say_period(time.span, &question.now));
    let known = question.content.known_share().max(MIN_KNOWN_SHARE);
    let computed = |text: String, value: CandidateValue, reason: &str| {
        Candidate::computed(Layer::Episodes, text, value, vec![found.clone()], known, reason.into())
    };
    let words = capitalised(found.reading.text(&age.range));
    let value = CandidateValue::Number(age.value, age.unit.clone());
    Ok(Some(match (turns, when) {
        (Some(turns), Some(when)) if day.is_some() => {
            computed(capitalised(&when), CandidateValue::Times(vec![turns.span]), "the day on which they become older")
        }
        (Some(turns), Some(when)) if turns.span.start > Timestamp::from(question.now.timestamp()) => {
            // "How old is he?" asks of now.
            match question.tense == Tense::Present && !asks_of_change(question) {
                true => {
                    let text = format!("{}, and {} {when}", age.value - 1.0, age.value);
                    computed(
                        text,
                        CandidateValue::Number(age.value - 1.0, age.unit),
                        "by the day on which they become older",
                    )
                }
                false => computed(format!("{words}, {when}"), value, "an age that was told"),
            }
        }
        _ => computed(words, value, "an age that was told"),
    }))
}

/// Returns whose birthday a question asks for: "when is Emil's birthday?", "when does Emil turn five?".
fn person_with_birthday<'q>(question: &'q Question<'_>) -> Option<&'q NounPhrase> {
    if question.ask() != AnswerKind::Time {
        return None;
    }
    let clause = &question.asked.clause;
    let subject = clause.subject.as_ref();
    let day = clause.subject.iter().chain(&clause.objects).find(|noun| noun.head == "birthday");
    let owner = day.and_then(|day| day.owner.as_deref().or(day.of.as_deref()));
    let owner = owner.filter(|owner| !owner.is_pronoun()).or_else(|| subject.filter(|_| day.is_some()));
    let older = || {
        let number = clause.objects.iter().any(|object| object.kind == NounKind::Number);
        subject.filter(|_| changes(clause) && number)
    };
    owner.filter(|owner| owner.head != "birthday").or_else(older).filter(|owner| is_person(owner))
}

/// Returns whose age a question asks for: "how old is Emil?".
fn person_of_age<'q>(question: &'q Question<'_>) -> Option<&'q NounPhrase> {
    let clause = &question.asked.clause;
    let asks = clause.asking.as_ref().is_some_and(|asking| asking.degree.as_deref() == Some("old"));
    clause.subject.as_ref().filter(|whose| asks && is_person(whose))
}

/// Returns whether a question asks how old somebody becomes.
fn asks_of_change(question: &Question<'_>) -> bool {
    question.asked.clause.verb.as_ref().is_some_and(|verb| verb.future || verb.progressive)
        || changes(&question.asked.clause)
}

/// Returns whether a clause tells that somebody becomes older.
fn changes(clause: &Clause) -> bool {
    clause
        .verb
        .as_ref()
        .is_some_and(|verb| is_one_of(&verb.lemma, &["turn", "become"]) || verb.lemma == "be" && verb.future)
}

/// Returns the day that a clause names, or that stands right behind it.
fn birthday_in<'r>(clause: &Clause, reading: &'r ParsedEvent) -> Option<&'r ToldTime> {
    let next = reading.clauses().map(|other| other.range.start).filter(|start| *start >= clause.range.end).min();
    let end = next.unwrap_or(reading.event.text.len());
    reading.times.iter().find(|time| time.has_date && clause.range.start <= time.range.start && time.range.end <= end)
}

/// Returns the clause in which a number states the age of a person: "I am nine", "Rolf is twelve". "When I was nine" is
/// not how old somebody is now.
fn told_age<'r>(
    question: &Question<'_>,
    whose: &NounPhrase,
    quantity: &Quantity,
    reading: &'r ParsedEvent,
) -> Option<&'r Clause> {
    let of_then = |told: &Clause| {
        question.tense != Tense::Past && told.verb.as_ref().is_some_and(|verb| verb.lemma == "be" && verb.past)
    };
    // "He'll be five minutes late."
    let unit = lemma(&quantity.unit, Tag::Noun);
    let measures = is_unit(&unit) || lexicon::is_a_as(&unit, "time_unit", PartOfSpeech::Noun).is_some();
    if measures && unit != "year" {
        return None;
    }
    let is = |told: &&Clause| {
        told.verb.as_ref().is_some_and(|verb| is_one_of(&verb.lemma, &["be", "turn", "become"]) && !verb.negated)
            && !of_then(told)
            && told.objects.iter().any(|object| object.range.start == quantity.range.start)
            && told
                .subject
                .as_ref()
                .and_then(|subject| reading.resolve(subject))
                .is_some_and(|told| phrase_similarity(whose, &told, reading) >= MIN_PERSON_SIMILARITY)
    };
    reading.clauses().find(is)
}

/// Returns whether a number states the age of the person in question.
pub(super) fn states_age(question: &Question<'_>, quantity: &Quantity, reading: &ParsedEvent) -> bool {
    person_of_age(question).is_some_and(|whose| told_age(question, whose, quantity, reading).is_some())
}
