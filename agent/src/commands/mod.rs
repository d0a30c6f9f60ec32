//! One file per command of the program.

mod answer_text;
mod ask;
mod bench;
mod bench_index;
mod bench_poses;
mod bench_procedures;
#[cfg(feature = "tensorrt")]
mod build_engine;
mod check;
mod clip;
mod config;
mod doctor;
mod entity;
mod forget;
mod inspect;
mod man;
mod mcp;
mod models;
mod observe;
mod offline;
mod place;
mod procedure;
mod replay;
mod requester;
mod run;
mod search;
mod upkeep;

use clap::CommandFactory;

use crate::cli::{Cli, Command, GlobalArgs};
use crate::config::{LayerSources, Loaded, Origin, load};
use crate::exit::{Exit, Failure, OrExit};
use crate::logging::{self, Log};
use crate::output::Output;

/// Runs a command and says on stderr why it failed, if it did.
pub fn dispatch(cli: Cli) -> Exit {
    let output = Output { json: cli.global.json };
    match execute(cli, output) {
        Ok(exit) => exit,
        Err(failure) => {
            report(&failure, output);
            failure.exit
        }
    }
}

#[allow(clippy::print_stderr, reason = "the command's own message, which must appear whatever the log filter is")]
fn report(failure: &Failure, output: Output) {
    if output.json {
        output.json(&serde_json::json!({
            "error": { "exit": failure.exit as u8, "message": format!("{:#}", failure.error) }
        }));
    }
    eprintln!("engram: {:#}", failure.error);
}

fn execute(cli: Cli, output: Output) -> Result<Exit, Failure> {
    match cli.command {
        Command::Config(command) => config::run(&command, &cli.global, output),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "engram", &mut script);
            output.text(String::from_utf8_lossy(&script).trim_end());
            Ok(Exit::Ok)
        }
        Command::Man => {
            output.text(man::page().or_exit(Exit::Internal)?.trim_end());
            Ok(Exit::Ok)
        }
        #[cfg(feature = "tensorrt")]
        Command::BuildEngine => build_engine::run(),
        Command::Run(args) => run::run(&args, &cli.global),
        Command::Ask(args) => ask::run(&args, &cli.global, output),
        Command::Observe(args) => observe::run(&args, &cli.global, output),
        Command::Mcp(args) => mcp::run(&args, &cli.global),
        Command::Replay(args) => replay::run(&args, &cli.global, output),
        Command::Inspect(args) => inspect::run(&args, &cli.global, output),
        Command::Procedure(args) => procedure::run(&args, &cli.global, output),
        Command::Search(args) => search::run(&args, &cli.global, output),
        Command::Entity(command) => entity::run(&command, &cli.global, output),
        Command::Check => check::run(&cli.global, output),
        Command::Forget(args) => forget::run(&args, &cli.global, output),
        Command::Compact(args) => upkeep::compact(&args, &cli.global, output),
        Command::Backup(args) => upkeep::backup(&args, &cli.global, output),
        Command::Restore(args) => upkeep::restore(&args, &cli.global, output),
        Command::Export(args) => upkeep::export(&args, &cli.global, output),
        Command::Import(args) => upkeep::import(&args, &cli.global, output),
        Command::Clip(args) => clip::run(&args, &cli.global, output),
        Command::Doctor(args) => doctor::run(&args, &cli.global, output),
        Command::Models(command) => models::run(&command, &cli.global, output),
        Command::Bench(command) => bench::run(&command, &cli.global, output),
    }
}

/// Loads the configuration and starts logging. `quiet`: only warnings, unless a level was set; commands for people say
/// what matters themselves.
///
/// # Errors
/// [`Exit::Config`] if it cannot be used.
fn prepare(global: &GlobalArgs, quiet: bool) -> Result<(Loaded, Log), Failure> {
    prepare_layers(&global.layers(), quiet)
}

fn prepare_layers(layers: &LayerSources, quiet: bool) -> Result<(Loaded, Log), Failure> {
    let mut loaded = load(layers).or_exit(Exit::Config)?;
    let level_of_a_command = matches!(loaded.origin("log.level"), Origin::Flag(_) | Origin::Environment(_));
    if quiet && !level_of_a_command {
        loaded.config.log.level = "warn".to_owned();
    }
    let log = logging::start(&loaded.config.log).or_exit(Exit::Config)?;
    Ok((loaded, log))
}

/// Runs the MQTT part of a command that is otherwise plain code.
fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime on the current thread needs an epoll handle, without which nothing works");
    runtime.block_on(work)
}
