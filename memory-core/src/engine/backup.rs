//! Backup and restoring: all live rows of one consistent state, in a file that any machine can read.
//!
//! In the frames of a [container](crate::store::container), numbers little-endian:
//!
//! ```text
//! 1, length of a name (u16), name            the rows that follow belong to this table
//! 2, length of the key (u32), of the value (u32), key, value
//! 3, number of rows (u64), SHA-256 of everything before
//! ```
//!
//! Restoring builds a new generation of the store from the rows. It becomes the present one as after a compaction: when it
//! is whole and synced, by renaming the manifest. Until then the old one is served and nothing of it is touched.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use redb::{ReadableDatabase, ReadableTable, ReadableTableMetadata, TableHandle};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::handle::Engine;
use super::saved_index::SavedIndexPlace;
use super::vectors::SpaceInUse;
use super::writer::Writer;
use crate::ports::LongWork;
use crate::store::container::{ContainerReader, ContainerWriter, FileKind, invalid};
use crate::store::copy::{self, Filling, TABLES};
use crate::store::envelope;
use crate::store::failure::{Failure, Result};
use crate::store::live_rows::LiveRows;
use crate::store::records::{HEAD, Head};
use crate::store::tables::{self, EVENTS, MEMBERS, META, SETTINGS};
use crate::{BackupReply, MaintenanceError, SaveIndex};

#[cfg(test)]
mod fuzz_tests;

pub(super) const BACKUP: FileKind = FileKind { magic: b"ENGRBKUP", version: 1, name: "backup" };

const TABLE: u8 = 1;
const ROW: u8 = 2;
const END: u8 = 3;

/// Store formats whose rows equal those of the present format.
const READABLE_FORMATS: std::ops::RangeInclusive<u32> = 2..=tables::FORMAT;

/// Maximum length of a key or a value, in bytes.
const MAX_PART_BYTES: usize = 64 << 20;

/// Header of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct BackupHeader {
    format: u32,
    instance: String,
    /// Time of the backup, in microseconds since 1970.
    at: i64,
    seq: u64,
    events: u64,
    episodes: u64,
}

impl Engine {
    pub(crate) fn backup(&self, out: &mut dyn Write) -> Result<BackupReply, MaintenanceError> {
        let _alone = self.alone()?;
        self.settle_procedures(LongWork::Learning)?;
        let snapshot = self.database.read()?;
        copy::expect_known_tables(&snapshot)?;
        let live = LiveRows::read(&snapshot)?;
        let mut head = tables::head(&snapshot.open_table(META).map_err(Failure::from)?)?;
        head.hidden = head.hidden.saturating_sub(live.hidden_left_out);
        head.stale_bytes = 0;
        head.forgotten_since = None;
        let header = BackupHeader {
            format: tables::FORMAT,
            instance: self.instance.clone(),
            at: self.clock.now().as_micros(),
            seq: head.seq,
            events: head.events,
            episodes: head.episodes,
        };
        let encoded = postcard::to_stdvec(&header).expect("headers serialise to memory");
        let container = ContainerWriter::begin(BACKUP, &encoded, out).map_err(MaintenanceError::Write)?;
        let mut rows = RowWriter { container, hash: Sha256::new(), rows: 0, buffer: Vec::new() };
        let head = envelope::seal(HEAD, b"head", &head);
        for table in TABLES {
            let name = table.name();
            rows.begin(name).map_err(MaintenanceError::Write)?;
            // An error of the disk that is written to must not be taken for one of the store.
            let mut failed = None;
            table
                .for_each(&snapshot, &mut |key, value| {
                    let value = if name == "meta" && key == b"head" { &head } else { value };
                    let Some((key, value)) = live.row(name, key, value) else { return Ok(()) };
                    rows.put(&key, &value).map_err(|error| {
                        let stop = Failure::Store(error.to_string());
                        failed = Some(error);
                        stop
                    })
                })
                .map_err(|failure| failed.take().map_or_else(|| failure.into(), MaintenanceError::Write))?;
        }
        let rows_written = rows.rows;
        let bytes = rows.finish().map_err(MaintenanceError::Write)?;
        Ok(BackupReply { rows: rows_written, bytes, events: header.events, seq: header.seq })
    }

