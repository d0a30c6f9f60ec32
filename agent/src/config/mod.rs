//! The configuration: embedded defaults, then `/etc/engram/engram.toml` and `/etc/engram/conf.d/*.toml` (or `--config
//! FILE`), then `ENGRAM__SECTION__KEY`, then flags. The later wins, key by key.

mod annotated;
mod causes;
mod consolidation;
mod directories;
mod homeassistant;
mod index;
mod layers;
mod llm;
mod mcp;
pub mod mqtt;
mod pose;
mod reasoning;
mod schema;
mod sections;
mod source_spec;
mod tensorrt;
mod thermal;

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Value;

pub use annotated::{annotated_toml, origins_json, secrets};
pub use consolidation::ConsolidationConfig;
pub use directories::{Directories, beyond_the_disk, default_data_dir, unusable};
pub use homeassistant::HomeAssistantConfig;
pub use index::IndexConfig;
pub use layers::{ENVIRONMENT_PREFIX, Node, Origin};
pub use llm::{EndpointConfig, LlmConfig, Purpose};
pub use mcp::McpConfig;
pub use pose::{PoseConfig, PoseOptions};
pub use reasoning::{ControllerKind, ReasoningConfig};
pub use schema::{closest, schema};
pub use sections::{
    Accelerator, BackupConfig, CompactionConfig, LearningConfig, LogConfig, LogFormat, MIN_TOKEN_CHARS,
    MediaServerConfig, MemoryConfig, MetricsConfig, ModelsConfig, RecordingConfig, SegmentsConfig, SourceConfig, Speed,
};
pub use source_spec::source_spec;
pub use tensorrt::{EnginePrecision, TensorRtConfig, TensorRtRoad};

pub use thermal::{ThermalConfig, ThermalLevel};

use mqtt::MqttConfig;

/// Where the package puts the configuration.
pub const SYSTEM_DIRECTORY: &str = "/etc/engram";

/// Everything that can be configured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Name of the robot in MQTT topics. Without it, the host name.
    pub robot: Option<String>,
    /// Where memory and models live. Without it, systemd's state directory, /var/lib/engram if engram may write there,
    /// else the XDG data directory of the user.
    pub data_dir: Option<PathBuf>,
    /// The store.
    pub memory: MemoryConfig,
    /// How persons and procedures are learnt.
    pub learning: LearningConfig,
    /// Backups and exports that come by MQTT.
    pub backup: BackupConfig,
    /// The senses, by name.
    pub sources: std::collections::BTreeMap<String, SourceConfig>,
    /// Where one segment ends and the next begins.
    pub segments: SegmentsConfig,
    /// Which encoders run, and on what.
    pub models: ModelsConfig,
    /// The broker and the MQTT interface.
    pub mqtt: MqttConfig,
    /// Where the robot is.
    pub pose: PoseConfig,
    /// Discovery by Home Assistant.
    pub homeassistant: HomeAssistantConfig,
    /// The media archive.
    pub recording: RecordingConfig,
    /// Looking at recordings again.
    pub reasoning: ReasoningConfig,
    /// Heat and load.
    pub thermal: ThermalConfig,
    /// Language models.
    pub llm: LlmConfig,
    /// The Model Context Protocol over HTTP.
    pub mcp: McpConfig,
    /// Prometheus and health over HTTP.
    pub metrics: MetricsConfig,
    /// What is said on stderr or in the journal.
    pub log: LogConfig,
}

/// One thing wrong with the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Dotted path of the key; empty where a whole file is meant.
    pub key: String,
    /// Where it was written.
    pub origin: Origin,
    /// What is wrong, to be read after the key.
    pub message: String,
    /// What was probably meant, or what to do.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::File { path, line: 0 } => write!(f, "{}: ", path.display())?,
            origin => write!(f, "{origin}: ")?,
        }
        if !self.key.is_empty() {
            write!(f, "`{}` ", self.key)?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

/// The configuration cannot be used; every problem found is named.
#[derive(Debug, thiserror::Error)]
pub struct ConfigError {
    /// At least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

/// Where the layers come from. Passed in, so that tests need no `/etc` and no environment.
#[derive(Debug, Clone, Default)]
pub struct LayerSources {
    /// `--config FILE`: this file alone.
    pub file: Option<PathBuf>,
    /// Directory with `engram.toml` and `conf.d`, read when `file` is `None`.
    pub directory: Option<PathBuf>,
    /// Environment variables that begin with [`ENVIRONMENT_PREFIX`].
    pub environment: Vec<(String, String)>,
    /// systemd's directory of credentials; `mqtt-password`, `llm-chat-token` and `llm-vision-token` in it serve where no
    /// password and no token is configured.
    pub credentials: Option<PathBuf>,
    /// From flags: the dotted key, the value and the flag.
    pub flags: Vec<(String, FlagValue, String)>,
}

/// What a flag says.
#[derive(Debug, Clone, PartialEq)]
pub enum FlagValue {
    /// Of a known type.
    Typed(Value),
    /// As a person typed it (`--set key=value`).
    Loose(String),
    /// Sets a whole table, forgetting the layers below.
    Replace(Value),
}

impl LayerSources {
    /// The machine's own: `/etc/engram` (or `file`) and the environment of this process.
    pub fn of_this_machine(file: Option<PathBuf>) -> Self {
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with(ENVIRONMENT_PREFIX))
            .collect();
        Self {
            file,
            directory: Some(PathBuf::from(SYSTEM_DIRECTORY)),
            environment,
            credentials: std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from),
            flags: Vec::new(),
        }
    }
}

