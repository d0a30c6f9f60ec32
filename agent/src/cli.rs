//! The command line.

mod procedure;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use toml::Value;

use crate::config::{FlagValue, LayerSources, SourceConfig, Speed};
use crate::exit::Exit;
pub use procedure::{ProcedureArgs, ProcedureCommand, WhichArgs};

/// The long-term memory of a robot: it watches and listens, and answers questions with their evidence.
#[derive(Debug, Parser)]
#[command(name = "engram", version, long_version = crate::build_info::long_version(), after_help = Exit::help(), propagate_version = true, max_term_width = 110)]
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
    /// Ask how things are done: ways under conditions, next steps, habits; draw a procedure.
    Procedure(ProcedureArgs),
    /// See who is known by face, voice or name, and say who is who.
    #[command(subcommand)]
    Entity(EntityCommand),
    /// Cut seconds out of the recordings, exactly.
    Clip(ClipArgs),
    /// Verify every record of the store.
    Check,
    /// Hide what was observed of somebody, in a span or in an episode, for good.
    Forget(ForgetArgs),
    /// Take what was forgotten and superseded out of the store's file, for good.
    Compact(CompactArgs),
    /// Write the whole memory to one file, also while the agent runs.
    Backup(BackupArgs),
    /// Put a backup in the place of the memory.
    Restore(RestoreArgs),
    /// Write everything that is remembered as JSON lines, with its recordings.
    Export(ExportArgs),
    /// Remember what an export holds.
    Import(ImportArgs),
    /// Show, check and describe the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Find out what keeps this machine from working well, and what to do.
    Doctor(DoctorArgs),
    /// The models that see, hear and read: list, pull, add, verify, test and measure them.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Measure a part on recordings with known answers.
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Print shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff).
    #[command(hide = true)]
    Man,
    /// The builder's own process (its requests and answers are between programs).
    #[cfg(feature = "tensorrt")]
    #[command(hide = true)]
    BuildEngine,
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

