//! Short results: a language model reads them, and every word costs it time.

use memory_core::word_search::Snippet;
use serde_json::{Map, Value, json};

/// Maximum length of the text of one line, in characters.
const MAX_LINE_CHARS: usize = 300;
/// Maximum length of the reason for something missing, in characters.
const MAX_REASON_CHARS: usize = 100;
/// Maximum length of the text of a single event, in characters.
const MAX_EVENT_CHARS: usize = 8_000;

/// Builds an object without empty fields.
#[derive(Default)]
struct Short(Map<String, Value>);

impl Short {
    fn put(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        let empty = match &value {
            Value::Null => true,
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            Value::String(text) => text.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        if !empty {
            self.0.insert(name.to_owned(), value);
        }
        self
    }

    fn take(self, from: &Value, names: &[&str]) -> Self {
        names.iter().fold(self, |short, name| short.put(name, from[*name].clone()))
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

/// A text of at most `most` characters.
fn cut(text: &Value, most: usize) -> Value {
    let Some(text) = text.as_str() else { return Value::Null };
    match text.char_indices().nth(most) {
        Some((end, _)) => [&text[..end], "…"].concat().into(),
        None => text.into(),
    }
}

fn each(list: &Value, line: impl Fn(&Value) -> Value) -> Vec<Value> {
    list.as_array().into_iter().flatten().map(line).collect()
}

/// An answer with its evidence.
pub fn answer(reply: &Value) -> Value {
    let evidence = each(&reply["evidence"], evidence);
    let nothing = reply["answer"].is_null();
    let mut short = Short::default()
        .take(reply, &["choice", "confidence", "route"])
        .put("reason", cut(&reply["reason"], MAX_LINE_CHARS))
        .put("pose", pose(&reply["pose"]))
        .put("degraded", reply["degraded"].clone())
        .done();
    short["answer"] = cut(&reply["answer"], MAX_EVENT_CHARS);
    // Below an answer that is none they are only the nearest events, and no evidence.
    short[if nothing { "nearest" } else { "evidence" }] = evidence.into();
    short
}

/// Shortens the result of a search for words. Matches are in double asterisks.
pub fn found(reply: &Value) -> Value {
    let line = |found: &Value| {
        Short::default()
            .take(found, &["event", "episode", "kind", "entity", "score"])
            .put("at", found["start"].clone())
            .put("text", marked(found))
            .put("picture", has_picture(found))
            .done()
    };
    let mut short = Short::default().take(reply, &["words", "ignored"]).done();
    short["count"] = reply["count"].clone();
    short["events"] = each(&reply["found"], line).into();
    short
}

fn marked(found: &Value) -> String {
    let end = |mark: &Value, at: usize| mark[at].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
    let marks = found["marks"].as_array().into_iter().flatten().map(|mark| end(mark, 0)..end(mark, 1)).collect();
    let text = found["snippet"].as_str().unwrap_or_default().to_owned();
    Snippet { text, marks }.marked("**", "**")
}

/// The events that are nearest to a question in meaning.
pub fn nearest(reply: &Value) -> Value {
    each(&reply["evidence"], evidence).into()
}

fn evidence(item: &Value) -> Value {
    Short::default()
        .take(item, &["event", "episode", "entity", "place", "score"])
        .put("at", item["start"].clone())
        .put("text", cut(&item["text"], MAX_LINE_CHARS))
        .put("pose", pose(&item["pose"]))
        .put("picture", has_picture(item))
        .done()
}

/// Shortens a pose: where to drive to, without its covariance.
fn pose(pose: &Value) -> Value {
    Short::default().take(pose, &["frame", "x", "y", "yaw", "of"]).done()
}

/// True where `get_picture` may have one.
fn has_picture(item: &Value) -> Value {
    if item["media"].is_string() { true.into() } else { Value::Null }
}

/// A page of episodes.
pub fn episodes(reply: &Value) -> Value {
    let line = |episode: &Value| {
        Short::default()
            .take(episode, &["id", "start", "end", "source", "events"])
            .put("summary", cut(&episode["summary"], MAX_LINE_CHARS))
            .put("pose", pose(&episode["pose"]))
            .put("picture", has_picture(episode))
            .done()
    };
    let mut short = Short::default().take(reply, &["next"]).done();
    short["episodes"] = each(&reply["episodes"], line).into();
    short
}

/// An episode with a page of its events.
pub fn episode(reply: &Value) -> Value {
    let episode = &reply["episode"];
    Short::default()
        .take(episode, &["id", "start", "end", "source"])
        .take(reply, &["next"])
        .put("events", each(&episode["events"], |event| line(event, MAX_LINE_CHARS)))
        .done()
}

/// One event with its whole text.
pub fn event(reply: &Value) -> Value {
    let event = &reply["event"];
    let mut short = line(event, MAX_EVENT_CHARS);
    for name in ["episode", "origin", "source", "observation", "confidence", "modality"] {
        if !event[name].is_null() {
            short[name] = event[name].clone();
        }
    }
    short
}

fn line(event: &Value, most: usize) -> Value {
    Short::default()
        .take(event, &["id", "kind", "entity", "attributes"])
        .put("at", event["start"].clone())
        .put("text", cut(&event["text"], most))
        .put("pose", pose(&event["pose"]))
        .put("picture", has_picture(event))
        .done()
}

/// Facts.
pub fn facts(reply: &Value) -> Value {
    let line = |fact: &Value| {
        let evidence: Vec<Value> = fact["evidence"].as_array().into_iter().flatten().take(3).cloned().collect();
        Short::default()
            .take(fact, &["kind", "subject", "attribute", "value", "place", "since", "until", "last"])
            .put("evidence", evidence)
            .done()
    };
    json!({ "facts": each(&reply["facts"], line) })
}

/// Persons, and names that events mention.
pub fn persons(reply: &Value) -> Value {
    let person = |person: &Value| {
        Short::default().take(person, &["id", "name", "aliases", "faces", "voices", "first", "last"]).done()
    };
    let name = |entity: &Value| Short::default().take(entity, &["name", "events", "last"]).done();
    json!({ "persons": each(&reply["persons"], person), "names": each(&reply["entities"], name) })
}

/// The known tasks.
pub fn tasks(reply: &Value) -> Value {
    let line = |one: &Value| Short::default().take(one, &["id", "goal", "steps", "sessions"]).done();
    json!({ "procedures": each(&reply["procedures"], line) })
}

/// A procedure, and the usual ways to do it.
pub fn procedure(reply: &Value, paths: &Value) -> Value {
    let found = &reply["procedure"];
    let way = |path: &Value| Short::default().take(path, &["steps", "probability", "seen"]).done();
    let last = found["evidence"].as_array().and_then(|sessions| sessions.last());
    let last = last.map_or(Value::Null, |session| session["start"].clone());
    Short::default()
        .take(found, &["id", "goal", "sessions"])
        .put("ways", each(&paths["paths"], way))
        .put("guessed", if paths["guessed"] == true { true.into() } else { Value::Null })
        .put("last_done", last)
        .done()
}

/// Likely next steps.
pub fn next(reply: &Value) -> Value {
    let nothing_left = reply["next"][0]["step"] == "GOAL";
    Short::default()
        .put("next", reply["next"].clone())
        .put("note", if nothing_left { "GOAL: probably nothing is left to do" } else { "" })
        .done()
}

/// Shortens the outcome of one observation.
pub fn observed(reply: &Value, id: &str) -> Value {
    let known = reply["duplicates"].as_u64().unwrap_or(0) > 0;
    json!({ "remembered": true, "known_already": known, "id": id })
}

/// Shortens what was forgotten, or would be.
pub fn forgotten(reply: &Value, done: bool) -> Value {
    let mut short = Short::default()
        .take(reply, &["episodes", "events", "doubtful"])
        .put("recordings_left", reply["recordings_left"].clone())
        .put("shown", each(&reply["shown"], |event| line(event, MAX_LINE_CHARS)))
        .done();
    short["forgotten"] = done.into();
    if !done {
        short["note"] = "nothing is forgotten yet; call again with confirm = true if the person wants it".into();
    }
    short
}

/// The state of the agent.
pub fn status(robot: &str, status: Option<&str>, health: Option<&Value>) -> Value {
    let health = health.unwrap_or(&Value::Null);
    let sources: Map<String, Value> = health["sources"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, source)| (name.clone(), source["state"].clone()))
        .collect();
    let memory = &health["memory"];
    Short::default()
        .put("robot", robot)
        .put("status", status.unwrap_or("unknown: no agent has served this robot on this broker"))
        .take(health, &["version", "uptime_s", "paused"])
        .put("degraded", each(&health["degraded"], |reason| cut(reason, MAX_REASON_CHARS)))
        .put("last_error", cut(&health["last_error"], MAX_LINE_CHARS))
        .put("memory", Short::default().take(memory, &["events", "episodes", "facts", "observations"]).done())
        .put("sources", sources)
        .put("free_bytes", health["disk"]["free_bytes"].clone())
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_short_and_says_where_it_comes_from() {
        let long = "a".repeat(1000);
        let reply = json!({"question": "q", "answer": "On the shelf", "choice": null, "confidence": 0.95, "route": "detailed",
            "reason": "told", "elapsed_ms": {"total": 4.1}, "trace": [], "degraded": [],
            "evidence": [{"event": "ev-42", "episode": "ep-12", "text": long, "start": "t", "entity": null, "media": null}]});
        let short = answer(&reply);
        assert_eq!(short["answer"], "On the shelf");
        assert_eq!(short["evidence"][0]["event"], "ev-42");
        assert_eq!(short["evidence"][0]["text"].as_str().unwrap().chars().count(), MAX_LINE_CHARS + 1);
        for left_out in ["choice", "trace", "elapsed_ms", "degraded", "question"] {
            assert!(short.get(left_out).is_none(), "{left_out}: {short}");
        }
    }

    #[test]
    fn no_answer_has_no_evidence_but_the_nearest_events() {
        let reply = json!({"answer": null, "confidence": 0.1, "route": "none", "reason": "no evidence",
            "evidence": [{"event": "ev-1", "text": "x"}]});
        let short = answer(&reply);
        assert!(short["answer"].is_null() && short.get("evidence").is_none(), "{short}");
        assert_eq!(short["nearest"][0]["event"], "ev-1");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut(&"äöü".into(), 2), "äö…");
        assert_eq!(cut(&"äöü".into(), 3), "äöü");
        assert_eq!(cut(&Value::Null, 3), Value::Null);
    }
}
