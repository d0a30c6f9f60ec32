//! Identifies persons whom captions describe and do not name: "what is Ivo doing?" is answered by "the young man in the
//! grey apron sweeps the floor", where the memory tells that he is Ivo.
//!
//! The captions that may answer a question about a person are looked through for descriptions of persons. Where one
//! probably means a person of the question, recall reads the name in its place. What is stored and shown stays as it was
//! seen, and the answer says whom it took for whom.

mod description;
mod persons;
mod tellers;
mod votes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub(super) use self::description::with_description;
use self::description::{PersonDescription, look_asked};
use self::persons::DescribedPersons;
use self::votes::PersonVotes;
use super::Reader;
use super::conclusion::RecallConclusion;
use super::pool::{EventPool, RetrievedEvent};
use super::question::{Question, ROBOT_ENTITY};
use super::reading::{ParsedEvent, is_person, name_phrase};
use crate::index::SearchQuery;
use crate::language::english::letters::lowercase_first;
use crate::language::english::question::AnswerKind;
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::{Event, EventId, Evidence, Kind, ReadError, TimeSpan, Timestamp};

/// Maximum number of captions that are looked through for each reason: those that the words of the question find, and the
/// latest ones.
const MAX_CAPTIONS: usize = 8;
/// Time before a question without a time in which its latest captions lie.
const RECENT: Duration = Duration::from_secs(24 * 3_600);

/// A caption in which a described person was identified.
#[derive(Debug)]
pub(super) struct IdentifiedCaption {
    pub span: TimeSpan,
    /// The caption as it was seen.
    pub seen: String,
    /// The caption with names in place of descriptions.
    pub named: String,
    /// The caption with each name behind its description: "the young man (probably Ivo) sweeps".
    annotated: String,
    /// The description and the name of each person who was identified.
    pub persons: Vec<(String, String)>,
}

/// The captions in which persons of a question were identified.
#[derive(Debug, Default)]
pub(super) struct IdentifiedCaptions {
    by_event: BTreeMap<EventId, IdentifiedCaption>,
    persons: DescribedPersons,
}

impl IdentifiedCaption {
    /// Says who was taken for whom.
    fn assumption(&self) -> String {
        let pairs = self.persons.iter().map(|(seen, name)| format!("{seen} is probably {name}"));
        pairs.collect::<Vec<_>>().join(", ")
    }
}

impl IdentifiedCaptions {
    pub fn get(&self, id: EventId) -> Option<&IdentifiedCaption> {
        self.by_event.get(&id)
    }

    /// Returns the captions within a span that show the person of a noun phrase.
    pub fn of(&self, noun: &NounPhrase, span: Option<TimeSpan>) -> Vec<EventId> {
        let shows = |caption: &IdentifiedCaption| {
            caption.persons.iter().any(|(_, name)| name_phrase(name).head == noun.head)
                && span.is_none_or(|span| caption.span.overlaps(span))
        };
        self.by_event.iter().filter(|(_, caption)| shows(caption)).map(|(id, _)| *id).collect()
    }

    /// Returns the captions with names, by their events.
    pub fn iter(&self) -> impl Iterator<Item = (EventId, &IdentifiedCaption)> {
        self.by_event.iter().map(|(id, caption)| (*id, caption))
    }

    /// Returns the descriptions whose person was looked for, with the votes for each person.
    pub fn looked_for(&self) -> impl Iterator<Item = (&str, &[(String, f32)])> {
        self.persons.0.iter().map(|one| (one.description.text.as_str(), one.ranked.as_slice()))
    }

    /// Says in the evidence that a language model reads whom a caption probably shows.
    pub fn annotate(&self, evidence: &mut Evidence) {
        if let Some(caption) = self.get(evidence.event) {
            evidence.text.clone_from(&caption.annotated);
        }
    }

    /// Returns an answer with every caption in it as it was seen.
    pub fn as_seen(&self, answer: &str) -> String {
        self.by_event.values().fold(answer.to_owned(), |answer, caption| answer.replace(&caption.named, &caption.seen))
    }
}

