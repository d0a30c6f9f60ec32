//! The adapter between redb and the storage.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use redb::{BackendError, StorageBackend};

use crate::error::is_full;

/// Length of redb's magic number. redb writes it last when it creates a file.
const MAGIC_BYTES: usize = 9;

/// Size of a piece of the overlay, in bytes.
const BLOCK_BYTES: u64 = 4096;

/// What the disk refused. redb reports only the first error as it was, and "previous I/O error" from then on.
#[derive(Debug, Default)]
pub(crate) struct DiskTrouble {
    /// There was no space left.
    full: AtomicBool,
    /// Something could not be read or written; since then redb refuses all work, also where the disk does it again.
    failed: AtomicBool,
}

impl DiskTrouble {
    /// Whether the disk was full since the last time.
    pub(crate) fn take_full(&self) -> bool {
        self.full.swap(false, Ordering::AcqRel)
    }

    /// Whether something could not be read or written since the last time.
    pub(crate) fn take_failed(&self) -> bool {
        self.failed.swap(false, Ordering::AcqRel)
    }
}

/// Passes everything on and remembers what went wrong; or keeps every write to itself.
#[derive(Debug)]
pub(crate) struct Backend {
    inner: Box<dyn StorageBackend>,
    trouble: Arc<DiskTrouble>,
    /// Writes that do not reach the disk, so that a database on a full disk can be opened for reading: redb notes in the
    /// file that it is open.
    overlay: Option<Mutex<Overlay>>,
}

#[derive(Debug)]
struct Overlay {
    len: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl Backend {
    /// A backend that writes.
    pub(crate) fn writing(inner: Box<dyn StorageBackend>, trouble: &Arc<DiskTrouble>) -> io::Result<Self> {
        restart_creation(inner.as_ref())?;
        Ok(Self { inner, trouble: Arc::clone(trouble), overlay: None })
    }

    /// A backend that leaves the disk as it is.
    pub(crate) fn reading(inner: Box<dyn StorageBackend>, trouble: &Arc<DiskTrouble>) -> io::Result<Self> {
        let overlay = Overlay { len: inner.len()?, blocks: BTreeMap::new() };
        Ok(Self { inner, trouble: Arc::clone(trouble), overlay: Some(Mutex::new(overlay)) })
    }

    fn noting(&self, result: io::Result<()>) -> io::Result<()> {
        if let Err(error) = &result {
            self.trouble.failed.store(true, Ordering::Release);
            if is_full(error) {
                self.trouble.full.store(true, Ordering::Release);
            }
        }
        result
    }
}

/// Empties a file whose making was cut off before redb wrote its magic number: nothing was ever stored in it, and redb
/// would refuse it for ever.
fn restart_creation(backend: &dyn StorageBackend) -> io::Result<()> {
    let len = backend.len()?;
    let mut magic = [0; MAGIC_BYTES];
    let readable = usize::try_from(len).unwrap_or(usize::MAX).min(MAGIC_BYTES);
    backend.read(0, &mut magic[..readable])?;
    if len > 0 && magic == [0; MAGIC_BYTES] {
        backend.set_len(0)?;
        backend.sync_data()?;
    }
    Ok(())
}

impl Overlay {
    fn read(&self, inner: &dyn StorageBackend, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if offset + out.len() as u64 > self.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // The file may be shorter than the database believes by now.
        let on_disk = usize::try_from(inner.len()?.saturating_sub(offset)).unwrap_or(usize::MAX).min(out.len());
        inner.read(offset, &mut out[..on_disk])?;
        out[on_disk..].fill(0);
        let end = offset + out.len() as u64;
        for (&block, bytes) in self.blocks.range(offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES)) {
            let begin = block * BLOCK_BYTES;
            let (from, to) = (offset.max(begin), end.min(begin + BLOCK_BYTES));
            out[at(from, offset)..at(to, offset)].copy_from_slice(&bytes[at(from, begin)..at(to, begin)]);
        }
        Ok(())
    }

    fn write(&mut self, inner: &dyn StorageBackend, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset + data.len() as u64;
        if end > self.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for block in offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES) {
            let begin = block * BLOCK_BYTES;
            if !self.blocks.contains_key(&block) {
                let mut bytes = vec![0; at(BLOCK_BYTES, 0)];
                let known = at(self.len.min(begin + BLOCK_BYTES), begin);
                self.read(inner, begin, &mut bytes[..known])?;
                self.blocks.insert(block, bytes);
            }
            let bytes = self.blocks.get_mut(&block).expect("inserted above");
            let (from, to) = (offset.max(begin), end.min(begin + BLOCK_BYTES));
            bytes[at(from, begin)..at(to, begin)].copy_from_slice(&data[at(from, offset)..at(to, offset)]);
        }
        Ok(())
    }
}

/// The place of `position` in a buffer that begins at `begin`.
fn at(position: u64, begin: u64) -> usize {
    usize::try_from(position - begin).expect("within a buffer")
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        match &self.overlay {
            Some(overlay) => Ok(overlay.lock().len),
            None => self.inner.len(),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.noting(match &self.overlay {
            Some(overlay) => overlay.lock().read(self.inner.as_ref(), offset, out),
            None => self.inner.read(offset, out),
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        match &self.overlay {
            Some(overlay) => {
                overlay.lock().len = len;
                Ok(())
            }
            None => self.noting(self.inner.set_len(len)),
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        match &self.overlay {
            Some(_) => Ok(()),
            None => self.noting(self.inner.sync_data()),
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        match &self.overlay {
            Some(overlay) => overlay.lock().write(self.inner.as_ref(), offset, data),
            None => self.noting(self.inner.write(offset, data)),
        }
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
