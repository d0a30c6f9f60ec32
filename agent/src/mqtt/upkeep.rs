//! The long commands: `backup`, `check`, `compact`, `export`, `restore` and `snapshot`.
//!
//! They reply `executing` when the request is valid, and `succeeded` or `failed` at the end. The work runs on a thread of its
//! own. Requests name files, never directories: all files are in one configured directory.

use std::path::PathBuf;

use memory_core::{CheckReport, MaintenanceError, Memory, SaveIndex, Timestamp};
use serde_json::{Value, json};

use super::commands::CommandName;
use super::context::Context;
use super::fields::Fields;
use super::reply::{Code, Refusal};
use crate::media::Recordings;
use crate::upkeep::{self, BackupLimits, UpkeepError, confined};

/// Maximum number of problems in a reply to `check`.
const MAX_PROBLEMS: usize = 100;

/// One of these commands, understood.
pub enum LongCommand {
    Backup { file: PathBuf, replace: bool },
    Check,
    Compact,
    Export { dir: PathBuf },
    Restore { file: PathBuf },
    Snapshot,
}

/// Reads a command.
///
/// # Errors
/// `bad_request`, with what to change.
pub fn read(context: &Context, name: CommandName, fields: Fields<'_>) -> Result<LongCommand, Refusal> {
    let path = |name: &str| confined(&context.backups, name).map_err(|error| Refusal::bad(error.to_string()));
    let default = |kind: &str| {
        let at: String =
            context.clock.now().to_jiff().to_string().chars().filter(char::is_ascii_alphanumeric).collect();
        path(&[upkeep::OWN_PREFIX, &at, kind].concat())
    };
    Ok(match name {
        CommandName::Backup => LongCommand::Backup {
            file: fields.text("file")?.map_or_else(|| default(".backup"), path)?,
            replace: fields.flag("replace")?,
        },
        CommandName::Export => {
            LongCommand::Export { dir: fields.text("dir")?.map_or_else(|| default("-export"), path)? }
        }
        CommandName::Restore => {
            let missing = || Refusal::bad("`file` is missing, for instance \"engram-20261120.backup\"");
            let file = path(fields.text("file")?.ok_or_else(missing)?)?;
            if !file.is_file() {
                return Err(Refusal::bad(format!("there is no backup {}", file.display())));
            }
            LongCommand::Restore { file }
        }
        CommandName::Check => LongCommand::Check,
        CommandName::Snapshot => LongCommand::Snapshot,
        _ => LongCommand::Compact,
    })
}

/// Does it, and says what came of it.
pub async fn run(context: &Context, command: LongCommand) -> Value {
    let _checking = match (&command, context.checking.try_lock()) {
        (LongCommand::Check, Err(_)) => {
            let busy = Refusal::new(Code::Busy, "the store is being checked already; wait for its reply");
            return json!({"state": "failed", "error": busy});
        }
        (LongCommand::Check, checking) => checking.ok(),
        _ => None,
    };
    let memory = context.service.memory().clone();
    let (backups, now) = (context.backups.clone(), context.clock.now());
    let recordings = context.media.recordings().cloned();
    let limits = context.backup_limits;
    let restoring = matches!(command, LongCommand::Restore { .. });
    // What is told waits until the whole backup was read, and that is no fault of the writer.
    let _excuse = restoring.then(|| context.watchdog.excuse());
    let done =
        tokio::task::spawn_blocking(move || work(&memory, &backups, command, now, recordings.as_ref(), limits)).await;
    if restoring {
        context.service.memory_replaced();
    }
    let refusal = match done {
        Ok(Ok(mut body)) => {
            body["state"] = "succeeded".into();
            return body;
        }
        Ok(Err(error)) => refusal(&error),
        Err(panic) => Refusal::new(Code::Internal, panic.to_string()),
    };
    tracing::warn!(reason = refusal.message, "a command failed");
    json!({"state": "failed", "error": refusal})
}

fn work(
    memory: &Memory,
    backups: &std::path::Path,
    command: LongCommand,
    now: Timestamp,
    recordings: Option<&Recordings>,
    limits: BackupLimits,
) -> Result<Value, UpkeepError> {
    if !matches!(command, LongCommand::Check | LongCommand::Compact | LongCommand::Snapshot) {
        upkeep::make_private(backups)?;
    }
    Ok(match command {
        LongCommand::Backup { file, replace } => {
            let done = upkeep::backup(memory, &file, replace, limits.reserve)?;
            upkeep::retain(backups, limits.keep);
            json!({"file": file, "events": done.events, "seq": done.seq, "bytes": done.bytes})
        }
        LongCommand::Check => checked(&memory.check().map_err(MaintenanceError::from)?),
        LongCommand::Compact => compacted(&memory.compact()?),
        LongCommand::Snapshot => {
            // Nothing comes of it while another is being saved, or a compaction has not ended.
            let done = memory.save_index(SaveIndex::Now)?.ok_or(MaintenanceError::Busy)?;
            json!({"events": done.events, "bytes": done.bytes, "took_ms": done.took.as_millis() as u64})
        }
        LongCommand::Export { dir } => {
            let done = upkeep::export(memory, &dir, now, recordings, limits.reserve)?;
            upkeep::retain(backups, limits.keep);
            json!({
                "dir": dir, "told": done.told, "segments": done.segments, "media": done.media,
                "media_missing": done.media_missing,
            })
        }
        LongCommand::Restore { file } => {
            // This program is known to the broker by its id.
            let done = upkeep::restore(memory, &file, true)?;
            json!({"file": file, "events": done.events, "seq": done.seq})
        }
    })
}

/// The answer to `check`: the first problems, and how many there are.
fn checked(report: &CheckReport) -> Value {
    json!({
        "records": report.records,
        "problems": report.problems.iter().take(MAX_PROBLEMS).collect::<Vec<_>>(),
        "problems_total": report.problems.len(),
    })
}

/// The answer to `compact`.
pub fn compacted(done: &memory_core::CompactReply) -> Value {
    json!({
        "bytes_before": done.bytes_before, "bytes_after": done.bytes_after, "rows": done.rows,
        "took_ms": done.took.as_millis() as u64, "blocked_ms": done.blocked.as_millis() as u64,
    })
}

fn refusal(error: &UpkeepError) -> Refusal {
    let code = match error {
        UpkeepError::Memory(error) if error.is_busy() => Code::Busy,
        UpkeepError::Memory(error) if error.is_storage_full() => Code::StorageFull,
        UpkeepError::Memory(error) if error.is_unusable_backup() => Code::BadRequest,
        // A directory that is new, or a file system without a free inode.
        UpkeepError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => Code::StorageFull,
        UpkeepError::NoRoom { .. } => Code::StorageFull,
        UpkeepError::Name(_) => Code::BadRequest,
        _ => Code::Internal,
    };
    Refusal::new(code, error.to_string())
}
