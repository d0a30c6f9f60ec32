//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use toml::Value;

use crate::config::{FlagValue, LayerSources, SourceConfig, Speed};
use crate::exit::Exit;

/// The long-term memory of a robot: it watches and listens, and answers questions with their evidence.
#[derive(Debug, Parser)]
#[command(name = "engram", version, after_help = Exit::help(), propagate_version = true, max_term_width = 110)]
pub struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags that every command understands.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Read this configuration alone, instead of /etc/engram.
    #[arg(long, global = true, value_name = "FILE", env = "ENGRAM_CONFIG")]
    pub config: Option<PathBuf>,
    /// Set any key of the configuration, for instance `--set mqtt.port=1884`.
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Where memory and models live.
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Name of the robot in MQTT topics.
    #[arg(long, global = true, value_name = "NAME")]
    pub robot: Option<String>,
    /// Host of the broker.
    #[arg(long, global = true, value_name = "HOST")]
    pub mqtt_host: Option<String>,
    /// Port of the broker.
    #[arg(long, global = true, value_name = "PORT")]
    pub mqtt_port: Option<u16>,
    /// Log more or less: error, warn, info, debug, trace, or a filter per module.
    #[arg(long, global = true, value_name = "LEVEL")]
    pub log: Option<String>,
    /// Print JSON for programs instead of text for people.
    #[arg(long, global = true)]
    pub json: bool,
}

impl GlobalArgs {
    /// The layers of the configuration that these flags select and add.
    pub fn layers(&self) -> LayerSources {
        let mut layers = LayerSources::of_this_machine(self.config.clone());
        let flags = &mut layers.flags;
        for (key, value) in &self.set {
            flags.push((key.clone(), FlagValue::Loose(value.clone()), format!("--set {key}")));
        }
        let text = |value: String| FlagValue::Typed(Value::String(value));
        if let Some(dir) = &self.data_dir {
            flags.push(("data_dir".into(), text(dir.to_string_lossy().into_owned()), "--data-dir".into()));
        }
        if let Some(robot) = &self.robot {
            flags.push(("robot".into(), text(robot.clone()), "--robot".into()));
        }
        if let Some(host) = &self.mqtt_host {
            flags.push(("mqtt.host".into(), text(host.clone()), "--mqtt-host".into()));
        }
        if let Some(port) = self.mqtt_port {
            let port = FlagValue::Typed(Value::Integer(i64::from(port)));
            flags.push(("mqtt.port".into(), port, "--mqtt-port".into()));
        }
        if let Some(level) = &self.log {
            flags.push(("log.level".into(), text(level.clone()), "--log".into()));
        }
        layers
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch, listen, remember and answer, until told to stop.
    Run(RunArgs),
    /// Ask a question and print the answer with its evidence.
    Ask(AskArgs),
    /// Tell the memory something.
    Observe(ObserveArgs),
    /// Remember recordings as fast as the encoders go, and show what was remembered.
    Replay(ReplayArgs),
    /// Look into the memory.
    Inspect(InspectArgs),
    /// Verify every record of the store.
    Check,
    /// Show, check and describe the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Find out what keeps this machine from working well, and what to do.
    Doctor(DoctorArgs),
    /// Measure a part on recordings with known answers.
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Print shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// How files are played; shared by `run` and `replay`.
#[derive(Debug, Clone, Default, Args)]
pub struct PlaybackArgs {
    /// Wall-clock time of the recording's begin, RFC 3339. Without it, the file's own creation time, else now.
    #[arg(long, value_name = "TIME")]
    pub start_at: Option<String>,
    /// Subtitles: `auto` (in the file, else beside it), `off`, or a file.
    #[arg(long, value_name = "auto|off|FILE")]
    pub subtitles: Option<String>,
}

/// `engram run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// A camera, microphone, stream or file; replaces the configured ones, may be repeated: file:PATH, test,
    /// v4l2:/dev/video0, argus:0, rtsp://…, alsa:…, pulse, shm:PATH, pipeline:"…".
    #[arg(long = "source", value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// How fast files are played.
    #[arg(long, value_enum)]
    pub speed: Option<Speed>,
    /// How files are played.
    #[command(flatten)]
    pub playback: PlaybackArgs,
    /// End when every file has been played and is embedded.
    #[arg(long)]
    pub exit_at_end: bool,
    /// Refuse to start where the metrics port is taken or the broker cannot be used, instead of saying so in health.
    #[arg(long)]
    pub strict: bool,
}

/// `engram ask`.
#[derive(Debug, Clone, Args)]
pub struct AskArgs {
    /// The question, in plain words.
    pub question: String,
    /// An option to choose from; repeat for each.
    #[arg(long = "option", value_name = "TEXT")]
    pub options: Vec<String>,
    /// Only what happened at or after this: a time, a date, or a duration ago such as 2h.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what happened at or before this.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// What "now" means in the question.
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Items of evidence at most.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub top_k: u16,
    /// Show the steps that led to the answer.
    #[arg(long)]
    pub trace: bool,
    /// How long to wait, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = positive_seconds)]
    pub timeout: f64,
    /// Open the data directory instead of asking the running agent by MQTT.
    #[arg(long)]
    pub offline: bool,
}

/// `engram observe`.
#[derive(Debug, Clone, Args)]
pub struct ObserveArgs {
    /// What was observed, in words.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub text: Option<String>,
    /// What kind of thing was observed.
    #[arg(long, value_name = "KIND", default_value = "text",
        value_parser = ["text", "caption", "sound", "object", "entity", "action", "state"])]
    pub kind: String,
    /// Who says so.
    #[arg(long, value_name = "NAME", default_value = "engram-cli")]
    pub source: String,
    /// The person or thing that it is about, or who spoke.
    #[arg(long, value_name = "NAME")]
    pub entity: Option<String>,
    /// When it began: a time, a date, or a duration ago such as 10m. Without it, now.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// When it ended.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Your own id for it, given back in evidence.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// A free attribute; repeat for each.
    #[arg(long = "attribute", value_name = "KEY=VALUE", value_parser = key_value)]
    pub attributes: Vec<(String, String)>,
    /// How sure, 0 to 1.
    #[arg(long, value_name = "0..1", value_parser = zero_to_one)]
    pub confidence: Option<f32>,
    /// Observations as JSON, one object a line, or one array; `-` reads stdin.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How long to wait for each batch, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = positive_seconds)]
    pub timeout: f64,
    /// Open the data directory instead of telling the running agent by MQTT.
    #[arg(long)]
    pub offline: bool,
}

