//! `engram observe`.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memory_core::{Clock, Memory, SystemClock};
use serde_json::{Map, Value as Json, json};

use super::{block_on, offline, requester};
use crate::cli::{GlobalArgs, ObserveArgs};
use crate::config::Config;
use crate::exit::{Exit, Failure, OrExit};
use crate::output::{Output, progress};
use crate::{opening, when};

/// Maximum number of observations in one request.
const BATCH_ITEMS: usize = 500;
/// Maximum number of rejections printed one by one; more are counted.
const MAX_SHOWN: usize = 20;

/// Tells the memory one thing, or a file of them.
///
/// # Errors
/// See the exit codes; [`Exit::Refused`] if anything was rejected.
pub fn run(args: &ObserveArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config;
    let mut source: Box<dyn Iterator<Item = Result<Json, Failure>>> = match &args.file {
        Some(path) => observations(path)?,
        None => Box::new(std::iter::once(Ok(single(args, config)?))),
    };
    let mut batches =
        Batches { ceiling: config.mqtt.limits.observe_bytes * 3 / 4, taken: 0, held: None, source: &mut source };
    let mut total = Total::default();
    let bar = progress(None, "{spinner} {pos} observations, {per_sec}, {elapsed}");
    if args.offline {
        let memory = opening::memory(config, Arc::new(SystemClock::new()))?;
        while let Some(batch) = batches.next()? {
            total.add(&batch, offline::observe(&memory, config, &Json::Array(batch.items.clone()))?);
            bar.inc(batch.items.len() as u64);
        }
        work_off(&memory, config)?;
    } else {
        block_on(by_mqtt(config, &mut batches, &mut total, Duration::from_secs_f64(args.timeout), &bar))
            .map_err(|failure| requester::with_origins(failure, &loaded))?;
    }
    bar.finish_and_clear();
    total.print(output);
    Ok(if total.rejected.is_empty() { Exit::Ok } else { Exit::Refused })
}

async fn by_mqtt(
    config: &Config,
    batches: &mut Batches<'_>,
    total: &mut Total,
    patience: Duration,
    bar: &indicatif::ProgressBar,
) -> Result<(), Failure> {
    let client = requester::connect(config).await?;
    while let Some(batch) = batches.next()? {
        let reply = client.observe(Json::Array(batch.items.clone()), patience).await;
        total.add(&batch, requester::checked(reply)?);
        bar.inc(batch.items.len() as u64);
    }
    client.close().await;
    Ok(())
}

/// Nobody else will: the store is closed again after this command.
fn work_off(memory: &Memory, config: &Config) -> Result<(), Failure> {
    offline::give_text_models(memory, config, offline::FINDING);
    let mut pending = memory.stats().pending_embeddings;
    while pending > 0 {
        let left = memory.embed_pending(256).or_exit(Exit::Store)?.embeddings;
        if left >= pending {
            break;
        }
        pending = left;
    }
    while memory.learn_pending(4096).or_exit(Exit::Store)?.has_lessons() {}
    Ok(())
}

fn single(args: &ObserveArgs, config: &Config) -> Result<Json, Failure> {
    let zone = opening::zone(config)?;
    let now = SystemClock::new().now();
    let mut item = Map::new();
    let mut put = |name: &str, value: Json| drop(item.insert(name.to_owned(), value));
    put("text", json!(args.text));
    put("kind", json!(args.kind));
    put("source", json!(args.source));
    for (name, value) in [("entity", &args.entity), ("id", &args.id)] {
        if let Some(value) = value {
            put(name, json!(value));
        }
    }
    for (name, value) in [("at", &args.at), ("until", &args.until)] {
        if let Some(text) = value {
            let at = when::parse(text, now, &zone)
                .map_err(|message| Failure::new(Exit::Usage, format!("--{name}: {message}")))?;
            put(name, json!(at.format(&zone)));
        }
    }
    if let Some(pose) = &args.pose {
        put("pose", crate::json::pose::body(Some(pose)));
    }
    if let Some(confidence) = args.confidence {
        put("confidence", json!(confidence));
    }
    if !args.attributes.is_empty() {
        let attributes: Map<String, Json> =
            args.attributes.iter().map(|(key, value)| (key.clone(), attribute(value))).collect();
        put("attributes", Json::Object(attributes));
    }
    Ok(Json::Object(item))
}

/// `3` and `true` mean what they mean in JSON; everything else is a text.
fn attribute(text: &str) -> Json {
    match serde_json::from_str::<Json>(text) {
        Ok(value @ (Json::Bool(_) | Json::Number(_))) => value,
        _ => Json::String(text.to_owned()),
    }
}

/// The items of a file: JSON lines, or one list.
fn observations(path: &Path) -> Result<Box<dyn Iterator<Item = Result<Json, Failure>>>, Failure> {
    let shown = path.display().to_string();
    let fault = move |line: usize, message: String| Failure::new(Exit::Source, format!("{shown}:{line}: {message}"));
    let reader: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(|error| fault(0, format!("cannot be read: {error}")))?)
    };
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    let first = reader.fill_buf().map_err(|error| fault(1, error.to_string()))?;
    let is_list = first.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    if is_list {
        let items: Vec<Json> = serde_json::from_reader(reader)
            .map_err(|error| fault(error.line(), format!("is not a JSON list: {error}")))?;
        return Ok(Box::new(items.into_iter().map(Ok)));
    }
    let lines = reader.lines().enumerate().filter_map(move |(index, line)| {
        let item = match line {
            Ok(line) if line.trim().is_empty() => return None,
            Ok(line) => serde_json::from_str(&line).map_err(|error| fault(index + 1, format!("is not JSON: {error}"))),
            Err(error) => Err(fault(index + 1, error.to_string())),
        };
        Some(item)
    });
    Ok(Box::new(lines))
}