    /// The writer waits until it is done, so that what is told meanwhile is told to the restored memory.
    pub(crate) fn restore(&self, input: &mut dyn Read, keep_instance: bool) -> Result<BackupReply, MaintenanceError> {
        let _alone = self.alone()?;
        let mut writer = self.writer.lock();
        drop(self.begin(&mut writer)?);
        let next = self.database.generation().next();
        self.database.discard(next);
        let made = self.database.make_generation(next)?;
        let settings = own_settings(&self.database.read()?)?;
        let build = || build(input, &made, keep_instance.then_some(self.instance()), &settings);
        let built = match catch_unwind(AssertUnwindSafe(build)) {
            Ok(built) => built,
            // redb's answer to keys that no engram has written.
            Err(_) => Err(MaintenanceError::Unusable("the backup holds rows that do not belong to its tables".into())),
        };
        let reply = match built {
            Ok(reply) => reply,
            Err(error) => {
                drop(made);
                self.database.discard(next);
                return Err(error);
            }
        };
        let replaced = self.database.replace(next, made);
        if self.database.generation() != next {
            self.database.discard(next);
        }
        // Memory follows whichever is the present one now.
        let snapshot = self.database.read()?;
        let place = SavedIndexPlace::in_generation(&self.database, &self.instance);
        let mut recovered = Writer::open(&snapshot, self.clock.as_ref(), &place, self.options.index)?;
        recovered.absent = std::sync::Arc::clone(&writer.absent);
        recovered.picture_texts.clone_from(&writer.picture_texts);
        recovered.extractor.clone_from(&writer.extractor);
        recovered.place_spaces = std::sync::Arc::clone(&writer.place_spaces);
        recovered.follow_learnt(&mut writer);
        if let Some(space) = writer.space.take() {
            recovered.use_space(SpaceInUse::new(space.embedder), &snapshot)?;
        }
        *writer = recovered;
        self.publish(&writer);
        drop(writer);
        replaced?;
        self.save_index_if_due(SaveIndex::AtEnd);
        Ok(reply)
    }
}

/// The settings as they are stored.
fn own_settings(snapshot: &redb::ReadTransaction) -> Result<Vec<(String, Vec<u8>)>> {
    let mut settings = Vec::new();
    for entry in snapshot.open_table(SETTINGS)?.iter()? {
        let (name, value) = entry?;
        settings.push((name.value().to_owned(), value.value().to_vec()));
    }
    Ok(settings)
}

fn live_count(snapshot: &redb::ReadTransaction) -> Result<u64> {
    Ok(snapshot.open_table(MEMBERS)?.len()?)
}

/// Fills a new database and makes it durable.
fn build(
    input: &mut dyn Read,
    made: &redb::Database,
    instance: Option<&str>,
    settings: &[(String, Vec<u8>)],
) -> Result<BackupReply, MaintenanceError> {
    let (header, mut rows) = begin_reading(input)?;
    let mut filling = Filling::new(made);
    let (mut count, mut skipped) = (0, false);
    loop {
        match rows.next().map_err(unusable)? {
            BackupRecord::Table(name) => {
                let table =
                    copy::table(&name).map_err(|_| MaintenanceError::Unusable(format!("it has a table `{name}`")))?;
                filling.begin(table)?;
                // They are of the machine, not of the memory.
                skipped = name == SETTINGS.name();
            }
            BackupRecord::Row(..) if skipped => count += 1,
            BackupRecord::Row(key, value) => {
                count += 1;
                filling.put(&key, &value)?;
            }
            BackupRecord::End(told) if told == count => break,
            BackupRecord::End(told) => {
                return Err(MaintenanceError::Unusable(format!("it has {count} rows instead of {told}")));
            }
        }
    }
    let bytes = rows.container.finish().map_err(unusable)?;
    filling.finish()?;

    let mut transaction = made.begin_write().map_err(Failure::from)?;
    transaction.set_quick_repair(true);
    for table in TABLES {
        drop(table.open(&transaction)?);
    }
    {
        let mut meta = transaction.open_table(META).map_err(Failure::from)?;
        meta.insert("format", tables::sealed_format().as_slice()).map_err(Failure::from)?;
        if let Some(instance) = instance {
            meta.insert("instance", tables::seal_text("instance", instance).as_slice()).map_err(Failure::from)?;
        }
        let mut own = transaction.open_table(SETTINGS).map_err(Failure::from)?;
        for (name, value) in settings {
            own.insert(name.as_str(), value.as_slice()).map_err(Failure::from)?;
        }
    }
    transaction.commit().map_err(Failure::from)?;

    let snapshot = made.begin_read().map_err(Failure::from)?;
    let head: Head = tables::head(&snapshot.open_table(META).map_err(Failure::from)?)?;
    let there =
        (live_count(&snapshot)?, snapshot.open_table(EVENTS).map_err(Failure::from)?.len().map_err(Failure::from)?);
    let ids_left = [head.seq, head.last_event, head.last_episode].into_iter().all(|last| last < 1 << 62);
    if !ids_left
        || there != (head.events, head.events.saturating_add(head.hidden))
        || (head.seq, head.events) != (header.seq, header.events)
    {
        return Err(MaintenanceError::Unusable("its counters and its rows do not agree".into()));
    }
    Ok(BackupReply { rows: count, bytes, events: head.events, seq: head.seq })
}

