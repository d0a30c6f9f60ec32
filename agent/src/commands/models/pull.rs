use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};

use drivers::models::{ModelStore, PullError};
use serde_json::json;

use super::{WantedFile, directory, installed, role, wanted};
use crate::cli::PullArgs;
use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure, OrExit};
use crate::output::{Output, progress};

/// Brings what is missing. A model that cannot be had is said and keeps no other away.
///
/// # Errors
/// [`Exit::Usage`] if a role is none, [`Exit::Refused`] if the licences are not accepted, [`Exit::Store`] if the directory
/// cannot be used.
pub fn run(args: &PullArgs, config: &ModelsConfig, output: Output) -> Result<Exit, Failure> {
    for name in &args.roles {
        role(name)?;
    }
    let models = installed(config)?;
    let directory = directory(args.dir.as_ref(), &models)?;
    let asked = |one: &WantedFile<'_>| {
        one.role == "runtime" || if args.roles.is_empty() { one.default } else { args.roles.contains(&one.role) }
    };
    let all: Vec<WantedFile<'_>> = wanted(&models).into_iter().filter(asked).collect();
    // The size tells a whole file from none; the store checks the rest.
    let missing = |one: &&WantedFile<'_>| {
        std::fs::metadata(directory.join(one.pinned.file)).map_or(true, |data| data.len() != one.pinned.bytes)
    };
    let new: Vec<&WantedFile<'_>> = all.iter().filter(missing).collect();
    if !new.is_empty() && !args.accept_licence {
        accept(&new, output)?;
    }
    let mut store = ModelStore::open(&directory, args.mirror.as_deref()).or_exit(Exit::Store)?;
    let (mut rows, mut failed) = (Vec::new(), 0);
    for one in &all {
        let bar = progress(Some(one.pinned.bytes), "{prefix} {bar:30} {bytes}/{total_bytes} {bytes_per_sec}");
        bar.set_prefix(one.pinned.file.to_owned());
        let pulled = store.pull(&one.pinned, &mut |arrived| bar.set_position(arrived));
        bar.finish_and_clear();
        let (state, detail) = match pulled {
            Ok(None) => ("there", String::new()),
            Ok(Some(origin)) => ("pulled", format!("from {origin}")),
            Err(error @ PullError::Directory { .. }) => return Err(error).or_exit(Exit::Store),
            Err(error) => {
                failed += 1;
                ("missing", error.to_string())
            }
        };
        if !output.json {
            output.text(
                format!("{}: {} ({}): {} {state} {detail}", one.role, one.model, one.licence, one.pinned.file)
                    .trim_end(),
            );
        }
        rows.push(json!({
            "role": one.role, "model": one.model, "licence": one.licence, "file": one.pinned.file, "state": state,
            "detail": detail,
        }));
    }
    if output.json {
        output.json(&json!({ "directory": directory, "files": rows, "missing": failed }));
    } else {
        output.text(format!("{}: {} of {} files", directory.display(), all.len() - failed, all.len()));
    }
    // Without a model Engram continues and names the missing role. A flag makes all models required.
    Ok(if failed > 0 && args.strict { Exit::Source } else { Exit::Ok })
}

/// Shows the licences and asks, where there is somebody to ask.
#[allow(clippy::print_stderr, reason = "a question to the person at the terminal, not output")]
fn accept(new: &[&WantedFile<'_>], output: Output) -> Result<(), Failure> {
    let licences: BTreeSet<String> =
        new.iter().map(|one| format!("  {}: {} under {}", one.role, one.model, one.licence)).collect();
    let list: Vec<String> = licences.into_iter().collect();
    let refused = |why: &str| {
        Failure::new(Exit::Refused, format!("{why}: nothing was pulled. --accept-licence accepts\n{}", list.join("\n")))
    };
    if output.json || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(refused("the licences of the models must be accepted, and nobody is there to ask"));
    }
    eprintln!("These models are not Engram's own and have licences of their own:\n{}", list.join("\n"));
    eprint!("Accept them? [y/N] ");
    std::io::stderr().flush().or_exit(Exit::Internal)?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).or_exit(Exit::Internal)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        Err(refused("the licences were not accepted"))
    }
}
