//! Files in memory.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use redb::StorageBackend;

use super::storage::{Blob, FILE_NAME, Storage};

/// Content of a disk: the files' bytes by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image {
    /// The files.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Image {
    /// Whether any file holds these bytes.
    pub fn contains(&self, bytes: &[u8]) -> bool {
        self.files.values().any(|file| file.windows(bytes.len()).any(|window| window == bytes))
    }
}

impl From<Vec<u8>> for Image {
    /// A disk that holds only the store's first generation.
    fn from(bytes: Vec<u8>) -> Self {
        Self { files: BTreeMap::from([(FILE_NAME.to_owned(), bytes)]) }
    }
}

/// Bytes in memory, gone with the last clone. For tests and for trying things out.
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    shared: Arc<SharedFiles>,
}

type SharedBytes = Arc<RwLock<Vec<u8>>>;

#[derive(Debug, Default)]
struct SharedFiles {
    files: Mutex<BTreeMap<String, SharedBytes>>,
    locked: Arc<AtomicBool>,
}

impl MemoryStorage {
    /// Creates an empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// A store whose files are those of `image`.
    pub fn from_image(image: impl Into<Image>) -> Self {
        let files = image.into().files.into_iter().map(|(name, bytes)| (name, Arc::new(RwLock::new(bytes)))).collect();
        Self { shared: Arc::new(SharedFiles { files: Mutex::new(files), locked: Arc::default() }) }
    }

    /// The bytes as they are now.
    pub fn image(&self) -> Image {
        let files = self.shared.files.lock();
        Image { files: files.iter().map(|(name, bytes)| (name.clone(), bytes.read().clone())).collect() }
    }

    fn file(&self, name: &str) -> io::Result<SharedBytes> {
        self.shared.files.lock().get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Lets the next one in when it goes.
pub(crate) struct Unlock(pub Arc<AtomicBool>);

impl Drop for Unlock {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl Storage for MemoryStorage {
    fn path(&self) -> PathBuf {
        PathBuf::from("memory")
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        if self.shared.locked.swap(true, Ordering::SeqCst) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(Box::new(Unlock(Arc::clone(&self.shared.locked))))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.shared.files.lock().keys().cloned().collect())
    }

    fn open(&self, name: &str, create: bool) -> io::Result<Box<dyn StorageBackend>> {
        let bytes = if create {
            Arc::clone(self.shared.files.lock().entry(name.to_owned()).or_default())
        } else {
            self.file(name)?
        };
        Ok(Box::new(MemoryFile { bytes }))
    }

    fn reader(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        let bytes = self.file(name)?.read().clone();
        Ok(Box::new(Cursor::new(bytes)))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Blob>> {
        let bytes = SharedBytes::default();
        self.shared.files.lock().insert(name.to_owned(), Arc::clone(&bytes));
        Ok(Box::new(MemoryFile { bytes }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.shared.files.lock();
        let bytes = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.shared.files.lock().remove(name).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn disk_bytes(&self, name: &str) -> io::Result<u64> {
        Ok(self.file(name)?.read().len() as u64)
    }
}

#[derive(Debug)]
struct MemoryFile {
    bytes: SharedBytes,
}

impl StorageBackend for MemoryFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.read().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_at(&self.bytes.read(), offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(io::Error::other)?;
        self.bytes.write().resize(len, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        write_at(&mut self.bytes.write(), offset, data)
    }
}

impl Write for MemoryFile {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.bytes.write().extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Blob for MemoryFile {
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies `out.len()` bytes from `offset`.
pub(crate) fn read_at(bytes: &[u8], offset: u64, out: &mut [u8]) -> io::Result<()> {
    let range = range_of(offset, out.len(), bytes.len())?;
    out.copy_from_slice(&bytes[range]);
    Ok(())
}

/// Overwrites `data.len()` bytes at `offset`.
pub(crate) fn write_at(bytes: &mut [u8], offset: u64, data: &[u8]) -> io::Result<()> {
    let range = range_of(offset, data.len(), bytes.len())?;
    bytes[range].copy_from_slice(data);
    Ok(())
}

fn range_of(offset: u64, len: usize, available: usize) -> io::Result<std::ops::Range<usize>> {
    let start = usize::try_from(offset).map_err(io::Error::other)?;
    let end = start.checked_add(len).filter(|end| *end <= available);
    end.map(|end| start..end).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
