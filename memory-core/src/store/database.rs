//! The redb database: opened, healed in place after an I/O error, closed.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;
use redb::{DatabaseError, ReadTransaction, ReadableDatabase, StorageBackend, WriteTransaction};

use super::backend::Backend;
use super::failure::{Failure, Result};
use super::storage::Storage;
use super::tables;
use crate::OpenError;

/// The one open database of a store.
///
/// The lock is taken shared for the moment in which a transaction begins, by readers and by the writer alike, and
/// exclusively only while the database is reopened after an I/O error: redb refuses all work after one.
pub(crate) struct Database {
    storage: Arc<dyn Storage>,
    cache_bytes: usize,
    open: RwLock<Open>,
    full: Arc<AtomicBool>,
    generation: AtomicU64,
}

enum Open {
    Writing(redb::Database),
    /// On a disk that takes no writes.
    Reading(redb::Database),
    Closed,
}

impl Database {
    /// Opens the database and makes its tables if it is new.
    pub(crate) fn open(storage: Arc<dyn Storage>, cache_bytes: usize) -> Result<Self, OpenError> {
        let full = Arc::new(AtomicBool::new(false));
        let redb = open_redb(storage.as_ref(), cache_bytes, |inner| Backend::writing(inner, &full))?;
        let open = RwLock::new(Open::Writing(redb));
        let database = Self { storage, cache_bytes, open, full, generation: AtomicU64::new(0) };
        tables::prepare(&database)?;
        Ok(database)
    }

    pub(crate) fn storage(&self) -> &dyn Storage {
        self.storage.as_ref()
    }

    /// Grows with every reopening, so that a reader whose transaction died with the old one can tell.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// A consistent snapshot for reading.
    pub(crate) fn read(&self) -> Result<ReadTransaction> {
        match &*self.open.read() {
            Open::Writing(redb) | Open::Reading(redb) => Ok(redb.begin_read()?),
            Open::Closed => {
                Err(Failure::Store("it is closed after an I/O error and cannot be opened again yet".into()))
            }
        }
    }

    /// The next write transaction, durable when it is committed, and quick to recover from when it is not.
    pub(crate) fn write(&self) -> Result<WriteTransaction> {
        match &*self.open.read() {
            Open::Writing(redb) => {
                let mut transaction = redb.begin_write()?;
                transaction.set_quick_repair(true);
                Ok(transaction)
            }
            Open::Reading(_) | Open::Closed => Err(Failure::Store("it takes no writes after an I/O error yet".into())),
        }
    }

    /// Closes what is left of the database and opens it again, so that work can go on after an I/O error. Where the disk
    /// takes no writes it is opened for reading all the same, and the error tells why it cannot be written.
    pub(crate) fn reopen(&self) -> Result<(), OpenError> {
        let mut open = self.open.write();
        // Closed first: the file is locked as long as it is open.
        *open = Open::Closed;
        self.generation.fetch_add(1, Ordering::AcqRel);
        let (storage, cache) = (self.storage.as_ref(), self.cache_bytes);
        match open_redb(storage, cache, |inner| Backend::writing(inner, &self.full)) {
            Ok(redb) => {
                *open = Open::Writing(redb);
                Ok(())
            }
            Err(error) => {
                if let Ok(redb) = open_redb(storage, cache, Backend::reading) {
                    *open = Open::Reading(redb);
                }
                Err(error)
            }
        }
    }

    /// What a failed write means: redb tells only the first error as it was, and "previous I/O error" ever after.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        let full = self.full.swap(false, Ordering::AcqRel);
        match failure {
            Failure::Store(message) if full => Failure::Full(format!("no space left on the disk ({message})")),
            other => other,
        }
    }
}

fn open_redb(
    storage: &dyn Storage,
    cache_bytes: usize,
    wrap: impl FnOnce(Box<dyn StorageBackend>) -> io::Result<Backend>,
) -> Result<redb::Database, OpenError> {
    let io_error = |source: io::Error| match source.kind() {
        io::ErrorKind::ResourceBusy | io::ErrorKind::WouldBlock => OpenError::InUse { path: storage.path() },
        _ => OpenError::Io { path: storage.path(), source },
    };
    let damaged = |detail: String| OpenError::Damaged { path: storage.path(), detail };

    let backend = storage.open().and_then(wrap).map_err(io_error)?;
    let open = || redb::Builder::new().set_cache_size(cache_bytes).create_with_backend(backend);
    // redb answers some kinds of damage with a panic; a daemon needs a message that names the file.
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(Ok(redb)) => Ok(redb),
        Ok(Err(DatabaseError::DatabaseAlreadyOpen)) => Err(OpenError::InUse { path: storage.path() }),
        Ok(Err(DatabaseError::Storage(redb::StorageError::Io(source)))) => match source.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Err(damaged(source.to_string())),
            _ => Err(io_error(source)),
        },
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(_) => Err(damaged("its pages contradict each other".into())),
    }
}
