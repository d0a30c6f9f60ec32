//! `engram search`: finds events by their words, and what is like one. Asks the agent that runs, or, if none holds the store, the store.

use std::io::IsTerminal as _;
use std::sync::Arc;

use jiff::tz::TimeZone;
use memory_core::word_search::{Snippet, WordSearchError};
use memory_core::{Clock, Memory, SystemClock, Timestamp};
use serde_json::{Map, Value as Json, json};

use super::place::{self, CommandTarget};
use super::requester::REPLY_TIMEOUT;
use crate::cli::{GlobalArgs, SearchArgs};
use crate::exit::{Exit, Failure};
use crate::json::fields::{Fields, TimeBase};
use crate::media::MediaLinks;
use crate::mqtt::search;
use crate::output::{Output, visible};
use crate::{opening, when};

/// Searches and prints what was found.
///
/// # Errors
/// See the exit codes; [`Exit::Nothing`] if no event matches.
pub fn run(args: &SearchArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config;
    let zone = opening::zone(config)?;
    let clock = Arc::new(SystemClock::new());
    let now = clock.now();
    let order = match (&args.like, args.best) {
        (Some(_), _) => None,
        (None, true) => Some("relevance"),
        (None, false) => Some("newest"),
    };
    let near = crate::json::pose::near_body(args.near.as_ref());
    let query = (!args.query.is_empty()).then(|| args.query.join(" "));
    let body = json!({
        "query": query, "order": order, "limit": args.limit, "near": near, "similar_to": args.like, "likeness": args.likeness,
    });
    let reply = match place::open(&loaded, clock)? {
        CommandTarget::Store(memory) => {
            if args.like.is_some() {
                // Vectors are those of the model's space. Without it nothing can be compared, and the reply says so.
                super::offline::give_text_models(&memory, config, super::offline::FINDING);
            }
            let fields = Map::from_iter(body.as_object().cloned().unwrap_or_default());
            offline(&memory, &fields, now, &zone, &super::inspect::links(config)?)?
        }
        CommandTarget::Agent(agent) => agent.command(config, "search", body, REPLY_TIMEOUT)?,
    };
    if output.json {
        output.json(&reply);
    } else {
        let bold = std::io::stdout().is_terminal();
        let of_episodes = args.like.as_deref().is_some_and(|id| id.starts_with("ep-"));
        output.styled(text(
            &reply,
            of_episodes,
            now,
            &zone,
            if bold { ("\u{1b}[1m", "\u{1b}[0m") } else { ("[", "]") },
        ));
    }
    Ok(if reply["count"] == 0 { Exit::Nothing } else { Exit::Ok })
}

fn offline(
    memory: &Memory,
    fields: &Map<String, Json>,
    now: Timestamp,
    zone: &TimeZone,
    links: &MediaLinks,
) -> Result<Json, Failure> {
    let moment = TimeBase { now, zone: zone.clone() };
    let query =
        search::read(Fields(fields), &moment).map_err(|refusal| Failure::new(Exit::Refused, refusal.message))?;
    let page = memory.search_words(&query).map_err(|error| {
        let exit = if matches!(error, WordSearchError::Read(_)) { Exit::Store } else { Exit::Refused };
        Failure::new(exit, error.to_string())
    })?;
    Ok(search::render(&page, &query, zone, links))
}

/// For people. Words of events may be a stranger's, so what a terminal would obey is made visible before marks are set.
fn text(reply: &Json, of_episodes: bool, now: Timestamp, zone: &TimeZone, (open, close): (&str, &str)) -> String {
    let list = |name: &str| reply[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let string = |item: &Json, name: &str| visible(item[name].as_str().unwrap_or_default()).into_owned();
    let line = |found: &Json| {
        let at = |name: &str| found[name].as_str().and_then(|text| Timestamp::parse(text).ok()).unwrap_or(now);
        let snippet = Snippet { text: string(found, "snippet"), marks: marks(&found["marks"]) };
        let who = found["entity"].as_str().map(|who| format!("{}: ", visible(who))).unwrap_or_default();
        let when = when::readable(at("start"), at("end"), now, zone);
        let mut ids = format!("{}, {}, {}", string(found, "kind"), string(found, "episode"), string(found, "event"));
        if let Some(score) = found["score"].as_f64().filter(|_| reply["order"] == "likeness") {
            ids.push_str(&format!(", likeness {score:.2}"));
        }
        format!("{when}  {who}{}  ({ids})", snippet.marked(open, close))
    };
    let mut lines: Vec<String> = list("found").iter().map(line).collect();
    let mut last = match reply["count"].as_u64().unwrap_or(0) {
        0 if of_episodes => "no episode is like it".to_owned(),
        0 => "no event matches".to_owned(),
        count => {
            let order = match reply["order"].as_str() {
                Some("relevance") => "best first",
                Some("likeness") => "most alike first",
                _ => "newest first",
            };
            format!("{} of {count} {}, {order}", lines.len(), if of_episodes { "episodes" } else { "events" })
        }
    };
    let words: Vec<String> =
        list("words").iter().map(|word| format!("{} in {}", string(word, "word"), word["events"])).collect();
    let ignored: Vec<&str> = list("ignored").iter().filter_map(Json::as_str).collect();
    for part in [words.join(", "), visible(&ignored.join(", ")).into_owned()].iter().zip(["", "left out: "]) {
        if !part.0.is_empty() {
            last = [&last, "; ", part.1, part.0].concat();
        }
    }
    lines.push(last);
    lines.join("\n")
}

fn marks(marks: &Json) -> Vec<std::ops::Range<usize>> {
    let end = |mark: &Json, at: usize| mark[at].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
    marks.as_array().into_iter().flatten().map(|mark| end(mark, 0)..end(mark, 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_time_words_and_ids_and_the_last_one_the_counts() {
        let now = Timestamp::parse("2026-11-20T12:00:00Z").unwrap();
        let reply = json!({
            "count": 12, "order": "newest", "words": [{"word": "mug", "events": 14}], "ignored": ["the"],
            "found": [{
                "event": "ev-42", "episode": "ep-12", "kind": "action", "entity": "Anna",
                "start": "2026-11-20T08:00:00Z", "end": "2026-11-20T08:00:05Z",
                "snippet": "puts the \u{1b}mug down", "marks": [[10, 13]],
            }],
        });
        let text = text(&reply, false, now, &TimeZone::UTC, ("[", "]"));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "today 08:00:00–08:00:05  Anna: puts the \u{fffd}[mug] down  (action, ep-12, ev-42)",
                "1 of 12 events, newest first; mug in 14; left out: the",
            ]
        );
    }
    #[test]
    fn what_is_alike_says_how_much_and_counts_what_it_lists() {
        let now = Timestamp::parse("2026-11-20T12:00:00Z").unwrap();
        let reply = json!({
            "count": 3, "order": "likeness", "words": [], "ignored": [],
            "found": [{
                "event": "ev-42", "episode": "ep-12", "kind": "text", "entity": null, "score": 0.8127,
                "start": "2026-11-20T08:00:00Z", "end": "2026-11-20T08:00:00Z", "snippet": "a mug", "marks": [],
            }],
        });
        let text = |of_episodes| text(&reply, of_episodes, now, &TimeZone::UTC, ("[", "]"));
        assert!(text(false).contains("a mug  (text, ep-12, ev-42, likeness 0.81)\n1 of 3 events, most alike first"));
        assert!(text(true).ends_with("1 of 3 episodes, most alike first"));
    }
}
