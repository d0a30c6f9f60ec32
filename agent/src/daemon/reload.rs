//! A changed configuration, taken into use by a running daemon: SIGHUP or `cmd/reload`.
//!
//! What can change without anybody noticing a gap does: the log level, discovery by Home Assistant, and the sources, of
//! which only those that were changed stop or start. Everything else is named, with the restart that it needs, and health says so until then.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tokio::signal::unix::Signal;
use tokio::sync::watch;
use toml::{Table, Value};

use super::board::Board;
use super::perceiving::Perceiving;
use super::systemd;
use crate::config::{Config, LayerSources, load};
use crate::logging::LogLevel;
use crate::mqtt::homeassistant::DiscoverySettings;
use crate::mqtt::{ConfigurationControl, Reloaded};

/// Name of the configuration in health.
const CONFIGURATION: &str = "configuration";
/// The keys that are taken into use; the name of a source stands for all of its keys.
const LOG_LEVEL: &str = "log.level";
const SOURCES: &str = "sources.";
const HOME_ASSISTANT: &str = "homeassistant.";

/// Reads the layers again and applies what changed.
pub struct Reloader {
    layers: LayerSources,
    /// Configuration in use. The lock makes reloads follow one another.
    running: Mutex<Config>,
    level: LogLevel,
    board: Arc<Board>,
    perceiving: OnceLock<Perceiving>,
    homeassistant: watch::Sender<DiscoverySettings>,
}

impl Reloader {
    /// Creates the reloader of a daemon that runs on `config`, which `layers` made.
    pub fn new(layers: LayerSources, config: Config, level: LogLevel, board: Arc<Board>) -> Self {
        let homeassistant = watch::Sender::new(DiscoverySettings::from_config(&config));
        Self { layers, running: Mutex::new(config), level, board, perceiving: OnceLock::new(), homeassistant }
    }

    /// Sets the receiver of changed sources. Until it is set, sources need a restart.
    pub fn serve_sources(&self, perceiving: Perceiving) {
        // Called once; a second one changes nothing.
        self.perceiving.get_or_init(|| perceiving);
    }

    /// How Home Assistant shall find this robot, now and after every reload.
    pub fn home_assistant(&self) -> watch::Receiver<DiscoverySettings> {
        self.homeassistant.subscribe()
    }

    /// Reloads at every hangup, for as long as the daemon runs; one that came before reloads now.
    pub fn watch(self: Arc<Self>, mut hangup: Signal) {
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                let reloader = Arc::clone(&self);
                systemd::reloading();
                // What comes of it is logged and in health; here only a panic is left to tell.
                if let Err(panic) = tokio::task::spawn_blocking(move || reloader.reload()).await {
                    tracing::error!(%panic, "the configuration could not be reloaded");
                }
                systemd::ready();
            }
        });
    }

    fn apply(&self, running: &mut Config, wanted: Config) -> Reloaded {
        let mut reloaded = Reloaded::default();
        let mut sources = false;
        for key in changed_keys(running, &wanted) {
            if key.starts_with(SOURCES) && self.perceiving.get().is_some() {
                sources = true;
                reloaded.applied.push(key);
            } else if key == LOG_LEVEL && self.level.set(&wanted.log.level).is_ok() {
                running.log.level.clone_from(&wanted.log.level);
                reloaded.applied.push(key);
            } else if key.starts_with(HOME_ASSISTANT) {
                running.homeassistant.clone_from(&wanted.homeassistant);
                reloaded.applied.push(key);
            } else {
                reloaded.restart.push(key);
            }
        }
        if sources && let Some(perceiving) = self.perceiving.get() {
            running.sources.clone_from(&wanted.sources);
            perceiving.reconfigure(wanted.sources);
        }
        self.homeassistant.send_if_modified(|known| {
            let now = DiscoverySettings::from_config(running);
            let news = *known != now;
            *known = now;
            news
        });
        reloaded
    }
}

