//! The storage of the store's files.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use redb::StorageBackend;

/// Name of the first generation of the store in its directory; see [`Storage`] for the others.
pub const FILE_NAME: &str = "memory.redb";

/// Name of the file whose lock keeps a second process away.
const LOCK_NAME: &str = "lock";

/// A few files with flat names: the store's generations, its manifest and its index snapshot. A real directory, memory, or
/// one that injects crashes.
///
/// Duties of an implementation:
///
/// 1. `sync_data` of a backend, and `sync` of a [`Blob`], return only when every write and length of that file before it
///    survives power loss. Names survive only once [`Storage::sync`] has returned.
/// 2. Between two syncs any subset of the writes may survive, in any order, also parts of one write; and any subset of the
///    files that were made, renamed and removed. A rename itself is atomic.
/// 3. [`Storage::lock`] fails with [`io::ErrorKind::ResourceBusy`] while the guard of another one lives.
/// 4. A file that is removed while it is open stays usable through the open handle.
/// 5. A full disk is told as [`io::ErrorKind::StorageFull`] or [`io::ErrorKind::QuotaExceeded`].
pub trait Storage: Send + Sync {
    /// The directory, for messages.
    fn path(&self) -> PathBuf;

    /// Makes the directory and keeps every other process out until the guard goes.
    ///
    /// # Errors
    /// If it is in use, or cannot be written.
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>>;

    /// The files that are there.
    ///
    /// # Errors
    /// If the directory cannot be read; one that is not there is empty.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Opens a database's file for reading and writing, making it with `create`.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self, name: &str, create: bool) -> io::Result<Box<dyn StorageBackend>>;

    /// Opens a database's file that is not going to be written: also where nothing can be.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open_to_read(&self, name: &str) -> io::Result<Box<dyn StorageBackend>> {
        self.open(name, false)
    }

    /// Opens a file for reading from its begin to its end.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is none.
    fn reader(&self, name: &str) -> io::Result<Box<dyn Read + Send>>;

    /// Makes an empty file, in the place of another one of this name, to be written from its begin to its end.
    ///
    /// # Errors
    /// If it cannot be written.
    fn create(&self, name: &str) -> io::Result<Box<dyn Blob>>;

    /// Gives a file another name, in the place of another one of that name.
    ///
    /// # Errors
    /// If it cannot be renamed.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is none.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns once everything that was made, renamed and removed survives power loss.
    ///
    /// # Errors
    /// If nobody can know whether it does.
    fn sync(&self) -> io::Result<()>;

    /// Bytes that a file takes on the disk; holes of a sparse file do not count.
    ///
    /// # Errors
    /// If the file cannot be looked at.
    fn disk_bytes(&self, name: &str) -> io::Result<u64>;
}

/// A file that is written from its begin to its end.
pub trait Blob: Write + Send {
    /// Returns once every byte survives power loss.
    ///
    /// # Errors
    /// If nobody can know whether they do.
    fn sync(&mut self) -> io::Result<()>;
}

/// Writes a small file so that after power loss either its old bytes are there or the new ones; which, is certain once the
/// storage is synced.
pub(crate) fn replace(storage: &dyn Storage, name: &str, bytes: &[u8]) -> io::Result<()> {
    let new = format!("{name}{TEMPORARY}");
    let mut blob = storage.create(&new)?;
    blob.write_all(bytes)?;
    blob.sync()?;
    drop(blob);
    storage.rename(&new, name)
}

/// The end of the name of a file that is not whole yet.
pub(crate) const TEMPORARY: &str = ".new";

/// A directory that only its owner may read.
#[derive(Debug, Clone)]
pub struct DirStorage {
    dir: PathBuf,
}

impl DirStorage {
    /// The store in `dir`, which is made when it is opened.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether there is a store, sound or not.
    pub fn exists(&self) -> bool {
        self.names().is_ok_and(|names| names.iter().any(|name| super::generation::is_part_of_a_store(name)))
    }

    #[cfg(unix)]
    fn make_dir(&self) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)
    }

    #[cfg(not(unix))]
    fn make_dir(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).create(&self.dir)
    }
}

/// A file that only its owner may read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

impl Storage for DirStorage {
    fn path(&self) -> PathBuf {
        self.dir.clone()
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.make_dir()?;
        let file = private().read(true).write(true).create(true).truncate(false).open(self.dir.join(LOCK_NAME))?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::ResourceBusy.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            // Nothing of ours has a name that is not UTF-8.
            names.extend(entry?.file_name().into_string());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn open(&self, name: &str, create: bool) -> io::Result<Box<dyn StorageBackend>> {
        let file = private().read(true).write(true).create(create).truncate(false).open(self.dir.join(name))?;
        if create {
            // The name of a file that was just made survives power loss only once its directory is synced.
            self.sync()?;
        }
        let backend = redb::backends::FileBackend::new(file).map_err(io::Error::other)?;
        Ok(Box::new(backend))
    }

    fn open_to_read(&self, name: &str) -> io::Result<Box<dyn StorageBackend>> {
        let file = File::open(self.dir.join(name))?;
        Ok(Box::new(UnlockedFile(redb::backends::FileBackend::new(file).map_err(io::Error::other)?)))
    }

    fn reader(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(BufReader::with_capacity(1 << 18, File::open(self.dir.join(name))?)))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Blob>> {
        let file = private().write(true).create(true).truncate(true).open(self.dir.join(name))?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.dir.join(from), self.dir.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.dir.join(name))
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.dir)?.sync_all()
    }

    fn disk_bytes(&self, name: &str) -> io::Result<u64> {
        let metadata = std::fs::metadata(self.dir.join(name))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Ok(metadata.blocks() * 512)
        }
        #[cfg(not(unix))]
        Ok(metadata.len())
    }
}

/// A database's file that is not locked: a file that is not opened to be written cannot be. Other processes are kept out by
/// [`Storage::lock`].
#[derive(Debug)]
struct UnlockedFile(redb::backends::FileBackend);

impl StorageBackend for UnlockedFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}

impl Blob for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}
