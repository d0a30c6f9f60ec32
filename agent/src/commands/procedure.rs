//! `engram procedure`: the symbolic queries. Asks the agent that runs, or, if none holds the store, the store.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use memory_core::{Clock, Memory, ProcedureError, SystemClock, Timestamp};
use serde_json::{Map, Value as Json, json};

use super::place::{self, CommandTarget};
use super::requester::REPLY_TIMEOUT;
use crate::cli::{GlobalArgs, ProcedureArgs, ProcedureCommand, WhichArgs};
use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::json::fields::Fields;
use crate::mqtt::procedure::{read, render};
use crate::output::Output;
use crate::{opening, when};

/// Asks and prints the answer.
///
/// # Errors
/// See the exit codes; [`Exit::Nothing`] if nothing is known.
pub fn run(args: &ProcedureArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config;
    let zone = opening::zone(config)?;
    let request = request(&args.query);
    let clock = Arc::new(SystemClock::new());
    let now = clock.now();
    let reply = match place::open(&loaded, clock)? {
        CommandTarget::Store(memory) => offline(&memory, config, &request, &zone)?,
        CommandTarget::Agent(agent) => agent.command(config, "procedure", Json::Object(request), REPLY_TIMEOUT)?,
    };
    if let Some(file) = args.query.picture_file() {
        let picture = reply["picture"].as_str().unwrap_or_default();
        std::fs::write(file, picture)
            .map_err(|error| Failure::new(Exit::Usage, format!("cannot write {}: {error}", file.display())))?;
        return Ok(Exit::Ok);
    }
    if output.json {
        output.json(&reply);
    } else {
        output.text(text(&args.query, &reply, now, &zone));
    }
    Ok(if is_nothing(&reply) { Exit::Nothing } else { Exit::Ok })
}

fn offline(memory: &Memory, config: &Config, request: &Map<String, Json>, zone: &TimeZone) -> Result<Json, Failure> {
    let refused = |message: String| Failure::new(Exit::Refused, message);
    let request = read(Fields(request)).map_err(|refusal| refused(refusal.message))?;
    let reply = memory.procedure(&request).or_else(|error| {
        if !matches!(error, ProcedureError::Unknown(_)) {
            return Err(error);
        }
        // Words did not tell which procedure is meant; meaning may.
        super::offline::give_text_models(memory, config, super::offline::FINDING);
        memory.procedure(&request)
    });
    match reply {
        Ok(reply) => Ok(render(&reply, zone)),
        Err(ProcedureError::Read(error)) => Err(Failure::new(Exit::Store, error.to_string())),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// The request of the contract.
fn request(query: &ProcedureCommand) -> Map<String, Json> {
    let of = |which: &WhichArgs, rest: Json| {
        let mut body = Map::new();
        let id = which.goal.parse::<memory_core::logic::ProcedureId>().is_ok() && which.goal.starts_with("p-");
        body.insert(if id { "id" } else { "goal" }.to_owned(), which.goal.as_str().into());
        if let Json::Object(rest) = rest {
            body.extend(rest);
        }
        Json::Object(body)
    };
    let (name, body) = match query {
        ProcedureCommand::List { like, max } => ("list", json!({"goal_like": like, "max": max})),
        ProcedureCommand::Get { which } => ("get", of(which, Json::Null)),
        ProcedureCommand::Paths { which, without, with, before, done, max_steps, max } => {
            let before: Vec<[&str; 2]> =
                before.iter().map(|(first, second)| [first.as_str(), second.as_str()]).collect();
            let body = json!({
                "without": without, "with": with, "before": before, "done": done, "max_steps": max_steps, "max": max,
            });
            ("paths", of(which, body))
        }
        ProcedureCommand::Next { which, done, k } => ("next", of(which, json!({"done": done, "k": k}))),
        ProcedureCommand::Missing { which, done } => ("missing", of(which, json!({"done": done}))),
        ProcedureCommand::Alternatives { which, blocked, done } => {
            ("alternatives", of(which, json!({"blocked": blocked, "done": done})))
        }
        ProcedureCommand::Behaviours { person } => ("behaviours", json!({"person": person})),
        ProcedureCommand::Show { which, dot, max_steps, .. } => {
            let format = if dot.is_some() { "dot" } else { "svg" };
            ("show", of(which, json!({"format": format, "max_steps": max_steps})))
        }
    };
    Map::from_iter([(name.to_owned(), body)])
}

impl ProcedureCommand {
    /// Returns the file that the picture goes to, if it is a picture and goes to a file.
    fn picture_file(&self) -> Option<&Path> {
        let Self::Show { svg, dot, .. } = self else { return None };
        svg.as_deref().or(dot.as_deref()).filter(|file| *file != Path::new("-"))
    }
}

fn is_nothing(reply: &Json) -> bool {
    ["procedures", "paths", "next"].iter().any(|name| reply[name].as_array().is_some_and(Vec::is_empty))
}

fn items<'a>(reply: &'a Json, name: &str) -> &'a [Json] {
    reply[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn string<'a>(item: &'a Json, name: &str) -> &'a str {
    item[name].as_str().unwrap_or_default()
}

