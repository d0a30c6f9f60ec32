//! The redb database: opens it, reopens it in place after an I/O error, replaces it by its next generation, and closes it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use redb::{
    DatabaseError, Key, ReadTransaction, ReadableDatabase, StorageBackend, TableDefinition, Value, WriteTransaction,
};

use super::backend::{Backend, DiskTrouble};
use super::failure::{Failure, Result};
use super::generation::{self, Generation};
use super::noted::Noted;
use super::storage::Storage;
use super::tables;
use crate::OpenError;

/// The one open database of a store.
///
/// The lock is taken shared for the moment in which a transaction begins, by readers and by the writer alike, and
/// exclusively only while the database is reopened after an I/O error, for redb refuses all work after one, or replaced by
/// its next generation.
pub(crate) struct Database {
    storage: Arc<dyn Storage>,
    cache_bytes: usize,
    open: RwLock<OpenDatabase>,
    trouble: Arc<DiskTrouble>,
    /// How often the database was opened.
    openings: AtomicU64,
    /// The present generation was named, and it is not known whether power loss takes its name away again.
    unsure: AtomicBool,
    /// Keys that were written since somebody wanted to know.
    changed: Mutex<Option<Arc<ChangedKeys>>>,
    _lock: Box<dyn Send + Sync>,
}

struct OpenDatabase {
    generation: Generation,
    state: DatabaseState,
}

enum DatabaseState {
    Writing(redb::Database),
    /// A database on a disk that cannot be written.
    Reading(redb::Database),
    Closed,
}

/// Keys of rows that were written or removed, by table. Rows of transactions that came to nothing may be among them.
#[derive(Default)]
pub(crate) struct ChangedKeys {
    keys: Mutex<BTreeMap<String, BTreeSet<Vec<u8>>>>,
}

impl ChangedKeys {
    pub(crate) fn note(&self, table: &str, key: &[u8]) {
        let mut tables = self.keys.lock();
        match tables.get_mut(table) {
            Some(keys) => drop(keys.insert(key.to_vec())),
            None => drop(tables.insert(table.to_owned(), BTreeSet::from([key.to_vec()]))),
        }
    }

    /// Takes the keys noted since the last call.
    pub(crate) fn take(&self) -> BTreeMap<String, BTreeSet<Vec<u8>>> {
        std::mem::take(&mut *self.keys.lock())
    }

    /// How many keys are noted.
    pub(crate) fn len(&self) -> usize {
        self.keys.lock().values().map(BTreeSet::len).sum()
    }
}

/// A write transaction whose tables note what is written.
pub(crate) struct Write {
    transaction: WriteTransaction,
    changed: Option<Arc<ChangedKeys>>,
}

impl Write {
    /// A table, made if it is not there.
    pub(crate) fn open_table<K: Key + 'static, V: Value + 'static>(
        &self,
        definition: TableDefinition<'static, K, V>,
    ) -> Result<Noted<'_, K, V>, redb::TableError> {
        Ok(Noted::new(definition, self.transaction.open_table(definition)?, self.changed.as_deref()))
    }

    /// Lets the commit wait for no disk: it is durable with the next one that does.
    pub(crate) fn wait_for_no_disk(&mut self) -> Result<()> {
        let set = self.transaction.set_durability(redb::Durability::None);
        set.map_err(|error| Failure::Store(error.to_string()))
    }

    pub(crate) fn commit(self) -> Result<(), redb::CommitError> {
        self.transaction.commit()
    }

    pub(crate) fn abort(self) -> Result<(), redb::StorageError> {
        self.transaction.abort()
    }
}

impl Deref for Write {
    type Target = WriteTransaction;

    fn deref(&self) -> &WriteTransaction {
        &self.transaction
    }
}

impl Drop for Database {
    /// Closes the database. redb tidies up freed pages then, and panics where they are damaged; what was accepted is committed.
    fn drop(&mut self) {
        let state = std::mem::replace(&mut self.open.get_mut().state, DatabaseState::Closed);
        if catch_unwind(AssertUnwindSafe(|| drop(state))).is_err() {
            tracing::error!("freed pages of the store are damaged, so it was not closed in order; run `engram check`");
        }
    }
}

