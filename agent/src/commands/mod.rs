//! One file per command of the program.

mod config;

use clap::CommandFactory;

use crate::cli::{Cli, Command, GlobalArgs};
use crate::config::{Loaded, load};
use crate::exit::{Exit, Failure, OrExit};
use crate::logging::{self, LastError};
use crate::output::Output;

/// Runs a command and says on stderr why it failed, if it did.
pub fn dispatch(cli: Cli) -> Exit {
    let output = Output { json: cli.global.json };
    match run(cli, output) {
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

fn run(cli: Cli, output: Output) -> Result<Exit, Failure> {
    match cli.command {
        Command::Config(command) => config::run(&command, &cli.global, output),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "engram", &mut script);
            output.text(String::from_utf8_lossy(&script).trim_end());
            Ok(Exit::Ok)
        }
        _ => Err(Failure::new(Exit::Internal, "not there yet")),
    }
}

/// Loads the configuration and starts logging.
///
/// # Errors
/// [`Exit::Config`] if it cannot be used.
fn prepare(global: &GlobalArgs, quiet: bool) -> Result<(Loaded, LastError), Failure> {
    let mut loaded = load(&global.layers()).or_exit(Exit::Config)?;
    // Commands for people say what matters themselves; only the daemon narrates.
    if quiet && loaded.origin("log.level") == crate::config::Origin::Default {
        loaded.config.log.level = "warn".to_owned();
    }
    let last_error = logging::start(&loaded.config.log).or_exit(Exit::Config)?;
    Ok((loaded, last_error))
}
