//! The command line.

#[cfg(test)]
mod document_tests;
mod procedure;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use memory_core::{Near, Pose, RawPose};
use toml::Value;

use crate::config::{FlagValue, LayerSources, SourceConfig, Speed};
use crate::exit::Exit;
pub use procedure::{ProcedureArgs, ProcedureCommand, WhichArgs};

/// The long-term memory of a robot. It watches, listens and is told things, and answers questions with evidence.
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
    /// Read only this configuration, instead of /etc/engram.
    #[arg(long, global = true, value_name = "FILE", env = "ENGRAM_CONFIG")]
    pub config: Option<PathBuf>,
    /// Set any key of the configuration, for instance `--set mqtt.port=1884`.
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// Directory of the memory and the models.
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
    /// Find events by words, phrases and nearby words.
    #[command(after_help = SEARCH_HELP)]
    Search(SearchArgs),
    /// Tell the memory something.
    Observe(ObserveArgs),
    /// Give a language model this memory: serve the Model Context Protocol on stdin and stdout.
    Mcp(McpArgs),
    /// Remember recordings as fast as the encoders can, and show the result.
    Replay(ReplayArgs),
    /// Show what is in the memory.
    Inspect(InspectArgs),
    /// Ask how things are done: paths under conditions, next steps, habits. Draw a procedure.
    Procedure(ProcedureArgs),
    /// List the persons known by face, voice or name, and name, merge or split them.
    #[command(subcommand)]
    Entity(EntityCommand),
    /// Cut an episode or a span out of the recordings.
    Clip(ClipArgs),
    /// Verify every record of the store.
    Check,
    /// Forget a person or thing, a span of time or whole episodes, for good.
    Forget(ForgetArgs),
    /// Remove forgotten and superseded data from the store's file, for good.
    Compact(CompactArgs),
    /// Write the whole memory to one file, also while the agent runs.
    Backup(BackupArgs),
    /// Replace the memory with a backup.
    Restore(RestoreArgs),
    /// Write the whole memory as JSON lines, with its recordings.
    Export(ExportArgs),
    /// Add an export to the memory.
    Import(ImportArgs),
    /// Show, check and describe the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Find what is missing or wrong on this machine, and say what to do.
    Doctor(DoctorArgs),
    /// Manage the models: list, download, add, verify, test and measure them.
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Measure a part of engram on data with known answers.
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
    /// Wall-clock time at which the recording begins, RFC 3339. Default: the creation time in the file, else now.
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
    /// Speed of files: as recorded, or as fast as the encoders can.
    #[arg(long, value_enum)]
    pub speed: Option<Speed>,
    /// How files are played.
    #[command(flatten)]
    pub playback: PlaybackArgs,
    /// Exit when every file has been played and embedded.
    #[arg(long)]
    pub exit_at_end: bool,
    /// Refuse to start if the metrics port is taken or the broker cannot be used, instead of reporting it in health.
    #[arg(long)]
    pub strict: bool,
}

/// `engram ask`.
#[derive(Debug, Clone, Args)]
pub struct AskArgs {
    /// The question, in plain words.
    pub question: String,
    /// An option to choose from; repeat it for each option.
    #[arg(long = "option", value_name = "TEXT")]
    pub options: Vec<String>,
    /// Use only events at or after this: a time, a date, or a duration ago such as 2h.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Use only events at or before this.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// The time that "now" means in the question. Default: the clock.
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Use only what happened within a radius of a point, in metres on the map FRAME (`map` if it is left out).
    #[arg(long, value_name = "X,Y,RADIUS[,FRAME]", value_parser = near, allow_hyphen_values = true)]
    pub near: Option<Near>,
    /// Maximum number of evidence items.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub top_k: u16,
    /// Show the reason of the answer and the steps that led to it.
    #[arg(short = 'v', long)]
    pub trace: bool,
    /// How much work the answer is worth: `fast` asks the memory alone, `thorough` looks at the recordings again in any case.
    #[arg(long, value_name = "EFFORT", default_value = "normal", value_parser = ["fast", "normal", "thorough"])]
    pub effort: String,
    /// How long to wait, in seconds. Default: 10, or 60 with `--effort thorough`.
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub timeout: Option<f64>,
    /// Open the data directory instead of asking the running agent by MQTT.
    #[arg(long)]
    pub offline: bool,
}

const SEARCH_HELP: &str = "\
Every part of a query must be there:
  mug              a word in any of its forms
  \"red mug\"        words next to each other
  -sink            no event with this word; also -\"red mug\"
  mug near/5 sink  at most 5 words apart, in either order
  who:Anna         about this person or thing; who:\"Anna Lee\"
  kind:action      text, caption, sound, object, entity, action or state; again for another kind
  since:2h  until:2026-11-20  since:\"2026-11-20 08:00\"
