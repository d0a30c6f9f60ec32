//! The tables, and functions that read rows from them.

use redb::{Key, ReadOnlyTable, ReadTransaction, ReadableTable, TableDefinition, Value};
use serde::Serialize;

use super::database::{Database, Write};
use super::envelope::{self, RecordType};
use super::failure::{Failure, Result, if_sound};
use super::noted::Noted;
use super::records::{
    BEHIND, Behind, CONTINUED, EPISODE, EVENT, EpisodeBody, EpisodeRow, EventBody, EventRow, HEAD, HEAD_1, Head,
    HeadOfFormat1, PURGE, Purge, TEXT,
};
use crate::limits::MAX_FUTURE;
use crate::{OpenError, Timestamp};

type Bytes = &'static [u8];

/// `format`, `instance`, `head`.
pub(crate) const META: TableDefinition<'_, &str, Bytes> = TableDefinition::new("meta");
/// Event id → [`EventRow`].
pub(crate) const EVENTS: TableDefinition<'_, u64, Bytes> = TableDefinition::new("events");
/// Episode id → [`EpisodeRow`].
pub(crate) const EPISODES: TableDefinition<'_, u64, Bytes> = TableDefinition::new("episodes");
/// (episode, visible event).
pub(crate) const MEMBERS: TableDefinition<'_, (u64, u64), ()> = TableDefinition::new("members");
/// (`source`, `id`, `at`) → the newest event of that key.
pub(crate) const IDENTITY: TableDefinition<'_, Bytes, u64> = TableDefinition::new("identity");
/// (source, session, stream span) → episode.
pub(crate) const SEGMENTS: TableDefinition<'_, Bytes, u64> = TableDefinition::new("segments");
/// (begin, episode) → end, of visible segments.
pub(crate) const SEGMENT_TIMES: TableDefinition<'_, (i64, u64), i64> = TableDefinition::new("segment_times");
/// (begin, event) → episode, of visible told events that no segment contains yet.
pub(crate) const TOLD_TIMES: TableDefinition<'_, (i64, u64), u64> = TableDefinition::new("told_times");
/// (facet, folded name, visible event) → (episode, begin, end).
pub(crate) const FACETS: TableDefinition<'_, (u8, &str, u64), (u64, i64, i64)> = TableDefinition::new("facets");
/// A told source or session → the episode that it opened last.
pub(crate) const STREAMS: TableDefinition<'_, Bytes, u64> = TableDefinition::new("streams");
/// Number of an embedding space → [`super::records::Space`].
pub(crate) const SPACES: TableDefinition<'_, u32, Bytes> = TableDefinition::new("spaces");
/// (space, event) → vector.
pub(crate) const VECTORS: TableDefinition<'_, (u32, u64), Bytes> = TableDefinition::new("vectors");
/// Number → [`super::records::Purge`]: recordings that show what was forgotten, until they are gone.
pub(crate) const PURGES: TableDefinition<'_, u64, Bytes> = TableDefinition::new("purges");
/// Setting → text.
pub(crate) const SETTINGS: TableDefinition<'_, &str, Bytes> = TableDefinition::new("settings");

/// (part, key) → what was learnt; see [`crate::learning`].
pub(crate) const LEARNT: TableDefinition<'_, (u8, Bytes), Bytes> = TableDefinition::new("learnt");

/// Number → [`super::records::Change`]: what changed since the index was saved. The last row always stays, so that no number
/// is used twice.
pub(crate) const CHANGES: TableDefinition<'_, u64, Bytes> = TableDefinition::new("changes");

/// (kind, begin) → a gist, or that one is due; see [`super::gists`].
pub(crate) const GISTS: TableDefinition<'_, (u8, i64), Bytes> = TableDefinition::new("gists");

/// Event → [`super::poses::PoseRow`], of visible events that have one.
pub(crate) const POSES: TableDefinition<'_, u64, Bytes> = TableDefinition::new("poses");

