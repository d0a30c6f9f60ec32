//! A simulated disk for tests: it records every operation, and can lose power, become full or fail at any of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use redb::StorageBackend;

use super::memory_storage::{Image, Unlock, read_at};
use super::storage::{Blob, Storage};

/// Number of bytes that a disk writes completely or not at all.
const SECTOR_BYTES: usize = 512;
/// Number of bytes that a file system allocates at a time.
const BLOCK_BYTES: u64 = 4096;

/// A disk in memory that records what is done to it.
#[derive(Debug, Clone, Default)]
pub struct FaultStorage {
    disk: Arc<Mutex<Disk>>,
    locked: Arc<AtomicBool>,
}

/// A file whatever its name is by now.
type Inode = usize;

#[derive(Debug, Default)]
struct Disk {
    initial: Files,
    now: Files,
    operations: Vec<Operation>,
    /// Blocks that were written once, by file; holes take no space.
    blocks: BTreeMap<Inode, BTreeSet<u64>>,
    capacity: Option<u64>,
    /// Operations until the fault, and what it is.
    fault: Option<(usize, io::ErrorKind)>,
    failed: bool,
    /// Nothing of a database's file can be read.
    unreadable: bool,
}

#[derive(Debug, Clone, Default)]
struct Files {
    bytes: Vec<Vec<u8>>,
    names: BTreeMap<String, Inode>,
}

#[derive(Debug, Clone)]
enum Operation {
    Write { file: Inode, offset: u64, data: Vec<u8> },
    SetLen { file: Inode, len: u64 },
    Sync { file: Inode },
    Name { name: String, file: Inode },
    Rename { from: String, to: String, file: Inode },
    Unname { name: String },
    SyncNames,
}

/// Fate of an operation that was not synced when the power was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// It never reached the disk.
    Lost,
    /// Its first sectors did. What is no write to a file did.
    Torn,
    /// It reached the disk.
    Kept,
}

/// A moment at which the power may go: just before a sync ends, or after the last operation.
#[derive(Debug)]
pub struct PowerCut<'a> {
    durable: &'a Files,
    in_flight: &'a [&'a Operation],
    /// How many operations had begun; see [`FaultStorage::operations`].
    pub operations: usize,
}

impl PowerCut<'_> {
    /// How many operations were not synced.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Returns the content of the disk after the power cut, given the fate of every operation that was not synced.
    pub fn image(&self, mut fate: impl FnMut(usize) -> Survival) -> Image {
        let mut files = self.durable.clone();
        for (index, operation) in self.in_flight.iter().enumerate() {
            match fate(index) {
                Survival::Lost => {}
                Survival::Torn => files.apply_torn(operation),
                Survival::Kept => files.apply(operation),
            }
        }
        files.image()
    }
}

impl Files {
    fn file(&mut self, file: Inode) -> &mut Vec<u8> {
        if self.bytes.len() <= file {
            self.bytes.resize_with(file + 1, Vec::new);
        }
        &mut self.bytes[file]
    }

    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Write { file, offset, data } => put(self.file(*file), *offset, data),
            Operation::SetLen { file, len } => {
                self.file(*file).resize(usize::try_from(*len).expect("test disks fit into memory"), 0);
            }
            Operation::Name { name, file } => drop(self.names.insert(name.clone(), *file)),
            Operation::Rename { from, to, file } => {
                // The name that it had may be lost, or another file's by now.
                if self.names.get(from) == Some(file) {
                    self.names.remove(from);
                }
                self.names.insert(to.clone(), *file);
            }
            Operation::Unname { name } => drop(self.names.remove(name)),
            Operation::Sync { .. } | Operation::SyncNames => {}
        }
    }

    fn apply_torn(&mut self, operation: &Operation) {
        match operation {
            Operation::Write { file, offset, data } if data.len() > SECTOR_BYTES => {
                put(
                    self.file(*file),
                    *offset,
                    &data[..(data.len() / 2).next_multiple_of(SECTOR_BYTES).min(data.len())],
                );
            }
            other => self.apply(other),
        }
    }

    fn image(&self) -> Image {
        let bytes = |file: Inode| self.bytes.get(file).cloned().unwrap_or_default();
        Image { files: self.names.iter().map(|(name, file)| (name.clone(), bytes(*file))).collect() }
    }
}