Small words such as \"the\" count nowhere. Write -- before a query that begins with a minus.";

/// `engram search`.
#[derive(Debug, Clone, Args)]
pub struct SearchArgs {
    /// What to find; see below.
    #[arg(required_unless_present = "like", value_name = "QUERY")]
    pub query: Vec<String>,
    /// Show the best matches first instead of the newest.
    #[arg(long)]
    pub best: bool,
    /// Show what is like this event or episode, such as ev-42 or ep-12, the most alike first. A query beside it narrows that down.
    #[arg(long, value_name = "ID", conflicts_with = "best")]
    pub like: Option<String>,
    /// How like it an event must be: a cosine above 0 and at most 1. Default: 0.5.
    #[arg(long, value_name = "COSINE", requires = "like")]
    pub likeness: Option<f64>,
    /// Only events within a radius of a point, in metres on the map FRAME (`map` if it is left out).
    #[arg(long, value_name = "X,Y,RADIUS[,FRAME]", value_parser = near, allow_hyphen_values = true)]
    pub near: Option<Near>,
    /// Maximum number of events to show; all are counted.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub limit: u16,
}

/// `engram observe`.
#[derive(Debug, Clone, Args)]
pub struct ObserveArgs {
    /// What was observed, in words.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub text: Option<String>,
    /// Kind of the observation.
    #[arg(long, value_name = "KIND", default_value = "text",
        value_parser = ["text", "caption", "sound", "object", "entity", "action", "state"])]
    pub kind: String,
    /// The program that reports it.
    #[arg(long, value_name = "NAME", default_value = "engram-cli")]
    pub source: String,
    /// The person or thing that it is about, or who spoke.
    #[arg(long, value_name = "NAME")]
    pub entity: Option<String>,
    /// When it began: a time, a date, or a duration ago such as 10m. Default: now.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// When it ended.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Your own id for it, returned in evidence.
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// A free attribute; repeat it for each attribute.
    #[arg(long = "attribute", value_name = "KEY=VALUE", value_parser = key_value)]
    pub attributes: Vec<(String, String)>,
    /// Confidence, 0 to 1.
    #[arg(long, value_name = "0..1", value_parser = zero_to_one)]
    pub confidence: Option<f32>,
    /// Where it was: metres, radians, and the name of the map (`map` if it is left out).
    #[arg(long, value_name = "X,Y[,YAW[,FRAME]]", value_parser = pose, allow_hyphen_values = true)]
    pub pose: Option<Pose>,
    /// File of observations as JSON: one object a line, or one array. `-` reads stdin.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How long to wait for each batch, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = positive_seconds)]
    pub timeout: f64,
    /// Open the data directory instead of telling the running agent by MQTT.
    #[arg(long)]
    pub offline: bool,
}

/// `engram mcp`.
#[derive(Debug, Clone, Args)]
pub struct McpArgs {
    /// Also offer the tool `forget`.
    #[arg(long)]
    pub allow_forget: bool,
}

/// `engram replay`.
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// Recordings; they are played one after the other.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How files are played.
    #[command(flatten)]
    pub playback: PlaybackArgs,
    /// Speed: as recorded, or as fast as the encoders can.
    #[arg(long, value_enum, default_value = "max")]
    pub speed: Speed,
    /// Then answer this question; repeat it for each question.
    #[arg(long = "ask", value_name = "QUESTION")]
    pub questions: Vec<String>,
    /// Maximum number of events to show.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub show: usize,
}

