//! Encoders and sources of the daemon: loaded and started behind the answering part, watched, and stopped before it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drivers::archive::Archive;
use drivers::encoders::{Captioner, ClipViewer, Encoders};
use drivers::perception::Pace;
use memory_core::Clock;
use memory_core::reasoning::Controller;
use parking_lot::{Condvar, Mutex};

use super::{Board, Recording};
use crate::config::{Config, SourceConfig};
use crate::exit::{Failure, OrExit};
use crate::media::Places;
use crate::senses::{Source, encoders};
use crate::service::MemoryService;
use crate::watchdog::{Heartbeat, TICK, Watchdog, Watched};

/// Interval at which a file is checked for its end.
const END_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Interval at which the sources are checked for one whose thread died.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);
/// First pause before a source that died is restarted; it doubles with each restart.
const BACKOFF_MIN: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(60);
/// Running time after which a source starts with the shortest pause again.
const HEALTHY_AFTER: Duration = Duration::from_secs(60);

/// The parts of the daemon that perceiving works with.
pub struct Parts {
    /// Remembers what is perceived.
    pub service: MemoryService,
    /// Whether and what may be recorded.
    pub recording: Arc<Recording>,
    /// Health of the sources.
    pub board: Arc<Board>,
    /// Everybody's.
    pub clock: Arc<dyn Clock>,
    /// Archive of live sources, if they are recorded.
    pub archive: Option<Arc<Archive>>,
    /// Told which files are played.
    pub places: Arc<Places>,
    /// Looked at again by questions.
    pub recordings: crate::media::Recordings,
    /// Told that the supervisor and the sources are not stuck.
    pub watchdog: Arc<Watchdog>,
    /// Pace of live sources.
    pub pace: Pace,
    /// Describes pictures, where a vision model is there.
    pub captioner: Option<Arc<dyn Captioner>>,
    /// Looks at pictures of recordings for questions.
    pub viewer: Option<Arc<dyn ClipViewer>>,
    /// Chooses what is looked at in recordings, instead of the policy.
    pub controller: Option<Arc<dyn Controller>>,
}

/// Everything that perceives. Clones share it.
#[derive(Clone)]
pub struct Perceiving {
    shared: Arc<PerceivingShared>,
}

struct PerceivingShared {
    config: Config,
    service: MemoryService,
    recording: Arc<Recording>,
    board: Arc<Board>,
    clock: Arc<dyn Clock>,
    encoders: Encoders,
    /// Archive of live sources, if they are recorded.
    archive: Option<Arc<Archive>>,
    /// Registry of played files.
    places: Arc<Places>,
    watchdog: Arc<Watchdog>,
    /// Heartbeat of the supervisor.
    heartbeat: Heartbeat,
    /// Pace of live sources.
    pace: Pace,
    state: Mutex<PerceivingState>,
    /// Notified when `stopped` or `wanted` is set.
    stopping: Condvar,
}

#[derive(Default)]
struct PerceivingState {
    /// Sources as configured.
    configured: BTreeMap<String, SourceConfig>,
    /// Sources that a reload wants instead; the supervisor applies them.
    wanted: Option<BTreeMap<String, SourceConfig>>,
    sources: BTreeMap<String, Source>,
    /// The watchdog's eyes on them.
    watched: BTreeMap<String, Watched>,
    /// How many sources were not started yet.
    awaited: usize,
    stopped: bool,
}

/// How the files ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// All were played and embedded.
    Complete,
    /// At least one could not be played: the first reason.
    Failed(String),
}

impl Perceiving {
    /// Begins to load the encoders and starts the sources; returns at once.
    ///
    /// # Errors
    /// If the model manifest cannot be used, or no thread can be made.
    pub fn start(config: &Config, parts: Parts) -> Result<Self, Failure> {
        let Parts {
            service,
            recording,
            board,
            clock,
            archive,
            places,
            recordings,
            watchdog,
            pace,
            captioner,
            viewer,
            controller,
        } = parts;
        let encoders = encoders::load(&config.models, None)?;
        if let Some(captioner) = captioner {
            encoders.set_captioner(captioner);
        }
        if let Some(looker) = crate::looking::looker(config, &encoders, &recordings, &pace, viewer, controller) {
            service.set_looker(looker);
        }
        let awaited = config.sources.values().filter(|source| source.enabled).count();
        let shared = PerceivingShared {
            config: config.clone(),
            service,
            recording,
            board,
            clock,
            encoders,
            archive,
            places,
            heartbeat: watchdog.heartbeat("sources"),
            watchdog,
            pace,
            state: Mutex::new(PerceivingState {
                configured: config.sources.clone(),
                awaited,
                ..PerceivingState::default()
            }),
            stopping: Condvar::new(),
        };
        let perceiving = Self { shared: Arc::new(shared) };
        perceiving.tell_roles();
        let supervisor = perceiving.clone();
        std::thread::Builder::new()
            .name("sources".to_owned())
            .spawn(move || {
                supervisor.start_all();
                supervisor.watch();
            })
            .or_exit(crate::exit::Exit::Internal)?;
        Ok(perceiving)
    }