/// Identifies the persons of a question in the captions that may answer it. Who is asked for may be anybody there.
///
/// # Errors
/// If the store could not be read.
pub(super) fn identify(reader: &dyn Reader, question: &Question<'_>) -> Result<IdentifiedCaptions, ReadError> {
    let names = persons_of(reader, question);
    if names.is_empty() && question.ask() != AnswerKind::Person {
        return Ok(IdentifiedCaptions::default());
    }
    let look = look_asked(question);
    let captions = captions(reader, question)?;
    let votes = PersonVotes::new(reader, question.hard);
    let mut persons = DescribedPersons::default();
    for caption in &captions {
        persons.look_for(caption, &votes)?;
    }
    let bound = question.bound();
    let others = persons.others().filter(|other| bound.is_none_or(|bound| other.event.span.overlaps(bound)));
    let all: BTreeMap<EventId, &ParsedEvent> =
        captions.iter().chain(others.map(Arc::as_ref)).map(|reading| (reading.event.id, reading)).collect();
    let mut by_event = BTreeMap::new();
    for (id, reading) in all {
        let seen = &reading.event.text;
        let (mut named, mut annotated, mut described) = (seen.clone(), seen.clone(), Vec::new());
        // From the end, so that ranges before stay as they are.
        for (one, name) in persons.in_caption(reading).into_iter().rev() {
            if names.contains(&name_phrase(&name).head) {
                annotated.insert_str(one.range.end, &format!(" (probably {name})"));
                // Who asks what he wears asks for the description.
                named
                    .replace_range(if look.is_some_and(|look| one.says(look)) { one.person } else { one.range }, &name);
                described.push((lowercase_first(&one.text), name));
            }
        }
        if !described.is_empty() {
            described.reverse();
            let (span, seen) = (reading.event.span, seen.clone());
            by_event.insert(id, IdentifiedCaption { span, seen, named, annotated, persons: described });
        }
    }
    Ok(IdentifiedCaptions { by_event, persons })
}

/// Returns the heads, in lower case, of the persons' names in a question that the memory knows.
fn persons_of(reader: &dyn Reader, question: &Question<'_>) -> BTreeSet<String> {
    let search = reader.search();
    let is_known = |noun: &NounPhrase| search.terms(&noun.head).first().is_some_and(|term| term.documents > 0);
    let named = question.named.iter().flat_map(|noun| noun.coordinated().chain(noun.owner.as_deref()));
    let persons = named.filter(|noun| noun.kind == NounKind::Name && is_person(noun) && noun.head != ROBOT_ENTITY);
    persons.filter(|noun| is_known(noun)).map(|noun| noun.head.clone()).collect()
}

/// Returns the captions that may answer a question, parsed: those that its words find, and the latest ones.
fn captions(reader: &dyn Reader, question: &Question<'_>) -> Result<Vec<ParsedEvent>, ReadError> {
    let now = Timestamp::from(question.now.timestamp());
    let recent = question.bound().unwrap_or_else(|| TimeSpan::new(now.saturating_sub(RECENT), now));
    let list = |text: &str, span: Option<TimeSpan>| {
        let kinds = vec![Kind::Caption];
        let query =
            SearchQuery { text: text.into(), span, kinds, latest: true, limit: MAX_CAPTIONS, ..SearchQuery::default() };
        reader.search().search(&query).into_iter().map(|hit| hit.id)
    };
    let mut ids: Vec<EventId> = Vec::new();
    for id in list(&question.timeless, question.bound()).chain(list("", Some(recent))) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let mut found = Vec::new();
    for id in ids {
        // A caption with an entity is about whom it names.
        let event = reader.event(id)?.filter(|event| event.entity.is_none());
        found.extend(event.map(|event| ParsedEvent::parse(event, reader.zone())));
    }
    Ok(found)
}

/// Shows captions as they were seen, and says who was taken for whom: in the reason, and behind an answer that describes a
/// person whose name is asked for.
///
/// # Errors
/// If the store could not be read.
pub(super) fn show_as_seen(
    pool: &EventPool<'_>,
    conclusion: &mut RecallConclusion,
    evidence: &mut [RetrievedEvent],
) -> Result<(), ReadError> {
    for found in evidence.iter_mut() {
        if let Some(caption) = pool.identified.get(found.id()) {
            let event = Event { text: caption.seen.clone(), ..found.reading.event.clone() };
            found.reading = Arc::new(ParsedEvent::parse(event, pool.reader.zone()));
        }
    }
    let (Some(answer), Some(first)) = (&conclusion.answer, evidence.first()) else { return Ok(()) };
    let mut answer = pool.identified.as_seen(answer);
    if let Some(caption) = pool.identified.get(first.id()) {
        conclusion.reason += &format!("; {}", caption.assumption());
    }
    let is_answer =
        |described: &PersonDescription| lowercase_first(&described.text).starts_with(&lowercase_first(&answer));
    let persons = pool.identified.persons.in_caption(&first.reading);
    if pool.question.ask() == AnswerKind::Person
        && let Some((_, name)) = persons.iter().find(|(described, _)| is_answer(described))
        && !persons_of(pool.reader, pool.question).contains(&name_phrase(name).head)
    {
        answer += &format!(", probably {name}");
        conclusion.reason += &format!("; what was said near it tells that this is {name}");
    }
    conclusion.answer = Some(answer);
    Ok(())
}
