//! `engram models pull`.

mod pinning;
mod questions;

use std::collections::BTreeMap;

use drivers::encoders::runs;
use drivers::models::{Arrived, Catalogue, ModelEntry, ModelStore, Profile, PullError};
use serde_json::{Value, json};

use super::{WantedFile, directory, installed, model_files, role, runtime_files};
use crate::cli::PullArgs;
use crate::config::ModelsConfig;
use crate::exit::{Exit, Failure, OrExit};
use crate::output::{Output, progress};
use pinning::{Outcome, put_into_use};
use questions::{accept_digest, accept_licences};

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
    let chosen = chosen(args, models.catalogue());
    let mut pull = Pull { args, output, rows: Vec::new(), missing: 0 };
    let (mut runnable, others): (Vec<&ModelEntry>, Vec<&ModelEntry>) =
        chosen.into_iter().partition(|model| args.profile.is_none() || runs(model).is_ok());
    // Where this program cannot run a profile's model, the one that fills the role now is better than none.
    let instead = others.iter().filter_map(|model| models.catalogue().model(model.role));
    runnable.extend(instead.filter(|model| runs(model).is_ok()));
    let runtime = runtime_files(&models);
    let all: Vec<WantedFile<'_>> = runnable.iter().copied().flat_map(model_files).collect();
    // The size tells a whole file from none; the store checks the rest.
    let missing = |one: &&WantedFile<'_>| {
        let size = std::fs::metadata(directory.join(one.pinned.file)).map(|data| data.len()).ok();
        size.is_none() || size != Some(one.pinned.bytes)
    };
    let new: Vec<&WantedFile<'_>> = runtime.iter().chain(&all).filter(missing).collect();
    if !new.is_empty() && !args.accept_licence {
        accept_licences(&new, output)?;
    }
    let mut store = ModelStore::open(&directory, args.mirror.as_deref()).or_exit(Exit::Store)?;
    for one in &runtime {
        pull.file(one, &mut store)?;
    }
    for model in others {
        pull.say(&format!("{}: {} is left out: {}", model.role, model.name, runs(model).err().unwrap_or_default()));
    }
    for model in runnable {
        let before = pull.missing;
        let mut accepted = BTreeMap::new();
        for one in model_files(model) {
            if let Some(arrived) = pull.file(&one, &mut store)? {
                accepted.insert(one.pinned.file.to_owned(), arrived);
            }
        }
        if pull.missing == before {
            pull.finish(model, put_into_use(model, &accepted, &models, &directory));
        }
    }
    let (files, lost) = (runtime.len() + all.len(), pull.missing);
    if output.json {
        output.json(&json!({ "directory": directory, "files": pull.rows, "missing": lost }));
    } else {
        output.text(format!("{}: {} of {files} files", directory.display(), files.saturating_sub(lost)));
    }
    // Without a model Engram continues and names the missing role. A flag makes all models required.
    Ok(if lost > 0 && args.strict { Exit::Source } else { Exit::Ok })
}

/// The models that the command line asks for: those of a profile, those that fill the named roles, or the named ones of a profile.
fn chosen<'a>(args: &PullArgs, catalogue: &'a Catalogue) -> Vec<&'a ModelEntry> {
    let named = |model: &&ModelEntry| args.roles.is_empty() || args.roles.iter().any(|role| role == model.role.name());
    let profile = Profile::ALL.into_iter().find(|profile| args.profile.as_deref() == Some(profile.name()));
    match profile {
        Some(profile) => catalogue.of_profile(profile).into_iter().filter(named).collect(),
        None if args.roles.is_empty() => catalogue.of_profile(Profile::Default),
        None => catalogue.models.iter().filter(named).collect(),
    }
}

/// A pull under way, with what it has to tell.
struct Pull<'a> {
    args: &'a PullArgs,
    output: Output,
    rows: Vec<Value>,
    missing: usize,
}

impl Pull<'_> {
    fn say(&self, line: &str) {
        if !self.output.json {
            self.output.text(line);
        }
    }

    /// Brings one file; returns what arrived if its digest was accepted only now.
    fn file(&mut self, one: &WantedFile<'_>, store: &mut ModelStore) -> Result<Option<Arrived>, Failure> {
        let bar = progress(Some(one.pinned.bytes), "{prefix} {bar:30} {bytes}/{total_bytes} {bytes_per_sec}");
        bar.set_prefix(one.pinned.file.to_owned());
        let mut accepted = None;
        let pulled = if one.pinned.sha256.is_empty() {
            let arrived = store.bring(&one.pinned, &mut |arrived| bar.set_position(arrived));
            bar.finish_and_clear();
            arrived.map(|arrived| {
                let told = accept_digest(one.pinned.file, &arrived, &self.args.accept, self.output)
                    .and_then(|()| store.accept(&one.pinned, &arrived).map_err(|error| error.to_string()));
                told.map(|()| {
                    let from = format!("from {}, accepted as sha256 {}", arrived.origin, arrived.sha256);
                    accepted = Some(arrived);
                    ("pulled", from)
                })
                .unwrap_or_else(|reason| ("unaccepted", reason))
            })
        } else {
            let pulled = store.pull(&one.pinned, &mut |arrived| bar.set_position(arrived));
            bar.finish_and_clear();
            pulled.map(|origin| match origin {
                None => ("there", String::new()),
                Some(origin) => ("pulled", format!("from {origin}")),
            })
        };
        let (state, detail) = match pulled {
            Ok(outcome) => outcome,
            Err(error @ PullError::Directory { .. }) => return Err(error).or_exit(Exit::Store),
            Err(error) => ("missing", error.to_string()),
        };
        self.missing += usize::from(matches!(state, "missing" | "unaccepted"));
        let line = format!("{}: {} ({}): {} {state} {detail}", one.role, one.model, one.licence, one.pinned.file);
        self.say(line.trim_end());
        self.rows.push(json!({
            "role": one.role, "model": one.model, "licence": one.licence, "file": one.pinned.file, "state": state,
            "detail": detail, "unverified": one.entry.is_some_and(|entry| entry.unverified),
        }));
        Ok(accepted)
    }

    /// Says whether a model whose files are there is in use. One that is not counts as missing.
    fn finish(&mut self, model: &ModelEntry, outcome: Result<Outcome, String>) {
        let unverified = model.unverified.then_some("unverified: nobody has run it with this version of Engram; ");
        let said =
            |lines: Vec<String>| if lines.is_empty() { String::new() } else { format!(" ({})", lines.join("; ")) };
        let (state, detail) = match outcome {
            Ok(Outcome::Plain) => return,
            Ok(Outcome::Tried(lines)) => ("tried", format!("its trials here are passed{}", said(lines))),
            Ok(Outcome::Pinned(lines)) => {
                ("pinned", format!("fills the role from now on, by models.lock{}", said(lines)))
            }
            Err(reason) => {
                self.missing += model.files.len().max(1);
                ("not used", reason)
            }
        };
        let detail = [unverified.unwrap_or_default(), &detail].concat();
        self.say(&format!("{}: {}: {detail}", model.role, model.name));
        self.rows.push(json!({ "role": model.role.name(), "model": model.name, "licence": model.licence, "file": "",
            "state": state, "detail": detail, "unverified": model.unverified }));
    }
}