/// The effective configuration, with its origins.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// What was written, before defaults.
    pub layers: Node,
    /// The files that were read, in order.
    pub files: Vec<PathBuf>,
}

impl Loaded {
    /// Where the value of a dotted key came from.
    pub fn origin(&self, key: &str) -> Origin {
        self.layers.at(key).map_or(Origin::Default, |node| node.origin().clone())
    }
}

/// Reads all layers, checks them and puts them together.
///
/// # Errors
/// If any layer has an unreadable file, an unknown key, a wrong type or a value out of range.
pub fn load(sources: &LayerSources) -> Result<Loaded, ConfigError> {
    let mut layers = Node::empty();
    let mut problems = Vec::new();
    let mut files = Vec::new();
    for path in file_layers(sources).map_err(|problem| ConfigError { problems: vec![problem] })? {
        match layers::file(&path) {
            Ok(node) => layers.merge(node),
            Err(problem) => problems.push(problem),
        }
        files.push(path);
    }
    let schema = schema();
    let mut environment = sources.environment.clone();
    environment.sort();
    for (name, text) in environment {
        let lower = name.trim_start_matches(ENVIRONMENT_PREFIX).to_lowercase();
        let path: Vec<&str> = lower.split("__").collect();
        let (text_wanted, list_wanted) = schema::wants(schema::find(&schema, &path));
        layers.set(&path, layers::loose_value(&text, text_wanted, list_wanted), &Origin::Environment(name.clone()));
    }
    for (key, value, flag) in &sources.flags {
        let path: Vec<&str> = key.split('.').collect();
        let origin = Origin::Flag(flag.clone());
        match value {
            FlagValue::Typed(value) => layers.set(&path, value.clone(), &origin),
            FlagValue::Loose(text) => {
                let (text_wanted, list_wanted) = schema::wants(schema::find(&schema, &path));
                layers.set(&path, layers::loose_value(text, text_wanted, list_wanted), &origin);
            }
            FlagValue::Replace(value) => {
                if let (Node::Table { entries, .. }, [top]) = (&mut layers, path.as_slice()) {
                    entries.remove(*top);
                }
                layers.set(&path, value.clone(), &origin);
            }
        }
    }
    if let Some(directory) = &sources.credentials {
        add_credentials(&mut layers, directory);
    }
    problems.extend(schema::check(&layers, &schema));
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    let mut config: Config = layers
        .to_value()
        .try_into()
        .map_err(|error: toml::de::Error| ConfigError { problems: vec![value_problem(&error, &layers)] })?;
    let problems = validate(&config, &layers);
    // What is built for this machine moves with the data directory.
    if let Some(data) = &config.data_dir {
        config.models.tensorrt.cache.get_or_insert_with(|| data.join("engines"));
    }
    if problems.is_empty() { Ok(Loaded { config, layers, files }) } else { Err(ConfigError { problems }) }
}

/// A password that systemd hands over serves where a user is named and no password is configured.
fn add_credentials(layers: &mut Node, directory: &Path) {
    let credential = directory.join("mqtt-password");
    let set = |key: &str| layers.at(key).is_some();
    if set("mqtt.username") && !set("mqtt.password") && !set("mqtt.password_file") && credential.is_file() {
        let path = Value::String(credential.to_string_lossy().into_owned());
        layers.set(&["mqtt", "password_file"], path, &Origin::Environment("CREDENTIALS_DIRECTORY".to_owned()));
    }
    for section in ["chat", "vision"] {
        let credential = directory.join(format!("llm-{section}-token"));
        let set = |key: &str| layers.at(&format!("llm.{section}.{key}")).is_some();
        if set("url") && !set("token") && !set("token_file") && credential.is_file() {
            let path = Value::String(credential.to_string_lossy().into_owned());
            let origin = Origin::Environment("CREDENTIALS_DIRECTORY".to_owned());
            layers.set(&["llm", section, "token_file"], path, &origin);
        }
    }
}

