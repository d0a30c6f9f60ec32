//! `engram config`.

use serde_json::json;

use crate::cli::{ConfigCommand, GlobalArgs};
use crate::config::{self, ConfigError, Loaded, Problem};
use crate::exit::{Exit, Failure, OrExit};
use crate::mqtt::MqttError;
use crate::mqtt::client::Broker;
use crate::opening;
use crate::output::Output;
use crate::senses::encoders;

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

/// The same, if the files that it names can be used.
fn with_files(loaded: Loaded) -> Result<Loaded, ConfigError> {
    let config = &loaded.config;
    let mut problems = Vec::new();
    let mut say = |key: String, message: String| {
        problems.push(Problem { origin: loaded.origin(&key), key, message, hint: None });
    };
    match Broker::new(&config.mqtt) {
        Err(MqttError::Config { key, message }) if config.mqtt.enabled => say(format!("mqtt.{key}"), message),
        Err(error) if config.mqtt.enabled => say("mqtt".to_owned(), error.to_string()),
        _ => {}
    }
    if let Err(failure) = encoders::installed(&config.models, None) {
        say("models.manifest".to_owned(), format!("cannot be used: {:#}", failure.error));
    }
    if let Some(message) = config::unusable(&config::Directories::from_config(config).data) {
        say("data_dir".to_owned(), format!("cannot be used: {message}"));
    }
    if let Err(failure) = opening::robot(config) {
        say("robot".to_owned(), format!("is not set, and {:#}", failure.error));
    }
    if problems.is_empty() { Ok(loaded) } else { Err(ConfigError { problems }) }
}

fn check(global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    match config::load(&global.layers()).and_then(with_files) {
        Ok(loaded) => {
            let warnings = config::beyond_the_disk(&loaded.config);
            if !output.json {
                warnings
                    .iter()
                    .for_each(|warning| output.text(format!("{warning}; older recordings are deleted earlier")));
            }
            if output.json {
                output.json(&json!({ "ok": true, "problems": [], "warnings": warnings, "files": loaded.files }));
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