/// (space, event) → [`super::sequences::Sequence`], of visible events that show more than one look.
pub(crate) const SEQUENCES: TableDefinition<'_, (u32, u64), Bytes> = TableDefinition::new("sequences");

/// Facet of `FACETS`: the entity.
pub(crate) const ENTITY: u8 = 1;
/// Facet of `FACETS`: the attribute `place`.
pub(crate) const PLACE: u8 = 2;

/// The format that is written. Reading goes up to it.
pub(crate) const FORMAT: u32 = 5;
const FORMAT_MAGIC: &[u8; 4] = b"ENGR";

/// Every table but the settings, open for one write transaction.
pub(crate) struct WriteTables<'t> {
    pub meta: Noted<'t, &'static str, Bytes>,
    pub events: Noted<'t, u64, Bytes>,
    pub episodes: Noted<'t, u64, Bytes>,
    pub members: Noted<'t, (u64, u64), ()>,
    pub identity: Noted<'t, Bytes, u64>,
    pub segments: Noted<'t, Bytes, u64>,
    pub segment_times: Noted<'t, (i64, u64), i64>,
    pub told_times: Noted<'t, (i64, u64), u64>,
    pub facets: Noted<'t, (u8, &'static str, u64), (u64, i64, i64)>,
    pub streams: Noted<'t, Bytes, u64>,
    pub spaces: Noted<'t, u32, Bytes>,
    pub vectors: Noted<'t, (u32, u64), Bytes>,
    pub purges: Noted<'t, u64, Bytes>,
    pub learnt: Noted<'t, (u8, Bytes), Bytes>,
    pub changes: Noted<'t, u64, Bytes>,
    pub gists: Noted<'t, (u8, i64), Bytes>,
    pub poses: Noted<'t, u64, Bytes>,
    pub sequences: Noted<'t, (u32, u64), Bytes>,
}

impl<'t> WriteTables<'t> {
    pub(crate) fn open(transaction: &'t Write) -> Result<Self> {
        Ok(Self {
            meta: transaction.open_table(META)?,
            events: transaction.open_table(EVENTS)?,
            episodes: transaction.open_table(EPISODES)?,
            members: transaction.open_table(MEMBERS)?,
            identity: transaction.open_table(IDENTITY)?,
            segments: transaction.open_table(SEGMENTS)?,
            segment_times: transaction.open_table(SEGMENT_TIMES)?,
            told_times: transaction.open_table(TOLD_TIMES)?,
            facets: transaction.open_table(FACETS)?,
            streams: transaction.open_table(STREAMS)?,
            spaces: transaction.open_table(SPACES)?,
            vectors: transaction.open_table(VECTORS)?,
            purges: transaction.open_table(PURGES)?,
            learnt: transaction.open_table(LEARNT)?,
            changes: transaction.open_table(CHANGES)?,
            gists: transaction.open_table(GISTS)?,
            poses: transaction.open_table(POSES)?,
            sequences: transaction.open_table(SEQUENCES)?,
        })
    }

    /// Writes a row and says how long the one in its place was.
    pub(crate) fn put_event(&mut self, id: u64, row: &EventRow) -> Result<usize> {
        let old = self.events.insert(id, seal_numbered(EVENT, id, row).as_slice())?;
        Ok(old.map_or(0, |old| old.value().len()))
    }

    pub(crate) fn put_episode(&mut self, id: u64, row: &EpisodeRow) -> Result<()> {
        self.episodes.insert(id, seal_numbered(EPISODE, id, row).as_slice())?;
        Ok(())
    }

    fn put_format(&mut self) -> Result<()> {
        self.meta.insert("format", sealed_format().as_slice())?;
        Ok(())
    }

    pub(crate) fn put_head(&mut self, head: &Head) -> Result<()> {
        self.meta.insert("head", envelope::seal(HEAD, b"head", head).as_slice())?;
        Ok(())
    }
}

