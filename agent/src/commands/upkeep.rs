//! `engram compact`, `backup`, `restore`, `export` and `import`: on the store itself, or by the agent that uses it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memory_core::{Clock, SystemClock};
use serde_json::{Value as Json, json};

use super::place::{self, CommandTarget};
use crate::cli::{BackupArgs, CompactArgs, ExportArgs, GlobalArgs, ImportArgs, RestoreArgs};
use crate::config::Directories;
use crate::exit::{Exit, Failure, OrExit};
use crate::media::{Recordings, delete_forgotten};
use crate::mqtt::upkeep::compacted;
use crate::opening;
use crate::output::{Output, bytes};
use crate::upkeep::{self, BackupLimits, UpkeepError};

/// `engram compact`.
///
/// # Errors
/// See the exit codes.
pub fn compact(args: &CompactArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let loaded = super::prepare(global, true)?.0;
    let config = &loaded.config;
    let done = match place::open(&loaded, clock())? {
        CommandTarget::Store(memory) => {
            delete_forgotten(&memory, &Recordings::open(config)?);
            compacted(&memory.compact().map_err(UpkeepError::from).map_err(failure)?)
        }
        CommandTarget::Agent(agent) => agent.command(config, "compact", json!({}), seconds(args.timeout))?,
    };
    let number = |name: &str| done[name].as_u64().unwrap_or(0);
    say(output, &done, || {
        format!(
            "compacted {} rows in {:.1} s: {} before, {} after",
            number("rows"),
            number("took_ms") as f64 / 1000.0,
            bytes(number("bytes_before")),
            bytes(number("bytes_after"))
        )
    });
    Ok(Exit::Ok)
}

/// `engram backup`.
///
/// # Errors
/// See the exit codes.
pub fn backup(args: &BackupArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let loaded = super::prepare(global, true)?.0;
    let config = &loaded.config;
    let done = match place::open(&loaded, clock())? {
        CommandTarget::Store(memory) => {
            let reserve = BackupLimits::from(&config.backup).reserve;
            let done = upkeep::backup(&memory, &args.file, args.replace, reserve).map_err(failure)?;
            json!({"file": args.file, "events": done.events, "seq": done.seq, "bytes": done.bytes})
        }
        CommandTarget::Agent(agent) if agent.may_be_elsewhere() => {
            let body = json!({"file": name_there(&args.file, "the backup")?, "replace": args.replace});
            agent.command(config, "backup", body, seconds(args.timeout))?
        }
        CommandTarget::Agent(agent) => {
            if !args.replace && args.file.exists() {
                return Err(failure(upkeep::FileError::Exists(args.file.clone()).into()));
            }
            let name = own_name(".backup");
            agent.command(config, "backup", json!({"file": name}), seconds(args.timeout))?;
            let backups = Directories::from_config(config).backups;
            let done = upkeep::fetch_backup(&backups, &name, &args.file, args.replace).map_err(failure)?;
            json!({"file": args.file, "events": done.events, "seq": done.seq, "bytes": done.bytes})
        }
    };
    say(output, &done, || format!("{}: {} events", there(&done["file"], &args.file), done["events"]));
    Ok(Exit::Ok)
}

/// `engram restore`.
///
/// # Errors
/// See the exit codes.
pub fn restore(args: &RestoreArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let loaded = super::prepare(global, true)?.0;
    let config = &loaded.config;
    let named = place::is_named(&loaded);
    if !named && !args.file.is_file() {
        return Err(Failure::new(Exit::Source, format!("there is no file {}", args.file.display())));
    }
    let place = if named {
        place::open(&loaded, clock())?
    } else {
        // A machine without a memory gets one.
        opening::memory(config, clock())
            .map(CommandTarget::Store)
            .or_else(|failure| place::elsewhere(&loaded, failure))?
    };
    let done = match place {
        CommandTarget::Store(memory) => {
            // A memory that holds something keeps its id, under which the broker keeps messages for it.
            let keep = memory.stats().seq > 0;
            let done = upkeep::restore(&memory, &args.file, keep).map_err(failure)?;
            json!({"file": args.file, "events": done.events, "seq": done.seq})
        }
        CommandTarget::Agent(agent) if agent.may_be_elsewhere() => {
            let body = json!({"file": name_there(&args.file, "the backup")?});
            agent.command(config, "restore", body, seconds(args.timeout))?
        }
        CommandTarget::Agent(agent) => {
            // The agent reads backups in its own directory alone, which this user need not be able to list.
            let (directories, reserve) = (Directories::from_config(config), BackupLimits::from(&config.backup).reserve);
            let copy = upkeep::hand_over(&args.file, &directories, own_name(".backup"), reserve).map_err(failure)?;
            let body = json!({"file": copy.name()});
            let mut done = agent.command(config, "restore", body, seconds(args.timeout))?;
            done["file"] = json!(args.file);
            done
        }
    };
    say(output, &done, || format!("restored {} events", done["events"]));
    Ok(Exit::Ok)
}

