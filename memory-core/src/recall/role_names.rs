//! The names of persons and animals that a question calls by their role: "the plumber" is who was introduced as one,
//! and "Grandpa" is who reacts when somebody says "Grandpa, …".

use std::time::Duration;

use super::Reader;
use super::answerers::roles::apposition;
use super::question::Question;
use super::reading::{ParsedEvent, can_be_animal, is_person, name_phrase};
use crate::index::{Holding, SearchQuery};
use crate::language::english::address::is_address;
use crate::language::english::syntax::{NounKind, NounPhrase};
use crate::{Event, Kind, ReadError, TimeSpan};

/// Maximum number of events that are read to find the name of a role.
const MAX_EVENTS: usize = 24;
/// Time within which the person who is addressed does or says something.
const REACTION_WINDOW: Duration = Duration::from_secs(300);
/// Maximum number of events after an address that are looked through.
const MAX_REACTIONS: usize = 4;

/// Returns the names of the persons and animals that a question calls by their role, each behind the role.
pub(super) fn role_names(reader: &dyn Reader, question: &Question<'_>) -> Result<Vec<(String, String)>, ReadError> {
    let mut names: Vec<(String, String)> = Vec::new();
    for noun in question.named.iter().flat_map(|noun| std::iter::once(noun).chain(noun.owner.as_deref())) {
        let animal = noun.kind == NounKind::Common && can_be_animal(&noun.head);
        if !(is_person(noun) || animal) || !noun.modifiers.is_empty() || noun.is_pronoun() {
            continue;
        }
        let holding = Holding { groups: vec![vec![noun.head.clone()]], limit: MAX_EVENTS, ..Holding::default() };
        let mut told: Vec<ParsedEvent> = Vec::new();
        for id in reader.search().holding(&holding) {
            if let Some(event) = reader.event(id)? {
                told.push(ParsedEvent::parse(event, reader.zone()));
            }
        }
        let mut own: Vec<String> = told.iter().flat_map(|reading| introduced(noun, reading)).collect();
        if own.is_empty() && !animal {
            own.extend(addressed(reader, noun, &told)?);
        }
        for name in own {
            if names.iter().all(|(_, known)| *known != name) {
                names.push((noun.head.clone(), name));
            }
        }
    }
    Ok(names)
}

/// Returns who is introduced by a role in an event.
fn introduced(role: &NounPhrase, reading: &ParsedEvent) -> Vec<String> {
    let nouns = reading.clauses().flat_map(|clause| clause.subject.iter().chain(&clause.objects));
    let names = nouns.filter_map(|told| {
        // "Mr Tamm the plumber", "Grandma Greta".
        let is_role = |also: &NounPhrase| also.head == role.head && also.kind == NounKind::Common;
        let beside = told.kind == NounKind::Name && told.also.iter().any(is_role);
        let before = told.kind == NounKind::Name && told.modifiers.contains(&role.head);
        // "The plumber, Mr Tamm, comes".
        let named = apposition(told, reading).filter(|_| told.head == role.head);
        (beside || before || named.is_some()).then(|| named.unwrap_or(told).head.clone())
    });
    names.filter(|name| *name != role.head).collect()
}

/// Returns who does or says something most often right after somebody else addressed them by a role: "Grandpa, will you
/// lend me your knife?". Nobody if two do so equally often: each child has a mother of its own.
fn addressed(reader: &dyn Reader, role: &NounPhrase, told: &[ParsedEvent]) -> Result<Option<String>, ReadError> {
    let mut votes: Vec<(String, usize)> = Vec::new();
    for reading in told.iter().filter(|reading| addresses(role, reading)) {
        let Some(name) = reacts(reader, &reading.event)? else { continue };
        match votes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => votes.push((name, 1)),
        }
    }
    votes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(match votes.as_slice() {
        [(_, first), (_, second), ..] if first == second => None,
        [(name, _), ..] => Some(name.clone()),
        [] => None,
    })
}

/// Returns whether a speaker addresses somebody by a role.
fn addresses(role: &NounPhrase, reading: &ParsedEvent) -> bool {
    let text = &reading.event.text;
    let lower = text.to_lowercase();
    let mut places = lower.match_indices(role.head.as_str());
    // Lowercase letters may have other lengths than their capitals.
    reading.event.kind == Kind::Text
        && lower.len() == text.len()
        && places.any(|(start, word)| is_address(text, &(start..start + word.len())))
}

/// Returns the first person other than the speaker who does or says something after an address.
fn reacts(reader: &dyn Reader, event: &Event) -> Result<Option<String>, ReadError> {
    let start = event.span.start;
    let span = TimeSpan { start, end: event.span.end.saturating_add(REACTION_WINDOW) };
    let query = SearchQuery { span: Some(span), limit: MAX_REACTIONS, ..SearchQuery::default() };
    let mut after: Vec<Event> = Vec::new();
    for hit in reader.search().search(&query) {
        after.extend(reader.event(hit.id)?);
    }
    after.sort_by_key(|other| (other.span.start, other.id));
    let other = after.into_iter().filter(|other| (other.span.start, other.id) > (start, event.id)).find_map(|other| {
        let acts = matches!(other.kind, Kind::Text | Kind::Caption | Kind::Action);
        other.entity.filter(|entity| acts && event.entity.as_ref() != Some(entity))
    });
    Ok(other.filter(|name| is_person(&name_phrase(name))))
}