impl Database {
    /// Opens the present generation and makes its tables if it is new.
    pub(crate) fn open(storage: Arc<dyn Storage>, cache_bytes: usize) -> Result<Self, OpenError> {
        let lock = storage.lock().map_err(|source| match source.kind() {
            io::ErrorKind::ResourceBusy | io::ErrorKind::WouldBlock => OpenError::InUse { path: storage.path() },
            _ => OpenError::Io { path: storage.path(), source },
        })?;
        let present = generation::present(storage.as_ref())?;
        let generation = present.generation;
        let trouble = Arc::<DiskTrouble>::default();
        let redb = open_redb(storage.as_ref(), generation, present.new, cache_bytes, |inner| {
            Backend::writing(inner, &trouble)
        })?;
        let database = Self {
            storage,
            cache_bytes,
            open: RwLock::new(OpenDatabase { generation, state: DatabaseState::Writing(redb) }),
            trouble,
            openings: AtomicU64::new(0),
            unsure: AtomicBool::new(false),
            changed: Mutex::default(),
            _lock: lock,
        };
        // As where the file is opened: redb panics where pages contradict each other.
        catch_unwind(AssertUnwindSafe(|| tables::prepare(&database))).unwrap_or_else(|_| {
            Err(OpenError::Damaged { path: database.path(), detail: "pages contradict each other".into() })
        })?;
        database.tidy(present.manifest_lost);
        Ok(database)
    }

    /// Repairs the manifest and removes what compactions and restorings left that were cut off.
    fn tidy(&self, manifest_lost: bool) {
        let (storage, generation) = (self.storage(), self.generation());
        let mut tidied = Ok(());
        if manifest_lost {
            tracing::warn!(file = generation.file_name(), "the manifest was lost; this is the only generation");
            tidied = generation::make_current(storage, generation).and_then(|()| storage.sync());
        }
        if let Err(error) = tidied.and_then(|()| generation::remove_others(storage, generation)) {
            tracing::warn!(%error, "files that nobody needs could not be removed; tried again at the next start");
        }
    }

    pub(crate) fn storage(&self) -> &dyn Storage {
        self.storage.as_ref()
    }

    /// The present generation.
    pub(crate) fn generation(&self) -> Generation {
        self.open.read().generation
    }

    /// The present generation's file, for messages.
    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.storage.path().join(self.generation().file_name())
    }

    /// Bytes that the present generation takes on the disk.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.storage.disk_bytes(&self.generation().file_name()).unwrap_or(0)
    }

    /// Grows with every reopening, so that a reader whose transaction died with the old one can tell.
    pub(crate) fn openings(&self) -> u64 {
        self.openings.load(Ordering::Acquire)
    }

    /// A consistent snapshot for reading.
    pub(crate) fn read(&self) -> Result<ReadTransaction> {
        match &self.open.read().state {
            DatabaseState::Writing(redb) | DatabaseState::Reading(redb) => Ok(redb.begin_read()?),
            DatabaseState::Closed => {
                Err(Failure::Store("it is closed after an I/O error and cannot be opened again yet".into()))
            }
        }
    }

    /// The next write transaction, durable when it is committed, and quick to recover from when it is not.
    pub(crate) fn write(&self) -> Result<Write> {
        match &self.open.read().state {
            DatabaseState::Writing(redb) => {
                let mut transaction = redb.begin_write()?;
                transaction.set_quick_repair(true);
                Ok(Write { transaction, changed: self.changed.lock().clone() })
            }
            DatabaseState::Reading(_) | DatabaseState::Closed => {
                Err(Failure::Store("it takes no writes after an I/O error yet".into()))
            }
        }
    }

    /// Notes the keys that are written from the next transaction on, until `forget_changes`.
    pub(crate) fn note_changes(&self) -> Arc<ChangedKeys> {
        let changed = Arc::new(ChangedKeys::default());
        *self.changed.lock() = Some(Arc::clone(&changed));
        changed
    }

    /// Notes nothing any more.
    pub(crate) fn forget_changes(&self) {
        *self.changed.lock() = None;
    }

    /// Makes the database of a generation that is not the present one. It is not durable until it is told to be.
    pub(crate) fn make_generation(&self, generation: Generation) -> Result<redb::Database, OpenError> {
        let trouble = Arc::default();
        open_redb(self.storage(), generation, true, self.cache_bytes, |inner| Backend::writing(inner, &trouble))
    }

    /// Makes a generation that is whole and synced the present one; then only it is there. Readers that began before read
    /// again. If it fails, the old one is the present one still. Or it is not known which one is: then the new one is read,
    /// and written once that is known; nothing that was acknowledged is in one of them only.
    pub(crate) fn replace(&self, generation: Generation, made: redb::Database) -> Result<(), OpenError> {
        // Closed first, so that the file is as any other that is opened.
        drop(made);
        let storage = self.storage();
        let io_error = |source| OpenError::Io { path: storage.path(), source };
        let redb =
            open_redb(storage, generation, false, self.cache_bytes, |inner| Backend::writing(inner, &self.trouble))?;
        let mut open = self.open.write();
        generation::make_current(storage, generation).map_err(io_error)?;
        let synced = storage.sync();
        let state = if synced.is_ok() { DatabaseState::Writing(redb) } else { DatabaseState::Reading(redb) };
        *open = OpenDatabase { generation, state };
        self.unsure.store(synced.is_err(), Ordering::Release);
        self.openings.fetch_add(1, Ordering::AcqRel);
        drop(open);
        synced.map_err(io_error)?;
        self.tidy(false);
        Ok(())
    }

    /// Removes a generation that is not the present one and never will be.
    pub(crate) fn discard(&self, generation: Generation) {
        debug_assert!(generation != self.generation(), "the present generation stays");
        let storage = self.storage();
        match storage.remove(&generation.file_name()).and_then(|()| storage.sync()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, "an unfinished generation could not be removed; tried again at the next start");
            }
            _ => {}
        }
    }

    /// Closes what is left of the database and opens it again, so that work can go on after an I/O error. Where the disk
    /// takes no writes it is opened for reading all the same, and the error tells why it cannot be written.
    pub(crate) fn reopen(&self) -> Result<(), OpenError> {
        let mut open = self.open.write();
        let generation = open.generation;
        // Closed first: the file is locked as long as it is open.
        open.state = DatabaseState::Closed;
        self.openings.fetch_add(1, Ordering::AcqRel);
        let (storage, cache) = (self.storage.as_ref(), self.cache_bytes);
        let certain = || match self.unsure.load(Ordering::Acquire) {
            true => storage.sync().map_err(|source| OpenError::Io { path: storage.path(), source }),
            false => Ok(()),
        };
        let opened = certain().and_then(|()| {
            open_redb(storage, generation, false, cache, |inner| Backend::writing(inner, &self.trouble))
        });
        match opened {
            Ok(redb) => {
                open.state = DatabaseState::Writing(redb);
                self.trouble.take_failed();
                drop(open);
                if self.unsure.swap(false, Ordering::AcqRel) {
                    self.tidy(false);
                }
                Ok(())
            }
            Err(error) => {
                if let Ok(redb) = open_redb_to_read(storage, generation, cache, &self.trouble) {
                    open.state = DatabaseState::Reading(redb);
                    self.trouble.take_failed();
                }
                Err(error)
            }
        }
    }

    /// Whether the disk refused something since the database was opened, or since the last time.
    pub(crate) fn take_failed(&self) -> bool {
        self.trouble.take_failed()
    }

    /// Converts the error of a failed write. redb reports only the first error as it was, and "previous I/O error" from then on.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        let full = self.trouble.take_full();
        match failure {
            Failure::Store(message) if full => Failure::Full(format!("no space left on the disk ({message})")),
            other => other,
        }
    }
}

