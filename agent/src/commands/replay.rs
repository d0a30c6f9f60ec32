//! `engram replay`: recordings into a memory, without a broker.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::capture::SourceState;
use drivers::encoders::Encoders;
use indicatif::ProgressBar;
use memory_core::{Clock, EpisodeFilter, EventId, Memory, Query, SystemClock, Timestamp};
use serde_json::{Value as Json, json};

use super::{answer_text, inspect, offline, run::source_name};
use crate::cli::{GlobalArgs, ReplayArgs, source_of_flag};
use crate::config::Config;
use crate::exit::{Exit, Failure, OrExit};
use crate::health::SourceHealth;
use crate::mqtt::commands::{event_body, page};
use crate::output::{Output, progress};
use crate::senses::{Source, encoders};
use crate::service::{MemoryService, ServiceOptions};
use crate::{opening, when};

/// How long what is queued may take to become durable at the end.
const DRAIN: Duration = Duration::from_secs(60);
/// Events read at once for the report.
const PAGE: usize = 1000;

/// Plays recordings and shows what was remembered of them.
///
/// # Errors
/// [`Exit::Source`] if a recording cannot be played; what came before it is kept.
pub fn run(args: &ReplayArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let (loaded, _) = super::prepare(global, true)?;
    let config = &loaded.config;
    // A wrong path should be told before minutes of work, not after.
    for file in &args.files {
        std::fs::File::open(file)
            .map_err(|error| Failure::new(Exit::Source, format!("{} cannot be read: {error}", file.display())))?;
    }
    let zone = opening::zone(config)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let memory = opening::memory(config, Arc::clone(&clock))?;
    let before = memory.stats();
    let (service, threads) =
        MemoryService::start(memory.clone(), ServiceOptions::default(), Arc::clone(&clock)).or_exit(Exit::Internal)?;
    let spinner = bar(output, None, "{spinner} loading encoders {elapsed}");
    spinner.enable_steady_tick(Duration::from_millis(100));
    let encoders = encoders::load(&config.models, None)?;
    encoders.wait_ready();
    memory.set_absent_roles(encoders.absent_roles());
    service.set_text_embedder(encoders.text_embedder());
    spinner.finish_and_clear();

    let mut played = Vec::new();
    let mut failed = None;
    for file in &args.files {
        let one = play(file, args, config, &encoders, &service, &clock, output)?;
        if one.health.state == "failed" {
            let reason = one.health.error.clone().unwrap_or_else(|| format!("{} cannot be played", file.display()));
            failed.get_or_insert(reason);
        }
        played.push(one);
    }
    embed(&service, encoders.text_embedder().is_some(), output);
    threads.drain(DRAIN);

    let answers = questions(args, &memory, &zone)?;
    let report = Report { before: before.seq, events: before.events, played, memory: &memory, answers, args };
    report.print(output, clock.now(), &zone)?;
    match failed {
        Some(reason) => Err(Failure::new(Exit::Source, reason)),
        None => Ok(Exit::Ok),
    }
}

struct Played {
    file: String,
    health: SourceHealth,
    stream: Duration,
    took: Duration,
}

fn play(
    file: &Path,
    args: &ReplayArgs,
    config: &Config,
    encoders: &Encoders,
    service: &MemoryService,
    clock: &Arc<dyn Clock>,
    output: Output,
) -> Result<Played, Failure> {
    let uri = format!("file:{}", file.display());
    let source = source_of_flag(&uri, Some(args.speed), &args.playback);
    let begin = Instant::now();
    let source = Source::start(
        &source_name(&uri),
        &source,
        &config.segments,
        encoders.clone(),
        Arc::new(service.clone()),
        Arc::clone(clock),
    )
    .map_err(|message| Failure::new(Exit::Source, message))?;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    let bar = bar(output, None, "{spinner} {prefix} {msg}  {elapsed}");
    bar.set_prefix(name);
    while !source.wait_over(Duration::from_millis(200)) {
        let at = source.status().position;
        let speed = at.as_secs_f64() / begin.elapsed().as_secs_f64().max(0.001);
        let stats = service.memory().stats();
        let message = format!("{}  {speed:.1}x real time  {} events", when::stream(at), stats.events);
        bar.set_message(message);
        bar.tick();
    }
    source.stop();
    let status = source.status();
    let mut health = source.health();
    if status.state == SourceState::Failed {
        health.state = "failed".to_owned();
    }
    bar.finish_and_clear();
    Ok(Played { file: file.display().to_string(), health, stream: status.position, took: begin.elapsed() })
}

