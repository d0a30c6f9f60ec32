//! Where the store keeps its bytes.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use redb::StorageBackend;

/// Name of the store's file in its directory.
pub const FILE_NAME: &str = "memory.redb";

/// Where the store keeps its bytes; a real directory, memory, or one that injects crashes.
///
/// Duties of an implementation:
///
/// 1. `sync_data` of the backend returns only when every write and length before it survives power loss.
/// 2. Between two syncs any subset of the writes may survive, in any order, also parts of one write.
/// 3. At most one backend is open at a time. A second `open`, or the backend's lock, fails with
///    [`io::ErrorKind::ResourceBusy`] or redb's "already open" until the first one is closed.
/// 4. A full disk is told as [`io::ErrorKind::StorageFull`] or [`io::ErrorKind::QuotaExceeded`].
pub trait Storage: Send + Sync {
    /// The store's file, for messages.
    fn path(&self) -> PathBuf;

    /// Opens the bytes, making them if there are none.
    ///
    /// # Errors
    /// If they cannot be read and written, or are in use.
    fn open(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Bytes taken on the disk; holes of a sparse file do not count.
    ///
    /// # Errors
    /// If the file cannot be looked at.
    fn disk_bytes(&self) -> io::Result<u64>;
}

/// A file `memory.redb` in a directory that only its owner may read.
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

impl Storage for DirStorage {
    fn path(&self) -> PathBuf {
        self.dir.join(FILE_NAME)
    }

    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.make_dir()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(self.path())?;
        // The name of a file that was just made survives power loss only once its directory is synced.
        File::open(&self.dir)?.sync_all()?;
        let backend = redb::backends::FileBackend::new(file).map_err(io::Error::other)?;
        Ok(Box::new(backend))
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        let metadata = std::fs::metadata(self.path())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Ok(metadata.blocks() * 512)
        }
        #[cfg(not(unix))]
        Ok(metadata.len())
    }
}

/// Bytes in memory, gone with the last clone. For tests and for trying things out.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    shared: Arc<SharedBytes>,
}

#[derive(Debug, Default)]
struct SharedBytes {
    bytes: RwLock<Vec<u8>>,
    in_use: AtomicBool,
}

impl MemoryStorage {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A store whose bytes are `image`.
    pub fn from_image(image: Vec<u8>) -> Self {
        let storage = Self::default();
        *storage.shared.bytes.write() = image;
        storage
    }

    /// The bytes as they are now.
    pub fn image(&self) -> Vec<u8> {
        self.shared.bytes.read().clone()
    }
}

impl Storage for MemoryStorage {
    fn path(&self) -> PathBuf {
        PathBuf::from("memory")
    }

    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        if self.shared.in_use.swap(true, Ordering::SeqCst) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(Box::new(MemoryBackend { shared: Arc::clone(&self.shared) }))
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        Ok(self.shared.bytes.read().len() as u64)
    }
}

#[derive(Debug)]
struct MemoryBackend {
    shared: Arc<SharedBytes>,
}

impl StorageBackend for MemoryBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.shared.bytes.read().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_at(&self.shared.bytes.read(), offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(io::Error::other)?;
        self.shared.bytes.write().resize(len, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        write_at(&mut self.shared.bytes.write(), offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.shared.in_use.store(false, Ordering::SeqCst);
        Ok(())
    }
}

/// Copies `out.len()` bytes from `offset`.
pub(super) fn read_at(bytes: &[u8], offset: u64, out: &mut [u8]) -> io::Result<()> {
    let range = range_of(offset, out.len(), bytes.len())?;
    out.copy_from_slice(&bytes[range]);
    Ok(())
}

/// Overwrites `data.len()` bytes at `offset`.
pub(super) fn write_at(bytes: &mut [u8], offset: u64, data: &[u8]) -> io::Result<()> {
    let range = range_of(offset, data.len(), bytes.len())?;
    bytes[range].copy_from_slice(data);
    Ok(())
}

fn range_of(offset: u64, len: usize, available: usize) -> io::Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).map_err(io::Error::other)?;
    let end = start.checked_add(len).filter(|end| *end <= available);
    end.map(|end| start..end).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
