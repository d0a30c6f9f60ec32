//! Answers with all persons who were there: "whom did you meet?", "who was there?", "how many people did you see?".

use super::class_members::asks_perception_only;
use super::parts::MAX_LIST_ITEMS;
use super::quote::join_list;
use crate::language::english::closed::number_word;
use crate::language::english::letters::{capitalised, lowercase_first};
use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::language::english::time::Tense;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::identification::with_description;
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::{Question, ROBOT_ENTITY};
use crate::recall::reading::{ParsedEvent, is_person};
use crate::{Kind, ReadError};

/// Persons by name or description, each with the first event that shows them.
type Persons = Vec<(String, RetrievedEvent)>;

/// Maximum number of events that are looked through, the latest ones.
const MAX_EVENTS: usize = 600;

/// Answers with the persons who spoke, acted or were seen in the time of the question, if it says nothing else of them.
/// Known ones come first.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    if !asks_for_all_persons(question) {
        return Ok(None);
    }
    let hears = question.asked.words.iter().any(|word| word.lemma == "hear");
    let kinds = match hears {
        true => vec![Kind::Text],
        false => vec![Kind::Text, Kind::Entity, Kind::Action, Kind::Caption],
    };
    let mut events = pool.events_in_time_order(question.bound(), None, kinds, true, MAX_EVENTS, &question.content)?;
    events.sort_by_key(|found| (found.span().start, found.id()));
    let (mut named, mut described) = (Persons::new(), Persons::new());
    for found in &events {
        let event = &found.reading.event;
        let entity = event.entity.iter().filter(|entity| !entity.eq_ignore_ascii_case(ROBOT_ENTITY));
        let seen = match event.kind {
            Kind::Caption => persons_seen(&found.reading),
            _ => Vec::new(),
        };
        let names = seen.iter().filter(|(known, _)| *known).map(|(_, name)| name);
        entity.chain(names).for_each(|name| add_once(&mut named, name, found));
        seen.iter().filter(|(known, _)| !known).for_each(|(_, words)| add_once(&mut described, words, found));
    }
    let (mut persons, mut evidence): (Vec<String>, Vec<RetrievedEvent>) = named.into_iter().chain(described).unzip();
    if persons.is_empty() {
        return Ok(None);
    }
    let count = persons.iter().map(|person| number_of(person)).sum::<u32>();
    let more = persons.len() > MAX_LIST_ITEMS;
    persons.truncate(MAX_LIST_ITEMS);
    evidence.truncate(MAX_LIST_ITEMS);
    let (text, value) = match question.ask() {
        AnswerKind::Count => {
            let text = format!("{count}: {}{}", join_list(&persons), if more { ", …" } else { "" });
            (text, CandidateValue::Number(count.into(), String::new()))
        }
        _ => (join_list(&persons), CandidateValue::List(persons)),
    };
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        capitalised(&text),
        value,
        evidence,
        question.content.known_share(),
        "everybody who spoke or was seen".into(),
    )))
}

/// Returns how many persons some words name: two for "two men", one for "Liv" or "a baker".
fn number_of(person: &str) -> u32 {
    let first = person.split(' ').next().unwrap_or_default();
    let number = number_word(first).or_else(|| first.parse().ok()).filter(|number| *number >= 1.0 && *number < 1e4);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 10,000")]
    number.map_or(1, |number| number as u32)
}

fn add_once(list: &mut Persons, person: &str, found: &RetrievedEvent) {
    // "Two men" are probably the "two men in orange coats".
    let same = |known: &str| {
        let (known, person) = (known.to_lowercase(), person.to_lowercase());
        known == person || known.strip_prefix(&person).is_some_and(|rest| rest.starts_with(' '))
    };
    if !list.iter().any(|(known, _)| same(known)) {
        list.push((person.to_owned(), found.clone()));
    }
}

/// Returns whether a question asks for whoever was there, met or perceived, and for nobody in particular.
fn asks_for_all_persons(question: &Question<'_>) -> bool {
    let asked = &question.asked;
    let single = asked.cue.is_some() || asked.occurrence.is_some() || asked.alternatives.len() > 1;
    let past = question.tense == Tense::Past && !asked.habitual;
    let class = asked.class.as_ref().map(|class| class.head.as_str());
    let counted = || matches!(class, Some("people" | "person"));
    let persons = question.ask() == AnswerKind::Person || question.ask() == AnswerKind::Count && counted();
    if !persons || single || !past || !asks_perception_only(question) {
        return false;
    }
    let says_nothing_else = question
        .content
        .items
        .iter()
        .all(|item| item.tag == Tag::Verb || class.is_some_and(|class| item.lemma == class));
    let subject = asked.clause.subject.as_ref().map(|subject| subject.head.as_str());
    let robot = matches!(subject, Some("you" | "robot"));
    let there = || asked.words.iter().any(|word| matches!(word.text.as_str(), "there" | "here" | "around" | "present"));
    says_nothing_else && asked.clause.adjuncts.is_empty() && (robot || there())
}

/// Returns the persons that a caption introduces: whether they are named, and the words for them. "The man" was there
/// before, "a man" and "two men" are new.
fn persons_seen(reading: &ParsedEvent) -> Vec<(bool, String)> {
    let of_clause = |clause: &Clause| {
        let adjuncts = clause.adjuncts.iter().map(|adjunct| &adjunct.noun);
        let nouns = clause.subject.iter().chain(&clause.objects).chain(adjuncts).flat_map(NounPhrase::coordinated);
        let persons = nouns.filter_map(|noun| {
            if noun.kind == NounKind::Name {
                // Only who does something: a name elsewhere may be written on a box.
                let acts = clause.subject.iter().flat_map(NounPhrase::coordinated).any(|own| own.range == noun.range);
                let named = acts && is_person(noun) && noun.determiner.is_none();
                return named.then(|| (true, reading.phrase_text(noun)));
            }
            let new = noun.number.is_some() || matches!(noun.determiner.as_deref(), Some("a" | "an" | "another"));
            let person = lexicon::is_a_as(&noun.head, "person", PartOfSpeech::Noun).is_some()
                && lexicon::is_kind_of(&noun.head, "person");
            (new && person && noun.kind == NounKind::Common && !noun.range.is_empty())
                .then(|| (false, lowercase_first(&with_description(noun, clause, reading))))
        });
        persons.collect::<Vec<_>>()
    };
    reading.clauses().flat_map(of_clause).collect()
}
