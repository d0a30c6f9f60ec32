//! Maintenance of a memory: compaction, backup, restore, export and import. Shared by the command line and the MQTT commands.
//! All of it blocks, so callers run it on a thread of its own.

mod automatic;
mod fetch;
mod files;
mod lines;
mod recordings;
mod sums;
mod transfer;

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use memory_core::{BackupReply, Memory};

use crate::config::BackupConfig;
pub use automatic::{Automatic, AutomaticOptions};
pub use fetch::{HandedOver, fetch_backup, fetch_export, hand_over};
pub use files::{
    FileError, OWN_PREFIX, Reserve, confined, create_private, give_to_owner_of, make_private, open_regular, retain,
};
pub use transfer::{Exporting, Importing, export, import};

/// How much the directory of backups and exports may take.
#[derive(Debug, Clone, Copy, Default)]
pub struct BackupLimits {
    /// Free space that remains on the disk.
    pub reserve: Reserve,
    /// How many stay of those that the program named by itself.
    pub keep: usize,
}

impl From<&BackupConfig> for BackupLimits {
    fn from(config: &BackupConfig) -> Self {
        Self { reserve: Reserve { bytes: config.keep_free_mib << 20 }, keep: config.keep }
    }
}

/// Key of the memory's setting that says whether recording is paused.
pub const RECORDING_SETTING: &str = "recording";

/// Why something of this could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpkeepError {
    /// The name of a file or directory that somebody asked for.
    #[error(transparent)]
    Name(#[from] FileError),
    /// The memory refused.
    #[error(transparent)]
    Memory(#[from] memory_core::MaintenanceError),
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's own words.
        #[source]
        source: std::io::Error,
    },
    /// The reply says that something was written, and it is not there or not whole.
    #[error(
        "{path}: {why}; the reply says it was written, so either another program answers for this robot on the broker, or \
         `data_dir` and `backup.dir` of this configuration are not those of the agent"
    )]
    NotWritten {
        /// Path where it was looked for.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A file of the agent belongs to another user.
    #[error(
        "{0} may not be read by this user; run the command as the user of the agent, for instance with `sudo -u engram`"
    )]
    NotReadable(PathBuf),
    /// The free space of the disk is reserved for the memory.
    #[error(
        "{path}: {free} are free there, and {reserve} are kept for the memory (backup.keep_free_mib); remove old backups \
         and exports, or name another directory (backup.dir)"
    )]
    NoRoom {
        /// Path of the file.
        path: PathBuf,
        /// Free space.
        free: String,
        /// Reserved space.
        reserve: String,
    },
    /// A line of an export cannot be understood.
    #[error("{path}, line {line}: {message}; nothing from this line on was imported")]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The store could not write what was imported.
    #[error("{0}")]
    Write(#[from] memory_core::ObserveError),
    /// The store could not be read.
    #[error("{0}")]
    Read(#[from] memory_core::ReadError),
}

fn io_error(path: &Path) -> impl Fn(std::io::Error) -> UpkeepError + '_ {
    move |source| UpkeepError::Io { path: path.to_path_buf(), source }
}

/// Writes a backup to `path`: whole or not at all.
///
/// # Errors
/// If there is such a file and it may not be replaced, or the memory or the disk fails.
pub fn backup(memory: &Memory, path: &Path, replace: bool, reserve: Reserve) -> Result<BackupReply, UpkeepError> {
    let new = files::beginning(path, replace)?;
    reserve.check(&new.path, 0)?;
    let written = files::create_private(&new.path).map_err(io_error(&new.path)).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 20, reserve.guard(file, &new.path));
        let written = memory.backup(&mut out);
        let flushed = out.flush();
        out.get_mut().checked()?;
        let reply = written?;
        flushed.and_then(|()| out.get_ref().get_ref().sync_all()).map_err(io_error(&new.path))?;
        Ok(reply)
    })?;
    new.finish(path)?;
    Ok(written)
}

/// Puts the backup in `path` in the place of the memory. Whether recording is paused stays as it is now, and with
/// `keep_instance` the memory's id.
///
/// # Errors
/// If the file is no whole backup, or the memory fails; then the memory is as it was.
pub fn restore(memory: &Memory, path: &Path, keep_instance: bool) -> Result<BackupReply, UpkeepError> {
    let file = File::open(path).map_err(io_error(path))?;
    Ok(memory.restore(&mut BufReader::with_capacity(1 << 20, file), keep_instance)?)
}
