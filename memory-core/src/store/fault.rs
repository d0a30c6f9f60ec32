//! A disk for tests: it remembers every write and can lose power, run full or fail at any of them.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use redb::StorageBackend;

use super::storage::{Storage, read_at, write_at};

/// Bytes that a disk writes whole or not at all.
const SECTOR: usize = 512;
/// Bytes that a file system gives a file at a time.
const BLOCK: u64 = 4096;

/// A disk in memory that records what is done to it.
#[derive(Debug, Clone, Default)]
pub struct FaultStorage {
    disk: Arc<Mutex<Disk>>,
}

#[derive(Debug, Default)]
struct Disk {
    initial: Vec<u8>,
    bytes: Vec<u8>,
    operations: Vec<Operation>,
    /// Blocks that were written once; holes take no space.
    blocks: BTreeSet<u64>,
    capacity: Option<u64>,
    /// Operations until the fault, and what it is.
    fault: Option<(usize, io::ErrorKind)>,
    failed: bool,
    in_use: bool,
}

#[derive(Debug, Clone)]
enum Operation {
    Write { offset: u64, data: Vec<u8> },
    SetLen(u64),
    Sync,
}

/// What becomes of a write that was not synced when the power went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// It never reached the disk.
    Lost,
    /// Its first sectors did.
    Torn,
    /// It did.
    Kept,
}

/// A moment at which the power may go: just before a sync ends, or after the last operation.
#[derive(Debug)]
pub struct PowerCut<'a> {
    durable: &'a [u8],
    in_flight: &'a [Operation],
    /// How many operations had begun; see [`FaultStorage::operations`].
    pub operations: usize,
}

impl PowerCut<'_> {
    /// How many writes were not synced.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// What is on the disk afterwards, given the fate of every write that was not synced.
    pub fn image(&self, mut fate: impl FnMut(usize) -> Survival) -> Vec<u8> {
        let mut image = self.durable.to_vec();
        for (index, operation) in self.in_flight.iter().enumerate() {
            match fate(index) {
                Survival::Lost => {}
                Survival::Torn => operation.apply_torn(&mut image),
                Survival::Kept => operation.apply(&mut image),
            }
        }
        image
    }
}

impl Operation {
    fn apply(&self, image: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } => put(image, *offset, data),
            Self::SetLen(len) => image.resize(usize::try_from(*len).expect("test disks fit into memory"), 0),
            Self::Sync => {}
        }
    }

    fn apply_torn(&self, image: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } if data.len() > SECTOR => {
                put(image, *offset, &data[..(data.len() / 2).next_multiple_of(SECTOR).min(data.len())]);
            }
            other => other.apply(image),
        }
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

impl FaultStorage {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// A disk that holds `image`, all of it durable.
    pub fn from_image(image: Vec<u8>) -> Self {
        let storage = Self::default();
        {
            let mut disk = storage.disk.lock();
            disk.blocks = (0..(image.len() as u64).div_ceil(BLOCK)).collect();
            disk.initial = image.clone();
            disk.bytes = image;
        }
        storage
    }

    /// The bytes as the running program sees them.
    pub fn image(&self) -> Vec<u8> {
        self.disk.lock().bytes.clone()
    }

    /// How many writes, changes of length and syncs there were.
    pub fn operations(&self) -> usize {
        self.disk.lock().operations.len()
    }

    /// Limits the bytes that the file may take, counting written blocks; `None` for no limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.disk.lock().capacity = bytes;
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

    /// Makes the disk work again.
    pub fn heal(&self) {
        self.disk.lock().fault = None;
    }

    /// Calls `visit` with every moment at which the power could have gone, in order.
    pub fn for_each_power_cut(&self, mut visit: impl FnMut(&PowerCut<'_>)) {
        let (initial, operations) = {
            let disk = self.disk.lock();
            (disk.initial.clone(), disk.operations.clone())
        };
        let mut durable = initial;
        let mut begin = 0;
        for end in 0..=operations.len() {
            if end < operations.len() && !matches!(operations[end], Operation::Sync) {
                continue;
            }
            visit(&PowerCut { durable: &durable, in_flight: &operations[begin..end], operations: end });
            operations[begin..end].iter().for_each(|operation| operation.apply(&mut durable));
            begin = end;
        }
    }
}

impl Storage for FaultStorage {
    fn path(&self) -> PathBuf {
        PathBuf::from("faulty")
    }

    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        if std::mem::replace(&mut self.disk.lock().in_use, true) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(Box::new(FaultBackend { disk: Arc::clone(&self.disk) }))
    }

    fn disk_bytes(&self) -> io::Result<u64> {
        Ok(self.disk.lock().blocks.len() as u64 * BLOCK)
    }
}

#[derive(Debug)]
struct FaultBackend {
    disk: Arc<Mutex<Disk>>,
}

impl Disk {
    fn step(&mut self) -> io::Result<()> {
        match &mut self.fault {
            Some((0, error)) => {
                self.failed = true;
                Err((*error).into())
            }
            Some((left, _)) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn allocate(&mut self, offset: u64, len: usize) -> io::Result<()> {
        let touched = offset / BLOCK..(offset + len as u64).div_ceil(BLOCK);
        let new: Vec<u64> = touched.filter(|block| !self.blocks.contains(block)).collect();
        let taken = (self.blocks.len() + new.len()) as u64 * BLOCK;
        if !new.is_empty() && self.capacity.is_some_and(|capacity| taken > capacity) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.blocks.extend(new);
        Ok(())
    }
}

impl StorageBackend for FaultBackend {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_at(&self.disk.lock().bytes, offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.step()?;
        disk.bytes.resize(usize::try_from(len).map_err(io::Error::other)?, 0);
        disk.blocks.retain(|block| block * BLOCK < len);
        disk.operations.push(Operation::SetLen(len));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.step()?;
        disk.operations.push(Operation::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut disk = self.disk.lock();
        disk.step()?;
        disk.allocate(offset, data.len())?;
        write_at(&mut disk.bytes, offset, data)?;
        disk.operations.push(Operation::Write { offset, data: data.to_vec() });
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        self.disk.lock().in_use = false;
        Ok(())
    }
}