/// `engram clip`.
#[derive(Debug, Clone, Args)]
pub struct ClipArgs {
    /// An episode, for instance ep-42, whole.
    #[arg(value_name = "EPISODE", required_unless_present = "since", conflicts_with_all = ["since", "until"])]
    pub episode: Option<String>,
    /// From this moment: a time, a date, or a duration ago such as 10m.
    #[arg(long, value_name = "TIME", requires = "until")]
    pub since: Option<String>,
    /// Up to this moment.
    #[arg(long, value_name = "TIME", requires = "since")]
    pub until: Option<String>,
    /// The source whose recording is wanted, where several have it.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// The clip: .mkv or .mp4.
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: PathBuf,
    /// Replace the file if it is there.
    #[arg(long)]
    pub force: bool,
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
    /// What is held to be so of persons and things.
    Facts {
        /// Only about this person or thing.
        subject: Option<String>,
        /// Also what holds no more.
        #[arg(long)]
        past: bool,
        /// How many at most.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Counts and sizes.
    Stats,
}

/// `engram entity`.
#[derive(Debug, Clone, Subcommand)]
pub enum EntityCommand {
    /// Persons by face and voice, and names that were told.
    List {
        /// How many at most.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Give somebody a name. Of two names, have both mean the same.
    Name {
        /// An id such as e-12, or a name.
        entity: String,
        /// The name.
        name: String,
    },
    /// Say that others are the same person.
    Merge {
        /// Who they are: an id or a name.
        entity: String,
        /// Ids or names of the others.
        #[arg(required = true)]
        same: Vec<String>,
    },
    /// Say that a face or a voice, or who was there in an event, was somebody else.
    Split {
        /// Whom it was held to be: an id or a name.
        entity: String,
        /// Ids of anchors such as e-15, or of events such as ev-42.
        #[arg(required = true)]
        others: Vec<String>,
    },
}

/// `engram forget`.
#[derive(Debug, Clone, Args)]
pub struct ForgetArgs {
    /// Everything that names this person or thing, under every name it has, and where it was recognised.
    #[arg(long, value_name = "NAME", required_unless_present_any = ["episodes", "since"])]
    pub entity: Option<String>,
    /// Whole episodes, such as ep-12.
    #[arg(long = "episode", value_name = "ID", conflicts_with = "entity")]
    pub episodes: Vec<String>,
    /// Everything from this time on, until `--until`.
    #[arg(long, requires = "until", conflicts_with_all = ["entity", "episodes"], value_name = "TIME")]
    pub since: Option<String>,
    /// The end of the span.
    #[arg(long, requires = "since", value_name = "TIME")]
    pub until: Option<String>,
    /// Work on the store itself; no agent may be using it.
    #[arg(long)]
    pub offline: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram compact`.
#[derive(Debug, Clone, Args)]
pub struct CompactArgs {
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram backup`.
#[derive(Debug, Clone, Args)]
pub struct BackupArgs {
    /// The file to write. While an agent runs, it writes to its own directory of backups first.
    pub file: PathBuf,
    /// Replace a file of this name.
    #[arg(long)]
    pub replace: bool,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram restore`.
#[derive(Debug, Clone, Args)]
pub struct RestoreArgs {
    /// The backup. While an agent runs, it must be in the agent's directory of backups.
    pub file: PathBuf,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// The directory to make. While an agent runs, it is made in the agent's directory of backups.
    pub dir: PathBuf,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram import`.
#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    /// What `engram export` has made. No agent may use the memory meanwhile.
    pub dir: PathBuf,
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
    /// Write a report for whoever helps, as readable JSON: findings, machine, configuration, health, warnings. No secrets,
    /// nothing remembered.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "engram-report.json")]
    pub report: Option<PathBuf>,
}

/// `engram models`.
#[derive(Debug, Clone, Subcommand)]
pub enum ModelsCommand {
    /// Show every role with what fills it.
    List,
    /// Bring what is missing into the models directory, each file checked by its sha256.
    Pull(PullArgs),
    /// Let a model of your own fill a role; it is tried, copied and pinned in models.lock.
    Add(AddArgs),
    /// Take an added model out again; the catalogue's fills the role.
    Remove {
        /// The role, such as `objects`.
        role: String,
    },
    /// Read every byte of what is installed; exit code 4 if a file is damaged.
    Verify,
    /// Say for each installed model whether its output is sane; exit code 8 if one's is not.
    Test,
    /// Build TensorRT's engines ahead of time; on a small board this takes minutes each.
    #[cfg(feature = "tensorrt")]
    Build(BuildArgs),
    /// Measure every encoder on every backend that is there and print one table.
    Bench {
        /// Runs of each.
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        rounds: u32,
    },
}

/// `engram models build`.
#[cfg(feature = "tensorrt")]
#[derive(Debug, Clone, Args)]
pub struct BuildArgs {
    /// Only for these roles, such as `objects`; without any, every model that TensorRT can build.
    #[arg(value_name = "ROLE")]
    pub roles: Vec<String>,
    /// Build engines anew that are there already.
    #[arg(long)]
    pub fresh: bool,
}

/// `engram models pull`.
#[derive(Debug, Clone, Args)]
pub struct PullArgs {
    /// Only for these roles, such as `"face embedding"`; without any, the default profile.
    #[arg(value_name = "ROLE")]
    pub roles: Vec<String>,
    /// A folder that holds the files under any names; they are found by their bytes.
    #[arg(long, value_name = "DIR", env = "ENGRAM_MODEL_MIRROR")]
    pub mirror: Option<PathBuf>,
    /// Accept the licences of the models instead of being asked.
    #[arg(long, visible_alias = "accept-license")]
    pub accept_licence: bool,
    /// The directory to fill, instead of the one that is searched.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Fail if anything is missing at the end; exit code 6.
    #[arg(long)]
    pub strict: bool,
}

/// `engram models add`.
#[derive(Debug, Clone, Args)]
pub struct AddArgs {
    /// The role, such as `objects`.
    pub role: String,
    /// The network, an ONNX file.
    pub graph: PathBuf,
    /// What to call it; the file's name without this.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Its licence.
    #[arg(long, value_name = "TEXT")]
    pub licence: Option<String>,
    /// Class names, one a line.
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Texts to tokens, a `tokenizer.json`.
    #[arg(long, value_name = "FILE")]
    pub tokenizer: Option<PathBuf>,
    /// The network for texts of a model that has one for pictures too.
    #[arg(long, value_name = "FILE")]
    pub text_graph: Option<PathBuf>,
    /// A [[model]] of its own, as in config/models.toml, where the catalogue's entry of the role does not fit.
    #[arg(long, value_name = "FILE")]
    pub entry: Option<PathBuf>,
    /// Name of its vector space; without this, its name and a part of its sha256.
    #[arg(long, value_name = "NAME")]
    pub space: Option<String>,
    /// Length of its vectors, where the graph leaves it open.
    #[arg(long, value_name = "N")]
    pub dimensions: Option<usize>,
    /// A threshold, such as `score=0.5`; repeat for each.
    #[arg(long = "parameter", value_name = "KEY=NUMBER", value_parser = key_value)]
    pub parameters: Vec<(String, String)>,
    /// The directory to put it into, instead of the one that is searched.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
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
    /// Size and speed of the compressed index, on entries recombined from real texts.
    Index(IndexBenchArgs),
    /// Next steps, ways, grouping and mining on told sessions with questions, and what learning costs.
    Procedures(ProceduresBenchArgs),
}

/// `engram bench procedures`.
#[derive(Debug, Clone, Args)]
pub struct ProceduresBenchArgs {
    /// Directory with `observations_train.jsonl` and `queries_SPLIT.json`.
    pub dir: PathBuf,
    /// Which questions.
    #[arg(long, value_name = "SPLIT", default_value = "dev")]
    pub split: String,
    /// Topics of facts in the made household.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub facts: u64,
    /// Procedures in it, each with thirty sessions.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub procedures: u64,
    /// Also use the text embedding model, where one is installed.
    #[arg(long)]
    pub embed: bool,
    /// Write sessions and mined patterns into this file, a line of JSON for each goal, to compare with another program.
    #[arg(long, value_name = "FILE")]
    pub patterns: Option<PathBuf>,
}

/// `engram bench index`.
#[derive(Debug, Clone, Args)]
pub struct IndexBenchArgs {
    /// Directory with conversations: `observations.jsonl` and `questions.json`, in it or in its subdirectories.
    pub dir: PathBuf,
    /// How many entries; several sizes, separated by commas, are measured one after the other.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1000000")]
    pub entries: Vec<u64>,
    /// How many questions.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub queries: usize,
    /// Do not keep the vectors to scan them: saves 1,536 bytes an entry while it runs.
    #[arg(long)]
    pub no_scan: bool,
    /// Draw cost against size into this SVG file.
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
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
