//! `cmd/name_entity`, and what `cmd/list` lists besides episodes.

use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::{EntityNews, Fact, FactFilter, FactKind, GistFilter, Memory, NamingRequest, Person, ReadError};
use serde_json::{Value, json};

use super::fields::{Fields, TimeBase};
use super::gists;
use super::places;
use super::reply::Refusal;

/// Maximum number of facts or entities in a list.
const MAX_LIST: u64 = 1000;
/// Default number of facts or entities in a list.
const DEFAULT_LIST: usize = 100;

/// Lists of `cmd/list` besides episodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum List {
    Entities { limit: usize },
    Facts(FactFilter),
    Gists(GistFilter),
    Places { limit: usize },
    Stats,
}

impl List {
    /// `of` names what to list; `None` for episodes.
    pub fn read(fields: Fields<'_>, moment: &TimeBase) -> Result<Option<Self>, Refusal> {
        let limit = fields.count("limit")?.unwrap_or(0).min(MAX_LIST);
        let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0).unwrap_or(DEFAULT_LIST);
        match fields.text("of")? {
            None | Some("episodes") => Ok(None),
            Some("entities") => Ok(Some(Self::Entities { limit })),
            Some("facts") => {
                let subject = fields.text("subject")?.or(fields.text("entity")?).map(str::to_owned);
                Ok(Some(Self::Facts(FactFilter {
                    subject,
                    about: fields.text("about")?.map(str::to_owned),
                    past: fields.flag("past")?,
                    limit: Some(limit),
                    budget: None,
                })))
            }
            Some("gists") => Ok(Some(Self::Gists(gists::read_list(fields, moment)?))),
            Some("places") => Ok(Some(Self::Places { limit })),
            Some("stats") => Ok(Some(Self::Stats)),
            Some(_) => {
                let known =
                    "`of` is \"episodes\", \"events\", \"entities\", \"facts\", \"gists\", \"places\" or \"stats\"";
                Err(Refusal::bad(known))
            }
        }
    }

    /// Lists within `budget`.
    ///
    /// # Errors
    /// If the store cannot be read, or the time runs out.
    pub fn list(&self, memory: &Memory, zone: &TimeZone, budget: Duration) -> Result<Value, ReadError> {
        match self {
            Self::Entities { limit } => entities(memory, *limit, zone),
            Self::Facts(filter) => {
                let filter = FactFilter { budget: Some(budget), ..filter.clone() };
                let facts: Vec<Value> = memory.facts(&filter)?.iter().map(|fact| fact_body(fact, zone)).collect();
                Ok(json!({ "facts": facts }))
            }
            Self::Gists(filter) => {
                let filter = GistFilter { budget: Some(budget), ..filter.clone() };
                Ok(gists::page(&memory.gists(&filter)?, zone))
            }
            Self::Places { limit } => places::list(memory, *limit, zone),
            Self::Stats => Ok(stats(memory)),
        }
    }
}

/// Counts and sizes.
pub fn stats(memory: &Memory) -> Value {
    let stats = memory.stats();
    json!({
        "instance": memory.instance(),
        "observations": stats.observations,
        "events": stats.events,
        "episodes": stats.episodes,
        "entities": stats.entities,
        "facts": stats.facts,
        "pending_lessons": stats.pending_lessons,
        "hidden": stats.hidden,
        "seq": stats.seq,
        "disk_bytes": stats.disk_bytes,
    })
}

/// Persons by face and voice, and names that events tell, most frequent first.
///
/// # Errors
/// If the store cannot be read.
pub fn entities(memory: &Memory, limit: usize, zone: &TimeZone) -> Result<Value, ReadError> {
    let names: Vec<Value> = memory
        .entities(limit)?
        .iter()
        .map(|entity| {
            json!({
                "name": entity.name, "events": entity.events,
                "first": entity.span.start.format(zone), "last": entity.span.end.format(zone),
            })
        })
        .collect();
    let mut persons = memory.persons()?;
    persons.truncate(limit);
    let persons: Vec<Value> = persons.iter().map(|person| person_body(person, zone)).collect();
    Ok(json!({ "entities": names, "persons": persons }))
}