/// `engram replay`.
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// Recordings, played one after the other.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How files are played.
    #[command(flatten)]
    pub playback: PlaybackArgs,
    /// How fast they are played.
    #[arg(long, value_enum, default_value = "max")]
    pub speed: Speed,
    /// Then answer this question; may be repeated.
    #[arg(long = "ask", value_name = "QUESTION")]
    pub questions: Vec<String>,
    /// Events to show at most.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub show: usize,
}

/// `engram inspect`.
#[derive(Debug, Clone, Args)]
pub struct InspectArgs {
    /// What to look at.
    #[command(subcommand)]
    pub what: InspectCommand,
}

/// What `inspect` looks at.
#[derive(Debug, Clone, Subcommand)]
pub enum InspectCommand {
    /// Stretches of experience, newest first; with an id, one of them whole.
    Episodes {
        /// One episode, for instance ep-42.
        id: Option<String>,
        /// Only at or after this.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only at or before this.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Only with an event about this entity.
        #[arg(long, value_name = "NAME")]
        entity: Option<String>,
        /// Only with an event at this place.
        #[arg(long, value_name = "PLACE")]
        place: Option<String>,
        /// How many at most.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Continue after this episode.
        #[arg(long, value_name = "EPISODE")]
        cursor: Option<String>,
    },
    /// Atomic events, in order of commit.
    Events {
        /// Continue after this commit number.
        #[arg(long, value_name = "N")]
        after: Option<u64>,
        /// How many at most.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Persons and things, most frequent first.
    Entities {
        /// How many at most.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Counts and sizes.
    Stats,
}

/// `engram config`.
#[derive(Debug, Clone, Subcommand)]
pub enum ConfigCommand {
    /// Print the effective configuration and where each value came from.
    Show,
    /// Say what is wrong with it; exit code 3 if anything is.
    Check,
    /// Print its JSON Schema.
    Schema,
}

/// `engram doctor`.
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Leave out what needs the broker.
    #[arg(long)]
    pub no_broker: bool,
    /// How long one source may take to deliver, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram bench`.
#[derive(Debug, Clone, Subcommand)]
pub enum BenchCommand {
    /// Boundary F1 of the segmenter on clips with known boundaries.
    Segments {
        /// Directory with the clips and their truth.
        dir: PathBuf,
        /// How far a boundary may be off, in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = positive_seconds)]
        tolerance: f64,
    },
}

/// A source of the configuration, as `--source` names it.
pub fn source_of_flag(uri: &str, speed: Option<Speed>, playback: &PlaybackArgs) -> SourceConfig {
    let defaults = SourceConfig::default();
    SourceConfig {
        uri: uri.to_owned(),
        speed: speed.unwrap_or_default(),
        start_at: playback.start_at.clone(),
        subtitles: playback.subtitles.clone().unwrap_or(defaults.subtitles.clone()),
        ..defaults
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("expected a number of seconds above 0".to_owned()),
    }
}

fn zero_to_one(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_lists_every_exit_code() {
        let help = Cli::command().render_help().to_string();
        for (exit, meaning) in Exit::TABLE {
            assert!(help.contains(&format!("{:>3}  {meaning}", exit as u8)), "{help}");
        }
    }

    #[test]
    fn global_flags_are_understood_behind_the_command() {
        let cli = Cli::try_parse_from(["engram", "ask", "where is the mug?", "--json", "--mqtt-port", "1884"]).unwrap();
        assert!(cli.global.json);
        assert_eq!(cli.global.mqtt_port, Some(1884));
    }

    #[test]
    fn observe_needs_a_text_or_a_file_and_not_both() {
        assert!(Cli::try_parse_from(["engram", "observe"]).is_err());
        assert!(Cli::try_parse_from(["engram", "observe", "a", "--file", "b"]).is_err());
        assert!(Cli::try_parse_from(["engram", "observe", "--file", "-"]).is_ok());
    }
}