/// Returns the content of the row `format`.
pub(crate) fn sealed_format() -> Vec<u8> {
    let mut format = FORMAT_MAGIC.to_vec();
    format.extend_from_slice(&FORMAT.to_le_bytes());
    format
}

/// The tables that questions and lists read, open for one snapshot.
pub(crate) struct ReadTables {
    pub meta: ReadOnlyTable<&'static str, Bytes>,
    pub events: ReadOnlyTable<u64, Bytes>,
    pub episodes: ReadOnlyTable<u64, Bytes>,
    pub members: ReadOnlyTable<(u64, u64), ()>,
    pub facets: ReadOnlyTable<(u8, &'static str, u64), (u64, i64, i64)>,
    pub vectors: ReadOnlyTable<(u32, u64), Bytes>,
    pub spaces: ReadOnlyTable<u32, Bytes>,
    pub segment_times: ReadOnlyTable<(i64, u64), i64>,
    pub gists: Option<ReadOnlyTable<(u8, i64), Bytes>>,
    pub poses: Option<ReadOnlyTable<u64, Bytes>>,
    pub sequences: Option<ReadOnlyTable<(u32, u64), Bytes>>,
}

impl ReadTables {
    pub(crate) fn open(transaction: &ReadTransaction) -> Result<Self> {
        Ok(Self {
            meta: transaction.open_table(META)?,
            events: transaction.open_table(EVENTS)?,
            episodes: transaction.open_table(EPISODES)?,
            members: transaction.open_table(MEMBERS)?,
            facets: transaction.open_table(FACETS)?,
            vectors: transaction.open_table(VECTORS)?,
            spaces: transaction.open_table(SPACES)?,
            segment_times: transaction.open_table(SEGMENT_TIMES)?,
            gists: gists(transaction)?,
            poses: poses(transaction)?,
            sequences: optional(transaction, SEQUENCES)?,
        })
    }

    pub(crate) fn live_event(&self, id: u64) -> Result<Option<EventBody>> {
        Ok(match event_row(&self.events, id)? {
            Some(EventRow::Live(body)) => Some(body),
            _ => None,
        })
    }

    /// A visible event and its own id, found also under the id of one that it goes on from.
    pub(crate) fn present_event(&self, id: u64) -> Result<Option<(u64, EventBody)>> {
        let mut own = id;
        loop {
            match event_row(&self.events, own)? {
                Some(EventRow::Live(body)) => return Ok(Some((own, body))),
                // It became a part of a later one, so this ends.
                Some(EventRow::Superseded { by, digest: CONTINUED, .. }) if by > own => own = by,
                _ => return Ok(None),
            }
        }
    }

    /// A visible episode and its own id, found also under the id of one that it took in.
    pub(crate) fn live_episode(&self, id: u64) -> Result<Option<(u64, EpisodeBody)>> {
        live_episode(&self.episodes, id)
    }

