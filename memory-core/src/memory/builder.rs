//! Opens a memory with some options of its own.

use std::path::PathBuf;
use std::sync::Arc;

use super::Memory;
use crate::index::IndexOptions;
use crate::store::DirStorage;
use crate::{Clock, MemoryOptions, OpenError, SystemClock};

/// Opens a memory with options; what is not set has the default of [`MemoryOptions`].
///
/// ```
/// # fn main() -> Result<(), memory_core::OpenError> {
/// # let folder = std::env::temp_dir().join(format!("engram-doc-builder-{}", std::process::id()));
/// let memory = memory_core::Memory::builder()
///     .zone(jiff::tz::TimeZone::UTC)
///     .max_bytes(100 << 20)
///     .open(&folder)?;
/// assert_eq!(memory.stats().events, 0);
/// # drop(std::fs::remove_dir_all(folder));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use = "nothing is opened before `open` is called"]
pub struct MemoryBuilder {
    options: MemoryOptions,
    clock: Option<Arc<dyn Clock>>,
}

impl MemoryBuilder {
    /// Sets the time zone for people's time words ("this morning") and for written times.
    pub fn zone(mut self, zone: jiff::tz::TimeZone) -> Self {
        self.options.zone = zone;
        self
    }

    /// Limits the size of the store on disk, in bytes. At the limit [`Memory::observe`] fails with
    /// [`StorageFull`](crate::ObserveError::StorageFull) until something is forgotten and compacted away.
    pub fn max_bytes(mut self, bytes: impl Into<Option<u64>>) -> Self {
        self.options.max_bytes = bytes.into();
        self
    }

    /// Sets the page cache of the store, in bytes.
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.options.cache_bytes = bytes;
        self
    }

    /// Sets the options of the index. A saved index with other options is built again.
    pub fn index(mut self, index: IndexOptions) -> Self {
        self.options.index = index;
        self
    }

    /// Sets the clock; [`SystemClock`] by default.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Opens the memory in a directory, making it if there is none, and recovers from whatever ended the last run.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(self, dir: impl Into<PathBuf>) -> Result<Memory, OpenError> {
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock::new()));
        Memory::open_in(Arc::new(DirStorage::new(dir)), self.options, clock)
    }
}