    /// Live sources at once, for what they show now is gone later; files once the encoders are there, or their begin
    /// would be perceived with fewer encoders than their end.
    fn start_all(&self) {
        let shared = &self.shared;
        // A reload meanwhile waits until all of these are started.
        let configured = shared.state.lock().configured.clone();
        let (files, live): (Vec<_>, Vec<_>) = configured
            .iter()
            .filter(|(_, source)| source.enabled)
            .partition(|(name, source)| crate::senses::source_spec(name, source).is_ok_and(|spec| !spec.is_live()));
        for (name, source) in live {
            self.start_source(name, source);
        }
        // Loading may take minutes where an engine is built.
        while !shared.encoders.wait_ready_within(TICK) {
            shared.heartbeat.tick();
        }
        shared.service.set_text_embedder(shared.encoders.text_embedder());
        shared.service.memory().set_answer_extractor(shared.encoders.answer_extractor());
        shared.service.memory().set_picture_texts(shared.encoders.picture_texts());
        self.tell_roles();
        for (name, source) in files {
            self.start_source(name, source);
        }
    }

    fn tell_roles(&self) {
        let shared = &self.shared;
        shared.service.memory().set_absent_roles(shared.encoders.absent_roles());
        shared.board.models(encoders::health(&shared.config.models, shared.encoders.status()));
    }

    /// Starts a live source again whose thread died. A file is not: it would begin anew. What goes wrong with a source
    /// itself is capture's to mend.
    fn watch(&self) {
        let mut pauses: BTreeMap<String, (Duration, Instant)> = BTreeMap::new();
        let mut roles = self.shared.encoders.status();
        while !self.wait_for_reload(WATCH_INTERVAL) {
            self.follow_reload();
            // An engine that was built, or could not be.
            let now = self.shared.encoders.status();
            if now != roles {
                roles = now;
                self.tell_roles();
            }
            let dead: Vec<Source> = {
                let state = self.shared.state.lock();
                let dead = state.sources.values().filter(|source| !source.is_file() && source.has_panicked());
                dead.cloned().collect()
            };
            for source in dead {
                let name = source.name().to_owned();
                let now = Instant::now();
                let (pause, due) = pauses.entry(name.clone()).or_insert((BACKOFF_MIN, now + BACKOFF_MIN));
                if now < *due {
                    continue;
                }
                *pause =
                    if now.duration_since(*due) > HEALTHY_AFTER { BACKOFF_MIN } else { (*pause * 2).min(BACKOFF_MAX) };
                *due = now + *pause;
                source.stop();
                tracing::warn!(source = name, "restarting the source");
                let configured = self.shared.state.lock().configured.get(&name).cloned();
                if let Some(configured) = configured {
                    self.start_source(&name, &configured);
                }
            }
        }
    }