/// A write beyond an end that did not survive still makes the file longer.
fn put(image: &mut Vec<u8>, offset: u64, data: &[u8]) {
    let start = usize::try_from(offset).expect("test disks fit into memory");
    if image.len() < start + data.len() {
        image.resize(start + data.len(), 0);
    }
    image[start..start + data.len()].copy_from_slice(data);
}

impl Operation {
    /// Whether a sync makes it durable.
    fn is_made_durable_by(&self, sync: &Self) -> bool {
        match (self, sync) {
            (Self::Write { file, .. } | Self::SetLen { file, .. }, Self::Sync { file: synced }) => file == synced,
            (Self::Name { .. } | Self::Rename { .. } | Self::Unname { .. }, Self::SyncNames) => true,
            _ => false,
        }
    }

    fn is_sync(&self) -> bool {
        matches!(self, Self::Sync { .. } | Self::SyncNames)
    }
}

impl FaultStorage {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// A disk that holds `image`, all of it durable.
    pub fn from_image(image: impl Into<Image>) -> Self {
        let storage = Self::default();
        {
            let mut disk = storage.disk.lock();
            for (name, bytes) in image.into().files {
                let file = disk.now.bytes.len();
                disk.blocks.insert(file, (0..(bytes.len() as u64).div_ceil(BLOCK_BYTES)).collect());
                disk.now.bytes.push(bytes);
                disk.now.names.insert(name, file);
            }
            disk.initial = disk.now.clone();
        }
        storage
    }

    /// The bytes as the running program sees them.
    pub fn image(&self) -> Image {
        self.disk.lock().now.image()
    }

    /// How many writes, changes of length, syncs and changes of names there were.
    pub fn operations(&self) -> usize {
        self.disk.lock().operations.len()
    }