impl ConfigurationControl for Reloader {
    fn reload(&self) -> Result<Reloaded, String> {
        let mut running = self.running.lock();
        let wanted = match load(&self.layers) {
            Ok(loaded) => loaded.config,
            Err(error) => {
                tracing::error!("the configuration stays unchanged: {error}");
                self.board.degraded(CONFIGURATION, Some(format!("not reloaded: {error}")));
                return Err(error.to_string());
            }
        };
        let reloaded = self.apply(&mut running, wanted);
        match (reloaded.applied.as_slice(), reloaded.restart.as_slice()) {
            ([], []) => tracing::info!("the configuration has not changed"),
            (applied, []) => tracing::info!(applied = applied.join(", "), "the configuration is reloaded"),
            (applied, restart) => tracing::warn!(
                applied = applied.join(", "),
                restart = restart.join(", "),
                "the configuration is reloaded in part; the rest needs a restart"
            ),
        }
        let waiting =
            (!reloaded.restart.is_empty()).then(|| format!("needs a restart: {}", reloaded.restart.join(", ")));
        self.board.degraded(CONFIGURATION, waiting);
        Ok(reloaded)
    }
}

/// The dotted keys whose values differ, in order; of a source its name.
fn changed_keys(running: &Config, wanted: &Config) -> BTreeSet<String> {
    let table =
        |config: &Config| Table::try_from(config).expect("a configuration was read from TOML and is written as TOML");
    let mut keys = BTreeSet::new();
    compare("", &table(running), &table(wanted), &mut keys);
    keys
}

fn compare(prefix: &str, running: &Table, wanted: &Table, keys: &mut BTreeSet<String>) {
    let names: BTreeSet<&String> = running.keys().chain(wanted.keys()).collect();
    for name in names {
        let key = format!("{prefix}{name}");
        match (running.get(name), wanted.get(name)) {
            (one, other) if one == other => {}
            (Some(Value::Table(one)), Some(Value::Table(other))) if prefix != SOURCES => {
                compare(&format!("{key}."), one, other, keys);
            }
            _ => drop(keys.insert(key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use memory_core::ManualClock;

    use super::*;
    use crate::logging::LastError;

    fn read_config(text: &str) -> Config {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn what_changed_is_told_by_key_and_of_a_source_by_its_name() {
        let running = read_config(
            "robot = \"a\"\n[mqtt]\nport = 1\n[sources.door]\nuri = \"test\"\n[sources.old]\nuri = \"test\"\n",
        );
        let wanted =
            read_config("[mqtt]\nport = 2\n[sources.door]\nuri = \"test\"\nfps = 5\n[sources.new]\nuri = \"test\"\n");
        let keys: Vec<String> = changed_keys(&running, &wanted).into_iter().collect();
        assert_eq!(keys, ["mqtt.port", "robot", "sources.door", "sources.new", "sources.old"]);
        assert!(changed_keys(&running, &running.clone()).is_empty());
    }

    #[test]
    fn a_level_is_applied_a_port_waits_for_a_restart_and_a_fault_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("engram.toml");
        let write = |text: &str| std::fs::write(&file, text).unwrap();
        let layers = LayerSources { file: Some(file.clone()), ..LayerSources::default() };
        write("[log]\nlevel = \"info\"\n");
        let config = load(&layers).unwrap().config;
        let clock = Arc::new(ManualClock::at(memory_core::Timestamp::from_micros(0)));
        let board = Arc::new(Board::new(clock, "i".into(), directory.path().into(), LastError::default()));
        let (level, _filter) = LogLevel::from_filter("info").unwrap();
        let reloader = Reloader::new(layers, config, level, Arc::clone(&board));
        let waits = || board.note_of(CONFIGURATION);

        write("[log]\nlevel = \"debug\"\n[mqtt]\nport = 1999\n");
        let reloaded = reloader.reload().unwrap();
        assert_eq!((reloaded.applied, reloaded.restart), (vec!["log.level".into()], vec!["mqtt.port".into()]));
        assert_eq!(waits().unwrap(), "needs a restart: mqtt.port");

        // Still not in use, so still told; the level is.
        assert_eq!(reloader.reload().unwrap(), Reloaded { applied: vec![], restart: vec!["mqtt.port".into()] });
        write("[log]\nlevle = \"debug\"\n");
        assert!(reloader.reload().unwrap_err().contains("levle"));
        assert!(waits().unwrap().contains("levle"));
        write("[log]\nlevel = \"debug\"\n");
        assert_eq!(reloader.reload().unwrap(), Reloaded::default());
        assert_eq!(waits(), None);
    }
}
