//! Facts: the model reads what a sentence states, in the sentence's own words.

use std::collections::BTreeSet;
use std::path::Path;

use memory_core::Event;
use memory_core::index::{stem, words};
use memory_core::ports::{FactExtractor, PortError, Statement};
use serde::Deserialize;
use serde_json::json;

use super::LlmError;
use super::background::Background;
use super::endpoint::Task;
use super::known_facts::KnownFacts;
use super::prompt::{marked, plain};
use crate::config::Purpose;

const RULES: &str = include_str!("prompts/facts.txt");
/// Maximum number of tokens of a reply.
const REPLY_TOKENS: u32 = 400;
/// Maximum number of facts from one sentence.
const MAX_FACTS: usize = 6;
/// Maximum length of a part of a fact, in characters.
const MAX_PART_CHARS: usize = 120;
/// Attributes of a person or thing that have one value at a time.
const ATTRIBUTES: [&str; 12] =
    ["place", "colour", "state", "owner", "amount", "date", "name", "job", "age", "kind", "material", "preference"];

/// Reads facts with a model.
pub struct FactReader {
    background: Background,
    known: KnownFacts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FactReply {
    facts: Vec<Fact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    subject: String,
    attribute: String,
    value: String,
    holds: bool,
}

impl FactReader {
    /// A reader that asks this endpoint, and keeps what it read in the data directory: learning may be repeated.
    pub fn new(background: Background, data: Option<&Path>) -> Self {
        Self { background, known: KnownFacts::open(data) }
    }

    /// Forgets what it read out of events that are not visible any more.
    pub fn forget(&self, is_visible: impl Fn(u64) -> bool) {
        self.known.retain(is_visible);
    }

    fn ask(&self, event: &Event) -> Result<Vec<Statement>, LlmError> {
        let schema = json!({
            "type": "object",
            "properties": {"facts": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "subject": {"type": "string"},
                    "attribute": {"type": "string", "enum": ATTRIBUTES},
                    "value": {"type": "string"},
                    "holds": {"type": "boolean"},
                },
                "required": ["subject", "attribute", "value", "holds"],
                "additionalProperties": false,
            }}},
            "required": ["facts"],
            "additionalProperties": false,
        });
        let who = event.entity.as_deref().map(plain);
        let task = Task {
            purpose: Purpose::Facts,
            rules: RULES,
            data: marked(&json!({"speaker": who, "sentence": plain(&event.text)})),
            pictures: Vec::new(),
            schema,
            reply_tokens: REPLY_TOKENS,
        };
        self.background.ask(&task, |said| read(said, event))
    }
}

/// The facts of a reply that only say what the event says; others are left out.
fn read(said: &str, event: &Event) -> Result<Vec<Statement>, &'static str> {
    let reply: FactReply = serde_json::from_str(said).map_err(|_| "it was not the JSON object of the schema")?;
    if reply.facts.len() > MAX_FACTS {
        return Err("it stated too many facts");
    }
    if reply.facts.iter().any(|fact| !ATTRIBUTES.contains(&fact.attribute.as_str())) {
        return Err("it stated an attribute that is none of the schema's");
    }
    let source = format!("{} {}", event.entity.as_deref().unwrap_or_default(), event.text);
    let stems: BTreeSet<String> = words(&source).map(|word| stem(&word)).collect();
    let said_there = |text: &str| {
        let mut found = words(text).peekable();
        found.peek().is_some()
            && text.chars().count() <= MAX_PART_CHARS
            && found.all(|word| stems.contains(&stem(&word)))
    };
    let facts = reply.facts.into_iter().filter(|fact| said_there(&fact.subject) && said_there(&fact.value));
    Ok(facts
        .map(|Fact { subject, attribute, value, holds }| Statement {
            subject: plain(&subject),
            attribute,
            value: plain(&value),
            holds,
        })
        .collect())
}

impl FactExtractor for FactReader {
    fn extract(&self, event: &Event) -> Result<Vec<Statement>, PortError> {
        if let Some(known) = self.known.get(event) {
            return Ok(known);
        }
        match self.ask(event) {
            Ok(statements) => {
                self.known.keep(event, &statements);
                Ok(statements)
            }
            // Health says that these hold, and they hold for every sentence: nobody needs a line for each.
            Err(LlmError::Open(_) | LlmError::Ceiling(_) | LlmError::Stopping) => Ok(Vec::new()),
            Err(error) => Err(self.background.port_error(&error)),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use memory_core::{EpisodeId, EventId, Kind, Modality, Origin, TimeSpan, Timestamp};

    use super::*;

    pub fn event(id: u64, entity: Option<&str>, text: &str) -> Event {
        let at = Timestamp::from_micros(0);
        Event {
            id: EventId(id),
            episode: EpisodeId(1),
            kind: Kind::Text,
            modality: Modality::Audio,
            origin: Origin::Told,
            text: text.to_owned(),
            entity: entity.map(str::to_owned),
            span: TimeSpan::new(at, at),
            stream: None,
            source: "test".to_owned(),
            sender_id: None,
            attributes: Default::default(),
            confidence: 1.0,
            media: None,
            received: at,
            pose: None,
        }
    }

    fn facts(said: serde_json::Value, event: &Event) -> Result<Vec<String>, &'static str> {
        let told = read(&said.to_string(), event)?;
        Ok(told
            .into_iter()
            .map(|one| format!("{} {} {} {}", one.subject, one.attribute, one.value, one.holds))
            .collect())
    }

    #[test]
    fn a_fact_is_taken_only_in_the_words_of_its_sentence() {
        let event = event(1, Some("Anna"), "My bicycle is green and stands behind the barn.");
        let fact = |subject: &str, attribute: &str, value: &str| json!({"subject": subject, "attribute": attribute, "value": value, "holds": true});
        let said = json!({"facts": [
            fact("bicycle", "colour", "green"), fact("bicycle", "place", "behind the barn"),
            fact("bicycle", "owner", "Anna"), fact("bicycle", "owner", "Tom"), fact("", "place", "barn"),
            fact("front door code", "amount", "4711"),
        ]});
        assert_eq!(
            facts(said, &event).unwrap(),
            ["bicycle colour green true", "bicycle place behind the barn true", "bicycle owner Anna true"]
        );
    }

    #[test]
    fn what_is_not_of_the_schema_is_refused() {
        let event = event(1, None, "The gate is open.");
        let one = json!({"subject": "gate", "attribute": "state", "value": "open", "holds": true});
        assert_eq!(facts(json!({"facts": vec![one.clone(); 7]}), &event), Err("it stated too many facts"));
        let mut odd = one.clone();
        odd["attribute"] = "command".into();
        assert!(facts(json!({"facts": [odd]}), &event).is_err());
        assert!(facts(json!({"facts": [one], "forget": true}), &event).is_err());
        assert!(facts(json!([]), &event).is_err());
    }
}
