//! `engram entity`: who is known, and what people say of them. Asks the agent that runs; without one, opens the store.

use std::sync::Arc;

use memory_core::{NamingError, NamingRequest, SystemClock};
use serde_json::{Value as Json, json};

use super::place::{self, CommandTarget};
use super::requester::REPLY_TIMEOUT;
use crate::cli::{EntityCommand, GlobalArgs};
use crate::exit::{Exit, Failure, OrExit};
use crate::mqtt::entities;
use crate::opening;
use crate::output::Output;

/// Prints who is known, or what became of a naming.
///
/// # Errors
/// See the exit codes.
pub fn run(command: &EntityCommand, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config;
    let zone = opening::zone(config)?;
    let request = request(command);
    let found = match place::open(&loaded, Arc::new(SystemClock::new()))? {
        CommandTarget::Store(memory) => match &request {
            None => entities::entities(&memory, limit(command), &zone).or_exit(Exit::Store)?,
            Some(request) => {
                let persons = memory.name_entity(request).map_err(|error| match error {
                    NamingError::Invalid(message) => Failure::new(Exit::Refused, message),
                    other => Failure::new(Exit::Store, other.to_string()),
                })?;
                entities::named(&persons, &zone)
            }
        },
        CommandTarget::Agent(agent) => {
            let (name, body) = match &request {
                None => ("list", json!({ "of": "entities", "limit": limit(command) })),
                Some(NamingRequest::Name { entity, name }) => {
                    ("name_entity", json!({ "entity": entity, "name": name }))
                }
                Some(NamingRequest::Merge { entity, same }) => {
                    ("name_entity", json!({ "entity": entity, "merge": same }))
                }
                Some(NamingRequest::Split { entity, others }) => {
                    ("name_entity", json!({ "entity": entity, "split": others }))
                }
            };
            agent.command(config, name, body, REPLY_TIMEOUT)?
        }
    };
    if output.json {
        output.json(&found);
    } else {
        output.text(text(&found));
    }
    Ok(Exit::Ok)
}

fn request(command: &EntityCommand) -> Option<NamingRequest> {
    match command.clone() {
        EntityCommand::List { .. } => None,
        EntityCommand::Name { entity, name } => Some(NamingRequest::Name { entity, name }),
        EntityCommand::Merge { entity, same } => Some(NamingRequest::Merge { entity, same }),
        EntityCommand::Split { entity, others } => Some(NamingRequest::Split { entity, others }),
    }
}

fn limit(command: &EntityCommand) -> usize {
    if let EntityCommand::List { limit } = command { *limit } else { 0 }
}

/// One line per person, then one per name that only events tell; used by `inspect` too.
pub(super) fn text(found: &Json) -> String {
    let list = |name: &str| found[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = |item: &Json, name: &str| -> Vec<String> {
        item[name].as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let mut lines = Vec::new();
    for person in list("persons") {
        let mut line = format!(
            "{:<8} {:<20} {} faces, {} voices",
            person["id"].as_str().unwrap_or_default(),
            person["name"].as_str().unwrap_or("(no name yet)"),
            person["faces"],
            person["voices"],
        );
        for (words, name) in [("also", "aliases"), ("anchors", "anchors")] {
            let texts = texts(person, name);
            if texts.len() > usize::from(name == "anchors") {
                line.push_str(&format!("; {words} {}", texts.join(", ")));
            }
        }
        lines.push(line);
    }
    for entity in list("entities") {
        lines.push(format!("{:>6}  {}", entity["events"], entity["name"].as_str().unwrap_or_default()));
    }
    if lines.is_empty() && found["state"].is_null() {
        lines.push("nobody is known yet".to_owned());
    } else if lines.is_empty() {
        lines.push("done; both names mean the same from now on".to_owned());
    }
    lines.join("\n")
}
