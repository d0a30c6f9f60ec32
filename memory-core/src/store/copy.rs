//! Every table as rows of bytes, for copies of a whole store: compaction, backup and restore.

use std::collections::BTreeSet;

use redb::{Key, ReadTransaction, ReadableTable, Table, TableDefinition, TableHandle, Value, WriteTransaction};

use super::failure::{Failure, Result};
use super::tables;

/// Takes the key and value of one row.
pub(crate) type VisitRow<'v> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'v;

/// A table whose types are not asked for.
pub(crate) trait AnyTable: Sync {
    fn name(&self) -> &str;

    /// Calls `visit` with the key and value of every row, in order of keys.
    fn for_each(&self, from: &ReadTransaction, visit: &mut VisitRow<'_>) -> Result<()>;

    /// Opens it for writing, making it if it is not there.
    fn open<'t>(&self, into: &'t WriteTransaction) -> Result<Box<dyn Rows + 't>>;

    /// Brings the rows of these keys to where they are in `from`.
    fn follow(&self, keys: &BTreeSet<Vec<u8>>, from: &ReadTransaction, into: &WriteTransaction) -> Result<()>;
}

/// A table open for writing.
pub(crate) trait Rows {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;
}

/// All tables of a store. Compaction refuses to run if it finds a table that is not listed here, because it would lose it.
pub(crate) const TABLES: &[&dyn AnyTable] = &[
    &tables::META,
    &tables::EVENTS,
    &tables::EPISODES,
    &tables::MEMBERS,
    &tables::IDENTITY,
    &tables::SEGMENTS,
    &tables::SEGMENT_TIMES,
    &tables::TOLD_TIMES,
    &tables::FACETS,
    &tables::STREAMS,
    &tables::SPACES,
    &tables::VECTORS,
    &tables::PURGES,
    &tables::LEARNT,
    &tables::SETTINGS,
    &tables::CHANGES,
    &tables::GISTS,
    &tables::POSES,
    &tables::SEQUENCES,
];

/// The table of this name.
pub(crate) fn table(name: &str) -> Result<&'static dyn AnyTable> {
    let known = TABLES.iter().find(|table| table.name() == name);
    known.copied().ok_or_else(|| Failure::Store(format!("the table `{name}` is not known to this engram")))
}

/// Fails if the store has a table that would not be copied.
pub(crate) fn expect_known_tables(from: &ReadTransaction) -> Result<()> {
    from.list_tables()?.try_for_each(|found| table(found.name()).map(drop))
}

impl<K: Key + Sync + 'static, V: Value + Sync + 'static> AnyTable for TableDefinition<'static, K, V> {
    fn name(&self) -> &str {
        TableHandle::name(self)
    }

    fn for_each(&self, from: &ReadTransaction, visit: &mut VisitRow<'_>) -> Result<()> {
        let table = match from.open_table(*self) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for entry in table.iter()? {
            let (key, value) = entry?;
            visit(K::as_bytes(&key.value()).as_ref(), V::as_bytes(&value.value()).as_ref())?;
        }
        Ok(())
    }

    fn open<'t>(&self, into: &'t WriteTransaction) -> Result<Box<dyn Rows + 't>> {
        Ok(Box::new(OpenTable { table: into.open_table(*self)? }))
    }

    fn follow(&self, keys: &BTreeSet<Vec<u8>>, from: &ReadTransaction, into: &WriteTransaction) -> Result<()> {
        let from = from.open_table(*self)?;
        let mut into = into.open_table(*self)?;
        for key in keys {
            let key = K::from_bytes(key);
            match from.get(&key)? {
                Some(value) => drop(into.insert(&key, value.value())?),
                None => drop(into.remove(&key)?),
            }
        }
        Ok(())
    }
}

struct OpenTable<'t, K: Key + 'static, V: Value + 'static> {
    table: Table<'t, K, V>,
}

impl<K: Key + 'static, V: Value + 'static> Rows for OpenTable<'_, K, V> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.table.insert(K::from_bytes(key), V::from_bytes(value))?;
        Ok(())
    }
}

/// Fills the tables of a new database, one after the other, in transactions that need no sync of their own.
pub(crate) struct Filling<'d> {
    database: &'d redb::Database,
    /// Rows that wait for their transaction.
    rows: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
    table: Option<&'static dyn AnyTable>,
}

/// Bytes of rows that one transaction copies.
const CHUNK_BYTES: usize = 8 << 20;

impl<'d> Filling<'d> {
    pub(crate) fn new(database: &'d redb::Database) -> Self {
        Self { database, rows: Vec::new(), bytes: 0, table: None }
    }

    /// The rows that follow belong to this table.
    pub(crate) fn begin(&mut self, table: &'static dyn AnyTable) -> Result<()> {
        self.write()?;
        self.table = Some(table);
        Ok(())
    }

    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.bytes += key.len() + value.len();
        self.rows.push((key.to_vec(), value.to_vec()));
        if self.bytes >= CHUNK_BYTES { self.write() } else { Ok(()) }
    }

    /// Writes what is left; the tables are durable only with the next durable commit.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        let Some(table) = self.table else { return Ok(()) };
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(redb::Durability::None).map_err(|error| Failure::Store(error.to_string()))?;
        {
            let mut into = table.open(&transaction)?;
            for (key, value) in self.rows.drain(..) {
                into.put(&key, &value)?;
            }
        }
        transaction.commit()?;
        self.bytes = 0;
        Ok(())
    }
}
