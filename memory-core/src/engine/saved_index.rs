//! The index in a file beside the store, so that opening reads it instead of building it from every event.
//!
//! ```text
//! index-3.snapshot       of generation 3; a cache: whatever is wrong with it costs time and nothing else
//! index-3.snapshot.new   one that is not whole yet
//! ```
//!
//! The file is a sequence of checksummed [sections](crate::index::section):
//!
//! ```text
//! SVHD  u16 version │ postcard: instance, generation, number, token, last event, time, damaged records, space
//! SVEN  postcard: folded entity names with their counts
//! SVJR  per told observation of the last minutes that only its content identifies: 16 bytes digest, u64 event,
//!       u64 age in microseconds
//! IX..  the index, to the end of the file
//! ```
//!
//! # Which index belongs to which store
//!
//! Saving first commits a row `Saved` to the table `changes`, with a random token and the next number, and takes the state
//! of the index under the same lock. The index then knows of everything up to that row, and what came later is found: events
//! by their numbers, vectors by what has none yet, everything else in the rows after it. A file whose row is not there, or has
//! another token, is of another store, another generation, or of a copy that went its own way.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::EventId;
use crate::index::section::{SectionError, read_section, write_section};
use crate::index::{CompressedIndex, IndexOptions, Search};
use crate::store::database::Database;
use crate::store::envelope;
use crate::store::generation::Generation;
use crate::store::records::{Digest, Space};
use crate::store::storage::{Storage, TEMPORARY};

const VERSION: u16 = 1;
const HEAD: &str = "SVHD";
const ENTITIES: &str = "SVEN";
const JOURNAL: &str = "SVJR";
const JOURNAL_ENTRY: usize = 32;
/// Maximum length of the header, in bytes. Names have at most 1 KiB.
const MAX_HEAD_BYTES: u64 = 16 << 10;

/// Header of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SnapshotHeader {
    pub instance: String,
    pub generation: u64,
    /// Number of its row in `changes`.
    pub number: u64,
    pub token: u64,
    /// The last event that the index can hold.
    pub last_event: u64,
    /// Wall clock when it was saved, microseconds since 1970.
    pub at: i64,
    /// Records that do not decode and are left out of it.
    pub damaged: u64,
    /// The space of its signatures, and its number.
    pub space: Option<(Space, Option<u32>)>,
}

/// Digest, event and age of a told observation that only its content identifies.
pub(crate) type RecentTold = (Digest, EventId, Duration);

/// Content to write: one state of the writer.
pub(crate) struct Saving {
    pub header: SnapshotHeader,
    pub entities: BTreeMap<String, u64>,
    pub recent: Vec<RecentTold>,
    pub search: Arc<dyn Search>,
}

/// Content that was read.
pub(crate) struct Loaded {
    pub header: SnapshotHeader,
    pub entities: BTreeMap<String, u64>,
    pub recent: Vec<RecentTold>,
    pub index: CompressedIndex,
}

/// Where a saved index lies, and the store that it must belong to.
pub(crate) struct SavedIndexPlace<'s> {
    pub storage: &'s dyn Storage,
    pub generation: Generation,
    pub instance: &'s str,
}

/// Name of the file while it is written.
pub(crate) fn new_name(generation: Generation) -> String {
    generation.index_file_name() + TEMPORARY
}

impl Saving {
    /// Writes the file, all of it; returns its length. `step` is called for every part of it.
    pub(crate) fn write(&self, out: &mut dyn Write, step: &dyn Fn()) -> io::Result<u64> {
        let mut out = Counting { out: BufWriter::with_capacity(1 << 20, out), bytes: 0, step };
        let mut head = VERSION.to_le_bytes().to_vec();
        head.extend(postcard::to_stdvec(&self.header).expect("headers serialise to memory"));
        write_section(&mut out, HEAD, &head)?;
        let entities = postcard::to_stdvec(&self.entities).expect("names serialise to memory");
        write_section(&mut out, ENTITIES, &entities)?;
        let mut recent = Vec::with_capacity(self.recent.len() * JOURNAL_ENTRY);
        for (digest, event, age) in &self.recent {
            recent.extend_from_slice(digest);
            recent.extend_from_slice(&event.0.to_le_bytes());
            recent.extend_from_slice(&u64::try_from(age.as_micros()).unwrap_or(u64::MAX).to_le_bytes());
        }
        write_section(&mut out, JOURNAL, &recent)?;
        self.search.write_snapshot(&mut out)?;
        out.flush()?;
        Ok(out.bytes)
    }
}