fn percent(item: &Json) -> String {
    format!("{:>4.0} %", 100.0 * item["probability"].as_f64().unwrap_or(0.0))
}

fn text(query: &ProcedureCommand, reply: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let lines: Vec<String> = match query {
        ProcedureCommand::List { .. } | ProcedureCommand::Behaviours { .. } => {
            items(reply, "procedures").iter().map(|one| summary(one, now, zone)).collect()
        }
        ProcedureCommand::Get { .. } => vec![whole(&reply["procedure"], now, zone)],
        ProcedureCommand::Paths { .. } => path_lines(reply),
        ProcedureCommand::Next { .. } => likely(reply, "next"),
        ProcedureCommand::Missing { .. } => {
            let mut lines = likely(reply, "missing");
            let things: Vec<&str> = items(reply, "things").iter().map(|thing| string(thing, "name")).collect();
            if !things.is_empty() {
                lines.push(format!("with: {}", things.join(", ")));
            }
            if lines.is_empty() {
                lines.push("nothing is missing".to_owned());
            }
            lines
        }
        ProcedureCommand::Alternatives { .. } => alternatives(reply),
        ProcedureCommand::Show { .. } => return string(reply, "picture").trim_end().to_owned(),
    };
    if lines.is_empty() { "nothing is known".to_owned() } else { lines.join("\n") }
}

fn summary(one: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let told = match (one["named"] == true, one["candidate"] == true) {
        (true, false) => "",
        (false, false) => "  (not told, found)",
        (true, true) => "  (candidate: its steps do not seem to be of this goal)",
        (false, true) => "  (candidate: not told, and not sure to be a procedure)",
    };
    let mut line = format!(
        "{:<8} {}  {} sessions, {} steps{told}",
        string(one, "id"),
        string(one, "goal"),
        one["sessions"],
        one["steps"]
    );
    for session in items(one, "evidence") {
        write!(line, "\n           {}", session_line(session, now, zone)).expect("writing to a String");
    }
    line
}

fn session_line(session: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let at = |field: &str| session[field].as_str().and_then(|text| Timestamp::parse(text).ok());
    let when = match (at("start"), at("end")) {
        (Some(start), Some(end)) => when::readable(start, end, now, zone),
        _ => "?".to_owned(),
    };
    format!("{when}  {}", string(session, "session"))
}

fn whole(found: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let mut lines = vec![summary(
        &json!({
            "id": found["id"], "goal": found["goal"], "named": found["named"], "candidate": found["candidate"], "sessions": found["sessions"],
            "steps": items(found, "steps").len().saturating_sub(2),
        }),
        now,
        zone,
    )];
    let label = |id: &Json| {
        let step = items(found, "steps").iter().find(|step| step["id"] == *id);
        step.map_or_else(String::new, |step| match step["occurrence"].as_u64() {
            Some(2..) => format!("{} ({})", string(step, "text"), step["occurrence"]),
            _ => string(step, "text").to_owned(),
        })
    };
    for step in items(found, "steps") {
        lines.push(format!("  {}", label(&step["id"])));
        let edges = items(found, "edges").iter().filter(|edge| edge["from"] == step["id"]);
        lines.extend(edges.map(|edge| format!("    {} → {}", percent(edge), label(&edge["to"]))));
    }
    lines.push("seen in".to_owned());
    lines.extend(items(found, "evidence").iter().map(|session| format!("  {}", session_line(session, now, zone))));
    lines.join("\n")
}

fn path_lines(reply: &Json) -> Vec<String> {
    let way = |way: &Json| {
        let steps: Vec<&str> = items(way, "steps").iter().filter_map(Json::as_str).collect();
        format!("{}  seen {:<3}  {}", percent(way), way["seen"], steps.join(" → "))
    };
    let mut lines: Vec<String> = items(reply, "paths").iter().map(way).collect();
    if reply["guessed"] == true {
        lines.push("nobody did these as a whole, nor their steps in this context".to_owned());
    }
    lines
}

fn likely(reply: &Json, name: &str) -> Vec<String> {
    items(reply, name).iter().map(|step| format!("{}  {}", percent(step), string(step, "step"))).collect()
}

fn alternatives(reply: &Json) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let blocked: Vec<&str> = items(reply, "blocked").iter().filter_map(Json::as_str).collect();
    if blocked.is_empty() {
        lines.push("nothing is blocked".to_owned());
    } else {
        lines.push(format!("blocked: {}", blocked.join(", ")));
    }
    let told = |name: &str, words: &str| -> Vec<String> {
        items(reply, name).iter().map(|one| format!("{words}: {}", string(one, "text"))).collect()
    };
    lines.extend(told("because", "because"));
    lines.extend(told("offers", "to be had"));
    lines.extend(
        items(reply, "others")
            .iter()
            .map(|one| format!("instead: {} with {}, seen {}", string(one, "step"), string(one, "with"), one["seen"])),
    );
    let ways = path_lines(reply);
    if !ways.is_empty() {
        lines.push("other ways:".to_owned());
        lines.extend(ways);
    }
    lines
}