/// Waits for the embeddings, which come behind the commits.
fn embed(service: &MemoryService, possible: bool, output: Output) {
    let total = service.memory().stats().pending_embeddings;
    if !possible || total == 0 {
        return;
    }
    let bar = bar(output, Some(total), "{spinner} embedding {bar:30} {pos}/{len}  {elapsed}");
    loop {
        let pending = service.memory().stats().pending_embeddings;
        bar.set_position(total.saturating_sub(pending));
        if pending == 0 || service.counters().embedding.error.is_some() {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    bar.finish_and_clear();
}

fn bar(output: Output, length: Option<u64>, template: &str) -> ProgressBar {
    if output.json { ProgressBar::hidden() } else { progress(length, template) }
}

fn questions(args: &ReplayArgs, memory: &Memory, zone: &jiff::tz::TimeZone) -> Result<Vec<Json>, Failure> {
    let ask = |question: &String| {
        let query = Query { question: question.clone(), top_k: 5, ..Query::default() };
        offline::ask(memory, &query, zone)
    };
    args.questions.iter().map(ask).collect()
}

struct Report<'a> {
    before: u64,
    events: u64,
    played: Vec<Played>,
    memory: &'a Memory,
    answers: Vec<Json>,
    args: &'a ReplayArgs,
}

impl Report<'_> {
    fn print(&self, output: Output, now: Timestamp, zone: &jiff::tz::TimeZone) -> Result<(), Failure> {
        let stats = self.memory.stats();
        let filter = EpisodeFilter { limit: 100, ..EpisodeFilter::default() };
        let episodes = page(&self.memory.episodes(&filter).or_exit(Exit::Store)?, zone);
        let (events, more) = self.new_events(zone)?;
        let degraded = self.degraded()?;
        if output.json {
            let played: Vec<Json> = self
                .played
                .iter()
                .map(|one| {
                    json!({
                        "file": one.file, "source": one.health, "seconds": one.stream.as_secs_f64(),
                        "elapsed_s": one.took.as_secs_f64(),
                        "times_real_time": one.stream.as_secs_f64() / one.took.as_secs_f64().max(1e-3),
                    })
                })
                .collect();
            output.json(&json!({
                "played": played,
                "memory": {
                    "observations": stats.observations, "episodes": stats.episodes, "events": stats.events,
                    "new_events": stats.events.saturating_sub(self.events), "pending_embeddings": stats.pending_embeddings,
                },
                "episodes": episodes["episodes"], "events": events, "degraded": degraded, "answers": self.answers,
            }));
            return Ok(());
        }
        for one in &self.played {
            let seconds = one.stream.as_secs_f64();
            output.text(format!(
                "{}: {} in {:.1} s ({:.1} times real time), {} segments{}",
                one.file,
                when::stream(one.stream),
                one.took.as_secs_f64(),
                seconds / one.took.as_secs_f64().max(1e-3),
                one.health.segments,
                one.health.error.as_ref().map(|error| format!("; {error}")).unwrap_or_default(),
            ));
            for (reason, count) in &one.health.dropped {
                output.text(format!("  lost: {count} ({reason})"));
            }
        }
        output.text(format!("\n{} episodes, {} events in memory\n", stats.episodes, stats.events));
        output.text(inspect::episodes(&episodes, now, zone));
        output.text("");
        for item in &events {
            output.text(inspect::event(item, now, zone));
        }
        if more {
            output.text("… and more: engram inspect events");
        }
        if !degraded.is_empty() {
            output.text(format!("\nmissing: {}", degraded.join("; ")));
        }
        for (question, answer) in self.args.questions.iter().zip(&self.answers) {
            output.text(format!("\n? {question}\n{}", answer_text::write(answer, &[], now, zone)));
        }
        Ok(())
    }

    /// The first events of this run, and whether there are more.
    fn new_events(&self, zone: &jiff::tz::TimeZone) -> Result<(Vec<Json>, bool), Failure> {
        let mut shown = self.memory.events(Some(EventId(self.before)), self.args.show + 1).or_exit(Exit::Store)?;
        let more = shown.len() > self.args.show;
        shown.truncate(self.args.show);
        Ok((shown.iter().map(|event| event_body(event, zone)).collect(), more))
    }

    /// What was missing while this was perceived, over all new episodes.
    fn degraded(&self) -> Result<Vec<String>, Failure> {
        let mut missing: Vec<String> = Vec::new();
        let mut cursor = None;
        loop {
            let filter = EpisodeFilter { cursor, limit: PAGE, ..EpisodeFilter::default() };
            let page = self.memory.episodes(&filter).or_exit(Exit::Store)?;
            for summary in &page.episodes {
                for line in &summary.episode.degraded {
                    if !missing.contains(line) {
                        missing.push(line.clone());
                    }
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(missing);
            }
        }
    }
}