/// `engram export`.
///
/// # Errors
/// See the exit codes.
pub fn export(args: &ExportArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let loaded = super::prepare(global, true)?.0;
    let config = &loaded.config;
    let done = match place::open(&loaded, clock())? {
        CommandTarget::Store(memory) => {
            let recordings = Recordings::open(config)?;
            let (now, reserve) = (SystemClock::new().now(), BackupLimits::from(&config.backup).reserve);
            let done = upkeep::export(&memory, &args.dir, now, Some(&recordings), reserve);
            exported(&args.dir, done.map_err(failure)?)
        }
        CommandTarget::Agent(agent) if agent.may_be_elsewhere() => {
            let body = json!({"dir": name_there(&args.dir, "the export")?});
            agent.command(config, "export", body, seconds(args.timeout))?
        }
        CommandTarget::Agent(agent) => {
            if args.dir.exists() {
                return Err(failure(upkeep::FileError::Exists(args.dir.clone()).into()));
            }
            let name = own_name("-export");
            agent.command(config, "export", json!({"dir": name}), seconds(args.timeout))?;
            let backups = Directories::from_config(config).backups;
            exported(&args.dir, upkeep::fetch_export(&backups, &name, &args.dir).map_err(failure)?)
        }
    };
    say(output, &done, || {
        format!(
            "{}: {} told, {} segments, {} recordings, {} segments without theirs",
            there(&done["dir"], &args.dir),
            done["told"],
            done["segments"],
            done["media"],
            done["media_missing"]
        )
    });
    Ok(Exit::Ok)
}

fn exported(dir: &Path, done: upkeep::Exporting) -> Json {
    json!({
        "dir": dir, "told": done.told, "segments": done.segments, "media": done.media,
        "media_missing": done.media_missing,
    })
}

/// `engram import`.
///
/// # Errors
/// See the exit codes.
pub fn import(args: &ImportArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let config = super::prepare(global, true)?.0.config;
    let memory = opening::memory(&config, clock())?;
    let done = upkeep::import(&memory, &args.dir, &Recordings::open(&config)?).map_err(failure)?;
    let body = json!({
        "accepted": done.accepted, "duplicates": done.duplicates, "rejected": done.rejected, "reasons": done.reasons,
        "media": done.media, "media_missing": done.media_missing,
    });
    say(output, &body, || {
        let mut lines = vec![format!(
            "{} accepted, {} were there already, {} rejected; {} recordings copied, {} segments without theirs",
            done.accepted, done.duplicates, done.rejected, done.media, done.media_missing
        )];
        lines.extend(done.reasons.iter().map(|reason| ["  ", reason].concat()));
        lines.join("\n")
    });
    Ok(if done.rejected == 0 { Exit::Ok } else { Exit::Refused })
}

fn clock() -> Arc<SystemClock> {
    Arc::new(SystemClock::new())
}

/// A path in a reply, with whose it is.
fn there(path: &Json, asked: &Path) -> String {
    let text = path.as_str().unwrap_or_default();
    if Path::new(text) == asked { text.to_owned() } else { format!("{text} on the agent's machine") }
}

fn seconds(timeout: f64) -> Duration {
    Duration::from_secs_f64(timeout)
}

fn say(output: Output, body: &Json, text: impl FnOnce() -> String) {
    if output.json { output.json(body) } else { output.text(text()) }
}

/// The file or directory name that an agent, which may be on another machine, is given in its own directory.
fn name_there(path: &Path, what: &str) -> Result<String, Failure> {
    let name = path.file_name().and_then(|name| name.to_str());
    match name.filter(|name| Path::new(name) == path) {
        Some(name) => Ok(name.to_owned()),
        None => Err(Failure::new(
            Exit::Usage,
            format!(
                "{}: files do not travel over MQTT; {what} is in the agent's own directory (backup.dir): give a name without \
                 a directory, or run it on the agent's machine without --robot, --mqtt-host and --mqtt-port",
                path.display()
            ),
        )),
    }
}

/// A name that no other run of this program chooses.
fn own_name(kind: &str) -> String {
    let nanos = clock().now().to_jiff().as_nanosecond();
    format!("{}{}-{nanos}{kind}", upkeep::OWN_PREFIX, std::process::id())
}

fn failure(error: UpkeepError) -> Failure {
    let exit = match &error {
        UpkeepError::Name(_) => Exit::Usage,
        UpkeepError::NoRoom { .. } => Exit::Store,
        UpkeepError::Memory(error) if error.is_unusable_backup() => Exit::Source,
        UpkeepError::Line { .. }
        | UpkeepError::Io { .. }
        | UpkeepError::NotWritten { .. }
        | UpkeepError::NotReadable(_) => Exit::Source,
        _ => Exit::Store,
    };
    Err::<(), _>(error).or_exit(exit).expect_err("an error stays one")
}