fn open_redb(
    storage: &dyn Storage,
    generation: Generation,
    create: bool,
    cache_bytes: usize,
    wrap: impl FnOnce(Box<dyn StorageBackend>) -> io::Result<Backend>,
) -> Result<redb::Database, OpenError> {
    let backend = storage.open(&generation.file_name(), create).and_then(wrap);
    open_backend(storage.path().join(generation.file_name()), backend, cache_bytes)
}

/// Opens a database whose writes do not reach the disk.
fn open_redb_to_read(
    storage: &dyn Storage,
    generation: Generation,
    cache_bytes: usize,
    trouble: &Arc<DiskTrouble>,
) -> Result<redb::Database, OpenError> {
    let backend = storage.open_to_read(&generation.file_name());
    let backend = backend.and_then(|inner| Backend::reading(inner, trouble));
    open_backend(storage.path().join(generation.file_name()), backend, cache_bytes)
}

fn open_backend(path: PathBuf, backend: io::Result<Backend>, cache_bytes: usize) -> Result<redb::Database, OpenError> {
    let in_use = || OpenError::InUse { path: path.clone() };
    let io_error = |source: io::Error| match source.kind() {
        io::ErrorKind::ResourceBusy | io::ErrorKind::WouldBlock => in_use(),
        _ => OpenError::Io { path: path.clone(), source },
    };
    let damaged = |detail: String| OpenError::Damaged { path: path.clone(), detail };

    let backend = backend.map_err(io_error)?;
    let open = || redb::Builder::new().set_cache_size(cache_bytes).create_with_backend(backend);
    // redb answers some kinds of damage with a panic; a daemon needs a message that names the file.
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(Ok(redb)) => Ok(redb),
        Ok(Err(DatabaseError::DatabaseAlreadyOpen)) => Err(in_use()),
        Ok(Err(DatabaseError::Storage(redb::StorageError::Io(source)))) => match source.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => Err(damaged(source.to_string())),
            _ => Err(io_error(source)),
        },
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(_) => Err(damaged("its pages contradict each other".into())),
    }
}
