//! The redb database: opened, healed in place after an I/O error, closed.

use std::io;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;
use redb::{BackendError, DatabaseError, ReadTransaction, ReadableDatabase, StorageBackend, WriteTransaction};

use super::failure::{Failure, Result, is_full};
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
    redb: RwLock<Option<redb::Database>>,
    full: Arc<AtomicBool>,
    generation: AtomicU64,
}

impl Database {
    /// Opens the database and makes its tables if it is new.
    pub(crate) fn open(storage: Arc<dyn Storage>, cache_bytes: usize) -> Result<Self, OpenError> {
        let full = Arc::new(AtomicBool::new(false));
        let redb = open_redb(storage.as_ref(), cache_bytes, &full)?;
        let database =
            Self { storage, cache_bytes, redb: RwLock::new(Some(redb)), full, generation: AtomicU64::new(0) };
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
        match self.redb.read().as_ref() {
            Some(redb) => Ok(redb.begin_read()?),
            None => Err(closed()),
        }
    }

    /// The next write transaction, durable when it is committed, and quick to recover from when it is not.
    pub(crate) fn write(&self) -> Result<WriteTransaction> {
        match self.redb.read().as_ref() {
            Some(redb) => {
                let mut transaction = redb.begin_write()?;
                transaction.set_quick_repair(true);
                Ok(transaction)
            }
            None => Err(closed()),
        }
    }

    /// Closes what is left of the database and opens it again, so that work can go on after an I/O error.
    pub(crate) fn reopen(&self) -> Result<(), OpenError> {
        let mut redb = self.redb.write();
        // Closed first: the file is locked as long as it is open.
        drop(redb.take());
        self.generation.fetch_add(1, Ordering::AcqRel);
        *redb = Some(open_redb(self.storage.as_ref(), self.cache_bytes, &self.full)?);
        Ok(())
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

fn closed() -> Failure {
    Failure::Store("it is closed after an I/O error and could not be opened again yet".into())
}

fn open_redb(storage: &dyn Storage, cache_bytes: usize, full: &Arc<AtomicBool>) -> Result<redb::Database, OpenError> {
    let io_error = |source: io::Error| match source.kind() {
        io::ErrorKind::ResourceBusy | io::ErrorKind::WouldBlock => OpenError::InUse { path: storage.path() },
        _ => OpenError::Io { path: storage.path(), source },
    };
    let damaged = |detail: String| OpenError::Damaged { path: storage.path(), detail };

    let backend = Backend { inner: storage.open().map_err(io_error)?, full: Arc::clone(full) };
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

/// Passes everything on and remembers that the disk was full.
#[derive(Debug)]
struct Backend {
    inner: Box<dyn StorageBackend>,
    full: Arc<AtomicBool>,
}

impl Backend {
    fn noting(&self, result: io::Result<()>) -> io::Result<()> {
        if let Err(error) = &result
            && is_full(error)
        {
            self.full.store(true, Ordering::Release);
        }
        result
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.noting(self.inner.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.noting(self.inner.sync_data())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.noting(self.inner.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.query_lock_range(start, end)
    }
}