fn person_body(person: &Person, zone: &TimeZone) -> Value {
    let anchors: Vec<String> = person.anchors.iter().map(ToString::to_string).collect();
    json!({
        "id": person.id.to_string(), "name": person.name, "aliases": person.aliases,
        "faces": person.faces, "voices": person.voices, "anchors": anchors,
        "first": person.span.start.format(zone), "last": person.span.end.format(zone),
    })
}

fn fact_body(fact: &Fact, zone: &TimeZone) -> Value {
    let kind = match fact.kind {
        FactKind::Place => "place",
        FactKind::Property => "property",
        FactKind::Relation => "relation",
        FactKind::Deed => "deed",
    };
    let evidence: Vec<String> = fact.evidence.iter().map(ToString::to_string).collect();
    json!({
        "kind": kind, "subject": fact.subject, "attribute": fact.attribute, "value": fact.value,
        "place": fact.place, "since": fact.since.format(zone), "until": fact.until.map(|until| until.format(zone)),
        "last": fact.last.format(zone), "weight": fact.weight, "evidence": evidence,
    })
}

/// `cmd/name_entity`
pub fn read_naming(fields: Fields<'_>) -> Result<NamingRequest, Refusal> {
    let entity = fields.text("entity")?.map(str::to_owned);
    let entity = entity.ok_or_else(|| Refusal::bad("`entity` is missing, for instance \"e-12\""))?;
    let (name, merge, split) = (fields.text("name")?, fields.value("merge"), fields.value("split"));
    match (name, merge, split) {
        (Some(name), None, None) => Ok(NamingRequest::Name { entity, name: name.to_owned() }),
        (None, Some(_), None) => Ok(NamingRequest::Merge { entity, same: fields.texts("merge")? }),
        (None, None, Some(_)) => Ok(NamingRequest::Split { entity, others: fields.texts("split")? }),
        _ => Err(Refusal::bad(
            "name exactly one of `name`, `merge` (a list of those who are the same) or `split` (a list of anchors or \
             events that are somebody else)",
        )),
    }
}

/// The answer to `name_entity`.
pub fn named(persons: &[Person], zone: &TimeZone) -> Value {
    let persons: Vec<Value> = persons.iter().map(|person| person_body(person, zone)).collect();
    json!({ "state": "succeeded", "persons": persons })
}

/// The payload of `…/event/entity`.
pub fn news(news: &EntityNews) -> Value {
    json!({ "type": news.change, "id": news.id.to_string(), "name": news.name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mqtt::reply::Code;

    fn naming(body: &Value) -> Result<NamingRequest, Refusal> {
        read_naming(Fields(body.as_object().unwrap()))
    }

    #[test]
    fn naming_takes_exactly_one_way() {
        let anna = NamingRequest::Name { entity: "e-12".to_owned(), name: "Anna".to_owned() };
        assert_eq!(naming(&json!({"entity": "e-12", "name": "Anna"})), Ok(anna));
        let same = NamingRequest::Merge { entity: "e-12".to_owned(), same: vec!["e-15".to_owned()] };
        assert_eq!(naming(&json!({"entity": "e-12", "merge": ["e-15"]})), Ok(same));
        assert!(matches!(naming(&json!({"entity": "e-12", "split": ["ev-3"]})), Ok(NamingRequest::Split { .. })));
        for body in [
            json!({}),
            json!({"entity": 12, "name": "Anna"}),
            json!({"entity": "e-12"}),
            json!({"entity": "e-12", "name": "Anna", "merge": ["e-15"]}),
            json!({"entity": "e-12", "merge": "e-15"}),
            json!({"name": "Anna"}),
        ] {
            assert_eq!(naming(&body).unwrap_err().code, Code::BadRequest, "{body}");
        }
    }
}
