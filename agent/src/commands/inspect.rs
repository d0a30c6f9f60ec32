//! `engram inspect`: looks into the store, or, while an agent holds it, asks that agent.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use memory_core::{
    Clock, EpisodeFilter, EpisodeId, EventId, FactFilter, GistFilter, Level, Memory, SystemClock, TimeSpan, Timestamp,
};
use serde_json::{Value as Json, json};

use super::place::{self, CommandTarget, RunningAgent};
use super::requester::REPLY_TIMEOUT;
use crate::cli::{GlobalArgs, InspectArgs, InspectCommand};
use crate::config::{Config, Loaded};
use crate::exit::{Exit, Failure, OrExit};
use crate::media::{MediaLinks, Recordings};
use crate::mqtt::entities::{self, List};
use crate::mqtt::episodes::{EventList, episode, event_body, page};
use crate::mqtt::places;
use crate::output::Output;
use crate::{opening, output, when};

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
    let found = match place::open(&loaded, clock)? {
        CommandTarget::Store(memory) => read(&memory, &args.what, now, &zone, &links(config)?)?,
        CommandTarget::Agent(agent) => by_mqtt(&agent, config, &args.what, now, &zone)?,
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

/// One episode, by the store or by the agent that holds it; `None` if there is none.
///
/// # Errors
/// See the exit codes.
pub(super) fn one_episode(
    loaded: &Loaded,
    clock: Arc<SystemClock>,
    id: EpisodeId,
    zone: &TimeZone,
) -> Result<Option<Json>, Failure> {
    match place::open(loaded, clock)? {
        CommandTarget::Store(memory) => {
            let found = memory.episode(id).or_exit(Exit::Store)?;
            let links = links(&loaded.config)?;
            Ok(found.map(|(whole, events)| episode(&whole, &events, zone, &links)["episode"].take()))
        }
        CommandTarget::Agent(agent) => {
            let body = json!({ "episode": id.to_string() });
            agent.command(&loaded.config, "get", body, REPLY_TIMEOUT).map(|mut reply| Some(reply["episode"].take()))
        }
    }
}

/// A page of episodes, by the store or by the agent that holds it.
///
/// # Errors
/// See the exit codes.
pub(super) fn list_episodes(
    loaded: &Loaded,
    clock: Arc<SystemClock>,
    filter: &EpisodeFilter,
    zone: &TimeZone,
) -> Result<Json, Failure> {
    match place::open(loaded, clock)? {
        CommandTarget::Store(memory) => {
            Ok(page(&memory.episodes(filter).or_exit(Exit::Store)?, zone, &links(&loaded.config)?))
        }
        CommandTarget::Agent(agent) => {
            let at = |end: fn(&TimeSpan) -> Timestamp| filter.span.as_ref().map(|span| end(span).format(zone));
            let body = json!({ "since": at(|span| span.start), "until": at(|span| span.end), "limit": filter.limit });
            agent.command(&loaded.config, "list", body, REPLY_TIMEOUT)
        }
    }
}

/// Returns where recordings can be viewed from this machine.
pub(super) fn links(config: &Config) -> Result<MediaLinks, Failure> {
    Ok(MediaLinks::new(Recordings::open(config)?, &config.recording.server))
}

fn read(
    memory: &Memory,
    what: &InspectCommand,
    now: Timestamp,
    zone: &TimeZone,
    links: &MediaLinks,
) -> Result<Option<Json>, Failure> {
    Ok(match what {
        InspectCommand::Episodes { id: Some(id), .. } => {
            let found = memory.episode(episode_id(id)?).or_exit(Exit::Store)?;
            found.map(|(whole, events)| episode(&whole, &events, zone, links))
        }
        InspectCommand::Episodes { id: None, since, until, entity, place, near, limit, cursor } => {
            let filter = EpisodeFilter {
                span: span(since.as_deref(), until.as_deref(), now, zone)?,
                entity: entity.clone(),
                place: place.clone(),
                near: near.clone(),
                cursor: cursor.as_deref().map(episode_id).transpose()?,
                limit: Some(*limit),
                budget: None,
            };
            Some(page(&memory.episodes(&filter).or_exit(Exit::Store)?, zone, links))
        }
        InspectCommand::Events { after, near, limit } => {
            let list = EventList { after: after.map(EventId), near: near.clone(), limit: *limit };
            let events = list.read_events(memory).or_exit(Exit::Store)?;
            let next = (events.len() == *limit).then(|| events.last().map(|event| event.id.0)).flatten();
            let events: Vec<Json> = events.iter().map(|event| event_body(event, zone, links)).collect();
            Some(json!({ "events": events, "next": next }))
        }
        InspectCommand::Entities { limit } => Some(entities::entities(memory, *limit, zone).or_exit(Exit::Store)?),
        InspectCommand::Facts { subject, about, past, limit } => {
            let (subject, about) = (subject.clone(), about.clone());
            let filter = FactFilter { subject, about, past: *past, limit: Some(*limit), budget: None };
            Some(List::Facts(filter).list(memory, zone, Duration::MAX).or_exit(Exit::Store)?)
        }
        InspectCommand::Gists { level, since, until, limit } => {
            let level = Level::ALL.into_iter().find(|one| one.name() == level.as_str()).unwrap_or(Level::Hour);
            let span = span(since.as_deref(), until.as_deref(), now, zone)?;
            let filter = GistFilter { level, span, limit: Some(*limit), budget: None };
            Some(List::Gists(filter).list(memory, zone, Duration::MAX).or_exit(Exit::Store)?)
        }
        InspectCommand::Places { limit } => Some(places::list(memory, *limit, zone).or_exit(Exit::Store)?),
        InspectCommand::Stats => Some(entities::stats(memory)),
    })
}

fn by_mqtt(
    agent: &RunningAgent,
    config: &Config,
    what: &InspectCommand,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Option<Json>, Failure> {
    let time = |text: &Option<String>| -> Result<Option<String>, Failure> {
        text.as_deref().map(|text| point(text, now, zone)).transpose().map(|at| at.map(|at| at.format(zone)))
    };
    let (command, body) = match what {
        InspectCommand::Episodes { id: Some(id), .. } => ("get", json!({ "episode": id })),
        InspectCommand::Episodes { id: None, since, until, entity, place, near, limit, cursor } => {
            let (since, until) = (time(since)?, time(until)?);
            let body = json!({
                "since": since, "until": until, "entity": entity, "place": place, "limit": limit, "cursor": cursor,
                "near": crate::json::pose::near_body(near.as_ref()),
            });
            ("list", body)
        }
        InspectCommand::Entities { limit } => ("list", json!({ "of": "entities", "limit": limit })),
        InspectCommand::Facts { subject, about, past, limit } => {
            ("list", json!({ "of": "facts", "subject": subject, "about": about, "past": past, "limit": limit }))
        }
        InspectCommand::Gists { level, since, until, limit } => {
            let (since, until) = (time(since)?, time(until)?);
            ("list", json!({ "of": "gists", "level": level, "since": since, "until": until, "limit": limit }))
        }
        InspectCommand::Events { after, near, limit } => {
            let cursor = after.map(|after| EventId(after).to_string());
            let near = crate::json::pose::near_body(near.as_ref());
            ("list", json!({ "of": "events", "cursor": cursor, "near": near, "limit": limit }))
        }
        InspectCommand::Places { limit } => ("list", json!({ "of": "places", "limit": limit })),
        InspectCommand::Stats => ("list", json!({ "of": "stats" })),
    };
    let mut reply = agent.command(config, command, body, REPLY_TIMEOUT)?;
    if matches!(what, InspectCommand::Events { .. }) {
        // As the store itself says it, a number.
        let next = reply["next"].as_str().and_then(|next| next.parse::<EventId>().ok());
        reply["next"] = json!(next.map(|next| next.0));
    }
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
        InspectCommand::Entities { .. } => super::entity::text(found),
        InspectCommand::Facts { .. } => {
            let lines = items(found, "facts").iter().map(|item| fact(item, now, zone));
            lines_or(lines.collect(), "no facts yet")
        }
        InspectCommand::Gists { .. } => {
            let lines = items(found, "gists").iter().map(|item| {
                format!("{}\n  {}", time(item, "start", "end", now, zone), item["summary"].as_str().unwrap_or_default())
            });
            lines_or(lines.collect(), "no summaries yet: nothing happened then")
        }
        InspectCommand::Places { .. } => {
            let lines = items(found, "places").iter().map(|item| place_line(item, now, zone));
            lines_or(
                lines.collect(),
                "no place has a name yet: say \"This is the kitchen.\" there, or use cmd/name_place",
            )
        }
        InspectCommand::Stats => stats(found),
    }
}

fn place_line(item: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let pose = &item["pose"];
    let number = |name: &str| pose[name].as_f64().unwrap_or_default();
    let at = match pose["frame"].as_str() {
        Some(frame) => format!("at x {:.1} m, y {:.1} m on {frame}", number("x"), number("y")),
        None if item["known_by"] == "words" => return spoken_line(item, now, zone),
        None => "without a position".to_owned(),
    };
    let visits = match item["visits"].as_u64() {
        None | Some(0) => "no visits".to_owned(),
        Some(count) => format!(
            "{count} {}, {} in all, {}",
            if count == 1 { "visit" } else { "visits" },
            duration_text(item["lasted_s"].as_u64().unwrap_or_default()),
            time(item, "first", "last", now, zone)
        ),
    };
    format!("{:<20} {at}; {visits}", item["name"].as_str().unwrap_or_default())
}

/// A place that somebody only spoke of: how often and when.
fn spoken_line(item: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let times = match item["named"].as_u64().unwrap_or_default() {
        1 => "once".to_owned(),
        times => format!("{times} times"),
    };
    let name = item["name"].as_str().unwrap_or_default();
    format!("{name:<20} known from words alone; spoken of {times}, {}", time(item, "first", "last", now, zone))
}

/// "1 h 20 min", "45 s".
fn duration_text(seconds: u64) -> String {
    match (seconds / 3_600, seconds % 3_600 / 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
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

fn fact(item: &Json, now: Timestamp, zone: &TimeZone) -> String {
    let word = |name: &str| item[name].as_str().unwrap_or_default();
    let over = if item["until"].is_null() { String::new() } else { format!(", until {}", word("until")) };
    format!(
        "{}: {} {}  (since {}{over}; told {}, last in {})",
        word("subject"),
        word("attribute"),
        word("value"),
        time(item, "since", "since", now, zone),
        match item["evidence"].as_array().map_or(0, Vec::len) {
            1 => "once".to_owned(),
            more => format!("{more} times"),
        },
        item["evidence"].as_array().and_then(|events| events.last()).and_then(Json::as_str).unwrap_or_default(),
    )
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
        ("facts", "attributes that something is known of"),
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
