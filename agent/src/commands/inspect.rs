//! `engram inspect`: looks into the store, or, while an agent holds it, asks that agent.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::{Clock, EpisodeFilter, EpisodeId, EventId, Memory, OpenError, SystemClock, TimeSpan, Timestamp};
use serde_json::{Value as Json, json};

use super::{block_on, requester};
use crate::cli::{GlobalArgs, InspectArgs, InspectCommand};
use crate::config::Config;
use crate::exit::{Exit, Failure, OrExit};
use crate::mqtt::commands::{episode, event_body, page};
use crate::output::Output;
use crate::{opening, output, when};

/// How long the running agent may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Prints what was asked for.
///
/// # Errors
/// See the exit codes; [`Exit::Nothing`] if a named episode is not there.
pub fn run(args: &InspectArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config;
    let clock = Arc::new(SystemClock::new());
    let zone = opening::zone(config)?;
    let now = clock.now();
    let found = match opening::existing_memory(config, clock) {
        Ok(memory) => read(&memory, &args.what, now, &zone)?,
        Err(failure) if is_in_use(&failure) => block_on(by_mqtt(config, &args.what, now, &zone)).map_err(|inner| {
            let error = inner.error.context(format!("{:#}; asked it by MQTT instead", failure.error));
            Failure { exit: inner.exit, error }
        })?,
        Err(failure) => return Err(failure),
    };
    let Some(found) = found else {
        if output.json {
            output.json(&Json::Null);
        } else {
            output.text("there is no such episode, or it was forgotten");
        }
        return Ok(Exit::Nothing);
    };
    if output.json {
        output.json(&found);
    } else {
        output.text(text(&args.what, &found, now, &zone));
    }
    Ok(Exit::Ok)
}

fn is_in_use(failure: &Failure) -> bool {
    matches!(failure.error.downcast_ref::<OpenError>(), Some(OpenError::InUse { .. }))
}

fn read(memory: &Memory, what: &InspectCommand, now: Timestamp, zone: &TimeZone) -> Result<Option<Json>, Failure> {
    Ok(match what {
        InspectCommand::Episodes { id: Some(id), .. } => {
            let found = memory.episode(episode_id(id)?).or_exit(Exit::Store)?;
            found.map(|(whole, events)| episode(&whole, &events, zone))
        }
        InspectCommand::Episodes { id: None, since, until, entity, place, limit, cursor } => {
            let filter = EpisodeFilter {
                span: span(since.as_deref(), until.as_deref(), now, zone)?,
                entity: entity.clone(),
                place: place.clone(),
                cursor: cursor.as_deref().map(episode_id).transpose()?,
                limit: *limit,
            };
            Some(page(&memory.episodes(&filter).or_exit(Exit::Store)?, zone))
        }
        InspectCommand::Events { after, limit } => {
            let events = memory.events(after.map(EventId), *limit).or_exit(Exit::Store)?;
            let next = (events.len() == *limit).then(|| events.last().map(|event| event.id.0)).flatten();
            let events: Vec<Json> = events.iter().map(|event| event_body(event, zone)).collect();
            Some(json!({ "events": events, "next": next }))
        }
        InspectCommand::Entities { limit } => {
            let entities = memory.entities(*limit).or_exit(Exit::Store)?;
            let entities: Vec<Json> = entities
                .iter()
                .map(|entity| {
                    json!({
                        "name": entity.name, "events": entity.events,
                        "first": entity.span.start.format(zone), "last": entity.span.end.format(zone),
                    })
                })
                .collect();
            Some(json!({ "entities": entities }))
        }
        InspectCommand::Stats => {
            let stats = memory.stats();
            Some(json!({
                "instance": memory.instance(),
                "observations": stats.observations,
                "events": stats.events,
                "episodes": stats.episodes,
                "entities": stats.entities,
                "hidden": stats.hidden,
                "seq": stats.seq,
                "disk_bytes": stats.disk_bytes,
            }))
        }
    })
}

