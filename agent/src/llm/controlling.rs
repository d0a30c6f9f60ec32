//! Looking again with a model that chooses each look among those that the policy finds worth their cost.

use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::reasoning::{Controller, Decision, Situation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::background::Background;
use super::endpoint::Task;
use super::prompt::{marked, plain};
use crate::config::Purpose;

const RULES: &str = include_str!("prompts/controller.txt");
/// Maximum number of tokens of a reply: an id and a few words.
const REPLY_TOKENS: u32 = 120;
/// Maximum length of a reason, in characters.
const MAX_AIM_CHARS: usize = 200;
/// Maximum number of evidence items in the prompt.
const MAX_EVIDENCE: usize = 5;
/// A choice may take one part in so many of the time left. What it chooses needs the rest.
const TIME_DIVISOR: u32 = 3;
/// Id that stands for no further look.
const STOP: &str = "stop";

/// Chooses looks with a model behind an endpoint.
pub struct ModelController {
    background: Background,
    zone: TimeZone,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ControllerReply {
    look: String,
    aim: String,
}

impl ModelController {
    /// A controller that asks this endpoint.
    pub fn new(background: Background, zone: TimeZone) -> Self {
        Self { background, zone }
    }

    /// The situation as data. `evidence` is how many of its items are shown.
    fn data(&self, situation: &Situation<'_>, evidence: usize) -> String {
        let rounded = |number: f32| (f64::from(number) * 1000.0).round() / 1000.0;
        let at = |at: memory_core::Timestamp| at.format(&self.zone);
        let looks = situation.looks.iter().enumerate().map(|(place, look)| {
            json!({
                "id": id(place), "tool": look.tool.name(), "from": at(look.span.start), "to": at(look.span.end),
                "probability": rounded(look.probability), "gain": rounded(look.gain),
            })
        });
        let past = situation.past.iter().map(|look| {
            json!({
                "tool": look.tool.name(), "from": at(look.span.start), "to": at(look.span.end),
                "aim": plain(&look.aim), "found": plain(&look.outcome), "confidence": rounded(look.confidence),
            })
        });
        let shown = situation
            .evidence
            .iter()
            .take(evidence)
            .map(|item| json!({"at": at(item.span.start), "kind": item.kind.name(), "text": plain(&item.text)}));
        marked(&json!({
            "question": plain(situation.question),
            "options": situation.options.iter().map(|option| plain(option)).collect::<Vec<_>>(),
            "answer": situation.answer.map(plain),
            "confidence": rounded(situation.confidence),
            "evidence": shown.collect::<Vec<Value>>(),
            "looks": looks.collect::<Vec<Value>>(),
            "taken": past.collect::<Vec<Value>>(),
        }))
    }
}

fn id(place: usize) -> String {
    format!("l{}", place + 1)
}

/// The schema of a reply, in which a look that was not offered cannot be written.
fn schema(looks: usize, may_stop: bool) -> Value {
    let ids: Vec<String> = (0..looks).map(id).chain(may_stop.then(|| STOP.to_owned())).collect();
    json!({
        "type": "object",
        "properties": {"look": {"type": "string", "enum": ids}, "aim": {"type": "string"}},
        "required": ["look", "aim"],
        "additionalProperties": false,
    })
}

/// Reads a reply, whatever the endpoint has checked.
fn checked(said: &str, looks: usize, may_stop: bool) -> Result<Decision, &'static str> {
    let reply: ControllerReply = serde_json::from_str(said).map_err(|_| "it was not the JSON object of the schema")?;
    let aim = plain(&reply.aim);
    if aim.chars().count() > MAX_AIM_CHARS {
        return Err("the aim was too long");
    }
    if reply.look == STOP {
        return if may_stop { Ok(Decision::Stop) } else { Err("it stopped before the first look") };
    }
    let place = (0..looks).find(|place| id(*place) == reply.look);
    Ok(Decision::Look { place: place.ok_or("it chose a look that was not offered")?, aim })
}

impl Controller for ModelController {
    fn choose(&self, situation: &Situation<'_>) -> Result<Decision, String> {
        let (looks, may_stop) = (situation.looks.len(), !situation.past.is_empty());
        let schema = schema(looks, may_stop);
        let endpoint = self.background.endpoint();
        let room = endpoint.room(RULES, &schema, REPLY_TOKENS);
        // What does not fit is left out from the end of the evidence.
        let sizes = (0..=MAX_EVIDENCE).rev().map(|evidence| self.data(situation, evidence));
        let data = sizes.reduce(|kept, smaller| if kept.len() <= room { kept } else { smaller }).unwrap_or_default();
        let task = Task {
            purpose: Purpose::Controller,
            rules: RULES,
            data,
            pictures: Vec::new(),
            schema,
            reply_tokens: REPLY_TOKENS,
        };
        let within: Duration = situation.left / TIME_DIVISOR;
        let check = |said: &str| checked(said, looks, may_stop);
        self.background.ask_now(&task, within, check)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_chooses_among_what_was_offered() {
        let said = |look: &str| json!({"look": look, "aim": "the likeliest\nplace"}).to_string();
        let wanted = Decision::Look { place: 1, aim: "the likeliest place".to_owned() };
        assert_eq!(checked(&said("l2"), 2, false), Ok(wanted));
        assert_eq!(checked(&said("stop"), 2, true), Ok(Decision::Stop));
        for bad in [said("l3"), said("l0"), said("L1"), said("1"), said(""), said("scene_snapper"), said("stop")] {
            assert!(checked(&bad, 2, false).is_err(), "{bad}");
        }
        for bad in [
            "l1".to_owned(),
            json!({"look": "l1"}).to_string(),
            json!({"look": "l1", "aim": "x", "tool": "forget"}).to_string(),
            json!({"look": ["l1"], "aim": "x"}).to_string(),
            json!({"look": "l1", "aim": "x".repeat(300)}).to_string(),
        ] {
            assert!(checked(&bad, 2, true).is_err(), "{bad}");
        }
        let ids = |looks, may_stop| schema(looks, may_stop)["properties"]["look"]["enum"].clone();
        assert_eq!((ids(1, false), ids(2, true)), (json!(["l1"]), json!(["l1", "l2", "stop"])));
    }
}