struct Batch {
    /// Position of the first item in the input.
    first: usize,
    items: Vec<Json>,
}

/// Cuts the input into requests that the agent takes.
struct Batches<'a> {
    ceiling: usize,
    taken: usize,
    held: Option<Json>,
    source: &'a mut dyn Iterator<Item = Result<Json, Failure>>,
}

impl Batches<'_> {
    fn next(&mut self) -> Result<Option<Batch>, Failure> {
        let first = self.taken;
        let mut items = Vec::new();
        let mut bytes = 0;
        while items.len() < BATCH_ITEMS {
            let Some(item) = self.held.take().map(Ok).or_else(|| self.source.next()) else { break };
            let item = item?;
            let size = item.to_string().len() + 1;
            if !items.is_empty() && bytes + size > self.ceiling {
                self.held = Some(item);
                break;
            }
            bytes += size;
            items.push(item);
        }
        self.taken += items.len();
        Ok((!items.is_empty()).then_some(Batch { first, items }))
    }
}

#[derive(Default)]
struct Total {
    accepted: u64,
    duplicates: u64,
    rejected: Vec<Json>,
    seq: Json,
}

impl Total {
    fn add(&mut self, batch: &Batch, reply: Json) {
        self.accepted += reply["accepted"].as_u64().unwrap_or(0);
        self.duplicates += reply["duplicates"].as_u64().unwrap_or(0);
        for mut item in reply["rejected"].as_array().cloned().unwrap_or_default() {
            // Positions in a request mean nothing to the user; positions in the input do.
            if let Some(index) = item["index"].as_u64() {
                item["index"] = json!(index + batch.first as u64);
            }
            self.rejected.push(item);
        }
        self.seq = reply["seq"].clone();
    }

    fn print(&self, output: Output) {
        if output.json {
            output.json(&json!({
                "accepted": self.accepted, "duplicates": self.duplicates, "rejected": self.rejected, "seq": self.seq,
            }));
            return;
        }
        let mut line = format!("{} remembered", self.accepted);
        if self.duplicates > 0 {
            line.push_str(&format!(", {} known already", self.duplicates));
        }
        if !self.rejected.is_empty() {
            line.push_str(&format!(", {} rejected", self.rejected.len()));
        }
        output.text(line);
        for item in self.rejected.iter().take(MAX_SHOWN) {
            let message = item["error"]["message"].as_str().unwrap_or_default();
            output.text(format!("  item {}: {message}", item["index"]));
        }
        if self.rejected.len() > MAX_SHOWN {
            output.text(format!("  … and {} more", self.rejected.len() - MAX_SHOWN));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(items: Vec<Json>, ceiling: usize) -> Vec<(usize, usize)> {
        let mut source = items.into_iter().map(Ok);
        let mut batches = Batches { ceiling, taken: 0, held: None, source: &mut source };
        let mut found = Vec::new();
        while let Some(batch) = batches.next().unwrap() {
            found.push((batch.first, batch.items.len()));
        }
        found
    }

    #[test]
    fn a_file_is_cut_into_requests_by_count_and_by_size_and_nothing_is_lost() {
        let items = |count| vec![json!({"text": "a"}); count];
        assert_eq!(batches(items(1001), 1 << 20), [(0, 500), (500, 500), (1000, 1)]);
        assert_eq!(batches(items(5), 26), [(0, 2), (2, 2), (4, 1)]);
        // One that is too large by itself is sent all the same: the agent says why it refuses it.
        assert_eq!(batches(items(2), 3), [(0, 1), (1, 1)]);
        assert_eq!(batches(Vec::new(), 3), []);
    }

    #[test]
    fn positions_of_rejections_are_those_of_the_input() {
        let mut total = Total::default();
        let reply = json!({"accepted": 1, "duplicates": 0, "rejected": [{"index": 1, "id": null}], "seq": 7});
        total.add(&Batch { first: 500, items: Vec::new() }, reply);
        assert_eq!(total.rejected[0]["index"], 501);
    }

    #[test]
    fn files_are_read_as_lines_or_as_one_list_and_a_fault_names_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            let path = directory.path().join("o.jsonl");
            std::fs::write(&path, text).unwrap();
            observations(&path).and_then(Iterator::collect::<Result<Vec<Json>, Failure>>)
        };
        assert_eq!(read("{\"text\": \"a\"}\n\n{\"text\": \"b\"}\n").unwrap().len(), 2);
        assert_eq!(read(" [{\"text\": \"a\"}, {\"text\": \"b\"}]").unwrap().len(), 2);
        let fault = read("{\"text\": \"a\"}\n{oops\n").unwrap_err();
        assert!(fault.error.to_string().contains("o.jsonl:2:"), "{}", fault.error);
        assert_eq!(fault.exit, Exit::Source);
    }

    #[test]
    fn attributes_are_numbers_and_flags_where_they_read_like_them() {
        assert_eq!(attribute("3"), json!(3));
        assert_eq!(attribute("true"), json!(true));
        assert_eq!(attribute("kitchen"), json!("kitchen"));
        assert_eq!(attribute("[1]"), json!("[1]"));
    }
}
