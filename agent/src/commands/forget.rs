//! `engram forget`: says what it would hide, asks, and hides it. Asks the agent that runs; without one, opens the store.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use memory_core::{EpisodeId, EventId, ForgetError, ForgetRequest, SystemClock, TimeSpan};
use serde_json::{Value as Json, json};

use super::place::{self, CommandTarget};
use crate::cli::{ForgetArgs, GlobalArgs};
use crate::config::{Config, Directories};
use crate::exit::{Exit, Failure, OrExit};
use crate::mqtt::forget::{forgotten, preview};
use crate::output::Output;
use crate::{llm, media, opening, when};

/// Runs the command.
///
/// # Errors
/// See the exit codes.
pub fn run(args: &ForgetArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config;
    let request = request(args, config)?;
    let clock = Arc::new(SystemClock::new());
    let place = if args.offline {
        CommandTarget::Store(opening::existing_memory(config, clock)?)
    } else {
        place::open(&loaded, clock)?
    };
    let patience = Duration::from_secs_f64(args.timeout);
    let shown = match &place {
        CommandTarget::Store(memory) => {
            let links = super::inspect::links(config)?;
            preview(&memory.preview_forget(&request).map_err(refused)?, &opening::zone(config)?, &links)
        }
        CommandTarget::Agent(agent) => agent.command(config, "forget_preview", body(&request), patience)?,
    };
    if !args.yes {
        confirm(&shown, output)?;
    }
    let done = match &place {
        CommandTarget::Store(memory) => {
            let reply = memory.forget(&request).map_err(refused)?;
            let is_visible = |event| matches!(memory.event(EventId(event)), Ok(Some(_)));
            llm::forget_known_facts(&Directories::from_config(config).data, is_visible);
            let left = media::delete_forgotten(memory, &media::Recordings::open(config)?);
            if left > 0 {
                let message = format!(
                    "it is hidden, and {left} recordings of it could not be deleted: see the log, and run it again"
                );
                return Err(Failure::new(Exit::Store, message));
            }
            forgotten(&reply)
        }
        CommandTarget::Agent(agent) => agent.command(config, "forget", body(&request), patience)?,
    };
    if output.json {
        output.json(&done);
    } else {
        output.text(summary(&done));
    }
    Ok(Exit::Ok)
}

fn refused(error: ForgetError) -> Failure {
    match error {
        ForgetError::Invalid(message) => Failure::new(Exit::Refused, message),
        other => Failure::new(Exit::Store, other.to_string()),
    }
}

fn request(args: &ForgetArgs, config: &Config) -> Result<ForgetRequest, Failure> {
    if let Some(entity) = &args.entity {
        return Ok(ForgetRequest::Entity(entity.clone()));
    }
    if let (Some(since), Some(until)) = (&args.since, &args.until) {
        let (zone, now) = (opening::zone(config)?, memory_core::Clock::now(&SystemClock::new()));
        let point = |text: &str| when::parse(text, now, &zone).map_err(|message| Failure::new(Exit::Usage, message));
        let (since, until) = (point(since)?, point(until)?);
        if since > until {
            return Err(Failure::new(Exit::Usage, "--since is later than --until; swap them"));
        }
        return Ok(ForgetRequest::Span(TimeSpan::new(since, until)));
    }
    let id = |text: &String| {
        let wrong = || Failure::new(Exit::Usage, format!("`{text}` is no episode; write one such as ep-12"));
        text.parse::<EpisodeId>().map_err(|_| wrong())
    };
    args.episodes.iter().map(id).collect::<Result<_, _>>().map(ForgetRequest::Episodes)
}

fn body(request: &ForgetRequest) -> Json {
    match request {
        ForgetRequest::Episodes(ids) => {
            json!({ "episodes": ids.iter().map(ToString::to_string).collect::<Vec<_>>() })
        }
        ForgetRequest::Entity(name) => json!({ "entity": name }),
        ForgetRequest::Span(span) => json!({ "since": span.start.to_string(), "until": span.end.to_string() }),
    }
}

/// Shows what would be hidden and asks, where there is somebody to ask.
#[allow(clippy::print_stderr, reason = "a question to the person at the terminal, not output")]
fn confirm(shown: &Json, output: Output) -> Result<(), Failure> {
    if output.json || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let message =
            format!("{}; nothing was hidden, because it cannot ask for confirmation here; use --yes", plan(shown));
        return Err(Failure::new(Exit::Refused, message));
    }
    eprintln!("{}", plan(shown));
    eprint!("Hide it for good? [y/N] ");
    std::io::stderr().flush().or_exit(Exit::Internal)?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).or_exit(Exit::Internal)?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::new(Exit::Refused, "nothing was hidden")),
    }
}

/// Formats what would be hidden, in lines.
fn plan(shown: &Json) -> String {
    let number = |name: &str| shown[name].as_u64().unwrap_or(0);
    let mut lines =
        vec![format!("{} events would be hidden, and {} episodes whole", number("events"), number("episodes"))];
    let events = shown["shown"].as_array().map_or(&[][..], Vec::as_slice);
    for event in events {
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let words: String = text("text").chars().take(100).collect();
        lines.push(format!("  {} {} {words}", text("start"), text("id")));
    }
    if number("events") > events.len() as u64 {
        lines.push(format!("  and {} more", number("events") - events.len() as u64));
    }
    lines.extend(doubt(shown));
    lines.join("\n")
}

fn summary(done: &Json) -> String {
    let number = |name: &str| done[name].as_u64().unwrap_or(0);
    let mut lines = vec![format!("{} events hidden, and {} episodes whole", number("events"), number("episodes"))];
    lines.extend(doubt(done));
    lines.join("\n")
}

fn doubt(told: &Json) -> Option<String> {
    let count = told["doubtful"].as_u64().filter(|count| *count > 0)?;
    let ids: Vec<&str> = told["in_doubt"].as_array()?.iter().filter_map(Json::as_str).take(10).collect();
    Some(format!("{count} more may be about it and stay: {}", ids.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_hidden_is_shown_before_it_is() {
        let shown = json!({
            "events": 3, "episodes": 1, "doubtful": 1, "in_doubt": ["ev-9"],
            "shown": [{"id": "ev-1", "start": "2026-11-20T08:00:00Z", "text": "hello"}],
        });
        assert_eq!(
            plan(&shown),
            "3 events would be hidden, and 1 episodes whole\n  2026-11-20T08:00:00Z ev-1 hello\n  and 2 more\n\
             1 more may be about it and stay: ev-9"
        );
        assert_eq!(summary(&json!({"events": 1, "episodes": 0})), "1 events hidden, and 0 episodes whole");
    }
}
