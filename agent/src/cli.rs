//! The command line.

mod bench;
mod changes;
#[cfg(test)]
mod document_tests;
mod machine;
mod models;
mod procedure;
mod questions;
mod run;
mod upkeep;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use toml::Value;

use crate::config::{FlagValue, LayerSources};
use crate::exit::Exit;
pub use bench::{BenchCommand, IndexBenchArgs, PosesBenchArgs, ProceduresBenchArgs};
pub use changes::{EntityCommand, ForgetArgs, ObserveArgs};
pub use machine::{ConfigCommand, DoctorArgs};
#[cfg(feature = "tensorrt")]
pub use models::BuildArgs;
pub use models::{AddArgs, ModelsCommand, PullArgs};
pub use procedure::{ProcedureArgs, ProcedureCommand, WhichArgs};
use questions::SEARCH_HELP;
pub use questions::{AskArgs, ClipArgs, InspectArgs, InspectCommand, SearchArgs};
pub use run::{McpArgs, PlaybackArgs, ReplayArgs, RunArgs, source_of_flag};
pub use upkeep::{BackupArgs, CompactArgs, ExportArgs, ImportArgs, RestoreArgs};
use values::key_value;

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
