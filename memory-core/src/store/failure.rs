//! Internal errors of the store, before they become the error of an operation.

use std::time::Duration;

use crate::error::is_full;
use crate::{MaintenanceError, ObserveError, ReadError};

/// Result of the store's inner functions.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Why the store could not do something.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The disk or the ceiling is full.
    Full(String),
    /// A record is damaged.
    Damaged { table: &'static str, key: String, detail: String },
    /// The time for it ran out.
    Late(Duration),
    /// Anything else.
    Store(String),
}

impl Failure {
    pub(crate) fn damaged(table: &'static str, key: impl ToString, detail: impl Into<String>) -> Self {
        Self::Damaged { table, key: key.to_string(), detail: detail.into() }
    }
}

/// Passes over a damaged record, which is told and stays for `check` to name: one bad record must not hold up the rest.
pub(crate) fn if_sound<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Damaged { table, key, detail }) => {
            tracing::error!(table, key, detail, "a damaged record is passed over; run `engram check`");
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

impl From<redb::Error> for Failure {
    fn from(error: redb::Error) -> Self {
        match error {
            redb::Error::Io(error) if is_full(&error) => Self::Full(error.to_string()),
            other => Self::Store(other.to_string()),
        }
    }
}

macro_rules! from_redb {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                redb::Error::from(error).into()
            }
        }
    )*};
}

from_redb!(redb::StorageError, redb::TableError, redb::TransactionError, redb::CommitError, redb::DatabaseError);

impl From<Failure> for ObserveError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Full(message) => Self::StorageFull(message),
            Failure::Store(message) => Self::Store(message),
            other => Self::Store(ReadError::from(other).to_string()),
        }
    }
}

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Full(message) | Failure::Store(message) => Self::Store(message),
            Failure::Damaged { table, key, detail } => Self::Damaged { table, key, detail },
            Failure::Late(budget) => Self::Deadline(budget),
        }
    }
}

impl From<Failure> for MaintenanceError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Full(message) => Self::Full(message),
            other => Self::Store(ReadError::from(other).to_string()),
        }
    }
}
