//! `engram ask`.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use memory_core::{Clock, Near, Query, SystemClock, Timestamp};
use serde_json::{Value as Json, json};

use super::{answer_text, block_on, requester};
use crate::cli::{AskArgs, GlobalArgs};
use crate::config::Config;
use crate::exit::{Exit, Failure};
use crate::json::pose::near_body;
use crate::output::{Output, progress};
use crate::{opening, when};

/// Additional time after the deadline for the answer to arrive.
const REPLY_GRACE: Duration = Duration::from_millis(500);

/// Asks and prints the answer.
///
/// # Errors
/// See the exit codes; [`Exit::Nothing`] if memory holds no evidence.
pub fn run(args: &AskArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config;
    let clock = SystemClock::new();
    let zone = opening::zone(config)?;
    let now = clock.now();
    let time = |flag: &str, text: &Option<String>| -> Result<Option<Timestamp>, Failure> {
        let read = text.as_deref().map(|text| when::parse(text, now, &zone)).transpose();
        read.map_err(|message| Failure::new(Exit::Usage, format!("--{flag}: {message}")))
    };
    let question = AskedQuestion {
        text: args.question.clone(),
        options: args.options.clone(),
        since: time("since", &args.since)?,
        until: time("until", &args.until)?,
        now: time("now", &args.now)?,
        top_k: usize::from(args.top_k),
        near: args.near.clone(),
        trace: args.trace,
        patience: Duration::from_secs_f64(args.timeout.unwrap_or(if args.effort == "thorough" { 60.0 } else { 10.0 })),
        effort: args.effort.clone(),
        conversation: args.conversation.clone(),
        progress: !output.json && std::io::stderr().is_terminal(),
    };
    let answer = if args.offline {
        offline(config, &question, &zone)?
    } else {
        block_on(by_mqtt(config, &question, &zone)).map_err(|failure| requester::with_origins(failure, &loaded))?
    };
    if output.json {
        output.json(&answer);
    } else {
        output.text(answer_text::write(&answer, &args.options, question.now.unwrap_or(now), &zone));
    }
    Ok(if answer["route"] == "none" { Exit::Nothing } else { Exit::Ok })
}

struct AskedQuestion {
    text: String,
    options: Vec<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    now: Option<Timestamp>,
    near: Option<Near>,
    top_k: usize,
    trace: bool,
    patience: Duration,
    effort: String,
    conversation: Option<String>,
    /// Whether somebody sees how far looking again has come.
    progress: bool,
}

async fn by_mqtt(config: &Config, question: &AskedQuestion, zone: &jiff::tz::TimeZone) -> Result<Json, Failure> {
    let client = requester::connect(config).await?;
    let time = |at: Option<Timestamp>| at.map(|at| at.format(zone));
    let tag = format!("cli-{}", std::process::id());
    let body = json!({
        "request_id": tag,
        "question": question.text,
        "options": question.options,
        "since": time(question.since),
        "until": time(question.until),
        "now": time(question.now),
        "near": near_body(question.near.as_ref()),
        "top_k": question.top_k,
        "trace": question.trace,
        "effort": question.effort,
        "conversation": question.conversation,
        "deadline_ms": u64::try_from(question.patience.as_millis()).unwrap_or(u64::MAX),
    });
    let bar = progress(None, "{spinner} {msg}");
    if question.progress {
        let bar = bar.clone();
        client.on_reasoning(&tag, move |step| bar.set_message(step_line(step))).await;
    }
    // The agent's own deadline ends first, so that its reason is heard.
    let answer = client.ask(body, question.patience + REPLY_GRACE).await;
    bar.finish_and_clear();
    client.close().await;
    requester::checked(answer)
}

/// A step of looking again, as a line of progress.
fn step_line(step: &Json) -> String {
    let tool = step["tool"].as_str().unwrap_or_default().replace('_', " ");
    format!("looking again: step {} of at most {}, {tool}", step["step"], step["steps"])
}

fn offline(config: &Config, question: &AskedQuestion, zone: &jiff::tz::TimeZone) -> Result<Json, Failure> {
    let clock = Arc::new(SystemClock::new());
    let memory = opening::existing_memory(config, clock)?;
    super::offline::give_text_models(&memory, config, super::offline::ANSWERING);
    let query = Query {
        question: question.text.clone(),
        options: question.options.clone(),
        since: question.since,
        until: question.until,
        now: question.now,
        top_k: question.top_k,
        budget: Some(question.patience),
        trace: question.trace,
        near: question.near.clone(),
        ..Query::default()
    };
    super::offline::ask(&memory, &query, zone, &super::inspect::links(config)?)
}
