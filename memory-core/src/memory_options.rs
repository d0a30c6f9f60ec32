//! Options for opening a memory.

use crate::index::IndexOptions;

/// Options for opening a memory.
///
/// By default: the system's time zone, no limit but the disk, a page cache of 64 MiB, and an English index.
#[derive(Clone)]
pub struct MemoryOptions {
    /// Time zone for people's time words ("this morning") and for written times.
    pub zone: jiff::tz::TimeZone,
    /// Maximum size of the store on disk, bytes; at the limit `observe` returns `StorageFull`. `None`: no limit but the disk.
    pub max_bytes: Option<u64>,
    /// Page cache of the store, bytes.
    pub cache_bytes: usize,
    /// Options of the index. If the saved index has other options, it is built again from the store when the memory is opened.
    pub index: IndexOptions,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self {
            zone: jiff::tz::TimeZone::system(),
            max_bytes: None,
            cache_bytes: 64 << 20,
            index: IndexOptions::default(),
        }
    }
}