struct Counting<'s, W> {
    out: W,
    bytes: u64,
    step: &'s dyn Fn(),
}

impl<W: Write> Write for Counting<'_, W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.out.write(data)?;
        self.bytes += written as u64;
        (self.step)();
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Why there is no index to be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("there is none")]
    Missing,
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    #[error("it is damaged, or of another version or other options: {0}")]
    Damaged(#[from] SectionError),
    #[error("{0}")]
    Foreign(&'static str),
}

impl<'s> SavedIndexPlace<'s> {
    /// Returns the place of the saved index of the present generation.
    pub(crate) fn in_generation(database: &'s Database, instance: &'s str) -> Self {
        Self { storage: database.storage(), generation: database.generation(), instance }
    }

    /// Reads the index of this generation. `is_ours` says whether the store knows it by its number and token; it is
    /// asked before the long part is decoded.
    pub(crate) fn load(
        &self,
        options: IndexOptions,
        is_ours: impl FnOnce(&SnapshotHeader) -> bool,
    ) -> Result<Loaded, Unfit> {
        let name = self.generation.index_file_name();
        let mut reader = self.storage.reader(&name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Unfit::Missing,
            _ => Unfit::Unreadable(error),
        })?;
        let length = self.storage.disk_bytes(&name).ok().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
        let mut bytes = Vec::new();
        // What the system says of the length is a hint.
        let _granted_or_not = bytes.try_reserve(length);
        reader.read_to_end(&mut bytes).map_err(Unfit::Unreadable)?;
        drop(reader);
        let mut rest = bytes.as_slice();
        let header = read_header(&mut rest)?;
        if header.instance != self.instance || header.generation != self.generation.0 || !is_ours(&header) {
            return Err(Unfit::Foreign("it is of another store, or of another state of this one"));
        }
        let (entities, recent) = (read_entities(&mut rest)?, read_recent(&mut rest)?);
        let index = CompressedIndex::read_snapshot_bytes(options, rest)?;
        Ok(Loaded { header, entities, recent, index })
    }
}

fn read_header(input: &mut &[u8]) -> Result<SnapshotHeader, SectionError> {
    let bytes = read_section(input, HEAD, MAX_HEAD_BYTES)?;
    let Some((version, bytes)) = bytes.split_first_chunk() else {
        return Err(SectionError::content(HEAD, "it is empty"));
    };
    let found = u16::from_le_bytes(*version);
    if found != VERSION {
        return Err(SectionError::Version { tag: HEAD, found, known: VERSION });
    }
    envelope::decode(bytes).map_err(|detail| SectionError::content(HEAD, detail))
}

fn read_entities(input: &mut &[u8]) -> Result<BTreeMap<String, u64>, SectionError> {
    let most = input.len() as u64;
    let bytes = read_section(input, ENTITIES, most)?;
    let entities: BTreeMap<String, u64> =
        envelope::decode(&bytes).map_err(|detail| SectionError::content(ENTITIES, detail))?;
    if entities.values().any(|count| *count == 0) {
        return Err(SectionError::content(ENTITIES, "a name that nothing has"));
    }
    Ok(entities)
}

fn read_recent(input: &mut &[u8]) -> Result<Vec<RecentTold>, SectionError> {
    let most = input.len() as u64;
    let bytes = read_section(input, JOURNAL, most)?;
    let (entries, rest) = bytes.as_chunks::<JOURNAL_ENTRY>();
    if !rest.is_empty() {
        return Err(SectionError::content(JOURNAL, "half an entry"));
    }
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    let entry = |entry: &[u8; JOURNAL_ENTRY]| {
        let digest = entry[..16].try_into().expect("sixteen bytes");
        (digest, EventId(number(&entry[16..24])), Duration::from_micros(number(&entry[24..])))
    };
    Ok(entries.iter().map(entry).collect())
}