    /// The visible events of an episode, in order of commit.
    pub(crate) fn members_of(&self, episode: u64) -> Result<Vec<u64>> {
        members_of(&self.members, episode)
    }
}

pub(crate) fn event_row(table: &impl ReadableTable<u64, Bytes>, id: u64) -> Result<Option<EventRow>> {
    table.get(id)?.map(|value| open_numbered(EVENT, id, value.value())).transpose()
}

pub(crate) fn episode_row(table: &impl ReadableTable<u64, Bytes>, id: u64) -> Result<Option<EpisodeRow>> {
    table.get(id)?.map(|value| open_numbered(EPISODE, id, value.value())).transpose()
}

pub(crate) fn live_episode(table: &impl ReadableTable<u64, Bytes>, id: u64) -> Result<Option<(u64, EpisodeBody)>> {
    let mut id = id;
    // A segment takes in episodes, and is never taken in itself, so a chain has one link.
    for _ in 0..2 {
        match episode_row(table, id)? {
            Some(EpisodeRow::Live(body)) => return Ok(Some((id, body))),
            Some(EpisodeRow::Merged { into }) => id = into,
            Some(EpisodeRow::Forgotten { .. }) | None => return Ok(None),
        }
    }
    Err(Failure::damaged(EPISODE.table, id, "merged twice"))
}

/// The gists; `None` in a memory from before there were any.
pub(crate) fn gists(transaction: &ReadTransaction) -> Result<Option<ReadOnlyTable<(u8, i64), Bytes>>> {
    optional(transaction, GISTS)
}

/// The poses; `None` in a memory from before there were any.
pub(crate) fn poses(transaction: &ReadTransaction) -> Result<Option<ReadOnlyTable<u64, Bytes>>> {
    optional(transaction, POSES)
}

/// A table; `None` in a memory from before there was one.
pub(crate) fn optional<K: Key + 'static, V: Value + 'static>(
    transaction: &ReadTransaction,
    table: TableDefinition<'_, K, V>,
) -> Result<Option<ReadOnlyTable<K, V>>> {
    match transaction.open_table(table) {
        Ok(table) => Ok(Some(table)),
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Number of the last events whose times are read to find the latest.
const MAX_RECENT_EVENTS: usize = 1024;

/// The events that were told while the clock was behind.
pub(crate) fn behind(meta: &impl ReadableTable<&'static str, Bytes>) -> Result<Behind> {
    let Some(row) = meta.get("behind")? else { return Ok(Behind::default()) };
    let behind = envelope::open(BEHIND, b"behind", row.value())
        .map_err(|detail| Failure::damaged(BEHIND.table, "behind", detail));
    Ok(if_sound(behind)?.unwrap_or_default())
}

/// When the last events were told, by the clock of that time, or by their senders where that was behind.
pub(crate) fn latest(events: &impl ReadableTable<u64, Bytes>) -> Result<Option<Timestamp>> {
    let mut latest = None;
    for entry in events.range::<u64>(..)?.rev().take(MAX_RECENT_EVENTS) {
        let (key, value) = entry?;
        if let Ok(EventRow::Live(body)) = open_numbered(EVENT, key.value(), value.value()) {
            let (received, start) = (Timestamp::from_micros(body.received), Timestamp::from_micros(body.start));
            let behind = start > received.saturating_add(MAX_FUTURE);
            latest = latest.max(Some(if behind { start } else { received }));
        }
    }
    Ok(latest)
}

pub(crate) fn members_of(table: &impl ReadableTable<(u64, u64), ()>, episode: u64) -> Result<Vec<u64>> {
    table.range((episode, 0)..=(episode, u64::MAX))?.map(|entry| Ok(entry?.0.value().1)).collect()
}

pub(crate) fn head(meta: &impl ReadableTable<&'static str, Bytes>) -> Result<Head> {
    match meta.get("head")? {
        Some(value) => {
            envelope::open(HEAD, b"head", value.value()).map_err(|detail| Failure::damaged(HEAD.table, "head", detail))
        }
        None => Err(Failure::damaged(HEAD.table, "head", "missing")),
    }
}

pub(crate) fn seal_numbered<T: Serialize>(record: RecordType, id: u64, value: &T) -> Vec<u8> {
    envelope::seal(record, &id.to_le_bytes(), value)
}

pub(crate) fn open_numbered<T: serde::de::DeserializeOwned>(record: RecordType, id: u64, sealed: &[u8]) -> Result<T> {
    envelope::open(record, &id.to_le_bytes(), sealed).map_err(|detail| Failure::damaged(record.table, id, detail))
}

/// Recordings that are still to be removed, oldest first.
pub(crate) fn purges(transaction: &ReadTransaction) -> Result<Vec<(u64, Purge)>> {
    let table = transaction.open_table(PURGES)?;
    let mut found = Vec::new();
    for entry in table.iter()? {
        let (key, value) = entry?;
        let number = key.value();
        if let Some(purge) = if_sound(open_numbered(PURGE, number, value.value()))? {
            found.push((number, purge));
        }
    }
    Ok(found)
}

pub(crate) fn text(table: &impl ReadableTable<&'static str, Bytes>, name: &str) -> Result<Option<String>> {
    match table.get(name)? {
        Some(value) => envelope::open(TEXT, name.as_bytes(), value.value())
            .map(Some)
            .map_err(|detail| Failure::damaged(TEXT.table, name, detail)),
        None => Ok(None),
    }
}

pub(crate) fn seal_text(name: &str, value: &str) -> Vec<u8> {
    envelope::seal(TEXT, name.as_bytes(), &value)
}

/// Makes the tables of a new store, brings an old one to this format, and refuses one that a newer program wrote.
pub(crate) fn prepare(database: &Database) -> Result<(), OpenError> {
    let path = || database.path();
    let damaged = |failure: Failure| OpenError::Damaged { path: path(), detail: describe(failure) };
    let written = match format(database).map_err(damaged)? {
        Some(FORMAT) => return Ok(()),
        Some(old @ 1..FORMAT) => upgrade(database, old),
        Some(found) if found > FORMAT => return Err(OpenError::TooNew { path: path(), found, supported: FORMAT }),
        Some(found) => {
            return Err(OpenError::Damaged { path: path(), detail: format!("format {found} does not exist") });
        }
        None => create(database),
    };
    written.map_err(|failure| match database.explain(failure) {
        Failure::Full(message) => {
            OpenError::Io { path: path(), source: std::io::Error::new(std::io::ErrorKind::StorageFull, message) }
        }
        other => damaged(other),
    })
}

/// From format 1, whose head did not count what compaction gives back, and where keys of what was forgotten stay readable
/// until then; from format 2, which noted no changes; from format 3, in which every event has its own vectors and no pose; and from
/// format 4, which kept no sequences.
fn upgrade(database: &Database, from: u32) -> Result<()> {
    let transaction = database.write()?;
    {
        let mut tables = WriteTables::open(&transaction)?;
        if from == 1 {
            let old: HeadOfFormat1 = {
                let value = tables.meta.get("head")?.ok_or_else(|| Failure::damaged(HEAD.table, "head", "missing"))?;
                envelope::open(HEAD_1, b"head", value.value())
                    .map_err(|detail| Failure::damaged(HEAD.table, "head", detail))?
            };
            tables.put_head(&old.into())?;
        }
        tables.put_format()?;
    }
    transaction.commit()?;
    tracing::info!(from, to = FORMAT, "the store was brought to this format");
    Ok(())
}

pub(crate) fn describe(failure: Failure) -> String {
    crate::ReadError::from(failure).to_string()
}

/// The format of the store; `None` for one without tables.
fn format(database: &Database) -> Result<Option<u32>> {
    let transaction = database.read()?;
    let meta = match transaction.open_table(META) {
        Ok(meta) => meta,
        Err(redb::TableError::TableDoesNotExist(_)) if transaction.list_tables()?.next().is_none() => return Ok(None),
        Err(redb::TableError::TableDoesNotExist(_)) => {
            return Err(Failure::Store("this is a redb file of another program".into()));
        }
        Err(error) => return Err(error.into()),
    };
    let value = meta.get("format")?.ok_or_else(|| Failure::damaged("meta", "format", "missing"))?;
    let version = value.value().strip_prefix(FORMAT_MAGIC).and_then(|bytes| bytes.try_into().ok());
    let version = version.ok_or_else(|| Failure::damaged("meta", "format", "not a version"))?;
    Ok(Some(u32::from_le_bytes(version)))
}

fn create(database: &Database) -> Result<()> {
    let transaction = database.write()?;
    {
        let mut tables = WriteTables::open(&transaction)?;
        tables.put_format()?;
        tables.meta.insert("instance", seal_text("instance", &new_instance()?).as_slice())?;
        tables.put_head(&Head::default())?;
        transaction.open_table(SETTINGS)?;
    }
    transaction.commit()?;
    Ok(())
}

/// 64 random bits in hexadecimal.
fn new_instance() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| Failure::Store(format!("no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