/// `engram clip`.
#[derive(Debug, Clone, Args)]
pub struct ClipArgs {
    /// A whole episode, for instance ep-42.
    #[arg(value_name = "EPISODE", required_unless_present = "since", conflicts_with_all = ["since", "until"])]
    pub episode: Option<String>,
    /// Start of the clip: a time, a date, or a duration ago such as 10m.
    #[arg(long, value_name = "TIME", requires = "until")]
    pub since: Option<String>,
    /// End of the clip.
    #[arg(long, value_name = "TIME", requires = "since")]
    pub until: Option<String>,
    /// The source to use, if several have a recording of this time.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// The clip to write: .mkv or .mp4.
    #[arg(short, long = "output", value_name = "FILE")]
    pub out: PathBuf,
    /// Replace an existing file.
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
    /// Episodes, newest first; with an id, one whole episode.
    Episodes {
        /// One episode, for instance ep-42.
        id: Option<String>,
        /// Only episodes at or after this time.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only episodes at or before this time.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Only episodes with an event about this person or thing.
        #[arg(long, value_name = "NAME")]
        entity: Option<String>,
        /// Only episodes with an event at this place.
        #[arg(long, value_name = "PLACE")]
        place: Option<String>,
        /// Only episodes with an event within a radius of a point, in metres on the map FRAME (`map` if it is left out).
        #[arg(long, value_name = "X,Y,RADIUS[,FRAME]", value_parser = near, allow_hyphen_values = true)]
        near: Option<Near>,
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Continue after this episode.
        #[arg(long, value_name = "EPISODE")]
        cursor: Option<String>,
    },
    /// Single events, in order of commit.
    Events {
        /// Continue after this commit number.
        #[arg(long, value_name = "N")]
        after: Option<u64>,
        /// Only events within a radius of a point, in metres on the map FRAME (`map` if it is left out).
        #[arg(long, value_name = "X,Y,RADIUS[,FRAME]", value_parser = near, allow_hyphen_values = true)]
        near: Option<Near>,
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Persons and things, most frequent first.
    Entities {
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Facts about persons and things.
    Facts {
        /// Only facts about this person or thing.
        subject: Option<String>,
        /// Also facts that no longer hold.
        #[arg(long)]
        past: bool,
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Summaries of hours or days, newest first.
    Gists {
        /// How long the summarised stretches are: minute, hour or day.
        #[arg(long, value_name = "LEVEL", default_value = "hour", value_parser = ["minute", "hour", "day"])]
        level: String,
        /// Only what happened at or after this time.
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only what happened at or before this time.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 24)]
        limit: usize,
    },
    /// Places that have a name, with the robot's visits to them, and those that somebody only spoke of.
    Places {
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Counts and sizes.
    Stats,
}

/// `engram entity`.
#[derive(Debug, Clone, Subcommand)]
pub enum EntityCommand {
    /// List persons by face and voice, and names in events.
    List {
        /// Maximum number to list.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Name a person. With two names, make both mean the same person.
    Name {
        /// An id such as e-12, or a name.
        entity: String,
        /// The name.
        name: String,
    },
    /// Merge other persons into one.
    Merge {
        /// The person who they are: an id or a name.
        entity: String,
        /// Ids or names of the others.
        #[arg(required = true)]
        same: Vec<String>,
    },
    /// Separate a face, a voice or an event from a person.
    Split {
        /// The person to separate it from: an id or a name.
        entity: String,
        /// Ids of anchors such as e-15, or of events such as ev-42.
        #[arg(required = true)]
        others: Vec<String>,
    },
}

/// `engram forget`.
#[derive(Debug, Clone, Args)]
pub struct ForgetArgs {
    /// Every event that names this person or thing, under each of its names, or in which it was recognised.
    #[arg(long, value_name = "NAME", required_unless_present_any = ["episodes", "since"])]
    pub entity: Option<String>,
    /// Whole episodes, such as ep-12.
    #[arg(long = "episode", value_name = "ID", conflicts_with = "entity")]
    pub episodes: Vec<String>,
    /// Everything from this time until `--until`.
    #[arg(long, requires = "until", conflicts_with_all = ["entity", "episodes"], value_name = "TIME")]
    pub since: Option<String>,
    /// The end of the span.
    #[arg(long, requires = "since", value_name = "TIME")]
    pub until: Option<String>,
    /// Work on the store itself; no agent may be using it.
    #[arg(long)]
    pub offline: bool,
    /// Do not ask for confirmation.
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
    /// The file to write. A running agent writes the backup to its own directory first; the command copies it from there.
    pub file: PathBuf,
    /// Replace an existing file.
    #[arg(long)]
    pub replace: bool,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram restore`.
#[derive(Debug, Clone, Args)]
pub struct RestoreArgs {
    /// The backup to read. A running agent gets a copy of it.
    pub file: PathBuf,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// The directory to create. A running agent writes the export to its own directory first; the command copies it from
    /// there.
    pub dir: PathBuf,
    /// How long to wait for the agent, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 3600.0, value_parser = positive_seconds)]
    pub timeout: f64,
}

/// `engram import`.
#[derive(Debug, Clone, Args)]
pub struct ImportArgs {
    /// A directory written by `engram export`. No agent may be running on the memory.
    pub dir: PathBuf,
}

/// `engram config`.
#[derive(Debug, Clone, Subcommand)]
pub enum ConfigCommand {
    /// Print the effective configuration and where each value came from.
    Show,
    /// Report mistakes in the configuration; exit code 3 if there are any.
    Check,
    /// Print the JSON Schema of the configuration.
    Schema,
}

/// `engram doctor`.
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// Skip the checks that need the broker.
    #[arg(long)]
    pub no_broker: bool,
    /// How long to wait for each source, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = positive_seconds)]
    pub timeout: f64,
    /// Write a report for support as JSON: findings, machine, configuration, health, warnings. It contains no secrets and
    /// nothing from the memory.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "engram-report.json")]
    pub report: Option<PathBuf>,
}

/// `engram models`.
#[derive(Debug, Clone, Subcommand)]
pub enum ModelsCommand {
    /// List every role with its model.
    List,
    /// Download missing models into the models directory; each file is checked by its sha256.
    Pull(PullArgs),
    /// Use a model of your own for a role; it is tested, copied and pinned in models.lock.
    Add(AddArgs),
    /// Remove an added model; the role goes back to the model of the catalogue.
    Remove {
        /// The role, such as `objects`.
        role: String,
    },
    /// Verify every installed file; exit code 4 if one is damaged.
    Verify,
    /// Test whether the output of each installed model is plausible; exit code 8 if one's is not.
    Test,
    /// Build TensorRT's engines ahead of time; on a small board this takes minutes each.
    #[cfg(feature = "tensorrt")]
    Build(BuildArgs),
    /// Measure every encoder on every available backend and print one table.
    Bench {
        /// Number of runs of each encoder.
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        rounds: u32,
    },
}

/// `engram models build`.
#[cfg(feature = "tensorrt")]
#[derive(Debug, Clone, Args)]
pub struct BuildArgs {
    /// Only these roles, such as `objects`. Default: every model that TensorRT can build.
    #[arg(value_name = "ROLE")]
    pub roles: Vec<String>,
    /// Also rebuild engines that exist already.
    #[arg(long)]
    pub fresh: bool,
}

/// `engram models pull`.
#[derive(Debug, Clone, Args)]
pub struct PullArgs {
    /// Only these roles, such as `"face embedding"`. Default: the default profile.
    #[arg(value_name = "ROLE")]
    pub roles: Vec<String>,
    /// A folder that holds the files under any names; they are found by their sha256.
    #[arg(long, value_name = "DIR", env = "ENGRAM_MODEL_MIRROR")]
    pub mirror: Option<PathBuf>,
    /// Accept the licences of the models without being asked.
    #[arg(long, visible_alias = "accept-license")]
    pub accept_licence: bool,
    /// The directory to fill. Default: the models directory of the configuration.
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
    /// The model: an ONNX file.
    pub graph: PathBuf,
    /// Name of the model. Default: the name of the file.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Licence of the model.
    #[arg(long, value_name = "TEXT")]
    pub licence: Option<String>,
    /// Class names, one a line.
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// The tokenizer: a `tokenizer.json`.
    #[arg(long, value_name = "FILE")]
    pub tokenizer: Option<PathBuf>,
    /// The text half of a model for pictures and texts: an ONNX file.
    #[arg(long, value_name = "FILE")]
    pub text_graph: Option<PathBuf>,
    /// A file with a [[model]] entry as in config/models.toml, if the catalogue's entry for the role does not fit.
    #[arg(long, value_name = "FILE")]
    pub entry: Option<PathBuf>,
    /// Name of the vector space. Default: the name of the model and a part of its sha256.
    #[arg(long, value_name = "NAME")]
    pub space: Option<String>,
    /// Length of the vectors, if the model leaves it open.
    #[arg(long, value_name = "N")]
    pub dimensions: Option<usize>,
    /// A threshold, such as `score=0.5`; repeat it for each threshold.
    #[arg(long = "parameter", value_name = "KEY=NUMBER", value_parser = key_value)]
    pub parameters: Vec<(String, String)>,
    /// The directory to copy it to. Default: the models directory of the configuration.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// `engram bench`.
#[derive(Debug, Clone, Subcommand)]
pub enum BenchCommand {
    /// Measure the segmenter (boundary F1) on clips with known boundaries.
    Segments {
        /// Directory with the clips and their known boundaries.
        dir: PathBuf,
        /// Tolerance of a boundary, in seconds.
        #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = positive_seconds)]
        tolerance: f64,
    },
    /// Measure size and speed of the index, on entries recombined from real texts.
    Index(IndexBenchArgs),
    /// Measure procedures on sessions with known answers: next steps, paths, grouping, mining, and the cost of learning.
    Procedures(ProceduresBenchArgs),
    /// Measure what the poses of a robot cost: processor time and bytes of the store, under a clock of its own.
    Poses(PosesBenchArgs),
}

/// `engram bench poses`.
#[derive(Debug, Clone, Args)]
pub struct PosesBenchArgs {
    /// Poses a second.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rate: u32,
    /// Minutes that the robot drives, of its own clock.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub minutes: u32,
}

/// `engram bench procedures`.
#[derive(Debug, Clone, Args)]
pub struct ProceduresBenchArgs {
    /// Directory with `observations_train.jsonl`, `observations_SPLIT.jsonl` and `queries_SPLIT.json`.
    pub dir: PathBuf,
    /// Which set of questions.
    #[arg(long, value_name = "SPLIT", default_value = "dev")]
    pub split: String,
    /// Number of facts in the generated household.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub facts: u64,
    /// Number of procedures in the generated household, each with thirty sessions.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub procedures: u64,
    /// Also use the text embedding model, if one is installed.
    #[arg(long)]
    pub embed: bool,
    /// Write sessions and mined patterns to this file, one JSON line for each goal, to compare with another program.
    #[arg(long, value_name = "FILE")]
    pub patterns: Option<PathBuf>,
}

/// `engram bench index`.
#[derive(Debug, Clone, Args)]
pub struct IndexBenchArgs {
    /// Directory with conversations: `observations.jsonl` and `questions.json`, in it or in its subdirectories.
    pub dir: PathBuf,
    /// Number of entries. Several numbers, separated by commas, are measured one after the other.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1000000")]
    pub entries: Vec<u64>,
    /// Number of questions.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub queries: usize,
    /// Do not compare with a scan of the vectors. This saves 1,536 bytes an entry.
    #[arg(long)]
    pub no_scan: bool,
    /// Draw time and space against the number of entries, as an SVG file.
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

fn near(text: &str) -> Result<Near, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let (numbers, frame) = match parts.as_slice() {
        [numbers @ .., frame] if numbers.len() == 3 => (numbers, *frame),
        numbers => (numbers, crate::mqtt::pose::DEFAULT_FRAME),
    };
    let numbers: Vec<f64> = numbers.iter().filter_map(|number| number.parse().ok()).collect();
    let [x, y, radius] = numbers[..] else {
        return Err("expected three numbers of metres, such as 2.5,-1,3, and perhaps the name of the map".to_owned());
    };
    let near = Near { frame: frame.to_owned(), x, y, radius };
    near.check().map_err(|error| error.to_string())?;
    Ok(near)
}

fn pose(text: &str) -> Result<Pose, String> {
    let mut parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_number = |part: &str| part.parse::<f64>().is_ok();
    let named = parts.len() > 2 && parts.last().is_some_and(|last| !is_number(last));
    let frame = parts.pop_if(|_| named).unwrap_or(crate::mqtt::pose::DEFAULT_FRAME);
    let numbers: Vec<f64> = parts.iter().filter_map(|number| number.parse().ok()).collect();
    let (x, y, yaw) = match numbers[..] {
        _ if numbers.len() != parts.len() => (f64::NAN, 0.0, 0.0),
        [x, y] => (x, y, 0.0),
        [x, y, yaw] => (x, y, yaw),
        _ => (f64::NAN, 0.0, 0.0),
    };
    if x.is_nan() {
        return Err(
            "expected metres and perhaps a heading in radians, such as 2.5,-1 or 2.5,-1,1.57, and perhaps the \
                    name of the map"
                .to_owned(),
        );
    }
    RawPose { frame: frame.to_owned(), x, y, yaw, ..RawPose::default() }.check().map_err(|error| error.to_string())
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
    fn a_pose_is_metres_a_heading_and_a_map() {
        let read = |text: &str| pose(text).map(|pose| (pose.x, pose.y, pose.yaw, pose.frame));
        assert_eq!(read("2.5,-1"), Ok((2.5, -1.0, 0.0, "map".to_owned())));
        assert_eq!(read("2.5, -1, 1.5"), Ok((2.5, -1.0, 1.5, "map".to_owned())));
        assert_eq!(read("2.5,-1,1.5,cellar"), Ok((2.5, -1.0, 1.5, "cellar".to_owned())));
        assert_eq!(read("2.5,-1,cellar"), Ok((2.5, -1.0, 0.0, "cellar".to_owned())));
        for wrong in ["", "1", "1,b", "a,b", "1,2,3,4", "NaN,1", "inf,1", "99999999,1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn observe_needs_a_text_or_a_file_and_not_both() {
        assert!(Cli::try_parse_from(["engram", "observe"]).is_err());
        assert!(Cli::try_parse_from(["engram", "observe", "a", "--file", "b"]).is_err());
        assert!(Cli::try_parse_from(["engram", "observe", "--file", "-"]).is_ok());
    }
}
