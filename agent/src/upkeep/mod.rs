//! What keeps a memory small, safe and portable: compaction, backup, restoring, export and import. Shared by the commands of
//! the program and those that come by MQTT; all of it blocks, so callers give it a thread.

mod automatic;
mod files;
mod lines;
mod transfer;

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use memory_core::{BackupReply, Memory};

pub use automatic::{Automatic, AutomaticOptions};
pub use files::{FileError, confined, make_private};
pub use transfer::{Exporting, Importing, export, import};

/// Setting of the memory that says whether recording is paused.
pub const RECORDING: &str = "recording";

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
pub fn backup(memory: &Memory, path: &Path, replace: bool) -> Result<BackupReply, UpkeepError> {
    let new = files::beginning(path, replace)?;
    let written =
        File::options().write(true).create_new(true).open(&new.path).map_err(io_error(&new.path)).and_then(|file| {
            let mut out = BufWriter::with_capacity(1 << 20, file);
            let reply = memory.backup(&mut out)?;
            out.flush().and_then(|()| out.get_ref().sync_all()).map_err(io_error(&new.path))?;
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