    /// Limits the bytes that all files may take, counting written blocks; `None` for no limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.disk.lock().capacity = bytes;
    }

    /// Bytes that all files take.
    pub fn taken(&self) -> u64 {
        self.disk.lock().taken()
    }

    /// Lets `operations` more operations succeed, and every later one fail with `error`, until `heal`.
    pub fn fail_after(&self, operations: usize, error: io::ErrorKind) {
        let mut disk = self.disk.lock();
        disk.fault = Some((operations, error));
        disk.failed = false;
    }

    /// Whether an operation has failed since `fail_after`.
    pub fn failed(&self) -> bool {
        self.disk.lock().failed
    }

    /// Whether nothing of a database's file can be read.
    pub fn set_unreadable(&self, unreadable: bool) {
        self.disk.lock().unreadable = unreadable;
    }

    /// Makes the disk work again.
    pub fn heal(&self) {
        self.disk.lock().fault = None;
    }

    /// Calls `visit` with every moment at which the power could have gone, in order.
    pub fn for_each_power_cut(&self, mut visit: impl FnMut(&PowerCut<'_>)) {
        let (mut durable, operations) = {
            let disk = self.disk.lock();
            (disk.initial.clone(), disk.operations.clone())
        };
        let mut in_flight: Vec<&Operation> = Vec::new();
        for (index, operation) in operations.iter().enumerate() {
            if operation.is_sync() {
                visit(&PowerCut { durable: &durable, in_flight: &in_flight, operations: index });
                in_flight.retain(|earlier| {
                    let synced = earlier.is_made_durable_by(operation);
                    if synced {
                        durable.apply(earlier);
                    }
                    !synced
                });
            } else {
                in_flight.push(operation);
            }
        }
        visit(&PowerCut { durable: &durable, in_flight: &in_flight, operations: operations.len() });
    }

    fn file(&self, name: &str) -> io::Result<Inode> {
        self.disk.lock().now.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn make(&self, name: &str) -> io::Result<Inode> {
        let mut disk = self.disk.lock();
        let file = disk.now.bytes.len();
        disk.free(name);
        disk.run(Operation::Name { name: name.to_owned(), file })?;
        disk.now.file(file);
        Ok(file)
    }
}

impl Storage for FaultStorage {
    fn path(&self) -> PathBuf {
        PathBuf::from("faulty")
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        if self.locked.swap(true, Ordering::SeqCst) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(Box::new(Unlock(Arc::clone(&self.locked))))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.disk.lock().now.names.keys().cloned().collect())
    }

    fn open(&self, name: &str, create: bool) -> io::Result<Box<dyn StorageBackend>> {
        let file = match self.file(name) {
            Err(_) if create => {
                let file = self.make(name)?;
                self.sync()?;
                file
            }
            found => found?,
        };
        // A file system that became read-only opens nothing to be written.
        if let Some((0, error @ io::ErrorKind::ReadOnlyFilesystem)) = self.disk.lock().fault {
            return Err(error.into());
        }
        Ok(Box::new(FaultFile { disk: Arc::clone(&self.disk), file, written: 0 }))
    }

    fn open_to_read(&self, name: &str) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(FaultFile { disk: Arc::clone(&self.disk), file: self.file(name)?, written: 0 }))
    }

    fn reader(&self, name: &str) -> io::Result<Box<dyn Read + Send>> {
        let file = self.file(name)?;
        Ok(Box::new(Cursor::new(self.disk.lock().now.file(file).clone())))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Blob>> {
        let file = self.make(name)?;
        Ok(Box::new(FaultFile { disk: Arc::clone(&self.disk), file, written: 0 }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let file = self.file(from)?;
        let mut disk = self.disk.lock();
        disk.run(Operation::Rename { from: from.to_owned(), to: to.to_owned(), file })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.file(name)?;
        let mut disk = self.disk.lock();
        disk.free(name);
        disk.run(Operation::Unname { name: name.to_owned() })
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.lock().run(Operation::SyncNames)
    }

    fn disk_bytes(&self, name: &str) -> io::Result<u64> {
        let file = self.file(name)?;
        Ok(self.disk.lock().blocks.get(&file).map_or(0, |blocks| blocks.len() as u64 * BLOCK_BYTES))
    }
}

#[derive(Debug)]
struct FaultFile {
    disk: Arc<Mutex<Disk>>,
    file: Inode,
    /// Bytes that were written one after the other.
    written: u64,
}

impl Disk {
    /// Does what can be done, and remembers it.
    fn run(&mut self, operation: Operation) -> io::Result<()> {
        match &mut self.fault {
            Some((0, error)) => {
                self.failed = true;
                return Err((*error).into());
            }
            Some((left, _)) => *left -= 1,
            None => {}
        }
        match &operation {
            Operation::Write { file, offset, data } => self.allocate(*file, *offset, data.len())?,
            Operation::SetLen { file, len } => {
                self.blocks.entry(*file).or_default().retain(|block| block * BLOCK_BYTES < *len);
            }
            Operation::Rename { to, .. } => self.free(to),
            _ => {}
        }
        self.now.apply(&operation);
        self.operations.push(operation);
        Ok(())
    }

    fn taken(&self) -> u64 {
        self.blocks.values().map(|blocks| blocks.len() as u64 * BLOCK_BYTES).sum()
    }

    /// Frees the blocks of a file that loses its name, even if it is still open.
    fn free(&mut self, name: &str) {
        if let Some(file) = self.now.names.get(name) {
            self.blocks.remove(file);
        }
    }

    fn allocate(&mut self, file: Inode, offset: u64, len: usize) -> io::Result<()> {
        let touched = offset / BLOCK_BYTES..(offset + len as u64).div_ceil(BLOCK_BYTES);
        let known = self.blocks.entry(file).or_default();
        let new: Vec<u64> = touched.filter(|block| !known.contains(block)).collect();
        let taken = self.taken() + new.len() as u64 * BLOCK_BYTES;
        if !new.is_empty() && self.capacity.is_some_and(|capacity| taken > capacity) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.blocks.entry(file).or_default().extend(new);
        Ok(())
    }
}

impl StorageBackend for FaultFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().now.file(self.file).len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut disk = self.disk.lock();
        if disk.unreadable {
            return Err(io::Error::other("the sector cannot be read"));
        }
        read_at(disk.now.file(self.file), offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.lock().run(Operation::SetLen { file: self.file, len })
    }

    fn sync_data(&self) -> io::Result<()> {
        self.disk.lock().run(Operation::Sync { file: self.file })
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut disk = self.disk.lock();
        if offset + data.len() as u64 > disk.now.file(self.file).len() as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        disk.run(Operation::Write { file: self.file, offset, data: data.to_vec() })
    }
}

impl Write for FaultFile {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let operation = Operation::Write { file: self.file, offset: self.written, data: data.to_vec() };
        self.disk.lock().run(operation)?;
        self.written += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Blob for FaultFile {
    fn sync(&mut self) -> io::Result<()> {
        self.disk.lock().run(Operation::Sync { file: self.file })
    }
}