async fn by_mqtt(
    config: &Config,
    what: &InspectCommand,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Option<Json>, Failure> {
    let (command, body) = match what {
        InspectCommand::Episodes { id: Some(id), .. } => ("get", json!({ "episode": id })),
        InspectCommand::Episodes { id: None, since, until, entity, place, limit, cursor } => {
            let time = |text: &Option<String>| -> Result<Option<String>, Failure> {
                text.as_deref().map(|text| point(text, now, zone)).transpose().map(|at| at.map(|at| at.format(zone)))
            };
            let (since, until) = (time(since)?, time(until)?);
            let body = json!({
                "since": since, "until": until, "entity": entity, "place": place, "limit": limit, "cursor": cursor,
            });
            ("list", body)
        }
        InspectCommand::Events { .. } | InspectCommand::Entities { .. } | InspectCommand::Stats => {
            let message =
                "an agent that runs tells only its episodes; stop it, or look at its health topic and /metrics";
            return Err(Failure::new(Exit::Store, message));
        }
    };
    let client = requester::connect(config).await?;
    let reply = client.command(command, body, PATIENCE).await;
    client.close().await;
    let reply = requester::checked(reply)?;
    let missing = command == "get" && reply["episode"].is_null();
    Ok((!missing).then_some(reply))
}

fn episode_id(text: &str) -> Result<EpisodeId, Failure> {
    text.parse().map_err(|_| Failure::new(Exit::Usage, format!("`{text}` is no episode; an example is ep-42")))
}

fn point(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, Failure> {
    when::parse(text, now, zone).map_err(|message| Failure::new(Exit::Usage, message))
}

fn span(
    since: Option<&str>,
    until: Option<&str>,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Option<TimeSpan>, Failure> {
    if since.is_none() && until.is_none() {
        return Ok(None);
    }
    let at =
        |text: Option<&str>, open: i64| text.map_or(Ok(Timestamp::from_micros(open)), |text| point(text, now, zone));
    Ok(Some(TimeSpan::new(at(since, i64::MIN)?, at(until, i64::MAX)?)))
}

fn text(what: &InspectCommand, found: &Json, now: Timestamp, zone: &TimeZone) -> String {
    match what {
        InspectCommand::Episodes { id: Some(_), .. } => whole_episode(&found["episode"], now, zone),
        InspectCommand::Episodes { .. } => episodes(found, now, zone),
        InspectCommand::Events { .. } => {
            let mut lines: Vec<String> = items(found, "events").iter().map(|item| event(item, now, zone)).collect();
            if let Some(next) = found["next"].as_u64() {
                lines.push(format!("more: engram inspect events --after {next}"));
            }
            lines_or(lines, "no events yet")
        }
        InspectCommand::Entities { .. } => {
            let lines = items(found, "entities").iter().map(|item| {
                let last = time(item, "last", "last", now, zone);
                format!("{:>6}  {}  (last {last})", item["events"], item["name"].as_str().unwrap_or_default())
            });
            lines_or(lines.collect(), "no entities yet")
        }
        InspectCommand::Stats => stats(found),
    }
}

fn items<'a>(found: &'a Json, name: &str) -> &'a [Json] {
    found[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn lines_or(lines: Vec<String>, nothing: &str) -> String {
    if lines.is_empty() { nothing.to_owned() } else { lines.join("\n") }
}

fn time(item: &Json, start: &str, end: &str, now: Timestamp, zone: &TimeZone) -> String {
    let at = |field: &str| item[field].as_str().and_then(|text| Timestamp::parse(text).ok());
    match (at(start), at(end)) {
        (Some(start), Some(end)) => when::readable(start, end, now, zone),
        _ => "?".to_owned(),
    }
}

/// One line per episode; used by `replay` too.
pub(super) fn episodes(found: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let mut lines: Vec<String> = items(found, "episodes")
        .iter()
        .map(|item| {
            format!(
                "{:<8} {}  {}  {} events: {}",
                item["id"].as_str().unwrap_or_default(),
                time(item, "start", "end", now, zone),
                item["source"].as_str().unwrap_or_default(),
                item["events"],
                item["summary"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    if let Some(next) = found["next"].as_str() {
        lines.push(format!("more: engram inspect episodes --cursor {next}"));
    }
    lines_or(lines, "no episodes yet")
}

/// One line per event; used by `replay` too.
pub(super) fn event(item: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let mut line = format!(
        "{:<8} {}  {:<7} {}",
        item["id"].as_str().unwrap_or_default(),
        time(item, "start", "end", now, zone),
        item["kind"].as_str().unwrap_or_default(),
        item["text"].as_str().unwrap_or_default(),
    );
    if let Some(entity) = item["entity"].as_str() {
        write!(line, "  [{entity}]").expect("writing to a String");
    }
    line
}

fn whole_episode(found: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let mut lines = vec![format!(
        "{}  {}  from {}",
        found["id"].as_str().unwrap_or_default(),
        time(found, "start", "end", now, zone),
        found["source"].as_str().unwrap_or_default(),
    )];
    if let Some(media) = found["media"].as_str() {
        lines.push(format!("recording: {media}"));
    }
    lines.extend(items(found, "events").iter().map(|item| format!("  {}", event(item, now, zone))));
    let missing: Vec<&str> = items(found, "degraded").iter().filter_map(Json::as_str).collect();
    if !missing.is_empty() {
        lines.push(format!("missing then: {}", missing.join("; ")));
    }
    lines.join("\n")
}

fn stats(found: &Json) -> String {
    let mut lines = Vec::new();
    for (name, words) in [
        ("episodes", "episodes"),
        ("events", "events"),
        ("entities", "entities"),
        ("observations", "observations accepted"),
        ("hidden", "hidden events, bytes gone after compaction"),
        ("seq", "last commit"),
    ] {
        lines.push(format!("{:>10}  {words}", found[name].to_string()));
    }
    lines.push(format!("{:>10}  on disk", output::bytes(found["disk_bytes"].as_u64().unwrap_or(0))));
    lines.push(format!("instance    {}", found["instance"].as_str().unwrap_or_default()));
    lines.join("\n")
}