fn file_layers(sources: &LayerSources) -> Result<Vec<PathBuf>, Problem> {
    if let Some(file) = &sources.file {
        return Ok(vec![file.clone()]);
    }
    let Some(directory) = &sources.directory else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    let main = directory.join("engram.toml");
    // A file that exists and may not be read is an error later on, not an absent one.
    if std::fs::symlink_metadata(&main).is_ok() {
        files.push(main);
    }
    let conf_d = directory.join("conf.d");
    let entries = match std::fs::read_dir(&conf_d) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(files),
        Err(error) => return Err(unreadable(&conf_d, &error)),
    };
    let mut extra = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(&conf_d, &error))?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && path.extension().is_some_and(|extension| extension == "toml") {
            extra.push(path);
        }
    }
    extra.sort();
    files.extend(extra);
    Ok(files)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem {
        key: String::new(),
        origin: Origin::File { path: path.to_path_buf(), line: 0 },
        message: format!("cannot be read: {error}"),
        hint: None,
    }
}

/// A value of the right type that its own parser refuses, such as an address.
fn value_problem(error: &toml::de::Error, layers: &Node) -> Problem {
    let text = error.to_string();
    let key = text.rsplit_once("in `").and_then(|(_, rest)| rest.split('`').next()).unwrap_or_default().to_owned();
    let origin = layers.at(&key).map_or(Origin::Default, |node| node.origin().clone());
    Problem { key, origin, message: format!("has a value that cannot be used: {}", error.message()), hint: None }
}

/// What no type can say.
fn validate(config: &Config, layers: &Node) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut say = |key: &str, message: String, hint: Option<String>| {
        let (origin, cause) = causes::origin_of(key, layers);
        problems.push(Problem { key: key.to_owned(), origin, message, hint: hint.or(cause) });
    };
    let name_fault = |name: &str| crate::topics::check_name(name).err().map(|fault| fault.to_string());
    if let Some(fault) = config.robot.as_deref().and_then(name_fault) {
        say("robot", fault, None);
    }
    if let Some(zone) = &config.memory.time_zone
        && let Err(error) = jiff::tz::TimeZone::get(zone)
    {
        say("memory.time_zone", format!("is not a time zone: {error}"), Some("an example is `Europe/Berlin`".into()));
    }
    for (name, source) in &config.sources {
        let key = format!("sources.{name}");
        if let Some(fault) = name_fault(name) {
            say(&key, fault, None);
        }
        if source.uri.is_empty() {
            say(&key, "has no `uri`".to_owned(), Some("an example is `uri = \"v4l2:/dev/video0\"`".into()));
        }
        if let Some(at) = &source.start_at
            && let Err(error) = memory_core::Timestamp::parse(at)
        {
            say(&format!("{key}.start_at"), format!("cannot be used: {error}"), None);
        } else if !source.uri.is_empty()
            && let Err(message) = source_spec(name, source)
        {
            say(&format!("{key}.uri"), format!("cannot be used: {message}"), None);
        }
        if !source.video && !source.audio {
            say(&key, "uses neither picture nor sound".to_owned(), Some("set `enabled = false` instead".into()));
        }
    }
    let segments = &config.segments;
    if segments.max_s < 2.0 * segments.min_s {
        say("segments.max_s", "must be at least twice `segments.min_s`".to_owned(), None);
    }
    if segments.max_fps < segments.min_fps {
        say("segments.max_fps", "must not be below `segments.min_fps`".to_owned(), None);
    }
    let known = drivers::models::Role::ALL.map(drivers::models::Role::name);
    let role_fault = |role: &str| {
        if known.contains(&role) {
            return None;
        }
        let hint = match closest(role, known.into_iter()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the roles are {}", known.join(", ")),
        };
        Some((format!("names the role `{role}`, which there is not"), Some(hint)))
    };
    for role in &config.models.disabled {
        if let Some((message, hint)) = role_fault(role) {
            say("models.disabled", message, hint);
        }
    }
    for role in config.models.backends.keys() {
        if let Some((message, hint)) = role_fault(role) {
            say(&format!("models.backends.{role}"), message, hint);
        }
    }
    for (key, message) in config.mqtt.problems() {
        say(&format!("mqtt.{key}"), message, None);
    }
    for (key, message) in config.homeassistant.problems(&config.mqtt.root) {
        say(&format!("homeassistant.{key}"), message, None);
    }
    for (key, message) in config.thermal.problems() {
        say(&format!("thermal.{key}"), message, None);
    }
    for (key, message) in config.recording.server.problems() {
        say(&format!("recording.server.{key}"), message, None);
    }
    for (key, message) in config.llm.problems() {
        say(&format!("llm.{key}"), message, None);
    }
    let controlled = config.llm.used().iter().any(|(_, _, purposes)| purposes.contains(&Purpose::Controller));
    if config.reasoning.controller == ControllerKind::Model && !controlled {
        let message = "is `model`, but no language model serves `controller`".to_owned();
        say(
            "reasoning.controller",
            message,
            Some("set `llm.chat.url` and `llm.chat.model`, or leave it at `policy`".to_owned()),
        );
    }
    for (key, message) in config.mcp.problems() {
        say(&format!("mcp.{key}"), message, None);
    }
    if let Err(error) = tracing_subscriber::EnvFilter::try_new(&config.log.level) {
        say("log.level", format!("is not a log filter: {error}"), Some("an example is `info`".into()));
    }
    problems
}

#[cfg(test)]
mod tests;
