//! `engram replay`: recordings into a memory, without a broker.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::capture::SourceState;
use drivers::encoders::Encoders;
use indicatif::ProgressBar;
use memory_core::{Clock, EpisodeId, EpisodeListPage, EpisodeSummary, Memory, Query, SystemClock, Timestamp};
use serde_json::{Value as Json, json};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::TryRecvError;

use super::{answer_text, inspect, offline, run::source_name};
use crate::cli::{GlobalArgs, ReplayArgs, source_of_flag};
use crate::config::Config;
use crate::exit::{Exit, Failure, OrExit};
use crate::health::SourceHealth;
use crate::media::{MediaLinks, Places};
use crate::mqtt::episodes::{event_body, page};
use crate::output::{Output, progress};
use crate::senses::{Source, encoders, note_played};
use crate::service::{EpisodeEvent, MemoryService, ServiceOptions};
use crate::{opening, when};

/// Maximum time for queued events to become durable at the end.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of episodes shown, newest first.
const MAX_EPISODES: usize = 100;

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
    let (service, threads) =
        MemoryService::start(memory.clone(), ServiceOptions::default(), Arc::clone(&clock)).or_exit(Exit::Internal)?;
    let mut new = NewEpisodes { announced: service.episode_events(), ids: BTreeSet::new() };
    let spinner = bar(output, None, "{spinner} loading encoders {elapsed}");
    spinner.enable_steady_tick(Duration::from_millis(100));
    let encoders = encoders::load(&config.models, None)?;
    encoders.wait_ready();
    memory.set_absent_roles(encoders.absent_roles());
    service.set_text_embedder(encoders.text_embedder());
    memory.set_answer_extractor(encoders.answer_extractor());
    memory.set_picture_texts(encoders.picture_texts());
    spinner.finish_and_clear();

    let mut played = Vec::new();
    let mut failed = None;
    for file in &args.files {
        let one = play(file, args, config, &encoders, &service, &clock, &mut new, output)?;
        if one.health.state == "failed" {
            let reason = one.health.error.clone().unwrap_or_else(|| format!("{} cannot be played", file.display()));
            failed.get_or_insert(reason);
        }
        played.push(one);
    }
    embed(&service, encoders.text_embedder().is_some(), output);
    threads.drain(DRAIN_TIMEOUT);
    new.collect();

    let answers = questions(args, &memory, &zone)?;
    let report = ReplayReport { played, new: new.ids, memory: &memory, answers, args };
    report.print(output, clock.now(), &zone)?;
    match failed {
        Some(reason) => Err(Failure::new(Exit::Source, reason)),
        None => Ok(Exit::Ok),
    }
}

/// The episodes that began or grew, as the writer announces them.
struct NewEpisodes {
    announced: broadcast::Receiver<EpisodeEvent>,
    ids: BTreeSet<EpisodeId>,
}

