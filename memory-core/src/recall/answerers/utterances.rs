//! Answers what somebody said, at all or about something: "what did Ivo say?" with his latest words, or with those in the
//! time of the question.

use std::cmp::Reverse;

use super::ordinal::is_speech_verb;
use super::parts::{MIN_PERSON_SIMILARITY, steps_below_class};
use super::quote::quotation;
use crate::language::english::closed::SPEECH_VERBS;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{Adjunct, NounKind, NounPhrase};
use crate::language::english::tag::Tag;
use crate::recall::candidate::{Candidate, CandidateValue, Layer};
use crate::recall::content::ContentItem;
use crate::recall::likeness::{best_phrase_similarity, phrase_similarity};
use crate::recall::pool::{EventPool, RetrievedEvent};
use crate::recall::question::Question;
use crate::recall::reading::{ParsedEvent, is_person, name_phrase};
use crate::{Kind, ReadError};

/// Maximum number of texts that are looked through, the latest ones.
const MAX_TEXTS: usize = 600;
/// Maximum number of utterances in an answer, the latest ones.
const MAX_UTTERANCES: usize = 3;
/// Minimum similarity of an utterance to what it is about.
const MIN_TOPIC_SIMILARITY: f32 = 0.85;

/// Answers with somebody's words, if the question says nothing else of them than when they were said and about what.
pub(in crate::recall) fn answer(pool: &EventPool<'_>) -> Result<Option<Candidate>, ReadError> {
    let question = pool.question;
    let asked = &question.asked;
    let Some(speaker) = asked_speaker(question).filter(|_| asks_for_words(question)) else { return Ok(None) };
    let topic = topic(question);
    if asked.cue.is_some() || asked.occurrence.is_some() || asked.negated || asked.alternatives.len() > 1 {
        return Ok(None);
    }
    let mut said = texts_of(pool, speaker)?;
    let about = |topic, found: &RetrievedEvent| best_phrase_similarity(topic, &found.reading) >= MIN_TOPIC_SIMILARITY;
    said.retain(|found| {
        is_said_by(speaker, &found.reading) == Some(true) && topic.is_none_or(|topic| about(topic, found))
    });
    let count = said.len();
    // What else a question says may tell one utterance from others: "what did Ivo say at the gate?"
    let named: Vec<&str> = speaker.lemmas().into_iter().chain(topic.iter().flat_map(|topic| topic.lemmas())).collect();
    let is_known = |item: &ContentItem| {
        item.light || item.tag == Tag::Verb && is_speech_verb(&item.lemma) || named.contains(&&*item.lemma)
    };
    if count == 0 || count > 1 && !question.content.items.iter().all(is_known) {
        return Ok(None);
    }
    said.sort_by_key(|found| Reverse((found.span().start, found.id())));
    said.truncate(MAX_UTTERANCES);
    let text = joined(question, said.iter().rev());
    Ok(Some(Candidate::computed(
        Layer::Episodes,
        text.clone(),
        CandidateValue::Text(text),
        said,
        question.content.known_share(),
        match count {
            1 => "what they said".into(),
            2..=MAX_UTTERANCES => format!("the {count} things they said"),
            _ => format!("the last {MAX_UTTERANCES} of {count} things they said"),
        },
    )))
}

/// Returns the texts of a speaker. Who is known only by a role, or from subtitles, is looked for in the latest texts.
fn texts_of(pool: &EventPool<'_>, speaker: &NounPhrase) -> Result<Vec<RetrievedEvent>, ReadError> {
    let (span, content) = (pool.question.bound(), &pool.question.content);
    match pool.entity(speaker).filter(|name| pool.is_speaker(name)) {
        Some(name) => pool.texts_of_speaker(name, span, true, MAX_TEXTS, content),
        None => pool.events_in_time_order(span, None, vec![Kind::Text], true, MAX_TEXTS, content),
    }
}

