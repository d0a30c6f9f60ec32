//! Errors, one enum per kind of operation.

use std::io;
use std::path::PathBuf;

/// Why a memory could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process has it open.
    #[error("{path} is in use by another process; stop the other engram, or choose another data directory")]
    InUse {
        /// The store's file.
        path: PathBuf,
    },
    /// The directory or file cannot be read or written.
    #[error("cannot open {path}: {source}; check that the directory exists and that engram may write to it")]
    Io {
        /// The store's file.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Written by a newer version.
    #[error("{path} has format {found}, and this engram reads up to {supported}; install the newer engram again")]
    TooNew {
        /// The store's file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// Highest version this program reads.
        supported: u32,
    },
    /// Damaged beyond what recovery repairs.
    #[error("{path} is damaged: {detail}; run `engram check`, and restore a backup if it confirms this")]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// What is wrong, and where.
        detail: String,
    },
}

impl OpenError {
    /// Returns whether another process has the memory open.
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::InUse { .. })
    }
}

/// Why nothing of a batch was committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObserveError {
    /// The disk is full, or the limit of the store is reached. Nothing was committed; the same batch can be tried again.
    #[error("the store cannot write: {0}; free disk space or raise the limit, then it continues by itself")]
    StorageFull(String),
    /// Any other failure of the store. Nothing was committed; the same batch can be tried again.
    #[error("the store failed: {0}; if the disk fails or became read-only, mend that, then it continues by itself")]
    Store(String),
}

impl ObserveError {
    /// Returns whether the disk is full or the limit is reached, so that the same batch can succeed once there is space.
    pub fn is_storage_full(&self) -> bool {
        matches!(self, Self::StorageFull(_))
    }
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The store failed.
    #[error("the store could not be read: {0}")]
    Store(String),
    /// A record does not decode or its checksum differs.
    #[error("record {key} of {table} is damaged: {detail}; run `engram check`")]
    Damaged {
        /// Table of the record.
        table: &'static str,
        /// Key of the record.
        key: String,
        /// What is wrong.
        detail: String,
    },
    /// The time limit was reached.
    #[error("the list took longer than {} ms; narrow the request, or allow more time", .0.as_millis())]
    Deadline(std::time::Duration),
}

impl ReadError {
    /// Returns whether the time limit was reached.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Deadline(_))
    }
}

/// Why nothing was forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// The request names nothing, or is contradictory.
    #[error("{0}")]
    Invalid(String),
    /// Reading failed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Writing failed; nothing was forgotten.
    #[error(transparent)]
    Write(#[from] ObserveError),
}

/// Why a compaction, backup or restore failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaintenanceError {
    /// Another one is running.
    #[error("another compaction, backup or restore is running; try again when it is done")]
    Busy,
    /// There is no space for the copy. The incomplete copy was deleted.
    #[error("{0}; the copy needs about as much space as the memory takes: free some, or move the data directory")]
    Full(String),
    /// The backup cannot be used.
    #[error("{0}; nothing was changed")]
    Unusable(String),
    /// The backup cannot be read.
    #[error("the backup cannot be read: {0}; nothing was changed")]
    Read(#[source] std::io::Error),
    /// The backup cannot be written.
    #[error("the backup cannot be written: {0}")]
    Write(#[source] std::io::Error),
    /// The store failed.
    #[error("the store failed: {0}")]
    Store(String),
}

impl MaintenanceError {
    /// Returns whether another compaction, backup or restore is running, so that it can be tried again.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy)
    }

    /// Returns whether there is no space for the copy.
    pub fn is_storage_full(&self) -> bool {
        match self {
            Self::Full(_) => true,
            Self::Write(error) => error.kind() == std::io::ErrorKind::StorageFull,
            _ => false,
        }
    }

    /// Returns whether the backup is damaged, incomplete or not one.
    pub fn is_unusable_backup(&self) -> bool {
        matches!(self, Self::Unusable(_))
    }
}

impl From<OpenError> for MaintenanceError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Io { source, .. } if is_full(&source) => Self::Full(source.to_string()),
            other => Self::Store(other.to_string()),
        }
    }
}

impl From<ReadError> for MaintenanceError {
    fn from(error: ReadError) -> Self {
        Self::Store(error.to_string())
    }
}

/// Why an entity was not named.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NamingError {
    /// The request names nobody, or is contradictory; the text says what to change.
    #[error("{0}")]
    Invalid(String),
    /// Reading failed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Writing failed; nothing was changed.
    #[error(transparent)]
    Write(#[from] ObserveError),
}

/// Whether the system says that there is no space left.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}