impl NewEpisodes {
    fn collect(&mut self) {
        loop {
            match self.announced.try_recv() {
                Ok(event) => drop(self.ids.insert(event.id)),
                Err(TryRecvError::Lagged(missed)) => {
                    tracing::warn!(missed, "some new episodes will not be listed, but they are remembered");
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
    }
}

struct Played {
    file: String,
    health: SourceHealth,
    stream: Duration,
    took: Duration,
}

#[expect(clippy::too_many_arguments, reason = "everything that one recording needs, and nothing to group it by")]
fn play(
    file: &Path,
    args: &ReplayArgs,
    config: &Config,
    encoders: &Encoders,
    service: &MemoryService,
    clock: &Arc<dyn Clock>,
    new: &mut NewEpisodes,
    output: Output,
) -> Result<Played, Failure> {
    let uri = format!("file:{}", file.display());
    let source = source_of_flag(&uri, Some(args.speed), &args.playback);
    let begin = Instant::now();
    note_played(&source_name(&uri), &source, &Places::from_config(config));
    let source = Source::start(
        &source_name(&uri),
        &source,
        &config.segments,
        encoders.clone(),
        Arc::new(service.clone()),
        Arc::clone(clock),
        false,
        None,
        drivers::perception::Pace::default(),
    )
    .map_err(|message| Failure::new(Exit::Source, message))?;
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    let bar = bar(output, None, "{spinner} {prefix} {msg}  {elapsed}");
    bar.set_prefix(name);
    while !source.wait_over(Duration::from_millis(200)) {
        let at = source.status().position;
        let speed = at.as_secs_f64() / begin.elapsed().as_secs_f64().max(0.001);
        new.collect();
        let message = format!("{}  {speed:.1}x real time  {} episodes", when::stream(at), new.ids.len());
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

/// Waits for what is learnt and embedded behind the commits.
fn embed(service: &MemoryService, possible: bool, output: Output) {
    while service.memory().stats().pending_lessons > 0 && service.counters().learning.error.is_none() {
        std::thread::park_timeout(Duration::from_millis(20));
    }
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
        offline::ask(memory, &query, zone, &MediaLinks::default())
    };
    args.questions.iter().map(ask).collect()
}

struct ReplayReport<'a> {
    played: Vec<Played>,
    new: BTreeSet<EpisodeId>,
    memory: &'a Memory,
    answers: Vec<Json>,
    args: &'a ReplayArgs,
}

/// What is new in the memory, as far as it is shown.
struct New {
    episodes: Json,
    events: Vec<Json>,
    event_count: usize,
    degraded: BTreeSet<String>,
}

impl ReplayReport<'_> {
    fn print(&self, output: Output, now: Timestamp, zone: &jiff::tz::TimeZone) -> Result<(), Failure> {
        let stats = self.memory.stats();
        let new = self.look(zone)?;
        if output.json {
            let played: Vec<Json> = self
                .played
                .iter()
                .map(|one| {
                    json!({
                        "file": one.file, "source": one.health, "seconds": one.stream.as_secs_f64(),
                        "elapsed_s": one.took.as_secs_f64(), "times_real_time": one.speed(),
                    })
                })
                .collect();
            output.json(&json!({
                "played": played,
                "memory": {
                    "observations": stats.observations, "episodes": stats.episodes, "events": stats.events,
                    "pending_embeddings": stats.pending_embeddings,
                },
                "new_episodes": self.new.len(), "new_events": new.event_count,
                "episodes": new.episodes["episodes"], "events": new.events, "degraded": new.degraded,
                "answers": self.answers,
            }));
            return Ok(());
        }
        for one in &self.played {
            output.text(format!(
                "{}: {} in {:.1} s ({:.1} times real time), {} segments{}",
                one.file,
                when::stream(one.stream),
                one.took.as_secs_f64(),
                one.speed(),
                one.health.segments,
                one.health.error.as_ref().map(|error| format!("; {error}")).unwrap_or_default(),
            ));
            for (reason, count) in &one.health.dropped {
                output.text(format!("  lost: {count} ({reason})"));
            }
        }
        if self.new.is_empty() {
            output.text("\nnothing new: it was remembered before, or there was nothing to remember");
        } else {
            output.text(format!("\n{} new episodes with {} events\n", self.new.len(), new.event_count));
            output.text(inspect::episodes(&new.episodes, now, zone));
            output.text("");
        }
        for item in &new.events {
            output.text(inspect::event(item, now, zone));
        }
        if new.event_count > new.events.len() {
            output.text(format!("… and {} more: engram inspect events", new.event_count - new.events.len()));
        }
        if !new.degraded.is_empty() {
            let missing: Vec<&str> = new.degraded.iter().map(String::as_str).collect();
            output.text(format!("\nmissing: {}", missing.join("; ")));
        }
        for (question, answer) in self.args.questions.iter().zip(&self.answers) {
            output.text(format!("\n? {question}\n{}", answer_text::write(answer, &[], now, zone)));
        }
        Ok(())
    }

    fn look(&self, zone: &jiff::tz::TimeZone) -> Result<New, Failure> {
        let (mut summaries, mut events, mut event_count) = (Vec::new(), Vec::new(), 0);
        let mut degraded = BTreeSet::new();
        for id in &self.new {
            let Some((episode, inside)) = self.memory.episode(*id).or_exit(Exit::Store)? else { continue };
            event_count += inside.len();
            let room = self.args.show.saturating_sub(events.len());
            events.extend(inside.iter().take(room).map(|event| event_body(event, zone, &MediaLinks::default())));
            degraded.extend(episode.degraded.iter().cloned());
            let texts: Vec<&str> = inside.iter().map(|event| event.text.as_str()).collect();
            let pose = inside.iter().find_map(|event| event.pose.clone());
            summaries.push(EpisodeSummary { summary: texts.join("; "), episode, pose });
        }
        let hidden = summaries.len().saturating_sub(MAX_EPISODES);
        let episodes =
            page(&EpisodeListPage { episodes: summaries.split_off(hidden), next: None }, zone, &MediaLinks::default());
        Ok(New { episodes, events, event_count, degraded })
    }
}

impl Played {
    fn speed(&self) -> f64 {
        self.stream.as_secs_f64() / self.took.as_secs_f64().max(1e-3)
    }
}