    /// Starts one source and keeps trying where the system gives no threads.
    fn start_source(&self, name: &str, source: &SourceConfig) {
        let shared = &self.shared;
        let mut backoff = BACKOFF_MIN;
        crate::senses::note_played(name, source, &shared.places);
        loop {
            let started = Source::start(
                name,
                source,
                &shared.config.segments,
                shared.encoders.clone(),
                Arc::new(shared.service.clone()),
                Arc::clone(&shared.clock),
                true,
                shared.archive.clone(),
                shared.pace.clone(),
            );
            match started {
                Ok(source) => return self.adopt(source),
                Err(message) => {
                    tracing::error!(source = name, "{message}; next attempt in {backoff:?}");
                    shared.board.degraded(&format!("source {name}"), Some(message));
                }
            }
            if self.wait(backoff) {
                return;
            }
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
    }

    /// Wants other sources: those that differ are stopped or started soon; the others go on without a gap.
    pub fn reconfigure(&self, wanted: BTreeMap<String, SourceConfig>) {
        self.shared.state.lock().wanted = Some(wanted);
        self.shared.stopping.notify_all();
    }

    fn follow_reload(&self) {
        let shared = &self.shared;
        let (ended, begun) = {
            let mut state = shared.state.lock();
            let Some(wanted) = state.wanted.take() else { return };
            let configured = std::mem::replace(&mut state.configured, wanted.clone());
            let runs = |sources: &BTreeMap<String, SourceConfig>, name: &str| {
                sources.get(name).filter(|source| source.enabled).cloned()
            };
            let differ = |name: &&String| runs(&configured, name) != runs(&wanted, name);
            let ended: Vec<(String, Option<Source>)> =
                configured.keys().filter(differ).map(|name| (name.clone(), state.sources.remove(name))).collect();
            ended.iter().for_each(|(name, _)| drop(state.watched.remove(name)));
            let begun: Vec<(String, SourceConfig)> =
                wanted.keys().filter(differ).filter_map(|name| Some((name.clone(), runs(&wanted, name)?))).collect();
            state.awaited += begun.len();
            (ended, begun)
        };
        for (name, source) in ended {
            shared.recording.remove(&name);
            // Its open segment is handed on before another takes its name.
            if let Some(source) = source {
                source.stop();
            }
            shared.board.without_source(&name);
            shared.board.degraded(&format!("source {name}"), None);
            tracing::info!(source = name, "source stopped");
        }
        for (name, source) in begun {
            self.start_source(&name, &source);
        }
    }

    /// Waits for `pause`; `true` as soon as everything is to stop.
    fn wait(&self, pause: Duration) -> bool {
        self.wait_while(pause, |_| true)
    }

    /// The same, but it ends early where other sources are wanted.
    fn wait_for_reload(&self, pause: Duration) -> bool {
        self.wait_while(pause, |state| state.wanted.is_none())
    }

    fn wait_while(&self, pause: Duration, idle: impl Fn(&PerceivingState) -> bool) -> bool {
        let until = Instant::now() + pause;
        let mut state = self.shared.state.lock();
        while !state.stopped && idle(&state) {
            self.shared.heartbeat.tick();
            let now = Instant::now();
            if now >= until {
                break;
            }
            self.shared.stopping.wait_until(&mut state, until.min(now + TICK));
        }
        state.stopped
    }

    fn adopt(&self, source: Source) {
        let shared = &self.shared;
        let name = source.name().to_owned();
        let mut state = shared.state.lock();
        if state.stopped {
            drop(state);
            source.stop();
            return;
        }
        shared.board.degraded(&format!("source {name}"), None);
        let switch = source.clone();
        shared.recording.add(&name, Box::new(move |paused| switch.pause(paused)));
        let probe = source.clone();
        shared.board.source(&name, Arc::new(move || probe.health()));
        let silent = source.clone();
        let watched = self.shared.watchdog.watch(&format!("source {name}"), Arc::new(move || silent.silence()));
        state.watched.insert(name.clone(), watched);
        tracing::info!(source = name, "source started");
        if state.sources.insert(name, source).is_none() {
            state.awaited -= 1;
        }
    }

    /// Waits until every file has been played, embedded and learnt from. Without any file it waits for ever.
    pub async fn ended(&self) -> End {
        let mut look = tokio::time::interval(END_POLL_INTERVAL);
        loop {
            look.tick().await;
            if !self.all_over() {
                continue;
            }
            let stats = self.shared.service.memory().stats();
            let counters = self.shared.service.counters();
            let can_embed = self.shared.encoders.text_embedder().is_some() && counters.embedding.error.is_none();
            let learns = stats.pending_lessons > 0 && counters.learning.error.is_none();
            if !learns && (stats.pending_embeddings == 0 || !can_embed) {
                let state = self.shared.state.lock();
                let failed = state.sources.values().map(Source::health).find(|health| health.state == "failed");
                return match failed {
                    Some(health) => End::Failed(health.error.unwrap_or_else(|| "a source failed".to_owned())),
                    None => End::Complete,
                };
            }
        }
    }

    fn all_over(&self) -> bool {
        let state = self.shared.state.lock();
        let mut files = state.sources.values().filter(|source| source.is_file()).peekable();
        state.awaited == 0 && files.peek().is_some() && files.all(Source::is_over)
    }

    /// Stops the sources, waits until each has handed on its open segment. Blocks.
    pub fn stop(&self) {
        let sources = {
            let mut state = self.shared.state.lock();
            state.stopped = true;
            std::mem::take(&mut state.sources)
        };
        self.shared.stopping.notify_all();
        std::thread::scope(|scope| {
            for source in sources.values() {
                scope.spawn(|| source.stop());
            }
        });
        // A process that ends while ONNX Runtime still loads a model crashes in the library's own tear-down.
        self.shared.encoders.wait_ready();
    }
}
