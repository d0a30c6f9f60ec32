//! Answers how two people are related, as told: "she and Ben are cousins", "her brother Ben", "he married my sister".

use crate::language::english::lexicon::{self, PartOfSpeech};
use crate::language::english::syntax::{Clause, NounKind, NounPhrase};
use crate::recall::answerers::quote::quotation;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::content::Content;
use crate::recall::likeness::phrase_similarity;
use crate::recall::pool::{EventPool, RetrievedEvent, merge};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person, name_phrase};
use crate::{Kind, ReadError};

/// Maximum number of texts about a person that are read.
const MAX_PERSON_TEXTS: usize = 200;
/// Minimum similarity of a name to the person in question.
const MIN_PERSON_SIMILARITY: f32 = 0.7;

/// Answers "how are they related?", "what is he to her?" or "how does she know him?".
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let Some((one, other)) = two_persons(question) else { return Ok(None) };
    let content = Content::default();
    let mut texts = Vec::new();
    for person in [&one, &other] {
        texts = merge(texts, pool.events_mentioning(person, question.hard, true, MAX_PERSON_TEXTS, &content)?);
        texts = merge(texts, pool.events_about(person, question.hard, true, MAX_PERSON_TEXTS, &content)?);
    }
    texts.retain(|found| found.reading.event.kind == Kind::Text && !found.reading.only_asks());
    // First a text that names both and a relation, then a form of address.
    let told = texts.iter().filter_map(|found| Some((relation_strength(&one, &other, &found.reading)?, found)));
    let best = told.max_by(|a, b| a.0.cmp(&b.0).then((a.1.span().start, a.1.id()).cmp(&(b.1.span().start, b.1.id()))));
    Ok(best.map(|(_, found): (u8, &RetrievedEvent)| {
        let text = quotation(found, question);
        let evidence = vec![found.clone()];
        let reason = "what was told of the two".to_owned();
        Candidate::computed(Layer::Episodes, text.clone(), CandidateValue::Text(text), evidence, 1.0, reason)
    }))
}

/// Returns the two persons of the question.
fn two_persons(question: &Question<'_>) -> Option<(NounPhrase, NounPhrase)> {
    let clause = &question.asked.clause;
    let asking = clause.asking.as_ref()?;
    let verb = clause.verb.as_ref()?;
    let bound = matches!(verb.lemma.as_str(), "relate" | "connect")
        || clause.complements.iter().any(|(word, _)| word == "related");
    let knows = asking.word == "how" && verb.lemma == "know";
    let is_to = asking.word == "what" && verb.lemma == "be" && clause.adjuncts.iter().any(|it| it.preposition == "to");
    if asking.degree.is_some() || !(bound || knows || is_to) {
        return None;
    }
    let nouns = clause.subject.iter().chain(&clause.objects).chain(clause.adjuncts.iter().map(|adjunct| &adjunct.noun));
    let mut persons = nouns.flat_map(NounPhrase::coordinated).filter(|noun| is_person(noun) && !noun.is_pronoun());
    let one = persons.next()?.clone();
    let other = persons.next()?.clone();
    Some((one, other))
}

/// Returns how clearly a text states the relation of two persons. `None` if it does not.
fn relation_strength(one: &NounPhrase, other: &NounPhrase, reading: &ParsedEvent) -> Option<u8> {
    let speaker = reading.event.entity.as_deref().map(name_phrase);
    let speaks = |person: &NounPhrase| {
        speaker.as_ref().is_some_and(|speaker| phrase_similarity(person, speaker, reading) >= MIN_PERSON_SIMILARITY)
    };
    let names = |person: &NounPhrase, clause: &Clause| {
        clause.nouns().any(|noun| {
            reading.resolve(noun).is_some_and(|noun| phrase_similarity(person, &noun, reading) >= MIN_PERSON_SIMILARITY)
        })
    };
    let within = |person: &NounPhrase| reading.clauses().any(|clause| names(person, clause));
    let in_clause = reading.clauses().any(|clause| is_bond(clause) && names(one, clause) && names(other, clause));
    let bond = || reading.clauses().any(is_bond);
    if in_clause {
        Some(3)
    } else if bond() && within(one) && within(other) {
        Some(2)
    } else if bond() && (speaks(one) && within(other) || speaks(other) && within(one)) {
        Some(1)
    } else {
        None
    }
}

/// Returns whether a clause names a bond between people: a relative, or a marriage.
fn is_bond(clause: &Clause) -> bool {
    let relative = |noun: &NounPhrase| {
        let is_a = |class: &&str| lexicon::is_a_as(&noun.head, class, PartOfSpeech::Noun).is_some();
        let bare = noun.head.trim_end_matches("-in-law");
        noun.kind == NounKind::Common
            && (["relative", "spouse", "friend", "colleague"].iter().any(is_a)
                || bare != noun.head && lexicon::is_a_as(bare, "relative", PartOfSpeech::Noun).is_some())
    };
    let marries = clause.verb.as_ref().is_some_and(|verb| verb.lemma == "marry")
        || clause.complements.iter().any(|(word, _)| word == "married");
    marries || clause.nouns().any(relative)
}
