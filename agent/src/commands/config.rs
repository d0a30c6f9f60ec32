//! `engram config`.

use serde_json::json;

use crate::cli::{ConfigCommand, GlobalArgs};
use crate::config;
use crate::exit::{Exit, Failure, OrExit};
use crate::output::Output;

/// Shows, checks or describes the configuration.
///
/// # Errors
/// [`Exit::Config`] if it cannot be used.
pub fn run(command: &ConfigCommand, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Schema => {
            let text = serde_json::to_string_pretty(&config::schema()).or_exit(Exit::Internal)?;
            output.text(text);
        }
        ConfigCommand::Show => {
            let loaded = config::load(&global.layers()).or_exit(Exit::Config)?;
            if output.json {
                output.json(&config::origins_json(&loaded));
            } else {
                output.text(config::annotated_toml(&loaded).trim_start());
            }
        }
        ConfigCommand::Check => return check(global, output),
    }
    Ok(Exit::Ok)
}

fn check(global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    match config::load(&global.layers()) {
        Ok(loaded) => {
            if output.json {
                output.json(&json!({ "ok": true, "problems": [], "files": loaded.files }));
            } else if loaded.files.is_empty() {
                output.text("the configuration is sound (no file: embedded defaults)");
            } else {
                let files: Vec<String> = loaded.files.iter().map(|file| file.display().to_string()).collect();
                output.text(format!("the configuration is sound ({})", files.join(", ")));
            }
            Ok(Exit::Ok)
        }
        Err(error) if output.json => {
            let problems: Vec<_> = error
                .problems
                .iter()
                .map(|problem| {
                    json!({
                        "key": problem.key,
                        "origin": problem.origin.to_string(),
                        "message": problem.message,
                        "hint": problem.hint,
                    })
                })
                .collect();
            output.json(&json!({ "ok": false, "problems": problems }));
            Ok(Exit::Config)
        }
        Err(error) => Err(Failure { exit: Exit::Config, error: error.into() }),
    }
}
