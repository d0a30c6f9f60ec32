//! `engram compact`, `backup`, `restore`, `export` and `import`: on the store itself, or by the agent that uses it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use memory_core::{Clock, Memory, OpenError, SystemClock};
use serde_json::{Value as Json, json};

use super::{block_on, requester};
use crate::cli::{BackupArgs, CompactArgs, ExportArgs, GlobalArgs, ImportArgs, RestoreArgs};
use crate::config::{Config, Directories};
use crate::exit::{Exit, Failure, OrExit};
use crate::mqtt::upkeep::compacted;
use crate::opening;
use crate::output::{Output, bytes};
use crate::upkeep::{self, UpkeepError};

/// `engram compact`.
///
/// # Errors
/// See the exit codes.
pub fn compact(args: &CompactArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let config = super::prepare(global, true)?.0.config;
    let done = match unused(opening::existing_memory(&config, clock()))? {
        Some(memory) => compacted(&memory.compact().map_err(UpkeepError::from).map_err(failure)?),
        None => ask_agent(&config, "compact", json!({}), args.timeout)?,
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
    let config = super::prepare(global, true)?.0.config;
    let done = match unused(opening::existing_memory(&config, clock()))? {
        Some(memory) => {
            let done = upkeep::backup(&memory, &args.file, args.replace).map_err(failure)?;
            json!({"file": args.file, "events": done.events, "seq": done.seq, "bytes": done.bytes})
        }
        None => {
            if !args.replace && args.file.exists() {
                return Err(failure(upkeep::FileError::Exists(args.file.clone()).into()));
            }
            let body = json!({"file": own_name(".backup")});
            fetch(ask_agent(&config, "backup", body, args.timeout)?, "file", &args.file)
        }
    };
    say(output, &done, || format!("{}: {} events", done["file"].as_str().unwrap_or_default(), done["events"]));
    Ok(Exit::Ok)
}

/// `engram restore`.
///
/// # Errors
/// See the exit codes.
pub fn restore(args: &RestoreArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let config = super::prepare(global, true)?.0.config;
    if !args.file.is_file() {
        return Err(Failure::new(Exit::Source, format!("there is no file {}", args.file.display())));
    }
    let done = match unused(opening::memory(&config, clock()))? {
        Some(memory) => {
            // A memory that holds something keeps its id, under which the broker keeps messages for it.
            let keep = memory.stats().seq > 0;
            let done = upkeep::restore(&memory, &args.file, keep).map_err(failure)?;
            json!({"file": args.file, "events": done.events, "seq": done.seq})
        }
        None => {
            let backups = Directories::of(&config).backups;
            let there = |path: &Path| path.canonicalize().ok();
            let name = args.file.file_name().filter(|name| there(&backups.join(name)) == there(&args.file));
            let Some(name) = name.and_then(|name| name.to_str()) else {
                let message = format!(
                    "an agent uses this memory; stop it, or put the backup into {} so that the agent can read it",
                    backups.display()
                );
                return Err(Failure::new(Exit::Refused, message));
            };
            ask_agent(&config, "restore", json!({"file": name}), args.timeout)?
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
    let config = super::prepare(global, true)?.0.config;
    let done = match unused(opening::existing_memory(&config, clock()))? {
        Some(memory) => {
            let done = upkeep::export(&memory, &args.dir, SystemClock::new().now()).map_err(failure)?;
            json!({
                "dir": args.dir, "told": done.told, "segments": done.segments, "media": done.media,
                "media_missing": done.media_missing,
            })
        }
        None => {
            if args.dir.exists() {
                return Err(failure(upkeep::FileError::Exists(args.dir.clone()).into()));
            }
            let body = json!({"dir": own_name("-export")});
            fetch(ask_agent(&config, "export", body, args.timeout)?, "dir", &args.dir)
        }
    };
    say(output, &done, || {
        format!(
            "{}: {} told, {} segments, {} recordings, {} recordings gone",
            done["dir"].as_str().unwrap_or_default(),
            done["told"],
            done["segments"],
            done["media"],
            done["media_missing"]
        )
    });
    Ok(Exit::Ok)
}

/// `engram import`.
///
/// # Errors
/// See the exit codes.
pub fn import(args: &ImportArgs, global: &GlobalArgs, output: Output) -> Result<Exit, Failure> {
    let config = super::prepare(global, true)?.0.config;
    let memory = opening::memory(&config, clock())?;
    let done = upkeep::import(&memory, &args.dir, &Directories::of(&config).imported).map_err(failure)?;
    let body = json!({
        "accepted": done.accepted, "duplicates": done.duplicates, "rejected": done.rejected, "reasons": done.reasons,
        "media": done.media,
    });
    say(output, &body, || {
        let mut lines = vec![format!(
            "{} accepted, {} were there already, {} rejected; {} recordings copied",
            done.accepted, done.duplicates, done.rejected, done.media
        )];
        lines.extend(done.reasons.iter().map(|reason| ["  ", reason].concat()));
        lines.join("\n")
    });
    Ok(if done.rejected == 0 { Exit::Ok } else { Exit::Refused })
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock::new())
}

fn say(output: Output, body: &Json, text: impl FnOnce() -> String) {
    if output.json { output.json(body) } else { output.text(text()) }
}

/// The memory, unless an agent uses it.
fn unused(opened: Result<Memory, Failure>) -> Result<Option<Memory>, Failure> {
    match opened {
        Err(failure) if matches!(failure.error.downcast_ref(), Some(OpenError::InUse { .. })) => Ok(None),
        other => other.map(Some),
    }
}

fn ask_agent(config: &Config, command: &str, body: Json, timeout: f64) -> Result<Json, Failure> {
    let reply = block_on(async {
        let client = requester::connect(config).await?;
        let reply = client.command(command, body, Duration::from_secs_f64(timeout)).await;
        client.close().await;
        requester::checked(reply)
    })?;
    Ok(reply)
}

/// A name that no other run of this program chooses.
fn own_name(kind: &str) -> String {
    let nanos = clock().now().to_jiff().as_nanosecond();
    format!("engram-{}-{nanos}{kind}", std::process::id())
}

/// Brings what the agent has written to where it is wanted. Where this process may not, it stays, and the reply says where.
fn fetch(mut reply: Json, field: &str, wanted: &Path) -> Json {
    let written = PathBuf::from(reply[field].as_str().unwrap_or_default());
    // Renaming needs one file system; a file can be copied to another one.
    let moved = std::fs::rename(&written, wanted).or_else(|_| {
        std::fs::copy(&written, wanted)?;
        std::fs::remove_file(&written)
    });
    match moved {
        Ok(()) => reply[field] = json!(wanted),
        Err(error) => tracing::warn!(%error, "it stays at {}", written.display()),
    }
    reply
}

fn failure(error: UpkeepError) -> Failure {
    let exit = match &error {
        UpkeepError::Name(_) => Exit::Usage,
        UpkeepError::Memory(memory_core::MaintenanceError::Unusable(_))
        | UpkeepError::Line { .. }
        | UpkeepError::Io { .. } => Exit::Source,
        _ => Exit::Store,
    };
    Err::<(), _>(error).or_exit(exit).expect_err("an error stays one")
}