/// Reads the header of a backup; the rows follow.
fn begin_reading(input: &mut dyn Read) -> Result<(BackupHeader, RowReader<'_>), MaintenanceError> {
    let (header, container) = ContainerReader::begin(BACKUP, input).map_err(unusable)?;
    let header: BackupHeader =
        envelope::decode(&header).map_err(|detail| MaintenanceError::Unusable(format!("its header: {detail}")))?;
    if !READABLE_FORMATS.contains(&header.format) {
        let message = format!("it was made of format {}, and this engram reads {READABLE_FORMATS:?}", header.format);
        return Err(MaintenanceError::Unusable(message));
    }
    Ok((header, RowReader { container, hash: Sha256::new() }))
}

pub(crate) fn verify(input: &mut dyn Read) -> Result<BackupReply, MaintenanceError> {
    let (header, mut rows) = begin_reading(input)?;
    let mut count = 0;
    loop {
        match rows.next().map_err(unusable)? {
            BackupRecord::Table(name) => {
                copy::table(&name).map_err(|_| MaintenanceError::Unusable(format!("it has a table `{name}`")))?;
            }
            BackupRecord::Row(..) => count += 1,
            BackupRecord::End(told) if told == count => break,
            BackupRecord::End(told) => {
                return Err(MaintenanceError::Unusable(format!("it has {count} rows instead of {told}")));
            }
        }
    }
    let bytes = rows.container.finish().map_err(unusable)?;
    Ok(BackupReply { rows: count, bytes, events: header.events, seq: header.seq })
}

/// Reading failed because of what was read.
fn unusable(error: io::Error) -> MaintenanceError {
    match error.kind() {
        io::ErrorKind::InvalidData => MaintenanceError::Unusable(error.to_string()),
        _ => MaintenanceError::Read(error),
    }
}

struct RowWriter<'w> {
    container: ContainerWriter<'w>,
    hash: Sha256,
    rows: u64,
    buffer: Vec<u8>,
}

impl RowWriter<'_> {
    fn begin(&mut self, table: &str) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.push(TABLE);
        self.buffer.extend_from_slice(&u16::try_from(table.len()).expect("names are short").to_le_bytes());
        self.buffer.extend_from_slice(table.as_bytes());
        self.write()
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        self.rows += 1;
        self.buffer.clear();
        self.buffer.push(ROW);
        for part in [key, value] {
            let length = u32::try_from(part.len()).map_err(io::Error::other)?;
            self.buffer.extend_from_slice(&length.to_le_bytes());
        }
        self.buffer.extend_from_slice(key);
        self.buffer.extend_from_slice(value);
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        self.hash.update(&self.buffer);
        self.container.write_all(&self.buffer)
    }

    fn finish(mut self) -> io::Result<u64> {
        let mut end = vec![END];
        end.extend_from_slice(&self.rows.to_le_bytes());
        end.extend_from_slice(&self.hash.finalize());
        self.container.write_all(&end)?;
        self.container.finish()
    }
}

enum BackupRecord {
    Table(String),
    Row(Vec<u8>, Vec<u8>),
    End(u64),
}

struct RowReader<'r> {
    container: ContainerReader<'r>,
    hash: Sha256,
}

impl RowReader<'_> {
    fn next(&mut self) -> io::Result<BackupRecord> {
        let mut tag = [0];
        self.container.read_exact(&mut tag)?;
        if tag[0] == END {
            let (mut rows, mut told) = ([0; 8], [0; 32]);
            self.container.read_exact(&mut rows)?;
            self.container.read_exact(&mut told)?;
            if self.hash.clone().finalize()[..] != told {
                return Err(invalid("the backup is damaged: its SHA-256 does not fit".into()));
            }
            return Ok(BackupRecord::End(u64::from_le_bytes(rows)));
        }
        self.hash.update(tag);
        match tag[0] {
            TABLE => {
                let mut length = [0; 2];
                self.read(&mut length)?;
                let name = self.part(u16::from_le_bytes(length).into())?;
                String::from_utf8(name)
                    .map(BackupRecord::Table)
                    .map_err(|_| invalid("a table's name is no text".into()))
            }
            ROW => {
                let (mut key, mut value) = ([0; 4], [0; 4]);
                self.read(&mut key)?;
                self.read(&mut value)?;
                let key = self.part(u32::from_le_bytes(key) as usize)?;
                Ok(BackupRecord::Row(key, self.part(u32::from_le_bytes(value) as usize)?))
            }
            other => Err(invalid(format!("the backup is damaged: {other} is no kind of record"))),
        }
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<()> {
        self.container.read_exact(into)?;
        self.hash.update(into);
        Ok(())
    }

    fn part(&mut self, length: usize) -> io::Result<Vec<u8>> {
        if length > MAX_PART_BYTES {
            return Err(invalid(format!("the backup is damaged: a row has {length} bytes")));
        }
        let mut bytes = vec![0; length];
        self.read(&mut bytes)?;
        Ok(bytes)
    }
}