/// Returns utterances one after the other. Only the first one names who speaks.
fn joined<'a>(question: &Question<'_>, said: impl Iterator<Item = &'a RetrievedEvent>) -> String {
    let quoted: Vec<String> = said.map(|found| quotation(found, question)).collect();
    let name = quoted.first().and_then(|text| text.split_once(": ")).map(|(name, _)| format!("{name}: "));
    let words = |text: &str| name.as_deref().and_then(|name| text.strip_prefix(name)).unwrap_or(text).to_owned();
    let rest = quoted.iter().skip(1).map(|text| words(text));
    quoted.first().cloned().into_iter().chain(rest).collect::<Vec<_>>().join(" ")
}

/// Returns whether a question asks for all that somebody said.
pub(super) fn asks_all_words(question: &Question<'_>) -> bool {
    asks_for_words(question) && topic(question).is_none()
}

/// Returns whether a question asks for what somebody said, at all or about something.
fn asks_for_words(question: &Question<'_>) -> bool {
    let asked = &question.asked;
    // "What did she tell us?": to whom is no object.
    let whom = |object: &NounPhrase| object.is_pronoun();
    question.ask() == AnswerKind::Thing && asked.class.is_none() && asked.clause.objects.iter().all(whom)
}

/// Returns what somebody said something about.
fn topic<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let about = |adjunct: &&Adjunct| matches!(adjunct.preposition.as_str(), "about" | "of" | "on");
    question.asked.clause.adjuncts.iter().find(about).map(|adjunct| &adjunct.noun)
}

/// Returns the speaker whose words are asked for: "what did the guard say about the gate?".
pub(super) fn asked_speaker<'a>(question: &'a Question<'_>) -> Option<&'a NounPhrase> {
    let clause = &question.asked.clause;
    let says = clause.verb.as_ref().is_some_and(|verb| SPEECH_VERBS.contains(&verb.lemma.as_str()) && !verb.passive);
    let open = matches!(question.ask(), AnswerKind::Thing | AnswerKind::Description | AnswerKind::Action);
    // Whoever has a name and speaks is a person, whatever else the name means.
    let speaks = |subject: &NounPhrase| subject.kind == NounKind::Name || !subject.is_pronoun() && is_person(subject);
    clause.subject.as_ref().filter(|subject| says && open && speaks(subject))
}

/// Returns whether an event is speech of a person. `None` if it is no speech, or nobody knows whose.
pub(super) fn is_said_by(speaker: &NounPhrase, reading: &ParsedEvent) -> Option<bool> {
    let event = &reading.event;
    // Subtitles begin with who speaks.
    let subtitled = || event.text.split_once(": ").map(|(name, _)| name).filter(|name| name.split(' ').count() <= 3);
    let name = event.entity.as_deref().or_else(subtitled).filter(|_| event.kind == Kind::Text)?;
    let name = name_phrase(name);
    // A name is of a speaker if they share a word. Other names may be like it.
    if speaker.kind == NounKind::Name {
        return Some(speaker.lemmas().iter().any(|word| name.lemmas().contains(word)));
    }
    let alike = phrase_similarity(speaker, &name, reading) >= MIN_PERSON_SIMILARITY;
    Some(alike || steps_below_class(&name, &speaker.head).is_some())
}

/// Returns whether an event can contain the words of a person. An unknown speaker can be anybody.
pub(super) fn may_be_said_by(speaker: &NounPhrase, reading: &ParsedEvent) -> bool {
    let said = is_said_by(speaker, reading);
    let unknown = said.is_none() && reading.event.kind == Kind::Text;
    let told = reading.clauses().any(|clause| {
        let says = clause.verb.as_ref().is_some_and(|verb| SPEECH_VERBS.contains(&verb.lemma.as_str()));
        says && clause
            .subject
            .as_ref()
            .is_some_and(|subject| phrase_similarity(speaker, subject, reading) >= MIN_PERSON_SIMILARITY)
    });
    unknown || said == Some(true) || told
}
